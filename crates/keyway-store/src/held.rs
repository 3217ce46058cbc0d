//! A file or device that one task has from its first look to its end, however often it is opened in between.
//!
//! A store's claim ends with the store. What a file system's own tool does after that, or a process that serves the
//! volume for it, is claimed anew; in between somebody else could begin. Whoever takes several such steps holds the medium
//! meanwhile: by the lock that stores take, flock(2), on a descriptor that stays open. Stores of this process know it
//! as their own, and so do those of a process that it was [handed on](hand_on) to.

use crate::claim::{Elsewhere, lock_alone, must_hold_sectors, patiently};
use crate::{OpenMode, Operation, StoreError, own_locks};
use keyway_sys::Node;
use rustix::io::{FdFlags, fcntl_setfd};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

/// A file or device that nobody else opens for writing, as long as this is kept.
pub struct Held {
    node: Node,
    _elsewhere: Elsewhere,
}

impl Held {
    /// Takes what is at `path`, or nothing where its file system has no such locks, or this process holds it already.
    ///
    /// # Errors
    /// `ErrorKind::ResourceBusy`, an [`InUse`](crate::InUse), when somebody has it; the system's reason.
    pub fn take(path: &Path) -> Result<Option<Self>, StoreError> {
        let taken = patiently(path, || {
            let about = path.metadata()?;
            must_hold_sectors(about.file_type())?;
            // Some network file systems lock for itself only what was opened to write. When a device is closed that
            // was, udev takes it for changed.
            let file = OpenOptions::new().read(true).write(about.is_file()).open(path)?;
            if own_locks::has(&file)? || !lock_alone(&file)? {
                return Ok(None);
            }
            let _elsewhere = Elsewhere::claim(path, OpenMode::ReadOnly)?;
            let node = Node::of(&file.metadata()?);
            own_locks::keep(node, file);
            Ok(Some(Self { node, _elsewhere }))
        });
        taken.map_err(|e| StoreError::new(Operation::Open, path, 0, 0, e))
    }

    /// What the process that started this one holds, and has [handed on](hand_on) by this number: it is held for as long
    /// as this process is there, whatever becomes of the other one.
    ///
    /// # Errors
    /// Nothing is open by that number.
    pub fn take_over(number: RawFd) -> io::Result<()> {
        let file = keyway_sys::inherited(number)?;
        let node = Node::of(&file.metadata()?);
        own_locks::keep(node, file);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        own_locks::let_go(self.node);
    }
}

/// Starts a process that has what this one holds at `path`, if it does, by the number that `start` is told: the other side
/// [takes it over](Held::take_over).
///
/// # Errors
/// The descriptor can't be handed on.
pub fn hand_on<T>(path: &Path, start: impl FnOnce(Option<RawFd>) -> T) -> io::Result<T> {
    let file = path.metadata().ok().and_then(|about| own_locks::kept(Node::of(&about)));
    let Some(file) = file else { return Ok(start(None)) };
    fcntl_setfd(&*file, FdFlags::empty())?;
    let started = start(Some(file.as_raw_fd()));
    fcntl_setfd(&*file, FdFlags::CLOEXEC)?;
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Caching, FileStore, refuse_if_claimed};
    use rustix::fs::{FlockOperation, flock};
    use std::fs::File;

    fn open(path: &Path) -> Result<FileStore, StoreError> {
        FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered)
    }

    /// As another process would have it: a descriptor of its own.
    fn others_get(path: &Path) -> bool {
        let file = File::open(path).expect("opens");
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    #[test]
    fn what_is_held_is_opened_again_and_again_by_us_alone() {
        let file = tempfile::NamedTempFile::new().expect("temp");
        file.as_file().set_len(1 << 20).expect("sized");
        let path = file.path();
        let held = Held::take(path).expect("free").expect("has locks");
        assert!(Held::take(path).expect("ours").is_none(), "once is enough");
        for _ in 0..2 {
            drop(open(path).expect("ours"));
            refuse_if_claimed(path, OpenMode::ReadWrite).expect("ours");
            assert!(!others_get(path));
        }
        drop(held);
        assert!(others_get(path));
        let store = open(path).expect("free");
        assert_eq!(Held::take(path).err().map(|e| e.source.kind()), Some(io::ErrorKind::ResourceBusy));
        drop(store);
        drop(Held::take(path).expect("free again"));
    }

    #[test]
    fn what_is_handed_on_stays_held() {
        let file = tempfile::NamedTempFile::new().expect("temp");
        let path = file.path();
        let held = Held::take(path).expect("free").expect("has locks");
        let sleep = |number: Option<RawFd>| {
            let there = number.is_some_and(|number| number > 2);
            (there, std::process::Command::new("sleep").arg("1000").spawn().expect("sleep"))
        };
        let (there, mut child) = hand_on(path, sleep).expect("handed on");
        assert!(there);
        drop(held);
        assert!(!others_get(path), "the other process has it");
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(others_get(path));
        let (none, mut child) = hand_on(path, sleep).expect("nothing to hand on");
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(!none);
    }
}
