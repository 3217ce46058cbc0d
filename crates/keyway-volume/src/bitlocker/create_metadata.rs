//! The entries of a new volume's metadata, in Windows' order and with Windows' numbers.
//!
//! ```text
//! description
//! protector: password          salt; sealed with the master key: what it stretches to
//!                              the master key, sealed with that
//! protector: recovery password salt; sealed with the master key: its 16 bytes, what it stretches to
//!                              the master key, sealed with that
//! protector: startup key       name; sealed with the master key: the startup key
//!                              the master key, sealed with that
//! the data key, sealed with the master key
//! where the first sectors lie, and how the volume was converted
//! ```
//!
//! Source: libbde's format description, and the volumes that Windows 10 and 11 made. Their sealed
//! entries were opened to see the numbers inside.

use super::block::{Block, Dataset, Validation};
use super::codes::{Method, Protection, State, algorithm, role};
use super::create_error::CreateError;
use super::create_place::{Places, SPARE_BYTES};
use super::entry::{BootBackup, Entries, Entry, Nonce, Protector, StretchKey, UseKey, Value};
use super::error::BitLockerError;
use super::filetime::FileTime;
use super::guid::Guid;
use super::password::PasswordHash;
use super::recovery::RecoveryPassword;
use super::seal::{SEALING_KEY_BYTES, SecretKey};
use super::startup_key::StartupKey;
use keyway_secret::SecretBytes;
use std::sync::atomic::AtomicBool;

/// The first nonce counter of what Windows seals.
const FIRST_NONCE: u32 = 2;

/// FILETIME steps in a millisecond: Windows cuts the times of nonces and protectors to these.
const MILLISECOND: u64 = 10_000;

/// Set in the time of the validation's nonce.
const VALIDATION_TIME: u64 = 1 << 63;

/// What the extension of the first sectors' entry says. See [`extension`].
const EXTENSION_VERSION: u16 = 5;
const EXTENSION_BYTES: u16 = 76;
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
        let master = SecretKey { algorithm: algorithm::MASTER, flags: 0, bytes: random(SEALING_KEY_BYTES)? };
        loop {
            let bytes = random(method.stored_key_bytes())?;
            // XTS is weak where its two keys are the same; a broken generator might do that.
            let (key, tweak_key) = bytes.split_at(bytes.len() / 2);
            if key != tweak_key {
                return Ok(Self { master, data: SecretKey { algorithm: method.code(), flags: 0, bytes } });
            }
        }
    }
}

/// What the metadata says besides the keys.
pub(super) struct Shape<'a> {
    pub(super) size: u64,
    pub(super) sector_bytes: u32,
    pub(super) boot_bytes: u64,
    pub(super) places: Places,
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
        state: State::Encrypted,
        next_state: State::Encrypted,
        encrypted_bytes: shape.size,
        log_bytes: 0,
        boot_sectors: u32::try_from(boot_sectors).unwrap_or(u32::MAX),
        copies: places.copies,
        boot_backup: places.boot_backup,
        dataset,
        padding: vec![],
        validation: Validation { bytes: 0, version: 2, crc: 0, hash: None },
    };
    let time = created.0 / MILLISECOND * MILLISECOND;
    let mut entries = vec![Entry::new(role::DESCRIPTION, Value::text(shape.description))];
    let mut maker = Maker { master: &keys.master, dataset: &mut block.dataset, time };
    let (password, recovery) = stretched(protectors)?;
    if let Some((salt, key)) = password {
        entries.push(maker.password(salt, key)?);
    }
    if let Some((salt, key, password)) = recovery.zip(protectors.recovery.as_ref()).map(|((s, k), p)| (s, k, p)) {
        entries.push(maker.recovery(salt, key, password)?);
    }
    if let Some(key) = &protectors.startup_key {
        entries.push(maker.startup_key(key));
    }
    entries.push(maker.seal(role::DATA_KEY, &keys.data, &keys.master));
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

type Stretched = ([u8; 16], SecretBytes);

/// The password's and the recovery password's salts and stretched keys, computed side by side.
fn stretched(protectors: &NewProtectors) -> Result<(Option<Stretched>, Option<Stretched>), CreateError> {
    let password = protectors.password.as_ref().map(|p| PasswordHash::of_password(p)).transpose()?;
    let recovery = protectors.recovery.as_ref().map(PasswordHash::of_recovery_password);
    let salts = [random_salt()?, random_salt()?];
    let never = AtomicBool::new(false);
    let one = |hash: Option<&PasswordHash>, salt| {
        hash.map(|hash| hash.stretch(&salt, &never).map(|key| (salt, key)).ok_or(BitLockerError::Stopped)).transpose()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| one(recovery.as_ref(), salts[1]));
        let password = one(password.as_ref(), salts[0])?;
        let recovery = other.join().unwrap_or(Err(BitLockerError::Stopped))?;
        Ok((password, recovery))
    })
}

/// Makes sealed entries, each with a nonce of its own.
struct Maker<'a> {
    master: &'a SecretKey,
    dataset: &'a mut Dataset,
    time: u64,
}

impl Maker<'_> {
    fn seal(&mut self, role: u16, key: &SecretKey, with: &SecretKey) -> Entry {
        let nonce = Nonce { time: self.time, counter: self.dataset.take_nonce() };
        Entry::new(role, Value::Sealed(key.seal(&with.bytes, nonce)))
    }

    fn password(&mut self, salt: [u8; 16], key: SecretBytes) -> Result<Entry, CreateError> {
        let key = SecretKey { algorithm: algorithm::STRETCHED_PASSWORD_KEPT, flags: 0, bytes: key };
        let kept = vec![self.seal(role::PROPERTY, &key, self.master)];
        let stretch = stretch_key(algorithm::PASSWORD, salt, kept);
        let master = self.seal(role::PROPERTY, self.master, &key);
        Ok(self.protector(Guid::random()?, Protection::Password, vec![stretch, master]))
    }

    fn recovery(
        &mut self,
        salt: [u8; 16],
        key: SecretBytes,
        password: &RecoveryPassword,
    ) -> Result<Entry, CreateError> {
        let key = SecretKey { algorithm: algorithm::STRETCHED_RECOVERY_KEPT, flags: 0, bytes: key };
        let own = SecretKey {
            algorithm: algorithm::RECOVERY_PASSWORD,
            flags: 0,
            bytes: SecretBytes::copy_of(password.bytes()),
        };
        let kept = vec![
            self.seal(role::RECOVERY_PASSWORD_BACKUP, &own, self.master),
            self.seal(role::STRETCHED_BACKUP, &key, self.master),
        ];
        let stretch = stretch_key(algorithm::RECOVERY_PASSWORD, salt, kept);
        let master = self.seal(role::PROPERTY, self.master, &key);
        Ok(self.protector(Guid::random()?, Protection::RecoveryPassword, vec![stretch, master]))
    }

    fn startup_key(&mut self, startup: &StartupKey) -> Entry {
        let kept = vec![self.seal(role::PROPERTY, &startup.key, self.master)];
        let used = Value::UseKey(UseKey {
            algorithm: algorithm::EXTERNAL,
            flags: 0,
            entries: Entries { list: kept, rest: vec![] },
        });
        let parts = vec![
            Entry::new(role::PROPERTY, Value::Text(startup.name.clone())),
            Entry::new(role::PROPERTY, used),
            self.seal(role::PROPERTY, self.master, &startup.key),
        ];
        self.protector(startup.id, Protection::StartupKey, parts)
    }

    fn protector(&self, id: Guid, protection: Protection, parts: Vec<Entry>) -> Entry {
        let entries = Entries { list: parts, rest: vec![] };
        let changed = FileTime(self.time);
        Entry::new(role::PROTECTOR, Value::Protector(Protector { id, changed, flags: 0, protection, entries }))
    }
}

fn stretch_key(algorithm: u16, salt: [u8; 16], kept: Vec<Entry>) -> Entry {
    let entries = Entries { list: kept, rest: vec![] };
    Entry::new(role::PROPERTY, Value::StretchKey(StretchKey { algorithm, flags: 0, salt, entries }))
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
    for field in [shape.sector_bytes, shape.sector_bytes, WINDOWS_MAJOR, WINDOWS_MINOR, WINDOWS_BUILD, PLATFORM, 0] {
        out.extend(field.to_le_bytes());
    }
    out.extend(SUITE.to_le_bytes());
    out.extend([WORKSTATION, RESERVED]);
    out.extend(shape.places.spare.to_le_bytes());
    out.extend((SPARE_BYTES as u32).to_le_bytes());
    out.extend([0; 4]);
    out
}

fn random(len: usize) -> Result<SecretBytes, CreateError> {
    let mut bytes = SecretBytes::zeroed(len);
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

fn random_salt() -> Result<[u8; 16], CreateError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)?;
    Ok(salt)
}
