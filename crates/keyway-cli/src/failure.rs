//! What went wrong, in words for people and scripts, and the exit code that goes with it.

use crate::words;
use keyway::favourites::FavouriteError;
use keyway::session::SessionError;
use keyway::{Error, Misuse, shown};
use keyway_attach::AttachError;
use keyway_error::{Advice, Explain, Fault, Kind, Meaning, explain_io};
use keyway_fs::files::FilesError;
use keyway_volume::VolumeError;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, io};

/// What standard output is called in errors.
pub(crate) const STANDARD_OUTPUT: &str = "standard output";

/// The exit codes that scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// No key opened it.
    WrongSecret = 3,
    /// Not a volume we know, or a damaged one.
    NotAVolume = 4,
    /// Not permitted, or this machine lacks what it needs.
    NotPermitted = 5,
    /// Busy.
    Busy = 6,
    /// The volume is not open, where that was asked for.
    NotOpen = 7,
    /// Whoever read standard output went away before the end: what a shell says of a program that SIGPIPE ended.
    ReaderGone = 141,
}

/// The one table of exit codes: they tell scripts whose fault it was.
const CODES: [(Exit, Fault); 6] = [
    (Exit::Failed, Fault::State),
    (Exit::Usage, Fault::Request),
    (Exit::WrongSecret, Fault::Secret),
    (Exit::NotAVolume, Fault::Contents),
    (Exit::NotPermitted, Fault::Machine),
    (Exit::Busy, Fault::InUse),
];

impl Exit {
    /// The code of a fault; what is no one's in particular has failed.
    pub(crate) fn of(fault: Fault) -> Self {
        CODES.iter().find(|(_, of)| *of == fault).map_or(Self::Failed, |(exit, _)| *exit)
    }

    fn fault(self) -> Fault {
        CODES.iter().find(|(exit, _)| *exit == self).map_or(Fault::State, |(_, fault)| *fault)
    }
}

/// Why a verb failed: one line what is wrong, one what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// Which kind of failure; scripts know it by its word.
    pub(crate) kind: Kind,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it; empty where nothing helps.
    pub(crate) hint: String,
    /// The same as data, where an error of the library has it.
    pub(crate) advice: Box<[Advice]>,
    /// The file or device that it is about, where the message names one.
    pub(crate) path: Option<Box<Path>>,
    /// What else the JSON document says, beside the error.
    pub(crate) detail: serde_json::Value,
}

impl Failure {
    /// A failure whose kind is the exit code's own word.
    pub(crate) fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            exit,
            kind: exit.fault().kind(),
            message: message.into(),
            hint: hint.into(),
            advice: Box::default(),
            path: None,
            detail: serde_json::Value::Null,
        }
    }

    /// The same with a more precise kind.
    pub(crate) fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same with another advice, in words of this front's own.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        (self.hint, self.advice) = (hint.into(), Box::default());
        self
    }

    /// The same with more advice behind its own.
    pub(crate) fn also(mut self, more: &str) -> Self {
        if !self.hint.is_empty() {
            self.hint.push_str("; ");
        }
        self.hint.push_str(more);
        self
    }

    /// Some could not be copied, which was told as it came; the rest was.
    pub(crate) fn in_part(copied: serde_json::Value) -> Self {
        let hint = "the warnings say which and why; the rest was copied";
        Self::new(Exit::Failed, "not everything could be copied", hint).kind(Kind::NotAllCopied).with(copied)
    }

    /// The same with more for the JSON document: an object whose keys stand beside `error`.
    pub(crate) fn with(mut self, detail: serde_json::Value) -> Self {
        self.detail = detail;
        self
    }

    /// The same about this file or device, which its message names now; where it names one itself, that is the wrong one.
    pub(crate) fn about(mut self, path: &Path) -> Self {
        if self.path.as_deref() != Some(path) {
            self.message = shown::with_bytes(format!("{}: {}", path.display(), self.message), path);
            self.path.get_or_insert_with(|| path.into());
        }
        self
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// What an error means, with the words that say what happened.
    pub(crate) fn meant(meaning: &Meaning, message: impl Into<String>) -> Self {
        let failure = Self::new(Exit::of(meaning.fault), message, words::sentences(&meaning.advice));
        let sizes: BTreeMap<_, _> = meaning.advice.iter().flat_map(Advice::sizes).collect();
        let detail = if sizes.is_empty() { serde_json::Value::Null } else { json!(sizes) };
        let (advice, path) = (meaning.advice.clone().into(), meaning.path.as_deref().map(Box::from));
        let message =
            meaning.path.iter().fold(failure.message.clone(), |said, path| shown::with_bytes(said, path));
        Self { message, kind: meaning.kind, advice, path, detail, ..failure }
    }

    /// An error that says itself what it means.
    pub(crate) fn explained(error: &dyn Explain) -> Self {
        Self::meant(&error.explain(), error.to_string())
    }

    /// A system call on a path that failed, sorted by errno.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let failure = Self::meant(
            &explain_io(error).about(path),
            format!("could not {doing} {}: {error}", path.display()),
        );
        match error.kind() {
            io::ErrorKind::BrokenPipe if path == STANDARD_OUTPUT => {
                Self { exit: Exit::ReaderGone, ..failure }
            }
            _ => failure,
        }
    }
}

/// Failures of what says itself what it means, where that comes alone and not as an [`Error`] of the library.
macro_rules! explained {
    ($($error:ty,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::explained(&error)
            }
        }
    )*};
}

explained! { AttachError, FavouriteError, FilesError, SessionError, VolumeError, }
#[cfg(feature = "lab")]
explained! { keyway::lab::LabError, keyway::lab::bench::BenchError, }

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::At { path, error } => Self::from(*error).about(&path),
            Error::System { doing, path, source } => Self::io(doing, &path, &source),
            Error::Answer(source) => match source.downcast::<Self>() {
                Ok(failure) => *failure,
                Err(source) => Self::explained(&Error::Answer(source)),
            },
            Error::Misuse(error) => error.into(),
            Error::TakenBack { error, left } => {
                let mut failure = Self::from(*error).also(&words::sentence(&left));
                failure.advice = failure.advice.into_iter().chain([left]).collect();
                failure
            }
            Error::Drive(error) => error.into(),
            error => Self::explained(&error),
        }
    }
}

impl From<Misuse> for Failure {
    fn from(error: Misuse) -> Self {
        let failure = Self::explained(&error);
        // The same in words that name this front's options.
        match words::said(&format!("misuse {error:?}"), &serde_json::Value::Null) {
            none if none.is_empty() => failure,
            message => Self { message, ..failure },
        }
    }
}

/// So that the library carries it from whoever was asked for a secret to whoever asked.
impl std::error::Error for Failure {}

impl Explain for Failure {
    fn explain(&self) -> Meaning {
        let mut meaning = Meaning::new(self.kind, self.exit.fault());
        (meaning.advice, meaning.path) = (self.advice.to_vec(), self.path.as_deref().map(Path::to_owned));
        meaning
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(all(test, feature = "lab"))]
#[path = "../tests/inner/reference.rs"]
mod reference;
#[cfg(all(test, feature = "lab"))]
#[path = "../tests/inner/samples/mod.rs"]
mod samples;
#[cfg(test)]
#[path = "../tests/inner/failure.rs"]
mod tests;
