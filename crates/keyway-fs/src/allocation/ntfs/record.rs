//! A record of the MFT: its fixups, and the attributes in it.

use super::super::error::{AllocationError, damaged};
use super::super::medium::{number, put, read};
use super::runs::Extents;
use keyway_store::Store;

/// The type of an attribute that holds a file's bytes, and what stands behind the last attribute.
pub(super) const DATA: u64 = 0x80;
pub(super) const END: u64 = 0xffff_ffff;

/// Fixups guard each 512 bytes of a record, whatever the sector size.
const GUARDED: usize = 512;

/// An attribute in a record.
pub(super) struct Attribute<'a> {
    pub(super) at: usize,
    pub(super) bytes: &'a [u8],
}

/// The attribute of that type and name; of a data stream only one whose bytes are in clusters of their own.
pub(super) fn find<'a>(record: &'a [u8], wanted: u64, name: &[u8]) -> Option<Attribute<'a>> {
    let mut at = number::<2>(record, 20) as usize;
    loop {
        let (kind, len) = (number::<4>(record, at), number::<4>(record, at.checked_add(4)?) as usize);
        let bytes = record.get(at..at.checked_add(len)?).filter(|_| kind != END && len >= 24)?;
        let (name_len, name_at) = (number::<1>(bytes, 9) as usize * 2, number::<2>(bytes, 10) as usize);
        if kind == wanted && bytes.get(name_at..name_at + name_len) == Some(name) {
            let elsewhere = number::<1>(bytes, 8) == 1 && len >= 64;
            return (elsewhere || wanted != DATA).then_some(Attribute { at, bytes });
        }
        at += len;
    }
}

/// Takes a record's fixups out: the last two bytes of each 512 are kept in front.
pub(super) fn unfixed(mut record: Vec<u8>) -> Result<Vec<u8>, AllocationError> {
    if !record.starts_with(b"FILE") {
        return damaged("its MFT");
    }
    let fixups = number::<2>(&record, 4) as usize;
    let sequence = number::<2>(&record, fixups);
    for i in 1..=record.len() / GUARDED {
        if number::<2>(&record, i * GUARDED - 2) != sequence {
            return damaged("a record that was torn");
        }
        let kept = (number::<2>(&record, fixups + 2 * i) as u16).to_le_bytes();
        put(&mut record, i * GUARDED - 2, &kept);
    }
    Ok(record)
}

/// Puts the fixups back.
pub(super) fn fixed(mut record: Vec<u8>) -> Vec<u8> {
    let fixups = number::<2>(&record, 4) as usize;
    let sequence = (number::<2>(&record, fixups) as u16).to_le_bytes();
    for i in 1..=record.len() / GUARDED {
        let end = i * GUARDED - 2;
        let kept = (number::<2>(&record, end) as u16).to_le_bytes();
        put(&mut record, fixups + 2 * i, &kept);
        put(&mut record, end, &sequence);
    }
    record
}

/// The MFT, and the copy of its first records: four of them, or as many as a cluster holds.
pub(super) struct Mft {
    all: Extents,
    mirror: Extents,
    /// Bytes of the mirror that count.
    mirrored: u64,
    record_bytes: u64,
}

impl Mft {
    /// `at` and `mirror_at` are their places as the boot sector has them, in bytes; the first record says where the
    /// others lie.
    pub(super) fn open(
        store: &dyn Store,
        (at, mirror_at): (u64, u64),
        record_bytes: u64,
        cluster: u64,
    ) -> Result<Self, AllocationError> {
        let stream = |record: &[u8], what| {
            let found = find(record, DATA, b"");
            let found = found.and_then(|data| {
                let counts = number::<8>(data.bytes, 48).min(number::<8>(data.bytes, 56));
                Some((Extents::of(data.bytes, cluster, store.size())?, counts))
            });
            found.map_or_else(|| damaged(what), Ok)
        };
        let first = unfixed(read(store, at, record_bytes)?)?;
        let (all, _) = stream(&first, "its MFT")?;
        if all.start() != Some(at) {
            return damaged("the place of its MFT");
        }
        let second = unfixed(all.read(store, record_bytes, record_bytes)?)?;
        let (mirror, counts) = stream(&second, "its MFT's mirror")?;
        if mirror.start() != Some(mirror_at) {
            return damaged("the place of its MFT's mirror");
        }
        let mirrored = counts.min(mirror.bytes());
        Ok(Self { all, mirror, mirrored, record_bytes })
    }

    /// A record without its fixups.
    pub(super) fn read(&self, store: &dyn Store, number: u64) -> Result<Vec<u8>, AllocationError> {
        unfixed(self.all.read(store, number * self.record_bytes, self.record_bytes)?)
    }

    /// Makes the mirror's copy of a record what the MFT has, where a cut between their writes has left it behind.
    pub(super) fn mend(&self, store: &dyn Store, number: u64) -> Result<bool, AllocationError> {
        let at = number * self.record_bytes;
        if at + self.record_bytes > self.mirrored {
            return Ok(false);
        }
        let record = self.all.read(store, at, self.record_bytes)?;
        // Nothing that is torn is copied.
        unfixed(record.clone())?;
        if self.mirror.read(store, at, self.record_bytes)? == record {
            return Ok(false);
        }
        self.mirror.write(store, at, &record)?;
        Ok(true)
    }

    /// Writes a record, and its copy where the mirror has one.
    ///
    /// Who mounts an NTFS may compare the two, and refuse where they differ (ntfs-3g does, whatever is in them). No order of
    /// two writes has no moment in which they do, so nothing comes between them: a conversion has them in its
    /// journal; elsewhere a power cut in that moment is for `ntfsfix` or `chkdsk` to mend.
    pub(super) fn write(
        &self,
        store: &dyn Store,
        number: u64,
        record: Vec<u8>,
    ) -> Result<(), AllocationError> {
        let at = number * self.record_bytes;
        let record = fixed(record);
        self.all.write(store, at, &record)?;
        if at + self.record_bytes <= self.mirrored {
            self.mirror.write(store, at, &record)?;
        }
        Ok(())
    }
}
