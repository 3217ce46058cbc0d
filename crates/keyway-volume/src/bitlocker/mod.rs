//! BitLocker volumes: Windows' own drive encryption.
//!
//! Sources: libbde's *BitLocker Drive Encryption (BDE) format*, dissect.fve's behaviour (states,
//! encrypt-on-write), cryptsetup's BITLK documentation. Every constant is checked by volumes that
//! Windows made. `docs/reference/formats/bitlocker.md` tells the whole.
//!
//! From outside in: a [`BootSector`] says where the three copies of the metadata are. Each is a
//! [`Block`] made of [`Entries`]. A secret opens one of the protectors among them, which gives the
//! volume master key; that opens the data key, and the block tells where the data lies.

mod backup;
mod block;
mod boot;
mod change;
pub mod codes;
mod conversion;
mod create;
mod create_boot;
mod create_decoy;
mod create_error;
mod create_file_system;
mod create_metadata;
mod data_key;
mod entry;
mod eow;
mod error;
mod filetime;
mod first_sector;
mod guid;
mod info;
mod map;
mod metadata;
mod metadata_locations;
mod password;
mod protect;
mod reader;
mod recovery;
mod rekey;
mod resize;
mod rewrite;
mod seal;
mod search;
mod startup_key;
#[cfg(feature = "tpm")]
pub mod tpm;
mod unlock;

pub use backup::{BackupError, HeaderBackup, NotABackup, Repaired, erase};
pub use block::{Block, BlockFault, Dataset, HEAD_BYTES, REGION_BYTES, SIGNATURE, VERSION, Validation};
pub use boot::{
    BOOT_SECTOR_BYTES, BootFault, BootKind, BootSector, GUID_AT, INFORMATION, INFORMATION_EOW, OEM,
};
pub use change::{ChangeError, LastProtector, NewProtector, may_add_beside, may_remove_from};
pub use codes::{EncryptionState, Method, Protection};
pub use conversion::{
    ConversionReached, Converting, ConvertingError, InPlace, NotConvertible, look_behind, unlock_behind,
};
pub use create::{Created, Fill, NewVolume, Note, SMALLEST_VOLUME, create};
pub use create_error::CreateError;
pub use create_metadata::NewProtectors;
pub use entry::{
    BootBackup, Entries, Entry, EntryTooLong, ExternalKey, Key, Nonce, Protector, Sealed, StretchKey,
    TpmBlob, UseKey, Value,
};
pub use eow::EncryptOnWrite;
pub use error::{BitLockerError, CopyFault, Impossible, Unsupported};
pub use filetime::FileTime;
pub use guid::{Guid, NotAGuid};
pub use info::{BitLockerInfo, Conversion, CopyInfo, ProtectorInfo, ReadOnly, Warning};
pub use metadata::{CopyState, Metadata, MetadataCopy, is_volume};
pub use metadata_locations::{BOOT_BYTES, MetadataLocations, SPARE_BYTES};
pub use password::PasswordHash;
pub use protect::{ProtectError, ProtectorMaker, check_password};
pub use recovery::{RecoveryFault, RecoveryPassword};
pub use rekey::{NewDataKey, SEALED_KEY_BYTES};
pub use resize::{Resizable, ResizeError};
pub use rewrite::RewriteError;
pub use seal::{SecretKey, seal, unseal};
pub use search::{CONVERSION_MARK, first_sector_is_lost, has_metadata, has_metadata_as_made};
pub use startup_key::{LARGEST_STARTUP_KEY, StartupKey, StartupKeyFault};
pub use unlock::{Locked, OpenedKeys, Secret, UnlockRequest, Unlocked, find, look, unlock};
