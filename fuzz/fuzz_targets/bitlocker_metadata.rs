//! Any bytes as a BitLocker volume's boot sector and metadata: reading never panics, loses nothing and
//! writes nothing; what opens has a layout that a device takes.
//!
//! The first byte of the input chooses what the rest is: entries, a startup key, a block with its
//! checksum made right, or a whole small volume.
#![no_main]

use keyway_engine::{Access, Device};
use keyway_secret::SecretBytes;
use keyway_store::{Store, StoreError};
use keyway_volume::bitlocker::{
    Block, BootSector, Entries, REGION_BYTES, StartupKey, UnlockRequest, look, unlock,
};
use libfuzzer_sys::fuzz_target;

/// As long as the largest of the volumes that Windows made for the corpus.
const VOLUME_BYTES: u64 = 128 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((choice, data)) = data.split_first() else { return };
    match choice % 4 {
        0 => entries(data),
        1 => startup_key(data),
        2 => block(data),
        _ => volume(data),
    }
});

fn entries(data: &[u8]) {
    let mut written = Vec::new();
    Entries::parse(data).write(&mut written).expect("no longer than it was");
    assert_eq!(written, data);
}

fn startup_key(data: &[u8]) {
    if let Ok(key) = StartupKey::parse(&SecretBytes::copy_of(data)) {
        let again = StartupKey::parse(&key.to_bytes()).expect("what we write");
        assert_eq!((again.id, again.changed, again.name), (key.id, key.changed, key.name));
        assert!(again.key.bytes.same_as(&key.key.bytes));
    }
}

/// The bytes as a region, with a checksum that is right where there is room for one.
fn region(data: &[u8]) -> Vec<u8> {
    let mut region = data.get(..REGION_BYTES).unwrap_or(data).to_vec();
    region.resize(REGION_BYTES, 0);
    region[..8].copy_from_slice(b"-FVE-FS-");
    let len = usize::from(u16::from_le_bytes([region[8], region[9]])) * 16;
    if let Some(crc) = region.get(..len).map(crc32fast::hash)
        && let Some(slot) = region.get_mut(len + 4..len + 8)
    {
        slot.copy_from_slice(&crc.to_le_bytes());
    }
    region
}

fn block(data: &[u8]) {
    let region = region(data);
    let Ok(block) = Block::parse(&region) else { return };
    // A block that fills its region to the end leaves less room than a writer asks for.
    if let Ok(written) = block.to_bytes() {
        assert_eq!(written, region[..written.len()]);
    }
}

fn volume(data: &[u8]) {
    let (sector, rest) = data.split_at_checked(512).unwrap_or((data, &[]));
    let mut first = sector.to_vec();
    first.resize(512, 0);
    let boot = first.first_chunk().and_then(|sector| BootSector::parse(sector).ok());
    let (block, rest) = rest.split_at_checked(4096).unwrap_or((rest, &[]));
    let region = region(block);
    let mut parts = vec![(0, first)];
    if let Some(boot) = boot {
        parts.extend(boot.copies.into_iter().map(|at| (at, region.clone())));
        // Encrypt-on-write information, with its bitmaps behind it.
        parts.extend(boot.eow.into_iter().flatten().map(|at| (at, rest.to_vec())));
    }
    let store = Sparse { parts };
    let seen = look(&store);
    let unlocked = unlock(&store, &UnlockRequest::new(&[]));
    assert!(seen.is_ok() || unlocked.is_err());
    let Ok(unlocked) = unlocked else { return };
    let ends = unlocked.layout.segments().iter().flat_map(|s| [s.start, s.start + s.len - 512]);
    let ends: Vec<u64> = ends.take(1000).collect();
    let device = Device::new(Box::new(store), unlocked.layout, Access::ReadOnly).expect("it fits");
    for at in ends {
        device.read_at(&mut [0; 512], at).expect("all of it lies in the store");
    }
}

/// A volume that is zeros but for some parts. Takes no writes.
struct Sparse {
    parts: Vec<(u64, Vec<u8>)>,
}

impl Store for Sparse {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        assert!(offset.checked_add(buf.len() as u64).is_some_and(|end| end <= VOLUME_BYTES), "past the end");
        buf.fill(0);
        for (at, bytes) in &self.parts {
            let end = at.saturating_add(bytes.len() as u64).min(offset + buf.len() as u64);
            let start = offset.max(*at);
            if start < end {
                let piece = &bytes[(start - at) as usize..(end - at) as usize];
                buf[(start - offset) as usize..][..piece.len()].copy_from_slice(piece);
            }
        }
        Ok(())
    }
    fn write_at(&self, _: &[u8], _: u64) -> Result<(), StoreError> {
        panic!("opening wrote")
    }
    fn flush(&self) -> Result<(), StoreError> {
        panic!("opening flushed")
    }
    fn discard(&self, _: u64, _: u64) -> Result<(), StoreError> {
        panic!("opening discarded")
    }
    fn size(&self) -> u64 {
        VOLUME_BYTES
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
    fn is_read_only(&self) -> bool {
        true
    }
}
