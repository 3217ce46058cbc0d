//! The folder that something is to be mounted on, looked at without having anything mounted there.
//!
//! On some a file system comes up as soon as somebody looks (autofs: `x-systemd.automount`). statx(2), with which the standard library
//! looks, has it mounted, and then something else would be there; `O_PATH` does not (open(2)).

use rustix::fs::{FileType, FsWord, Mode, OFlags, fstat, fstatfs, open};
use std::os::fd::OwnedFd;
use std::path::Path;

/// `AUTOFS_SUPER_MAGIC` (linux/magic.h).
const AUTOFS: FsWord = 0x0187;

fn look(path: &Path, how: OFlags) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::PATH | OFlags::CLOEXEC | how, Mode::empty())
}

/// Whether there is something by that name, be it a link to nowhere.
pub fn is_there(path: &Path) -> bool {
    look(path, OFlags::NOFOLLOW).is_ok()
}

/// Whether that is a folder.
pub fn is_folder(path: &Path) -> bool {
    let found = look(path, OFlags::empty()).and_then(fstat);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir())
}

/// Whether files are in a folder that nobody will see when something is mounted on it. Where what is mounted comes up by itself there
/// are none.
pub fn holds_files(folder: &Path) -> bool {
    let comes_up = look(folder, OFlags::empty()).and_then(fstatfs).is_ok_and(|found| found.f_type == AUTOFS);
    !comes_up && std::fs::read_dir(folder).is_ok_and(|mut held| held.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_known_by_every_name_and_what_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("empty")).expect("made");
        std::fs::create_dir(at("full")).expect("made");
        std::fs::write(at("full/file"), "x").expect("written");
        symlink("full", at("link")).expect("made");
        symlink("nowhere", at("dangling")).expect("made");
        let seen = |name: &str| (is_there(&at(name)), is_folder(&at(name)), holds_files(&at(name)));
        for (name, expected) in [
            ("empty", (true, true, false)),
            ("full", (true, true, true)),
            ("link", (true, true, true)),
            ("full/file", (true, false, false)),
            ("dangling", (true, false, false)),
            ("nothing", (false, false, false)),
        ] {
            assert_eq!(seen(name), expected, "{name}");
        }
    }
}
