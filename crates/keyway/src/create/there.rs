//! What lies where a new volume goes, as far as that shows: who is asked whether it may be lost hears it.

use crate::detect::Lying;
use crate::disk::{Disk, DiskPartition, Holds};
use crate::medium;
use crate::shown::line;
use keyway_fs::Superblock;
use keyway_fs::superblock::VolumeInfo;
use keyway_store::Store;
use keyway_store::size::words;
use keyway_volume::NotAVolume;
use std::path::Path;

const NOISE: &str = "noise, as an encrypted volume is";

/// That in words; nothing where it can't be read.
pub(super) fn there(path: &Path) -> Option<String> {
    let store = medium::look(path).ok()?;
    if store.size() == 0 {
        return None;
    }
    let words = match Lying::on(&store).ok()? {
        Lying::Container(container) => container.name(),
        Lying::BitLocker => "a BitLocker volume",
        Lying::FileSystem(found) => return Some(file_system(&store, &found)),
        lying => match (Disk::on(path).ok()?, lying) {
            (Some(disk), _) => return Some(partitions(&disk)),
            (None, Lying::Other(NotAVolume::Known(what) | NotAVolume::FileSystem(what))) => what,
            (None, Lying::Other(NotAVolume::Zeros)) => "zeros at the beginning, and nothing that is known",
            (None, Lying::Noise) => NOISE,
            _ => "nothing that is known",
        },
    };
    Some(words.to_owned())
}

fn file_system(store: &dyn Store, found: &Superblock) -> String {
    let label = VolumeInfo::read(store, found.kind).ok().and_then(|about| about.label);
    // A label is anybody's text.
    let label = label.map(|label| format!(" \"{}\"", line(&label))).unwrap_or_default();
    let size = found.bytes.map(|bytes| format!(" of {}", words(bytes))).unwrap_or_default();
    format!("the {} file system{label}{size}", found.kind)
}

fn partitions(disk: &Disk) -> String {
    let table = disk.disk.to_uppercase();
    let hold = |partition: &DiskPartition| match partition.holds {
        Holds::BitLocker => "BitLocker".to_owned(),
        Holds::Converting => "a conversion that goes on".to_owned(),
        Holds::Noise => NOISE.to_owned(),
        Holds::FileSystem => partition.filesystem.unwrap_or("a file system").to_owned(),
        Holds::Other => "something else".to_owned(),
    };
    let told = |one: &DiskPartition| format!("{} ({}, {})", one.number, hold(one), words(one.size_bytes));
    let all: Vec<String> = disk.partitions.iter().map(told).collect();
    match &*all {
        [] => format!("a partition table ({table}) without partitions"),
        [one] => format!("a partition table ({table}) with the partition {one}"),
        all => format!("a partition table ({table}) with the partitions {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_is_told() {
        let file = tempfile::NamedTempFile::new().expect("temp");
        let told = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).expect("written");
            there(file.path())
        };
        assert_eq!(told(b""), None);
        let mut bytes = vec![0; 1 << 20];
        assert!(told(&bytes).is_some_and(|told| told.starts_with("zeros")));
        bytes[..8].copy_from_slice(b"KEYWYSED");
        assert!(told(&bytes).is_some_and(|told| told.contains("virtual drive")));
        let mut rng = keyway_store::SplitMix64::new(1);
        let noise: Vec<u8> = (0..1 << 20).map(|_| rng.below(256) as u8).collect();
        assert!(told(&noise).is_some_and(|told| told.starts_with("noise")));
        // An MBR with a partition of 1 MiB.
        let mut disk = vec![0; 4 << 20];
        disk[450] = 0x83;
        disk[454..458].copy_from_slice(&2048u32.to_le_bytes());
        disk[458..462].copy_from_slice(&2048u32.to_le_bytes());
        disk[510..512].copy_from_slice(&[0x55, 0xaa]);
        let disk = told(&disk).expect("a disk");
        assert_eq!(disk, "a partition table (MBR) with the partition 1 (something else, 1 MiB)");
    }
}
