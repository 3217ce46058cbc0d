//! What a process does that is asked to end while it works.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What asks it.
const ENDS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// Whoever asks so many milliseconds later again wants it to end at once. What comes sooner is the same request: `timeout`
/// sends its signal to the process and to its group.
const AGAIN: u64 = 500;

/// Milliseconds from the first look to the first signal; 0 before it comes.
static FIRST: AtomicU64 = AtomicU64::new(0);
/// So many hold signals.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// Set by the first signal.
static STOP: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// Set once a signal has asked this process to end, so that its work ends in good order. Asked again, it ends at once, with 1,
/// unless signals are [held](HeldSignals).
///
/// # Errors
/// The system lets no signal be caught.
pub fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let mut known = STOP.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stop) = &*known {
        return Ok(Arc::clone(stop));
    }
    let (stop, began) = (Arc::new(AtomicBool::new(false)), Instant::now());
    for signal in ENDS {
        let stop = Arc::clone(&stop);
        // SAFETY: what runs when the signal comes allocates nothing and takes no lock: it reads the monotonic clock and changes
        // atomics, or ends the process by `_exit`.
        unsafe { low_level::register(signal, move || heed(&stop, began.elapsed().as_millis())) }?;
    }
    *known = Some(Arc::clone(&stop));
    Ok(stop)
}

fn heed(stop: &AtomicBool, now: u128) {
    let now = u64::try_from(now).unwrap_or(u64::MAX).saturating_add(1);
    let first = FIRST.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
    stop.store(true, Ordering::SeqCst);
    if let Err(first) = first
        && is_again(first, now, HELD.load(Ordering::SeqCst))
    {
        low_level::exit(1);
    }
}

/// Whether one that comes now ends the process at once.
const fn is_again(first: u64, now: u64, held: usize) -> bool {
    held == 0 && now.saturating_sub(first) >= AGAIN
}

/// Whether a signal has asked this process to end.
pub fn is_asked_to_stop() -> bool {
    let known = STOP.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().is_some_and(|stop| stop.load(Ordering::SeqCst))
}

/// As long as this is there, no signal ends the process, however many come: for what must not be left half done. That one
/// came is known afterwards, as [`stop_on_signals`] tells it.
#[derive(Debug)]
pub struct HeldSignals(());

impl HeldSignals {
    /// Holds them.
    ///
    /// # Errors
    /// The system lets no signal be caught.
    pub fn hold() -> io::Result<Self> {
        HELD.fetch_add(1, Ordering::SeqCst);
        let held = Self(());
        stop_on_signals().map(|_| held)
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals_at_prompt::SIGNALS;

    #[test]
    fn the_same_request_is_heard_once_and_a_held_one_later() {
        let _alone = SIGNALS.lock();
        // Half a second later somebody means it.
        assert!(!is_again(7, 7, 0) && !is_again(7, 506, 0));
        assert!(is_again(7, 507, 0) && !is_again(7, u64::MAX, 1));
        let stop = stop_on_signals().expect("they can be caught");
        assert!(!is_asked_to_stop());
        let held = HeldSignals::hold().expect("they can be held");
        for signal in ENDS {
            low_level::raise(signal).expect("sent");
        }
        assert!(stop.load(Ordering::SeqCst) && is_asked_to_stop());
        drop(held);
        assert_eq!(HELD.load(Ordering::SeqCst), 0);
    }
}
