//! The files in a volume: listed and copied out with no mount and no root, and put in. What came of it is data.

mod get;
mod list;
mod mounted;
mod new_files;
mod put;
mod room;
mod trial;

pub use get::{Copied, Destination, ToGet};
pub use keyway_fs::files::Existing;
pub use list::{ListedFile, Listing};
pub use new_files::{NewFiles, PutTo};
pub use put::{PutHow, PutPlan, PutTarget};

use crate::error::{Error, about};
use crate::locked::LockedVolume;
use crate::session::spared;
use crate::volume::{Volume, files_in};
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_fs::files::{Files, FilesError};
use keyway_store::Caching;
use serde::{Serialize, Serializer};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files in a volume that is open in this process.
pub struct InsideVolume {
    volume: PathBuf,
    files: Files,
    /// What the volume's owner should know.
    pub warnings: Vec<String>,
}

/// Something that was not done, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotDone {
    /// Its path.
    #[serde(serialize_with = "in_json")]
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl LockedVolume<'_> {
    /// Opens the volume, and the file system in it.
    ///
    /// # Errors
    /// As [`LockedVolume::must_be_free`] and [`LockedVolume::open`]; there is no file system that is known, or it is
    /// damaged.
    pub fn open_files(&self, access: Access) -> Result<InsideVolume, Error> {
        self.must_be_free(access)?;
        // Looked for as long as there are paths.
        let (spared, cut) = (spared(&self.path)?, self.lengths_of_cut());
        let Volume { device, warnings, .. } = self.open(access, Caching::Buffered)?;
        let files = files_in(Arc::new(device)).map_err(|error| match cut {
            // Nothing that checks a file system helps against that.
            Some((expected, present)) => Error::CutOff { expected, present, error: Box::new(error) },
            None => error,
        });
        let mut files = files.map_err(about(&self.path))?;
        files.spare(spared);
        Ok(InsideVolume { volume: self.path.clone(), files, warnings })
    }
}

impl InsideVolume {
    fn about(&self) -> impl Fn(FilesError) -> Error + use<> {
        about_files(&self.volume, self.files.kind())
    }
}

/// Puts the volume to an error, and what checks a file system of that kind.
fn about_files(volume: &Path, kind: &'static str) -> impl Fn(FilesError) -> Error + use<> {
    let volume = volume.to_owned();
    move |error| Error::from(error.checked_by(kind)).at(&volume)
}

/// What a place must be, by how it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// Either a folder that is there, or a new name.
    Nothing,
    /// A folder that is there, or what will be one: it ends in a slash, as no file's name does.
    NoFile,
    /// A folder that is there.
    Folder,
}

impl Asks {
    /// What the words alone say.
    fn of(place: &OsStr) -> Self {
        let bytes = place.as_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") { Self::NoFile } else { Self::Nothing }
    }
}

/// A path in a volume, from its root.
fn absolute(path: &[std::ffi::OsString]) -> PathBuf {
    Path::new("/").join(path.iter().collect::<PathBuf>())
}

/// A path that is not told.
fn no_path(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// A count that is not told.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// JSON is text, and names need not be: then they are their bytes.
fn in_json<S: Serializer>(text: impl AsRef<OsStr>, to: S) -> Result<S::Ok, S::Error> {
    path_text::value(Path::new(text.as_ref())).serialize(to)
}
