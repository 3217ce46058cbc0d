//! What a writer of exFAT reads before it writes: the boot region, chains, and the file system's own parts.

use super::clusters::{Clusters, FIRST, Piece, Places};
use super::entries::Entries;
use super::folder::{self, Known};
use super::names::Capitals;
use super::{END, FLAGS, PERCENT, SUMMED, damaged};
use crate::exfat::{Boot, ENTRY, LARGEST_FOLDER, sum32};
use crate::fields::number;
use crate::files::error::FilesError;
use crate::files::window::Window;
use std::collections::{HashMap, HashSet};

/// The flags' second byte.
const FLAGS_END: usize = FLAGS + 1;

/// Whether the boot region is what its sum was made of (3.4).
pub(super) fn must_be_summed(window: &Window, sector_bytes: u64) -> Result<(), FilesError> {
    let mut region = vec![0; ((SUMMED + 1) * sector_bytes) as usize];
    window.read_exact_at(&mut region, 0).map_err(FilesError::from_io)?;
    let summed = region.iter().take((SUMMED * sector_bytes) as usize).enumerate();
    let summed = summed.filter(|(i, _)| !matches!(*i, FLAGS | FLAGS_END | PERCENT));
    let sum = sum32(summed.map(|(_, byte)| *byte));
    match number::<4>(&region, (SUMMED * sector_bytes) as usize) == Some(u64::from(sum)) {
        true => Ok(()),
        false => Err(damaged("its boot region has another check sum")),
    }
}

/// Follows a chain: to its end, or for so many clusters, behind which it must end.
pub(super) fn chain(
    window: &Window,
    boot: &Boot,
    first: u32,
    count: Option<u64>,
    contiguous: bool,
) -> Result<Vec<u32>, FilesError> {
    let astray = || damaged("a chain leads to a cluster that does not exist");
    let exists = |cluster: u32| cluster.checked_sub(FIRST).is_some_and(|index| index < boot.clusters);
    if let (Some(count), true) = (count, contiguous) {
        let end =
            u64::from(first).checked_add(count).and_then(|end| u32::try_from(end).ok()).ok_or_else(astray)?;
        return match count > 0 && exists(first) && exists(end - 1) {
            true => Ok((first..end).collect()),
            false => Err(astray()),
        };
    }
    let most = count.unwrap_or(LARGEST_FOLDER / boot.cluster).min(u64::from(boot.clusters));
    let (mut all, mut seen, mut at) = (Vec::new(), HashSet::new(), first);
    while at != END {
        if !exists(at) {
            return Err(astray());
        }
        if all.len() as u64 >= most || !seen.insert(at) {
            return Err(damaged("a chain is longer than it can be"));
        }
        all.push(at);
        let mut next = [0; 4];
        let place = boot.table + u64::from(at) * 4;
        window.read_exact_at(&mut next, place).map_err(FilesError::from_io)?;
        at = u32::from_le_bytes(next);
    }
    match count.is_none_or(|count| count == all.len() as u64) {
        true => Ok(all),
        false => Err(damaged("a chain ends too early")),
    }
}

/// The clusters of one of the file system's own parts, and where its bytes lie.
pub(super) fn parts(
    window: &Window,
    boot: &Boot,
    entry: &[u8; ENTRY],
    bytes: u64,
    lengths: std::ops::RangeInclusive<u64>,
) -> Result<(Places, Vec<u32>), FilesError> {
    let (first, len) =
        (number::<4>(entry, 20).unwrap_or_default(), number::<8>(entry, 24).unwrap_or_default());
    let most = u64::from(boot.clusters) * boot.cluster;
    if !lengths.contains(&len) || len > most {
        return Err(damaged("one of its own parts has no such length"));
    }
    let chain = chain(window, boot, first as u32, Some(len.div_ceil(boot.cluster)), false)?;
    let pieces: Vec<Piece> = chain.iter().map(|cluster| *cluster..*cluster + 1).collect();
    Ok((Clusters::places((boot.heap, boot.cluster), &pieces, bytes)?, chain))
}

pub(super) fn must_be_used(clusters: &Clusters, chain: &[u32]) -> Result<(), FilesError> {
    match chain.iter().all(|cluster| clusters.is_used(*cluster)) {
        true => Ok(()),
        false => Err(damaged("its bitmap calls clusters free that are in use")),
    }
}

/// What is in a folder by its names in capitals.
pub(super) fn by_name(
    capitals: &Capitals,
    sets: Vec<(Vec<u64>, Entries)>,
) -> Result<HashMap<Vec<u16>, Known>, FilesError> {
    let mut names = HashMap::new();
    for (places, set) in sets {
        let (name, known) = folder::known(places, &set)?;
        if names.insert(capitals.of(&name), known).is_some() {
            return Err(damaged("two files of one name in a folder"));
        }
    }
    Ok(names)
}
