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

/// Messages, laid out as in C.
macro_rules! messages {
    ($($(#[$about:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $type:ty),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
        #[repr(C)]
        pub(crate) struct $name { $($(#[$of_field])* pub(crate) $field: $type),+ }
    )+};
}

messages! {
    /// Every request starts with it (`struct fuse_in_header`).
    InHeader { len: u32, opcode: u32, unique: u64, node: u64, uid: u32, gid: u32, pid: u32, extension: u32 }
    /// Every answer starts with it (`struct fuse_out_header`).
    OutHeader {
        len: u32,
        /// 0 or a negative errno.
        error: i32,
        unique: u64,
    }
    /// `struct fuse_init_in`, without its unused tail.
    InitIn { major: u32, minor: u32, max_readahead: u32, flags: u32 }
    /// `struct fuse_init_out`.
    InitOut {
        major: u32, minor: u32, max_readahead: u32, flags: u32, max_background: u16,
        congestion_threshold: u16, max_write: u32, time_gran: u32, max_pages: u16, map_alignment: u16,
        flags2: u32, max_stack_depth: u32, request_timeout: u16, unused: [u16; 11],
    }
    /// `struct fuse_attr`. Times are seconds since 1970, sizes bytes, `blocks` units of 512 bytes.
    Attr {
        ino: u64, size: u64, blocks: u64, atime: u64, mtime: u64, ctime: u64, atime_nanos: u32,
        mtime_nanos: u32, ctime_nanos: u32, mode: u32, nlink: u32, uid: u32, gid: u32, rdev: u32,
        blksize: u32, flags: u32,
    }
    /// `struct fuse_entry_out`, the answer to LOOKUP.
    EntryOut {
        node: u64, generation: u64, entry_valid: u64, attr_valid: u64, entry_valid_nanos: u32,
        attr_valid_nanos: u32, attr: Attr,
    }
    /// `struct fuse_attr_out`, the answer to GETATTR and SETATTR.
    AttrOut { attr_valid: u64, attr_valid_nanos: u32, padding: u32, attr: Attr }
    /// The start of `struct fuse_setattr_in`.
    SetattrIn { valid: u32, padding: u32, handle: u64, size: u64 }
    /// `struct fuse_open_in`.
    OpenIn { flags: u32, unused: u32 }
    /// `struct fuse_open_out`.
    OpenOut { handle: u64, open_flags: u32, padding: u32 }
    /// `struct fuse_read_in` and `struct fuse_write_in`, which are alike.
    TransferIn {
        handle: u64, offset: u64, size: u32, transfer_flags: u32, lock_owner: u64, flags: u32,
        padding: u32,
    }
    /// `struct fuse_write_out`.
    WriteOut { size: u32, padding: u32 }
    /// `struct fuse_kstatfs`.
    StatfsOut {
        blocks: u64, bfree: u64, bavail: u64, files: u64, ffree: u64, bsize: u32, namelen: u32,
        frsize: u32, padding: u32, spare: [u32; 6],
    }
    /// `struct fuse_fallocate_in`.
    FallocateIn { handle: u64, offset: u64, length: u64, mode: u32, padding: u32 }
    /// The fixed part of `struct fuse_dirent`; the name follows, padded to 8 bytes.
    Dirent {
        ino: u64,
        /// Where the next entry starts, in the server's own counting.
        off: u64,
        namelen: u32,
        kind: u32,
    }
}

impl TransferIn {
    /// Whether what is written must be on the medium before it is answered: the file was opened so, or this write
    /// alone was asked for so (`RWF_DSYNC`). The kernel leaves it to us for files without a page cache.
    pub(crate) fn is_durable(&self) -> bool {
        self.flags & OPEN_DSYNC != 0
    }
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
