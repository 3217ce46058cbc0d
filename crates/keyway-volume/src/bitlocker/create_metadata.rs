//! The entries of a new volume's metadata, in Windows' order and with Windows' numbers.
//!
//! ```text
//! description
//! protectors: password, recovery password, startup key (super::protect)
//! the data key, sealed with the master key
//! where the first sectors lie, and how the volume was converted
//! ```
//!
//! Source: libbde's format description, and the volumes that Windows 10 and 11 made. Their sealed
//! entries were opened to see the numbers inside.

use super::block::{Block, Dataset, VALIDATION_TIME, Validation};
use super::codes::{EncryptionState, Method, role};
use super::create_error::CreateError;
use super::entry::{BootBackup, Entries, Entry, Value};
use super::filetime::FileTime;
use super::guid::Guid;
use super::metadata_locations::MetadataLocations;
use super::protect::ProtectorMaker;
use super::recovery::RecoveryPassword;
use super::seal::{SEALING_KEY_BYTES, SecretKey};
use super::startup_key::StartupKey;
use keyway_secret::SecretBytes;
use std::sync::atomic::AtomicBool;

/// The first nonce counter of what Windows seals.
const FIRST_NONCE: u32 = 2;

/// What the extension of the first sectors' entry says. See [`extension`].
const EXTENSION_VERSION: u16 = 5;
const EXTENSION_BYTES: u16 = 76;
const FLAGS_AT: usize = 8;
const SPARE_AT: usize = 60;
/// The flags of a full conversion, and the one for used space only.
const CONVERTED: u64 = 0x0a;
const CONVERTED_TO_GO: u64 = 0x848;
const USED_SPACE_ONLY: u64 = 0x01;
/// Windows 10, version 2004, as one of the given volumes names it; which rules a volume follows is
/// what readers take from it.
const WINDOWS_MAJOR: u32 = 10;
const WINDOWS_MINOR: u32 = 0;
const WINDOWS_BUILD: u32 = 19_041;
/// `OSVERSIONINFOEX`: VER_PLATFORM_WIN32_NT; a suite of "terminal" and "single user terminal", a
/// workstation, and a byte that is reserved and has this value.
const PLATFORM: u32 = 2;
const SUITE: u16 = 0x0110;
const WORKSTATION: u8 = 1;
const RESERVED: u8 = 2;

/// What will open a new volume.
#[derive(Default)]
pub struct NewProtectors {
    /// A password in UTF-8.
    pub password: Option<SecretBytes>,
    /// A recovery password.
    pub recovery: Option<RecoveryPassword>,
    /// A startup key.
    pub startup_key: Option<StartupKey>,
}

impl NewProtectors {
    /// Whether nothing would open the volume.
    pub fn is_empty(&self) -> bool {
        self.password.is_none() && self.recovery.is_none() && self.startup_key.is_none()
    }
}

/// The keys of a new volume.
pub(super) struct Keys {
    pub(super) master: SecretKey,
    pub(super) data: SecretKey,
}

impl Keys {
    /// New ones from the system's generator.
    pub(super) fn random(method: Method) -> Result<Self, CreateError> {
        let master = SecretKey::master(random(SEALING_KEY_BYTES)?);
        Ok(Self { master, data: random_data_key(method)? })
    }
}

/// A new data key from the system's generator.
pub(super) fn random_data_key(method: Method) -> Result<SecretKey, CreateError> {
    loop {
        let bytes = random(method.stored_key_bytes())?;
        // XTS is weak where its two keys are the same; a broken generator might do that.
        let (key, tweak_key) = bytes.split_at(bytes.len() / 2);
        if key != tweak_key {
            return Ok(SecretKey { algorithm: method.code(), flags: 0, bytes });
        }
    }
}

/// What the metadata says besides the keys.
pub(super) struct Shape<'a> {
    pub(super) size: u64,
    pub(super) sector_bytes: u32,
    pub(super) boot_bytes: u64,
    pub(super) places: MetadataLocations,
    pub(super) method: Method,
    pub(super) used_space_only: bool,
    pub(super) to_go: bool,
    pub(super) description: &'a str,
}

/// A new volume's metadata, validated.
pub(super) fn new_block(
    shape: &Shape<'_>,
    keys: &Keys,
    protectors: &NewProtectors,
    stop: &AtomicBool,
) -> Result<Block, CreateError> {
    let created = FileTime::now();
    let places = &shape.places;
    let dataset = Dataset {
        version: 1,
        volume: Guid::random()?,
        next_nonce: FIRST_NONCE,
        method: shape.method.code(),
        second_method: 0,
        created,
        entries: Entries::default(),
    };
    let boot_sectors = shape.boot_bytes / u64::from(shape.sector_bytes);
    let mut block = Block {
        version: 2,
        state: EncryptionState::Encrypted,
        next_state: EncryptionState::Encrypted,
        encrypted_bytes: shape.size,
        log_bytes: 0,
        boot_sectors: u32::try_from(boot_sectors).unwrap_or(u32::MAX),
        copies: places.copies,
        boot_backup: places.boot_backup,
        dataset,
        padding: vec![],
        validation: Validation { bytes: 0, version: 2, crc: 0, hash: None },
    };
    let mut entries = vec![Entry::new(role::DESCRIPTION, Value::text(shape.description))];
    let mut maker = ProtectorMaker { stop, ..ProtectorMaker::new(&keys.master, &mut block.dataset) };
    if let Some(password) = &protectors.password {
        entries.push(maker.password(Guid::random()?, password)?);
    }
    if let Some(recovery) = &protectors.recovery {
        entries.push(maker.recovery_password(Guid::random()?, recovery)?);
    }
    if let Some(key) = &protectors.startup_key {
        entries.push(maker.startup_key(key)?);
    }
    let data = maker.kept(keys.data.algorithm, &keys.data.bytes);
    entries.push(Entry { role: role::DATA_KEY, ..data });
    entries.push(Entry::new(
        role::BOOT_BACKUP,
        Value::BootBackup(BootBackup {
            offset: places.boot_backup,
            bytes: shape.boot_bytes,
            extension: extension(shape),
        }),
    ));
    block.dataset.entries = Entries { list: entries, rest: vec![] };
    block.validate(&keys.master, created.0 | VALIDATION_TIME)?;
    Ok(block)
}

/// What Windows 8 and later add to the entry of the first sectors:
///
/// ```text
/// offset size
///      0    2  version, 5
///      2    2  bytes of this, 76
///      4    4  0
///      8    8  flags: 0x0a; 0x848 of a To Go drive; bit 0: used space only
///     16    8  a further place of a To Go drive, else 0
///     24    4  its bytes, else 0
///     28    4  bytes per sector
///     32    4  bytes per sector
///     36   12  Windows' version: major, minor, build
///     48    8  platform, 0
///     56    4  suite, kind of product, reserved
///     60    8  where the spare bytes are
///     68    4  how many they are
///     72    4  0
/// ```
///
/// Source: the volumes that Windows 10 and 11 made. Bit 0 is set in one of them; that it means used
/// space only is taken from the flag of that number of WMI's `Encrypt` method
/// (`Win32_EncryptableVolume`, "EncryptionFlags").
fn extension(shape: &Shape<'_>) -> Vec<u8> {
    let flags = if shape.to_go { CONVERTED_TO_GO } else { CONVERTED };
    let used = if shape.used_space_only { USED_SPACE_ONLY } else { 0 };
    let mut out = Vec::with_capacity(usize::from(EXTENSION_BYTES));
    out.extend(EXTENSION_VERSION.to_le_bytes());
    out.extend(EXTENSION_BYTES.to_le_bytes());
    out.extend([0; 4]);
    out.extend((flags | used).to_le_bytes());
    out.extend([0; 12]);
    for field in
        [shape.sector_bytes, shape.sector_bytes, WINDOWS_MAJOR, WINDOWS_MINOR, WINDOWS_BUILD, PLATFORM, 0]
    {
        out.extend(field.to_le_bytes());
    }
    out.extend(SUITE.to_le_bytes());
    out.extend([WORKSTATION, RESERVED]);
    out.extend(shape.places.spare.to_le_bytes());
    out.extend((shape.places.spare_bytes as u32).to_le_bytes());
    out.extend([0; 4]);
    out
}

/// Says in such an extension where the spare bytes are; one that is shorter names none.
pub(super) fn put_spare(extension: &mut [u8], spare: u64) {
    if let Some(slot) = extension.get_mut(SPARE_AT..SPARE_AT + 8) {
        slot.copy_from_slice(&spare.to_le_bytes());
    }
}

/// Whether the flags say that only used space was encrypted.
pub(super) fn used_space_only(block: &Block) -> bool {
    let extension = block.boot_backup_entry().map(|backup| backup.extension.as_slice()).unwrap_or_default();
    let flags = extension.get(FLAGS_AT..).and_then(|rest| rest.first_chunk());
    flags.is_some_and(|flags| u64::from_le_bytes(*flags) & USED_SPACE_ONLY != 0)
}

fn random(len: usize) -> Result<SecretBytes, CreateError> {
    let mut bytes = SecretBytes::zeroed(len);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
