//! Files out of a volume: to new ones here, or to somebody who takes their bytes.

use super::{Asks, InsideVolume, NotDone, absolute, in_json, is_none, no_path};
use crate::error::{Error, Misuse};
use crate::key_file::{must_have_folder, must_take_files};
use crate::log_file;
use keyway_error::{Advice, Explain, Kind};
use keyway_fs::files::{Entry, EntryKind, Existing, Files, FilesError, Pattern, Taken, parse};
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a path in a volume means.
pub(super) enum Wanted {
    One(Entry),
    Matches(Pattern),
}

impl Wanted {
    /// A name that is there is meant as it is written, whatever it holds.
    pub(super) fn find(files: &mut Files, path: &[OsString]) -> Result<Self, FilesError> {
        match files.find(path) {
            Err(FilesError::NotFound(_)) if Pattern::is_one(path) => Pattern::new(path).map(Self::Matches),
            found => found.map(Self::One),
        }
    }

    /// Whether more than one file may come of it.
    fn is_several(&self) -> bool {
        !matches!(self, Self::One(found) if found.kind != EntryKind::Folder)
    }
}

/// Where it goes.
pub(super) enum Place {
    /// To this new name.
    New(PathBuf),
    /// Into this folder.
    Within(PathBuf),
}

impl Place {
    pub(super) fn path(&self) -> &Path {
        let (Self::New(path) | Self::Within(path)) = self;
        path
    }
}

/// What is to be copied and where each goes; what one path was named, and where the whole goes.
type Sought = (Vec<(Wanted, Place)>, PathBuf, PathBuf);

/// A new name in a folder here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    folder: PathBuf,
    name: OsString,
    /// It is the name that the thing has in the volume.
    own: bool,
    /// What it must not become, by how it was written.
    asks: Asks,
    /// What is in the folder, which may be a copy of it that was begun: listed as long as there are paths.
    there: Vec<OsString>,
}

impl Destination {
    /// What a person means by `to`: a folder that is there, in which it gets its `own` name, or a new name.
    ///
    /// # Errors
    /// It has no name of its own, or `to` ends in none; there is something of that name that is in the way, no folder for it, or one
    /// that takes no files of this user's.
    pub fn find(to: &Path, own: Option<&OsStr>, existing: Existing) -> Result<Self, Error> {
        let found = Self::meant(to, own, existing)?;
        let path = found.folder.join(&found.name);
        must_have_folder(&path)?;
        // Through a link as well: nothing is overwritten unasked.
        match path.symlink_metadata() {
            // A pipe or a device is nothing that a file takes the place of.
            Ok(about) if !(about.is_dir() || about.is_file() || about.is_symlink()) => {
                Err(FilesError::OtherKind(path).into())
            }
            // Of what matches a pattern each has its own name.
            Ok(about) if (found.own || !about.is_dir()) && !existing.may_be_there() => {
                Err(FilesError::InTheWay(path).into())
            }
            Ok(_) => Ok(found),
            // Whether one may be made is known before anybody is asked for a password.
            Err(_) => must_take_files(&path).map(|()| found),
        }
    }

    fn meant(to: &Path, own: Option<&OsStr>, existing: Existing) -> Result<Self, Error> {
        if to.is_dir() {
            let name = match own {
                Some(name) => name.to_owned(),
                // A copy of everything that was begun goes on in its folder.
                None if existing.may_be_there() => OsString::new(),
                None => return Err(Misuse::NeedsNewFolder.into()),
            };
            return Ok(Self {
                folder: to.to_owned(),
                name,
                own: true,
                asks: Asks::Nothing,
                there: if existing.keep_same { names_in(to) } else { Vec::new() },
            });
        }
        let name = to.file_name().ok_or_else(|| Misuse::NoNewName(to.to_owned()))?.to_owned();
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self {
            folder: folder.to_owned(),
            name,
            own: false,
            asks: Asks::of(to.as_os_str()),
            there: Vec::new(),
        })
    }
}

fn names_in(folder: &Path) -> Vec<OsString> {
    let entries = folder.read_dir().into_iter().flatten().map_while(Result::ok);
    entries.map(|entry| entry.file_name()).collect()
}

/// What is to be copied out of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToGet {
    /// As they were written.
    named: Vec<OsString>,
    paths: Vec<Vec<OsString>>,
    /// Where each goes; none to standard output.
    to: Vec<Destination>,
    /// The last of two words as a path in the volume, where it may have been meant as one.
    or_inside: Option<PathBuf>,
}

/// The last of two words, where it may be meant as the first one is: nothing here has that name, and it would lie beside the
/// first, as that was written.
fn or_inside(named: &[OsString], last: &Path) -> Option<PathBuf> {
    let [first] = named else { return None };
    let (first, same) = (Path::new(first), |name: &OsStr| name.to_string_lossy().to_lowercase());
    // In FAT and NTFS capitals are the same name, and a copy may get others.
    let is_another = first.file_name().map(same) != last.file_name().map(same);
    let is_new = last != Path::new("-") && last.symlink_metadata().is_err();
    (is_new && is_another && first.parent() == last.parent()).then(|| last.to_owned())
}

impl ToGet {
    /// What a person means who names paths in the volume and, as the last of two or more words, where they go: a folder that is
    /// there; or for one a new name, or `-`, which is standard output. This folder where nothing is said.
    ///
    /// # Errors
    /// As [`Destination::find`]; several go to what is no folder, or two of them to one name; or there is no such volume, and
    /// another word may be meant.
    pub fn named(volume: &Path, words: &[OsString], existing: Existing) -> Result<Self, Error> {
        let file = || words.iter().map(Path::new).find(|word| word.is_file());
        if let Some(file) = (!volume.exists()).then(file).flatten() {
            return Err(Misuse::VolumeFirst { path: volume.to_owned(), file: file.to_owned() }.into());
        }
        let (named, to) = match words {
            [named @ .., to] if !named.is_empty() => (named, Path::new(to)),
            named => (named, Path::new(".")),
        };
        let or_inside = or_inside(named, to);
        if named.len() > 1 && !to.is_dir() {
            return Err(Misuse::GetIntoFolder(to.to_owned()).into());
        }
        let paths = named.iter().map(|path| parse(path)).collect::<Result<Vec<_>, _>>()?;
        let own =
            |path: &Vec<OsString>| Destination::find(to, path.last().map(OsString::as_os_str), existing);
        let mut to: Vec<_> = match to == Path::new("-") {
            true => Vec::new(),
            false => paths.iter().map(own).collect::<Result<_, _>>()?,
        };
        if to.len() > 1 {
            // That folder is no new name of any of them.
            to.iter_mut().for_each(|to| to.there.clear());
        }
        Ok(Self { named: named.to_vec(), paths, to, or_inside })
    }

    /// The folder that they go to; none where one goes to standard output.
    pub fn folder(&self) -> Option<&Path> {
        self.to.first().map(|to| &*to.folder)
    }
}

/// What is copied out of a volume, and how much it is.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CopiedFiles {
    /// The volume.
    #[serde(serialize_with = "in_json")]
    pub volume: PathBuf,
    /// The file or folder in it as it was named, where it is one.
    #[serde(serialize_with = "in_json", skip_serializing_if = "no_path")]
    pub path: PathBuf,
    /// Where it goes, or is now; of several the folder; `-` is standard output.
    #[serde(serialize_with = "in_json")]
    pub to: PathBuf,
    /// Files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Bytes in the files.
    pub bytes: u64,
}

impl CopiedFiles {
    /// Nothing of it yet.
    fn none(volume: &Path, path: PathBuf, to: PathBuf) -> Self {
        Self { volume: volume.to_owned(), path, to, files: 0, folders: 0, bytes: 0 }
    }
}

/// What would be copied out of a volume. Nothing has been written.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct GetPlan {
    /// All of it.
    #[serde(flatten)]
    pub what: CopiedFiles,
}

/// What was copied out of a volume.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Copied {
    /// All that was.
    #[serde(flatten)]
    pub what: CopiedFiles,
    /// Files that were there already, and stayed.
    #[serde(skip_serializing_if = "is_none")]
    pub kept: u64,
    /// Links and the like.
    pub left_out: Vec<NotDone>,
    /// What could not be read.
    pub failed: Vec<NotDone>,
    /// Nothing failed.
    #[serde(skip)]
    pub is_complete: bool,
}

impl InsideVolume {
    /// [`InsideVolume::get`] ends as soon as that is set, with [`FilesError::Stopped`]: what is half copied is removed.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.files.stop_when(stop);
    }

    /// What becomes of files that are where [`InsideVolume::get`] copies to. Without this they are in the way.
    pub fn meet(&mut self, existing: Existing) {
        self.files.meet(existing);
    }

    /// Copies files, and folders with everything in them; or, where there is none of that name and it has wildcards, all that
    /// matches it, into a folder that is made where it isn't there. What is left out or can't be read is told as it comes, and the
    /// rest goes on. Nothing is overwritten unless [`InsideVolume::meet`] said so, no volume in any case, and no name in the volume leads
    /// out of the folder that is made.
    ///
    /// # Errors
    /// One isn't there, which is known before anything is written; or can't be written here.
    pub fn get(&mut self, what: &ToGet, tell: &mut dyn FnMut(&NotDone)) -> Result<Copied, Error> {
        let volume = self.volume.clone();
        log_file::step(
            "get",
            &volume,
            || self.copy(what, tell),
            |copied| format!("{} files, {} bytes", copied.what.files, copied.what.bytes),
        )
    }

    /// Looks for what [`InsideVolume::get`] or [`InsideVolume::read`] would copy, and refuses what they would; what can't be read
    /// is told.
    ///
    /// # Errors
    /// As [`InsideVolume::get`].
    pub fn plan_get(&mut self, what: &ToGet, tell: &mut dyn FnMut(&NotDone)) -> Result<GetPlan, Error> {
        let (each, path, to) = self.all_of(what)?;
        self.must_have_room(&each, &what.paths, tell)?;
        let to = if what.to.is_empty() { "-".into() } else { to };
        let mut plan = CopiedFiles::none(&self.volume, path, to);
        for path in &what.paths {
            let listed = self.list(path, true, tell)?;
            for entry in &listed.entries {
                plan.files += u64::from(entry.kind == EntryKind::File.word());
                plan.folders += u64::from(entry.kind == EntryKind::Folder.word());
                plan.bytes = plan.bytes.saturating_add(entry.size_bytes.unwrap_or(0));
            }
        }
        Ok(GetPlan { what: plan })
    }

    /// Says so where what is missing in the volume was named last: the words are exchanged.
    fn unless_exchanged(&mut self, what: &ToGet, error: Error) -> Error {
        let [inside] = &*what.named else { return error };
        let last = what.to.first().filter(|to| !to.own).map(|to| to.folder.join(&to.name));
        let here = last.filter(|_| error.explain().kind == Kind::NotFound);
        let is_inside = |here: &PathBuf| {
            let path = here.strip_prefix(".").unwrap_or(here);
            parse(path.as_os_str()).is_ok_and(|path| self.files.find(&path).is_ok())
        };
        match here.filter(is_inside) {
            Some(here) => {
                let here = here.strip_prefix(".").map(Path::to_owned).unwrap_or(here);
                error.leaving(Advice::ExchangeWords { inside: inside.into(), here })
            }
            None => error,
        }
    }

    fn copy(&mut self, what: &ToGet, tell: &mut dyn FnMut(&NotDone)) -> Result<Copied, Error> {
        let (each, path, to) = self.all_of(what)?;
        self.must_have_room(&each, &what.paths, tell)?;
        let (left_out, failed, is_complete) = (Vec::new(), Vec::new(), true);
        let what = CopiedFiles::none(&self.volume, path, to);
        let mut all = Copied { what, kept: 0, left_out, failed, is_complete };
        // Of one file nothing is there that would be left out.
        let goes_on = each.len() > 1 || each.iter().any(|(wanted, _)| wanted.is_several());
        for (found, to) in &each {
            self.copy_one(found, to, &mut all, tell).map_err(|error| match error.explain().kind {
                Kind::NoSpace if goes_on => error.leaving(Advice::SkipExistingGoesOn),
                _ => error,
            })?;
        }
        Ok(all)
    }

    /// Finds all that is to be copied, and where each goes; then what one path was named, and where the whole goes.
    fn all_of(&mut self, what: &ToGet) -> Result<Sought, Error> {
        let each = what.paths.iter().zip(&what.to);
        let each = each.map(|(path, to)| self.look(path, to)).collect::<Result<Vec<_>, _>>();
        let each = each.map_err(|error| self.unless_exchanged(what, error))?;
        if let ([(Wanted::One(_), _)], Some(last)) = (&*each, &what.or_inside)
            && parse(last.as_os_str()).is_ok_and(|path| self.files.find(&path).is_ok())
        {
            return Err(Misuse::GetOneOfThem(last.clone()).into());
        }
        for (at, (_, to)) in each.iter().enumerate() {
            let same = |(_, before): &(Wanted, Place)| matches!(to, Place::New(to) if to == before.path());
            if each.iter().take(at).any(same) {
                return Err(FilesError::SameName(to.path().into()).into());
            }
        }
        let (path, to) = match (what.named.as_slice(), each.as_slice()) {
            ([one], [(_, to)]) => (PathBuf::from(one), to.path().to_owned()),
            ([one], []) => (PathBuf::from(one), PathBuf::new()),
            _ => (PathBuf::new(), what.folder().unwrap_or(Path::new("")).to_owned()),
        };
        Ok((each, path, to))
    }

    /// Finds what is to be copied, and refuses what can be refused before anything is.
    fn look(&mut self, path: &[OsString], to: &Destination) -> Result<(Wanted, Place), Error> {
        let about = self.about();
        let wanted = Wanted::find(&mut self.files, path).map_err(&about)?;
        let whole = to.folder.join(&to.name);
        let place = match &wanted {
            Wanted::One(found) if found.kind == EntryKind::File && to.asks == Asks::NoFile => {
                return Err(Misuse::NoSuchFolder(whole.join("")).into());
            }
            Wanted::One(found) if self.goes_on_in(found, to) => Place::Within(to.folder.clone()),
            Wanted::Matches(_) if to.own => Place::Within(to.folder.clone()),
            _ => Place::New(whole),
        };
        match &wanted {
            Wanted::One(found) => self.files.refuse_spared(found, place.path()),
            Wanted::Matches(pattern) => self.files.refuse_spared_matches(pattern, place.path()),
        }
        .map_err(about)?;
        Ok((wanted, place))
    }

    /// Whether the folder that it goes to is a copy of it under another name, which was begun.
    fn goes_on_in(&mut self, found: &Entry, to: &Destination) -> bool {
        let is_there = || to.folder.join(&to.name).symlink_metadata().is_ok();
        match found.kind {
            EntryKind::Folder if to.own && to.name.is_empty() => true,
            EntryKind::Folder if to.own && !is_there() => self.files.is_begun(found, &to.there),
            _ => false,
        }
    }

    fn copy_one(
        &mut self,
        wanted: &Wanted,
        to: &Place,
        all: &mut Copied,
        tell: &mut dyn FnMut(&NotDone),
    ) -> Result<(), Error> {
        let about = self.about();
        let mut note = |list: &mut Vec<NotDone>, path: &Path, reason: String| {
            let one = NotDone { path: path.to_owned(), reason };
            tell(&one);
            list.push(one);
        };
        let mut tell = |taken: Taken<'_>| match taken {
            Taken::Made(_) => {}
            Taken::LeftOut(path, why) => note(&mut all.left_out, path, why.to_owned()),
            Taken::Failed(path, e) => note(&mut all.failed, path, e.to_string()),
        };
        let got = match (wanted, to) {
            (Wanted::One(found), Place::Within(folder)) => self.files.get_within(found, folder, &mut tell),
            (Wanted::One(found), Place::New(to)) => {
                let folder = to.parent().unwrap_or(Path::new(""));
                self.files.get(found, folder, to.file_name().unwrap_or_default(), &mut tell)
            }
            (Wanted::Matches(pattern), to) => self.files.get_matching(pattern, to.path(), &mut tell),
        };
        let (got, is_complete) = got.map_err(|error| match error {
            // Those of the paths before are there as well.
            FilesError::Stopped { files, missing } => {
                about(FilesError::Stopped { files: files + all.what.files, missing })
            }
            error => about(error),
        })?;
        all.is_complete &= is_complete;
        all.what.files += got.files;
        all.what.folders += got.folders;
        all.what.bytes = all.what.bytes.saturating_add(got.bytes);
        all.kept += got.kept;
        Ok(())
    }

    /// Writes a file's bytes to something that is called `name`.
    ///
    /// # Errors
    /// It isn't there, can't be read, or can't be written.
    pub fn read(&mut self, what: &ToGet, mut to: impl Write, name: &Path) -> Result<(), Error> {
        let path = what.paths.first().map(Vec::as_slice).unwrap_or_default();
        let about = self.about();
        let found = self.files.find(path).map_err(|e| match e {
            FilesError::NotFound(_) if Pattern::is_one(path) => {
                about(FilesError::PatternForOne(absolute(path)))
            }
            e => about(e),
        })?;
        let mut broken = None;
        let read = self.files.read(&found, |piece| {
            to.write_all(piece).map_err(|e| {
                broken = Some(e);
                io::Error::other("not written")
            })
        });
        match broken {
            Some(e) => Err(Error::system("write to", name, e)),
            None => read.map_err(&about),
        }
    }
}
