//! Tries again for a while.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Tries until it works, or a refusal does not pass by itself, or `limit` is over, with a `pause` in between. The last
/// refusal is told.
pub(crate) fn retry<T, E>(
    limit: Duration,
    pause: Duration,
    passes: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let until = Instant::now() + limit;
    loop {
        match attempt() {
            Err(refusal) if passes(&refusal) && Instant::now() < until => sleep(pause),
            done => return done,
        }
    }
}

/// Waits until it is so, or `limit` is over; whether it is.
pub(crate) fn wait_until(limit: Duration, pause: Duration, is_so: impl Fn() -> bool) -> bool {
    retry(limit, pause, |()| true, || if is_so() { Ok(()) } else { Err(()) }).is_ok()
}
