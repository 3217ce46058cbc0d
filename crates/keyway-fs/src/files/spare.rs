//! What a copy out of a volume never replaces: the volume itself, and whatever somebody has open.

use super::entry::{Entry, EntryKind, Spared};
use super::error::FilesError;
use super::get::DEEPEST;
use super::names::is_safe;
use super::pattern::{At, Pattern};
use super::volume::Files;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Files {
    /// These files are not replaced by a copy out of it, by whatever name they are met.
    pub fn spare(&mut self, files: Vec<Spared>) {
        self.spared = files;
    }

    /// Refuses a copy to `path` that would replace one of them, before anything is written. What can't be listed is left to the
    /// copy, which says so.
    ///
    /// # Errors
    /// [`FilesError::IsTheVolume`], [`FilesError::IsOpen`].
    pub fn refuse_spared(&mut self, what: &Entry, path: &Path) -> Result<(), FilesError> {
        self.refuse_below(what, path, 0)
    }

    /// The same of all that matches a pattern, into a folder.
    ///
    /// # Errors
    /// As [`refuse_spared`](Self::refuse_spared); or what is before the wildcards isn't there.
    pub fn refuse_spared_matches(&mut self, pattern: &Pattern, folder: &Path) -> Result<(), FilesError> {
        let base = self.find(pattern.folder())?;
        self.refuse_matches(&base, (pattern, &pattern.begin()), folder, 0)
    }

    fn refuse_below(&mut self, what: &Entry, path: &Path, depth: usize) -> Result<(), FilesError> {
        if !self.existing.replace || self.spared.is_empty() {
            return Ok(());
        }
        match (what.kind, path.symlink_metadata()) {
            (EntryKind::File, there) => self.refuse_one(path, [there, path.metadata()]),
            (EntryKind::Folder, Ok(there)) if there.is_dir() && depth <= DEEPEST => {
                let inner = self.entries(what).map(|contents| contents.entries).unwrap_or_default();
                let mut inner = inner.iter().filter(|entry| is_safe(&entry.name));
                inner.try_for_each(|entry| self.refuse_below(entry, &path.join(&entry.name), depth + 1))
            }
            _ => Ok(()),
        }
    }

    fn refuse_matches(
        &mut self,
        folder: &Entry,
        (pattern, at): (&Pattern, &At),
        path: &Path,
        depth: usize,
    ) -> Result<(), FilesError> {
        if !self.existing.replace || !path.is_dir() || depth > DEEPEST {
            return Ok(());
        }
        let Ok(matched) = self.matching(folder, pattern, at) else { return Ok(()) };
        for entry in matched.entries.iter().filter(|entry| is_safe(&entry.name)) {
            self.refuse_below(entry, &path.join(&entry.name), depth)?;
        }
        for (inner, at) in matched.further.iter().filter(|(inner, _)| is_safe(&inner.name)) {
            self.refuse_matches(inner, (pattern, at), &path.join(&inner.name), depth + 1)?;
        }
        Ok(())
    }

    fn refuse_one(&self, path: &Path, there: [io::Result<Metadata>; 2]) -> Result<(), FilesError> {
        let same = |about: &Metadata, one: &&Spared| (one.device, one.inode) == (about.dev(), about.ino());
        let found = there.iter().flatten().find_map(|about| self.spared.iter().find(|one| same(about, one)));
        match found {
            Some(Spared { own: true, .. }) => Err(FilesError::IsTheVolume(path.to_owned())),
            Some(_) => Err(FilesError::IsOpen(path.to_owned())),
            None => Ok(()),
        }
    }
}
