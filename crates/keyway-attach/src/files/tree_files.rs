//! What each FUSE request asks of a tree of files.
//!
//! Nothing ever changes, so that the kernel may keep all that it was told, and nothing is remembered for it: a number
//! finds its file again.

use super::ahead::Ahead;
use crate::fuse::abi::{self, op};
use crate::fuse::request::{Answer, FileSystem, Request, VALID_SECONDS, agree, parse, reply};
use keyway_fs::files::{EntryKind, FilesError};
use keyway_fs::tree::{Node, Tree, TreeEntry};
use rustix::io::Errno;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::{FromZeros, IntoBytes};

/// Longest name: 255 letters of UTF-16 in UTF-8.
const LONGEST_NAME: u32 = 765;
/// What sizes are told in.
const BLOCK: u32 = 4096;

/// A tree of files, as soon as it was looked at.
pub(super) struct TreeFiles {
    /// `None` where there is none that can be read.
    tree: OnceLock<Option<Tree>>,
    ahead: Ahead,
    /// What the kernel and we have agreed on.
    agreed: AtomicU64,
    uid: u32,
    gid: u32,
}

impl TreeFiles {
    pub(super) fn new() -> Self {
        Self {
            tree: OnceLock::new(),
            ahead: Ahead::default(),
            agreed: AtomicU64::new(0),
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
        }
    }

    /// Shows a tree, or that there is none; what was shown stays.
    pub(super) fn show(&self, tree: Option<Tree>) {
        let _ = self.tree.set(tree);
    }

    /// The tree, when it is there.
    fn tree(&self) -> Result<&Tree, Errno> {
        self.tree.wait().as_ref().ok_or(Errno::IO)
    }

    fn has(&self, flag: u64) -> bool {
        self.agreed.load(Ordering::Relaxed) & flag != 0
    }

    fn lookup(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let tree = self.tree()?;
        let name = buffer.get(..request.payload_len).ok_or(Errno::INVAL)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let entry = match tree.find(inside(tree, request.header.node), name) {
            Ok(node) => self.entry(tree, &node),
            // It is not there, and never will be.
            Err(FilesError::NotFound(_)) => {
                abi::EntryOut { entry_valid: VALID_SECONDS, ..abi::EntryOut::default() }
            }
            Err(e) => return Err(errno(&e)),
        };
        reply(buffer, &entry)
    }

    fn getattr(&self, node: u64, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let tree = self.tree()?;
        let node = tree.node(inside(tree, node)).map_err(|e| errno(&e))?;
        let attr = self.attr(tree, &node);
        reply(buffer, &abi::AttrOut { attr_valid: VALID_SECONDS, attr, ..abi::AttrOut::default() })
    }

    fn read(&self, request: &Request<'_>, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let wanted: abi::TransferIn = parse(request.fixed)?;
        let tree = self.tree()?;
        let into = buffer.get_mut(..wanted.size as usize).ok_or(Errno::INVAL)?;
        let number = inside(tree, request.header.node);
        if let Some(n) = self.ahead.take(number, into, wanted.offset) {
            return Ok(Answer::Bytes(n));
        }
        let read = tree.read(number, into, wanted.offset);
        read.map(Answer::Bytes).map_err(|e| errno(&e))
    }

    fn readlink(&self, node: u64, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let tree = self.tree()?;
        let target = tree.target(inside(tree, node)).map_err(|e| errno(&e))?;
        buffer.get_mut(..target.len()).ok_or(Errno::NAMETOOLONG)?.copy_from_slice(&target);
        Ok(Answer::Bytes(target.len()))
    }

    /// Entries as far as there is room; `plus` with their attributes.
    fn readdir(&self, request: &Request<'_>, buffer: &mut [u8], plus: bool) -> Result<Answer, Errno> {
        let wanted: abi::TransferIn = parse(request.fixed)?;
        let tree = self.tree()?;
        let folder = request.header.node;
        let room = buffer.len().min(wanted.size as usize);
        let mut list = List { buffer: buffer.get_mut(..room).unwrap_or_default(), at: 0, plus };
        // The two come first; what is in it follows.
        let mut from = wanted.offset;
        for name in [&b"."[..], b".."].into_iter().skip(usize::try_from(from).unwrap_or(2)) {
            from += 1;
            if !list.add(&abi::EntryOut::default(), folder, from, EntryKind::Folder, name) {
                return Ok(Answer::Bytes(list.at));
            }
        }
        let listed = tree.list(inside(tree, folder), from - 2, |entry| {
            let TreeEntry { name, number, node, next } = entry;
            let next = next.saturating_add(2);
            match node {
                Ok(node) => {
                    let entry = self.entry(tree, &node);
                    list.add(&entry, entry.node, next, node.kind, &name)
                }
                // It has a name; whoever asks for more is told why there is none.
                Err(_) => {
                    let number = outside(tree, number);
                    list.add(&abi::EntryOut::default(), number, next, EntryKind::Other, &name)
                }
            }
        });
        match listed {
            Err(e) if list.at == 0 => Err(errno(&e)),
            // What was read is told; the kernel asks for the rest, and is told then.
            _ => Ok(Answer::Bytes(list.at)),
        }
    }

    fn statfs(&self, buffer: &mut [u8]) -> Result<Answer, Errno> {
        let blocks = self.tree()?.bytes() / u64::from(BLOCK);
        let (bsize, frsize, namelen) = (BLOCK, BLOCK, LONGEST_NAME);
        reply(buffer, &abi::StatfsOut { blocks, bsize, frsize, namelen, ..abi::StatfsOut::default() })
    }

    fn entry(&self, tree: &Tree, node: &Node) -> abi::EntryOut {
        abi::EntryOut {
            node: outside(tree, node.number),
            entry_valid: VALID_SECONDS,
            attr_valid: VALID_SECONDS,
            attr: self.attr(tree, node),
            ..abi::EntryOut::default()
        }
    }

    /// All of it is the user's, who may read it, whoever it belonged to elsewhere.
    fn attr(&self, tree: &Tree, node: &Node) -> abi::Attr {
        let time = node.modified.unwrap_or_default() as u64;
        let own = if node.kind == EntryKind::Folder { 0o500 } else { 0o400 };
        abi::Attr {
            ino: outside(tree, node.number),
            size: node.size,
            blocks: node.size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            mode: u32::from(node.mode | own),
            nlink: node.links,
            uid: self.uid,
            gid: self.gid,
            blksize: BLOCK,
            ..abi::Attr::default()
        }
    }
}

impl FileSystem for TreeFiles {
    fn init(&self, fixed: &[u8], _: bool) -> Result<(abi::InitOut, bool), Errno> {
        let wanted = abi::INIT_ASYNC_READ
            | abi::INIT_PARALLEL_DIROPS
            | abi::INIT_READDIRPLUS
            | abi::INIT_READDIRPLUS_AUTO
            | abi::INIT_NO_OPEN
            | abi::INIT_NO_OPENDIR
            | abi::INIT_CACHE_SYMLINKS;
        let (answer, flags) = agree(fixed, wanted)?;
        self.agreed.store(flags, Ordering::Relaxed);
        Ok((answer, false))
    }

    fn answer(&self, request: &Request<'_>, buffer: &mut [u8]) -> Answer {
        let node = request.header.node;
        let done = match request.header.opcode {
            op::READ => self.read(request, buffer),
            op::LOOKUP => self.lookup(request, buffer),
            op::GETATTR => self.getattr(node, buffer),
            op::READDIR => self.readdir(request, buffer, false),
            op::READDIRPLUS => self.readdir(request, buffer, true),
            op::READLINK => self.readlink(node, buffer),
            op::STATFS => self.statfs(buffer),
            op::OPEN if !self.has(abi::INIT_NO_OPEN) => opened(buffer, abi::OPEN_KEEP_CACHE),
            op::OPENDIR if !self.has(abi::INIT_NO_OPENDIR) => {
                opened(buffer, abi::OPEN_KEEP_CACHE | abi::OPEN_CACHE_FOLDER)
            }
            op::RELEASE | op::RELEASEDIR | op::DESTROY => Ok(Answer::Bytes(0)),
            op::FORGET | op::BATCH_FORGET | op::INTERRUPT => Ok(Answer::Silence),
            // The kernel then knows not to ask again; of what would change something it does not ask at all.
            _ => Err(Errno::NOSYS),
        };
        done.unwrap_or_else(Answer::Error)
    }

    /// Reads on where a file is read to its end.
    fn after(&self, request: &Request<'_>) {
        if request.header.opcode == op::READ
            && let Ok(wanted) = parse::<abi::TransferIn>(request.fixed)
            && let Ok(tree) = self.tree()
        {
            let number = inside(tree, request.header.node);
            if let Some(chunk) = self.ahead.note(number, wanted.offset, wanted.size.into()) {
                self.ahead.fill(number, &chunk, |room| tree.read(number, room, chunk.start).ok());
            }
        }
    }
}

fn opened(buffer: &mut [u8], open_flags: u32) -> Result<Answer, Errno> {
    reply(buffer, &abi::OpenOut { open_flags, ..abi::OpenOut::default() })
}

/// A tree's number of a node of the kernel's, for which 1 is the root.
fn inside(tree: &Tree, node: u64) -> u64 {
    if node == abi::ROOT_NODE { tree.root() } else { node.saturating_sub(1) }
}

/// And the other way round.
fn outside(tree: &Tree, number: u64) -> u64 {
    if number == tree.root() { abi::ROOT_NODE } else { number.saturating_add(1) }
}

fn errno(e: &FilesError) -> Errno {
    match e {
        FilesError::Store(e) => Errno::from_raw_os_error(e.errno()),
        FilesError::NotFound(_) => Errno::NOENT,
        FilesError::NotAFolder(_) => Errno::NOTDIR,
        FilesError::IsAFolder(_) => Errno::ISDIR,
        FilesError::Unsupported(_) => Errno::OPNOTSUPP,
        _ => Errno::IO,
    }
}

/// A folder's entries, as the kernel wants them.
struct List<'a> {
    buffer: &'a mut [u8],
    at: usize,
    plus: bool,
}

impl List<'_> {
    /// Adds one; false where there is no room.
    fn add(&mut self, entry: &abi::EntryOut, ino: u64, off: u64, kind: EntryKind, name: &[u8]) -> bool {
        // DT_REG and the others of dirent.h.
        let kind = match kind {
            EntryKind::File => 8,
            EntryKind::Folder => 4,
            EntryKind::Link => 10,
            EntryKind::Other => 0,
        };
        let fixed = abi::Dirent { ino, off, namelen: name.len() as u32, kind };
        let plus = if self.plus { entry.as_bytes() } else { &[] };
        let parts = [plus, fixed.as_bytes(), name];
        let len = parts.iter().map(|part| part.len()).sum::<usize>().next_multiple_of(8);
        let end = self.at.saturating_add(len);
        let Some(into) = self.buffer.get_mut(self.at..end) else { return false };
        into.zero();
        let bytes = parts.into_iter().flatten();
        into.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        self.at = end;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_padded_and_end_where_the_room_does() {
        for plus in [false, true] {
            let head = if plus { size_of::<abi::EntryOut>() } else { 0 } + size_of::<abi::Dirent>();
            let mut buffer = vec![7; 2 * (head + 8) + 1];
            let mut list = List { buffer: &mut buffer, at: 0, plus };
            for _ in 0..2 {
                assert!(list.add(&abi::EntryOut::default(), 3, 5, EntryKind::File, b"name"));
            }
            assert!(!list.add(&abi::EntryOut::default(), 3, 5, EntryKind::File, b"n"));
            assert_eq!(list.at, 2 * (head + 8));
            assert_eq!(buffer.get(head..head + 8), Some(&b"name\0\0\0\0"[..]));
        }
    }
}
