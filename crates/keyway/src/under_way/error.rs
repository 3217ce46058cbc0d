//! Why a conversion can't be begun, found or gone on with, as data.

use super::refusal::ConversionRefusal;
use keyway_convert::ConvertError;
use keyway_error::{Advice, Kind, Meaning, explain, explain_io};
use keyway_store::InUse;
use keyway_sys::Use;
use keyway_volume::VolumeError;
use std::io;
use std::path::PathBuf;

/// Why a conversion can't be begun, found or gone on with. Nothing was changed, but by one that was interrupted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// One is under way already.
    #[error("a conversion of {} was paused or interrupted, and has not come to its end", .0.display())]
    UnderWay(PathBuf),
    /// What is there is whole, and has the traces of one.
    #[error(
        "a conversion of {} was interrupted before it had begun, or in its last act: what is there is whole, and has its traces",
        .0.display()
    )]
    Traces(PathBuf),
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
    /// Its file was removed, or another put in its place, while it was converted.
    #[error("{} was removed or replaced while it was converted: what was converted is gone", .0.display())]
    Removed(PathBuf),
    /// Whoever converted it has stopped before its end, and it is not there any more.
    #[error("what was converted is not on {} any more, and its conversion has not come to its end", .0.display())]
    TakenAway(PathBuf),
    /// A loop device shows it.
    #[error("{} is in use: {user}", path.display())]
    InUse {
        /// What was to be converted.
        path: PathBuf,
        /// Its user.
        user: Use,
    },
    /// A file that is to be made or written beside it is the one that is converted.
    #[error("{} is what is to be converted", .0.display())]
    IsConverted(PathBuf),
    /// The journal's file can't be made.
    #[error("could not make {}: {source}", path.display())]
    NewJournal {
        /// Where it was to be.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The journal would be gone with the power.
    #[error("{} would be in memory, and lost with the power", .0.display())]
    JournalInMemory(PathBuf),
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
    /// Another file is where the one was that is half converted.
    #[error(
        "{} is another file than the one whose conversion was begun: that had {expected} bytes, and this one has {present}",
        path.display()
    )]
    AnotherFile {
        /// The path of both.
        path: PathBuf,
        /// Bytes that the one had.
        expected: u64,
        /// Bytes that this one has.
        present: u64,
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
    /// A journal was named, and the conversion has its own on the volume.
    #[error("the journal of the conversion of {} is on it", .0.display())]
    JournalOnVolume(PathBuf),
    /// What should open the volume that it becomes does not: the new one's secret is not the old one's.
    #[error("the secret of the new volume, which {} becomes, is wrong: {}", path.display(), of_a_volume(error))]
    NewSecret {
        /// What is converted.
        path: PathBuf,
        /// Why it does not open.
        #[source]
        error: Box<ConvertError>,
    },
    /// What should open the VeraCrypt volume that is under way does not: that it is one is known.
    #[error(
        "{}: no header opened with this password, keyfiles and PIM: one of them is not what its conversion was begun with",
        path.display()
    )]
    WrongSecret {
        /// What is converted.
        path: PathBuf,
        /// A PIM was given.
        pim: bool,
        /// Why it does not open.
        #[source]
        error: Box<ConvertError>,
    },
    /// Keyfiles or a PIM for the BitLocker volume that it was.
    #[error("keyfiles and PIM are those of the new volume, which {} becomes; a BitLocker volume has none", .0.display())]
    NewKeyfiles(PathBuf),
    /// It isn't begun, or not as it was asked for.
    #[error(transparent)]
    Refused(#[from] ConversionRefusal),
    /// It was under way and could not go on. What was converted stays converted.
    #[error("{error}")]
    Interrupted {
        /// What is converted.
        path: PathBuf,
        /// Why.
        #[source]
        error: Box<ConvertError>,
    },
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

explain! { ConversionError, through Refused {
    Self::UnderWay(path) => [Converting State, ResumeVolume { path: path.clone() }; path],
    Self::Traces(path) => [Converting State, ResumeVolume { path: path.clone() }; path],
    Self::NotUnderWay(path) => [Request, BeginConversion; path],
    Self::Running { path, .. } => [InUse, AskStatusOrPause { path: path.clone() }; path],
    Self::EndedMeanwhile(path) => [InUse, AskInfo { path: path.clone() }; path],
    Self::Removed(path) => [NotFound State, AskInfo { path: path.clone() }; path],
    Self::TakenAway(path) => [NotFound State, AttachAgain, ThenResume { path: path.clone() }; path],
    Self::InUse { path, user } => [InUse, (InUse::by(path, user.clone()).advice()); path],
    Self::IsConverted(path) => [Usage Request, NameNewFile; path],
    Self::NewJournal { path, source } => {
        let meaning = explain_io(source).about(path);
        match meaning.kind {
            Kind::NoSpace => instead(meaning, Advice::FreeSpaceOrOtherJournal),
            Kind::Exists => instead(meaning, Advice::NameOtherJournal),
            Kind::ReadOnly => instead(meaning, Advice::NameJournalElsewhere),
            Kind::NotPermitted => meaning.advise(Advice::NameJournalElsewhere),
            _ => meaning,
        }
    },
    Self::JournalInMemory(path) => [NotSuitable State, NameJournalElsewhere; path],
    Self::AnotherJournal { journal, .. } => [NoJournal Contents, NameItsJournal; journal],
    Self::JournalElsewhere { volume, made_as } =>
        [NoJournal State, SayWhereJournal { made_as: made_as.clone() }; volume],
    Self::AnotherFile { path, .. } => [Damaged Contents, BringBackMedium; path],
    Self::JournalMissing { journal, made_as } => [NoJournal State, MountJournal { made_as: made_as.clone() }; journal],
    Self::NoJournalFile(path) => [NotSuitable State, NameJournalItself; path],
    Self::JournalOnVolume(path) => [Usage Request, LeaveOutJournal; path],
    Self::NewSecret { path, error } => {
        let mut meaning = instead(error.explain().about(path), Advice::GiveSecretOfNewVolume);
        meaning.advice.extend(error.advice().into_iter().filter(|step| *step != Advice::CheckSecrets));
        meaning
    },
    Self::WrongSecret { path, pim, error } => {
        let mut meaning = error.explain().about(path);
        meaning.advice.iter_mut().filter(|step| **step == Advice::CheckSecrets).for_each(|step| *step = Advice::SecretsAsBegun { pim: *pim });
        meaning
    },
    Self::NewKeyfiles(path) => [Usage Request, GiveSecretOfNewVolume; path],
    Self::Interrupted { path, error } => {
        let mut meaning = error.explain();
        if meaning.kind == Kind::NoSpace {
            // Nothing has a size that could be chosen any more.
            meaning = instead(meaning, Advice::FreeSpaceThere);
        }
        let (path, meaning) = (path.clone(), meaning.about(path));
        match meaning.advice.is_empty() {
            true => meaning.advise(Advice::ResumeVolume { path }),
            false => meaning.advise(Advice::ThenResume { path }),
        }
    },
    Self::Holes { path, source } => {
        Meaning::new(Kind::NoRoom, explain_io(source).fault).advise(Advice::FreeSpaceForHoles).about(path)
    },
} }

/// Why it does not open, where it is known that it is a volume.
fn of_a_volume(error: &ConvertError) -> String {
    match error {
        ConvertError::Volume(VolumeError::WrongSecret { .. }) => {
            "no header opened with this password, keyfiles and PIM".to_owned()
        }
        error => error.to_string(),
    }
}

fn instead(mut meaning: Meaning, step: Advice) -> Meaning {
    meaning.advice = vec![step];
    meaning
}
