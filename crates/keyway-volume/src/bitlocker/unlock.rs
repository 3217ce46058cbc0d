//! Opening a volume: a secret opens a protector, the volume master key in it opens the data key.

use super::block::Block;
use super::codes::{Method, Protection, role};
use super::data_key::{cipher, layer_key};
use super::entry::Protector;
use super::eow::{self, EncryptOnWrite};
use super::error::{BitLockerError, CopyFault, Unsupported};
use super::guid::Guid;
use super::info::{BitLockerInfo, Conversion, ReadOnly, Warning};
use super::map::Map;
use super::metadata::{CopyState, Metadata};
use super::password::PasswordHash;
use super::recovery::RecoveryPassword;
use super::seal::{SEALING_KEY_BYTES, SecretKey};
use super::startup_key::StartupKey;
use crate::bitlocker::EncryptionState;
use crate::looks::Looks;
use crate::progress::NEVER;
use keyway_engine::{LayerSecrets, Layout};
use keyway_secret::SecretBytes;
use keyway_store::Store;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One thing that opens a volume.
pub enum Secret {
    /// A password in UTF-8.
    Password(SecretBytes),
    /// A recovery password.
    RecoveryPassword(RecoveryPassword),
    /// A startup key.
    StartupKey(StartupKey),
    /// The volume master key itself, as a TPM gives it, 32 bytes; and the protector that it was sealed in, where that is
    /// known.
    MasterKey(SecretBytes, Option<Guid>),
}

/// What to open a volume with.
#[derive(Clone, Copy)]
pub struct UnlockRequest<'a> {
    /// The secrets, tried in order. With none, or where the volume has no protector for any of
    /// them, the clear key of a suspended volume is taken.
    pub secrets: &'a [Secret],
    /// Only by this protector.
    pub protector: Option<Guid>,
    /// Where the first sector is lost, look for the metadata in all of the volume.
    pub search: bool,
    /// Set from elsewhere, it ends the work.
    pub stop: &'a AtomicBool,
}

impl<'a> UnlockRequest<'a> {
    /// With any protector.
    pub fn new(secrets: &'a [Secret]) -> Self {
        Self { secrets, protector: None, search: false, stop: &NEVER }
    }
}

/// A volume that opened.
pub struct Unlocked {
    /// What its metadata says.
    pub info: BitLockerInfo,
    /// Where its sectors are.
    pub layout: Layout,
    /// What its owner should know.
    pub warnings: Vec<Warning>,
    /// Why it must not be written, if it must not.
    pub read_only: Option<ReadOnly>,
    /// Its metadata and keys: what is needed to write the metadata again.
    pub opened: OpenedKeys,
}

impl Unlocked {
    /// Copies of the cipher's keys, for whoever decrypts in our place ([`keyway_engine::HandOver`]).
    ///
    /// # Errors
    /// The data key has another length than its method's; such a volume does not unlock.
    pub fn layer_secrets(&self) -> Result<Vec<LayerSecrets>, BitLockerError> {
        let layer = layer_key(self.info.cipher, &self.opened.data);
        let layer = layer.ok_or(BitLockerError::DamagedKey("data key"))?;
        Ok(vec![LayerSecrets::copy_of(&layer)])
    }
}

/// The metadata of a volume that opened, with its keys.
pub struct OpenedKeys {
    /// Boot sector and copies of the metadata.
    pub metadata: Metadata,
    /// The volume master key.
    pub master: SecretKey,
    /// The data key.
    pub data: SecretKey,
    /// The protector that opened it; `None` where the master key was given.
    pub protector: Option<Guid>,
}

/// A volume that was not unlocked: what can be said of it without a secret.
pub struct Locked {
    /// What its metadata says.
    pub info: BitLockerInfo,
    /// What its owner should know.
    pub warnings: Vec<Warning>,
    /// Boot sector and copies of the metadata.
    pub metadata: Metadata,
    read_only: Option<ReadOnly>,
    map: Map,
}

impl Locked {
    /// Whether it may only be read: Windows has begun something that it must end itself, or the first sector is lost.
    pub const fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }
}

/// Looks at a volume without a secret. Nothing is written.
///
/// # Errors
/// It is none, or a damaged one, or the medium failed.
pub fn look(store: &dyn Store) -> Result<Locked, BitLockerError> {
    see(store, Metadata::read(store)?)
}

/// The same also where its first sector is lost: see [`Metadata::find`].
pub fn find(store: &dyn Store) -> Result<Locked, BitLockerError> {
    see(store, Metadata::find(store)?)
}

fn see(store: &dyn Store, metadata: Metadata) -> Result<Locked, BitLockerError> {
    let sector_bytes = metadata.boot.sector_bytes;
    let volume_bytes = store.size() / u64::from(sector_bytes) * u64::from(sector_bytes);
    let eow = match metadata.boot.eow {
        Some(places) => eow::read(store, places, volume_bytes, sector_bytes)?,
        None => None,
    };
    let block = metadata.block();
    let method = block.method().map_err(|code| BitLockerError::Unsupported(Unsupported::Method(code)))?;
    let map = Map::new(block, eow.as_ref(), sector_bytes, store.size())?;
    let info = BitLockerInfo::new(&metadata, method, &map, ends_before(metadata.block(), eow.as_ref(), &map));
    let read_only = read_only(&metadata, eow.as_ref(), &map);
    let first_sector_is_good = metadata.first_sector_is_good(store);
    let warnings = warnings(&metadata, first_sector_is_good, &info, eow.as_ref(), read_only);
    Ok(Locked { info, warnings, metadata, read_only, map })
}

fn read_only(metadata: &Metadata, eow: Option<&EncryptOnWrite>, map: &Map) -> Option<ReadOnly> {
    if metadata.lost_boot.is_some() {
        return Some(ReadOnly::FirstSector);
    }
    if metadata.block().state == EncryptionState::ConvertingWithLog {
        return Some(ReadOnly::ConversionLog);
    }
    if is_cut_off(metadata.block(), eow, map.volume_bytes()) {
        return Some(ReadOnly::CutOff);
    }
    (eow.is_some() && map.encrypted_bytes() < map.volume_bytes()).then_some(ReadOnly::EncryptOnWrite)
}

/// Whether the medium has less than what is encrypted.
fn is_cut_off(block: &Block, eow: Option<&EncryptOnWrite>, present: u64) -> bool {
    block.state == EncryptionState::Encrypted && eow.is_none() && block.encrypted_bytes > present
}

/// Whether the medium has more than the volume, all of which is encrypted.
fn ends_before(block: &Block, eow: Option<&EncryptOnWrite>, map: &Map) -> bool {
    let all = (block.state, block.next_state) == (EncryptionState::Encrypted, EncryptionState::Encrypted);
    all && eow.is_none() && block.encrypted_bytes > 0 && map.encrypted_bytes() < map.volume_bytes()
}

fn warnings(
    metadata: &Metadata,
    first_sector_is_good: bool,
    info: &BitLockerInfo,
    eow: Option<&EncryptOnWrite>,
    read_only: Option<ReadOnly>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let block = metadata.block();
    let is_cut_off = is_cut_off(block, eow, info.data_bytes);
    for (i, state) in metadata.states().into_iter().enumerate() {
        match state {
            CopyState::Good => {}
            // No repair brings back what lies there: that it was cut off is told below.
            CopyState::Damaged(CopyFault::BeyondEnd(_)) if is_cut_off => {}
            CopyState::Older => warnings.push(Warning::OlderCopy(i + 1)),
            CopyState::Damaged(fault) => warnings.push(Warning::DamagedCopy { number: i + 1, fault }),
        }
    }
    if let Some(fault) = metadata.lost_boot {
        warnings.push(Warning::LostBootSector(fault));
    } else if !first_sector_is_good {
        warnings.push(Warning::BootSector);
    }
    if info.protection_suspended {
        warnings.push(Warning::Suspended);
    }
    if is_cut_off {
        warnings.push(Warning::CutOff { expected: block.encrypted_bytes, present: info.data_bytes });
    } else if info.encrypted_bytes < info.data_bytes && info.conversion_status == Conversion::FullyEncrypted {
        warnings.push(Warning::Larger { volume: info.encrypted_bytes, present: info.data_bytes });
    } else if info.encrypted_bytes < info.data_bytes {
        let (encrypted, total) = (info.encrypted_bytes, info.data_bytes);
        warnings.push(Warning::PartlyEncrypted { encrypted, total });
    }
    if eow.is_some_and(|eow| eow.copy_damaged) {
        warnings.push(Warning::EncryptOnWriteCopy);
    }
    warnings.extend(read_only.map(Warning::ReadOnly));
    warnings
}

/// Opens the volume in `store`. Nothing is written.
///
/// # Errors
/// See [`BitLockerError`]: `Fault::Secret` for a wrong secret, `Fault::Contents` for what is no volume or a
/// damaged one.
pub fn unlock(store: &dyn Store, request: &UnlockRequest<'_>) -> Result<Unlocked, BitLockerError> {
    let mut metadata = if request.search { Metadata::find(store) } else { Metadata::read(store) }?;
    let (master, protector) = loop {
        let opened = master_key(&metadata, request)?;
        // Whoever has no key can write what they like, with the right CRC; this they can't seal.
        if metadata.block().is_authentic(&opened.0) {
            break opened;
        }
        metadata = metadata.without_chosen(CopyFault::Unauthentic).ok_or(BitLockerError::Tampered)?;
    };
    let seen = see(store, metadata)?;
    let sealed = seen.metadata.block().dataset.entries.sealed(role::DATA_KEY);
    let damaged = || BitLockerError::DamagedKey("data key");
    let data = SecretKey::unseal(&master.bytes, sealed.ok_or_else(damaged)?).ok_or_else(damaged)?;
    let unknown = || BitLockerError::Unsupported(Unsupported::Method(data.algorithm));
    let method = Method::from_code(data.algorithm).ok_or_else(unknown)?;
    let cipher = cipher(method, &data, seen.info.sector_bytes).ok_or_else(damaged)??;
    let layout = seen.map.layout(&Arc::new(cipher))?;
    let Locked { mut info, warnings, metadata, read_only, .. } = seen;
    info.opened_by = protector;
    info.cipher = method;
    info.mode = method.mode().name();
    let opened = OpenedKeys { metadata, master, data, protector };
    Ok(Unlocked { info, layout, warnings, read_only, opened })
}

/// The volume master key, and the protector that gave it.
fn master_key(
    metadata: &Metadata,
    request: &UnlockRequest<'_>,
) -> Result<(SecretKey, Option<Guid>), BitLockerError> {
    let wanted = |p: &&Protector| request.protector.is_none_or(|id| id == p.id);
    let all: Vec<&Protector> = metadata.block().dataset.entries.protectors().filter(wanted).collect();
    let of = |kind| all.iter().copied().filter(move |p| p.protection == kind).collect::<Vec<_>>();
    let mut failure = None;
    for secret in request.secrets {
        let (kind, opened) = match secret {
            Secret::MasterKey(bytes, by) => return given(metadata, bytes).map(|key| (key, *by)),
            Secret::Password(password) => {
                let hash = PasswordHash::of_password(password)?;
                (Protection::Password, by_password(&hash, &of(Protection::Password), request.stop)?)
            }
            Secret::RecoveryPassword(password) => {
                let hash = PasswordHash::of_recovery_password(password);
                let protectors = of(Protection::RecoveryPassword);
                (Protection::RecoveryPassword, by_password(&hash, &protectors, request.stop)?)
            }
            Secret::StartupKey(key) => {
                (Protection::StartupKey, by_startup_key(key, &of(Protection::StartupKey)))
            }
        };
        if let Some((key, id)) = opened {
            return Ok((key, Some(id)));
        }
        let protectors = of(kind);
        if !protectors.is_empty() {
            let others = all.iter().filter(|p| p.protection != kind).map(|p| (p.protection, p.id)).collect();
            let ids = protectors.iter().map(|p| p.id).collect();
            failure = failure.or(Some(wrong(secret, ids, others)));
        }
    }
    if let Some(failure) = failure {
        let is_suspended = !of(Protection::ClearKey).is_empty();
        return Err(if is_suspended { BitLockerError::OpensWithout(Box::new(failure)) } else { failure });
    }
    for protector in of(Protection::ClearKey) {
        if let Some(key) = protector.entries.key().and_then(|key| open(protector, &key.bytes)) {
            return Ok((key, Some(protector.id)));
        }
        failure = Some(BitLockerError::DamagedKey("clear key"));
    }
    let has = all.iter().map(|p| p.protection).collect();
    Err(failure.unwrap_or_else(|| match request.secrets {
        [] => BitLockerError::NoSecret(has),
        some => {
            BitLockerError::NoSuchProtector { given: some.iter().filter_map(Secret::kind).collect(), has }
        }
    }))
}

impl Secret {
    fn kind(&self) -> Option<Protection> {
        match self {
            Self::Password(_) => Some(Protection::Password),
            Self::RecoveryPassword(_) => Some(Protection::RecoveryPassword),
            Self::StartupKey(_) => Some(Protection::StartupKey),
            Self::MasterKey(..) => None,
        }
    }
}

/// The master key that was given, where it opens what is sealed with it.
fn given(metadata: &Metadata, bytes: &SecretBytes) -> Result<SecretKey, BitLockerError> {
    let key = SecretKey::master(SecretBytes::copy_of(bytes));
    let sealed = metadata.block().dataset.entries.sealed(role::DATA_KEY);
    let opens = sealed.and_then(|sealed| SecretKey::unseal(&key.bytes, sealed));
    opens.map(|_| key).ok_or(BitLockerError::WrongMasterKey)
}

fn wrong(secret: &Secret, ids: Vec<Guid>, others: Vec<(Protection, Guid)>) -> BitLockerError {
    match secret {
        Secret::Password(password) => BitLockerError::WrongPassword(others, Looks::of(password)),
        Secret::RecoveryPassword(_) => BitLockerError::WrongRecoveryPassword(ids),
        Secret::StartupKey(key) if ids.contains(&key.id) => BitLockerError::WrongStartupKey(key.id),
        Secret::StartupKey(key) => BitLockerError::OtherStartupKey { given: key.id, wanted: ids },
        Secret::MasterKey(..) => BitLockerError::WrongMasterKey,
    }
}

/// Tries a password on every protector of its kind, as many at once as there are cores for.
fn by_password(
    hash: &PasswordHash,
    protectors: &[&Protector],
    stop: &AtomicBool,
) -> Result<Option<(SecretKey, Guid)>, BitLockerError> {
    let salted: Vec<_> =
        protectors.iter().filter_map(|p| Some((*p, p.entries.stretch_key()?.salt))).collect();
    // A core does two in the time of one.
    let at_once = 2 * keyway_kdf::cores();
    for some in salted.chunks(at_once) {
        let salts: Vec<_> = some.iter().map(|(_, salt)| *salt).collect();
        let keys = hash.stretch_all(&salts, stop).ok_or(BitLockerError::Stopped)?;
        for ((protector, _), key) in some.iter().zip(&keys) {
            if let Some(master) = open(protector, key) {
                return Ok(Some((master, protector.id)));
            }
        }
    }
    Ok(None)
}

fn by_startup_key(key: &StartupKey, protectors: &[&Protector]) -> Option<(SecretKey, Guid)> {
    let matching = protectors.iter().filter(|p| p.id == key.id);
    matching.filter_map(|p| Some((open(p, &key.key.bytes)?, p.id))).next()
}

/// The volume master key in a protector.
fn open(protector: &Protector, key: &[u8]) -> Option<SecretKey> {
    let master = SecretKey::unseal(key, protector.entries.sealed(role::PROPERTY)?)?;
    (master.bytes.len() == SEALING_KEY_BYTES).then_some(master)
}
