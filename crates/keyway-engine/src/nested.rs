//! A device is a store itself: what works on stores (file systems, another volume) works inside an open volume.

use crate::{Device, DeviceError};
use keyway_error::carry;
use keyway_store::{Operation, Store, StoreError};

/// The medium's own error as it is; what the device itself refuses keeps its meaning, its text and its errno.
fn put(operation: Operation, offset: u64, len: usize) -> impl Fn(DeviceError) -> StoreError {
    move |error| match error {
        DeviceError::Store(error) => error,
        other => {
            let errno = other.errno();
            StoreError::new(operation, "the volume", offset, len, carry(other, errno))
        }
    }
}

impl Store for Device {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        Self::read_at(self, buf, offset).map_err(put(Operation::Read, offset, buf.len()))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        Self::write_at(self, buf, offset).map_err(put(Operation::Write, offset, buf.len()))
    }

    fn flush(&self) -> Result<(), StoreError> {
        Self::flush(self).map_err(put(Operation::Flush, 0, 0))
    }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        let bytes = usize::try_from(len).unwrap_or(usize::MAX);
        Self::discard(self, offset, len).map_err(put(Operation::Discard, offset, bytes))
    }

    fn size(&self) -> u64 {
        Self::size(self)
    }

    fn sector_bytes(&self) -> u32 {
        Self::sector_bytes(self)
    }

    fn is_read_only(&self) -> bool {
        Self::is_read_only(self)
    }

    fn is_claimed(&self) -> bool {
        Self::is_claimed(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Access, Device, Layout, Mapping, Segment};
    use keyway_error::{Explain, Kind};
    use keyway_store::{MemStore, Store};

    fn plain(access: Access) -> Device {
        let segment = Segment { start: 0, len: 4096, mapping: Mapping::Plain { store_offset: 0 } };
        let layout = Layout::new(512, vec![segment]).expect("a layout");
        Device::new(Box::new(MemStore::new(4096)), layout, access).expect("a device")
    }

    #[test]
    fn a_volume_lies_in_another() {
        let outer: Box<dyn Store> = Box::new(plain(Access::ReadWrite));
        outer.write_at(b"letter", 700).expect("written");
        let segment = Segment { start: 0, len: 512, mapping: Mapping::Plain { store_offset: 512 } };
        let layout = Layout::new(512, vec![segment]).expect("a layout");
        let inner = Device::new(outer, layout, Access::ReadOnly).expect("a device");
        let mut text = [0; 6];
        inner.read_at(&mut text, 188).expect("read");
        assert_eq!(&text, b"letter");
    }

    #[test]
    fn what_a_device_refuses_keeps_its_meaning_its_text_and_its_errno() {
        let store: &dyn Store = &plain(Access::ReadOnly);
        let refused = store.write_at(&[0; 512], 0).expect_err("read-only");
        assert_eq!(refused.explain().kind, Kind::ReadOnly);
        assert_eq!(refused.to_string(), "the volume is open read-only");
        let past = store.read_at(&mut [0; 512], 4096).expect_err("past the end");
        assert_eq!(past.explain().kind, Kind::Usage);
        assert_eq!((refused.errno(), past.errno()), (30, 22));
    }
}
