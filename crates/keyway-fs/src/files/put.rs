//! New files and folders in a volume, one at a time; what stands against any of them is found before the first.

use super::entry::{EntryKind, Location, NewEntry};
use super::error::{FilesError, whole};
use super::names::folded;
use super::volume::{Files, guarded};
use super::{exfat_put, fat};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

/// What a folder will hold, by the names that a file system compares.
type Names = HashMap<String, Held>;

/// What has a name in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Before(EntryKind, u64),
    New,
}

/// Whether something new is to be made where that has its name before: a folder that is there is taken as it is, and a
/// file makes room where it may be replaced.
///
/// # Errors
/// It can't be made.
pub(super) fn makes(held: Option<EntryKind>, new: &NewEntry<'_>, replace: bool) -> Result<bool, FilesError> {
    match held {
        None => Ok(true),
        Some(EntryKind::Folder) if new.len.is_none() => Ok(false),
        Some(EntryKind::File) if new.len.is_some() && replace => Ok(true),
        Some(EntryKind::Folder) if replace => {
            Err(FilesError::IsAFolder(new.path.last().cloned().unwrap_or_default()))
        }
        Some(EntryKind::File) if new.len.is_some() => Err(FilesError::Exists(whole(new.path))),
        // No option has it replaced, so none is named.
        Some(_) => Err(FilesError::OtherKind(Path::new("/").join(whole(new.path)))),
    }
}

impl Files {
    /// Looks, before the first is made, whether all of these can be: folders before what is in them. A folder that is
    /// there is taken as it is; a file that is there makes room with `replace`.
    ///
    /// # Errors
    /// What stands against the first one that can't be made, or that there is no room for all of them.
    pub fn check_new(&mut self, entries: &[NewEntry<'_>], replace: bool) -> Result<(), FilesError> {
        self.must_write()?;
        let mut folders: HashMap<Vec<String>, Names> = HashMap::new();
        let mut old = 0u64;
        for new in entries {
            let Some((name, folder)) = new.path.split_last() else {
                return Err(FilesError::IsAFolder(OsString::from("/")));
            };
            self.must_be_name(name)?;
            let key: Vec<String> = folder.iter().map(|name| self.folded(name)).collect();
            let names = match folders.entry(key) {
                Slot::Occupied(names) => names.into_mut(),
                Slot::Vacant(none) => none.insert(self.names_in(folder)?),
            };
            let wanted = self.folded(name);
            match names.get(&wanted) {
                Some(Held::New) => return Err(FilesError::SameName(name.clone())),
                Some(Held::Before(kind, _)) if !makes(Some(*kind), new, replace)? => continue,
                Some(Held::Before(_, size)) => old = old.saturating_add(*size),
                None => {}
            }
            names.insert(wanted, Held::New);
            if new.len.is_none() {
                let key: Vec<String> = new.path.iter().map(|name| self.folded(name)).collect();
                folders.insert(key, Names::new());
            }
        }
        self.window.allow(u64::MAX);
        let window = self.window.clone();
        let fits = match &self.writer {
            Some(writer) => guarded(|| writer.must_fit(entries)),
            None => guarded(|| fat::must_fit(window, entries)),
        };
        fits.map_err(|e| match e {
            FilesError::NoRoom { free, wanted } if old > 0 => FilesError::NoRoomForBoth { free, old, wanted },
            e => e,
        })
    }

    /// Whether the file system can hold such a name.
    ///
    /// # Errors
    /// It can't.
    pub fn must_be_name(&self, name: &OsStr) -> Result<(), FilesError> {
        fat::must_be_name(name).map(drop)
    }

    /// Whether each of these is there already: a file of the same length.
    ///
    /// # Errors
    /// The file system can't be written to, or read.
    pub fn same_there(&mut self, entries: &[NewEntry<'_>]) -> Result<Vec<bool>, FilesError> {
        self.must_write()?;
        let mut folders: HashMap<&[OsString], HashMap<String, u64>> = HashMap::new();
        let mut same = Vec::with_capacity(entries.len());
        for new in entries {
            let Some((len, (name, folder))) = new.len.zip(new.path.split_last()) else {
                same.push(false);
                continue;
            };
            let files = match folders.entry(folder) {
                Slot::Occupied(files) => files.into_mut(),
                Slot::Vacant(none) => none.insert(self.files_in(folder)?),
            };
            same.push(files.get(&self.folded(name)) == Some(&len));
        }
        Ok(same)
    }

    /// The files in a folder, with their lengths; none where it isn't there.
    fn files_in(&mut self, folder: &[OsString]) -> Result<HashMap<String, u64>, FilesError> {
        let names = match self.names_in(folder) {
            Err(FilesError::NotFound(_) | FilesError::NotAFolder(_)) => return Ok(HashMap::new()),
            names => names?,
        };
        let file = |(name, held)| match held {
            Held::Before(EntryKind::File, len) => Some((name, len)),
            _ => None,
        };
        Ok(names.into_iter().filter_map(file).collect())
    }

    /// Looks whether this file system can be written to, and reads what that takes.
    fn must_write(&mut self) -> Result<(), FilesError> {
        match self.kind {
            "vfat" => Ok(()),
            "exfat" => self.write_exfat(|_| Ok(())),
            other => Err(FilesError::CanNotWrite(other)),
        }
    }

    /// Has an exFAT's writer do something.
    fn write_exfat(
        &mut self,
        work: impl FnOnce(&mut exfat_put::Writer) -> Result<(), FilesError>,
    ) -> Result<(), FilesError> {
        self.window.allow(u64::MAX);
        let (window, writer) = (self.window.clone(), &mut self.writer);
        guarded(|| match writer {
            Some(writer) => work(writer),
            None => work(writer.insert(exfat_put::Writer::open(window)?)),
        })
    }

    /// A name as this file system compares it.
    fn folded(&self, name: &OsStr) -> String {
        match &self.writer {
            Some(writer) => String::from_utf16_lossy(&writer.folded(name)),
            None => folded(name),
        }
    }

    /// The names in a folder that is there.
    fn names_in(&mut self, folder: &[OsString]) -> Result<Names, FilesError> {
        let found = self.find(folder)?;
        let contents = self.entries(&found)?;
        // Nobody knows what a folder holds that can't be read to its end.
        if let Some(problem) = contents.problems.into_iter().next() {
            return Err(problem.error);
        }
        let entries = contents.entries.into_iter();
        Ok(entries.map(|entry| (self.folded(&entry.name), Held::Before(entry.kind, entry.size))).collect())
    }

    /// Writes a new file, of exactly `len` bytes, and flushes the volume. FAT and exFAT take it. With `replace` a file of that
    /// name makes room for it first. What was begun and failed is removed.
    ///
    /// # Errors
    /// As [`check_new`](Self::check_new); or the medium fails.
    pub fn put(
        &mut self,
        path: &[OsString],
        from: impl Read,
        len: u64,
        modified: Option<i64>,
        replace: bool,
    ) -> Result<(), FilesError> {
        self.check_new(&[NewEntry { path, len: Some(len) }], replace)?;
        let put = self.put_checked(path, from, len, modified);
        put.and(self.flush())
    }

    /// Has the medium keep what was put. Before, nothing in an exFAT leads to it.
    ///
    /// # Errors
    /// It fails.
    pub fn flush(&mut self) -> Result<(), FilesError> {
        if self.writer.is_none() {
            return Ok(self.window.flush_store()?);
        }
        let done = self.write_exfat(exfat_put::Writer::commit);
        if done.is_err() {
            // What is on the medium now has to be read anew.
            self.writer = None;
            self.window.drop_pending();
        }
        done
    }

    /// The same of one that [`check_new`](Self::check_new) has looked at, without a flush: a file of that name is replaced.
    ///
    /// # Errors
    /// The folder isn't there, there is no room any more, or the medium fails.
    pub fn put_checked(
        &mut self,
        path: &[OsString],
        from: impl Read,
        len: u64,
        modified: Option<i64>,
    ) -> Result<(), FilesError> {
        if self.kind == "exfat" {
            return self.write_exfat(|writer| writer.put(path, from, len, modified));
        }
        let (folder, name) = self.place_of(path)?;
        self.window.allow(u64::MAX);
        let window = self.window.clone();
        guarded(|| fat::put(window, &folder, name, from, len, modified))
    }

    /// Makes a folder, or leaves the one that is there, without a flush.
    ///
    /// # Errors
    /// As [`put_checked`](Self::put_checked).
    pub fn put_folder(&mut self, path: &[OsString]) -> Result<(), FilesError> {
        if self.kind == "exfat" {
            return self.write_exfat(|writer| writer.put_folder(path));
        }
        let (folder, name) = self.place_of(path)?;
        self.window.allow(u64::MAX);
        let window = self.window.clone();
        guarded(|| fat::put_folder(window, &folder, name))
    }

    /// The folder and name of something new. Looked up by our own rules: the library's know no difference between a name
    /// and a path.
    fn place_of<'a>(&mut self, path: &'a [OsString]) -> Result<(Vec<u8>, &'a OsStr), FilesError> {
        if self.kind != "vfat" {
            return Err(FilesError::CanNotWrite(self.kind));
        }
        let (name, folder) = path.split_last().ok_or_else(|| FilesError::IsAFolder(OsString::from("/")))?;
        let parent = self.find(folder)?;
        if parent.kind != EntryKind::Folder {
            return Err(FilesError::NotAFolder(parent.name));
        }
        match parent.place {
            Location::Path(folder) => Ok((folder, name)),
            _ => Err(FilesError::CanNotWrite(self.kind)),
        }
    }
}
