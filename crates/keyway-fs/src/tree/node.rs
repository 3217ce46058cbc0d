//! A file or folder by its number, and what each file system can tell of it.

use super::map::FileMap;
use crate::files::{EntryKind, FilesError};

/// A file, a folder, or what else an entry of a folder is.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Names it, as long as nothing is written.
    pub number: u64,
    /// What it is.
    pub kind: EntryKind,
    /// Length in bytes; of a link that of its target, 0 where it is not known.
    pub size: u64,
    /// When it was last written, in seconds since 1970.
    pub modified: Option<i64>,
    /// Its type and its permissions, as `stat` has them.
    pub mode: u16,
    /// How many names it has.
    pub links: u32,
    /// What a folder is, wherever an entry for it lies.
    pub(super) identity: u64,
}

impl Node {
    pub(super) fn folder(number: u64, modified: Option<i64>) -> Self {
        let (kind, mode) = (EntryKind::Folder, 0o040_755);
        Self { number, kind, size: 0, modified, mode, links: 2, identity: number }
    }

    pub(super) fn file(number: u64, size: u64, modified: Option<i64>) -> Self {
        let (kind, mode) = (EntryKind::File, 0o100_644);
        Self { number, kind, size, modified, mode, links: 1, identity: number }
    }
}

/// An entry of a folder.
#[derive(Debug)]
pub(super) struct Found {
    /// Its name as it is stored.
    pub(super) name: Vec<u8>,
    pub(super) number: u64,
    /// Where the next one is looked for.
    pub(super) next: u64,
}

/// Is handed one after the other, and says whether to go on.
pub(super) type Each<'a> = dyn FnMut(Found) -> bool + 'a;

/// What each file system can do. Nodes are found by their numbers alone: nothing is remembered of those that were given
/// out.
pub(super) trait Nodes: Send {
    /// The root folder's number.
    fn root(&self) -> u64;
    fn node(&mut self, number: u64) -> Result<Node, FilesError>;
    /// Hands on what is in a folder, without `.` and `..`, from a place on, as long as `each` says to go on.
    fn list(&mut self, folder: &Node, from: u64, each: &mut Each<'_>) -> Result<(), FilesError>;
    /// Where a file's bytes lie.
    fn map(&mut self, file: &Node) -> Result<FileMap, FilesError>;
    /// Where a link leads.
    fn target(&mut self, _link: &Node) -> Result<Vec<u8>, FilesError> {
        Err(FilesError::Unsupported("it has no links".to_owned()))
    }
    /// Whether names that differ only in their case are the same.
    fn ignores_case(&self) -> bool;
    /// How many bytes files could have.
    fn bytes(&self) -> u64;
}
