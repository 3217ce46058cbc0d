//! The next steps that help.

/// A step that helps. A front has the sentence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Check the path.
    CheckPath,
    /// Do it as a user who may.
    BecomeRoot,
    /// It can only be read here: open it for reading, or make it writable.
    OpenReadOnly,
    /// Close what uses it.
    CloseUsers,
    /// Choose another name, or move the old thing away.
    ChooseAnotherName,
    /// Free some space, or ask for less.
    FreeSpace,
    /// The file ends too early: check that it was copied completely.
    CheckCopiedFile,
    /// Free some memory, or add swap space.
    FreeMemory,
    /// It is a folder: name a file.
    NameFileNotFolder,
    /// Name a regular file or a block device.
    NameFileOrDevice,
    /// The system's log holds the drive's own report.
    ReadSystemLog,
    /// Somebody changes its size: wait, and try it again.
    WaitForItsSize,
}
