//! The bytes of a medium that are one volume's: all of them, or a partition's.

use super::error::DiskError;
use crate::error::Error;
use crate::under_way::Found;
use keyway_attach::mount;
use keyway_engine::{Layout, LayoutError, Mapping, Segment};
use keyway_error::Advice;
use keyway_fs::Superblock;
use keyway_store::{FileStore, Operation, Store, StoreError, pass_on};
use keyway_volume::veracrypt::HeaderFault;
use keyway_volume::{NotAVolume, VolumeError};
use std::path::Path;

/// A stretch of a store; counted from its own beginning, and nothing outside can be reached.
pub(super) struct View<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl View<'_> {
    /// Where that lies in the store.
    fn at(&self, operation: Operation, offset: u64, len: u64) -> Result<u64, StoreError> {
        match offset.checked_add(len) {
            Some(end) if end <= self.bytes => Ok(self.start.saturating_add(offset)),
            _ => {
                let (name, len) = ("the partition".to_owned(), usize::try_from(len).unwrap_or(usize::MAX));
                Err(StoreError::past_end(operation, name, offset, len, self.bytes))
            }
        }
    }
}

impl Store for View<'_> {
    pass_on! { [store] flush sector_bytes is_read_only is_claimed }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.store.read_at(buf, self.at(Operation::Read, offset, buf.len() as u64)?)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        self.store.write_at(buf, self.at(Operation::Write, offset, buf.len() as u64)?)
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.store.discard(self.at(Operation::Discard, offset, len)?, len)
    }

    fn size(&self) -> u64 {
        self.bytes
    }
}

/// A file or device, or a partition on it.
pub(crate) struct Part {
    store: FileStore,
    start: u64,
    bytes: u64,
}

impl Part {
    pub(super) fn new(store: FileStore, start: u64, bytes: u64) -> Self {
        Self { store, start, bytes }
    }

    pub(super) fn whole(store: FileStore) -> Self {
        let bytes = store.size();
        Self { store, start: 0, bytes }
    }

    /// Whether it is a partition, and not all of the file or device.
    pub(crate) fn is_partition(&self) -> bool {
        self.start > 0 || self.bytes < self.store.size()
    }

    /// That it is plainly no volume. What it is instead is reached at that path, a partition of an image by its place.
    pub(crate) fn not_a_volume(&self, path: &Path, reason: NotAVolume) -> Error {
        let partition = self.is_partition().then_some((self.start, self.bytes));
        match reason {
            NotAVolume::FileSystem(filesystem) => {
                let found =
                    Superblock::read(&self.view()).ok().flatten().map(|found| found.kind.mount_type());
                // Where no driver is known, that can't be looked up here.
                let lacks =
                    found.filter(|kind| !mount::known_drivers().is_empty() && !mount::can_mount(kind));
                let plain = DiskError::Plain { path: path.to_owned(), filesystem, partition, lacks };
                let plain = Error::from(plain).at(path);
                // Whoever had it encrypted, and was interrupted before that had begun, is told what `encrypt` tells.
                let traces = if self.is_partition() { None } else { Found::traces_of(path, &self.store) };
                match traces {
                    Some(resume) => plain.leaving(Advice::ClearTraces { resume }),
                    None => plain,
                }
            }
            reason => Error::from(VolumeError::NotAVolume(reason)).at(path),
        }
    }

    fn view(&self) -> View<'_> {
        View { store: &self.store, start: self.start, bytes: self.bytes }
    }

    /// What was said of the partition's end is so of the disk's, of which less was copied than there was.
    pub(crate) fn counted_on_disk(&self, error: Error) -> Error {
        match error {
            Error::VeraCrypt(VolumeError::DamagedHeader {
                place,
                fault: HeaderFault::BeyondEnd { end, present },
            }) => {
                let [end, present] = [end, present].map(|at| at.saturating_add(self.start));
                VolumeError::DamagedHeader { place, fault: HeaderFault::BeyondEnd { end, present } }.into()
            }
            error => error,
        }
    }

    /// The medium, and where on it the volume's sectors are: whoever serves them has the medium itself, past which the
    /// kernel can be handed nothing.
    pub(crate) fn placing(self, layout: Layout) -> Result<(FileStore, Layout), LayoutError> {
        if !self.is_partition() {
            return Ok((self.store, layout));
        }
        let beyond = |needed| LayoutError::BeyondStore { needed, present: self.bytes };
        let moved = layout.segments().iter().map(|segment| {
            let mut segment: Segment = segment.clone();
            if let Mapping::Encrypted { store_offset, .. } | Mapping::Plain { store_offset } =
                &mut segment.mapping
            {
                let end = store_offset.checked_add(segment.len).ok_or_else(|| beyond(u64::MAX))?;
                if end > self.bytes {
                    return Err(beyond(end));
                }
                *store_offset = store_offset.saturating_add(self.start);
            }
            Ok(segment)
        });
        let moved = Layout::new(layout.sector_bytes(), moved.collect::<Result<_, _>>()?)?;
        let moved = match layout.guard() {
            Some(guard) => moved.guarding(guard.clone()),
            None => moved,
        };
        Ok((self.store, moved))
    }
}

/// So that it is passed on as the store that it is.
impl Store for Part {
    pass_on! { [view()] read_at write_at flush discard size sector_bytes is_read_only is_claimed }
}
