//! The files in a volume as the kernel asks for them: by number, in any order, any part of a file.
//!
//! [`Tree::open`] looks at a [`Store`] and reads FAT, exFAT, NTFS and ext2/3/4; nothing is ever written. A number finds
//! its file on the medium again, so that nothing is remembered of what was looked up, however many files there are;
//! where files lie is remembered of the last few that were read.
//!
//! What lies on the medium is not trusted, as in [`files`](crate::files): a look reads only so much, a file costs only so
//! much memory, and a folder is told in one place only, so that no tree goes round in circles or has the same branch a
//! thousand times.

mod chains;
mod exfat;
mod ext;
mod fat;
mod map;
mod names;
mod node;
mod ntfs;
mod remembered;

pub use node::Node;

use crate::files::{EntryKind, FilesError, LOOK, Window, folded, guarded};
use keyway_store::Store;
use names::presentable;
use node::{Found, Nodes};
use remembered::{Maps, Parents};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files in a volume.
pub struct Tree {
    store: Arc<dyn Store>,
    kind: &'static str,
    root: u64,
    bytes: u64,
    look: Mutex<Look>,
    maps: Mutex<Maps>,
}

/// What one at a time looks with.
struct Look {
    fs: Box<dyn Nodes>,
    window: Window,
    parents: Parents,
}

/// An entry of a folder.
#[derive(Debug)]
pub struct TreeEntry {
    /// Its name: always one that a file can have. What lies on the medium under another one is told as that, with what
    /// is wrong in it escaped.
    pub name: Vec<u8>,
    /// Its number.
    pub number: u64,
    /// What it is, or why that can't be told.
    pub node: Result<Node, FilesError>,
    /// Where the next one is looked for.
    pub next: u64,
}

impl Tree {
    /// Looks at the file system in a volume. `kind` is what a probe calls it: `vfat`, `exfat`, `ntfs`, `ext2`, `ext3`,
    /// `ext4`; others are refused by name.
    ///
    /// # Errors
    /// There is none that is known, or it is damaged.
    pub fn open(store: Arc<dyn Store>, kind: Option<&'static str>) -> Result<Self, FilesError> {
        let Some(kind) = kind else { return Err(FilesError::NoFileSystem) };
        let window = Window::new(Arc::clone(&store));
        let inner = window.clone();
        let fs = guarded(|| -> Result<Box<dyn Nodes>, FilesError> {
            window.allow(LOOK);
            Ok(match kind {
                "vfat" => Box::new(fat::Fat::open(inner)?),
                "exfat" => Box::new(exfat::ExFat::open(inner)?),
                "ntfs" => Box::new(ntfs::NtfsVolume::open(inner)?),
                "ext2" | "ext3" | "ext4" => Box::new(ext::Ext::open(inner)?),
                other => return Err(FilesError::Unreadable(other)),
            })
        })?;
        let (root, bytes) = (fs.root(), fs.bytes());
        let look = Look { fs, window, parents: Parents::default() };
        let tree = Self { store, kind, root, bytes, look: Mutex::new(look), maps: Mutex::default() };
        let root = tree.node(root)?;
        if root.kind != EntryKind::Folder {
            return Err(FilesError::Damaged("its root is no folder".to_owned()));
        }
        tree.look().parents.claim(&root, root.number);
        Ok(tree)
    }

    /// The file system's name, as the probe gave it.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The root folder's number.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// How many bytes files could have.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file or folder of that number.
    ///
    /// # Errors
    /// It can't be read.
    pub fn node(&self, number: u64) -> Result<Node, FilesError> {
        let mut look = self.look();
        look.window.allow(LOOK);
        guarded(|| look.fs.node(number))
    }

    /// Finds an entry of a folder by its name: that very one, or where the file system takes no notice of case, one that
    /// differs in nothing else.
    ///
    /// # Errors
    /// There is none, or the folder can't be read.
    pub fn find(&self, folder: u64, name: &[u8]) -> Result<Node, FilesError> {
        let mut look = self.look();
        let look = &mut *look;
        look.window.allow(LOOK);
        let fs = &mut look.fs;
        let (node, found) = guarded(|| {
            let folder = folder_of(fs.as_mut(), folder)?;
            let ignores_case = fs.ignores_case();
            let fold = |name: &[u8]| folded(std::ffi::OsStr::new(&*String::from_utf8_lossy(name)));
            let (wanted, mut alike, mut exact) = (fold(name), None, None);
            fs.list(&folder, 0, &mut |found: Found| {
                let Some(shown) = presentable(&found.name) else { return true };
                if shown == name {
                    exact = Some(found.number);
                } else if ignores_case && alike.is_none() && fold(&shown) == wanted {
                    alike = Some(found.number);
                }
                exact.is_none()
            })?;
            let not_there = || FilesError::NotFound(String::from_utf8_lossy(name).into_owned().into());
            let number = exact.or(alike).ok_or_else(not_there)?;
            Ok((folder, fs.node(number)?))
        })?;
        if look.parents.claim(&found, node.number) { Ok(found) } else { Err(twice()) }
    }

    /// Hands on what is in a folder, from a place on (0 is the first), as long as `each` says to go on. What comes before
    /// something that can't be read is told.
    ///
    /// # Errors
    /// It is no folder, or can't be read from that place on.
    pub fn list(
        &self,
        folder: u64,
        from: u64,
        mut each: impl FnMut(TreeEntry) -> bool,
    ) -> Result<(), FilesError> {
        let mut look = self.look();
        let look = &mut *look;
        look.window.allow(LOOK);
        // A piece at a time: the nodes are looked at in between.
        let mut at = from;
        loop {
            let (fs, mut some) = (&mut look.fs, Vec::new());
            let listed = guarded(|| {
                let folder = folder_of(fs.as_mut(), folder)?;
                fs.list(&folder, at, &mut |found: Found| {
                    some.push(found);
                    some.len() < PIECE
                })
            });
            let full = some.len() == PIECE;
            if let (Err(e), true) = (listed, some.is_empty()) {
                return Err(e);
            }
            for Found { name, number, next } in some {
                at = next;
                let Some(name) = presentable(&name) else { continue };
                let node = guarded(|| look.fs.node(number))
                    .and_then(|node| if look.parents.claim(&node, folder) { Ok(node) } else { Err(twice()) });
                if !each(TreeEntry { name, number, node, next }) {
                    return Ok(());
                }
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// Reads a part of a file; fewer bytes than asked for at its end. Many may do it at once.
    ///
    /// # Errors
    /// It is no file, can't be read, or is kept in a way that is not read here.
    pub fn read(&self, number: u64, buf: &mut [u8], offset: u64) -> Result<usize, FilesError> {
        let known = self.maps().get(number);
        let map = match known {
            Some(map) => map,
            None => {
                let mut look = self.look();
                // Where a chain is followed, its own length is the limit.
                look.window.allow(u64::MAX);
                let fs = &mut look.fs;
                let map = guarded(|| {
                    let node = fs.node(number)?;
                    match node.kind {
                        EntryKind::File => fs.map(&node),
                        EntryKind::Folder => Err(FilesError::IsAFolder("it".into())),
                        _ => Err(FilesError::NotAFile("it".into())),
                    }
                })?;
                drop(look);
                self.maps().remember(number, map)
            }
        };
        map.read(&*self.store, buf, offset)
    }

    /// Where a link leads.
    ///
    /// # Errors
    /// It is none, or can't be read.
    pub fn target(&self, number: u64) -> Result<Vec<u8>, FilesError> {
        let mut look = self.look();
        look.window.allow(LOOK);
        let fs = &mut look.fs;
        guarded(|| {
            let node = fs.node(number)?;
            match node.kind {
                EntryKind::Link => fs.target(&node),
                _ => Err(FilesError::NotAFile("it".into())),
            }
        })
    }

    fn look(&self) -> MutexGuard<'_, Look> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Entries that are looked for at a time.
const PIECE: usize = 64;

fn folder_of(fs: &mut dyn Nodes, number: u64) -> Result<Node, FilesError> {
    let node = fs.node(number)?;
    match node.kind {
        EntryKind::Folder => Ok(node),
        _ => Err(FilesError::NotAFolder("it".into())),
    }
}

fn twice() -> FilesError {
    FilesError::Damaged("a folder lies in two places".to_owned())
}
