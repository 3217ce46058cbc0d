//! Who else uses a file or block device: mounts, swap, other block devices, loop devices.
//!
//! Names come from `/proc/self/mountinfo` and `/proc/swaps` (proc(5)) and from sysfs
//! (`Documentation/ABI/stable/sysfs-block` in the kernel: `holders`, `loop/backing_file`).
//! Names are for the message; what decides for a device is [`claim_device`], which asks the kernel.

use rustix::fs::{FileType, OFlags, major, minor};
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// One way in which a file or device is in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// A file system on it (or on a partition of it) is mounted here.
    Mounted(PathBuf),
    /// The system swaps to it.
    Swap,
    /// A block device is made of it: device-mapper, RAID, bcache. The name is the kernel's.
    Holder(String),
    /// A loop device shows this file. The name is the kernel's.
    Loop(String),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted(at) => write!(f, "it is mounted at {}", at.display()),
            Self::Swap => f.write_str("the system swaps to it"),
            Self::Holder(name) => write!(f, "the device {name} is made of it"),
            Self::Loop(name) => write!(f, "/dev/{name} is a loop device on it"),
        }
    }
}

/// Everything that uses what is at `path`, which must exist. A file system that says nothing
/// about its device (a stacked or network one) is not seen.
pub fn uses(path: &Path) -> io::Result<Vec<Use>> {
    let meta = path.metadata()?;
    let mut found = Vec::new();
    let swaps = std::fs::read("/proc/swaps").unwrap_or_default();
    if swap_paths(&swaps).iter().any(|swap| is_same(swap, &meta)) {
        found.push(Use::Swap);
    }
    if FileType::from_raw_mode(meta.mode()) == FileType::BlockDevice {
        let numbers = device_and_partitions(meta.rdev());
        let mounts = std::fs::read("/proc/self/mountinfo")?;
        for mount in parse_mountinfo(&mounts) {
            // Btrfs shows a device number of its own; its source still names the device.
            let by_source = || mount.source.starts_with("/dev") && is_same(&mount.source, &meta);
            if numbers.contains(&mount.device) || by_source() {
                found.push(Use::Mounted(mount.at));
            }
        }
        for (major, minor) in numbers {
            let holders = format!("/sys/dev/block/{major}:{minor}/holders");
            found.extend(names_in(Path::new(&holders)).into_iter().map(Use::Holder));
        }
    } else {
        for name in names_in(Path::new("/sys/block")) {
            let backing = format!("/sys/block/{name}/loop/backing_file");
            if let Ok(mut text) = std::fs::read(backing) {
                text.pop_if(|last| *last == b'\n');
                if is_same(Path::new(&OsString::from_vec(text)), &meta) {
                    found.push(Use::Loop(name));
                }
            }
        }
    }
    found.dedup();
    Ok(found)
}

/// Opens a block device so that nobody can mount it, swap to it or build on it until the file is
/// dropped (open(2): `O_EXCL` without `O_CREAT`). Fails with `ResourceBusy` where somebody has
/// already done so, whether or not [`uses`] can name them.
pub fn claim_device(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(OFlags::EXCL.bits() as i32).open(path)
}

/// One line of the table of mounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the file system's device.
    pub device: (u32, u32),
    /// Where it is mounted.
    pub at: PathBuf,
    /// What is mounted: a device's path, or a name the file system chose.
    pub source: PathBuf,
    /// Whether it can only be read there.
    pub read_only: bool,
}

/// Every mount this process can see, in the order in which they were made.
pub fn mounts() -> io::Result<Vec<Mount>> {
    Ok(parse_mountinfo(&std::fs::read("/proc/self/mountinfo")?))
}

/// What must be unmounted before `source`, as it is mounted at `at`: the last mount over it or inside it. None as well where
/// it is not mounted there.
pub fn mounted_over(mounts: &[Mount], at: &Path, source: &Path) -> Option<PathBuf> {
    let ours = mounts.iter().rposition(|mount| mount.at == at && mount.source == source)?;
    let later = mounts.iter().skip(ours + 1).rfind(|mount| mount.at.starts_with(at));
    later.map(|mount| mount.at.clone())
}

/// The mounts that this process can see, kept open: [`poll`](rustix::event::poll) answers with `PRI` when they have
/// changed (proc(5)), also in a process that can no longer open anything.
#[derive(Debug)]
pub struct MountTable(File);

impl MountTable {
    /// Opens it.
    pub fn open() -> io::Result<Self> {
        File::open("/proc/self/mountinfo").map(Self)
    }

    /// Opens that of another process, whose view of the mounts may be another.
    pub fn of(pid: u32) -> io::Result<Self> {
        File::open(format!("/proc/{pid}/mountinfo")).map(Self)
    }

    /// What is mounted now.
    pub fn mounts(&self) -> io::Result<Vec<Mount>> {
        let (mut text, mut part) = (Vec::new(), [0; 4096]);
        loop {
            match self.0.read_at(&mut part, text.len() as u64)? {
                0 => return Ok(parse_mountinfo(&text)),
                len => text.extend_from_slice(part.get(..len).unwrap_or_default()),
            }
        }
    }
}

impl AsFd for MountTable {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue".
fn parse_mountinfo(text: &[u8]) -> Vec<Mount> {
    let parse = |line: &[u8]| {
        let mut words = line.split(|b| *b == b' ');
        let device = std::str::from_utf8(words.nth(2)?).ok()?;
        let (major, minor) = device.split_once(':')?;
        let at = words.nth(1)?;
        let here = words.next()?;
        let mut behind = words.skip_while(|word| *word != b"-");
        let source = behind.nth(2)?;
        let is_read_only = |options: &[u8]| options.split(|b| *b == b',').any(|option| option == b"ro");
        Some(Mount {
            device: (major.parse().ok()?, minor.parse().ok()?),
            at: unescape(at),
            source: unescape(source),
            // Of this place, or of the file system as a whole.
            read_only: is_read_only(here) || behind.next().is_some_and(is_read_only),
        })
    };
    text.split(|b| *b == b'\n').filter_map(parse).collect()
}

/// The first word of each line after the heading.
fn swap_paths(text: &[u8]) -> Vec<PathBuf> {
    let lines = text.split(|b| *b == b'\n').skip(1);
    lines
        .filter_map(|line| line.split(u8::is_ascii_whitespace).next())
        .filter(|w| !w.is_empty())
        .map(unescape)
        .collect()
}

/// The kernel writes space, tab, newline and backslash in its tables as `\` and three octal digits.
fn unescape(word: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

/// The device's own number and those of its partitions.
fn device_and_partitions(rdev: u64) -> Vec<(u32, u32)> {
    let own = (major(rdev), minor(rdev));
    let folder = PathBuf::from(format!("/sys/dev/block/{}:{}", own.0, own.1));
    let number = |name: String| {
        let partition = folder.join(name);
        partition.join("partition").exists().then_some(())?;
        let text = std::fs::read_to_string(partition.join("dev")).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    std::iter::once(own).chain(names_in(&folder).into_iter().filter_map(number)).collect()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Whether `path` is the same block device, or the same file, as the one `meta` describes.
fn is_same(path: &Path, meta: &std::fs::Metadata) -> bool {
    path.metadata().is_ok_and(|other| {
        let device = FileType::from_raw_mode(meta.mode()) == FileType::BlockDevice;
        if device {
            FileType::from_raw_mode(other.mode()) == FileType::BlockDevice && other.rdev() == meta.rdev()
        } else {
            (other.dev(), other.ino()) == (meta.dev(), meta.ino())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_gives_device_place_and_source() {
        let text =
            b"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=ro\n\
                     22 27 0:21 / /proc rw - proc proc rw\nnonsense\n\
                     23 27 8:1 / /a rw,nosuid - fuseblk /dev/a ro,user_id=0\n\
                     24 27 8:2 / /b ro - ext4 /dev/b rw\n";
        let mounts = parse_mountinfo(text);
        assert_eq!(
            mounts.iter().map(|mount| mount.read_only).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        assert_eq!(mounts[0].device, (98, 0));
        assert_eq!(mounts[0].at, Path::new("/mnt 2"));
        assert_eq!(mounts[0].source, Path::new("/dev/root"));
    }

    #[test]
    fn what_lies_over_a_mount_is_the_last_that_is_over_or_in_it() {
        let mount = |at: &str, source: &str| Mount {
            device: (0, 1),
            at: at.into(),
            source: source.into(),
            read_only: false,
        };
        let over = |mounts: &[Mount]| mounted_over(mounts, Path::new("/m"), Path::new("ours"));
        let mut mounts =
            vec![mount("/", "root"), mount("/m", "before"), mount("/m", "ours"), mount("/mnt", "x")];
        assert_eq!(over(&mounts), None);
        for at in ["/m/in", "/m"] {
            mounts.push(mount(at, "theirs"));
            assert_eq!(over(&mounts).as_deref(), Some(Path::new(at)));
        }
        assert_eq!(over(&mounts[..2]), None, "it is not mounted there");
    }

    #[test]
    fn swaps_are_read_past_the_heading() {
        let text = b"Filename\tType\n/dev/sda2      partition\t1\n/my\\040swap file\t2\n";
        assert_eq!(swap_paths(text), [Path::new("/dev/sda2"), Path::new("/my swap")]);
    }

    #[test]
    fn a_backslash_that_is_no_escape_stays() {
        assert_eq!(unescape(br"/a\9\134b"), Path::new(r"/a\9\b"));
    }

    #[test]
    fn a_plain_file_is_free() {
        let path = std::env::current_exe().expect("it runs");
        assert_eq!(uses(&path).expect("readable"), []);
    }
}
