//! Who sees long work, and may stop it: a terminal, a window, a signal on a bus.

use crate::conversion::Made;
use crate::error::Error;
use crate::session::SessionState;
use crate::variant::Variant;
use keyway_convert::{ConversionKind, ConvertError};
use keyway_fs::FileSystemKind;
use keyway_volume::Stage as VolumeStage;
use keyway_volume::Weakness;
pub use keyway_volume::veracrypt::KeySearch;
use keyway_volume::veracrypt::KeyWatch;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

/// Somebody who sees long work, and may stop it: volumes that are made, converted, searched for or get another size, and what
/// goes to a drive and comes from it. `()` sees nothing; a function of two numbers sees how far it is.
pub trait Progress: Sync {
    /// What is done from now on.
    fn stage(&self, _stage: Stage) {}

    /// `done` of `total` bytes are done. Called often. `Break` stops the work in good order: what was half made is removed,
    /// and what is converted stays so and goes on later.
    fn at(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The search for lost metadata is at this byte of so many: first at the end of the medium, then in what lies before
    /// that. `Break` ends it. Told as any other work, unless it is told apart.
    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        self.at(reached, size)
    }

    /// The search for a VeraCrypt or TrueCrypt volume's key is so far; told about once a second, from its first second on.
    fn trying(&self, _search: &KeySearch) {}

    /// Something worth telling.
    fn note(&self, _note: &Note<'_>) {}
}

impl Progress for () {}

impl KeyWatch for &dyn Progress {
    fn trying(&self, search: &KeySearch) {
        Progress::trying(*self, search);
    }
}

impl<F: Fn(u64, u64) -> ControlFlow<()> + Sync> Progress for F {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self(done, total)
    }
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// A new volume is filled with noise.
    Filling,
    /// The file system inside is made and written into the volume.
    MakingFileSystem,
    /// Files are copied into a file system that is mounted for that.
    PuttingFiles,
    /// A file system gets smaller, by its own tool.
    Shrinking(FileSystemKind),
    /// The conversion itself, which can be paused; not told of a volume that is in use meanwhile.
    Converting(ConversionKind),
    /// The volume itself gets its size.
    Resizing,
    /// The file system inside gets larger, by its own tool.
    Growing(FileSystemKind),
}

/// Something worth telling.
#[derive(Debug)]
#[non_exhaustive]
pub enum Note<'a> {
    /// What opens the new BitLocker volume is on the medium, and holds from now on, however the conversion ends: its recovery
    /// password, where that is in no file, or what tells it.
    NewKeys(&'a Made),
    /// The volume can be used from now on, and is converted meanwhile.
    Attached(&'a SessionState),
    /// All of it is converted; it stays attached until it is closed.
    Converted,
    /// The conversion failed; the volume stays attached until it is closed.
    Failed(&'a ConvertError),
    /// The volume was closed before all of it was converted: it goes on later.
    Closed {
        /// How much of it is converted.
        percent: f64,
        /// It is a whole volume as it is, and opens.
        opens: bool,
    },
    /// A volume that was in use is a file system again.
    Decrypted,
    /// A journal is not needed any more and stays all the same: it could not be removed.
    JournalNotRemoved(&'a Path, &'a Error),
    /// The same: there is no volume that a secret could open, to prove whose it is.
    JournalUnproven(&'a Path),
    /// The same: it was not found, or is another's.
    JournalNotFound(&'a Error),
    /// Sectors could not be read, and became zeros.
    Lost {
        /// How many bytes.
        bytes: u64,
        /// The file that lists where they are.
        list: &'a Path,
    },
    /// A BitLocker volume's metadata lies in what is looked for as another format's.
    HasMetadata,
    /// The password is wrong, and so many other spellings of it are tried.
    Variants(usize),
    /// This one opens the volume.
    OpenedAs(Variant),
    /// A password that was set is easily guessed.
    Weak(Weakness),
    /// Some clusters of the file system stay marked as bad ones.
    BadClusters(&'a ConvertError),
    /// The file system of a volume that was decrypted ends so many bytes before its file or device does: there the headers were.
    StaysSmaller {
        /// The file or device.
        path: &'a Path,
        /// Which file system.
        kind: FileSystemKind,
        /// How many bytes.
        bytes: u64,
    },
}

/// Tells that a password which is set now is easily guessed, where it is.
pub(crate) fn tell_weakness(progress: &dyn Progress, weakness: Option<Weakness>) {
    weakness.into_iter().for_each(|weakness| progress.note(&Note::Weak(weakness)));
}

/// Tells what the formats' code tells, which names its stage with every step.
pub(crate) fn by_steps(
    progress: &dyn Progress,
) -> impl Fn(VolumeStage, u64, u64) -> ControlFlow<()> + Sync + '_ {
    let told = Mutex::new(None);
    move |stage, done, total| {
        let before = told.lock().ok().and_then(|mut told| told.replace(stage));
        if before != Some(stage) {
            progress.stage(match stage {
                VolumeStage::Fill => Stage::Filling,
                VolumeStage::FileSystem => Stage::MakingFileSystem,
            });
        }
        progress.at(done, total)
    }
}
