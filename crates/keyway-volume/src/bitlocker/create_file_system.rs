//! The file system of a new volume: made in memory before anything is written, with room in it for the metadata.

use super::create_error::CreateError;
use super::metadata_locations::MetadataLocations;
use keyway_engine::Device;
use keyway_fs::mkfs::{FileSystem, MkfsError, Progress};

/// A file system that goes into a new volume.
pub(super) struct NewFileSystem {
    fs: FileSystem,
    places: MetadataLocations,
    #[cfg(target_os = "linux")]
    image: std::fs::File,
}

impl NewFileSystem {
    /// Where the metadata goes.
    pub(super) fn places(&self) -> MetadataLocations {
        self.places
    }
}

#[cfg(target_os = "linux")]
impl NewFileSystem {
    /// Makes it as large as the volume, and sets aside in it what the metadata needs. `boot_bytes` are those of the
    /// first sectors that lie elsewhere.
    pub(super) fn make(
        fs: FileSystem,
        label: Option<&str>,
        (size, sector_bytes): (u64, u32),
        boot_bytes: u64,
        progress: Progress<'_>,
    ) -> Result<Self, CreateError> {
        use keyway_fs::allocation::Allocation;
        use keyway_store::{Caching, FileStore, OpenMode};
        use std::os::fd::AsRawFd;

        let image = keyway_fs::mkfs::image(fs, size, sector_bytes, label, progress)?;
        // The image has no name but its descriptor's.
        let path = format!("/proc/self/fd/{}", image.as_raw_fd());
        let store = FileStore::open(path.as_ref(), OpenMode::ReadWrite, Caching::Buffered)?;
        let mut map = Allocation::read(&store)?;
        let places = MetadataLocations::inside(&mut map, size, boot_bytes)?;
        map.mark(&store)?;
        Ok(Self { fs, places, image })
    }

    /// Puts it into the volume.
    pub(super) fn copy_into(&self, device: &Device, progress: Progress<'_>) -> Result<(), MkfsError> {
        keyway_fs::mkfs::copy_into(&self.image, device, self.fs, progress)
    }
}

/// The programs that make one run on Linux.
#[cfg(not(target_os = "linux"))]
impl NewFileSystem {
    pub(super) fn make(
        fs: FileSystem,
        _: Option<&str>,
        _: (u64, u32),
        _: u64,
        _: Progress<'_>,
    ) -> Result<Self, CreateError> {
        Err(MkfsError::Missing(fs).into())
    }

    pub(super) fn copy_into(&self, _: &Device, _: Progress<'_>) -> Result<(), MkfsError> {
        Err(MkfsError::Missing(self.fs))
    }
}
