//! How large the file system on a medium is, and its own tools that check it and make it smaller or
//! larger.
//!
//! Sources of the superblocks' fields: the kernel's documentation of ext4, XFS and Btrfs, Microsoft's
//! FAT and exFAT specifications, the *NTFS Documentation* of the linux-ntfs project.

use keyway_store::{Store, StoreError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system that lies open on a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    /// Which.
    pub kind: Kind,
    /// How far it reaches, in bytes from the beginning.
    pub bytes: u64,
}

/// The file systems that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// ext2, ext3 and ext4.
    Ext,
    /// NTFS.
    Ntfs,
    /// exFAT.
    ExFat,
    /// FAT12, FAT16 and FAT32.
    Fat,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

/// What a file system's tools did not do.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This machine lacks the program.
    #[error("{program} is not on this machine; install the package {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// The program could not be run.
    #[error("could not run {program}: {source}")]
    Run {
        /// The program.
        program: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The check found faults.
    #[error("the {kind} file system is damaged, says {program}: {said}; repair it before it is converted")]
    Damaged {
        /// Which file system.
        kind: Kind,
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
    /// The tool refused to change the size.
    #[error(
        "{program} did not change the file system's size: {said}; make room in it, or take a larger device"
    )]
    Refused {
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at + N)?;
    Some(field.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

/// Finds the file system on a medium; `None` where there is none that is known, or one whose size can't
/// be true.
///
/// # Errors
/// The medium failed.
pub fn find(store: &dyn Store) -> Result<Option<FileSystem>, StoreError> {
    if store.size() < HEAD as u64 {
        return Ok(None);
    }
    let mut head = vec![0; HEAD];
    store.read_at(&mut head, 0)?;
    Ok(of(&head, store.size()))
}

/// Bytes at the beginning of a medium that tell which file system is on it.
pub const HEAD: usize = 68 << 10;

/// The file system on a medium of so many bytes that begins with these.
pub fn of(head: &[u8], bytes: u64) -> Option<FileSystem> {
    parse(head).filter(|fs| fs.bytes > 0 && fs.bytes <= bytes)
}

fn parse(head: &[u8]) -> Option<FileSystem> {
    let is = |at: usize, magic: &[u8]| head.get(at..at + magic.len()) == Some(magic);
    let shifted =
        |n: u64, by: u64| u32::try_from(by).ok().filter(|by| *by < 26).and_then(|by| n.checked_mul(1 << by));
    let (kind, bytes) = if is(0, b"XFSB") {
        let (block, blocks) = (head.get(4..8)?, head.get(8..16)?);
        let block = u64::from(u32::from_be_bytes(*block.first_chunk()?));
        (Kind::Xfs, u64::from_be_bytes(*blocks.first_chunk()?).checked_mul(block)?)
    } else if is(1024 + 0x38, b"\x53\xef") {
        let superblock = head.get(1024..2048)?;
        // Blocks of more than 32 bits: INCOMPAT_64BIT.
        let wide = number::<4>(superblock, 0x60)? & 0x80 != 0;
        let high = if wide { number::<4>(superblock, 0x150)? } else { 0 };
        let blocks = high << 32 | number::<4>(superblock, 4)?;
        (Kind::Ext, shifted(blocks, 10 + number::<4>(superblock, 0x18)?)?)
    } else if is(65_536 + 0x40, b"_BHRfS_M") {
        (Kind::Btrfs, number::<8>(head, 65_536 + 0x70)?)
    } else if is(3, b"NTFS    ") {
        // A copy of the first sector lies behind the last one that counts.
        let sectors = number::<8>(head, 40)?.checked_add(1)?;
        (Kind::Ntfs, sectors.checked_mul(number::<2>(head, 11)?)?)
    } else if is(3, b"EXFAT   ") {
        (Kind::ExFat, shifted(number::<8>(head, 72)?, number::<1>(head, 108)?)?)
    } else if is(510, b"\x55\xaa") && (is(54, b"FAT1") || is(82, b"FAT32")) {
        let (small, large) = (number::<2>(head, 19)?, number::<4>(head, 32)?);
        let sectors = if small == 0 { large } else { small };
        (Kind::Fat, sectors.checked_mul(number::<2>(head, 11)?)?)
    } else {
        return None;
    };
    Some(FileSystem { kind, bytes })
}

/// What a program said and whether it was content.
struct Said {
    code: Option<i32>,
    text: String,
}

fn run(
    (program, package): (&'static str, &'static str),
    arguments: &[&str],
    path: &Path,
    after: &[&str],
) -> Result<Said, RoomError> {
    let found = search(program).ok_or(RoomError::Missing { program, package })?;
    let done = Command::new(found)
        .args(arguments)
        .arg(path)
        .args(after)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|source| RoomError::Run { program, source })?;
    let all = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&all);
    // The last lines tell the reason.
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" / ");
    Ok(Said { code: done.status.code(), text })
}

/// A program, also where a user's PATH leaves the folder out.
fn search(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

impl Kind {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext => "ext4",
            Self::Ntfs => "NTFS",
            Self::ExFat => "exFAT",
            Self::Fat => "FAT",
            Self::Xfs => "XFS",
            Self::Btrfs => "Btrfs",
        }
    }

    /// Whether its tools can change its size while it is not mounted.
    pub const fn can_shrink(self) -> bool {
        matches!(self, Self::Ext | Self::Ntfs)
    }

    /// The program that checks it, what to tell it, and the largest exit code of a good one.
    const fn checker(self) -> ((&'static str, &'static str), &'static [&'static str], i32) {
        match self {
            Self::Ext => (("e2fsck", "e2fsprogs"), &["-f", "-n"], 0),
            // It looks through all of it; ntfsfix wants the file system to end with the device.
            Self::Ntfs => {
                (("ntfsresize", "ntfs-3g"), &["--info", "--force", "--bad-sectors", "--no-progress-bar"], 0)
            }
            Self::ExFat => (("fsck.exfat", "exfatprogs"), &["-n"], 0),
            Self::Fat => (("fsck.fat", "dosfstools"), &["-n"], 0),
            Self::Xfs => (("xfs_repair", "xfsprogs"), &["-n", "-f"], 0),
            Self::Btrfs => (("btrfs", "btrfs-progs"), &["check", "--readonly"], 0),
        }
    }

    /// Checks the file system on that file or device, which must not be mounted. Nothing is changed.
    ///
    /// # Errors
    /// It has faults, or the program is missing.
    pub fn check(self, path: &Path) -> Result<(), RoomError> {
        let (program, arguments, good) = self.checker();
        let said = run(program, arguments, path, &[])?;
        if said.code.is_some_and(|code| code <= good) {
            Ok(())
        } else {
            Err(RoomError::Damaged { kind: self, program: program.0, said: said.text })
        }
    }

    /// Makes it that large: a multiple of 4096 bytes. Not on a mounted one.
    ///
    /// # Errors
    /// The tool refuses, or is missing, or there is none.
    pub fn resize(self, path: &Path, bytes: u64) -> Result<(), RoomError> {
        const RESIZE2FS: (&str, &str) = ("resize2fs", "e2fsprogs");
        const NTFSRESIZE: (&str, &str) = ("ntfsresize", "ntfs-3g");
        let refused = |program: &'static str, said: Said| RoomError::Refused { program, said: said.text };
        match self {
            Self::Ext => {
                // resize2fs insists on a check that has just been made.
                let checked = run(("e2fsck", "e2fsprogs"), &["-f", "-p"], path, &[])?;
                if checked.code.is_none_or(|code| code > 1) {
                    return Err(RoomError::Damaged { kind: self, program: "e2fsck", said: checked.text });
                }
                let said = run(RESIZE2FS, &[], path, &[&format!("{}K", bytes / 1024)])?;
                if said.code == Some(0) { Ok(()) } else { Err(refused("resize2fs", said)) }
            }
            Self::Ntfs => {
                let size = bytes.to_string();
                let said = run(
                    NTFSRESIZE,
                    &["--force", "--force", "--bad-sectors", "--no-progress-bar", "--size", &size],
                    path,
                    &[],
                )?;
                if said.code != Some(0) {
                    return Err(refused("ntfsresize", said));
                }
                // It asks Windows for a check, which is all that this takes back.
                let cleaned = run(("ntfsfix", "ntfs-3g"), &["--clear-dirty"], path, &[])?;
                if cleaned.code == Some(0) { Ok(()) } else { Err(refused("ntfsfix", cleaned)) }
            }
            Self::ExFat | Self::Fat | Self::Xfs | Self::Btrfs => Err(RoomError::Refused {
                program: "no program",
                said: format!("{self} can't be made smaller while it is not mounted"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::{Caching, FileStore, OpenMode};
    use keyway_testkit::require_tool;

    #[test]
    fn sizes_are_those_that_mkfs_made_and_shrinking_keeps_the_checkers_content() {
        let folder = tempfile::tempdir().expect("temp");
        let made: [(&str, &[&str], Kind, u64); 5] = [
            ("mkfs.ext4", &["-q", "-F"], Kind::Ext, 64 << 20),
            ("mkfs.ntfs", &["-q", "-f", "-F"], Kind::Ntfs, (64 << 20) - 512),
            ("mkfs.exfat", &[], Kind::ExFat, 64 << 20),
            ("mkfs.fat", &["-F", "32"], Kind::Fat, 64 << 20),
            ("mkfs.btrfs", &["-q"], Kind::Btrfs, 128 << 20),
        ];
        for (program, arguments, kind, bytes) in made {
            let Some(mkfs) = require_tool(program) else { continue };
            let path = folder.path().join(program);
            let file = std::fs::File::create(&path).expect("created");
            file.set_len(bytes.next_multiple_of(4096)).expect("sized");
            let done = Command::new(mkfs).args(arguments).arg(&path).output().expect("runs");
            assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
            let size = || {
                let store = FileStore::open(&path, OpenMode::ReadOnly, Caching::Buffered).expect("opens");
                find(&store).expect("read").expect("found")
            };
            let found = size();
            assert_eq!(found.kind, kind);
            assert!(found.bytes.abs_diff(bytes) < 8192, "{program}: {} of {bytes}", found.bytes);
            if kind != Kind::Btrfs {
                kind.check(&path).expect("clean");
            }
            if kind.can_shrink() {
                kind.resize(&path, 48 << 20).expect("smaller");
                assert!(size().bytes <= 48 << 20, "{program}: {}", size().bytes);
                kind.check(&path).expect("clean");
                assert!(kind.resize(&path, 1 << 20).is_err(), "{program}: it has no room for that");
            }
        }
    }
}
