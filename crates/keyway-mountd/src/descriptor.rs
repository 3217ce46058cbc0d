//! What a descriptor is that somebody handed over, before anything is done with it.

use crate::refusal::{Kind, Refusal};
use rustix::fs::{FileType, OFlags, SealFlags, fcntl_get_seals, fcntl_getfl, fstat, major, minor};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A descriptor that something can be mounted from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// It can only be read.
    pub read_only: bool,
    /// It is a drive that belongs to the machine: a block device that can't be unplugged.
    pub system_device: bool,
    /// Whatever shows the same bytes has the same two numbers: those of a file, or twice a device's.
    pub file: (u64, u64),
}

/// Seals of memory that would break what a file system is promised.
const SEALED: SealFlags =
    SealFlags::WRITE.union(SealFlags::FUTURE_WRITE).union(SealFlags::SHRINK).union(SealFlags::GROW);

/// Looks what it is. Runs as the user: a file of his FUSE file system answers nobody else.
///
/// # Errors
/// A kind for each thing that it must not be.
pub fn check(descriptor: impl AsFd) -> Result<Checked, Refusal> {
    let fail = |e| Kind::Unreadable.of("look at the descriptor", e);
    let flags = fcntl_getfl(&descriptor).map_err(fail)?;
    if flags.contains(OFlags::PATH) {
        return Err(Kind::NotOpened.says("the descriptor only names a file (O_PATH): open it"));
    }
    let about = fstat(&descriptor).map_err(fail)?;
    let is = FileType::from_raw_mode(about.st_mode);
    if !matches!(is, FileType::RegularFile | FileType::BlockDevice) {
        let what = match is {
            FileType::Fifo => "a pipe",
            FileType::Socket => "a socket",
            FileType::Directory => "a folder",
            FileType::CharacterDevice => "a character device",
            FileType::Symlink => "a link",
            _ => "none of these",
        };
        let text = format!("the descriptor is {what}: only regular files and block devices are mounted");
        return Err(Kind::NotAFileOrDevice.says(text));
    }
    // What is no memory has no seals.
    if is == FileType::RegularFile && fcntl_get_seals(&descriptor).is_ok_and(|seals| seals.intersects(SEALED))
    {
        return Err(Kind::Sealed.says("the descriptor is sealed memory"));
    }
    let mode = flags & OFlags::RWMODE;
    if mode == OFlags::WRONLY {
        return Err(Kind::NotReadable.says("the descriptor was opened for writing only"));
    }
    let device = || (major(about.st_rdev), minor(about.st_rdev));
    if is == FileType::BlockDevice {
        let (major, minor) = device();
        let path = format!("/dev/block/{major}:{minor}");
        if let Some(first) = keyway_sys::uses(Path::new(&path)).unwrap_or_default().first() {
            return Err(Kind::InUse.says(format!("the device is in use: {first}")));
        }
    }
    let system_device = is == FileType::BlockDevice && !can_be_unplugged(device());
    let file = if is == FileType::BlockDevice {
        (about.st_rdev, about.st_rdev)
    } else {
        (about.st_dev, about.st_ino)
    };
    Ok(Checked { read_only: mode == OFlags::RDONLY, system_device, file })
}

/// Whether a drive is one that comes and goes: a stick, a memory card. What is not known is not.
fn can_be_unplugged((major, minor): (u32, u32)) -> bool {
    let Ok(at) = PathBuf::from(format!("/sys/dev/block/{major}:{minor}")).canonicalize() else {
        return false;
    };
    let disk = match at.join("partition").exists() {
        true => at.parent().unwrap_or(&at),
        false => &at,
    };
    let by_usb =
        disk.components().any(|part| part.as_os_str().to_str().is_some_and(|name| name.starts_with("usb")));
    by_usb || std::fs::read_to_string(disk.join("removable")).is_ok_and(|text| text.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};
    use std::fs::File;
    use std::os::unix::fs::OpenOptionsExt;

    fn kind(descriptor: impl AsFd) -> Option<Kind> {
        check(descriptor).err().map(|refusal| refusal.kind)
    }

    #[test]
    fn each_wrong_descriptor_has_an_error_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "bytes").expect("room");
        let as_flag = |flags: OFlags| flags.bits().cast_signed();
        let by_path =
            File::options().read(true).custom_flags(as_flag(OFlags::PATH)).open(&path).expect("there");
        assert_eq!(kind(&by_path), Some(Kind::NotOpened));
        let (reads, writes) = rustix::pipe::pipe().expect("a pipe");
        assert_eq!(
            (kind(&reads), kind(&writes)),
            (Some(Kind::NotAFileOrDevice), Some(Kind::NotAFileOrDevice))
        );
        let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("sockets");
        for other in [
            kind(&socket),
            kind(File::open(folder.path()).expect("ours")),
            kind(File::open("/dev/null").expect("there")),
        ] {
            assert_eq!(other, Some(Kind::NotAFileOrDevice));
        }
        assert_eq!(kind(File::options().write(true).open(&path).expect("ours")), Some(Kind::NotReadable));
        let memory = memfd_create("memory", MemfdFlags::ALLOW_SEALING).expect("memory");
        assert_eq!(kind(&memory), None);
        fcntl_add_seals(&memory, SealFlags::SHRINK).expect("sealed");
        assert_eq!(kind(&memory), Some(Kind::Sealed));
    }

    #[test]
    fn a_file_has_the_rights_that_it_was_opened_with() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let reads = check(File::open(file.path()).expect("ours")).expect("a file");
        assert!(reads.read_only && !reads.system_device);
        let both = File::options().read(true).write(true).open(file.path()).expect("ours");
        assert!(!check(both).expect("a file").read_only);
    }
}
