//! What can go wrong in the laboratory, sorted by whose fault it is.

use crate::trace_error::TraceError;
use keyway_attach::AttachError;
use keyway_attach::session::Lack;
use keyway_engine::{DeviceError, LayoutError};
use keyway_error::{Advice, Explain, Fault, Meaning, explain, explain_io};
use keyway_model::ModelError;
use keyway_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A workload's file says something that makes no sense.
    #[error("{file}:{line}: {what}")]
    Workload {
        /// The file's name as it was given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// No workload of this name is shipped, and no such file is there.
    #[error("there is no workload {0:?}")]
    NoSuchWorkload(String),
    /// No trace of this name is shipped.
    #[error("there is no trace {0:?}")]
    NoSuchTrace(String),
    /// A target's words make no sense.
    #[error("{0:?} is not a target: {1}")]
    Target(String, String),
    /// No name and command of another program.
    #[error("{0:?} is not NAME=COMMAND: {1}")]
    EntrantWords(String, String),
    /// Another program could not be attached, or went away.
    #[error("{name} {what}")]
    OtherProgram {
        /// The side's name.
        name: String,
        /// What it did, and what it said.
        what: String,
    },
    /// The subject is smaller than what the workload touches.
    #[error("{what} has {present} bytes and the test needs {needed}")]
    TooSmall {
        /// What it is.
        what: String,
        /// Its bytes.
        present: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// There is less of a drive to measure than says anything of it.
    #[error("{what} has {present} bytes and a measurement needs {needed}")]
    SmallDrive {
        /// What it is.
        what: String,
        /// Its bytes.
        present: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// The bytes of the subject would be overwritten, and nobody said that they may be.
    #[error("{what} holds data that the test would overwrite")]
    WouldDestroy {
        /// What it is.
        what: String,
    },
    /// The subject is in use by something else.
    #[error("{what} is in use: {how}")]
    InUse {
        /// What it is.
        what: String,
        /// By whom.
        how: String,
    },
    /// The subject can't be written to.
    #[error("{0} can only be read")]
    ReadOnly(String),
    /// The medium is full.
    #[error("there is no space left for {what} ({needed} bytes)")]
    NoSpace {
        /// What was written.
        what: String,
        /// Bytes that it needs.
        needed: u64,
    },
    /// No drive model of that name; the names that there are.
    #[error("there is no drive model {0:?}")]
    NoModel(String, String),
    /// It has no folder to copy files in.
    #[error("{0} has no folder to copy files in")]
    NoFolder(String),
    /// A plain drive has nothing to unlock.
    #[error("a plain drive is never unlocked")]
    NeverUnlocked,
    /// What is asked for does not go together.
    #[error("{0}")]
    Unsuited(String),
    /// A modelled drive does not keep all that is written to it.
    #[error("a modelled drive keeps 1 GiB of what is written to it, which is too little {what}")]
    LargerThanModel {
        /// For what.
        what: &'static str,
        /// The option that makes it less.
        option: &'static str,
    },
    /// What should go on was measured in another way than it is asked for now.
    #[error(
        "what should go on was measured with other options: {what} {}; give it those that it had",
        otherwise(then, now)
    )]
    MeasuredOtherwise {
        /// The option that differs.
        what: &'static str,
        /// Its value then.
        then: String,
        /// Its value now; both empty where nobody can tell them.
        now: String,
    },
    /// The system refused.
    #[error("could not {doing} {path}: {source}")]
    Io {
        /// A verb: "open", "write to".
        doing: &'static str,
        /// Of what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refused something on a file around the measurement.
    #[error("could not {doing} {}: {source}", path.display())]
    System {
        /// A verb.
        doing: &'static str,
        /// Of what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A folder was named where a file is written.
    #[error("{} is a folder", .0.display())]
    Folder(PathBuf),
    /// A file that should hold results holds none.
    #[error("{} is not a laboratory's document: {source}", path.display())]
    NotADocument {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Neither a shipped drive model nor a model's file.
    #[error("there is no modelled drive {0:?}")]
    NoSuchModel(String),
    /// A drive model that makes no sense.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// This machine lacks what a path needs.
    #[error(transparent)]
    Lack(#[from] Lack),
    /// Attaching a volume, or asking an open one.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The volume that was recorded is open no more.
    #[error("{} was closed while it was recorded", .0.display())]
    ClosedMeanwhile(PathBuf),
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The volume failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A trace that can't be used.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A layout that does not fit its store.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// What was read back is not what was written.
    #[error("verification failed: byte {offset} of the measured part is not what was written there")]
    Differs {
        /// The first byte that differs.
        offset: u64,
    },
    /// A test volume could not be made: why, and what helps.
    #[error("the test volume could not be made: {0}")]
    Volume(String, Vec<Advice>),
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
}

impl LabError {
    /// A drive that encrypts by itself is there, or it is a model.
    pub(crate) fn no_hardware() -> Self {
        let why = "only a modelled drive is made to encrypt by itself here; name the unlocked drive";
        Self::Target("hardware".into(), why.into())
    }

    /// A refusal of the system, told with what was being done.
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }

    /// The same of a file around the measurement.
    pub fn system(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::System { doing, path: path.to_owned(), source }
    }

    /// A test volume that could not be made.
    pub fn volume(error: &dyn Explain) -> Self {
        Self::Volume(error.to_string(), error.advice())
    }
}

/// The same about a path; a word that stands in its place for what is no file is none.
fn at(path: &Path, meaning: Meaning) -> Meaning {
    if path.components().nth(1).is_some() { meaning.about(path) } else { meaning }
}

explain! { LabError, through Attach | Store | Device | Trace {
    Self::Workload { .. } => [Workload Request, ReadWorkloads],
    Self::NoSuchWorkload(_) => [NoSuchWorkload Request, ListWorkloads],
    Self::NoSuchTrace(_) => [Usage Request, ReadTraces],
    Self::Target(..) => [Usage Request, WriteTarget],
    Self::EntrantWords(..) => [Usage Request, WriteEntrant],
    Self::OtherProgram { .. } => [Failed State, TryItsCommand],
    Self::NoModel(_, models) => [Usage Request, TakeModel { models: models.clone() }],
    Self::NoFolder(_) => [Usage Request, NameMountedFolders],
    Self::NeverUnlocked => [Usage Request, CompareFormats],
    Self::Unsuited(_) => [Request, ListWorkloads],
    Self::LargerThanModel { option, .. } => [Request, SmallerForModel { option: (*option).to_owned() }],
    Self::MeasuredOtherwise { .. } => [Request, NameSavedResults],
    Self::TooSmall { .. } => [TooSmall State, LargerOrSmallerTest],
    Self::SmallDrive { .. } => [TooSmall State, NameAnother],
    Self::WouldDestroy { .. } => [WouldDestroy Request, DestroyData],
    Self::InUse { what, .. } => [Busy InUse, FreeItOrFolder; what],
    Self::ReadOnly(what) => [NotPermitted Machine, NameWritable; what],
    Self::NoSpace { what, .. } => [NoSpace State, FreeSomeOrSmallerTest; what],
    Self::Io { path, source, .. } => { at(path, Meaning::of(match explain_io(source).fault {
        fault @ (Fault::Machine | Fault::InUse) if source.kind() != io::ErrorKind::OutOfMemory => fault,
        _ => Fault::Medium,
    }).advise_each(explain_io(source).advice)) },
    Self::System { path, source, .. } => { at(path, explain_io(source)) },
    Self::Folder(path) => [Usage Request, NameFileInFolder; path],
    Self::NotADocument { path, .. } => [NotADocument State, NameSavedResults; path],
    Self::NoSuchModel(_) => [Usage Request, ListModels],
    Self::Model(ModelError::Range { .. }) => [Usage Request, CompareModel],
    Self::Model(_) => [Request, ListModels],
    Self::Lack(_) => [Missing Machine, MeasureInProcess],
    Self::ClosedMeanwhile(path) => [Failed State, EndRecordingFirst; path],
    Self::Layout(_) => [State, ReportWithDoctor],
    Self::Differs { .. } => [Verify Medium, KeepNoData],
    Self::Volume(_, advice) => [State, ..advice.clone()],
    Self::Stopped => [Interrupted Stopped],
} }

fn otherwise(then: &str, now: &str) -> String {
    let or_none = |value: &str| if value.is_empty() { "left out".to_owned() } else { value.to_owned() };
    match (then, now) {
        ("", "") => "or the workload's definition differs".to_owned(),
        _ => format!("was {}, and is {}", or_none(then), or_none(now)),
    }
}
