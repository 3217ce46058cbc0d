//! The drive around a partition: an encrypted system keeps the header of its partition there.

use crate::error::Error;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_sys::partition_of;
use keyway_volume::SystemHeader;
use std::path::Path;

/// Where a partition's system header may lie.
pub(crate) struct SystemDrive {
    store: FileStore,
    start: Option<u64>,
}

impl SystemDrive {
    /// The drive or header file that was named; for a partition's device without one, the drive it
    /// is on. A drive that this user may not read counts only where a system was asked for.
    pub(crate) fn of(path: &Path, named: Option<&Path>, system: bool) -> Result<Option<Self>, Error> {
        let partition = partition_of(path).unwrap_or_default();
        let start = partition.as_ref().map(|partition| partition.start);
        let (path, asked) = match (named, &partition) {
            (Some(path), _) => (path, true),
            (None, Some(partition)) => (&*partition.drive, system),
            (None, None) => return Ok(None),
        };
        match FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered) {
            Ok(store) => {
                let drive = Self { store, start };
                // Where a system was asked for, nothing else is tried; what can't be read says so later.
                let is_none = asked && matches!(drive.header().is_there(), Ok(false));
                if is_none { Err(Error::NoSystemHeader(path.to_owned())) } else { Ok(Some(drive)) }
            }
            Err(e) if asked => Err(e.into()),
            Err(_) => Ok(None),
        }
    }

    /// For the format's own code.
    pub(crate) fn header(&self) -> SystemHeader<'_> {
        SystemHeader { store: &self.store, start: self.start }
    }
}
