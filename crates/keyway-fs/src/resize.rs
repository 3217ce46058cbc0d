//! A file system's own tools check it, and make it smaller or larger.

mod ext;

use crate::allocation::Allocation;
use crate::fields::number;
use crate::{FileSystemKind, FoundFileSystem};
use keyway_error::{explain, explain_io};
use keyway_store::size::words;
use keyway_store::{Store, StoreError};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a file system's tools did not do.
#[derive(Debug, thiserror::Error)]
pub enum ResizeToolError {
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This machine lacks the program.
    #[error("{program} is not on this machine")]
    Missing {
        /// The program.
        program: &'static str,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// The file system could not be looked at.
    #[error("could not read the file system: {0}")]
    Read(#[from] io::Error),
    /// The program could not be run.
    #[error("could not run {program}: {source}")]
    Run {
        /// The program.
        program: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The check found faults.
    #[error("the {kind} file system is damaged, says {program}: {said}")]
    Damaged {
        /// Which file system.
        kind: FileSystemKind,
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
    /// The medium under it failed.
    #[error("{program} could not read all of the {kind} file system: {said}")]
    Unreadable {
        /// Which file system.
        kind: FileSystemKind,
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
    /// The tool has changed the size, and what it leaves to others could not be written.
    #[error("the copy of NTFS's first sector could not be written to its new place: {0}")]
    Copy(io::Error),
    /// The tool refused: what is in it takes more.
    #[error(
        "the {kind} file system can't be made smaller than {}, says {program}, and was to get {}",
        words(*least), words(*wanted)
    )]
    TooFull {
        /// Which file system.
        kind: FileSystemKind,
        /// The program.
        program: &'static str,
        /// Bytes of the smallest that it makes of it.
        least: u64,
        /// Bytes that were wanted.
        wanted: u64,
    },
    /// The tool refused to change the size.
    #[error("{program} did not change the file system's size: {said}")]
    Refused {
        /// The program.
        program: &'static str,
        /// What it said.
        said: String,
    },
}

explain! { ResizeToolError, through Store {
    Self::Missing { package, .. } => [MissingProgram Machine, InstallPackage { package: (*package).to_owned() }],
    Self::Damaged { kind, .. } =>
        [DamagedFilesystem State, RepairBeforeConversion { checker: kind.repaired_by().to_owned() }],
    Self::Unreadable { .. } => [Io Medium, ReadSystemLogUnchanged],
    Self::Refused { .. } | Self::TooFull { .. } => [NoRoom State, MakeRoom],
    Self::Run { source, .. } | Self::Copy(source) | Self::Read(source) => [Medium, ..explain_io(source).advice],
} }

/// What a program said and whether it was content.
struct Said {
    code: Option<i32>,
    text: String,
    /// Whether it met a medium that failed.
    unreadable: bool,
}

/// What resize2fs says where it estimates that there is too little room.
const SMALLER_THAN_ESTIMATED: &str = "New size smaller than minimum";

/// What programs say of that: glibc's words for EIO, and libext2fs' own for a read that ended early.
const UNREADABLE: [&str; 2] = ["Input/output error", "resulted in short read"];

impl Said {
    /// Faults that a check has found.
    fn faults(self, kind: FileSystemKind, program: &'static str) -> ResizeToolError {
        match self.unreadable {
            true => ResizeToolError::Unreadable { kind, program, said: self.text },
            false => ResizeToolError::Damaged { kind, program, said: self.text },
        }
    }
}

/// Has a program change a file system.
fn run(tool: Tool, arguments: &[&str], path: &Path, after: &[&str]) -> Result<Said, ResizeToolError> {
    // Of a group of its own: a terminal's Ctrl-C is not for what must not be left half done.
    run_so(tool, arguments, path, after, |command| command.process_group(0))
}

fn run_so(
    (program, package): Tool,
    arguments: &[&str],
    path: &Path,
    after: &[&str],
    how: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<Said, ResizeToolError> {
    let found = search(program).ok_or(ResizeToolError::Missing { program, package })?;
    let failed = |source| ResizeToolError::Run { program, source };
    let mut command = Command::new(found);
    // A whole name has no dash in front, which would make it an option.
    let mut name = std::path::absolute(path).map_err(failed)?;
    command.stdin(Stdio::null());
    if name.as_os_str().as_bytes().contains(&b'?') {
        // libext2fs takes what is behind that for options of its own.
        let file = std::fs::File::options().read(true).write(true).open(&name).map_err(failed)?;
        command.stdin(file);
        name = "/proc/self/fd/0".into();
    }
    command.args(arguments).arg(&name).args(after).env("LC_ALL", "C");
    let (path, done) = (&*name, how(&mut command).output().map_err(failed)?);
    let all = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&all);
    let lines = text.lines().map(str::trim).filter(|line| !is_for_whoever_ran_it(program, line));
    let lines: Vec<String> = lines.map(|line| unnamed(line, path)).collect();
    let failed = |line: &&String| UNREADABLE.iter().any(|words| line.contains(words));
    // That line tells the reason, else the last ones.
    let (unreadable, text) = match lines.iter().find(failed) {
        Some(line) => (true, line.clone()),
        None => (false, lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join(" / ")),
    };
    Ok(Said { code: done.status.code(), text, unreadable })
}

/// Whether a line says nothing to who did not run the program: its version, and what to run next, which is done here.
fn is_for_whoever_ran_it(program: &str, line: &str) -> bool {
    let version = line.strip_prefix(program).is_some_and(|rest| rest.starts_with(" 1."));
    line.is_empty()
        || version
        || line.starts_with("Please run ")
        || line.starts_with("after the aborted resize operation")
}

/// A line without the name of what the program worked on: that may be a device of ours, which nobody else knows.
fn unnamed(line: &str, path: &Path) -> String {
    let name = path.display().to_string();
    let line = line.strip_prefix(&*name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line);
    let is_name = |word: &str| word.trim_matches(|c: char| "'\":,.".contains(c)) == name;
    let told = |word: &str| if is_name(word) { word.replacen(&*name, "it", 1) } else { word.to_owned() };
    line.split(' ').map(told).collect::<Vec<_>>().join(" ")
}

/// Puts the copy of an NTFS's first sector behind its last one that counts, where Windows looks for it if the first is damaged:
/// `ntfsresize` leaves it where it was.
fn copy_first_sector(path: &Path) -> io::Result<()> {
    let file = std::fs::File::options().read(true).write(true).open(path)?;
    let mut first = vec![0; 4096];
    file.read_exact_at(&mut first, 0)?;
    let Some(sector) = number::<2>(&first, 11).filter(|n| matches!(n, 512 | 1024 | 2048 | 4096)) else {
        return Err(io::Error::other("its first sector makes no sense"));
    };
    first.truncate(sector as usize);
    let at = number::<8>(&first, 40).and_then(|sectors| sectors.checked_mul(sector));
    // A device has no length but its end.
    let end = (&file).seek(SeekFrom::End(0))?;
    let Some(at) = at.filter(|at| at.checked_add(sector).is_some_and(|behind| behind <= end)) else {
        return Err(io::Error::other("it ends with the medium"));
    };
    file.write_all_at(&first, at)?;
    file.sync_all()
}

/// A program, also where a user's PATH leaves the folder out.
fn search(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A program, and Debian's package that has it.
type Tool = (&'static str, &'static str);

const E2FSCK: Tool = ("e2fsck", "e2fsprogs");
const RESIZE2FS: Tool = ("resize2fs", "e2fsprogs");
const NTFSRESIZE: Tool = ("ntfsresize", "ntfs-3g");
const NTFSFIX: Tool = ("ntfsfix", "ntfs-3g");

/// A program with its package, what to tell it, and the largest exit code of a good file system.
type Checker = (Tool, &'static [&'static str], i32);

impl FileSystemKind {
    /// Whether its tools can change its size while it is not mounted.
    pub const fn can_shrink(self) -> bool {
        matches!(self, Self::Ext | Self::Ntfs)
    }

    /// Whether anything makes it larger where it is: its tools while it is not mounted, or others while it is.
    pub const fn can_grow(self) -> bool {
        self.can_shrink() || matches!(self, Self::Xfs | Self::Btrfs | Self::F2fs)
    }

    /// What checks it.
    const fn checker(self) -> Option<Checker> {
        Some(match self {
            Self::Ext => (E2FSCK, &["-f", "-n"], 0),
            // It looks through all of it; ntfsfix wants the file system to end with the device.
            Self::Ntfs => (NTFSRESIZE, &["--info", "--force", "--bad-sectors", "--no-progress-bar"], 0),
            Self::ExFat => (("fsck.exfat", "exfatprogs"), &["-n"], 0),
            Self::Fat => (("fsck.fat", "dosfstools"), &["-n"], 0),
            Self::Xfs => (("xfs_repair", "xfsprogs"), &["-n", "-f"], 0),
            Self::Btrfs => (("btrfs", "btrfs-progs"), &["check", "--readonly"], 0),
            Self::F2fs | Self::SquashFs | Self::HfsPlus | Self::Iso9660 => return None,
        })
    }

    /// Checks the file system on that file or device, which must not be mounted. Nothing is changed.
    ///
    /// # Errors
    /// It has faults, or the program is missing.
    pub fn check(self, path: &Path) -> Result<(), ResizeToolError> {
        let Some((program, arguments, good)) = self.checker() else {
            let said = format!("{self} can't be checked here");
            return Err(ResizeToolError::Refused { program: "no program", said });
        };
        let said = run_so(program, arguments, path, &[], |command| command)?;
        if said.code.is_some_and(|code| code <= good) { Ok(()) } else { Err(said.faults(self, program.0)) }
    }

    /// Refuses what lacks a tool that [`resize`](Self::resize) needs, of which there may be several: before the first
    /// has changed anything.
    ///
    /// # Errors
    /// [`ResizeToolError::Missing`].
    pub fn must_have_tools(self) -> Result<(), ResizeToolError> {
        let tools: &[Tool] = match self {
            Self::Ext => &[E2FSCK, RESIZE2FS],
            Self::Ntfs => &[NTFSRESIZE, NTFSFIX],
            _ => &[],
        };
        let missing = tools.iter().find(|(program, _)| search(program).is_none());
        missing.map_or(Ok(()), |(program, package)| Err(ResizeToolError::Missing { program, package }))
    }

    /// The bytes in use in a file system that certainly can't be made that large by [`resize`](Self::resize), by its own map;
    /// `None` where it can be, or where that is not known before its tool has looked.
    pub fn too_full(self, store: &dyn Store, bytes: u64) -> Option<u64> {
        // What was not unmounted has counts that are not true.
        let free = Allocation::read(store).ok()?.free_bytes();
        let used = store.size().min(FoundFileSystem::find(store).ok()??.bytes).saturating_sub(free);
        let full = match self {
            Self::Ext => ext::is_too_full(store, bytes),
            Self::Ntfs => used > bytes,
            _ => false,
        };
        full.then_some(used)
    }

    /// Makes it that large: a multiple of 4096 bytes. Not on a mounted one.
    ///
    /// # Errors
    /// The tool refuses, or is missing, or there is none.
    pub fn resize(self, path: &Path, bytes: u64) -> Result<(), ResizeToolError> {
        self.must_have_tools()?;
        let refused = |program: &'static str, said: Said| match said.unreadable {
            true => said.faults(self, program),
            false => ResizeToolError::Refused { program, said: said.text },
        };
        match self {
            Self::Ext => {
                // resize2fs insists on a check that has just been made.
                check_ext(path)?;
                let said = resize2fs(path, bytes, &[])?;
                if said.code == Some(0) {
                    return Ok(());
                }
                let (kind, program) = (self, RESIZE2FS.0);
                let estimated = said.text.contains(SMALLER_THAN_ESTIMATED);
                if said.unreadable || estimated && !ext::has_room(path, bytes)? {
                    // It counts in blocks, and nobody else does.
                    return Err(match ext::least_of(path, &said.text) {
                        Some(least) => ResizeToolError::TooFull { kind, program, least, wanted: bytes },
                        None => refused(program, said),
                    });
                }
                shrink_ext(path, bytes, said, estimated)
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
                let cleaned = run(NTFSFIX, &["--clear-dirty"], path, &[])?;
                if cleaned.code != Some(0) {
                    return Err(refused("ntfsfix", cleaned));
                }
                copy_first_sector(path).map_err(ResizeToolError::Copy)
            }
            _ => Err(ResizeToolError::Refused {
                program: "no program",
                said: format!("{self} can't be made smaller while it is not mounted"),
            }),
        }
    }
}

/// Has an ext4 checked, and what a change of its size has left halfway put right.
fn check_ext(path: &Path) -> Result<(), ResizeToolError> {
    let checked = run(E2FSCK, &["-f", "-p"], path, &[])?;
    match checked.code.is_none_or(|code| code > 1) {
        true => Err(checked.faults(FileSystemKind::Ext, E2FSCK.0)),
        false => Ok(()),
    }
}

fn resize2fs(path: &Path, bytes: u64, how: &[&str]) -> Result<Said, ResizeToolError> {
    run(RESIZE2FS, how, path, &[&format!("{}K", bytes / 1024)])
}

/// Makes an ext4 smaller that its tool did not make so large at once, for which it `said` why: because of what it `estimated`, or
/// on the way. Where that can't be had either, it gets its size back.
fn shrink_ext(path: &Path, bytes: u64, said: Said, estimated: bool) -> Result<(), ResizeToolError> {
    let (kind, program) = (FileSystemKind::Ext, RESIZE2FS.0);
    let len = path.metadata()?.len();
    if !estimated {
        // What stopped halfway says so to its checker.
        check_ext(path)?;
    }
    let Some(before) = ext::bytes_of(path)?.filter(|before| *before > bytes) else {
        return Err(ResizeToolError::Refused { program, said: said.text });
    };
    let step = |to| {
        let said = resize2fs(path, to, &["-f"])?;
        match (said.code, said.unreadable) {
            (Some(0), _) => Ok(true),
            (_, true) => Err(said.faults(kind, program)),
            _ => check_ext(path).map(|()| false),
        }
    };
    let reached = ext::in_steps(before, bytes, !estimated, step)?;
    if reached <= bytes {
        return Ok(());
    }
    if path.metadata()?.len() < len {
        // It has cut the file where the file system ends.
        std::fs::File::options().write(true).open(path)?.set_len(len)?;
    }
    // Where it doesn't get that back, it is smaller, and nothing in it is lost.
    resize2fs(path, before, &[]).map(drop)?;
    Err(match reached < before {
        true => ResizeToolError::TooFull { kind, program, least: reached, wanted: bytes },
        false => ResizeToolError::Refused { program, said: said.text },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::{Caching, FileStore, OpenMode};
    use keyway_testkit::require_tool;

    #[test]
    fn what_a_tool_says_names_no_device_of_ours() {
        let path = Path::new("/dev/loop3");
        let said = [
            (
                "resize2fs: No space left on device while trying to resize /dev/loop3",
                "resize2fs: No space left on device while trying to resize it",
            ),
            (
                "/dev/loop3: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.",
                "UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.",
            ),
            ("could not open '/dev/loop3'.", "could not open 'it'."),
            ("/dev/loop31 is another", "/dev/loop31 is another"),
        ];
        for (line, told) in said {
            assert_eq!(unnamed(line, path), told);
            assert!(!is_for_whoever_ran_it("resize2fs", line));
        }
        for line in
            ["", "resize2fs 1.47.0 (5-Feb-2023)", "Please run 'e2fsck -fy /dev/loop3' to fix the filesystem"]
        {
            assert!(is_for_whoever_ran_it("resize2fs", line), "{line}");
        }
    }

    /// What `resize2fs` finds no room for at once, it finds in smaller steps; and where it doesn't, all is as it was.
    #[test]
    fn a_large_step_is_made_in_small_ones() {
        let Some(mkfs) = require_tool("mkfs.ext4") else { return };
        let (folder, kind) = (tempfile::tempdir().expect("temp"), FileSystemKind::Ext);
        let (path, within) = (folder.path().join("image"), folder.path().join("in"));
        std::fs::create_dir(&within).expect("a folder");
        for n in 1..=40u8 {
            std::fs::write(within.join(n.to_string()), vec![n; 1 << 20]).expect("written");
        }
        for (mib, fits) in [(65, true), (48, false)] {
            let file = std::fs::File::create(&path).expect("created");
            file.set_len(220 << 20).expect("sized");
            let made =
                Command::new(&mkfs).args(["-q", "-F", "-b", "4096", "-d"]).arg(&within).arg(&path).output();
            assert!(made.expect("runs").status.success());
            let done = kind.resize(&path, mib << 20);
            let bytes = ext::bytes_of(&path).expect("read").expect("told");
            match (fits, done) {
                (true, Ok(())) => assert!(bytes <= 65 << 20, "{bytes}"),
                (false, Err(error)) => {
                    let said = error.to_string();
                    assert!(
                        said.contains("can't be made smaller than") && said.ends_with("48 MiB"),
                        "{said}"
                    );
                    assert_eq!((bytes, file.metadata().expect("there").len()), (220 << 20, 220 << 20));
                }
                (_, other) => panic!("{mib}: {other:?}"),
            }
            kind.check(&path).expect("clean");
        }
    }

    #[test]
    fn a_name_is_a_name_whatever_is_in_it() {
        let Some(mkfs) = require_tool("mkfs.ext4") else { return };
        let (folder, kind) = (tempfile::tempdir().expect("temp"), FileSystemKind::Ext);
        let [made, path] = ["made", "-f?offset=4096"].map(|name| folder.path().join(name));
        std::fs::File::create(&made).and_then(|file| file.set_len(16 << 20)).expect("created");
        let done = Command::new(mkfs).args(["-q", "-F"]).arg(&made).output().expect("runs");
        assert!(done.status.success(), "{done:?}");
        std::fs::rename(&made, &path).expect("ours");
        kind.check(&path).expect("clean");
        kind.resize(&path, 12 << 20).expect("smaller");
        assert_eq!(ext::bytes_of(&path).expect("read"), Some(12 << 20));
    }

    #[test]
    fn sizes_are_those_that_mkfs_made_and_shrinking_keeps_the_checkers_content() {
        let folder = tempfile::tempdir().expect("temp");
        let made: [(&str, &[&str], FileSystemKind, u64); 5] = [
            ("mkfs.ext4", &["-q", "-F"], FileSystemKind::Ext, 64 << 20),
            ("mkfs.ntfs", &["-q", "-f", "-F"], FileSystemKind::Ntfs, (64 << 20) - 512),
            ("mkfs.exfat", &[], FileSystemKind::ExFat, 64 << 20),
            ("mkfs.fat", &["-F", "32"], FileSystemKind::Fat, 64 << 20),
            ("mkfs.btrfs", &["-q"], FileSystemKind::Btrfs, 128 << 20),
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
                FoundFileSystem::find(&store).expect("read").expect("found")
            };
            let found = size();
            assert_eq!(found.kind, kind);
            assert!(found.bytes.abs_diff(bytes) < 8192, "{program}: {} of {bytes}", found.bytes);
            if kind != FileSystemKind::Btrfs {
                kind.check(&path).expect("clean");
            }
            if kind.can_shrink() {
                let store = FileStore::open(&path, OpenMode::ReadOnly, Caching::Buffered).expect("opens");
                assert_eq!(kind.too_full(&store, 48 << 20), None, "{program}");
                let used = kind.too_full(&store, 1 << 20).expect("known before its tool says so");
                assert!((1 << 20..48 << 20).contains(&used), "{program}: {used}");
                kind.resize(&path, 48 << 20).expect("smaller");
                assert!(size().bytes <= 48 << 20, "{program}: {}", size().bytes);
                kind.check(&path).expect("clean");
                let error = kind.resize(&path, 1 << 20).expect_err("it has no room for that");
                if kind == FileSystemKind::Ext {
                    // In bytes: nobody counts in blocks.
                    let said = error.to_string();
                    assert!(said.contains("MiB") && said.ends_with("was to get 1 MiB"), "{said}");
                }
            }
            if kind == FileSystemKind::Ntfs {
                for bytes in [40 << 20, 60 << 20] {
                    kind.resize(&path, bytes).expect("another size");
                    let medium = std::fs::read(&path).expect("read");
                    let sectors = u64::from_le_bytes(medium[40..48].try_into().expect("eight"));
                    let behind = sectors as usize * 512;
                    assert!(behind + 512 <= bytes as usize && behind + 8192 > bytes as usize, "{bytes}");
                    assert_eq!(medium[3..11], *b"NTFS    ");
                    assert!(medium[behind..behind + 512] == medium[..512], "{bytes}: no spare first sector");
                }
            }
        }
    }
}
