//! The folder that a file system is mounted on: `/run/media/USER/LABEL`, as udisks has it.
//!
//! The user's folder belongs to root, and its list of access lets that user in: so nobody else gets to what is mounted in it, and
//! nobody but root puts a link where something will be mounted.

use crate::refusal::{Kind, Refusal};
use keyway_sys::Account;
use rustix::fs::{
    CWD, FileType, Gid, Mode, OFlags, Uid, XattrFlags, fchmod, fchown, fsetxattr, fstat, mkdirat, openat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many of a name there may be.
const MOST: u32 = 1000;

/// A folder that holds those of all users.
#[derive(Debug, Clone)]
pub struct Place(PathBuf);

/// A new, empty folder.
#[derive(Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// The folder itself, whatever its path leads to later.
    pub open: OwnedFd,
}

impl Place {
    /// The system's.
    pub fn system() -> Self {
        Self::at("/run/media")
    }

    /// Another one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Makes a folder of that name for that user, with a number behind it where it is taken.
    ///
    /// # Errors
    /// The system's; or what should be a folder of root's is something else.
    pub fn make(&self, account: &Account, name: &str) -> Result<Folder, Refusal> {
        let fail = |e: Errno| Kind::Failed.of(&format!("make a folder below {}", self.0.display()), e);
        let own = self.users(account)?;
        let user = user_folder(account);
        for number in 0..MOST {
            let name = if number == 0 { name.to_owned() } else { format!("{name}{number}") };
            match mkdirat(&own, name.as_str(), Mode::RWXU) {
                Ok(()) => {
                    let open = open_folder(&own, OsStr::new(&name)).map_err(fail)?;
                    return Ok(Folder { path: self.0.join(user).join(name), open });
                }
                Err(Errno::EXIST) => {}
                Err(e) => return Err(fail(e)),
            }
        }
        Err(Kind::TooMany.says(format!("there are {MOST} folders of the name {name} already")))
    }

    /// The user's own folder: made where it isn't there.
    fn users(&self, account: &Account) -> Result<OwnedFd, Refusal> {
        let fail = |e: Errno| Kind::Failed.of(&format!("make {}", self.0.display()), e);
        let new = made(mkdirat(CWD, &self.0, Mode::RWXU)).map_err(fail)?;
        let base = open_folder(CWD, self.0.as_os_str()).map_err(fail)?;
        must_be_roots(&base, &self.0)?;
        if new {
            // Everybody passes through, whatever this process' mask is.
            fchmod(&base, Mode::from_raw_mode(0o755)).map_err(fail)?;
        }
        let name = user_folder(account);
        let path = self.0.join(&name);
        let new = made(mkdirat(&base, name.as_os_str(), Mode::RWXU)).map_err(fail)?;
        let own = open_folder(&base, name.as_os_str()).map_err(fail)?;
        must_be_roots(&own, &path)?;
        if new {
            let_in(&own, account).map_err(fail)?;
        }
        Ok(own)
    }
}

/// The user's name, or his number where the name can't be a folder's.
fn user_folder(account: &Account) -> PathBuf {
    let bytes = account.name.as_bytes();
    let plain = !bytes.is_empty()
        && bytes.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'/')
        && !bytes.starts_with(b".");
    if plain { PathBuf::from(&account.name) } else { PathBuf::from(account.user.to_string()) }
}

/// Whether it was made just now.
fn made(done: rustix::io::Result<()>) -> rustix::io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(e) => Err(e),
    }
}

fn open_folder(at: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    openat(at, name, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn must_be_roots(folder: &OwnedFd, path: &Path) -> Result<(), Refusal> {
    let about = fstat(folder).map_err(|e| Kind::Failed.of("look at a folder", e))?;
    let safe = FileType::from_raw_mode(about.st_mode) == FileType::Directory
        && about.st_uid == 0
        && about.st_mode & 0o022 == 0;
    if safe { Ok(()) } else { Err(Kind::Failed.says(format!("{} is not root's alone", path.display()))) }
}

/// Lets the user in to read, and nobody else.
fn let_in(folder: &OwnedFd, account: &Account) -> rustix::io::Result<()> {
    let list = access_list(account.user);
    match fsetxattr(folder, "system.posix_acl_access", &list, XattrFlags::empty()) {
        // No such lists on this file system: the group that is the user's own, as most systems have it, does.
        Err(Errno::OPNOTSUPP) => {
            fchown(folder, Some(Uid::ROOT), Some(Gid::from_raw(account.group)))?;
            fchmod(folder, Mode::from_raw_mode(0o750))
        }
        done => done,
    }
}

/// `user::rwx,user:USER:r-x,group::---,mask::r-x,other::---` (the kernel's `posix_acl_xattr.h`): a version, and for each entry a
/// tag, its rights and whose it is.
fn access_list(user: u32) -> Vec<u8> {
    const NOBODYS: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 7, NOBODYS), (0x02, 5, user), (0x04, 0, NOBODYS), (0x10, 5, NOBODYS), (0x20, 0, NOBODYS)];
    let entries = entries.iter().flat_map(|(tag, rights, of)| {
        tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(of.to_le_bytes())
    });
    2u32.to_le_bytes().into_iter().chain(entries).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::{require_root, require_tool};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    fn nobody() -> Account {
        Account { name: "nobody".into(), user: 65534, group: 65534 }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        if !require_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::at(folder.path().join("media"));
        let made: Vec<_> = (0..3).map(|_| place.make(&nobody(), "STICK").expect("made").path).collect();
        let own = folder.path().join("media/nobody");
        assert_eq!(made, ["STICK", "STICK1", "STICK2"].map(|name| own.join(name)));
    }

    #[test]
    fn the_user_gets_in_and_nobody_else() {
        let (true, Some(setpriv)) = (require_root(), require_tool("setpriv")) else { return };
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
        let place = Place::at(folder.path().join("media"));
        place.make(&nobody(), "STICK").expect("made");
        let own = folder.path().join("media/nobody");
        let may = |user: u32, words: &[&str]| {
            let ids = [format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()];
            let done = Command::new(&setpriv).args(ids).args(words).arg(&own).output().expect("it starts");
            done.status.success()
        };
        assert!(may(65534, &["ls"]) && !may(1, &["ls"]), "it is this user's");
        assert!(!may(65534, &["touch", "-c"]) || !may(65534, &["rmdir"]), "but he changes nothing in it");
        assert!(!may(65534, &["chmod", "777"]));
    }

    #[test]
    fn what_somebody_else_put_there_is_not_entered() {
        if !require_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (media, away) = (folder.path().join("media"), folder.path().join("away"));
        std::fs::create_dir_all(&media).expect("ours");
        std::fs::create_dir(&away).expect("ours");
        let place = Place::at(&media);
        symlink(&away, media.join("nobody")).expect("ours");
        assert!(place.make(&nobody(), "STICK").is_err(), "a link in the place of the user's folder");
        std::fs::remove_file(media.join("nobody")).expect("ours");
        std::fs::create_dir(media.join("nobody")).expect("ours");
        std::os::unix::fs::chown(media.join("nobody"), Some(65534), None).expect("root");
        assert!(place.make(&nobody(), "STICK").is_err(), "a folder of the user's own");
        std::os::unix::fs::chown(media.join("nobody"), Some(0), None).expect("root");
        symlink(&away, media.join("nobody/STICK")).expect("ours");
        assert_eq!(place.make(&nobody(), "STICK").expect("made").path, media.join("nobody/STICK1"));
        assert_eq!(std::fs::read_dir(&away).expect("ours").count(), 0);
    }

    #[test]
    fn a_users_name_is_one_folder() {
        for (name, folder) in
            [("user", "user"), ("..", "7"), ("", "7"), ("a/b", "7"), (".x", "7"), ("two\nlines", "7")]
        {
            let account = Account { name: name.into(), user: 7, group: 7 };
            assert_eq!(user_folder(&account), Path::new(folder), "{name:?}");
        }
    }
}
