//! The file systems inside volumes: FAT, exFAT, NTFS, ext2 to ext4, XFS, Btrfs.
//!
//! Which call do you want?
//! - Which file system lies there, how large it is, its UUID: [`Superblock`], or [`FoundFileSystem`] where only the size
//!   counts.
//! - Which other container it is, as LUKS, qcow2 or gzip: [`Container`].
//! - Which parts of a disk are partitions: [`partitions`].
//! - Checking it, making it smaller or larger with its own tools: [`FileSystemKind::check`], [`FileSystemKind::resize`].
//! - Which of its bytes are in use, and keeping it off some of them: [`allocation`].
//! - A new, empty one: [`mkfs`].
//! - Its files, without a mount: [`files`] (the feature `files`, on by default); the same for a mount of our own, by
//!   numbers and at random: [`tree`].
//!
//! Programs are run, and files written, on Linux; the rest is the same on every system.
//!
//! What lies on a medium was written by somebody else: every field is checked before it is used.
#![forbid(unsafe_code)]

pub mod allocation;
pub mod calendar;
mod containers;
#[cfg(all(feature = "files", target_os = "linux"))]
mod exfat;
mod fields;
#[cfg(all(feature = "files", target_os = "linux"))]
pub mod files;
pub mod mkfs;
pub mod partitions;
#[cfg(target_os = "linux")]
pub mod resize;
pub mod superblock;
#[cfg(all(feature = "files", target_os = "linux"))]
pub mod tree;

pub use containers::Container;
pub use superblock::{FileSystemKind, FoundFileSystem, Superblock};
