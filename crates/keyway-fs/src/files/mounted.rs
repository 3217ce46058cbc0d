//! Files and folders into a file system that somebody has mounted: the kernel, or a program. What lies there may be anybody's
//! work, so it is entered folder by folder, and no link is followed.

use super::entry::{EntryKind, NewEntry};
use super::error::{FilesError, whole};
use super::fat;
use super::names::folded;
use super::names::is_safe;
use super::put::makes;
use crate::superblock::FileSystemKind;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, StatVfsMountFlags, Timespec, Timestamps, fstatvfs, fsync,
    futimens, mkdirat, openat, renameat, statat, syncfs, unlinkat,
};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much is copied before it is asked whether to go on.
const PIECE: usize = 1 << 20;
const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::RDONLY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);
const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Bytes that a name takes in a folder beside its letters, in any file system: NTFS has the most (its index entry with the
/// attribute FILE_NAME).
const NAMED: u64 = 96;
/// Bytes of a file's record in an NTFS, as mkntfs and Windows make them.
const NTFS_RECORD: u64 = 1024;
/// Blocks that Linux keeps of an ext4 at most, where a fiftieth is more (`ext4_calculate_resv_clusters`).
const EXT_KEPT: u64 = 4096;
/// Permissions that are taken over.
const PERMISSIONS: u32 = 0o777;

/// A mounted file system that files are put into.
pub struct MountedFiles {
    root: OwnedFd,
    kind: FileSystemKind,
    /// The folder that was entered last.
    last: Option<(Vec<OsString>, OwnedFd)>,
    /// What it holds, by the names that are compared; where capitals don't count.
    names: Option<(Vec<OsString>, HashMap<String, OsString>)>,
}

/// A file that is to be put.
#[derive(Debug, Clone, Copy)]
pub struct NewFile {
    /// Its bytes: exactly so many are taken.
    pub len: u64,
    /// When it was last written, in seconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, as `chmod` counts them; what the process does not grant to new files is left out.
    pub mode: u32,
}

impl MountedFiles {
    /// What is mounted on that folder, which nobody but this user may change.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn open(at: &Path, kind: FileSystemKind) -> Result<Self, FilesError> {
        let root = openat(CWD, at, FOLDER, Mode::empty()).map_err(|e| host("open", at, e))?;
        Ok(Self { root, kind, last: None, names: None })
    }

    /// Whether it can only be read: whoever mounted it has found something.
    ///
    /// # Errors
    /// It does not say.
    pub fn is_read_only(&self) -> Result<bool, FilesError> {
        let about = fstatvfs(&self.root).map_err(|e| host("look at", Path::new("/"), e))?;
        Ok(about.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    /// What has that path; nothing where it isn't there.
    ///
    /// # Errors
    /// It can't be read.
    pub fn kind_of(&mut self, path: &[OsString]) -> Result<Option<EntryKind>, FilesError> {
        let Some((name, folder)) = path.split_last() else { return Ok(Some(EntryKind::Folder)) };
        match self.held(folder, name) {
            Ok(held) => Ok(held.map(|(kind, _)| kind)),
            Err(FilesError::NotFound(_) | FilesError::NotAFolder(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// As [`Files::check_new`](super::Files::check_new).
    ///
    /// # Errors
    /// What stands against the first one that can't be made, or that there is no room for all of them.
    pub fn check_new(&mut self, entries: &[NewEntry<'_>], replace: bool) -> Result<(), FilesError> {
        // Those that will be new, and which of them are folders.
        let (mut made, mut folders) = (HashSet::new(), HashSet::new());
        let about = fstatvfs(&self.root).map_err(|e| host("look at", Path::new("/"), e))?;
        let unit = about.f_frsize.max(1);
        let (mut wanted, mut count) = (unit, 0u64);
        for new in entries {
            let Some((name, folder)) = new.path.split_last() else {
                return Err(FilesError::IsAFolder(OsString::from("/")));
            };
            self.must_be_name(name)?;
            let key: Vec<OsString> = new.path.iter().map(|name| self.compared(name)).collect();
            if made.contains(&key) {
                return Err(FilesError::SameName(name.clone()));
            }
            let is_new = key.split_last().is_some_and(|(_, folder)| folders.contains(folder));
            let held = if is_new { None } else { self.held(folder, name)?.map(|(kind, _)| kind) };
            if !makes(held, new, replace)? {
                continue;
            }
            if new.len.is_none() {
                folders.insert(key.clone());
            }
            made.insert(key);
            count += 1;
            // A folder has a block; a file's blocks may each be written down, and its name is, in folders half of which
            // is free where names were sorted in.
            let blocks = new.len.map_or(1, |len| len.div_ceil(unit));
            let named = 2 * (2 * name.len() as u64 + NAMED);
            let noted = match self.kind {
                FileSystemKind::Ext => blocks.saturating_mul(4).saturating_add(named),
                FileSystemKind::Ntfs => named + NTFS_RECORD,
                _ => named,
            };
            wanted = wanted.saturating_add(blocks.saturating_mul(unit)).saturating_add(noted);
        }
        // What is kept for root is root's.
        let free = if rustix::process::geteuid().is_root() { about.f_bfree } else { about.f_bavail };
        // The kernel keeps some of an ext4 for its own book-keeping, from root as well.
        let kept = if self.kind == FileSystemKind::Ext { (about.f_blocks / 50).min(EXT_KEPT) } else { 0 };
        let free = free.saturating_sub(kept).saturating_mul(unit);
        if wanted > free {
            return Err(FilesError::no_room(self.kind, free, wanted, about.f_blocks.saturating_mul(unit)));
        }
        if about.f_files > 0 && count > about.f_ffree {
            return Err(FilesError::NoRoomForFiles { free: about.f_ffree, wanted: count });
        }
        Ok(())
    }

    /// Makes a file that [`check_new`](Self::check_new) has looked at, and has the medium keep it. With `replace` it takes the
    /// place of one of that name when all of it is there. `go_on` hears how many bytes more there are, and whether it says
    /// to stop comes back. What was begun and not ended is removed.
    ///
    /// # Errors
    /// There is something of that name, the file can't be read to its end, or there is no room, or the medium fails.
    pub fn put(
        &mut self,
        path: &[OsString],
        from: impl Read,
        new: NewFile,
        replace: bool,
        go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, FilesError> {
        let Some((name, folder)) = path.split_last() else {
            return Err(FilesError::IsAFolder(OsString::from("/")));
        };
        self.must_be_name(name)?;
        let old = if replace { self.held(folder, name)? } else { None };
        let into = self.entered(folder)?;
        let shown = &shown(path);
        let failed = |doing| move |e: Errno| host(doing, shown, e);
        let begun = if old.is_some() { beside()? } else { name.clone() };
        let mode = Mode::from_raw_mode(new.mode & PERMISSIONS) | Mode::WUSR;
        let file = openat(into, &begun, NEW, mode).map_err(|e| match e {
            Errno::EXIST => FilesError::Exists(whole(path)),
            e => failed("make")(e),
        })?;
        let mut file = File::from(file);
        let done = copy(from, &mut file, new.len, go_on, &failed("write")).and_then(|done| {
            if let (ControlFlow::Continue(()), Some(tv_sec)) = (done, new.modified) {
                // A file system may have no room for that time; the content matters more.
                let time = Timespec { tv_sec, tv_nsec: 0 };
                let _ = futimens(&file, &Timestamps { last_access: time, last_modification: time });
            }
            fsync(&file).map_err(failed("write"))?;
            if let (ControlFlow::Continue(()), Some((_, old))) = (done, &old) {
                renameat(into, &begun, into, old).map_err(failed("replace"))?;
            }
            fsync(into).map_err(failed("write")).map(|()| done)
        });
        if !matches!(done, Ok(ControlFlow::Continue(()))) {
            // The first error is the one to tell.
            let _ = unlinkat(into, &begun, AtFlags::empty());
            let _ = fsync(into);
        }
        done
    }

    /// Makes a folder, or leaves the one that is there.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_folder(&mut self, path: &[OsString], mode: u32) -> Result<(), FilesError> {
        let Some((name, folder)) = path.split_last() else { return Ok(()) };
        self.must_be_name(name)?;
        match self.held(folder, name)? {
            Some((EntryKind::Folder, _)) => return Ok(()),
            Some(_) => return Err(FilesError::Exists(whole(path))),
            None => {}
        }
        let into = self.entered(folder)?;
        let failed = |e| host("make", &shown(path), e);
        mkdirat(into, name, Mode::from_raw_mode(mode & PERMISSIONS) | Mode::RWXU).map_err(failed)?;
        fsync(into).map_err(failed)
    }

    /// Has the medium keep everything.
    ///
    /// # Errors
    /// It fails.
    pub fn flush(&self) -> Result<(), FilesError> {
        syncfs(&self.root).map_err(|e| host("write", Path::new("/"), e))
    }

    /// Whether each of these is there already: a file of the same length.
    ///
    /// # Errors
    /// The file system can't be read.
    pub fn same_there(&mut self, entries: &[NewEntry<'_>]) -> Result<Vec<bool>, FilesError> {
        let mut same = |new: &NewEntry<'_>| {
            let Some((len, (name, folder))) = new.len.zip(new.path.split_last()) else { return Ok(false) };
            let held = match self.held(folder, name) {
                Err(FilesError::NotFound(_) | FilesError::NotAFolder(_)) => return Ok(false),
                held => held?,
            };
            let Some((EntryKind::File, name)) = held else { return Ok(false) };
            let about = statat(self.entered(folder)?, name, AtFlags::SYMLINK_NOFOLLOW);
            Ok(about.is_ok_and(|about| u64::try_from(about.st_size) == Ok(len)))
        };
        entries.iter().map(&mut same).collect()
    }

    /// Capitals don't count where Windows compares names.
    const fn ignores_case(&self) -> bool {
        matches!(self.kind, FileSystemKind::Ntfs | FileSystemKind::ExFat | FileSystemKind::Fat)
    }

    /// Whether the file system can hold such a name.
    ///
    /// # Errors
    /// It can't.
    pub fn must_be_name(&self, name: &OsStr) -> Result<(), FilesError> {
        if self.ignores_case() {
            return fat::must_be_name(name).map(drop);
        }
        if is_safe(name) { Ok(()) } else { Err(FilesError::NotAPath(name.to_owned())) }
    }

    fn compared(&self, name: &OsStr) -> OsString {
        if self.ignores_case() { folded(name).into() } else { name.to_owned() }
    }

    /// What has that name in a folder, and its name as it is written there.
    fn held(
        &mut self,
        folder: &[OsString],
        name: &OsStr,
    ) -> Result<Option<(EntryKind, OsString)>, FilesError> {
        let known = match &self.names {
            Some((of, names)) if of == folder => Some(names.get(&folded(name)).cloned()),
            _ => None,
        };
        let ignores_case = self.ignores_case();
        let into = self.entered(folder)?;
        let own = kind(into, name, folder)?;
        if own.is_some() || !ignores_case {
            return Ok(own.map(|kind| (kind, name.to_owned())));
        }
        let alike = match known {
            Some(alike) => alike,
            None => {
                let names = listed(into, folder)?;
                let alike = names.get(&folded(name)).cloned();
                self.names = Some((folder.to_vec(), names));
                alike
            }
        };
        let Some(alike) = alike else { return Ok(None) };
        let into = self.entered(folder)?;
        Ok(kind(into, &alike, folder)?.map(|kind| (kind, alike)))
    }

    /// Enters a folder, from the root on.
    fn entered(&mut self, folder: &[OsString]) -> Result<BorrowedFd<'_>, FilesError> {
        if self.last.as_ref().is_none_or(|(path, _)| path != folder) {
            let mut at = None;
            for (depth, name) in folder.iter().enumerate() {
                let above = folder.get(..depth).unwrap_or_default();
                let ignores_case = self.ignores_case();
                let from = at.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
                at = Some(enter(from, name, above, ignores_case)?);
            }
            let at = match at {
                Some(at) => at,
                None => self.root.try_clone().map_err(|source| FilesError::Host {
                    doing: "open",
                    path: "/".into(),
                    source,
                })?,
            };
            self.last = Some((folder.to_vec(), at));
        }
        Ok(self.last.as_ref().map_or(self.root.as_fd(), |(_, at)| at.as_fd()))
    }
}

/// Opens a folder in one, or the one whose name differs in its capitals alone.
fn enter(
    from: BorrowedFd<'_>,
    name: &OsString,
    above: &[OsString],
    ignores_case: bool,
) -> Result<OwnedFd, FilesError> {
    if !is_safe(name) {
        return Err(FilesError::NotAPath(name.clone()));
    }
    match openat(from, name, FOLDER, Mode::empty()) {
        Ok(folder) => Ok(folder),
        Err(Errno::NOENT) => {
            let alike = if ignores_case { listed(from, above)?.remove(&folded(name)) } else { None };
            match alike {
                Some(alike) => enter(from, &alike, above, false),
                None => Err(FilesError::NotFound(whole(&[above, std::slice::from_ref(name)].concat()))),
            }
        }
        Err(Errno::NOTDIR | Errno::LOOP) => match kind(from, name, above)? {
            Some(EntryKind::Link) => Err(FilesError::IsALink(name.clone())),
            _ => Err(FilesError::NotAFolder(name.clone())),
        },
        Err(e) => Err(host("open", &shown(above).join(name), e)),
    }
}

/// What has a name in a folder.
fn kind(at: BorrowedFd<'_>, name: &OsStr, folder: &[OsString]) -> Result<Option<EntryKind>, FilesError> {
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        })),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(host("look at", &shown(folder).join(name), e)),
    }
}

/// The names in a folder, by how they are compared.
fn listed(at: BorrowedFd<'_>, folder: &[OsString]) -> Result<HashMap<String, OsString>, FilesError> {
    let failed = |e| host("read", &shown(folder), e);
    let mut names = HashMap::new();
    for entry in Dir::read_from(at).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        names.insert(folded(name), name.to_owned());
    }
    Ok(names)
}

/// Copies exactly `len` bytes, unless it shall stop. There was room for all of them: no holes are made.
fn copy(
    from: impl Read,
    to: &mut File,
    len: u64,
    go_on: &mut dyn FnMut(u64) -> ControlFlow<()>,
    failed: &dyn Fn(Errno) -> FilesError,
) -> Result<ControlFlow<()>, FilesError> {
    let read = |source| FilesError::Host { doing: "read", path: "the file to be put".into(), source };
    let written = |e: io::Error| failed(Errno::from_io_error(&e).unwrap_or(Errno::IO));
    let (mut from, mut piece, mut left) = (from, vec![0; PIECE], len);
    while left > 0 {
        let n = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = piece.get_mut(..n).unwrap_or_default();
        from.read_exact(part).map_err(read)?;
        to.write_all(part).map_err(written)?;
        left -= n as u64;
        if go_on(n as u64).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// How a name begins that a file has until it is whole.
pub(super) const BESIDE: &str = ".keyway-put-";

/// A name that nobody has, for a file that will take another one's place.
pub(super) fn beside() -> Result<OsString, FilesError> {
    let mut random = [0; 8];
    let got = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    got.map_err(|e| host("make", Path::new("a new name"), e))?;
    Ok(format!("{BESIDE}{:016x}", u64::from_ne_bytes(random)).into())
}

fn shown(path: &[OsString]) -> PathBuf {
    Path::new("/").join(path.iter().collect::<PathBuf>())
}

fn host(doing: &'static str, path: &Path, e: Errno) -> FilesError {
    match e {
        // Nothing of this machine is full.
        Errno::NOSPC | Errno::DQUOT => FilesError::Full(path.to_owned()),
        e => FilesError::Host { doing, path: path.to_owned(), source: e.into() },
    }
}
