//! A request in two steps, around a transfer that the caller has the system make.
//!
//! [`Device::begin_read`] and [`Device::begin_write`] say where in the store's file the bytes lie; the
//! caller moves them from or to there, in its own time and with others at once, and calls
//! [`Transfer::finish`]. Between the two steps nothing waits, so one thread can have many transfers
//! under way. Together they do what [`Device::read_at`] and [`Device::write_and_spoil`] do.

use crate::counters::{Layer, RequestKind, Watch};
use crate::{Device, DeviceError, Mapping, Segment};
use keyway_store::Action;
#[cfg(target_os = "linux")]
use keyway_store::DirectFile;
use std::sync::{RwLockReadGuard, TryLockError};
use std::time::Instant;

/// A request whose bytes the caller moves.
pub struct Transfer<'a> {
    device: &'a Device,
    segment: &'a Segment,
    action: Action,
    offset: u64,
    store_offset: u64,
    began: Option<Instant>,
    watch: Watch,
    /// Keeps writes of parts of a unit away until this one is on the medium.
    _shared: Option<RwLockReadGuard<'a, ()>>,
}

impl Device {
    /// The store's file, where transfers can be queued.
    #[cfg(target_os = "linux")]
    pub fn queueable(&self) -> Option<DirectFile<'_>> {
        self.store.queueable()
    }

    /// The first step of a read of `len` bytes. `None`: it is not one run of whole units in the
    /// store, or not aligned there to `align` bytes; read it with [`Device::read_at`].
    pub fn begin_read(
        &self,
        offset: u64,
        len: u64,
        align: usize,
    ) -> Result<Option<Transfer<'_>>, DeviceError> {
        self.check(offset, len)?;
        let Some((segment, store_offset)) = self.run(offset, len, align) else { return Ok(None) };
        let watch = self.counting.begin(RequestKind::Read, len);
        let began = self.observation.begin();
        let (device, action) = (self, Action::Read);
        Ok(Some(Transfer { device, segment, action, offset, store_offset, began, watch, _shared: None }))
    }

    /// The first step of a write: encrypts the bytes where they are. `None`: nothing has been done;
    /// write it with [`Device::write_and_spoil`], which may have to wait for all transfers that have
    /// begun, so not on the thread that is to finish them.
    pub fn begin_write(
        &self,
        buf: &mut [u8],
        offset: u64,
        align: usize,
    ) -> Result<Option<Transfer<'_>>, DeviceError> {
        let len = buf.len() as u64;
        self.check_write(offset, len)?;
        let Some((segment, store_offset)) = self.run(offset, len, align) else { return Ok(None) };
        let shared = match self.partial.try_read() {
            Ok(shared) => shared,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        let mut watch = self.counting.begin(RequestKind::Write, len);
        let began = self.observation.begin();
        if let Mapping::Encrypted { first_unit, cipher, .. } = &segment.mapping {
            cipher
                .encrypt_sectors(buf, first_unit + (offset - segment.start) / u64::from(cipher.unit_bytes()));
            watch.lap(Layer::Cipher);
        }
        let (device, action) = (self, Action::Write);
        Ok(Some(Transfer {
            device,
            segment,
            action,
            offset,
            store_offset,
            began,
            watch,
            _shared: Some(shared),
        }))
    }

    /// The stored segment that has all of a request of whole units, and where in the store they are.
    fn run(&self, offset: u64, len: u64, align: usize) -> Option<(&Segment, u64)> {
        let segment = self.layout.find(offset)?;
        let within = offset - segment.start;
        let (Mapping::Encrypted { store_offset, .. } | Mapping::Plain { store_offset }) = &segment.mapping
        else {
            return None;
        };
        let store_offset = store_offset + within;
        let whole = offset.is_multiple_of(self.granule) && len.is_multiple_of(self.granule);
        let align = align as u64;
        let fits = len > 0 && len <= segment.len - within && whole;
        (fits && store_offset.is_multiple_of(align) && len.is_multiple_of(align))
            .then_some((segment, store_offset))
    }
}

impl Transfer<'_> {
    /// Where in the store's file the bytes lie.
    pub fn store_offset(&self) -> u64 {
        self.store_offset
    }

    /// The second step, in the buffer from or to which the bytes were moved. Where they were not
    /// `moved` in full, the store does it now, once more and in its ordinary way: it knows what an
    /// error means.
    pub fn finish(mut self, buf: &mut [u8], moved: bool) -> Result<(), DeviceError> {
        let device = self.device;
        match self.action {
            Action::Write => {
                let written = if moved { Ok(()) } else { device.store.write_at(buf, self.store_offset) };
                device.remembered(self.offset, buf.len() as u64, written.map_err(DeviceError::from))?;
            }
            Action::Read if !moved => device.store.read_at(buf, self.store_offset)?,
            _ => {}
        }
        self.watch.lap(Layer::Store);
        if let Mapping::Encrypted { first_unit, cipher, .. } = &self.segment.mapping
            && self.action == Action::Read
        {
            let unit = (self.offset - self.segment.start) / u64::from(cipher.unit_bytes());
            cipher.decrypt_sectors(buf, first_unit + unit);
            self.watch.lap(Layer::Cipher);
        }
        device.counting.note(&self.watch);
        device.observation.note(self.action, self.offset, buf.len() as u64, self.began);
        Ok(())
    }
}
