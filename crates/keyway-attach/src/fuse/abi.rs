//! The messages of the kernel's FUSE protocol that a file system of one file needs, and one that is only read.
//!
//! Layouts and numbers: `include/uapi/linux/fuse.h`, protocol 7.42. All fields are in the
//! machine's own byte order.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Protocol version we speak: 7.38, the lowest with everything below; the kernel speaks the lower
/// minor version of both sides.
pub(crate) const MAJOR: u32 = 7;
/// See [`MAJOR`].
pub(crate) const MINOR: u32 = 38;

/// The root folder's node (`FUSE_ROOT_ID`).
pub(crate) const ROOT_NODE: u64 = 1;
/// Our only file's node; any other number would do.
pub(crate) const FILE_NODE: u64 = 2;

/// Operation numbers, `enum fuse_opcode`.
pub(crate) mod op {
    pub(crate) const LOOKUP: u32 = 1;
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const SETATTR: u32 = 4;
    pub(crate) const READLINK: u32 = 5;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const OPENDIR: u32 = 27;
    pub(crate) const READDIR: u32 = 28;
    pub(crate) const RELEASEDIR: u32 = 29;
    pub(crate) const FSYNCDIR: u32 = 30;
    pub(crate) const INTERRUPT: u32 = 36;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const BATCH_FORGET: u32 = 42;
    pub(crate) const FALLOCATE: u32 = 43;
    pub(crate) const READDIRPLUS: u32 = 44;
}

/// `FUSE_ASYNC_READ`: several reads of one file at once.
pub(crate) const INIT_ASYNC_READ: u64 = 1 << 0;
/// `FUSE_BIG_WRITES`: writes of more than one page.
pub(crate) const INIT_BIG_WRITES: u64 = 1 << 5;
/// `FUSE_DO_READDIRPLUS`: entries of a folder with their attributes,
pub(crate) const INIT_READDIRPLUS: u64 = 1 << 13;
/// `FUSE_READDIRPLUS_AUTO`: where the kernel has use for them.
pub(crate) const INIT_READDIRPLUS_AUTO: u64 = 1 << 14;
/// `FUSE_ASYNC_DIO`: direct I/O without waiting for each request.
pub(crate) const INIT_ASYNC_DIO: u64 = 1 << 15;
/// `FUSE_PARALLEL_DIROPS`: look-ups at once.
pub(crate) const INIT_PARALLEL_DIROPS: u64 = 1 << 18;
/// `FUSE_NO_OPEN_SUPPORT`: files need not be opened, and stay in the page cache,
pub(crate) const INIT_NO_OPEN: u64 = 1 << 17;
/// `FUSE_NO_OPENDIR_SUPPORT`: nor folders.
pub(crate) const INIT_NO_OPENDIR: u64 = 1 << 24;
/// `FUSE_CACHE_SYMLINKS`.
pub(crate) const INIT_CACHE_SYMLINKS: u64 = 1 << 23;
/// `FUSE_MAX_PAGES`: the answer's `max_pages` holds.
pub(crate) const INIT_MAX_PAGES: u64 = 1 << 22;
/// `FUSE_INIT_EXT`: the upper half of the flags holds.
pub(crate) const INIT_EXT: u64 = 1 << 30;
/// `FUSE_OVER_IO_URING`.
pub(crate) const INIT_OVER_IO_URING: u64 = 1 << 41;

/// `FOPEN_DIRECT_IO`: no page cache for the file, so that `fsync` has nothing hidden to find.
pub(crate) const OPEN_DIRECT_IO: u32 = 1 << 0;
/// `FOPEN_KEEP_CACHE`: what was read before is still right.
pub(crate) const OPEN_KEEP_CACHE: u32 = 1 << 1;
/// `FOPEN_CACHE_DIR`: the same of a folder.
pub(crate) const OPEN_CACHE_FOLDER: u32 = 1 << 3;
/// `FOPEN_NOFLUSH`: nothing to do on `close`.
pub(crate) const OPEN_NOFLUSH: u32 = 1 << 5;
/// `FOPEN_PARALLEL_DIRECT_WRITES`.
pub(crate) const OPEN_PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

/// `FATTR_MODE`, `FATTR_UID`, `FATTR_GID`: refused.
pub(crate) const SETATTR_OWNERSHIP: u32 = 0b111;
/// `FATTR_SIZE`.
pub(crate) const SETATTR_SIZE: u32 = 1 << 3;

/// `FALLOC_FL_KEEP_SIZE` (`include/uapi/linux/falloc.h`).
pub(crate) const FALLOC_KEEP_SIZE: u32 = 0x01;
/// `FALLOC_FL_PUNCH_HOLE`.
pub(crate) const FALLOC_PUNCH_HOLE: u32 = 0x02;
/// `FALLOC_FL_ZERO_RANGE`.
pub(crate) const FALLOC_ZERO_RANGE: u32 = 0x10;

/// `O_ACCMODE` (`asm-generic/fcntl.h`, as the flags below): the bits that say whether a file is read or written.
pub(crate) const OPEN_ACCESS: u32 = 0o3;
/// `O_RDONLY`.
pub(crate) const OPEN_READ_ONLY: u32 = 0;
/// `O_DSYNC`, which `O_SYNC` contains. x86 and Arm have asm-generic's number; rustix's `OFlags::DSYNC` has that of
/// `O_SYNC`.
pub(crate) const OPEN_DSYNC: u32 = 0o10_000;

/// Every request starts with it (`struct fuse_in_header`).
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct InHeader {
    pub(crate) len: u32,
    pub(crate) opcode: u32,
    pub(crate) unique: u64,
    pub(crate) node: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) pid: u32,
    pub(crate) extension: u32,
}

/// Every answer starts with it (`struct fuse_out_header`).
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct OutHeader {
    pub(crate) len: u32,
    /// 0 or a negative errno.
    pub(crate) error: i32,
    pub(crate) unique: u64,
}

/// `struct fuse_init_in`, without its unused tail.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct InitIn {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) max_readahead: u32,
    pub(crate) flags: u32,
}

/// `struct fuse_init_out`.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct InitOut {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) max_readahead: u32,
    pub(crate) flags: u32,
    pub(crate) max_background: u16,
    pub(crate) congestion_threshold: u16,
    pub(crate) max_write: u32,
    pub(crate) time_gran: u32,
    pub(crate) max_pages: u16,
    pub(crate) map_alignment: u16,
    pub(crate) flags2: u32,
    pub(crate) max_stack_depth: u32,
    pub(crate) request_timeout: u16,
    pub(crate) unused: [u16; 11],
}

/// `struct fuse_attr`. Times are seconds since 1970, sizes bytes, `blocks` units of 512 bytes.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Attr {
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) atime: u64,
    pub(crate) mtime: u64,
    pub(crate) ctime: u64,
    pub(crate) atime_nanos: u32,
    pub(crate) mtime_nanos: u32,
    pub(crate) ctime_nanos: u32,
    pub(crate) mode: u32,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) rdev: u32,
    pub(crate) blksize: u32,
    pub(crate) flags: u32,
}

/// `struct fuse_entry_out`, the answer to LOOKUP.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct EntryOut {
    pub(crate) node: u64,
    pub(crate) generation: u64,
    pub(crate) entry_valid: u64,
    pub(crate) attr_valid: u64,
    pub(crate) entry_valid_nanos: u32,
    pub(crate) attr_valid_nanos: u32,
    pub(crate) attr: Attr,
}

/// `struct fuse_attr_out`, the answer to GETATTR and SETATTR.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct AttrOut {
    pub(crate) attr_valid: u64,
    pub(crate) attr_valid_nanos: u32,
    pub(crate) padding: u32,
    pub(crate) attr: Attr,
}

/// The start of `struct fuse_setattr_in`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct SetattrIn {
    pub(crate) valid: u32,
    pub(crate) padding: u32,
    pub(crate) handle: u64,
    pub(crate) size: u64,
}

/// `struct fuse_open_in`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct OpenIn {
    pub(crate) flags: u32,
    pub(crate) unused: u32,
}

/// `struct fuse_open_out`.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct OpenOut {
    pub(crate) handle: u64,
    pub(crate) open_flags: u32,
    pub(crate) padding: u32,
}

/// `struct fuse_read_in` and `struct fuse_write_in`, which are alike.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct TransferIn {
    pub(crate) handle: u64,
    pub(crate) offset: u64,
    pub(crate) size: u32,
    pub(crate) transfer_flags: u32,
    pub(crate) lock_owner: u64,
    pub(crate) flags: u32,
    pub(crate) padding: u32,
}

impl TransferIn {
    /// Whether what is written must be on the medium before it is answered: the file was opened so, or this write
    /// alone was asked for so (`RWF_DSYNC`). The kernel leaves it to us for files without a page cache.
    pub(crate) fn is_durable(&self) -> bool {
        self.flags & OPEN_DSYNC != 0
    }
}

/// `struct fuse_write_out`.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct WriteOut {
    pub(crate) size: u32,
    pub(crate) padding: u32,
}

/// `struct fuse_kstatfs`.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct StatfsOut {
    pub(crate) blocks: u64,
    pub(crate) bfree: u64,
    pub(crate) bavail: u64,
    pub(crate) files: u64,
    pub(crate) ffree: u64,
    pub(crate) bsize: u32,
    pub(crate) namelen: u32,
    pub(crate) frsize: u32,
    pub(crate) padding: u32,
    pub(crate) spare: [u32; 6],
}

/// `struct fuse_fallocate_in`.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct FallocateIn {
    pub(crate) handle: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) mode: u32,
    pub(crate) padding: u32,
}

/// The fixed part of `struct fuse_dirent`; the name follows, padded to 8 bytes.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Dirent {
    pub(crate) ino: u64,
    /// Where the next entry starts, in the server's own counting.
    pub(crate) off: u64,
    pub(crate) namelen: u32,
    pub(crate) kind: u32,
}

/// Length of the fixed structure that an operation's request starts with after the header; what
/// follows it is a name or data. The io_uring transport delivers the two apart.
pub(crate) fn fixed_len(opcode: u32) -> usize {
    match opcode {
        op::LOOKUP => 0,
        op::OPEN | op::OPENDIR | op::FORGET => 8,
        op::GETATTR | op::FSYNC | op::FSYNCDIR => 16,
        op::FALLOCATE => 32,
        op::READ | op::WRITE | op::READDIR | op::READDIRPLUS => 40,
        op::SETATTR => 88,
        _ => 0,
    }
}
