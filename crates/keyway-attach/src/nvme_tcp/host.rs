//! The other side of a connection, as a controller sees it.

/// The other side of a connection.
pub(super) trait Host: Send + Sync {
    /// It has a queue, and may do more than prove itself.
    fn let_in(&self) {}

    /// Whether it is known to be the serving user's, or root's.
    fn is_own(&self) -> bool {
        true
    }

    /// Ends the connection, also under a thread that waits for it.
    fn hang_up(&self) {}
}
