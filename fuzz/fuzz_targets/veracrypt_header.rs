//! A decrypted VeraCrypt or TrueCrypt header whose fields lie: parsed, checked against a store of
//! some size, served. The key may be right and everything else hostile.
#![no_main]

use keyway_engine::{Access, Device};
use keyway_store::{Store, StoreError};
use keyway_volume::Format;
use keyway_volume::veracrypt::{Header, HeaderLocation, PLAIN_BYTES, Suite};
use libfuzzer_sys::fuzz_target;

/// Zeros without end: a store of any size that takes no memory.
struct Hollow(u64);

impl Store for Hollow {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let end = offset.checked_add(buf.len() as u64).expect("the engine adds without overflow");
        assert!(end <= self.0, "the engine reads past the end of the store");
        buf.fill(0);
        Ok(())
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let end = offset.checked_add(buf.len() as u64).expect("the engine adds without overflow");
        assert!(end <= self.0, "the engine writes past the end of the store");
        Ok(())
    }
    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        Ok(())
    }
    fn size(&self) -> u64 {
        self.0
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        false
    }
}

/// Gives the fields the checksums that a right header has, so that what lies behind them is
/// reached. Offsets as in the volume format specification, less the 64 bytes of salt.
fn mend_checksums(plain: &mut [u8; PLAIN_BYTES]) {
    let keys = crc32fast::hash(&plain[256 - 64..]);
    plain[72 - 64..76 - 64].copy_from_slice(&keys.to_be_bytes());
    let fields = crc32fast::hash(&plain[..252 - 64]);
    plain[252 - 64..256 - 64].copy_from_slice(&fields.to_be_bytes());
}

fuzz_target!(|data: &[u8]| {
    let Some((plain, rest)) = data.split_first_chunk::<PLAIN_BYTES>() else { return };
    let mut plain = *plain;
    let (Some(choice), Some(size)) = (rest.first(), rest.get(1..9)) else { return };
    let store_bytes = u64::from_le_bytes(size.try_into().expect("eight bytes"));
    let _ = Header::parse(&plain);
    mend_checksums(&mut plain);
    let Ok(Some(header)) = Header::parse(&plain) else { return };

    // What is written again reads the same.
    let again: [u8; PLAIN_BYTES] = header.serialise()[..].try_into().expect("a header's length");
    let again = Header::parse(&again).expect("our own header parses").expect("with its magic");
    assert_eq!(again.volume_bytes, header.volume_bytes);
    assert_eq!(again.sector_bytes, header.sector_bytes);

    let suites = Suite::all(Format::TrueCrypt);
    let suite = suites[usize::from(choice / 16) % suites.len()];
    let place = HeaderLocation::ALL[usize::from(choice % 16) % HeaderLocation::ALL.len()];
    let Ok(layout) = header.layout(place, suite, store_bytes) else { return };
    let device = Device::new(Box::new(Hollow(store_bytes)), layout, Access::ReadWrite)
        .expect("a layout that was checked fits its store");
    let mut buf = [0; 1536];
    for offset in [0, device.size() / 2, device.size().saturating_sub(700), u64::MAX - 100] {
        let _ = device.read_at(&mut buf[..700], offset);
        let _ = device.write_at(&buf[..700], offset);
        let _ = device.discard(offset, 700);
    }
});
