//! Waiting for what has to come. A machine may be slow or busy, so a test waits for the condition and never for a
//! time; the one limit there is ends a hang.

use std::time::{Duration, Instant};

/// How long a test waits before it says that it hangs: far longer than anything takes on any machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Looks again and again until there is something.
///
/// It waits for what the test stands on, never for the test's own claim: what is claimed must be so the first time.
///
/// # Panics
/// When there is nothing for [`PATIENCE`].
pub fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited {} s in vain: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Asks again and again until it is so.
///
/// # Panics
/// When it is not for [`PATIENCE`].
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(what, || is_so().then_some(()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_until_it_is_so() {
        let mut asked = 0;
        let found = wait_for("the third time", || {
            asked += 1;
            (asked == 3).then_some("there")
        });
        assert_eq!((found, asked), ("there", 3));
        wait_until("at once", || true);
    }
}
