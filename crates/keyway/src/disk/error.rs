//! Why no partition of a disk could be taken, as data.

use keyway_error::explain;
use std::path::PathBuf;

/// Why no partition of a disk could be taken for a volume.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// There is none of that number.
    #[error("{} has no partition {number}", path.display())]
    NoSuchPartition {
        /// The disk.
        path: PathBuf,
        /// What was asked for.
        number: u32,
    },
    /// A partition was named on what has no table.
    #[error("{} has no partition table", .0.display())]
    NoTable(PathBuf),
    /// Several may be meant.
    #[error("{} is a disk, and any of its partitions {} may be meant", path.display(), list(numbers))]
    Several {
        /// The disk.
        path: PathBuf,
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// None looks encrypted.
    #[error("{} is a disk, and none of its partitions looks encrypted", .0.display())]
    NothingEncrypted(PathBuf),
    /// No copy of its GPT is in order.
    #[error("{} is a disk whose partition table is damaged, at its beginning and at its end", .0.display())]
    Damaged(PathBuf),
    /// One that nobody can tell from noise is to be changed, and nobody has named it.
    #[error(
        "{} is a disk, and its partition {number} may be a VeraCrypt volume or just noise: nothing is changed unless it \
         is named",
        path.display()
    )]
    Guessed {
        /// The disk.
        path: PathBuf,
        /// The partition.
        number: u32,
    },
    /// No volume but a file system that is not encrypted: on the file or device, or on a partition of it.
    #[error("this is not an encrypted volume: it starts with {filesystem}, unencrypted")]
    Plain {
        /// The file or device.
        path: PathBuf,
        /// The file system, with its article.
        filesystem: &'static str,
        /// Where the partition begins and how long it is, in bytes, where it is one.
        partition: Option<(u64, u64)>,
        /// The driver that would mount it, where the kernel lacks that.
        lacks: Option<&'static str>,
    },
    /// This is done to a whole file or device only.
    #[error("{} is a disk with partitions, and this can only be done to a partition's own device", .0.display())]
    Whole(PathBuf),
}

explain! { DiskError {
    Self::NoSuchPartition { path, .. } => [NotFound Request, ListPartitions { path: path.clone() }; path],
    Self::NoTable(path) => [Usage Request, LeaveOutPartition; path],
    Self::Several { path, .. } => [Ambiguous Request, NamePartition { path: path.clone() }; path],
    Self::NothingEncrypted(path) => [NotAVolume Contents, ListPartitions { path: path.clone() }; path],
    Self::Damaged(path) => [Damaged Contents, RepairTable { path: path.clone() }; path],
    Self::Guessed { path, .. } => [Usage Request, NamePartition { path: path.clone() }; path],
    Self::Plain { lacks: Some(driver), .. } =>
        [NotAVolume Contents, LoadFileSystem { filesystem: (*driver).to_owned() }, NameVolumeOrSearch],
    Self::Plain { path, partition, .. } => [NotAVolume Contents, MountPlainAt {
        path: path.clone(), offset: partition.map(|(offset, _)| offset), bytes: partition.map(|(_, bytes)| bytes)
    }, NameVolumeOrSearch],
    Self::Whole(path) => [Usage Request, NamePartitionDevice { path: path.clone() }; path],
} }

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
