//! The folder that a file system is mounted on.

use crate::error::{Error, Misuse};
use crate::session::error::SessionError;
use keyway_attach::AttachError;
use keyway_attach::session::{SessionState, list};
use keyway_error::Advice;
use keyway_sys::{holds_files, is_folder, is_there};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Below this, folders to mount on are made by whoever mounts: `udisks` does.
const MEDIA: &str = "/run/media";

/// An existing folder, by a path that holds anywhere.
///
/// # Errors
/// It isn't there, is no folder, or is the one that all others are in.
pub fn mount_point(path: &Path) -> Result<PathBuf, Error> {
    let full = path.canonicalize().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Misuse::NoMountPoint(path.to_owned()).into(),
        _ => Error::system("use the mount point", path, e),
    })?;
    match () {
        () if full.parent().is_none() => Err(Misuse::MountPointRoot.into()),
        () if is_folder(&full) => Ok(full),
        () => Err(Misuse::MountPointNotFolder(path.to_owned()).into()),
    }
}

/// The same; or one that is made when it is needed, where nobody else has anything to say: in this user's home, and below
/// `/run/media`.
pub(super) fn mount_point_to_be(path: &Path) -> Result<PathBuf, Error> {
    let full = std::path::absolute(path).map_err(|e| Error::system("use the mount point", path, e))?;
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.components().count() > 1);
    if !is_there(path) && may_be_made(&full, home.as_deref()) {
        return Ok(full);
    }
    let folder = mount_point(path)?;
    // Under another volume nobody would see it, nor could it be closed before that one.
    match list()?.into_iter().find(|state| state.mountpoint.as_ref() == Some(&folder)) {
        Some(SessionState { volume, .. }) => Err(SessionError::FolderTaken { folder, volume }.into()),
        None => Ok(folder),
    }
}

/// Whether there are files in the folder that can't be seen as long as something is mounted on it.
pub fn hides_files(folder: &Path) -> bool {
    holds_files(folder)
}

/// Whether this user may show files on that folder: fusermount3 wants whoever is not root to have the right to write there.
pub(super) fn may_mount_on(folder: &Path) -> Result<(), Error> {
    if rustix::process::geteuid().is_root() || !is_folder(folder) {
        return Ok(());
    }
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|source| {
        let what = format!("mount on {}", folder.display());
        AttachError::NotPermitted { what, source: source.into(), advice: Advice::OwnFolder }.into()
    })
}

/// Makes what [`mount_point_to_be`] says may be made.
pub(super) fn make_mount_point(path: &Path) -> Result<(), Error> {
    if is_folder(path) {
        return Ok(());
    }
    std::fs::create_dir_all(path).map_err(|e| Error::system("make the mount point", path, e))
}

/// Whether a folder is made to mount on, in this home or below `/run/media`.
pub(crate) fn may_be_made(path: &Path, home: Option<&Path>) -> bool {
    let below = |folder: &Path| path.starts_with(folder) && path != folder;
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    plain && (below(Path::new(MEDIA)) || home.is_some_and(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_at_home_and_for_media_only() {
        let home = Some(Path::new("/home/ann"));
        for path in ["/home/ann/stick", "/home/ann/a/b", "/run/media/ann/stick"] {
            assert!(may_be_made(Path::new(path), home), "{path}");
        }
        for path in
            ["/mnt/usb", "/home/ann", "/home/anna/x", "/run/media", "/home/ann/../bob/x", "/run/mediator"]
        {
            assert!(!may_be_made(Path::new(path), home), "{path}");
        }
        assert!(!may_be_made(Path::new("/home/ann/stick"), None));
    }

    #[test]
    fn what_is_not_there_is_named_with_what_makes_it() {
        let error = mount_point_to_be(Path::new("/mnt/no-such-folder-here")).expect_err("it is not there");
        assert!(matches!(error, Error::Misuse(Misuse::NoMountPoint(_))), "{error}");
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = mount_point_to_be(file.path()).expect_err("it is a file");
        assert!(matches!(error, Error::Misuse(Misuse::MountPointNotFolder(_))), "{error}");
    }
}
