//! Another size for a volume that is encrypted throughout, and another place for its metadata.
//!
//! The content stays where it is, and so does its cipher: units are counted from the beginning of the medium. What
//! changes is what the metadata says, *encrypted up to this byte*, and where it lies. The file or device is made
//! larger before, or smaller afterwards, by whoever calls this.
//!
//! # The order, and why a power cut can't break it
//!
//! **Another size** is one new block in the place of the three copies ([`super::rewrite`]). In between, and
//! until a smaller file is cut off, what lies behind the size that counts is nobody's.
//!
//! **Other places** must not overlap the old ones, and nobody uses them yet:
//!
//! 1. the first sectors are copied to their new place, under the cipher of that place; flush;
//! 2. the three copies are written to theirs, with a higher nonce; flush after each. The first sector still names
//!    the old ones, and they count;
//! 3. the first sector names the new ones; flush. Torn, it names some of either kind, and one offset that is
//!    nowhere: the newest good copy counts, and both kinds describe the same content;
//! 4. noise over the old copies and the old place of the first sectors, which are free bytes now.
//!
//! What is assumed of the medium is what [`super::rewrite`] assumes.

use super::block::{Block, REGION_BYTES, VALIDATION_TIME};
use super::boot::BootKind;
use super::codes::{EncryptionState, role};
use super::create_metadata::put_spare;
use super::data_key::cipher;
use super::entry::Value;
use super::error::BitLockerError;
use super::filetime::FileTime;
use super::info::ReadOnly;
use super::map::Map;
use super::metadata::{CopyState, Metadata};
use super::metadata_locations::MetadataLocations;
use super::rewrite::{RewriteError, write_copies};
use super::unlock::{OpenedKeys, Unlocked};
use crate::overlay::Overlay;
use crate::veracrypt::{RandomError, noise_over};
use crate::{Progress, ReadBack};
use keyway_cipher::SectorCipher;
use keyway_engine::Layout;
use keyway_error::{Advice, explain};
use keyway_store::{AlignedBuf, Store, StoreError};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the page that holds the first sector.
const PAGE: usize = 4096;

/// A volume whose size or places could not be changed. But for [`ResizeError::Write`] everything is as it was,
/// or a step further that is whole in itself.
#[derive(Debug, thiserror::Error)]
pub enum ResizeError {
    /// It can't be read.
    #[error(transparent)]
    Open(#[from] BitLockerError),
    /// A volume of a kind, or in a state, whose size does not change here.
    #[error("{0}")]
    Unsupported(&'static str, Advice),
    /// The size is none that it can have.
    #[error("a size of {wanted} bytes is not possible here: {why}")]
    Size {
        /// The size that was wished for.
        wanted: u64,
        /// Why it is none.
        why: &'static str,
    },
    /// The metadata could not be written.
    #[error(transparent)]
    Write(#[from] RewriteError),
    /// The medium failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Random bytes can't be had.
    #[error(transparent)]
    Random(#[from] RandomError),
}

explain! { ResizeError, through Open | Write | Store {
    Self::Unsupported(_, step) => [Unsupported Machine, (step.clone())],
    Self::Size { .. } => [Usage Request, NameSize],
    Self::Random(_) => [Ours, ReportWithDoctor],
} }

/// A volume that is encrypted throughout, with what is needed to write its metadata.
pub struct Resizable {
    opened: OpenedKeys,
    cipher: Arc<SectorCipher>,
    sector_bytes: u32,
    boot_bytes: u64,
    bytes: u64,
}

impl Resizable {
    /// A volume that opened.
    ///
    /// # Errors
    /// It is one of Windows' kinds, or in a state, that is not changed here.
    pub fn of(unlocked: Unlocked) -> Result<Self, ResizeError> {
        let Unlocked { info, layout, read_only, opened, .. } = unlocked;
        let refused = |why, step| Err(ResizeError::Unsupported(why, step));
        let (boot, block) = (&opened.metadata.boot, opened.metadata.block());
        if boot.kind != BootKind::Windows7 {
            return refused(
                "a To Go volume has a small file system in front that tells its size",
                Advice::MakeNewVolume,
            );
        }
        if let Some(why @ ReadOnly::CutOff) = read_only {
            return refused(why.what(), why.advice());
        }
        let all = block.state == EncryptionState::Encrypted && block.next_state == EncryptionState::Encrypted;
        if read_only.is_some() || boot.eow.is_some() || !all {
            return refused("it is not encrypted throughout", Advice::FinishConversionAnywhere);
        }
        if !opened.metadata.first_sector_names_the_places() {
            return refused("its first sector names other places than its metadata", Advice::RepairHeaders);
        }
        let boot_bytes = u64::from(block.boot_sectors) * u64::from(info.sector_bytes);
        if boot_bytes < PAGE as u64 || !boot_bytes.is_multiple_of(u64::from(info.sector_bytes)) {
            return refused(
                "its first sectors have a size that no volume was seen to have",
                Advice::CopyReadOnly,
            );
        }
        // What dissect.fve takes for all of it.
        let bytes = if block.encrypted_bytes == 0 { layout.size() } else { block.encrypted_bytes };
        let damaged = || BitLockerError::DamagedKey("data key");
        let cipher = cipher(info.cipher, &opened.data, info.sector_bytes).ok_or_else(damaged)?;
        let cipher = Arc::new(cipher.map_err(BitLockerError::from)?);
        Ok(Self { opened, cipher, sector_bytes: info.sector_bytes, boot_bytes, bytes })
    }

    /// Bytes of the volume, as its metadata says.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a sector of it.
    pub fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// Bytes of the first sectors that lie elsewhere.
    pub fn boot_bytes(&self) -> u64 {
        self.boot_bytes
    }

    /// What the metadata takes: its copies, and the first sectors in their place.
    pub fn taken(&self) -> [Range<u64>; 4] {
        let block = self.opened.metadata.block();
        taken(block.copies, block.boot_backup, self.boot_bytes)
    }

    /// Where the volume's bytes are on a medium of that size.
    ///
    /// # Errors
    /// The metadata lies outside of it.
    pub fn layout(&self, store_bytes: u64) -> Result<Layout, BitLockerError> {
        Map::new(self.opened.metadata.block(), None, self.sector_bytes, store_bytes)?.layout(&self.cipher)
    }

    /// Whether it could have so many bytes with its metadata where it is, or where `places` says.
    ///
    /// # Errors
    /// [`ResizeError::Size`].
    pub fn may_have(&self, bytes: u64, places: Option<&MetadataLocations>) -> Result<(), ResizeError> {
        let size = |why| Err(ResizeError::Size { wanted: bytes, why });
        if !bytes.is_multiple_of(u64::from(self.sector_bytes)) {
            return size("it must be whole sectors");
        }
        let old = self.taken();
        let new = places.map_or(old.clone(), |places| self.taken_at(places));
        if new.iter().any(|range| range.end > bytes) {
            return size("the metadata would lie behind its end");
        }
        if places.is_some() && overlap(&new, &old) {
            return size(
                "it must differ from the old one by 512 KiB or more, or the old and new metadata would overlap",
            );
        }
        Ok(())
    }

    fn taken_at(&self, places: &MetadataLocations) -> [Range<u64>; 4] {
        taken(places.copies, places.boot_backup, self.boot_bytes)
    }

    /// Gives the volume so many bytes: those that are new become part of it as they are, which decrypts to nonsense.
    pub fn set_bytes(&mut self, store: &dyn Store, bytes: u64) -> Result<(), ResizeError> {
        self.may_have(bytes, None)?;
        if bytes > store.size() {
            return Err(ResizeError::Size { wanted: bytes, why: "the file or device is smaller" });
        }
        let metadata = &self.opened.metadata;
        let block = Block { encrypted_bytes: bytes, ..metadata.block().clone() };
        let block = metadata.rewrite(store, block, &self.opened.master)?;
        self.opened.metadata.replaced_by(block);
        self.bytes = bytes;
        Ok(())
    }

    /// Moves the metadata and the first sectors there, where nobody uses anything, and wipes where they were.
    ///
    /// # Errors
    /// See [`ResizeError`]; the old and the new places must not overlap.
    pub fn relocate(&mut self, store: &dyn Store, places: &MetadataLocations) -> Result<(), ResizeError> {
        let (old, new) = (self.taken(), self.taken_at(places));
        if overlap(&old, &new) || new.iter().any(|range| range.end > store.size().min(self.bytes)) {
            return Err(ResizeError::Unsupported(
                "the metadata can't be moved to where it is, or outside",
                Advice::ReportWithDoctor,
            ));
        }
        // Each is seen to be there before the next one is written, and gone in the end.
        let store = &ReadBack::new(store);
        let metadata = &self.opened.metadata;
        let mut block = metadata.block().clone();
        let unit = u64::from(self.cipher.unit_bytes());
        let mut first_sectors = AlignedBuf::zeroed(usize::try_from(self.boot_bytes).unwrap_or_default());
        store.read_at(&mut first_sectors, block.boot_backup)?;
        self.cipher.decrypt_sectors(&mut first_sectors, block.boot_backup / unit);
        self.cipher.encrypt_sectors(&mut first_sectors, places.boot_backup / unit);
        store.write_at(&first_sectors, places.boot_backup)?;
        store.flush()?;

        (block.copies, block.boot_backup) = (places.copies, places.boot_backup);
        for entry in block.dataset.entries.list.iter_mut().filter(|entry| entry.role == role::BOOT_BACKUP) {
            if let Value::BootBackup(backup) = &mut entry.value {
                backup.offset = places.boot_backup;
                put_spare(&mut backup.extension, places.spare);
            }
        }
        let master = &self.opened.master;
        block.validate(master, FileTime::now().0 | VALIDATION_TIME).map_err(RewriteError::from)?;
        // Whatever fails here, the first sector names the old ones.
        write_copies(store, &block.region().map_err(RewriteError::from)?, places.copies).map_err(
            |e| match e {
                RewriteError::Partly(e) | RewriteError::Unsure(e) | RewriteError::Nothing(e) => {
                    ResizeError::Store(e)
                }
                full @ RewriteError::Full(_) => full.into(),
            },
        )?;

        let mut front = AlignedBuf::zeroed(PAGE);
        store.read_at(&mut front, 0)?;
        metadata.boot.put_copies(places.copies, &mut front);
        let moved = Metadata::read(&Overlay::new(store, vec![(0, front.to_vec())]))?;
        if moved.states().iter().any(|state| *state != CopyState::Good) || !moved.block().is_authentic(master)
        {
            return Err(ResizeError::Unsupported(
                "what was written to the new places does not come back",
                Advice::DistrustMedium,
            ));
        }
        store.write_at(&front, 0)?;
        store.flush()?;
        self.opened.metadata = moved;

        for range in old {
            noise_over::<ResizeError>(store, range, &())?;
        }
        Ok(())
    }

    /// Overwrites what is new with noise, before it is part of the volume: nobody sees then what of it is used.
    /// Whether all of it was.
    ///
    /// # Errors
    /// The medium failed, or there are no random bytes.
    pub fn fill(&self, store: &dyn Store, to: u64, progress: &dyn Progress) -> Result<bool, ResizeError> {
        noise_over(store, self.bytes..to.max(self.bytes), progress)
    }
}

fn taken(copies: [u64; 3], boot_backup: u64, boot_bytes: u64) -> [Range<u64>; 4] {
    let [first, second, third] = copies.map(|at| at..at.saturating_add(REGION_BYTES as u64));
    [first, second, third, boot_backup..boot_backup.saturating_add(boot_bytes)]
}

fn overlap(some: &[Range<u64>], others: &[Range<u64>]) -> bool {
    some.iter().any(|one| others.iter().any(|other| one.start < other.end && other.start < one.end))
}
