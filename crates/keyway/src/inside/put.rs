//! Files and folders into a volume.

use super::mounted::{Mounted, must_be_writable};
use super::new_files::{Found, NewFiles, PutTo, open};
use super::trial::Trial;
use super::{Asks, NotDone, about_files, absolute, in_json, is_none, no_path};
use crate::error::{Advice, Error, Explain, Misuse, about};
use crate::locked::LockedVolume;
use crate::log_file;
use crate::progress::{Progress, Stage};
use crate::session::ServingProgram;
use crate::volume::{Volume, files_in};
use keyway_engine::{Access, Device};
use keyway_fs::allocation::Allocation;
use keyway_fs::files::{
    EntryKind, Existing, Files, FilesError, NewEntry, NewFile, must_be_clean, must_not_be_hibernated,
};
use keyway_fs::{FileSystemKind, Superblock};
use keyway_store::Caching;
use keyway_volume::Info;
use rustix::fs::statvfs;
use rustix::process::geteuid;
use serde::Serialize;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A volume that files are put into: by our own writers, or into its file system as it is mounted for that.
pub struct PutTarget<'a> {
    volume: PathBuf,
    within: Within,
    progress: &'a dyn Progress,
    /// Bytes that are free before a hidden volume that is protected, as far as the file system's map tells.
    before_hidden: Option<u64>,
    /// There may be a hidden volume in it.
    may_be_outer: bool,
    /// What the volume's owner should know.
    pub warnings: Vec<String>,
}

enum Within {
    /// With what is tried first where a hidden volume in it is protected.
    Ours(Box<Files>, Option<Trial>),
    Mounted(Mounted),
}

impl LockedVolume<'_> {
    /// Opens the volume to put files into it. FAT and exFAT are written by this process; any other file system is mounted for
    /// that, where nobody else gets, while the volume is served by another process. `progress` hears how far that is, and may
    /// stop it.
    ///
    /// # Errors
    /// As [`LockedVolume::must_be_free`] and [`LockedVolume::open`]; there is no file system that is known, it is damaged or
    /// was not unmounted, or nothing here writes to it.
    pub fn open_to_put<'a>(
        &self,
        access: Access,
        by: &ServingProgram,
        progress: &'a dyn Progress,
    ) -> Result<PutTarget<'a>, Error> {
        self.must_be_free(access)?;
        self.must_have_first_sector()?;
        let (Volume { device, info, warnings, .. }, keys, sandbox) =
            self.open_outside(access, Caching::Buffered)?;
        let filesystem = Superblock::read(&device).ok().flatten().map(|found| found.kind);
        let about = |e: Error| e.at(&self.path);
        let before_hidden = free_before_hidden(&device);
        let may_be_outer = matches!(&info, Info::VeraCrypt(info) if !info.hidden);
        let within = match filesystem {
            Some(other) if !matches!(other, FileSystemKind::Fat | FileSystemKind::ExFat) => {
                must_be_writable(other).map_err(|e| about(e.into()))?;
                must_be_clean(&device, other).map_err(|e| about(e.into()))?;
                if other == FileSystemKind::Ntfs {
                    must_not_be_hibernated(Arc::new(device)).map_err(|e| about(e.into()))?;
                } else {
                    drop(device);
                }
                Within::Mounted(Mounted::new(self, access, (&info, other), keys, by, progress)?)
            }
            _ => {
                drop(keys);
                sandbox.map_or(Ok(()), |sandbox| sandbox.enter())?;
                let device: Arc<Device> = Arc::new(device);
                let files = files_in(Arc::clone(&device)).map_err(about)?;
                let trial = device.has_guard().then(|| Trial::new(device));
                Within::Ours(Box::new(files), trial)
            }
        };
        Ok(PutTarget { volume: self.path.clone(), within, progress, before_hidden, may_be_outer, warnings })
    }
}

/// What is done with names that are taken, and with those that can't be.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutHow {
    /// What becomes of files that are there already.
    pub existing: Existing,
    /// What has a name that the file system can't hold is left out, and the rest is put.
    pub skip_unfit: bool,
}

/// How many names are told that the file system can't hold.
const TOLD: usize = 10;

/// Files that are to be put into a volume, or were. Nothing has been written before it is run.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct PutPlan {
    /// The volume.
    #[serde(serialize_with = "in_json")]
    pub volume: PathBuf,
    /// The file or folder here, where it is one.
    #[serde(serialize_with = "in_json", skip_serializing_if = "no_path")]
    pub file: PathBuf,
    /// Its path in the volume; of several the folder they go to.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes in the files.
    pub bytes: u64,
    /// They may take the place of others.
    pub replaces: bool,
    /// Links and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<NotDone>,
    /// Files and folders whose names the file system can't hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfit: Vec<NotDone>,
    /// Files that are there already, and stay.
    #[serde(skip_serializing_if = "is_none")]
    pub kept: u64,
    /// Where each goes, with its number among what was found.
    #[serde(skip)]
    places: Vec<(usize, Vec<OsString>)>,
}

impl PutPlan {
    /// Whether it is one file and nothing else.
    pub const fn is_one(&self) -> bool {
        self.files == 1 && self.folders == 0
    }
}

impl PutTarget<'_> {
    fn about(&self) -> impl Fn(FilesError) -> Error + use<> {
        let kind = match &self.within {
            Within::Ours(files, _) => files.kind(),
            // What has mounted it says what is wrong.
            Within::Mounted(_) => "",
        };
        about_files(&self.volume, kind)
    }

    /// What has that path in the volume, if anything.
    fn kind_of(&mut self, path: &[OsString]) -> Result<Option<EntryKind>, Error> {
        let about = self.about();
        let files = match &mut self.within {
            Within::Mounted(mounted) => return mounted.files()?.kind_of(path).map_err(about),
            Within::Ours(files, _) => files,
        };
        match files.find(path) {
            Ok(found) => Ok(Some(found.kind)),
            Err(FilesError::NotFound(_) | FilesError::NotAFolder(_)) => Ok(None),
            Err(e) => Err(about(e)),
        }
    }

    fn check_new(&mut self, entries: &[NewEntry<'_>], replace: bool) -> Result<(), Error> {
        let about = self.about();
        match &mut self.within {
            Within::Mounted(mounted) => mounted.files()?.check_new(entries, replace),
            Within::Ours(files, _) => files.check_new(entries, replace),
        }
        .map_err(about)
    }

    fn must_be_name(&mut self, name: &OsStr) -> Result<(), Error> {
        let about = self.about();
        match &mut self.within {
            Within::Mounted(mounted) => mounted.files()?.must_be_name(name),
            Within::Ours(files, _) => files.must_be_name(name),
        }
        .map_err(about)
    }

    fn same_there(&mut self, entries: &[NewEntry<'_>]) -> Result<Vec<bool>, Error> {
        let about = self.about();
        match &mut self.within {
            Within::Mounted(mounted) => mounted.files()?.same_there(entries),
            Within::Ours(files, _) => files.same_there(entries),
        }
        .map_err(about)
    }

    /// Those whose own names, or those of a folder around them, the file system can't hold: their numbers, and what is told of
    /// those that are not in another.
    fn unfit(&mut self, new: &NewFiles, places: &[(usize, Vec<OsString>)]) -> (HashSet<usize>, Vec<NotDone>) {
        let (mut numbers, mut told) = (HashSet::new(), Vec::<NotDone>::new());
        for (at, place) in places {
            let Some((found, name)) = new.found.get(*at).zip(place.last()) else { continue };
            // A folder comes before what is in it, and all that is in it follows at once.
            let within = told.last().is_some_and(|folder| found.path.starts_with(&folder.path));
            let refused = self.must_be_name(name);
            if within {
                numbers.insert(*at);
            } else if refused.is_err() {
                numbers.insert(*at);
                let reason = "no file system of Windows can hold that name".to_owned();
                told.push(NotDone { path: found.path.clone(), reason });
            }
        }
        (numbers, told)
    }

    /// Plans to put files into the volume: into a folder that is there, or, of one, under a new name. What stands against
    /// any of them is found out here.
    ///
    /// # Errors
    /// The volume can't be read; there is no such folder; there is one of that name, no room, or a file system that is only
    /// read.
    pub fn plan_put(&mut self, new: &NewFiles, to: &PutTo, how: PutHow) -> Result<PutPlan, Error> {
        let may_be_outer = self.may_be_outer;
        self.planned(new, to, how).map_err(|error| around_hidden(may_be_outer, error))
    }

    fn planned(&mut self, new: &NewFiles, to: &PutTo, how: PutHow) -> Result<PutPlan, Error> {
        let PutTo { path: to, asks, also_here } = to;
        let is_folder = self.kind_of(to)? == Some(EntryKind::Folder);
        if let (false, Some((here, is_folder))) = (is_folder, also_here) {
            return Err(Misuse::PutOneOfThem { path: here.clone(), is_folder: *is_folder }.into());
        }
        match asks {
            _ if is_folder => {}
            Asks::Folder => return Err(Misuse::PutIntoFolder(absolute(to)).into()),
            _ if new.named.len() > 1 => return Err(Misuse::PutIntoFolder(absolute(to)).into()),
            // A folder that gets this name is what the name says.
            Asks::NoFile if new.found.first().is_some_and(|one| one.file.is_some()) => {
                return Err(Misuse::NoSuchFolder(absolute(to).join("")).into());
            }
            Asks::NoFile | Asks::Nothing => {}
        }
        let mut places = Vec::new();
        for (at, found) in new.found.iter().enumerate() {
            let own = new.own.get(found.of).filter(|_| is_folder);
            let own = own
                .map(|own| own.clone().ok_or_else(|| Misuse::NoNewName(found.path.clone())))
                .transpose()?;
            let below = found.below.iter().cloned();
            places.push((at, to.iter().cloned().chain(own).chain(below).collect::<Vec<_>>()));
        }
        let [file, path] = match (new.named.as_slice(), places.first()) {
            ([one], Some((_, place))) => [one.clone(), absolute(place)],
            _ => [PathBuf::new(), absolute(to)],
        };
        // All of them are known before anything is written.
        let (numbers, unfit) = self.unfit(new, &places);
        match (unfit.as_slice(), how.skip_unfit, new.found.len()) {
            ([], ..) | (_, true, _) => {}
            // What stands against it is told of the one.
            (_, false, 1) => places
                .iter()
                .try_for_each(|(_, place)| place.last().map_or(Ok(()), |name| self.must_be_name(name)))?,
            (all, false, _) => {
                let first = all.iter().take(TOLD).map(|one| one.path.clone()).collect();
                return Err(about(&self.volume)(FilesError::BadNames { first, count: all.len() }));
            }
        }
        places.retain(|(at, _)| !numbers.contains(at));
        let len_of = |at: usize| new.found.get(at).and_then(|found| found.file).map(|(len, _)| len);
        let mut kept = 0;
        if how.existing.keep_same {
            let same = self.same_there(&entries(&places, len_of))?;
            kept = same.iter().filter(|same| **same).count() as u64;
            let mut same = same.into_iter();
            places.retain(|_| !same.next().unwrap_or(false));
        }
        let replace = how.existing.replace;
        self.check_new(&entries(&places, len_of), replace)?;
        let lens = places.iter().map(|(at, _)| len_of(*at));
        let wanted = lens.clone().flatten().sum();
        must_grow(&self.volume, wanted)?;
        if let Some(free) = self.before_hidden.filter(|free| !replace && *free < wanted) {
            return Err(about(&self.volume)(FilesError::NoRoomBeforeHidden { free, wanted }));
        }
        Ok(PutPlan {
            volume: self.volume.clone(),
            file,
            path,
            files: lens.clone().flatten().count() as u64,
            folders: lens.clone().filter(Option::is_none).count() as u64,
            bytes: wanted,
            replaces: replace,
            left_out: new.left_out.clone(),
            unfit,
            kept,
            places,
        })
    }

    /// Puts them there, one after the other. What was begun and failed is removed; what was put before stays.
    ///
    /// # Errors
    /// A file can't be read, or the volume can't be written.
    pub fn put(self, plan: &PutPlan, new: &NewFiles) -> Result<(), Error> {
        let (path, may_be_outer) = (&self.volume, self.may_be_outer);
        log_file::step(
            "put",
            path,
            || {
                match self.within {
                    Within::Mounted(mut mounted) => {
                        let done = into_mounted(&mut mounted, plan, new, self.progress);
                        mounted.end(path, done)
                    }
                    Within::Ours(files, trial) => into_ours(*files, trial, plan, new, self.progress),
                }
                .map_err(|error| around_hidden(may_be_outer, error))
            },
            |()| format!("{} files, {} bytes", plan.files, plan.bytes),
        )
    }
}

/// Who opens a volume to remove something from it writes to it, and perhaps around a hidden one.
fn around_hidden(may_be_outer: bool, error: Error) -> Error {
    let removes = |advice: &Advice| matches!(advice, Advice::RemoveSomething | Advice::RemoveOldFirst);
    match may_be_outer && error.advice().iter().any(removes) {
        true => error.leaving(Advice::ProtectMeanwhile),
        false => error,
    }
}

/// What is to be made, as a file system is asked about it.
fn entries(places: &[(usize, Vec<OsString>)], len_of: impl Fn(usize) -> Option<u64>) -> Vec<NewEntry<'_>> {
    places.iter().map(|(at, path)| NewEntry { path, len: len_of(*at) }).collect()
}

/// What is put, with where it goes.
fn chosen<'a>(plan: &'a PutPlan, new: &'a NewFiles) -> impl Iterator<Item = (&'a Vec<OsString>, &'a Found)> {
    plan.places.iter().filter_map(|(at, place)| Some((place, new.found.get(*at)?)))
}

/// Puts files by our own writers, once they have been tried where that must be.
fn into_ours(
    mut own: Files,
    trial: Option<Trial>,
    plan: &PutPlan,
    new: &NewFiles,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let about = about_files(&plan.volume, own.kind());
    // From now on Ctrl-C is a question that is asked in between: no file is left half written.
    progress.stage(Stage::PuttingFiles);
    let (mut bytes, mut files) = (0, 0);
    // A guard that refuses the last byte would leave the first ones.
    if let Some(trial) = trial {
        let mut files = Files::open(Arc::new(trial), Some(own.kind())).map_err(&about)?;
        for (place, found) in chosen(plan, new) {
            let tried = match found.file {
                Some((len, modified)) => files.put_checked(place, io::repeat(0), len, modified),
                None => files.put_folder(place),
            };
            tried.map_err(&about)?;
        }
        files.flush().map_err(&about)?;
    }
    let mut put = |(place, found): (&Vec<OsString>, &Found)| {
        let mut go_on = |more| {
            bytes += more;
            progress.at(bytes, plan.bytes)
        };
        let stopped = |files| about(FilesError::Stopped { files, missing: absolute(place) });
        if go_on(0).is_break() {
            return Err(stopped(files));
        }
        let Some((len, modified)) = found.file else { return own.put_folder(place).map_err(&about) };
        let opened = open(found).map_err(|e| Error::system("open", &found.path, e))?;
        // In FAT the old one is gone before the new one begins: that is put to its end.
        let whole = plan.replaces && own.kind() == "vfat" && own.find(place).is_ok();
        let mut watched = Watched { from: opened, go_on: &mut go_on, whole, is_stopped: false };
        let put = own.put_checked(place, &mut watched, len, modified);
        if put.is_err() && watched.is_stopped {
            return Err(stopped(files));
        }
        files += 1;
        put.map_err(&about)
    };
    let done = chosen(plan, new).try_for_each(&mut put);
    // Also after an error: what was put before stays.
    let kept = own.flush().map_err(&about);
    done.and(kept)
}

/// A file here that is read unless it shall stop.
struct Watched<'a> {
    from: File,
    go_on: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    /// It is read to its end all the same.
    whole: bool,
    is_stopped: bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        if (self.go_on)(n as u64).is_break() && !self.whole {
            self.is_stopped = true;
            return Err(io::Error::other("stopped"));
        }
        Ok(n)
    }
}

/// Puts them into a file system that is mounted, unless it shall stop.
fn into_mounted(
    mounted: &mut Mounted,
    plan: &PutPlan,
    new: &NewFiles,
    progress: &dyn Progress,
) -> Result<ControlFlow<()>, Error> {
    let about = about::<FilesError>(&plan.volume);
    let files = mounted.files()?;
    let mut done = 0;
    for (place, found) in chosen(plan, new) {
        let Some((len, modified)) = found.file else {
            files.put_folder(place, found.mode).map_err(&about)?;
            continue;
        };
        let opened = open(found).map_err(|e| Error::system("open", &found.path, e))?;
        let mut go_on = |more| {
            done += more;
            progress.at(done, plan.bytes)
        };
        let file = NewFile { len, modified, mode: found.mode };
        let put = files.put(place, opened, file, plan.replaces, &mut go_on).map_err(&about)?;
        if put.is_break() || go_on(0).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Whether a volume's file that has holes can take so many bytes: whoever writes to the file system in it hears of a full disk
/// too late, when half of a file and of that file system's own records is there.
fn must_grow(volume: &Path, wanted: u64) -> Result<(), Error> {
    let Some(file) = volume.metadata().ok().filter(Metadata::is_file) else { return Ok(()) };
    let holes = file.len().saturating_sub(file.blocks().saturating_mul(512));
    let folder = volume.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let Some((folder, below)) = folder.and_then(|at| statvfs(&at).ok().map(|below| (at, below))) else {
        return Ok(());
    };
    // What is kept for root is root's.
    let free = if geteuid().is_root() { below.f_bfree } else { below.f_bavail };
    let (free, wanted) = (free.saturating_mul(below.f_frsize), wanted.min(holes));
    match wanted > free {
        true => Err(about(volume)(FilesError::NoRoomHere { folder, free, wanted })),
        false => Ok(()),
    }
}

/// What of an outer volume's file system is free and lies before the hidden volume that is protected.
fn free_before_hidden(device: &Device) -> Option<u64> {
    let end = device.guarded_from()?;
    let used = Allocation::read(device).ok()?.used(end, 0);
    Some(
        used.iter()
            .fold(end, |free, range| free.saturating_sub(range.end.min(end).saturating_sub(range.start))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_error::Kind;

    #[test]
    fn a_file_with_holes_takes_no_more_than_there_is_room_for_below() {
        let folder = tempfile::tempdir().expect("a folder");
        let [holes, whole] = ["holes", "whole"].map(|name| folder.path().join(name));
        // More than any file system has free that this is tried on.
        File::create(&holes).and_then(|file| file.set_len(1 << 43)).expect("sized");
        std::fs::write(&whole, [1; 8192]).and_then(|()| File::open(&whole)?.sync_all()).expect("room");
        assert_eq!(must_grow(&holes, u64::MAX).expect_err("too much").kind(), Kind::NoSpace);
        must_grow(&holes, 1).expect("a little");
        must_grow(&whole, u64::MAX).expect("its room is there");
        must_grow(&folder.path().join("none"), u64::MAX).expect("nothing to look at");
    }
}
