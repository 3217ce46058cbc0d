//! Which file systems are mounted for users, and how.

use keyway_fs::FileSystemKind;
use rustix::mount::MountFlags;

/// A file system's driver, and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// Its name, as `mount -t` takes it.
    pub name: &'static str,
    /// Its own options.
    pub options: String,
}

/// What holds for every file system: nothing in it gets rights on this machine.
pub fn flags(read_only: bool) -> MountFlags {
    let always = MountFlags::NOSUID | MountFlags::NODEV;
    if read_only { always | MountFlags::RDONLY } else { always }
}

/// The kernel's driver for it, for that user; `None` for file systems that are not mounted for users: their drivers see too
/// little of hostile images.
///
/// Where a file system has no owners, everything is the user's, and nobody else's; `ntfs3` keeps modes of its own, so there it is
/// the folder that keeps others out. One that is only read is shown as it lies
/// there, with no journal replayed.
pub fn driver(kind: FileSystemKind, read_only: bool, user: u32, group: u32) -> Option<Driver> {
    let owned = |more: &str| format!("uid={user},gid={group},fmask=0177,dmask=0077{more}");
    let reading = |options: &str| if read_only { options.to_owned() } else { String::new() };
    let (name, options) = match kind {
        FileSystemKind::Fat => ("vfat", owned(",utf8=1,shortname=mixed,flush,errors=remount-ro")),
        FileSystemKind::ExFat => ("exfat", owned(",iocharset=utf8,errors=remount-ro")),
        FileSystemKind::Ntfs => ("ntfs3", owned(",iocharset=utf8")),
        FileSystemKind::Ext if read_only => ("ext4", "errors=remount-ro,noload".to_owned()),
        FileSystemKind::Ext => ("ext4", "errors=remount-ro".to_owned()),
        FileSystemKind::Xfs => ("xfs", reading("norecovery")),
        FileSystemKind::Btrfs => ("btrfs", reading("rescue=nologreplay")),
        FileSystemKind::Iso9660 => {
            ("iso9660", format!("uid={user},gid={group},iocharset=utf8,mode=0400,dmode=0500"))
        }
        _ => return None,
    };
    Some(Driver { name, options })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_owners_is_the_users_and_nobody_elses() {
        for kind in [FileSystemKind::Fat, FileSystemKind::ExFat, FileSystemKind::Ntfs] {
            let driver = driver(kind, false, 1000, 100).expect("it is mounted");
            assert!(driver.options.starts_with("uid=1000,gid=100,fmask=0177,dmask=0077"), "{driver:?}");
        }
    }

    #[test]
    fn nothing_gets_rights_and_rare_drivers_see_nothing() {
        for read_only in [false, true] {
            assert!(flags(read_only).contains(MountFlags::NOSUID | MountFlags::NODEV));
            assert_eq!(flags(read_only).contains(MountFlags::RDONLY), read_only);
            for kind in [FileSystemKind::HfsPlus, FileSystemKind::SquashFs, FileSystemKind::F2fs] {
                assert_eq!(driver(kind, read_only, 1, 1), None);
            }
        }
        let ext = driver(FileSystemKind::Ext, true, 1, 1).expect("it is mounted");
        assert!(ext.options.contains("noload"), "no journal is replayed where nothing is to be written");
    }
}
