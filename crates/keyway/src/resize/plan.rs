//! What another size means for a volume, its file and what is in it; and what came of it.

use crate::error::Error;
use crate::locked::LockedVolume;
use crate::session::{ServingProgram, SessionSecrets};
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_fs::FoundFileSystem;
use keyway_store::Held;
use keyway_volume::bitlocker::MetadataLocations;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What is wanted of a volume's size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResizeRequest {
    /// Bytes of the file, or of what the volume uses of a device, headers included; all of a device where it is left out.
    pub bytes: Option<u64>,
    /// What is new isn't overwritten with noise: faster, and shows what of it is unused.
    pub quick: bool,
    /// The file system inside stays as large as it is.
    pub keep_filesystem: bool,
    /// The program that serves the volume while the tool of the file system in it gives that another size.
    pub serving: Option<ServingProgram>,
}

/// Another size for a volume that opened. Nothing has been written yet.
#[derive(Serialize)]
#[non_exhaustive]
pub struct ResizePlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// Bytes of the file or device.
    pub size_bytes_before: u64,
    /// Bytes that the file will have, or that the volume will use of the device.
    pub size_bytes: u64,
    /// Bytes of the volume without its headers.
    pub data_bytes_before: u64,
    /// The same afterwards.
    pub data_bytes: u64,
    /// What is in it.
    pub filesystem: Option<FileSystemPlan>,
    /// What becomes of a hidden volume in it, if there is one.
    pub hidden_volume: Option<HiddenVolume>,
    /// What becomes of a BitLocker volume's metadata.
    pub metadata: Option<MetadataPlan>,
    /// What is new is overwritten with noise.
    pub filled: bool,
    /// What its owner should know before.
    #[serde(skip)]
    pub warnings: Vec<String>,
    #[serde(skip)]
    pub(super) locked: &'a LockedVolume<'a>,
    /// Kept until it is through.
    #[serde(skip)]
    #[expect(dead_code, reason = "the medium is held as long as the plan is there")]
    pub(super) held: Option<Held>,
    #[serde(skip)]
    pub(super) secrets: SessionSecrets,
    #[serde(skip)]
    pub(super) serving: Option<ServingProgram>,
    #[serde(skip)]
    pub(super) room: u64,
    #[serde(skip)]
    pub(super) fill: bool,
    #[serde(skip)]
    pub(super) is_file: bool,
}

/// A file system inside, and its size afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileSystemPlan {
    /// Which file system: its name.
    #[serde(serialize_with = "name")]
    pub kind: keyway_fs::FileSystemKind,
    /// Its bytes.
    pub bytes: u64,
    /// The bytes that its own tools give it; `None` where it stays as it is.
    pub becomes_bytes: Option<u64>,
    /// Its tools can give it another size, and may.
    #[serde(skip)]
    pub follows: bool,
}

/// What becomes of a hidden volume, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HiddenVolume {
    /// It is lost.
    Lost,
    /// It is lost if it reaches behind the new end.
    LostBehindTheEnd,
    /// The file system around it gets larger, and may damage it.
    Endangered,
}

/// What becomes of a BitLocker volume's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
#[non_exhaustive]
pub enum MetadataPlan {
    /// It stays where it is.
    Stays,
    /// It lies behind the file system, and does so at the new end.
    ToTheEnd(MetadataLocations),
    /// It lies within the file system, which is to end before it.
    Within,
}

impl From<MetadataPlan> for &'static str {
    fn from(plan: MetadataPlan) -> Self {
        match plan {
            MetadataPlan::Stays => "stays",
            MetadataPlan::ToTheEnd(_) => "moves-to-the-end",
            MetadataPlan::Within => "moves-within-the-file-system",
        }
    }
}

/// A volume that has another size.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Resized {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// Bytes of the file or device.
    pub size_bytes: u64,
    /// Bytes of the volume without its headers, before.
    pub data_bytes_before: u64,
    /// And now.
    pub data_bytes: u64,
    /// Something is new, and all of it was overwritten with noise.
    pub filled: bool,
    /// Whether a BitLocker volume's metadata lies elsewhere now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_moved: Option<bool>,
    /// What is in it.
    #[serde(serialize_with = "perhaps_name")]
    pub filesystem: Option<keyway_fs::FileSystemKind>,
    /// Its bytes.
    pub filesystem_bytes: Option<u64>,
    /// What its owner should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// There is room behind the file system that it does not use.
    #[serde(skip)]
    pub unused_room: bool,
    /// What is behind the volume on its device is not its own any more.
    #[serde(skip)]
    pub frees_device: bool,
    /// Why the file system inside did not get larger.
    #[serde(skip)]
    pub not_grown: Option<Error>,
}

fn name<S: Serializer>(kind: &keyway_fs::FileSystemKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.name())
}

fn perhaps_name<S: Serializer>(kind: &Option<keyway_fs::FileSystemKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(keyway_fs::FileSystemKind::name).serialize(to)
}

/// A volume as its format's code has looked at it.
pub(super) struct ResizeFacts {
    /// Bytes of its data.
    pub(super) data_bytes_before: u64,
    /// The same afterwards.
    pub(super) data_bytes: u64,
    pub(super) filesystem: Option<FoundFileSystem>,
    /// Bytes in use in it, where they are too many for `room`.
    pub(super) too_full: Option<u64>,
    /// Bytes that a file system may have in it then.
    pub(super) room: u64,
    pub(super) metadata: Option<MetadataPlan>,
    /// It has free space that was never encrypted.
    pub(super) used_space_only: bool,
}
