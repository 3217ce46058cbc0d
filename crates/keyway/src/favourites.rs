//! Favourites: volumes that are opened by a name, with all that opens them but a secret.
//!
//! They stand in two files of TOML, which people may edit: each user's own, `favourites.toml` in `$XDG_CONFIG_HOME/keyway` or
//! `~/.config/keyway`, and the machine's, `/etc/keyway/favourites.toml`. A user's own comes before one of the machine's with the
//! same name. Nothing is written there unless somebody asks for it: which volumes one has is nobody's business.
//!
//! Those of the machine may come up when it starts ([`at_boot`]).

pub mod at_boot;
mod credential;
mod doubts;
mod error;
mod unit_text;

pub use error::FavouriteError;

use crate::error::Error;
use crate::users_folder::{alone_in, users_folder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// A volume that is opened by a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Favourite {
    /// The name: letters, digits, `-`, `_` and `.`, and no dash first.
    pub name: String,
    /// The volume's file or device.
    pub volume: String,
    /// Where its files are to be.
    pub mountpoint: Option<String>,
    /// How else it is opened, as the program's `open` takes it: `--read-only`, `--keyfile=/media/key/a`. No secret.
    pub options: Vec<String>,
    /// Every user of this machine has it.
    pub for_all: bool,
    /// It is opened when the machine starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_boot: bool,
}

/// What stands in a file under a name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    volume: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mountpoint: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
    /// Only of those of the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    at_boot: bool,
}

impl Kept {
    fn named(self, name: String, for_all: bool) -> Favourite {
        let Self { volume, mountpoint, options, at_boot } = self;
        Favourite { name, volume, mountpoint, options, for_all, at_boot }
    }
}

/// Whether a text can be a favourite's name.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && !name.starts_with(['-', '.']) && name.chars().all(is_plain)
}

type File = BTreeMap<String, Kept>;

impl Favourite {
    /// A volume by that name.
    ///
    /// # Errors
    /// The name can't be one, or a path is no text.
    pub fn new(name: &str, volume: &Path) -> Result<Self, Error> {
        if !is_name(name) {
            return Err(FavouriteError::Name(name.to_owned()).into());
        }
        let volume = text(volume)?;
        let (name, options) = (name.to_owned(), Vec::new());
        Ok(Self { name, volume, mountpoint: None, options, for_all: false, at_boot: false })
    }

    /// With its files there.
    ///
    /// # Errors
    /// The path is no text.
    pub fn at(mut self, mountpoint: &Path) -> Result<Self, Error> {
        self.mountpoint = Some(text(mountpoint)?);
        Ok(self)
    }

    /// Keeps it; one of that name is only replaced if `replace` says so.
    ///
    /// # Errors
    /// There is one of that name, or the file can't be read or written: then it is as it was.
    pub fn keep(&self, replace: bool) -> Result<(), Error> {
        let path = place(self.for_all)?;
        let _alone = alone(&path)?;
        let mut all = read(&path)?;
        let Self { volume, mountpoint, options, .. } = self.clone();
        // It stays as somebody wrote it there.
        let at_boot = self.at_boot || all.get(&self.name).is_some_and(|before| before.at_boot);
        if all.insert(self.name.clone(), Kept { volume, mountpoint, options, at_boot }).is_some() && !replace
        {
            return Err(FavouriteError::Exists(self.name.clone()).into());
        }
        write(&path, &all)
    }
}

impl Favourite {
    /// What stands on a command line in the place of its name: the volume, its folder where that is wanted, and of its options
    /// those that the verb takes, each asked for by its name.
    pub fn words(self, at_its_folder: bool, takes: impl Fn(&str) -> bool) -> Vec<OsString> {
        let mountpoint = self.mountpoint.filter(|_| at_its_folder);
        let options = self.options.into_iter().filter(|option| takes(option_name(option)));
        let credentials = credential::folder();
        let options = options.filter_map(|option| credential::in_place(option, credentials.as_deref()));
        std::iter::once(self.volume).chain(mountpoint).map(OsString::from).chain(options).collect()
    }
}

/// The name of an option in a word that may have its value as well.
pub fn option_name(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// An option of the program's `open` as it is kept, each value in a word of its own with it. A path is found from anywhere.
///
/// # Errors
/// A value is a secret, is gone with the process that was given it, or is no text.
pub fn option<'a>(long: &str, values: impl Iterator<Item = &'a OsStr>) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    for value in values {
        if long.ends_with("-fd") || long == "recovery-password" || value == "-" {
            return Err(FavouriteError::Option(long.to_owned()).into());
        }
        let value = value.to_str().ok_or_else(|| FavouriteError::NotText(value.into()))?;
        let files = doubts::paths_in(&format!("--{long}"), value);
        for file in &files {
            words.push(format!("--{long}={}", text(file)?));
        }
        if files.is_empty() {
            let value = if Path::new(value).exists() { text(Path::new(value))? } else { value.to_owned() };
            words.push(format!("--{long}={value}"));
        }
    }
    Ok(if words.is_empty() { vec![format!("--{long}")] } else { words })
}

/// All as they were read first, for a process that has given up its paths since.
static READ: OnceLock<Vec<Favourite>> = OnceLock::new();

/// All, by name: the user's own, then those of the machine that none of these hides.
///
/// # Errors
/// A file can't be read, or isn't what it must be.
pub fn all() -> Result<Vec<Favourite>, Error> {
    let mut all = BTreeMap::new();
    for for_all in [true, false] {
        let path = match place(for_all) {
            // What the machine has is there for a service as well, which has no home.
            Err(_) if !all.is_empty() => break,
            path => path?,
        };
        for (name, kept) in read(&path)? {
            all.insert(name.clone(), kept.named(name, for_all));
        }
    }
    let all: Vec<_> = all.into_values().collect();
    let _ = READ.set(all.clone());
    Ok(all)
}

/// What else a word without a slash may have meant that was taken for a path, as facts for a sentence: a favourite, and why those
/// can't be read; or the one of that name, where something here has it too, and went before.
pub fn missed(word: &Path) -> Option<Value> {
    // What errors call a stream is no path either.
    if word.components().count() != 1 || !word.to_str().is_some_and(is_name) {
        return None;
    }
    // Without paths, what was read when there were some.
    match all().or_else(|why| READ.get().cloned().ok_or(why)) {
        // In the sandbox nobody sees what is there: then it was found, and by another name than a favourite's.
        Err(why) => word.try_exists().is_ok_and(|there| !there).then(|| json!({ "why": why.to_string() })),
        Ok(all) => {
            let named = all.into_iter().find(|one| word.as_os_str() == &*one.name)?;
            named.is_hidden().then(|| json!(named))
        }
    }
}

/// The one of that name.
///
/// # Errors
/// As [`all`].
pub fn find(name: &str) -> Result<Option<Favourite>, Error> {
    Ok(all()?.into_iter().find(|favourite| favourite.name == name))
}

/// The one of that name that is to be forgotten: a user's own, or one of the machine's.
///
/// # Errors
/// There is none, or the file can't be read.
pub fn to_forget(name: &str, for_all: bool) -> Result<Favourite, Error> {
    // Whoever has no home, or may not read the other file, has none there.
    let others = || place(!for_all).and_then(|path| read(&path)).unwrap_or_default();
    found_in(read(&place(for_all)?)?, others, name, for_all)
}

/// The one of that name, or whether the others have one that was meant.
fn found_in(
    mut all: File,
    others: impl FnOnce() -> File,
    name: &str,
    for_all: bool,
) -> Result<Favourite, Error> {
    let unknown =
        || FavouriteError::Unknown { name: name.to_owned(), for_all, elsewhere: others().contains_key(name) };
    let (name, kept) = all.remove_entry(name).ok_or_else(unknown)?;
    Ok(kept.named(name, for_all))
}

impl Favourite {
    /// Whether something in this folder has its name, and is meant by it here.
    pub fn is_hidden(&self) -> bool {
        let whole = |path: &str| Path::new(path).canonicalize().ok();
        // The volume itself opens by its own name as it does by the favourite's, but for what is kept with that.
        let same = self.options.is_empty() && self.mountpoint.is_none();
        whole(&self.name).is_some_and(|here| !same || whole(&self.volume) != Some(here))
    }

    /// Forgets it; the volume stays as it is.
    ///
    /// # Errors
    /// The file can't be read or written: then it is as it was.
    pub fn forget(&self) -> Result<(), Error> {
        let path = place(self.for_all)?;
        let _alone = alone(&path)?;
        let mut all = read(&path)?;
        all.remove(&self.name);
        write(&path, &all)
    }
}

/// An absolute path as text: what is kept is read from anywhere, and by people.
fn text(path: &Path) -> Result<String, Error> {
    let whole = std::path::absolute(path).map_err(|e| Error::system("find", path, e))?;
    let whole = without_steps_back(whole);
    whole.into_os_string().into_string().map_err(|path| FavouriteError::NotText(path.into()).into())
}

/// The same path without `..`, as far as its folder is there: no service takes one with it.
fn without_steps_back(path: PathBuf) -> PathBuf {
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    let Some(name) = path.file_name() else { return path.canonicalize().unwrap_or(path) };
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.map_or_else(|| path.clone(), |folder| folder.join(name))
}

/// The file.
fn place(for_all: bool) -> Result<PathBuf, Error> {
    if for_all {
        return Ok(at_boot::TABLE.into());
    }
    let folder = users_folder("XDG_CONFIG_HOME", ".config");
    Ok(folder.ok_or(FavouriteError::NoHome)?.join("keyway/favourites.toml"))
}

fn read(path: &Path) -> Result<File, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(File::new());
        }
        Err(e) => return Err(Error::system("read", path, e)),
    };
    let wrong = |line, why| FavouriteError::File { path: path.to_owned(), line, why };
    let all: File = toml::from_str(&text).map_err(|e| wrong(line_of(&e, &text), e.message().to_owned()))?;
    if path != Path::new(at_boot::TABLE) && all.values().any(|kept| kept.at_boot) {
        let why = format!("at_boot is for those of all users, in {}", at_boot::TABLE);
        return Err(wrong(None, why).into());
    }
    Ok(all)
}

/// The line, from one, of what is wrong in a text.
fn line_of(error: &toml::de::Error, text: &str) -> Option<usize> {
    error.span().and_then(|at| text.get(..at.start)).map(|before| before.matches('\n').count() + 1)
}

/// Keeps others from changing the file as long as what it returns is there.
fn alone(path: &Path) -> Result<Option<std::fs::File>, Error> {
    let mode = if path.starts_with("/etc") { 0o755 } else { 0o700 };
    let folder = path.parent().map(|folder| alone_in(folder, mode)).transpose();
    folder.map_err(|e| Error::system("write", path, e))
}

/// Whole or not at all, and for its owner alone: it tells which volumes there are.
fn write(path: &Path, all: &File) -> Result<(), Error> {
    // Where it is a link to a file that is kept elsewhere, the link stays.
    let is_link = path.is_symlink();
    let path = &*path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let failed = |e| Error::system("write", path, e);
    // An empty file would be there for nobody; one that somebody keeps elsewhere stays.
    if all.is_empty() && !is_link {
        return match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(e)),
            _ => Ok(()),
        };
    }
    let text = toml::to_string(all).map_err(|e| failed(io::Error::other(e)))?;
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mode = if path.starts_with("/etc") { 0o644 } else { 0o600 };
    let written =
        OpenOptions::new().write(true).create_new(true).mode(mode).open(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        });
    written.map_err(|e| {
        let _ = std::fs::remove_file(&new);
        failed(e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_error::Explain;

    #[test]
    fn one_that_others_have_is_forgotten_where_it_is() {
        let table = || toml::from_str::<File>("[photos]\nvolume = '/p.hc'\n").expect("a table");
        let advice = |name: &str, for_all| {
            let error = found_in(File::new(), table, name, for_all).expect_err("it is not among these");
            error.explain().advice.iter().map(|one| one.word()).collect::<Vec<_>>()
        };
        assert_eq!(advice("photos", false), ["forget-for-all"]);
        assert_eq!(advice("photos", true), ["forget-own"]);
        assert_eq!(advice("letters", false), ["list-favourites"]);
        let found = found_in(table(), File::new, "photos", true).expect("it is there");
        assert!(found.for_all && found.name == "photos");
    }

    #[test]
    fn the_last_one_takes_its_file_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("favourites.toml"), folder.path().join("link"));
        let table: File = toml::from_str("[photos]\nvolume = '/p.hc'\n").expect("a table");
        write(&path, &table).expect("room");
        assert_eq!(read(&path).expect("it is there").len(), 1);
        write(&path, &File::new()).expect("ours");
        assert!(!path.exists());
        std::fs::write(&path, "").expect("room");
        std::os::unix::fs::symlink(&path, &link).expect("room");
        write(&link, &File::new()).expect("ours");
        assert!(link.is_symlink() && path.exists());
    }
}
