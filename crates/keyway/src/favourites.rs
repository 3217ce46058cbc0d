//! Favourites: volumes that are opened by a name, with all that opens them but a secret.
//!
//! They stand in two files of TOML, which people may edit: each user's own, `favourites.toml` in `$XDG_CONFIG_HOME/keyway` or
//! `~/.config/keyway`, and the machine's, `/etc/keyway/favourites.toml`. A user's own comes before one of the machine's with the
//! same name. Nothing is written there unless somebody asks for it: which volumes one has is nobody's business.

mod error;

pub use error::FavouriteError;

use crate::error::Error;
use crate::users_folder::users_folder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

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
}

type File = BTreeMap<String, Kept>;

impl Favourite {
    /// A volume by that name.
    ///
    /// # Errors
    /// The name can't be one, or a path is no text.
    pub fn new(name: &str, volume: &Path) -> Result<Self, Error> {
        if !can_be_named(name) {
            return Err(FavouriteError::Name(name.to_owned()).into());
        }
        let volume = text(volume)?;
        Ok(Self { name: name.to_owned(), volume, mountpoint: None, options: Vec::new(), for_all: false })
    }

    /// With its files there.
    ///
    /// # Errors
    /// The path is no text.
    pub fn at(mut self, mountpoint: &Path) -> Result<Self, Error> {
        self.mountpoint = Some(text(mountpoint)?);
        Ok(self)
    }

    /// Its volume, where that isn't there now: a drive may be away, or the name mistyped.
    pub fn missing(&self) -> Option<&Path> {
        Some(Path::new(&self.volume)).filter(|volume| !volume.exists())
    }

    /// Keeps it; one of that name is only replaced if `replace` says so.
    ///
    /// # Errors
    /// There is one of that name, or the file can't be read or written: then it is as it was.
    pub fn keep(&self, replace: bool) -> Result<(), Error> {
        let path = place(self.for_all)?;
        let mut all = read(&path)?;
        let Self { volume, mountpoint, options, .. } = self.clone();
        if all.insert(self.name.clone(), Kept { volume, mountpoint, options }).is_some() && !replace {
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
        std::iter::once(self.volume).chain(mountpoint).chain(options).map(OsString::from).collect()
    }
}

/// The name of an option in a word that may have its value as well.
pub fn option_name(word: &str) -> &str {
    word.split('=').next().unwrap_or_default()
}

/// An option of the program's `open` as it is kept, each value in a word of its own with it. A path that is there is found from
/// anywhere.
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
        let value = if Path::new(value).exists() { text(Path::new(value))? } else { value.to_owned() };
        words.push(format!("--{long}={value}"));
    }
    Ok(if words.is_empty() { vec![format!("--{long}")] } else { words })
}

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
        for (name, Kept { volume, mountpoint, options }) in read(&path)? {
            all.insert(name.clone(), Favourite { name, volume, mountpoint, options, for_all });
        }
    }
    Ok(all.into_values().collect())
}

/// Whether a favourite can have that name.
fn can_be_named(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 64 && !name.starts_with(['-', '.']) && name.chars().all(is_plain)
}

/// What else a word without a slash may have meant that was taken for a path, as facts for a sentence: a favourite, and why those
/// can't be read; or the one of that name, where something here has it too, and went before.
pub fn missed(word: &Path) -> Option<Value> {
    // What errors call a stream is no path either.
    if word.components().count() != 1 || !word.to_str().is_some_and(can_be_named) {
        return None;
    }
    match all() {
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
    let found = read(&place(for_all)?)?.remove_entry(name);
    let unknown = || FavouriteError::Unknown { name: name.to_owned(), for_all };
    let (name, Kept { volume, mountpoint, options }) = found.ok_or_else(unknown)?;
    Ok(Favourite { name, volume, mountpoint, options, for_all })
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
        let mut all = read(&path)?;
        all.remove(&self.name);
        write(&path, &all)
    }
}

/// An absolute path as text: what is kept is read from anywhere, and by people.
fn text(path: &Path) -> Result<String, Error> {
    let whole = std::path::absolute(path).map_err(|e| Error::system("find", path, e))?;
    whole.into_os_string().into_string().map_err(|path| FavouriteError::NotText(path.into()).into())
}

/// The file.
fn place(for_all: bool) -> Result<PathBuf, Error> {
    if for_all {
        return Ok("/etc/keyway/favourites.toml".into());
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
    toml::from_str(&text).map_err(|e| {
        let line =
            e.span().and_then(|at| text.get(..at.start)).map(|before| before.matches('\n').count() + 1);
        FavouriteError::File { path: path.to_owned(), line, why: e.message().to_owned() }.into()
    })
}

/// Whole or not at all, and for its owner alone: it tells which volumes there are.
fn write(path: &Path, all: &File) -> Result<(), Error> {
    // Where it is a link to a file that is kept elsewhere, the link stays.
    let path = &*path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let failed = |e| Error::system("write", path, e);
    let text = toml::to_string(all).map_err(|e| failed(io::Error::other(e)))?;
    let for_all = path.starts_with("/etc");
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(if for_all { 0o755 } else { 0o700 })
            .create(folder)
            .map_err(failed)?;
    }
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mode = if for_all { 0o644 } else { 0o600 };
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
