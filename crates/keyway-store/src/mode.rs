//! How a file or device is opened.

/// Whether a store may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Reads only.
    ReadOnly,
    /// Reads and writes; claims the file or device.
    ReadWrite,
}

/// Whether the system's page cache stands between us and the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// Through the page cache.
    Buffered,
    /// Past it, for requests that are aligned; the file system that lies inside the volume has
    /// its own cache, a second one under it only costs memory. Falls back to `Buffered` where
    /// the medium does not offer direct I/O.
    Direct,
}
