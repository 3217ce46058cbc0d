//! Why files inside a volume could not be reached, sorted by whose fault it is.

use crate::superblock::FileSystemKind;
use keyway_error::{explain, explain_io};
use keyway_store::StoreError;
use keyway_store::size::words;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The volume's sectors can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing in the volume is known.
    #[error("there is no file system in the volume that is known here")]
    NoFileSystem,
    /// A file system that is known and not read.
    #[error("{0} file systems can't be read without the kernel")]
    Unreadable(&'static str),
    /// A file system that is only read.
    #[error("{0} is not written to here")]
    CanNotWrite(&'static str),
    /// It was not unmounted.
    #[error("the file system was not unmounted in good order")]
    Unclean {
        /// What checks it.
        checker: &'static str,
    },
    /// A Windows sleeps in it, and would take what others write for damage, or undo it.
    #[error("Windows is hibernated in it, or in fast start-up: nobody else may write to its file system")]
    Hibernated,
    /// Something in it that is not read.
    #[error("{0}")]
    Unsupported(String),
    /// The file system contradicts itself.
    #[error("the file system is damaged: {0}")]
    Damaged(String),
    /// The same, of a kind of file system whose own tools find out more.
    #[error("{error}")]
    ToCheck {
        /// What is wrong.
        #[source]
        error: Box<Self>,
        /// What checks it.
        checker: &'static str,
    },
    /// No such entry.
    #[error("there is no /{} in it", named(.0))]
    NotFound(OsString),
    /// A folder is needed.
    #[error("{} is not a folder", named(.0))]
    NotAFolder(OsString),
    /// A file is needed.
    #[error("{} is a folder", named(.0))]
    IsAFolder(OsString),
    /// Links are not followed.
    #[error("{} is a link, and links are not followed", named(.0))]
    IsALink(OsString),
    /// A device or the like.
    #[error("{} is neither a file nor a folder", named(.0))]
    NotAFile(OsString),
    /// A path that is none.
    #[error("{} is no path inside a volume", named(.0))]
    NotAPath(OsString),
    /// A pattern that is none.
    #[error("{} is no pattern", named(.0))]
    NotAPattern(OsString),
    /// A pattern that nothing in the volume has.
    #[error("nothing in it matches /{}", named(.0))]
    NoMatch(OsString),
    /// A pattern where one file is wanted.
    #[error("{} is a pattern, and no name in it: a pattern does not go to standard output", named(.0))]
    PatternForOne(PathBuf),
    /// Two that are to be made would have names that are one in this file system.
    #[error("two of them would be {} there", named(.0))]
    SameName(OsString),
    /// A name that the file system can't have.
    #[error("no file system of Windows can hold the name {}", named(.0))]
    BadName(OsString),
    /// Names that the file system can't have.
    #[error("no file system of Windows can hold {count} of these names: {}", listed(.first, *count))]
    BadNames {
        /// The first of them.
        first: Vec<PathBuf>,
        /// How many there are.
        count: usize,
    },
    /// The place in the volume is taken.
    #[error("/{} exists already", named(.0))]
    Exists(OsString),
    /// The place outside of it is taken: nothing is overwritten there unasked.
    #[error("{} exists already", named(.0))]
    InTheWay(PathBuf),
    /// What is there is of another kind than what is copied, and stays whatever was asked for.
    #[error("{} exists already, and is of another kind: it is not replaced", named(.0))]
    OtherKind(PathBuf),
    /// What would be replaced is the volume that is copied from.
    #[error("{} is the volume itself, and is not replaced by what is in it", named(.0))]
    IsTheVolume(PathBuf),
    /// What would be replaced is another volume that is open.
    #[error("{} is a volume that is open", named(.0))]
    IsOpen(PathBuf),
    /// It does not fit.
    #[error("there is room for {} in it, and {} are to be written", words(*free), words(*wanted))]
    NoRoom {
        /// Bytes that are free.
        free: u64,
        /// Bytes that were to be written.
        wanted: u64,
    },
    /// It would not fit if there were nothing else.
    #[error("the file system has room for {} in all, and {} are to be written", words(*most), words(*wanted))]
    LargerThanAll {
        /// Bytes that it can hold.
        most: u64,
        /// Bytes that were to be written.
        wanted: u64,
        /// The file system can get larger in a larger volume.
        grows: bool,
    },
    /// A file that is larger than this kind of file system can have one.
    #[error("no file in FAT has 4 GiB or more, and {} are to be written", words(*wanted))]
    LargerThanFatHas {
        /// Bytes of this one.
        wanted: u64,
    },
    /// It does not fit before a hidden volume that is protected.
    #[error("there is room for {} before the hidden volume, and {} are to be written", words(*free), words(*wanted))]
    NoRoomBeforeHidden {
        /// Bytes that are free there.
        free: u64,
        /// Bytes that were to be written.
        wanted: u64,
    },
    /// It does not fit beside what it is to replace.
    #[error(
        "there is room for {} in it beside the {} that are to be replaced, and {} are to be written",
        words(*free), words(*old), words(*wanted)
    )]
    NoRoomForBoth {
        /// Bytes that are free.
        free: u64,
        /// Bytes of what is to be replaced.
        old: u64,
        /// Bytes that were to be written.
        wanted: u64,
    },
    /// There is no room here for what is copied out of it.
    #[error("{} are free in {}, and {} are needed", words(*free), named(.folder), words(*wanted))]
    NoRoomHere {
        /// The folder that it goes to.
        folder: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that are needed.
        wanted: u64,
    },
    /// There are no places here for so many files.
    #[error("there is room for {free} more files in {}, and {wanted} are to be made", named(.folder))]
    NoRoomHereForFiles {
        /// The folder that they go to.
        folder: PathBuf,
        /// How many more its file system can have.
        free: u64,
        /// How many were to be made.
        wanted: u64,
    },
    /// It has no places for so many files.
    #[error("there is room for {free} more files in it, and {wanted} are to be made")]
    NoRoomForFiles {
        /// How many more it can have.
        free: u64,
        /// How many were to be made.
        wanted: u64,
    },
    /// What no longer fits: room was there when it was looked for.
    #[error("there is no room any more for {}", named(.0))]
    Full(PathBuf),
    /// The root folder of a small FAT, which can't grow, has no room for more names.
    #[error("its root folder has room for {free} more entries, and those names take {wanted}")]
    RootFull {
        /// Entries that are free.
        free: u64,
        /// Entries that the names take.
        wanted: u64,
    },
    /// Whoever watched wanted it to stop. What was copied before is there in full, and nothing of what is missing.
    #[error(
        "interrupted with {files} files copied, each of them in full: {} is missing, and whatever would have come after it",
        named(.missing)
    )]
    Stopped {
        /// How many were copied.
        files: u64,
        /// The first that was not.
        missing: PathBuf,
    },
    /// More than the volume can hold, or folders without end.
    #[error("the file system goes round in circles ({0})")]
    Endless(&'static str),
    /// This machine's side failed.
    #[error("could not {doing} {}: {source}", named(.path))]
    Host {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// A path inside a volume, as errors name it: what is in a folder of a folder is told from what is in the root.
pub(super) fn whole(path: &[OsString]) -> OsString {
    path.join(OsStr::new("/"))
}

/// A name in which bytes that are no text are shown.
fn named(name: impl AsRef<OsStr>) -> String {
    let chunks = name.as_ref().as_bytes().utf8_chunks();
    let text = |chunk: std::str::Utf8Chunk<'_>| {
        let bytes: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        chunk.valid().to_owned() + &bytes
    };
    chunks.map(text).collect()
}

/// Some paths, and that there are more.
fn listed(first: &[PathBuf], count: usize) -> String {
    let names: Vec<String> = first.iter().map(named).collect();
    names.join(", ") + if count > first.len() { " and more" } else { "" }
}

explain! { FilesError, through Store {
    Self::Host { path, source, .. } => { explain_io(source).about(path) },
    Self::NoFileSystem => [NoFilesystem Contents, OpenAsDevice],
    Self::Unreadable(_) | Self::CanNotWrite(_) | Self::Unsupported(_) => [Unsupported Machine, MountVolume],
    Self::Hibernated => [Unclean State, LetWindowsWake],
    Self::Unclean { checker: Self::CHKDSK } => [Unclean State, LetWindowsCheck],
    Self::Unclean { checker } => [Unclean State, CheckFirst { checker: (*checker).to_owned() }],
    Self::ToCheck { checker: Self::CHKDSK, .. } => [DamagedFilesystem Contents, LetWindowsRepair],
    Self::ToCheck { checker, .. } => [DamagedFilesystem Contents, CheckFirst { checker: (*checker).to_owned() }],
    Self::Damaged(_) => [DamagedFilesystem Contents, CheckFileSystem],
    Self::Endless(_) => [DamagedFilesystem Contents, CheckWithTools],
    Self::NotFound(_) => [NotFound State, ListFolder],
    Self::NotAFolder(_) => [NotSuitable State, NameFolder],
    Self::IsAFolder(_) => [NotSuitable State, NameFileOrNewFolder],
    Self::IsALink(_) => [NotSuitable State, NameTarget],
    Self::NotAFile(_) => [NotSuitable State, OnlyFilesAndFolders],
    Self::NotAPattern(_) => [Usage Request, CloseBracket],
    Self::NoMatch(_) => [NotFound State, ListFolder],
    Self::PatternForOne(_) => [Usage Request, NameOneOrFolder],
    Self::SameName(_) => [Exists State, PutUnderOtherName],
    Self::NotAPath(_) => [Usage Request, WriteAsPath],
    Self::BadName(_) => [Usage Request, PutUnderOtherName],
    Self::BadNames { .. } => [Usage Request, RenameOrSkipUnfit],
    Self::Exists(_) => [Exists State, OtherNameOrForce],
    Self::InTheWay(path) => [Exists State, OtherNameOrForce; path],
    Self::OtherKind(path) => [Exists State, ChooseAnotherName; path],
    Self::IsTheVolume(path) => [Exists State, OtherPath; path],
    Self::IsOpen(path) => [InUse InUse, OtherPath; path],
    Self::LargerThanAll { grows: true, .. } => [NoSpace State, PutLessOrLargerVolume],
    Self::LargerThanAll { grows: false, .. } => [NoSpace State, PutLessOrNewVolume],
    Self::LargerThanFatHas { .. } => [NoSpace State, SplitOrExFat],
    Self::NoRoomHere { folder, .. } | Self::NoRoomHereForFiles { folder, .. } => [NoSpace State, FreeSpace; folder],
    Self::NoRoomForBoth { .. } => [NoSpace State, RemoveOldFirst],
    Self::NoRoomBeforeHidden { .. } => [HiddenVolume State, RemoveSomething],
    Self::NoRoom { .. } | Self::NoRoomForFiles { .. } => [NoSpace State, RemoveSomething],
    Self::Full(_) => [NoSpace State, RemoveSomething, PutBeforeStays],
    Self::RootFull { .. } => [NoSpace State, PutAsFolder],
    Self::Stopped { .. } => [Interrupted Stopped, SkipExistingGoesOn],
} }

impl FilesError {
    /// That there is no room for so many bytes: now, or at all.
    pub(crate) fn no_room(kind: FileSystemKind, free: u64, wanted: u64, most: u64) -> Self {
        match wanted > most {
            true => Self::LargerThanAll { most, wanted, grows: kind.can_grow() },
            false => Self::NoRoom { free, wanted },
        }
    }

    /// What checks an NTFS: Windows.
    pub const CHKDSK: &'static str = FileSystemKind::CHKDSK;

    /// The same, with what checks a damaged file system of that kind, as [`Files::open`](super::Files::open) takes it.
    #[must_use]
    pub fn checked_by(self, kind: &str) -> Self {
        let checker = match kind {
            "vfat" => FileSystemKind::Fat,
            "exfat" => FileSystemKind::ExFat,
            "ext2" | "ext3" | "ext4" => FileSystemKind::Ext,
            "ntfs" => FileSystemKind::Ntfs,
            _ => return self,
        }
        .repaired_by();
        match self {
            Self::Damaged(_) | Self::Endless(_) => Self::ToCheck { error: Box::new(self), checker },
            other => other,
        }
    }

    /// An error that came through a library's reader: the store's own where it is one.
    pub(crate) fn from_io(error: io::Error) -> Self {
        match error.downcast::<StoreError>() {
            Ok(store) => Self::Store(store),
            Err(other) => match other.downcast::<Self>() {
                Ok(ours) => ours,
                Err(other) => Self::Damaged(other.to_string()),
            },
        }
    }
}
