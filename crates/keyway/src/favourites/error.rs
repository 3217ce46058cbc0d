//! Why a favourite could not be kept, found or forgotten.

use super::at_boot::Why;
use keyway_error::explain;
use std::path::PathBuf;

/// Why a favourite could not be kept, found or forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FavouriteError {
    /// What can't be a name.
    #[error("{0:?} can't be a favourite's name: letters, digits, - , _ and . can, and 64 of them at most")]
    Name(String),
    /// There is one of that name.
    #[error("there is a favourite {0} already")]
    Exists(String),
    /// There is none of that name.
    #[error("there is no favourite {name}{}", if *for_all { " for all users" } else { " of yours" })]
    Unknown {
        /// The name.
        name: String,
        /// It was looked for among those of the machine.
        for_all: bool,
        /// The others have one of that name: the user's own, or the machine's.
        elsewhere: bool,
    },
    /// What no service could open when the machine starts.
    #[error("it can't be opened when the machine starts: {0}")]
    NotAtBoot(Why),
    /// A path that is no text can't stand in a file of text.
    #[error("{} is no text, which a favourite's path must be", .0.display())]
    NotText(PathBuf),
    /// An option whose value is a secret, or is gone with the process that had it.
    #[error("--{0} can't be kept: no secret is, nor what only this shell has open")]
    Option(String),
    /// This user has no home.
    #[error("neither HOME nor XDG_CONFIG_HOME says where your files are")]
    NoHome,
    /// A file that somebody edited.
    #[error("{}{}: {why}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    File {
        /// The file.
        path: PathBuf,
        /// The line, from one.
        line: Option<usize>,
        /// What is wrong there.
        why: String,
    },
}

explain! { FavouriteError {
    Self::Name(_) => [Usage Request, NameFavourite],
    Self::Exists(_) => [Exists State, ReplaceFavourite],
    Self::Unknown { name, for_all: false, elsewhere: true } => [NotFound State, ForgetForAll { name: name.clone() }],
    Self::Unknown { name, for_all: true, elsewhere: true } => [NotFound State, ForgetOwn { name: name.clone() }],
    Self::Unknown { .. } => [NotFound State, ListFavourites],
    Self::NotAtBoot(_) => [Usage Request, WithoutAtBoot],
    Self::NotText(path) => [Unsupported Request, RenameToText; path],
    Self::Option(_) => [Usage Request, LeaveOptionOut],
    Self::NoHome => [Usage Request, SetHome],
    Self::File { path, .. } => [Usage Request, CorrectFile { path: path.clone() }; path],
} }
