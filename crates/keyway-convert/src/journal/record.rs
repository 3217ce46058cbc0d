//! A record of the journal, as a page: what it says, and how its bytes are believed.
//!
//! ```text
//! offset size
//!      0   16  "KEYWAY-JOURNAL" 0 4; 0 3 before there were heads, 0 2 where all segments were kept whole
//!     16   16  the conversion's identifier
//!     32    8  sequence: one more than that of the record before it
//!     40    4  the step it belongs to
//!     44    4  what is kept: 0 the whole segment, 1 sums and parity, 2 sums and some of it ([`Redundancy`])
//!     48    8  bytes of that step that were done before
//!     56    8  the segment's target
//!     64    8  bytes of the segment; 0: it only says how far the step is
//!     72   16  checksum of what is kept: two sums over its 64-bit words
//!     88    8  sure: every record before this number was on the medium when this one was written
//!     96    8  floor: the target of every record before this number was
//!    104   16  from 4 on: checksum of the segment's source, as it lay on the medium
//!    120   16  from 4 on: checksum of the segment as it shall lie at its target
//!    136   32  from 4 on: HMAC-SHA-256 of the 136 bytes before, under a key of the volume's own
//!    168    4  CRC-32 of the 168 bytes before; up to 3 at 104, of the 104 bytes before
//! ```

use super::slots::{RECORD_BYTES, SLOTS, SlotTable};
use crate::redundancy::Redundancy;
use hmac::{Hmac, KeyInit, Mac};
use keyway_cipher::SectorCipher;
use keyway_secret::SecretBytes;
use keyway_store::AlignedBuf;
use sha2::{Digest, Sha256};

/// What a record starts with.
const MAGIC: [u8; 16] = *b"KEYWAY-JOURNAL\x00\x04";

/// What it started with before: without heads, and before that with every segment kept whole.
const BEFORE: [[u8; 16]; 2] = [*b"KEYWAY-JOURNAL\x00\x03", *b"KEYWAY-JOURNAL\x00\x02"];

/// Where the code is that says whose record it is, and what follows it.
const MAC_AT: usize = 136;
const CRC_AT: usize = 168;

/// Where the CRC-32 was before.
const CRC_BEFORE_AT: usize = 104;

/// The number of the unit that a key is made in: no medium has that many.
const KEY_UNIT: u64 = 1 << 50;

/// A checksum: two sums over 64-bit words.
pub(crate) type Sums = [u64; 2];

/// The checksum of a segment: the sum of its 64-bit words, and the sum of those sums. A sector that is
/// missing, old, torn or in another's place changes at least one of them but for chance, 1 in 2^64 or
/// less; nobody who could forge it gains anything, since they could as well forge the segment.
pub(crate) fn checksum(segment: &[u8]) -> Sums {
    checksum_on(EMPTY, segment)
}

/// The checksum of nothing.
pub(super) const EMPTY: Sums = [!0, 0];

/// That of a segment of which whole words have been summed up before.
pub(super) fn checksum_on([mut sum, mut sums]: Sums, more: &[u8]) -> Sums {
    let (words, rest) = more.as_chunks::<8>();
    for word in words {
        sum = sum.wrapping_add(u64::from_le_bytes(*word));
        sums = sums.wrapping_add(sum);
    }
    for byte in rest {
        sum = sum.wrapping_add(u64::from(*byte));
        sums = sums.wrapping_add(sum);
    }
    [sum, sums]
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its number.
    pub sequence: u64,
    /// The step it belongs to.
    pub step: u32,
    /// Bytes of that step that were done before.
    pub done: u64,
    /// Where its segment shall lie.
    pub target: u64,
    /// Bytes of its segment.
    pub len: u64,
    /// The records before this number were on the medium.
    pub sure: u64,
    /// The targets of the records before this number were on the medium.
    pub floor: u64,
    /// What is kept of its segment.
    pub redundancy: Redundancy,
    /// Checksum of the segment where it is read from, as it lay there.
    pub source: Sums,
    /// Checksum of the segment as it shall lie at its target.
    pub result: Sums,
}

impl Record {
    /// Bytes that are kept of its segment.
    pub fn kept_bytes(&self) -> u64 {
        self.redundancy.kept_bytes(self.len)
    }

    /// The page that it is put on the medium as; `kept` is the checksum of what is kept of its segment.
    pub(super) fn to_page(self, id: &[u8; 16], kept: Sums, key: Option<&JournalKey>) -> AlignedBuf {
        let words = |sums: Sums| sums.map(u64::to_le_bytes).concat();
        let head = [
            &MAGIC[..],
            id,
            &self.sequence.to_le_bytes(),
            &self.step.to_le_bytes(),
            &self.redundancy.code().to_le_bytes(),
            &self.done.to_le_bytes(),
            &self.target.to_le_bytes(),
            &self.len.to_le_bytes(),
            &words(kept),
            &self.sure.to_le_bytes(),
            &self.floor.to_le_bytes(),
            &words(self.source),
            &words(self.result),
        ];
        let mut bytes = head.concat();
        bytes.extend(key.map_or([0; 32], |key| key.code_of(&bytes)));
        let crc = crc32fast::hash(&bytes);
        bytes.extend(crc.to_le_bytes());
        let mut page = AlignedBuf::zeroed(RECORD_BYTES);
        page.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        page
    }
}

/// A record's page that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) record: Record,
    /// Checksum of what is kept of its segment.
    pub(super) kept: Sums,
}

impl Page {
    /// Reads it; `None` where it is no whole record of that conversion, or, where the key is known, not the volume's.
    pub(super) fn parse(
        page: &[u8],
        id: &[u8; 16],
        place: &SlotTable,
        key: Option<&JournalKey>,
    ) -> Option<Self> {
        let is_new = page.starts_with(&MAGIC);
        // Where there are heads all records are of this form: an older one is somebody's who would do without them.
        let is_old = BEFORE.iter().any(|magic| page.starts_with(magic)) && place.heads.is_empty();
        (is_new || is_old).then_some(())?;
        let (head, rest) = page.split_at_checked(if is_new { CRC_AT } else { CRC_BEFORE_AT })?;
        (crc32fast::hash(head).to_le_bytes() == *rest.first_chunk()?).then_some(())?;
        (head.get(16..32)? == id).then_some(())?;
        if let (true, Some(key)) = (is_new, key) {
            let (said, code) = head.split_at_checked(MAC_AT)?;
            key.signs(said, code).then_some(())?;
        }
        let u64_at = |at: usize| Some(u64::from_le_bytes(*head.get(at..)?.first_chunk()?));
        let sums_at = |at: usize| Some([u64_at(at)?, u64_at(at + 8)?]);
        let since = |at| if is_new { sums_at(at) } else { Some([0; 2]) };
        let record = Record {
            sequence: u64_at(32)?,
            step: u32::from_le_bytes(*head.get(40..)?.first_chunk()?),
            done: u64_at(48)?,
            target: u64_at(56)?,
            len: u64_at(64)?,
            sure: u64_at(88)?,
            floor: u64_at(96)?,
            redundancy: Redundancy::from_code(u32::from_le_bytes(*head.get(44..)?.first_chunk()?))?,
            source: since(104)?,
            result: since(120)?,
        };
        let ordered = record.floor <= record.sure && record.sure <= record.sequence;
        // No record waits for more than there are slots for; no conversion has that many segments.
        let possible = ordered
            && record.sequence - record.floor <= SLOTS as u64
            && record.sequence < 1 << 62
            && record.redundancy.is_possible(record.len)
            && record.kept_bytes() <= place.segment_bytes;
        possible.then_some(Self { record, kept: sums_at(72)? })
    }
}

/// What tells records of this volume's own conversion from others: made with one of its ciphers.
pub(crate) struct JournalKey(SecretBytes);

impl JournalKey {
    /// The key of the conversion `id` of a volume that has that cipher, before or after.
    pub(crate) fn of(cipher: &SectorCipher, id: &[u8; 16]) -> Self {
        let mut unit = vec![0; cipher.unit_bytes() as usize];
        let said = [&b"KEYWAY-JOURNALKY"[..], id].concat();
        unit.iter_mut().zip(said).for_each(|(to, from)| *to = from);
        cipher.encrypt_sectors(&mut unit, KEY_UNIT);
        let unit = SecretBytes::take(&mut unit);
        let mut key = Sha256::digest(&*unit);
        Self(SecretBytes::take(&mut key))
    }

    fn mac(&self, said: &[u8]) -> Option<Hmac<Sha256>> {
        // A key may have any length.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(said);
        Some(mac)
    }

    fn code_of(&self, said: &[u8]) -> [u8; 32] {
        self.mac(said).map_or([0; 32], |mac| mac.finalize().into_bytes().into())
    }

    fn signs(&self, said: &[u8], code: &[u8]) -> bool {
        self.mac(said).is_some_and(|mac| mac.verify_slice(code).is_ok())
    }
}
