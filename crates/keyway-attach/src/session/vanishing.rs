//! Notices that a session's folder is emptied under it: a logout does that with a user's runtime folder. No command finds the
//! session any more then, so nobody could close it.

use super::folder::SessionFolder;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What `inotify(7)` tells of one change: a header, and a file's name with its end.
const EVENT: usize = 16 + 256;

/// A session's folder, watched. What is open already tells of it: a process in its sandbox looks at no paths.
pub(super) struct Vanishing {
    watch: OwnedFd,
}

impl Vanishing {
    /// `None` where the kernel lets this user watch no more: then nothing is noticed.
    pub(super) fn watch(folder: &SessionFolder) -> Option<Self> {
        let watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let changes =
            WatchFlags::DELETE | WatchFlags::DELETE_SELF | WatchFlags::MOVED_FROM | WatchFlags::MOVE_SELF;
        inotify::add_watch(&watch, folder.path(), changes | WatchFlags::ONLYDIR).ok()?;
        Some(Self { watch })
    }

    /// Whether the folder, or a file by which the session is found, has gone since this was asked last.
    pub(super) fn is_gone(&self) -> bool {
        let mut space = [MaybeUninit::uninit(); 8 * EVENT];
        let mut events = Reader::new(&self.watch, &mut space);
        let mut gone = false;
        loop {
            match events.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes());
                    gone |= match name.filter(|name| !name.is_empty()) {
                        Some(name) => SessionFolder::FOUND_BY.iter().any(|file| file.as_bytes() == name),
                        None => {
                            let itself = ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT;
                            event.events().intersects(itself)
                        }
                    };
                }
                Err(Errno::INTR) => {}
                Err(_) => return gone,
            }
        }
    }
}

impl AsFd for Vanishing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_whose_files_are_taken_away_notices() {
        let runtime = tempfile::tempdir().expect("a folder");
        let names = ["state.json", "control", "lock"];
        for file in names {
            let (folder, _lock) = SessionFolder::create(runtime.path()).expect("made");
            names.iter().for_each(|name| {
                std::fs::write(folder.path().join(name), "").expect("room");
            });
            let watched = Vanishing::watch(&folder).expect("it can be watched");
            // What comes and goes while it serves.
            for other in ["trace", "state.json.new"] {
                std::fs::write(folder.path().join(other), "").expect("room");
            }
            std::fs::remove_file(folder.trace()).expect("ours");
            std::fs::rename(folder.path().join("state.json.new"), folder.state()).expect("ours");
            assert!(!watched.is_gone());
            std::fs::remove_file(folder.path().join(file)).expect("ours");
            assert!(watched.is_gone(), "{file}");
            assert!(!watched.is_gone(), "it is told once");
        }
    }

    #[test]
    fn a_session_whose_folder_is_moved_away_notices() {
        let runtime = tempfile::tempdir().expect("a folder");
        let (folder, _lock) = SessionFolder::create(runtime.path()).expect("made");
        let watched = Vanishing::watch(&folder).expect("it can be watched");
        std::fs::rename(folder.path(), runtime.path().join("elsewhere")).expect("ours");
        assert!(watched.is_gone());
    }
}
