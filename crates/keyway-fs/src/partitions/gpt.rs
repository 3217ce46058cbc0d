//! A GPT: its header, which counts where both check sums fit, and the copy at the end of the disk where it does not.
//!
//! Source: UEFI specification 2.10, section 5.3 ("GUID Partition Table (GPT) Disk Layout").

use super::{Partition, bytes, number};
use keyway_store::{Store, StoreError};

/// Bytes of a header that are read: longer ones have nothing more that counts, and must fit a sector.
const HEADER: std::ops::RangeInclusive<u64> = 92..=512;

/// Bytes of an entry.
const ENTRY: std::ops::RangeInclusive<u64> = 128..=4096;

/// All entries together: the usual 128 entries have 16 KiB.
const MOST_BYTES: u64 = 1 << 20;

/// The partitions; nothing where neither copy is in order.
pub(super) fn read(store: &dyn Store) -> Result<Option<Vec<Partition>>, StoreError> {
    // An image does not say what sectors its disk had.
    for sector in [u64::from(store.sector_bytes()), 512, 4096] {
        let last = (store.size() / sector).saturating_sub(1);
        for at in [1, last] {
            if let Some(found) = copy(store, sector, at)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// The partitions by the header in that sector.
fn copy(store: &dyn Store, sector: u64, at: u64) -> Result<Option<Vec<Partition>>, StoreError> {
    let Some(header) = at.checked_mul(sector).map(|at| bytes(store, at, 512)).transpose()?.flatten() else {
        return Ok(None);
    };
    let Some(array) = Array::of(&header, sector, at) else { return Ok(None) };
    let Some(entries) = bytes(store, array.start, array.bytes)? else { return Ok(None) };
    if crc32([&*entries]) != array.sum {
        return Ok(None);
    }
    let entries = (1..).zip(entries.chunks_exact(array.entry));
    Ok(Some(entries.filter_map(|(number, entry)| partition(entry, number, sector, store.size())).collect()))
}

/// Where the entries are.
struct Array {
    start: u64,
    bytes: usize,
    entry: usize,
    sum: u64,
}

impl Array {
    /// As the header says that lies in its own sector and has the right sum.
    fn of(header: &[u8], sector: u64, at: u64) -> Option<Self> {
        let length = number::<4>(header, 12).filter(|length| HEADER.contains(length))?;
        let length = usize::try_from(length).ok()?;
        let (before, behind) = (header.get(..16)?, header.get(20..length)?);
        let sound = header.starts_with(b"EFI PART")
            && crc32([before, &[0; 4], behind]) == number::<4>(header, 16)?
            && number::<8>(header, 24)? == at;
        let entry =
            number::<4>(header, 84).filter(|entry| ENTRY.contains(entry) && entry.is_multiple_of(8))?;
        let bytes =
            number::<4>(header, 80)?.checked_mul(entry).filter(|bytes| (1..=MOST_BYTES).contains(bytes))?;
        let start = number::<8>(header, 72)?.checked_mul(sector)?;
        sound.then_some(Self {
            start,
            bytes: usize::try_from(bytes).ok()?,
            entry: usize::try_from(entry).ok()?,
            sum: number::<4>(header, 88)?,
        })
    }
}

fn partition(entry: &[u8], number: u32, sector: u64, disk: u64) -> Option<Partition> {
    let kind: &[u8; 16] = entry.first_chunk()?;
    let (first, last) = (super::number::<8>(entry, 32)?, super::number::<8>(entry, 40)?);
    if *kind == [0; 16] || first == 0 {
        return None;
    }
    let bytes = last.checked_sub(first)?.checked_add(1)?.checked_mul(sector)?;
    let partition = Partition::on(disk, number, (first.checked_mul(sector)?, bytes))?;
    let units =
        entry.get(56..128)?.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(*pair.first_chunk()?)));
    let name: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    let name = (!name.is_empty()).then(|| String::from_utf16_lossy(&name));
    Some(Partition { purpose: purpose(kind), name, ..partition })
}

fn purpose(kind: &[u8; 16]) -> String {
    let [a, b, c, d, e, f, g, h, rest @ ..] = kind;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let (node, clock) = (rest.get(2..).unwrap_or_default(), rest.get(..2).unwrap_or_default());
    let id = [hex(&[*d, *c, *b, *a]), hex(&[*f, *e]), hex(&[*h, *g]), hex(clock), hex(node)].join("-");
    let word = match &*id {
        "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7" => "Microsoft basic data",
        "E3C9E316-0B5C-4DB8-817D-F92DF00215AE" => "Microsoft reserved",
        "DE94BBA4-06D1-4D40-A16A-BFD50179D6AC" => "Windows recovery",
        "C12A7328-F81F-11D2-BA4B-00A0C93EC93B" => "EFI system",
        "0FC63DAF-8483-4772-8E79-3D69D8477DE4" => "Linux file system",
        "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F" => "Linux swap",
        "E6D6D379-F507-44C2-A23C-238F2A3DF928" => "Linux LVM",
        "CA7D7CCB-63ED-4C53-861C-1742536059CC" => "LUKS",
        _ => return id,
    };
    word.to_owned()
}

/// CRC-32 of the parts in a row.
fn crc32<const N: usize>(parts: [&[u8]; N]) -> u64 {
    let mut sum = crc32fast::Hasher::new();
    parts.into_iter().for_each(|part| sum.update(part));
    sum.finalize().into()
}
