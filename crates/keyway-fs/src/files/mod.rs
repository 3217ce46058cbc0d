//! Files inside an open volume, with no mount and no rights of an administrator.
//!
//! [`Files::open`] looks at a [`Store`](keyway_store::Store) and reads FAT, exFAT, NTFS and ext2/3/4. FAT and exFAT
//! are also written to, one new file or folder at a time ([`Files::put`]); the others are only read here, because no library
//! writes them with the care that somebody's data needs: [`MountedFiles`] puts files into one that somebody has mounted.
//!
//! What lies on the medium is not trusted: a file system may be damaged, or made by somebody who wants
//! to write outside the folder that files are copied to. Names are checked before anything is made
//! from them (`names`), files are made relative to open folders and never through links
//! ([`Files::get`]), every operation may read only so much (`window`), and a library that panics on
//! damaged data ends as an error.

mod clean;
mod entry;
mod error;
mod exfat;
mod exfat_put;
mod ext;
mod ext_inodes;
mod fat;
mod get;
mod mounted;
mod names;
mod ntfs;
mod ntfs_orphans;
mod pattern;
mod pending;
mod put;
mod spare;
mod volume;
mod window;

pub use crate::calendar::utc;
pub use clean::{must_be_clean, must_not_be_hibernated};
pub use entry::{Contents, Entry, EntryKind, Existing, NewEntry, Problem, Spared};
pub use error::FilesError;
pub use get::{Got, Taken};
pub use mounted::{MountedFiles, NewFile};
pub(crate) use names::folded;
pub use names::parse;
pub(crate) use ntfs::{must_be_plain, told as ntfs_told, valid_length};
pub use pattern::{At, Matched, Pattern};
pub use volume::Files;
pub(crate) use volume::guarded;
pub(crate) use window::{LOOK, Window};
