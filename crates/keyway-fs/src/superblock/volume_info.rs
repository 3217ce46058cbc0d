//! What a file system says of itself beyond its superblock: its label, and whether it was left in order.
//!
//! Sources as in `parse`. All of it is for people and for caution: nothing here is believed further than that.

use super::kind::FileSystemKind;
use crate::fields::number;
use keyway_store::{AlignedBuf, Store, StoreError};

/// How much is read at a time, as direct I/O wants it.
const PAGE: u64 = 4096;
/// Of a root folder, so much is looked through for its label.
const MOST_OF_FOLDER: u64 = 64 << 10;

/// What a file system says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VolumeInfo {
    /// Its label, as it stands there: any text at all.
    pub label: Option<String>,
    /// It says that it was not unmounted in good order, or has faults. A journal that waits to be replayed is neither.
    pub unclean: bool,
}

impl VolumeInfo {
    /// Reads it of a file system of that kind. What can't be true is nothing.
    ///
    /// # Errors
    /// The medium failed.
    pub fn read(store: &dyn Store, kind: FileSystemKind) -> Result<Self, StoreError> {
        Ok(match kind {
            FileSystemKind::Ext => ext(&piece(store, 1024, 1024)?),
            FileSystemKind::Xfs => labelled(bytes_text(&piece(store, 108, 12)?)),
            FileSystemKind::Btrfs => labelled(bytes_text(&piece(store, (64 << 10) + 0x12b, 256)?)),
            FileSystemKind::Iso9660 => labelled(bytes_text(&piece(store, (32 << 10) + 40, 32)?)),
            FileSystemKind::Fat => fat(store)?.unwrap_or_default(),
            FileSystemKind::ExFat => exfat(store)?.unwrap_or_default(),
            FileSystemKind::Ntfs => ntfs(store)?.unwrap_or_default(),
            _ => Self::default(),
        })
    }
}

/// Bytes of a medium, fewer past its end; whole pages are read.
fn piece(store: &dyn Store, at: u64, len: u64) -> Result<Vec<u8>, StoreError> {
    let start = at - at % PAGE;
    let end = at.saturating_add(len).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX).min(store.size());
    if at >= end {
        return Ok(Vec::new());
    }
    // Asked for are a folder's pieces at most.
    let mut pages = AlignedBuf::zeroed((end - start) as usize);
    store.read_at(&mut pages, start)?;
    let wanted = pages.get((at - start) as usize..).unwrap_or_default();
    Ok(wanted.get(..len as usize).unwrap_or(wanted).to_vec())
}

const fn labelled(label: Option<String>) -> VolumeInfo {
    VolumeInfo { label, unclean: false }
}

/// Text that ends with a zero byte, or is filled up with spaces.
fn bytes_text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    text(&String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()))
}

fn utf16_text(bytes: &[u8]) -> Option<String> {
    let units: Vec<u16> =
        bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(*pair.first_chunk()?))).collect();
    text(&String::from_utf16_lossy(&units))
}

fn text(text: &str) -> Option<String> {
    let text = text.trim_end_matches(['\0', ' ']);
    (!text.is_empty()).then(|| text.to_owned())
}

/// As [`must_be_clean`](crate::files::must_be_clean) has it: it has faults, or was not unmounted and has no journal that would
/// mend that.
fn ext(sb: &[u8]) -> VolumeInfo {
    let state = number::<2>(sb, 0x3a).unwrap_or_default();
    let replayed = number::<4>(sb, 0x60).unwrap_or_default() & 0x4 != 0;
    let unclean = state & 2 != 0 || state & 1 == 0 && !replayed;
    VolumeInfo { label: sb.get(0x78..0x88).and_then(bytes_text), unclean }
}

/// The boot sector's own label is what it was formatted with; the one in the root folder is the newer.
fn fat(store: &dyn Store) -> Result<Option<VolumeInfo>, StoreError> {
    let boot = piece(store, 0, 512)?;
    let Some(shape) = FatShape::of(&boot) else { return Ok(None) };
    // The first byte after the drive's number: its lowest bit is Linux' and mkfs.fat's word for "in use".
    let mark = if shape.wide { 65 } else { 37 };
    let marked = boot.get(mark).is_some_and(|byte| byte & 1 != 0);
    // Windows' is a bit of the table's second entry, which is set while all is well.
    let entry = piece(store, shape.table, 8)?;
    let in_order = match (shape.wide, shape.clusters) {
        (true, _) => number::<4>(&entry, 4).is_none_or(|entry| entry & 1 << 27 != 0),
        (false, 4085..) => number::<2>(&entry, 2).is_none_or(|entry| entry & 1 << 15 != 0),
        (false, _) => true,
    };
    let folder = piece(store, shape.root, shape.root_bytes.min(MOST_OF_FOLDER))?;
    // An entry that is a label (8) and no part of a long name (0xf), before the one that ends the folder.
    let used = folder.chunks_exact(32).take_while(|entry| entry.first() != Some(&0));
    let mut labels = used
        .filter(|entry| entry.first() != Some(&0xe5) && entry.get(11).is_some_and(|kind| kind & 0x3f == 8));
    let label = match labels.next() {
        Some(entry) => entry.get(..11).and_then(bytes_text),
        None => boot.get(if shape.wide { 71..82 } else { 43..54 }).and_then(bytes_text),
    };
    Ok(Some(VolumeInfo { label: label.filter(|label| label != "NO NAME"), unclean: marked || !in_order }))
}

/// Where the parts of a FAT are, in bytes.
struct FatShape {
    /// FAT32.
    wide: bool,
    table: u64,
    root: u64,
    root_bytes: u64,
    clusters: u64,
}

impl FatShape {
    fn of(boot: &[u8]) -> Option<Self> {
        let sector = number::<2>(boot, 11).filter(|bytes| (512..=4096).contains(bytes))?;
        let cluster = number::<1>(boot, 13).filter(|sectors| *sectors > 0)?.checked_mul(sector)?;
        let (reserved, tables) = (number::<2>(boot, 14)?, number::<1>(boot, 16)?);
        let entries = number::<2>(boot, 17)?;
        let short = number::<2>(boot, 22)?;
        let wide = short == 0;
        let table_sectors = if wide { number::<4>(boot, 36)? } else { short };
        let sectors = match number::<2>(boot, 19)? {
            0 => number::<4>(boot, 32)?,
            few => few,
        };
        let table = reserved.checked_mul(sector)?;
        let behind = tables.checked_mul(table_sectors)?.checked_mul(sector)?.checked_add(table)?;
        let folder = entries.checked_mul(32)?;
        let data = behind.checked_add(folder.checked_next_multiple_of(sector)?)?;
        let clusters = sectors.checked_mul(sector)?.checked_sub(data)? / cluster;
        let first = number::<4>(boot, 44).unwrap_or_default().saturating_sub(2);
        let (root, root_bytes) = match wide {
            true => (first.checked_mul(cluster)?.checked_add(data)?, cluster),
            false => (behind, folder),
        };
        Some(Self { wide, table, root, root_bytes, clusters })
    }
}

fn exfat(store: &dyn Store) -> Result<Option<VolumeInfo>, StoreError> {
    let boot = piece(store, 0, 512)?;
    let unclean = number::<2>(&boot, 106).is_some_and(|flags| flags & 2 != 0);
    let root = || {
        let sector = number::<1>(&boot, 108).filter(|by| (9..=12).contains(by))?;
        let cluster = number::<1>(&boot, 109).filter(|by| *by <= 25 - sector)? + sector;
        let first = number::<4>(&boot, 96)?.checked_sub(2)?;
        let at = (number::<4>(&boot, 88)? << sector).checked_add(first << cluster)?;
        Some((at, 1u64 << cluster))
    };
    let Some((at, bytes)) = root() else { return Ok(Some(VolumeInfo { label: None, unclean })) };
    let folder = piece(store, at, bytes.min(MOST_OF_FOLDER))?;
    let named = folder
        .chunks_exact(32)
        .take_while(|entry| entry.first() != Some(&0))
        .find(|entry| entry.first() == Some(&0x83));
    let label = named.and_then(|entry| {
        let units = usize::from(*entry.get(1)?).min(11);
        utf16_text(entry.get(2..2 + 2 * units)?)
    });
    Ok(Some(VolumeInfo { label, unclean }))
}

/// `$Volume`, the fourth record of the table: its name and its flags are always within the record.
fn ntfs(store: &dyn Store) -> Result<Option<VolumeInfo>, StoreError> {
    let boot = piece(store, 0, 512)?;
    let place = || {
        let sector = number::<2>(&boot, 11).filter(|bytes| (512..=4096).contains(bytes))?;
        // Above 128: two to the power of what is lacking to 256.
        let cluster = match number::<1>(&boot, 13)? {
            0 => None,
            few @ 1..=128 => few.checked_mul(sector),
            by => 1u64.checked_shl(256 - by as u32)?.checked_mul(sector),
        }?;
        let record = match number::<1>(&boot, 64)? {
            0 => None,
            clusters @ 1..=127 => clusters.checked_mul(cluster),
            by => 1u64.checked_shl(256 - by as u32),
        }?;
        let at = number::<8>(&boot, 48)?.checked_mul(cluster)?.checked_add(record.checked_mul(3)?)?;
        (512..=MOST_OF_FOLDER).contains(&record).then_some((at, record))
    };
    let Some((at, len)) = place() else { return Ok(None) };
    Ok(volume_record(piece(store, at, len)?))
}

fn volume_record(mut record: Vec<u8>) -> Option<VolumeInfo> {
    if !record.starts_with(b"FILE") {
        return None;
    }
    // The last two bytes of each 512 lie in an array of their own, behind one that stands in their place.
    let (fixups, count) = (number::<2>(&record, 4)? as usize, number::<2>(&record, 6)? as usize);
    for i in 1..count {
        let (from, to) = (fixups.checked_add(2 * i)?, (512 * i).checked_sub(2)?);
        let kept: [u8; 2] = *record.get(from..)?.first_chunk()?;
        record.get_mut(to..to.checked_add(2)?)?.copy_from_slice(&kept);
    }
    let mut info = VolumeInfo::default();
    let mut at = number::<2>(&record, 20)? as usize;
    while let Some(attribute) = record.get(at..) {
        let (Some(kind), Some(len)) = (number::<4>(attribute, 0), number::<4>(attribute, 4)) else { break };
        if kind == 0xffff_ffff || len < 24 {
            break;
        }
        let content = || {
            let (len, from) = (number::<4>(attribute, 16)? as usize, number::<2>(attribute, 20)? as usize);
            let resident = number::<1>(attribute, 8)? == 0;
            attribute.get(from..from.checked_add(len)?).filter(|_| resident)
        };
        match kind {
            0x60 => info.label = content().and_then(utf16_text),
            0x70 => {
                info.unclean =
                    content().and_then(|content| number::<2>(content, 10)).is_some_and(|flags| flags & 1 != 0)
            }
            _ => {}
        }
        at = at.checked_add(len as usize)?;
    }
    Some(info)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Superblock;
    use keyway_store::{Caching, FileStore, MemStore, OpenMode};
    use keyway_testkit::{Rng, require_tool};
    use std::process::Command;

    /// What is read of what that tool makes in a file of so many MiB; `None` after a visible skip.
    fn made(
        tool: &str,
        mebibytes: u64,
        words: &[&str],
        change: impl FnOnce(&std::fs::File),
    ) -> Option<VolumeInfo> {
        let tool = require_tool(tool)?;
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(mebibytes << 20).expect("sized");
        let done = Command::new(tool)
            .env("LC_ALL", "C.UTF-8")
            .args(words)
            .arg(file.path())
            .output()
            .expect("it starts");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        change(file.as_file());
        let store = FileStore::open(file.path(), OpenMode::ReadOnly, Caching::Buffered).expect("it opens");
        let found = Superblock::read(&store).expect("readable").expect("it is known");
        Some(VolumeInfo::read(&store, found.kind).expect("readable"))
    }

    #[test]
    fn labels_are_as_their_own_tools_wrote_them() {
        let cases: [(&str, u64, &[&str], &str); 9] = [
            ("mkfs.ext4", 8, &["-q", "-L", "../../etc"], "../../etc"),
            ("mkfs.ext4", 8, &["-q", "-L", "two\nlines"], "two\nlines"),
            ("mkfs.fat", 4, &["-F", "12", "-n", "TWELVE"], "TWELVE"),
            ("mkfs.fat", 16, &["-F", "16", "-n", "A STICK"], "A STICK"),
            ("mkfs.fat", 64, &["-F", "32", "-n", "WIDE"], "WIDE"),
            ("mkfs.exfat", 8, &["-L", "Größe"], "Größe"),
            ("mkfs.ntfs", 8, &["-q", "-F", "-Q", "-L", "My Stick 漢"], "My Stick 漢"),
            ("mkfs.btrfs", 128, &["-q", "-L", "a tree"], "a tree"),
            ("mkfs.xfs", 512, &["-q", "-L", "eks"], "eks"),
        ];
        for (tool, mebibytes, words, label) in cases {
            let Some(info) = made(tool, mebibytes, words, |_| ()) else { continue };
            assert_eq!((info.label.as_deref(), info.unclean), (Some(label), false), "{tool}");
        }
        let none = made("mkfs.fat", 16, &["-F", "16"], |_| ());
        assert!(none.is_none_or(|info| info.label.is_none()));
    }

    #[test]
    fn what_was_left_in_use_says_so() {
        use std::os::unix::fs::FileExt;
        let write = |at: u64, bytes: &'static [u8]| {
            move |file: &std::fs::File| file.write_all_at(bytes, at).expect("room")
        };
        let cases = [
            made("mkfs.ext4", 8, &["-q"], write(1024 + 0x3a, &[3, 0])),
            made("mkfs.ext4", 8, &["-q", "-O", "^has_journal"], write(1024 + 0x3a, &[0, 0])),
            made("mkfs.fat", 16, &["-F", "16"], write(37, &[1])),
            made("mkfs.fat", 64, &["-F", "32"], write(65, &[1])),
            made("mkfs.exfat", 8, &[], write(106, &[2, 0])),
        ];
        for (i, info) in cases.into_iter().enumerate() {
            assert!(info.is_none_or(|info| info.unclean), "case {i}");
        }
    }

    #[test]
    fn what_lies_is_nothing_and_nothing_fails() {
        let kinds = [
            FileSystemKind::Ext,
            FileSystemKind::Fat,
            FileSystemKind::ExFat,
            FileSystemKind::Ntfs,
            FileSystemKind::Xfs,
            FileSystemKind::Btrfs,
            FileSystemKind::Iso9660,
            FileSystemKind::SquashFs,
        ];
        for seed in 0..300u64 {
            let mut noise = Rng::new(seed).bytes((seed * 331 % 90_000) as usize);
            // Nearly an NTFS, an exFAT, a FAT: the places that it names are anywhere.
            for (at, bytes) in
                [(11, &[0, 2, 8][..]), (64, &[0xf6]), (108, &[9, 3]), (48, &[1, 0, 0, 0, 0, 0, 0, 0])]
            {
                if let (true, Some(room)) = (seed % 3 > 0, noise.get_mut(at..at + bytes.len())) {
                    room.copy_from_slice(bytes);
                }
            }
            let store = MemStore::from_vec(noise);
            for kind in kinds {
                VolumeInfo::read(&store, kind).expect("memory can be read");
            }
        }
    }
}
