//! Copying files out of a volume, so that nothing on the medium can lead a name elsewhere.

use super::entry::{Contents, Entry, EntryKind, Problem};
use super::error::FilesError;
use super::mounted::{BESIDE, beside};
use super::names::is_safe;
use super::pattern::{At, Pattern};
use super::volume::Files;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, fstatfs, futimens, mkdirat,
    openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How deep folders may lie in each other: deeper than people nest them, and than a path here reaches.
pub(super) const DEEPEST: usize = 128;

/// How many entries one copy may make.
const MOST: u64 = 10_000_000;

/// How many entries may fail before it is clear that no more will come of it.
const MOST_FAILURES: u32 = 1000;

/// A block of zeros that becomes a hole: what most file systems give out at a time.
static HOLE: [u8; 4096] = [0; 4096];

/// What was copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Got {
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes in the files.
    pub bytes: u64,
    /// Files that were there already, and stayed.
    pub kept: u64,
}

/// What the caller is told while a folder is copied.
#[derive(Debug)]
pub enum Taken<'a> {
    /// A file or folder was made at this path.
    Made(&'a Path),
    /// This was left out, and why.
    LeftOut(&'a Path, &'a str),
    /// This could not be read.
    Failed(&'a Path, &'a FilesError),
}

/// A copy under way.
struct Copy<'a> {
    files: &'a mut Files,
    tell: &'a mut dyn FnMut(Taken<'_>),
    got: Got,
    /// Bytes there are on the medium, for file systems that can hold no more than that.
    room: Option<u64>,
    failures: u32,
    left_out: bool,
}

impl Files {
    /// Copies a file, or a folder with everything in it, to a new name (one, not a path) in a folder here, and tells what
    /// becomes of each entry. Nothing is overwritten unless [`meet`](Self::meet) said so; files and folders are for their owner alone; links,
    /// devices and names that are none are left out. Says what was copied, and whether all of it was:
    /// a file that can't be read is told and left out, and the rest goes on.
    pub fn get(
        &mut self,
        what: &Entry,
        folder: &Path,
        name: &OsStr,
        tell: &mut dyn FnMut(Taken<'_>),
    ) -> Result<(Got, bool), FilesError> {
        let path = folder.join(name);
        if !is_safe(name) {
            return Err(FilesError::NotAPath(name.to_owned()));
        }
        let into = opened(folder)?;
        let mut copy = Copy::new(self, tell);
        match what.kind {
            EntryKind::Folder => copy.folder(what, into.as_fd(), name, &path, 0)?,
            _ => copy.file(what, into.as_fd(), name, &path)?,
        }
        Ok((copy.got, copy.failures == 0))
    }

    /// Copies what is in a folder into one that is there: a copy of it that was begun goes on. Otherwise as [`get`](Self::get).
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_within(
        &mut self,
        what: &Entry,
        folder: &Path,
        tell: &mut dyn FnMut(Taken<'_>),
    ) -> Result<(Got, bool), FilesError> {
        let contents = self.entries(what)?;
        let made = opened(folder)?;
        let mut copy = Copy::new(self, tell);
        copy.within(contents, &made, folder, 0)?;
        stamp(&made, what);
        Ok((copy.got, copy.failures == 0))
    }

    /// Whether a folder here that holds these names is a copy of that one that was begun under a name of its own: each of them is
    /// a name there.
    pub fn is_begun(&mut self, what: &Entry, names: &[OsString]) -> bool {
        let Ok(contents) = self.entries(what) else { return false };
        // What somebody killed left of a file that was not whole.
        let mut names =
            names.iter().filter(|name| !name.as_bytes().starts_with(BESIDE.as_bytes())).peekable();
        names.peek().is_some() && names.all(|name| contents.entries.iter().any(|entry| entry.name == *name))
    }

    /// Copies everything that matches a pattern into a folder here, each to its path behind the part of the pattern
    /// that has no wildcards. Otherwise as [`get`](Self::get).
    ///
    /// # Errors
    /// As [`get`](Self::get); or nothing matches.
    pub fn get_matching(
        &mut self,
        pattern: &Pattern,
        folder: &Path,
        tell: &mut dyn FnMut(Taken<'_>),
    ) -> Result<(Got, bool), FilesError> {
        let base = self.find(pattern.folder())?;
        let mut copy = Copy::new(self, tell);
        let place = Place { above: None, name: OsStr::new(""), path: folder, made: OnceCell::new() };
        copy.matching(&base, pattern, &pattern.begin(), &place, 0)?;
        if copy.got == Got::default() && copy.failures == 0 && !copy.left_out {
            return Err(FilesError::NoMatch(pattern.text()));
        }
        Ok((copy.got, copy.failures == 0))
    }
}

/// A folder here, which is made when the first thing is copied into it.
struct Place<'a> {
    above: Option<&'a Place<'a>>,
    name: &'a OsStr,
    path: &'a Path,
    made: OnceCell<OwnedFd>,
}

impl Place<'_> {
    fn folder(&self) -> Result<BorrowedFd<'_>, FilesError> {
        if let Some(made) = self.made.get() {
            return Ok(made.as_fd());
        }
        let made = match self.above {
            None => {
                // What is there already is used.
                let _ = mkdirat(CWD, self.path, Mode::RWXU);
                opened(self.path)?
            }
            Some(above) => {
                let into = above.folder()?;
                let failed = |doing, e: Errno| host(doing, self.path, e.into());
                match mkdirat(into, self.name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(e) => return Err(failed("make", e)),
                }
                let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                openat(into, self.name, flags, Mode::empty()).map_err(|e| failed("open", e))?
            }
        };
        Ok(self.made.get_or_init(|| made).as_fd())
    }
}

fn opened(folder: &Path) -> Result<OwnedFd, FilesError> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    openat(CWD, folder, flags, Mode::empty()).map_err(|e| host("open", folder, e.into()))
}

fn host(doing: &'static str, path: &Path, source: io::Error) -> FilesError {
    match source.kind() {
        io::ErrorKind::AlreadyExists => FilesError::InTheWay(path.to_owned()),
        _ => FilesError::Host { doing, path: path.to_owned(), source },
    }
}

impl<'a> Copy<'a> {
    fn new(files: &'a mut Files, tell: &'a mut dyn FnMut(Taken<'_>)) -> Self {
        // FAT and exFAT can't share bytes between files, nor leave holes in them.
        let room = matches!(files.kind(), "vfat" | "exfat").then(|| files.window.size());
        Self { files, tell, got: Got::default(), room, failures: 0, left_out: false }
    }

    /// Copies what of a folder matches, and of the folders in it.
    fn matching(
        &mut self,
        folder: &Entry,
        pattern: &Pattern,
        at: &At,
        to: &Place<'_>,
        depth: usize,
    ) -> Result<(), FilesError> {
        if depth > DEEPEST {
            return Err(FilesError::Endless("folders lie in each other without end"));
        }
        let matched = self.files.matching(folder, pattern, at)?;
        for entry in &matched.entries {
            self.entry(entry, to.folder()?, to.path, depth)?;
        }
        for (inner, at) in &matched.further {
            let path = place(to.path, &inner.name);
            if !is_safe(&inner.name) {
                self.left_out(&path, "its name is not one that a file can have here");
                self.another(FilesError::NotAPath(inner.name.clone()))?;
                continue;
            }
            let below = Place { above: Some(to), name: &inner.name, path: &path, made: OnceCell::new() };
            match self.matching(inner, pattern, at, &below, depth + 1) {
                Err(e) if !is_of_all(&e) => self.failed(&path, e)?,
                other => other?,
            }
        }
        for Problem { name, error } in matched.problems {
            let path = name.map_or_else(|| to.path.to_owned(), |name| place(to.path, &name));
            self.failed(&path, error)?;
        }
        Ok(())
    }

    fn left_out(&mut self, path: &Path, why: &str) {
        self.left_out = true;
        (self.tell)(Taken::LeftOut(path, why));
    }

    /// Makes a folder and copies what is in it.
    fn folder(
        &mut self,
        what: &Entry,
        into: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
        depth: usize,
    ) -> Result<(), FilesError> {
        if depth > DEEPEST {
            return Err(FilesError::Endless("folders lie in each other without end"));
        }
        let contents = self.files.entries(what)?;
        let is_new = match mkdirat(into, name, Mode::RWXU) {
            Err(Errno::EXIST) if self.files.existing.may_be_there() => false,
            made => made.map(|()| true).map_err(|e| host("make", path, e.into()))?,
        };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(into, name, flags, Mode::empty()).map_err(|e| match e {
            // A file, or a link.
            Errno::NOTDIR | Errno::LOOP => FilesError::OtherKind(path.to_owned()),
            e => host("open", path, e.into()),
        })?;
        if is_new {
            self.count(|got| got.folders += 1)?;
            (self.tell)(Taken::Made(path));
        }
        self.within(contents, &made, path, depth)?;
        stamp(&made, what);
        Ok(())
    }

    /// Copies what is in a folder into one that is open here.
    fn within(
        &mut self,
        contents: Contents,
        made: &OwnedFd,
        path: &Path,
        depth: usize,
    ) -> Result<(), FilesError> {
        for entry in &contents.entries {
            self.entry(entry, made.as_fd(), path, depth)?;
        }
        for Problem { name, error } in contents.problems {
            let path = name.map_or_else(|| path.to_owned(), |name| place(path, &name));
            self.failed(&path, error)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &Entry,
        into: BorrowedFd<'_>,
        folder: &Path,
        depth: usize,
    ) -> Result<(), FilesError> {
        if !is_safe(&entry.name) {
            let why = "its name is not one that a file can have here";
            self.left_out(&place(folder, &entry.name), why);
            return self.another(FilesError::NotAPath(entry.name.clone()));
        }
        let path: PathBuf = folder.join(&entry.name);
        if self.files.is_stopped() {
            return Err(self.stopped(path));
        }
        let done = match entry.kind {
            EntryKind::Folder => self.folder(entry, into, &entry.name, &path, depth + 1),
            EntryKind::File => self.file(entry, into, &entry.name, &path),
            EntryKind::Link => {
                self.left_out(&path, "links are not copied");
                return Ok(());
            }
            EntryKind::Other => {
                self.left_out(&path, "it is neither a file nor a folder");
                return Ok(());
            }
        };
        match done {
            Err(e) if !is_of_all(&e) => self.failed(&path, e),
            other => other,
        }
    }

    /// Makes a file of what is in one; a part of it is removed.
    fn file(
        &mut self,
        what: &Entry,
        into: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> Result<(), FilesError> {
        let left = self.room.map(|room| room.saturating_sub(self.got.bytes));
        if left.is_some_and(|left| what.size > left) {
            return Err(FilesError::Endless("its files are larger than the volume"));
        }
        let old = statat(into, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kind = old.map(|old| FileType::from_raw_mode(old.st_mode));
        let same = old.is_some_and(|old| u64::try_from(old.st_size) == Ok(what.size));
        if self.files.existing.keep_same && kind == Some(FileType::RegularFile) && same {
            return self.count(|got| got.kept += 1);
        }
        let is_file = matches!(kind, Some(FileType::RegularFile | FileType::Symlink));
        let replaced = is_file && self.files.existing.replace;
        match old {
            Some(_) if !is_file => return Err(FilesError::OtherKind(path.to_owned())),
            Some(_) if !replaced => return Err(FilesError::InTheWay(path.to_owned())),
            _ => {}
        }
        // It has its name once it is whole, whatever ends this process before; an old one stays until then.
        let begun = &*beside()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(into, begun, flags, Mode::RUSR | Mode::WUSR);
        let mut made = File::from(made.map_err(|e| host("make", path, e.into()))?);
        let mut failed_here = None;
        let mut length = 0;
        let stop = Arc::clone(&self.files.stop);
        let read = self.files.read(what, |piece| {
            if stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("stopped"));
            }
            length += piece.len() as u64;
            write_sparse(&mut made, piece).map_err(|e| {
                failed_here = Some(e);
                io::Error::other("not written")
            })
        });
        // It may end in a hole, which nothing was written to.
        let read = read.and_then(|()| {
            made.set_len(length).and_then(|()| settled(&made)).map_err(|e| host("write", path, e))?;
            stamp(&made, what);
            match replaced {
                true => renameat(into, begun, into, name).map_err(|e| host("replace", path, e.into())),
                false => name_new(into, begun, name).map_err(|e| host("make", path, e.into())),
            }
        });
        if let Err(e) = read {
            // The first error is the one to tell.
            let _ = unlinkat(into, begun, AtFlags::empty());
            return Err(match failed_here {
                Some(e) => host("write", path, e),
                None if self.files.is_stopped() => self.stopped(path.to_owned()),
                None => e,
            });
        }
        self.count(|got| {
            got.files += 1;
            got.bytes = got.bytes.saturating_add(what.size);
        })?;
        (self.tell)(Taken::Made(path));
        Ok(())
    }

    /// Nothing of `missing` is there.
    fn stopped(&self, missing: PathBuf) -> FilesError {
        FilesError::Stopped { files: self.got.files, missing }
    }

    /// Tells of an entry that failed.
    fn failed(&mut self, path: &Path, error: FilesError) -> Result<(), FilesError> {
        (self.tell)(Taken::Failed(path, &error));
        self.another(error)
    }

    /// Counts a failure; one too many ends the copy.
    fn another(&mut self, error: FilesError) -> Result<(), FilesError> {
        self.failures += 1;
        if self.failures > MOST_FAILURES { Err(error) } else { Ok(()) }
    }

    fn count(&mut self, add: impl FnOnce(&mut Got)) -> Result<(), FilesError> {
        add(&mut self.got);
        if self.got.files + self.got.folders + self.got.kept > MOST {
            return Err(FilesError::Endless("more than ten million entries"));
        }
        Ok(())
    }
}

/// File systems over a network, or of another process, may say only when a file is flushed that there was no room for it:
/// `NFS_SUPER_MAGIC`, `CIFS_SUPER_MAGIC`, `SMB2_SUPER_MAGIC`, `FUSE_SUPER_MAGIC`, `V9FS_MAGIC`, `CEPH_SUPER_MAGIC`.
const LATE: [u32; 6] = [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400];

/// Has all of a file written, before it gets its name.
fn settled(made: &File) -> io::Result<()> {
    match fstatfs(made).is_ok_and(|of| LATE.contains(&(of.f_type as u32))) {
        true => made.sync_all(),
        false => Ok(()),
    }
}

/// Gives a file the name that it was made for, which nothing has.
fn name_new(folder: BorrowedFd<'_>, begun: &OsStr, name: &OsStr) -> Result<(), Errno> {
    match renameat_with(folder, begun, folder, name, RenameFlags::NOREPLACE) {
        // Not every file system can promise it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(_) => renameat(folder, begun, folder, name),
            }
        }
        done => done,
    }
}

/// Whether an error is one of the whole copy: it says that the next entry would fail, too.
fn is_of_all(error: &FilesError) -> bool {
    match error {
        FilesError::Stopped { .. } => true,
        // The file system here may take no such name, or no file so large.
        FilesError::Host { source, .. } => {
            let errno = source.raw_os_error().map(Errno::from_raw_os_error);
            !matches!(errno, Some(Errno::INVAL | Errno::NAMETOOLONG | Errno::ILSEQ | Errno::FBIG))
        }
        _ => false,
    }
}

/// The path that is told of a name from the medium, whatever it holds.
fn place(folder: &Path, name: &OsStr) -> PathBuf {
    folder.join(name.to_string_lossy().replace(['/', '\0'], "\u{fffd}"))
}

/// Writes what comes next in a new file. Whole blocks of zeros are passed over, which leaves a hole, as
/// there may be one on the medium.
fn write_sparse(to: &mut File, piece: &[u8]) -> io::Result<()> {
    let is_hole = |block: &&[u8]| *block == HOLE.get(..block.len()).unwrap_or_default();
    let mut blocks = piece.chunks(HOLE.len()).peekable();
    let mut rest = piece;
    while let Some(first) = blocks.next() {
        let hole = is_hole(&first);
        let mut len = first.len();
        while let Some(more) = blocks.next_if(|block| is_hole(block) == hole) {
            len += more.len();
        }
        let (run, behind) = rest.split_at_checked(len).unwrap_or_default();
        if hole {
            to.seek_relative(run.len() as i64)?;
        } else {
            to.write_all(run)?;
        }
        rest = behind;
    }
    Ok(())
}

/// Gives what was made the time of what it was made from; its content matters more.
fn stamp(made: &impl AsFd, what: &Entry) {
    if let Some(seconds) = what.modified {
        let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
        let _ = futimens(made, &Timestamps { last_access: time, last_modification: time });
    }
}
