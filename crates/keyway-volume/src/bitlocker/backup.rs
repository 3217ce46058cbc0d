//! Backups of the metadata and the first sector, and what else mends them: repair from a good copy,
//! and the opposite, erasing every copy.
//!
//! ```text
//! backup file, little-endian
//! offset size
//!      0    8  "KEYWAYBL"
//!      8    4  version, 1
//!     12    4  CRC-32 of everything after this table
//!     16    8  bytes of the volume
//!     24    4  bytes of its first sector: 512 to 4096
//!     28    4  0
//!     32    …  the first sector, then the 64 KiB of a copy of the metadata
//! ```
//!
//! The file is Keyway's own: Windows has no such thing (its key package holds less and opens
//! nothing by itself). It opens the volume with the secrets of the day it was made, whatever was
//! changed later.

use super::block::{Block, BlockFault, REGION_BYTES};
use super::boot::{BACKUP_SIGNATURE, BOOT_SECTOR_BYTES, BootFault, BootSector};
use super::codes::role;
use super::error::BitLockerError;
use super::guid::Guid;
use super::metadata::{COPIES, CopyState, Metadata};
use super::reader::Reader;
use super::rewrite::{RewriteError, write_copies};
use super::search;
use super::unlock::{Locked, OpenedKeys, UnlockRequest, look, unlock};
use crate::ReadBack;
use crate::overlay::Overlay;
use crate::veracrypt::CreateError;
use keyway_error::{explain, explain_io};
use keyway_store::{AlignedBuf, Store, StoreError};
use std::path::{Path, PathBuf};
use std::{io, iter};

const VERSION: u32 = 1;
const TABLE_BYTES: usize = 32;
const LARGEST_SECTOR: usize = 4096;

/// A first sector and metadata, as they are in a backup file.
pub struct HeaderBackup {
    volume_bytes: u64,
    first_sector: Vec<u8>,
    region: AlignedBuf,
    block: Block,
}

/// Metadata that could not be backed up, restored or repaired.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The volume, or the volume as the backup has it, does not open.
    #[error(transparent)]
    Open(#[from] BitLockerError),
    /// The backup file could not be written.
    #[error(transparent)]
    Make(#[from] CreateError),
    /// The backup file could not be read.
    #[error("could not read {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no backup file.
    #[error("{} is no backup of a BitLocker volume's metadata: {why}", .path.display())]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// Why.
        why: NotABackup,
    },
    /// It is that of another volume.
    #[error("the backup is that of the volume {backup}, and this one is {present}")]
    OtherVolume {
        /// The volume in the backup.
        backup: Guid,
        /// The volume that is there.
        present: Guid,
    },
    /// It is that of a larger or smaller volume.
    #[error("the backup is that of a volume of {backup} bytes, and this one has {present}")]
    OtherSize {
        /// Bytes of the volume in the backup.
        backup: u64,
        /// Bytes that are there.
        present: u64,
    },
    /// Metadata of two volumes lies there, and the first sector that would say which one counts is lost.
    #[error("metadata of two volumes lies there, {this}, which the secret opens, and {other}")]
    Remains {
        /// The volume that was opened.
        this: Guid,
        /// The other one.
        other: Guid,
    },
    /// It is from before a re-encryption.
    #[error(
        "the backup holds another sealed data key than the volume: if it was re-encrypted since, its data could \
         not be read any more"
    )]
    OtherKey,
    /// It is from before a resize, or from the midst of a conversion.
    #[error(
        "the backup is from when {backup} bytes of this volume were encrypted, and now {present} are, or its metadata lies \
         elsewhere now: some of the data could not be read any more"
    )]
    OtherExtent {
        /// Encrypted bytes as the backup has it.
        backup: u64,
        /// Encrypted bytes as the volume has it.
        present: u64,
    },
    /// The metadata could not be written.
    #[error(transparent)]
    Write(#[from] RewriteError),
    /// The first sector could not be written.
    #[error("the metadata is written, but not the first sector: {0}")]
    FirstSector(StoreError),
}

explain! { BackupError, through Open | Make | Write {
    Self::File { path, source } => { explain_io(source).about(path) },
    Self::NotABackup { path, .. } => [NotABackup Contents, NameMetadataBackup; path],
    Self::OtherVolume { .. } | Self::OtherSize { .. } => [OtherVolume State, Force],
    Self::Remains { .. } => [Ambiguous State, CopyReadOnly],
    Self::OtherKey => [OtherKey State, Force],
    Self::OtherExtent { .. } => [OtherExtent State, Force],
    Self::FirstSector(_) => [PartlyWritten Medium, TryOnAnotherDrive],
} }

/// Why a file is no backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotABackup {
    /// It does not start as one.
    #[error("it does not start as one")]
    Signature,
    /// A version that is not known.
    #[error("its version is {0}, and 1 is known: look for a newer release")]
    Version(u32),
    /// It is too short or too long.
    #[error("its length is wrong")]
    Length,
    /// Its checksum does not match.
    #[error("it is damaged: its checksum does not match")]
    Checksum,
    /// The first sector in it is none.
    #[error("{0}")]
    Boot(#[from] BootFault),
    /// The metadata in it is none.
    #[error("{0}")]
    Block(#[from] BlockFault),
}

/// What [`OpenedKeys::repair`] wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Whether the first sector.
    pub first_sector: bool,
    /// The numbers (from 1 on) of the copies of the metadata.
    pub copies: Vec<usize>,
}

impl HeaderBackup {
    /// Takes the first sector and the copy of the metadata that counts.
    ///
    /// # Errors
    /// The volume's metadata can't be read.
    pub fn take(store: &dyn Store, metadata: &Metadata) -> Result<Self, BackupError> {
        let first_sector = metadata.first_sector(store).map_err(BitLockerError::from)?;
        let block = metadata.block().clone();
        let region = block.region().map_err(RewriteError::from)?;
        Ok(Self { volume_bytes: store.size(), first_sector, region, block })
    }

    /// The content of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = self.first_sector.clone();
        body.extend_from_slice(&self.region);
        let mut bytes = BACKUP_SIGNATURE.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
        bytes.extend_from_slice(&self.volume_bytes.to_le_bytes());
        bytes.extend_from_slice(&(self.first_sector.len() as u32).to_le_bytes());
        bytes.resize(TABLE_BYTES, 0);
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Writes it to a new file that only its owner may read.
    ///
    /// # Errors
    /// The file exists or could not be written, in which case it is removed.
    #[cfg(target_os = "linux")]
    pub fn write(&self, path: &Path) -> Result<u64, BackupError> {
        use crate::veracrypt::{Existing, Space, Target};

        let bytes = self.to_bytes();
        let target = Target::new_file(path, bytes.len() as u64, Existing::Refuse, Space::Reserved)?;
        ReadBack::new(target.store()).put(&bytes, 0).map_err(CreateError::from)?;
        target.keep()?;
        Ok(bytes.len() as u64)
    }

    /// Reads a backup file.
    ///
    /// # Errors
    /// It is none, or it is damaged.
    pub fn read(path: &Path) -> Result<Self, BackupError> {
        let failed = |source| BackupError::File { path: path.to_owned(), source };
        let longest = (TABLE_BYTES + LARGEST_SECTOR + REGION_BYTES) as u64;
        let len = path.metadata().map_err(failed)?.len();
        let bytes = if len > longest { Ok(Vec::new()) } else { std::fs::read(path).map_err(failed) }?;
        Self::parse(&bytes).map_err(|why| BackupError::NotABackup { path: path.to_owned(), why })
    }

    fn parse(bytes: &[u8]) -> Result<Self, NotABackup> {
        let mut r = Reader(bytes);
        if r.array() != Some(BACKUP_SIGNATURE) {
            return Err(NotABackup::Signature);
        }
        let version = r.u32().ok_or(NotABackup::Length)?;
        if version != VERSION {
            return Err(NotABackup::Version(version));
        }
        let mut fields = || Some((r.u32()?, r.u64()?, r.u32()?, r.u32()?));
        let (crc, volume_bytes, sector, _) = fields().ok_or(NotABackup::Length)?;
        let sector = usize::try_from(sector).unwrap_or(usize::MAX);
        if !(BOOT_SECTOR_BYTES..=LARGEST_SECTOR).contains(&sector) || r.0.len() != sector + REGION_BYTES {
            return Err(NotABackup::Length);
        }
        if crc32fast::hash(r.0) != crc {
            return Err(NotABackup::Checksum);
        }
        let (first_sector, region) = r.0.split_at(sector);
        BootSector::parse(first_sector.first_chunk().ok_or(NotABackup::Length)?)?;
        let block = Block::parse(region)?;
        let mut copy = AlignedBuf::zeroed(REGION_BYTES);
        copy.copy_from_slice(region);
        Ok(Self { volume_bytes, first_sector: first_sector.to_vec(), region: copy, block })
    }

    /// The volume as it would be with it.
    fn over<'a>(&self, store: &'a dyn Store) -> Overlay<'a> {
        let first = iter::once((0, self.first_sector.clone()));
        let copies = self.block.copies.map(|at| (at, self.region.to_vec()));
        Overlay::new(store, first.chain(copies).collect())
    }

    /// What can be said without a secret of the volume as it would be with it: what opens it, for instance.
    ///
    /// # Errors
    /// It does not fit the medium, or that failed.
    pub fn look(&self, store: &dyn Store) -> Result<Locked, BitLockerError> {
        look(&self.over(store))
    }

    /// Whether `request` opens the volume with it, and [`HeaderBackup::restore`] would restore it. Nothing is written.
    ///
    /// # Errors
    /// It does not, or would not.
    pub fn may_restore(
        &self,
        store: &dyn Store,
        request: &UnlockRequest<'_>,
        force: bool,
    ) -> Result<(), BackupError> {
        unlock(&self.over(store), request)?;
        if force { Ok(()) } else { self.must_suit(store) }
    }

    /// Restores it, if `request` opens the volume with it: the secret is that of the time of the
    /// backup. With `force` also where the volume is another one now, or has another size.
    pub fn restore(
        &self,
        store: &dyn Store,
        request: &UnlockRequest<'_>,
        force: bool,
    ) -> Result<(), BackupError> {
        self.may_restore(store, request, force)?;
        let present = Metadata::read(store).ok();
        // Copies that are damaged first, the one that counts last.
        let same_places = present.filter(|p| p.copies.each_ref().map(|c| c.offset) == self.block.copies);
        let order = same_places.map_or([0, 1, 2], |p| p.order());
        write_copies(
            store,
            &self.region,
            order.map(|i| self.block.copies.get(i).copied().unwrap_or_default()),
        )?;
        write_first(store, &self.first_sector)
    }

    /// Refuses to put it on a medium of another size, or in the place of another volume: no secret is needed to see that.
    ///
    /// # Errors
    /// It is one.
    pub fn must_suit(&self, store: &dyn Store) -> Result<(), BackupError> {
        let present = Metadata::read(store).ok();
        // Whose it is, before how large that one is: a volume that is all there is never told as cut.
        let backup = self.block.dataset.volume;
        let other = present.as_ref().map(|p| p.block().dataset.volume).filter(|there| *there != backup);
        if let Some(present) = other {
            return Err(BackupError::OtherVolume { backup, present });
        }
        if store.size() != self.volume_bytes {
            let (backup, present) = (self.volume_bytes, store.size());
            return Err(BackupError::OtherSize { backup, present });
        }
        // Protectors come and go, the sealed data key stays as it is.
        let data_key = |block: &Block| block.dataset.entries.sealed(role::DATA_KEY).cloned();
        if present.as_ref().is_some_and(|p| data_key(p.block()) != data_key(&self.block)) {
            return Err(BackupError::OtherKey);
        }
        let extent =
            |block: &Block| (block.state.code(), block.encrypted_bytes, block.copies, block.boot_backup);
        let other =
            present.as_ref().map(Metadata::block).filter(|there| extent(there) != extent(&self.block));
        if let Some(there) = other {
            let (backup, present) = (self.block.encrypted_bytes, there.encrypted_bytes);
            return Err(BackupError::OtherExtent { backup, present });
        }
        Ok(())
    }
}

impl OpenedKeys {
    /// Writes the copies of the metadata that are damaged or older than the one that counts anew
    /// from that one, and the first sector where it is not what it must be. Where that is lost it alone is written: what
    /// lies where the copies should be may be somebody's, until it is seen that the volume is the right one.
    ///
    /// # Errors
    /// The medium failed; the first sector is lost, and metadata of another volume lies there, too.
    pub fn repair(&self, store: &dyn Store) -> Result<Repaired, BackupError> {
        let block = self.metadata.block();
        if self.metadata.lost_boot.is_some() {
            let this = block.dataset.volume;
            let other = (!self.metadata.lost_in_part).then(|| search::another_volume(store, this)).flatten();
            if let Some(other) = other {
                return Err(BackupError::Remains { this, other });
            }
            let first = self.metadata.first_sector(store).map_err(BackupError::FirstSector)?;
            write_first(store, &first)?;
            return Ok(Repaired { first_sector: true, copies: Vec::new() });
        }
        let region = block.region().map_err(RewriteError::from)?;
        let states = self.metadata.states();
        let bad: Vec<usize> = (0..COPIES).filter(|i| states.get(*i) != Some(&CopyState::Good)).collect();
        for i in &bad {
            let Some(offset) = block.copies.get(*i) else { continue };
            write_copies(store, &region, [*offset])?;
        }
        let first_sector = !self.metadata.first_sector_is_good(store);
        if first_sector {
            let first = self.metadata.first_sector(store).map_err(BackupError::FirstSector)?;
            write_first(store, &first)?;
        }
        Ok(Repaired { first_sector, copies: bad.into_iter().map(|i| i + 1).collect() })
    }
}

/// Destroys all copies of the metadata, and with them every key: what is on the volume can't be
/// read any more by anyone, whatever they know. The first sector stays and says what was here.
///
/// # Errors
/// The medium failed; the error comes after every copy was tried.
pub fn erase(store: &dyn Store, metadata: &Metadata) -> Result<(), StoreError> {
    // Where it is lost, the keys are still there.
    let store = ReadBack::new(store);
    let mut result = Ok(());
    let said = metadata.boot.copies.into_iter();
    let places: std::collections::BTreeSet<u64> =
        said.chain(metadata.block().copies).chain(metadata.copies.iter().map(|copy| copy.offset)).collect();
    for at in places.into_iter().filter(|at| *at != 0) {
        let mut noise = AlignedBuf::zeroed(REGION_BYTES);
        // Zeros destroy as well as noise does.
        let _ = getrandom::fill(&mut noise);
        let fits = at.checked_add(REGION_BYTES as u64).is_some_and(|end| end <= store.size());
        if fits {
            // Both are done, whatever came before.
            let written = store.write_at(&noise, at);
            result = result.and(written).and(store.flush());
            // On a flash drive the old cells may still hold the keys; this is the most that can be asked.
            let _ = store.discard(at, REGION_BYTES as u64);
        }
    }
    result.and(store.flush())
}

/// Where it is not there already: a write that changes nothing can only do harm.
fn write_first(store: &dyn Store, sector: &[u8]) -> Result<(), BackupError> {
    let mut first = AlignedBuf::zeroed(sector.len());
    if store.read_at(&mut first, 0).is_ok() && first[..] == *sector {
        return Ok(());
    }
    first.copy_from_slice(sector);
    ReadBack::new(store).put(&first, 0).map_err(BackupError::FirstSector)
}
