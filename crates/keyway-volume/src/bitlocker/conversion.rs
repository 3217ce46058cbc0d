//! A volume that is being converted in place: its keys, where its parts lie, and what its metadata says
//! at each point of the way.
//!
//! On the way to "encrypted" the part up to a boundary is encrypted, the rest is not; on the way to
//! "decrypted" the same, and the boundary falls. State 5 with a boundary is what Windows leaves when such a
//! conversion is paused, and what other readers know. The moved first sectors follow the same rule by the
//! place where they lie.
//!
//! Source: dissect.fve's account of the states, dislocker's (its "switch encryption paused" is 5), libbde's
//! ("encrypted volume size").

use super::block::{Block, HEAD_BYTES, REGION_BYTES, VALIDATION_TIME};
use super::codes::{EncryptionState, Method};
use super::create_boot::boot_sector;
use super::create_error::CreateError;
use super::create_metadata::{Keys, NewProtectors, Shape, new_block, used_space_only};
use super::data_key::cipher;
use super::entry::EntryTooLong;
use super::error::BitLockerError;
use super::filetime::FileTime;
use super::info::ReadOnly;
use super::map::Map;
use super::metadata_locations::{BOOT_BYTES, MetadataLocations};
use super::rekey::NewDataKey;
use super::seal::SecretKey;
use super::unlock::{Locked, UnlockRequest, Unlocked, look, unlock};
use crate::overlay::Overlay;
use crate::progress::NEVER;
use keyway_cipher::SectorCipher;
use keyway_engine::{Layout, Mapping};
use keyway_error::explain;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;
use std::sync::Arc;

/// How far a conversion is, for the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversionReached {
    /// On the way to "encrypted"; encrypted up to this byte.
    Encrypting(u64),
    /// On the way to "decrypted"; still encrypted up to this byte.
    Decrypting(u64),
    /// Encrypted throughout.
    Encrypted,
}

/// The volume that a file system shall become.
pub struct InPlace<'a> {
    /// What will open it; at least one.
    pub protectors: &'a NewProtectors,
    /// How the data is encrypted: any without the diffuser.
    pub method: Method,
    /// Whether free space stays as it is.
    pub used_space_only: bool,
    /// What the metadata says in the open: computer, drive and date.
    pub description: &'a str,
}

/// A volume that is being converted.
pub struct Converting {
    block: Block,
    master: SecretKey,
    cipher: Arc<SectorCipher>,
    /// Of a volume that gets another data key: its metadata with that, and the key's cipher.
    rekeyed: Option<(Block, Arc<SectorCipher>)>,
    layout: Layout,
    sector_bytes: u32,
    boot_bytes: u64,
    volume_bytes: u64,
}

/// A volume that can't be converted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotConvertible {
    /// Windows keeps a bitmap of what is encrypted, or has left a log.
    #[error("{}", .0.what())]
    Windows(#[from] ReadOnly),
    /// The same, with everything encrypted already.
    #[error("Windows' bitmaps of an encrypt-on-write conversion are still on it")]
    Bitmaps,
    /// First sectors of less than a page, or metadata that no volume was seen to have.
    #[error("its first sectors or its metadata have a size that no volume was seen to have")]
    Shape,
}

explain! { NotConvertible {
    Self::Windows(ReadOnly::CutOff) => [Damaged Contents, CheckCopy],
    Self::Windows(why) => [Unsupported Machine, (why.advice())],
    Self::Bitmaps => [Unsupported Machine, LetWindowsFinish],
    Self::Shape => [Unsupported Machine, CopyReadOnly],
} }

impl Converting {
    /// A volume of `size` bytes in which nothing is encrypted yet, with new keys. Nothing is written.
    ///
    /// # Errors
    /// The method or the protectors can't be used, or there are no random bytes.
    pub fn fresh(
        size: u64,
        sector_bytes: u32,
        places: MetadataLocations,
        new: &InPlace<'_>,
    ) -> Result<Self, CreateError> {
        if matches!(new.method, Method::Cbc128Elephant | Method::Cbc256Elephant) {
            return Err(CreateError::MethodNotOffered(new.method.name()));
        }
        if new.protectors.is_empty() {
            return Err(CreateError::NoProtector);
        }
        let keys = Keys::random(new.method)?;
        let shape = Shape {
            size,
            sector_bytes,
            boot_bytes: BOOT_BYTES,
            places,
            method: new.method,
            used_space_only: new.used_space_only,
            to_go: false,
            description: new.description,
        };
        let mut block = new_block(&shape, &keys, new.protectors, &NEVER)?;
        put_state(&mut block, ConversionReached::Encrypting(BOOT_BYTES), size);
        let damaged = BitLockerError::DamagedKey("data key");
        let cipher = Arc::new(cipher(new.method, &keys.data, sector_bytes).ok_or(damaged)??);
        let layout = Map::new(&block, None, sector_bytes, size)?.layout(&cipher)?;
        let volume_bytes = layout.size();
        let master = keys.master;
        Ok(Self {
            block,
            master,
            cipher,
            rekeyed: None,
            layout,
            sector_bytes,
            boot_bytes: BOOT_BYTES,
            volume_bytes,
        })
    }

    /// A volume that opened, wherever a conversion of it has stopped.
    ///
    /// # Errors
    /// It is in the middle of a conversion of a kind that only Windows can go on with.
    pub fn of(unlocked: Unlocked) -> Result<Self, ConvertingError> {
        let Unlocked { info, layout, read_only, opened, .. } = unlocked;
        if let Some(why) = read_only {
            return Err(NotConvertible::Windows(why).into());
        }
        let block = opened.metadata.block().clone();
        let boot_bytes = u64::from(block.boot_sectors) * u64::from(info.sector_bytes);
        if boot_bytes < 4096 || block.to_bytes().map_or(0, |b| b.len()) > HEAD_BYTES {
            return Err(NotConvertible::Shape.into());
        }
        let zero: u64 =
            layout.segments().iter().filter(|s| matches!(s.mapping, Mapping::Zero)).map(|s| s.len).sum();
        if zero != 3 * REGION_BYTES as u64 + boot_bytes {
            return Err(NotConvertible::Bitmaps.into());
        }
        let damaged = || BitLockerError::DamagedKey("data key");
        let cipher = cipher(info.cipher, &opened.data, info.sector_bytes).ok_or_else(damaged)?;
        Ok(Self {
            block,
            master: opened.master,
            cipher: Arc::new(cipher.map_err(BitLockerError::from)?),
            rekeyed: None,
            volume_bytes: layout.size(),
            layout,
            sector_bytes: info.sector_bytes,
            boot_bytes,
        })
    }

    /// Draws a data key of that method, and seals it with the master key. The volume keeps its own until
    /// [`Converting::give_data_key`].
    ///
    /// # Errors
    /// The method has the diffuser, or there are no random bytes.
    pub fn new_data_key(&self, method: Method) -> Result<NewDataKey, CreateError> {
        NewDataKey::random(method, &self.block, &self.master)
    }

    /// From now on it is a volume that gets that data key; or one that has it already.
    ///
    /// # Errors
    /// The key was sealed with another master key, or has the wrong length.
    pub fn give_data_key(&mut self, key: &NewDataKey) -> Result<(), BitLockerError> {
        let new = key.open(&self.master, self.sector_bytes)?;
        self.rekeyed = (!key.is_in(&self.block)).then(|| (key.in_place_of(&self.block), Arc::new(new)));
        Ok(())
    }

    /// The first [`HEAD_BYTES`] of each copy of the metadata; with the new data key, where it gets one.
    pub fn metadata(&self, reached: ConversionReached) -> Result<AlignedBuf, EntryTooLong> {
        let mut block = self.rekeyed.as_ref().map_or(&self.block, |(block, _)| block).clone();
        put_state(&mut block, reached, self.volume_bytes);
        block.validate(&self.master, FileTime::now().0 | VALIDATION_TIME)?;
        let bytes = block.to_bytes()?;
        let mut head = AlignedBuf::zeroed(HEAD_BYTES);
        head.get_mut(..bytes.len()).ok_or(EntryTooLong(bytes.len()))?.copy_from_slice(&bytes);
        Ok(head)
    }

    /// The metadata.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The first sector of a new volume.
    pub fn new_first_sector(&self) -> [u8; 512] {
        boot_sector(self.sector_bytes, &self.block.copies, None)
    }

    /// The data's cipher; its units are counted from the beginning of the medium.
    pub fn cipher(&self) -> &Arc<SectorCipher> {
        &self.cipher
    }

    /// The cipher that the data gets, where the volume gets another data key.
    pub fn new_cipher(&self) -> Option<&Arc<SectorCipher>> {
        self.rekeyed.as_ref().map(|(_, cipher)| cipher)
    }

    /// Bytes of a unit of the ciphers: a sector of the volume.
    pub fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// Where the volume's bytes are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the volume's first sectors lie.
    pub fn first_sectors(&self) -> Range<u64> {
        self.block.boot_backup..self.block.boot_backup + self.boot_bytes
    }

    /// Where the copies of the metadata lie, 64 KiB each.
    pub fn copies(&self) -> [u64; 3] {
        self.block.copies
    }

    /// Bytes of the volume.
    pub fn volume_bytes(&self) -> u64 {
        self.volume_bytes
    }

    /// Whether free space was left out of its encryption.
    pub fn is_used_space_only(&self) -> bool {
        used_space_only(&self.block)
    }

    /// The stretches of the medium that hold data, in the order of their places: those that are encrypted,
    /// or those that are not.
    pub fn data(&self, encrypted: bool) -> Vec<Range<u64>> {
        let place = |segment: &keyway_engine::Segment| match &segment.mapping {
            Mapping::Encrypted { store_offset, .. } if encrypted => Some(*store_offset),
            Mapping::Plain { store_offset } if !encrypted => Some(*store_offset),
            _ => None,
        };
        let all = self.layout.segments().iter();
        let mut places: Vec<_> =
            all.filter_map(|segment| place(segment).map(|at| at..at + segment.len)).collect();
        places.sort_by_key(|range| range.start);
        places
    }
}

fn put_state(block: &mut Block, reached: ConversionReached, size: u64) {
    (block.state, block.next_state, block.encrypted_bytes) = match reached {
        ConversionReached::Encrypting(to) => (EncryptionState::Converting, EncryptionState::Encrypted, to),
        ConversionReached::Decrypting(to) => (EncryptionState::Converting, EncryptionState::Decrypted, to),
        ConversionReached::Encrypted => (EncryptionState::Encrypted, EncryptionState::Encrypted, size),
    };
}

/// Why a volume's conversion can't be planned.
#[derive(Debug, thiserror::Error)]
pub enum ConvertingError {
    /// It can't be converted here.
    #[error(transparent)]
    Not(#[from] NotConvertible),
    /// Its key or its metadata are damaged.
    #[error(transparent)]
    Volume(#[from] BitLockerError),
}

/// Looks at a volume whose first sector is elsewhere.
pub fn look_behind(store: &dyn Store, first_page: &[u8]) -> Result<Locked, BitLockerError> {
    look(&Overlay::new(store, vec![(0, first_page.to_vec())]))
}

/// Opens a volume whose first sector is elsewhere, because a conversion's own mark stands in its place.
pub fn unlock_behind(
    store: &dyn Store,
    first_page: &[u8],
    request: &UnlockRequest<'_>,
) -> Result<Unlocked, BitLockerError> {
    unlock(&Overlay::new(store, vec![(0, first_page.to_vec())]), request)
}
