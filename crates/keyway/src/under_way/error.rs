//! Why a conversion can't be begun, found or gone on with, as data.

use keyway_error::{Advice, Explain, Fault, Kind, Meaning, explain_io};
use keyway_store::InUse;
use keyway_sys::Use;
use std::io;
use std::path::{Path, PathBuf};

/// Why a conversion can't be begun, found or gone on with. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// One is under way already.
    #[error("a conversion of {} is under way", .0.display())]
    UnderWay(PathBuf),
    /// None is under way that could go on.
    #[error("no conversion of {} is under way", .0.display())]
    NotUnderWay(PathBuf),
    /// A process is carrying it out.
    #[error("{} is being converted by process {pid}", path.display())]
    Running {
        /// What is converted.
        path: PathBuf,
        /// The process.
        pid: i32,
    },
    /// Another process has ended it between two looks.
    #[error("another process has brought the conversion of {} to its end meanwhile", .0.display())]
    EndedMeanwhile(PathBuf),
    /// A loop device shows it.
    #[error("{} is in use: {user}", path.display())]
    InUse {
        /// What was to be converted.
        path: PathBuf,
        /// Its user.
        user: Use,
    },
    /// The journal's file can't be made.
    #[error("could not make {}: {source}", path.display())]
    NewJournal {
        /// Where it was to be.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The file holds no record of this conversion.
    #[error("{} is not the journal of this conversion of {}, or it is damaged", journal.display(), volume.display())]
    AnotherJournal {
        /// The file.
        journal: PathBuf,
        /// What is converted.
        volume: PathBuf,
    },
    /// A device's journal is in a file, and nobody has said where that is.
    #[error("the journal of the conversion of {} is in a file", volume.display())]
    JournalElsewhere {
        /// The device.
        volume: PathBuf,
        /// Where it was when the conversion began. The medium says so, and it is anybody's: nothing is opened by it.
        made_as: PathBuf,
    },
    /// The journal's file is not where it should be.
    #[error("the journal {} isn't there", journal.display())]
    JournalMissing {
        /// Where it should be.
        journal: PathBuf,
        /// Where it was when the conversion began, as [`ConversionError::JournalElsewhere`] has it.
        made_as: PathBuf,
    },
    /// What was named as the journal is a link, a pipe, a device or the like.
    #[error("{} is no regular file, so it is no journal", .0.display())]
    NoJournalFile(PathBuf),
    /// There is no room for the holes of a file, which are filled when it is converted.
    #[error("could not take room for {}: {source}", path.display())]
    Holes {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl ConversionError {
    /// What it is about: the journal where that is what is wrong, else what is converted.
    fn path(&self) -> &Path {
        match self {
            Self::UnderWay(path)
            | Self::NotUnderWay(path)
            | Self::Running { path, .. }
            | Self::EndedMeanwhile(path)
            | Self::InUse { path, .. }
            | Self::NewJournal { path, .. }
            | Self::AnotherJournal { journal: path, .. }
            | Self::JournalElsewhere { volume: path, .. }
            | Self::JournalMissing { journal: path, .. }
            | Self::NoJournalFile(path)
            | Self::Holes { path, .. } => path,
        }
    }
}

impl Explain for ConversionError {
    fn explain(&self) -> Meaning {
        let meaning = match self {
            Self::UnderWay(_) | Self::NotUnderWay(_) => Meaning::of(Fault::Request),
            Self::InUse { path, user } => {
                Meaning::of(Fault::InUse).advise(InUse::by(path, user.clone()).advice())
            }
            Self::Running { .. } | Self::EndedMeanwhile(_) => Meaning::of(Fault::InUse),
            Self::NewJournal { source, .. } => explain_io(source),
            Self::AnotherJournal { .. } => Meaning::new(Kind::NoJournal, Fault::Contents),
            Self::JournalElsewhere { .. } | Self::JournalMissing { .. } => {
                Meaning::new(Kind::NoJournal, Fault::State)
            }
            Self::NoJournalFile(_) => Meaning::new(Kind::NotSuitable, Fault::State),
            Self::Holes { source, .. } => {
                Meaning::new(Kind::NoRoom, explain_io(source).fault).advise(Advice::FreeSpace)
            }
        };
        meaning.about(self.path())
    }
}
