//! A thread whose panic would leave others waiting for ever ends the process instead.

/// Held by such a thread while it works. What the thread had taken is never answered once it has panicked, and the kernel
/// would wait for that; when the process is gone, it gives errors to whoever asked, or lets another server take over.
pub(crate) struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}
