//! Work that would keep the bus waiting, on a thread of its own.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

struct Shared<T> {
    /// What came of it, once something has (nothing, after a panic); and whoever waits for it.
    state: Mutex<(Option<Option<T>>, Option<Waker>)>,
}

impl<T> Shared<T> {
    fn end(&self, with: Option<T>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0.is_none() {
            state.0 = Some(with);
        }
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }
}

/// Ends the waiting, whatever the thread ended by.
struct Ends<T>(Arc<Shared<T>>);

impl<T> Drop for Ends<T> {
    fn drop(&mut self) {
        self.0.end(None);
    }
}

/// Does it on a thread of its own; `None` when there was no thread to be had, or it panicked. It is done whether or not anybody
/// still waits for it.
pub(crate) async fn later<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let shared = Arc::new(Shared { state: Mutex::default() });
    let ends = Ends(Arc::clone(&shared));
    std::thread::Builder::new().name("request".to_owned()).spawn(move || ends.0.end(Some(work()))).ok()?;
    poll_fn(move |context| {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.0.take() {
            Some(done) => Poll::Ready(done),
            None => {
                state.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic, reason = "this is what is tested")]
    fn what_comes_of_it_comes_over_and_a_panic_is_nothing() {
        assert_eq!(zbus::block_on(later(|| 7)), Some(7));
        let slow = || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            8
        };
        assert_eq!(zbus::block_on(later(slow)), Some(8));
        assert_eq!(zbus::block_on(later(|| -> u8 { panic!("on purpose") })), None);
    }
}
