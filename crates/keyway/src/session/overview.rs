//! What is known of a volume, open or not: the fields that `manage-bde -status` shows, and what is done through it.

use super::in_use::open_name;
use super::others::OtherUser;
use crate::detect::cut_off;
use crate::disk::{self, DiskPartition, Part};
use crate::drive::{self, Drive, LockState};
use crate::error::{Error, about};
use crate::under_way::{Found, at_rest, resume_with, running};
use crate::unlock::UnlockArguments;
use keyway_attach::AttachError;
use keyway_attach::session::{self, SessionState, SessionStatus};
use keyway_convert::ConversionKind;
use keyway_engine::Access;
use keyway_fs::{Container, FoundFileSystem};
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, BitLockerError, Conversion, Method};
use keyway_volume::inspect;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A volume that is served by some process of this user.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenVolume {
    /// What its serving process has written down of it.
    pub state: SessionState,
    /// What the process says now, or why it does not.
    pub now: Result<SessionStatus, AttachError>,
}

impl OpenVolume {
    /// Every open volume. One that does not answer is waited for, and the others are not.
    ///
    /// # Errors
    /// This user's sessions can't be looked at.
    pub fn all() -> Result<Vec<Self>, Error> {
        std::thread::scope(|scope| {
            let ask = |state| scope.spawn(move || Self::ask(state));
            let asked: Vec<_> = session::list()?.into_iter().map(ask).collect();
            Ok(asked.into_iter().filter_map(|thread| thread.join().ok().flatten()).collect())
        })
    }

    /// The open volume that `what` names: itself, its device, file, socket or mount point.
    ///
    /// # Errors
    /// This user's sessions can't be looked at.
    pub fn find(what: impl AsRef<Path>) -> Result<Option<Self>, Error> {
        Ok(session::find(open_name(what.as_ref())?)?.and_then(Self::ask))
    }

    /// Asks the process; `None` where it is not open any more.
    fn ask(state: SessionState) -> Option<Self> {
        match session::status(&state.id) {
            Ok(status) => Some(Self { state: status.state.clone(), now: Ok(status) }),
            // Closed since it was listed.
            Err(AttachError::NotOpen(_)) => None,
            Err(silent) => Some(Self { state, now: Err(silent) }),
        }
    }
}

/// What only the serving process can say.
const NOW: [&str; 12] = [
    "reads",
    "bytes_read",
    "writes",
    "bytes_written",
    "flushes",
    "writes_refused",
    "latency",
    "buffers",
    "guard_hit",
    "first_failed_write",
    "deleted",
    "moved_to",
];

/// As [`SessionStatus`], with `answers`; what only the process can say is null where it does not answer.
impl Serialize for OpenVolume {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = match &self.now {
            Ok(status) => json!(status),
            Err(_) => json!(self.state),
        };
        if let Some(fields) = document.as_object_mut() {
            fields.insert("answers".to_owned(), json!(self.now.is_ok()));
            for key in NOW {
                fields.entry(key).or_insert(Value::Null);
            }
            fields.insert("shortened_to".to_owned(), json!(self.shortened_to()));
        }
        document.serialize(to)
    }
}

impl OpenVolume {
    /// The bytes that the volume's file or device has now, where these are fewer than the volume reaches over: somebody has cut it, since
    /// it was opened or before.
    pub fn shortened_to(&self) -> Option<u64> {
        let volume = self.state.details.get("volume")?;
        let number = |key: &str| volume.get(key).and_then(Value::as_u64);
        let whole = self.state.details.get("whole_bytes").and_then(Value::as_u64);
        let end = match whole {
            Some(whole) => whole,
            None => number("data_offset").unwrap_or_default().checked_add(number("data_bytes")?)?,
        };
        let moved = self.now.as_ref().ok().and_then(|now| now.moved_to.as_deref());
        // What is known of it already is good enough: a file system that hangs is not asked.
        let (path, flags) = (moved.unwrap_or(&self.state.volume), AtFlags::STATX_DONT_SYNC);
        let file = statx(CWD, path, flags, StatxFlags::BASIC_STATS).ok()?;
        let whole = self.state.details.get("partition").is_none_or(Value::is_null);
        let inode = self.state.inode.as_ref().filter(|_| whole)?;
        let device = (file.stx_rdev_major, file.stx_rdev_minor);
        // Another file or device may have its name by now.
        let size = match FileType::from_raw_mode(file.stx_mode.into()) {
            FileType::RegularFile if inode.number == file.stx_ino => file.stx_size,
            FileType::BlockDevice if inode.device == device => device_bytes(device)?,
            _ => return None,
        };
        (size < end).then_some(size)
    }

    /// The part of its document that stands beside what is known of a volume that is being converted.
    pub(super) fn in_use(&self) -> Map<String, Value> {
        let told = ["device", "file", "mountpoint", "read_only", "answers"].iter().chain(&NOW);
        let mut document = json!(self);
        let fields = document.as_object_mut();
        let take = |fields: &mut Map<String, Value>| {
            told.filter_map(|key| fields.remove_entry(*key)).collect::<Map<_, _>>()
        };
        fields.map(take).unwrap_or_default()
    }
}

/// A block device's size as the kernel tells everybody: it need not be opened.
fn device_bytes((major, minor): (u32, u32)) -> Option<u64> {
    let sectors = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/size")).ok()?;
    sectors.trim().parse::<u64>().ok()?.checked_mul(512)
}

/// A volume whose server was killed: its block device waits for another one, or what it was attached by is still there. Or one
/// that is served, and whose file's name another one has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WaitingVolume {
    /// The volume.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// The block device.
    #[serde(with = "keyway_attach::path_text")]
    pub device: Option<PathBuf>,
    /// Where it is mounted.
    #[serde(with = "keyway_attach::path_text")]
    pub mountpoint: Option<PathBuf>,
}

impl WaitingVolume {
    /// All whose device waits, or those that a name means.
    ///
    /// # Errors
    /// This user's sessions can't be looked at.
    pub fn named(what: Option<&Path>) -> Result<Vec<Self>, Error> {
        Ok(session::waiting_named(what)?.into_iter().map(Self::from).collect())
    }

    /// All others that nobody has closed yet, or those that a name means.
    ///
    /// # Errors
    /// As [`WaitingVolume::named`].
    pub fn killed(what: Option<&Path>) -> Result<Vec<Self>, Error> {
        Ok(session::killed(what)?.into_iter().map(Self::from).collect())
    }
}

impl From<SessionState> for WaitingVolume {
    fn from(SessionState { volume, device, mountpoint, .. }: SessionState) -> Self {
        Self { volume, device, mountpoint }
    }
}

/// What is known of a volume, in the words of `manage-bde -status`. What a locked one keeps to itself is `None`.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct VolumeStatus {
    /// Its format's word.
    pub format: Option<String>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// 2.0 since Windows 7.
    pub bitlocker_version: Option<&'static str>,
    /// "Fully Encrypted", "Fully Decrypted", or how far it is.
    pub conversion_status: String,
    /// How much is encrypted, in percent.
    pub percentage_encrypted: Option<f64>,
    /// "XTS-AES 128".
    pub encryption_method: Option<String>,
    /// "Protection On", "Protection Off" or "Unknown".
    pub protection_status: &'static str,
    /// "Locked" or "Unlocked".
    pub lock_status: &'static str,
    /// What opens it: each with its `id` and `kind`.
    pub key_protectors: Value,
    /// The protector of an open BitLocker volume that opened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<String>,
    /// What its owner wrote on it; a drive's model.
    #[serde(skip)]
    pub description: Option<String>,
    /// That there is less of it than there was, where that shows without a secret.
    #[serde(skip)]
    pub cut_off: Option<String>,
    /// The partition that it is, where a disk was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<DiskPartition>,
    /// How it is open.
    #[serde(skip)]
    pub session: Option<OpenVolume>,
    /// Another user who has it open.
    pub other_user: Option<OtherUser>,
    /// What goes on with its conversion, which nobody works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_with: Option<String>,
    /// Its block device that waits for a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingVolume>,
    /// What its server left, which was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed: Option<WaitingVolume>,
    /// The volume that was there before, which is open yet and has no other name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_before: Option<WaitingVolume>,
}

/// All of it is encrypted.
const ALL_OF_IT: f64 = 100.0;

const FULLY_ENCRYPTED: &str = "Fully Encrypted";
const FULLY_DECRYPTED: &str = "Fully Decrypted";

impl From<OpenVolume> for VolumeStatus {
    fn from(open: OpenVolume) -> Self {
        let details = &open.state.details;
        let volume = details.get("volume").unwrap_or(&Value::Null);
        let text = |key: &str| volume.get(key).and_then(Value::as_str);
        let suspended = volume.get("protection_suspended").and_then(Value::as_bool).unwrap_or_default();
        let percentage = volume.get("percentage_encrypted").and_then(Value::as_f64);
        Self {
            format: text("format").map(str::to_owned),
            size_bytes: open.state.size_bytes,
            bitlocker_version: volume.get("metadata_version").and_then(Value::as_u64).map(bitlocker_version),
            // One that is converted while it is open is told of otherwise.
            conversion_status: at_rest(text("conversion_status").unwrap_or(FULLY_ENCRYPTED)),
            percentage_encrypted: Some(percentage.unwrap_or(ALL_OF_IT)),
            encryption_method: method(volume),
            protection_status: protection(suspended),
            lock_status: "Unlocked",
            key_protectors: details.get("key_protectors").cloned().unwrap_or_else(|| json!([])),
            opened_by: text("opened_by").map(str::to_owned),
            description: text("description").map(str::to_owned),
            cut_off: None,
            partition: None,
            session: Some(open),
            other_user: None,
            resume_with: None,
            waiting: None,
            killed: None,
            open_before: None,
        }
    }
}

impl VolumeStatus {
    /// All of it as one document: its fields, and those of the open volume, which has the last word.
    pub fn document(&self) -> Value {
        let mut document = json!(self);
        if let (Some(fields), Value::Object(session)) = (document.as_object_mut(), json!(self.session)) {
            fields.extend(session);
        }
        document
    }

    /// An open volume whose conversion is through: what its medium says by now goes before what was known when that began.
    pub(super) fn converted(open: OpenVolume) -> Self {
        let seen = Self::locked(&open.state.volume, None).ok().filter(Self::is_known);
        let conversion = open.state.details.pointer("/volume/conversion");
        let is_decrypted = conversion == Some(&json!(ConversionKind::Decryption));
        let begun = Self::from(open);
        let now = match seen {
            Some(seen) => seen,
            // Whatever lies there that is not known.
            None if is_decrypted => Self::decrypted(begun.size_bytes),
            None => return begun,
        };
        Self {
            format: begun.format,
            size_bytes: begun.size_bytes,
            lock_status: begun.lock_status,
            session: begun.session,
            other_user: None,
            resume_with: None,
            ..now
        }
    }

    /// What has no encryption.
    fn decrypted(size_bytes: u64) -> Self {
        Self {
            conversion_status: FULLY_DECRYPTED.to_owned(),
            percentage_encrypted: Some(0.0),
            encryption_method: Some("None".to_owned()),
            protection_status: "Protection Off",
            lock_status: lock_status(true),
            ..Self::of_size(size_bytes)
        }
    }

    /// A volume that is not open here, or a drive that encrypts by itself: BitLocker tells nearly everything, other
    /// volumes nothing.
    ///
    /// # Errors
    /// It can't be read, is plainly no volume, or is damaged.
    pub fn locked(path: &Path, partition: Option<u32>) -> Result<Self, Error> {
        if partition.is_none() && drive::is_drive(path) {
            return Ok(Self::drive(&Drive::open(path)?));
        }
        let arguments = UnlockArguments { partition, ..UnlockArguments::new() };
        let store = disk::open(path, &arguments, Access::ReadOnly, Caching::Buffered)?;
        let traces = if store.is_partition() { None } else { Found::traces_of(path, &store) };
        let seen = Self::seen(path, &store)?;
        Ok(Self { resume_with: seen.resume_with.clone().or(traces), ..seen })
    }

    fn seen(path: &Path, store: &Part) -> Result<Self, Error> {
        if !bitlocker::is_volume(store)? {
            if let Some(container) = Container::on(store)? {
                return Err(Error::Container { path: path.to_owned(), container });
            }
            if bitlocker::first_sector_is_lost(store) {
                return Err(about(path)(BitLockerError::FirstSectorLost));
            }
            // What has a file system in front is nobody's volume; `manage-bde` has these words for it.
            let plain = FoundFileSystem::find(store).is_ok_and(|found| found.is_some());
            let seen = inspect(store).map_err(about(path))?;
            if let Some(reason) = seen.not_a_volume.filter(|_| !plain) {
                return Err(store.not_a_volume(path, reason));
            }
            let other_user = OtherUser::having(path);
            let seen = match plain {
                true => Self::decrypted(store.size()),
                false => Self {
                    conversion_status: "Unknown".to_owned(),
                    lock_status: lock_status(other_user.is_some()),
                    ..Self::of_size(store.size())
                },
            };
            return Ok(Self { other_user, ..seen });
        }
        let seen = bitlocker::look(store).map_err(about(path))?;
        let told = seen.info.conversion_status.words();
        let is_half_way = matches!(
            seen.info.conversion_status,
            Conversion::Encrypting | Conversion::Decrypting | Conversion::EncryptionPaused
        );
        // The metadata says the same of one that was paused, here or by Windows.
        let (conversion_status, paused) = match running(path)? {
            Some(_) => (told.to_owned(), false),
            None => (at_rest(told), is_half_way && !store.is_partition() && !seen.is_read_only()),
        };
        let (info, cut_off) = (seen.info, cut_off(&seen.warnings));
        let other_user = OtherUser::having(path);
        Ok(Self {
            lock_status: lock_status(other_user.is_some()),
            cut_off,
            resume_with: paused.then(|| resume_with(path, None)),
            format: Some(info.format.to_owned()),
            bitlocker_version: Some(bitlocker_version(info.metadata_version.into())),
            conversion_status,
            percentage_encrypted: Some(info.percentage_encrypted),
            encryption_method: Some(info.cipher.windows_name().to_owned()),
            protection_status: protection(info.protection_suspended),
            key_protectors: json!(info.key_protectors),
            description: info.description,
            other_user,
            ..Self::of_size(info.data_bytes)
        })
    }

    /// A drive that encrypts by itself, in the words that Windows has for such volumes.
    fn drive(drive: &Drive) -> Self {
        let state = drive.state();
        let locks = matches!(state, Some(LockState::Locked | LockState::Unlocked));
        Self {
            format: Some("opal".to_owned()),
            percentage_encrypted: Some(ALL_OF_IT),
            encryption_method: drive.encryption_method().map(str::to_owned),
            protection_status: protection(!locks),
            lock_status: lock_status(state != Some(LockState::Locked)),
            description: Some(drive.identity().model.clone()),
            ..Self::of_size(drive.size_bytes())
        }
    }

    /// Nothing but the size is known.
    fn of_size(size_bytes: u64) -> Self {
        Self {
            format: None,
            size_bytes,
            bitlocker_version: None,
            conversion_status: FULLY_ENCRYPTED.to_owned(),
            percentage_encrypted: None,
            encryption_method: None,
            protection_status: "Unknown",
            lock_status: "Locked",
            key_protectors: json!([]),
            opened_by: None,
            description: None,
            cut_off: None,
            partition: None,
            session: None,
            other_user: None,
            resume_with: None,
            waiting: None,
            killed: None,
            open_before: None,
        }
    }

    /// Whether it is known what it is, were it nothing at all.
    pub fn is_known(&self) -> bool {
        self.format.is_some() || self.conversion_status == FULLY_DECRYPTED
    }
}

/// What metadata of that version is called in Windows.
fn bitlocker_version(metadata: u64) -> &'static str {
    if metadata == 1 { "1.0" } else { "2.0" }
}

fn lock_status(is_open: bool) -> &'static str {
    if is_open { "Unlocked" } else { "Locked" }
}

fn protection(suspended: bool) -> &'static str {
    if suspended { "Protection Off" } else { "Protection On" }
}

/// "XTS-AES-Twofish 256" from what the format said.
fn method(volume: &Value) -> Option<String> {
    let word = |key| volume.get(key).and_then(Value::as_str);
    let (cipher, mode) = (word("cipher")?, word("mode")?);
    if let Some(method) = Method::ALL.into_iter().find(|method| method.name() == cipher) {
        return Some(method.windows_name().to_owned());
    }
    let name = |layer: &str| match layer {
        "aes" | "aes128" => "AES".to_owned(),
        "cast5" => "CAST5".to_owned(),
        "des3_ede" => "3DES".to_owned(),
        other => other.chars().take(1).flat_map(char::to_uppercase).chain(other.chars().skip(1)).collect(),
    };
    let names: Vec<String> = cipher.split('-').map(name).collect();
    let chain: keyway_cipher::Chain = cipher.parse().ok()?;
    let bits: Vec<String> = chain.layers().map(|layer| (layer.key_bytes() * 8).to_string()).collect();
    let same = bits.windows(2).all(|pair| pair.first() == pair.last());
    let bits = if same { bits.first().cloned().unwrap_or_default() } else { bits.join("+") };
    Some(format!("{}-{} {bits}", mode.to_uppercase(), names.join("-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_usual_names() {
        let of = |cipher: &str, mode: &str| method(&json!({"cipher": cipher, "mode": mode}));
        assert_eq!(of("aes", "xts").as_deref(), Some("XTS-AES 256"));
        assert_eq!(of("aes-twofish-serpent", "xts").as_deref(), Some("XTS-AES-Twofish-Serpent 256"));
        assert_eq!(of("aes-blowfish", "inner-cbc").as_deref(), Some("INNER-CBC-AES-Blowfish 256+448"));
        assert_eq!(method(&Value::Null), None);
    }
}
