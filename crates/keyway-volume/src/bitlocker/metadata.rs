//! The three copies of the metadata: which are good, and which one counts.
//!
//! Every change takes at least one nonce, so among good copies of one volume the one with the
//! highest nonce counter is the newest. Whoever rewrites the metadata writes copy after copy; a
//! power cut in between leaves old and new ones, all of them whole, and the newest counts.

use super::block::{Block, REGION_BYTES};
use super::boot::{BOOT_SECTOR_BYTES, BootFault, BootKind, BootSector};
use super::error::{BitLockerError, CopyFault, Unsupported};
use super::{first_sector, search};
use keyway_store::{Store, StoreError};
use serde::{Serialize, Serializer};
use std::fmt;

/// Copies of the metadata in a volume.
pub(crate) const COPIES: usize = 3;

/// Larger than any volume: a place behind this is no place.
const LARGEST: u64 = 1 << 60;

/// What a volume's boot sector and metadata say.
#[derive(Clone)]
pub struct Metadata {
    /// The first sector.
    pub boot: BootSector,
    /// Why that is not what lies there but was made up from the metadata: the real one is lost.
    pub lost_boot: Option<BootFault>,
    /// Whether what lies there nevertheless is this volume's own, damaged, and nobody else's.
    pub lost_in_part: bool,
    /// The copies, in the boot sector's order.
    pub copies: [MetadataCopy; COPIES],
    /// Which of them counts: the newest good one.
    pub chosen: usize,
    block: Block,
}

/// One copy of the metadata.
#[derive(Debug, Clone)]
pub struct MetadataCopy {
    /// Its first byte in the volume.
    pub offset: u64,
    /// What it says, or what is wrong with it.
    pub block: Result<Block, CopyFault>,
}

/// How a copy stands to the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyState {
    /// It is as new as the one that counts.
    Good,
    /// It is whole, and older than the one that counts.
    Older,
    /// It is damaged.
    Damaged(CopyFault),
}

impl fmt::Display for CopyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => f.write_str("good"),
            Self::Older => f.write_str("older"),
            Self::Damaged(fault) => write!(f, "damaged: {fault}"),
        }
    }
}

impl Serialize for CopyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Metadata {
    /// Reads boot sector and metadata. Nothing is written.
    ///
    /// # Errors
    /// It is no BitLocker volume, one of Windows Vista, or no copy is good; or the medium failed.
    pub fn read(store: &dyn Store) -> Result<Self, BitLockerError> {
        let boot = read_boot(store)?;
        if boot.kind == BootKind::Vista {
            return Err(BitLockerError::Unsupported(Unsupported::Vista));
        }
        Self::read_by(store, boot, None, false)
    }

    /// The same also where the boot sector is lost: then all of the store is looked through for the
    /// metadata, which may take as long as reading it. Nothing is written.
    pub fn find(store: &dyn Store) -> Result<Self, BitLockerError> {
        let lost = match Self::read(store) {
            Err(BitLockerError::NotBitLocker(fault) | BitLockerError::BootSector(fault)) => fault,
            Err(BitLockerError::Unsupported(Unsupported::Vista)) => BootFault::NoPlaces,
            read => return read,
        };
        let there = read_first(store)?;
        match search::find_boot(store, &there) {
            Some(boot) => {
                let in_part = first_sector::resembles(&there, boot.bytes());
                let found = Self::read_by(store, boot, Some(lost), in_part)?;
                // Then nothing of the metadata says what is encrypted.
                if search::is_half_converted(store, found.block()) {
                    return Err(BitLockerError::HalfConverted);
                }
                Ok(found)
            }
            None if lost == BootFault::NotBitLocker => Err(BitLockerError::NotBitLocker(BootFault::Nowhere)),
            None => Self::read(store),
        }
    }

    fn read_by(
        store: &dyn Store,
        boot: BootSector,
        lost_boot: Option<BootFault>,
        lost_in_part: bool,
    ) -> Result<Self, BitLockerError> {
        let mut copies = [0, 1, 2].map(|i| read_copy(store, &boot, &boot.copies, i));
        // The boot sector is nobody's secret, and a copy knows where the others are, too.
        if let Some(good) = copies.iter().find_map(|copy| copy.block.as_ref().ok()) {
            let places = good.copies;
            for (i, copy) in copies.iter_mut().enumerate() {
                if copy.block.is_err() && boot.copies.get(i) != places.get(i) {
                    *copy = read_copy(store, &boot, &places, i);
                }
            }
        }
        let (present, least) = (store.size(), least_bytes(&boot));
        Self::choose(boot, (lost_boot, lost_in_part), copies).map_err(|error| match (error, least) {
            (BitLockerError::NoMetadata(_), Some(least)) if least > present => {
                BitLockerError::CutShort { present, least }
            }
            (error, _) => error,
        })
    }

    fn choose(
        boot: BootSector,
        (lost_boot, lost_in_part): (Option<BootFault>, bool),
        mut copies: [MetadataCopy; COPIES],
    ) -> Result<Self, BitLockerError> {
        let volume = copies.iter().find_map(|copy| Some(copy.block.as_ref().ok()?.dataset.volume));
        for copy in &mut copies {
            let other = copy.block.as_ref().ok().map(|b| b.dataset.volume).filter(|v| Some(*v) != volume);
            if let Some(other) = other {
                copy.block = Err(CopyFault::OtherVolume(other));
            }
        }
        let mut newest: Option<(usize, &Block)> = None;
        for (i, copy) in copies.iter().enumerate() {
            if let Ok(block) = &copy.block
                && newest.is_none_or(|(_, best)| block.dataset.next_nonce > best.dataset.next_nonce)
            {
                newest = Some((i, block));
            }
        }
        let Some((chosen, block)) = newest.map(|(i, block)| (i, block.clone())) else {
            let fault = |copy: MetadataCopy| copy.block.err().unwrap_or(CopyFault::Place(copy.offset));
            return Err(BitLockerError::NoMetadata(Box::new(copies.map(fault))));
        };
        Ok(Self { boot, lost_boot, lost_in_part, copies, chosen, block })
    }

    /// The same with one copy out of the running; `None` when no other is good.
    pub(crate) fn without_chosen(mut self, fault: CopyFault) -> Option<Self> {
        if let Some(copy) = self.copies.get_mut(self.chosen) {
            copy.block = Err(fault);
        }
        Self::choose(self.boot, (self.lost_boot, self.lost_in_part), self.copies).ok()
    }

    /// The volume's first sector, whole: as it must be, and behind what is known of it as it lies there.
    pub(crate) fn first_sector(&self, store: &dyn Store) -> Result<Vec<u8>, StoreError> {
        let mut sector = vec![0; self.boot.sector_bytes as usize];
        if self.lost_boot.is_none() || self.lost_in_part {
            store.read_at(&mut sector, 0)?;
        }
        sector.iter_mut().zip(self.wanted(store)).for_each(|(slot, byte)| *slot = byte);
        Ok(sector)
    }

    /// What the first sector's known bytes must be.
    fn wanted(&self, store: &dyn Store) -> [u8; BOOT_SECTOR_BYTES] {
        let boot = &self.boot;
        if self.lost_boot.is_some() {
            return *boot.bytes();
        }
        first_sector::wanted(store, boot.bytes(), &self.block, boot.sector_bytes, boot.eow, Some(boot.kind))
    }

    /// Whether the first sector is there, and all that is known of it is as it must be.
    pub fn first_sector_is_good(&self, store: &dyn Store) -> bool {
        self.lost_boot.is_none() && *self.boot.bytes() == self.wanted(store)
    }

    /// Whether the first sector is there and names the places that the metadata does.
    pub(crate) fn first_sector_names_the_places(&self) -> bool {
        self.lost_boot.is_none() && self.boot.copies == self.block.copies
    }

    /// The copy that counts.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// All copies hold `block` now.
    pub(crate) fn replaced_by(&mut self, block: Block) {
        for copy in &mut self.copies {
            copy.block = Ok(block.clone());
        }
        self.block = block;
    }

    /// How each copy stands to the one that counts.
    pub fn states(&self) -> [CopyState; COPIES] {
        self.copies.each_ref().map(|copy| match &copy.block {
            Err(fault) => CopyState::Damaged(fault.clone()),
            Ok(block) if *block == self.block => CopyState::Good,
            Ok(_) => CopyState::Older,
        })
    }
}

/// Whether a file or device begins as a BitLocker volume does, damaged or not.
pub fn is_volume(store: &dyn Store) -> Result<bool, StoreError> {
    if store.size() < BOOT_SECTOR_BYTES as u64 {
        return Ok(false);
    }
    let mut sector = [0; BOOT_SECTOR_BYTES];
    store.read_at(&mut sector, 0)?;
    Ok(BootSector::is_candidate(&sector))
}

fn read_first(store: &dyn Store) -> Result<[u8; BOOT_SECTOR_BYTES], BitLockerError> {
    if store.size() < BOOT_SECTOR_BYTES as u64 {
        return Err(BitLockerError::NotBitLocker(BootFault::NotBitLocker));
    }
    let mut sector = [0; BOOT_SECTOR_BYTES];
    store.read_at(&mut sector, 0)?;
    Ok(sector)
}

/// Reads and parses the first sector.
pub(crate) fn read_boot(store: &dyn Store) -> Result<BootSector, BitLockerError> {
    BootSector::parse(&read_first(store)?).map_err(|fault| match fault {
        BootFault::NotBitLocker => BitLockerError::NotBitLocker(fault),
        BootFault::Nowhere | BootFault::SectorBytes(_) | BootFault::NoPlaces | BootFault::Short => {
            BitLockerError::BootSector(fault)
        }
    })
}

/// What a volume with metadata in those places has at least; nothing where there can't be any.
fn least_bytes(boot: &BootSector) -> Option<u64> {
    let can_be = |at: &u64| *at > 0 && at.is_multiple_of(u64::from(boot.sector_bytes)) && *at < LARGEST;
    let last = boot.copies.iter().max()?;
    boot.copies.iter().all(can_be).then(|| last.saturating_add(REGION_BYTES as u64))
}

/// Reads the `i`th of the copies that are said to be at `places`.
fn read_copy(store: &dyn Store, boot: &BootSector, places: &[u64; COPIES], i: usize) -> MetadataCopy {
    let offset = places.get(i).copied().unwrap_or_default();
    let overlaps = |other: &u64| other.abs_diff(offset) < REGION_BYTES as u64;
    let block = if offset == 0 || !offset.is_multiple_of(u64::from(boot.sector_bytes)) {
        Err(CopyFault::Place(offset))
    } else if places.iter().take(i).any(overlaps) {
        Err(CopyFault::Overlaps(offset))
    } else {
        read_region(store, offset).and_then(|region| Ok(Block::parse(&region)?))
    };
    MetadataCopy { offset, block }
}

fn read_region(store: &dyn Store, offset: u64) -> Result<Vec<u8>, CopyFault> {
    let fits = offset.checked_add(REGION_BYTES as u64).is_some_and(|end| end <= store.size());
    if !fits {
        return Err(CopyFault::BeyondEnd(offset));
    }
    let mut region = vec![0; REGION_BYTES];
    let unreadable = |e: StoreError| CopyFault::Unreadable(e.to_string());
    store.read_at(&mut region, offset).map_err(unreadable)?;
    Ok(region)
}
