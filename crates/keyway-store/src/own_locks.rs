//! What this process has locked for longer than a store: known to its stores, so that they don't lock it against themselves.

use keyway_sys::Node;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static LOCKED: Mutex<Vec<(Node, Arc<File>)>> = Mutex::new(Vec::new());

/// Keeps an open file that is locked, until it is [let go](let_go).
pub(crate) fn keep(node: Node, file: File) {
    locked().push((node, Arc::new(file)));
}

/// Closes what was kept of it; the lock goes with it.
pub(crate) fn let_go(node: Node) {
    locked().retain(|(kept, _)| *kept != node);
}

/// The open file that was kept.
pub(crate) fn kept(node: Node) -> Option<Arc<File>> {
    locked().iter().find(|(kept, _)| *kept == node).map(|(_, file)| Arc::clone(file))
}

/// Whether this process has locked what was opened.
pub(crate) fn has(file: &File) -> io::Result<bool> {
    Ok(kept(Node::of(&file.metadata()?)).is_some())
}

fn locked() -> MutexGuard<'static, Vec<(Node, Arc<File>)>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}
