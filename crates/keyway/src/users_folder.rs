//! Where a user's own files are (XDG Base Directory Specification).

use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder that a variable names, or that one in the user's home; nothing where there is no home.
pub(crate) fn users_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named(variable).or_else(|| Some(named("HOME")?.join(in_home)))
}

/// Makes the folder, where it isn't there, and waits until nobody else changes a file in it that is read, changed and written
/// whole: what two write at the same time would be one's alone. As long as the descriptor is kept, that is so.
pub(crate) fn alone_in(folder: &Path, mode: u32) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(mode).create(folder)?;
    let folder = File::open(folder)?;
    // A file system without locks is no reason to keep nothing.
    let _ = flock(&folder, FlockOperation::LockExclusive);
    Ok(folder)
}
