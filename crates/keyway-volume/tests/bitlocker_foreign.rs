//! The volumes that Windows encrypted: their metadata reads and writes back to the same bytes.

use keyway_store::{Caching, FileStore, OpenMode, Store};
use keyway_testkit::{Row, Table, unpack_xz, volumes};
use keyway_volume::bitlocker::{
    BOOT_SECTOR_BYTES, Block, BootKind, BootSector, Entries, REGION_BYTES, Value,
};
use tempfile::NamedTempFile;

/// Every volume of the index, unpacked one after the other.
fn each(mut work: impl FnMut(&Row, &NamedTempFile, &FileStore)) {
    let Some(folder) = volumes() else { return };
    let folder = folder.join("bitlocker");
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let Some(file) = unpack_xz(&folder.join(row.get("file"))) else { return };
        let store = FileStore::open(file.path(), OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
        work(row, &file, &store);
    }
}

fn region(store: &FileStore, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; REGION_BYTES];
    store.read_at(&mut bytes, offset).expect("inside the volume");
    bytes
}

#[test]
fn metadata_reads_and_writes_back_to_the_same_bytes() {
    each(|row, _, store| {
        let name = row.get("file");
        let mut sector = [0; BOOT_SECTOR_BYTES];
        store.read_at(&mut sector, 0).expect("the first sector");
        let boot = BootSector::parse(&sector).expect(name);
        assert_eq!(boot.kind == BootKind::ToGo, name.contains("togo"), "{name}");
        assert_eq!(boot.sector_bytes == 4096, name.contains("4k"), "{name}");
        assert_eq!(boot.eow.is_some(), name.contains("eow") || name.contains("partially"), "{name}");
        for copy in boot.copies {
            let region = region(store, copy);
            let block = Block::parse(&region).expect(name);
            assert_eq!(block.copies, boot.copies, "{name}");
            assert_eq!(block.dataset.volume.to_string(), row.get("volume_guid"), "{name}");
            let written = block.to_bytes().expect(name);
            assert_eq!(written, region[..written.len()], "{name}");
            assert!(region[written.len()..].iter().all(|byte| *byte == 0), "{name}");
            // Nothing of it was left as raw bytes but what Windows means to be so.
            assert!(raw(&block.dataset.entries).iter().all(|kind| *kind == 0x15), "{name}");
            assert!(block.validation.sealed().is_some(), "{name}");
        }
    });
}

/// The kinds of the entries that were kept as raw bytes.
fn raw(entries: &Entries) -> Vec<u16> {
    assert!(entries.rest.is_empty());
    let inside = |value: &Value| match value {
        Value::Raw { kind, .. } => vec![*kind],
        Value::StretchKey(stretch) => raw(&stretch.entries),
        Value::UseKey(used) => raw(&used.entries),
        Value::Protector(protector) => raw(&protector.entries),
        Value::ExternalKey(key) => raw(&key.entries),
        _ => vec![],
    };
    entries.list.iter().flat_map(|entry| inside(&entry.value)).collect()
}
