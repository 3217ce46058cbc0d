//! Making protectors: each is one more way to the same volume master key.
//!
//! ```text
//! password           stretch key 0x1001 { sealed: what it stretches to }, sealed: master key
//! recovery password  stretch key 0x1000 { sealed 0x12: its 16 bytes, sealed 0x13: what it
//!                    stretches to }, sealed: master key
//! startup key        text "ExternalKey", use key 0x2002 { sealed: the key }, sealed: master key
//! clear key          key 0x2000 in the open, sealed: master key
//! ```
//!
//! What is inside the braces is sealed *with* the master key: it lets those who have opened the
//! volume print a recovery password, write a lost startup key's file again, or seal a new master
//! key for an old password. The master key itself is sealed with what the secret stretches to, or
//! with the key in the file.
//!
//! Order, roles and algorithms are those of the volumes that Windows made; their meaning is
//! libbde's account.

use super::block::Dataset;
use super::codes::{Protection, algorithm, role};
use super::entry::{Entries, Entry, Key, Nonce, Protector, StretchKey, UseKey, Value};
use super::filetime::FileTime;
use super::guid::Guid;
use super::password::PasswordHash;
use super::recovery::RecoveryPassword;
use super::seal::{SEALING_KEY_BYTES, SecretKey};
use super::startup_key::StartupKey;
use crate::progress::NEVER;
use keyway_error::explain;
use keyway_secret::SecretBytes;
use std::sync::atomic::AtomicBool;

/// Flags of a clear key's entry in volumes that Windows made; the others have 1.
const CLEAR_KEY_FLAGS: u16 = 3;

/// The shortest password that Windows takes (in UTF-16 units), unless a policy says otherwise.
pub(crate) const SHORTEST_PASSWORD: usize = 8;

/// The longest password that Windows takes (in UTF-16 units).
pub(crate) const LONGEST_PASSWORD: usize = 256;

/// Why a protector was not made.
#[derive(Debug, thiserror::Error)]
pub enum ProtectError {
    /// Windows would not take it.
    #[error("the password has {0} characters")]
    PasswordLength(usize),
    /// Not text.
    #[error("the password is not UTF-8 text, and BitLocker's passwords are text")]
    PasswordText,
    /// Stretching the password came to no end.
    #[error("the password was not stretched")]
    Stopped,
    /// No random numbers.
    #[error("the system gave no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

explain! { ProtectError {
    Self::PasswordLength(_) =>
        [Usage Request, PasswordLengths { least: SHORTEST_PASSWORD, most: LONGEST_PASSWORD }],
    Self::PasswordText => [Request, TakeAnotherPassword],
    Self::Stopped => [Interrupted Stopped],
    Self::Random(_) => [Ours, ReportWithDoctor],
} }

/// Makes protectors for one volume: its master key, and the data set whose nonces they use up.
pub struct ProtectorMaker<'a> {
    /// The volume master key.
    pub master: &'a SecretKey,
    /// Where the next nonce comes from; the protector made is the caller's to add.
    pub dataset: &'a mut Dataset,
    /// The time in nonces and protectors; see [`ProtectorMaker::new`].
    pub time: FileTime,
    /// Ends the derivation of a key before its end.
    pub(crate) stop: &'a AtomicBool,
}

/// FILETIME steps in a millisecond: Windows cuts the times of nonces and protectors to these.
const MILLISECOND: u64 = 10_000;

/// Whether Windows would take that password, in UTF-8.
///
/// # Errors
/// It is no text, too short or too long.
pub fn check_password(utf8: &[u8]) -> Result<(), ProtectError> {
    let units = std::str::from_utf8(utf8).map_err(|_| ProtectError::PasswordText)?.encode_utf16().count();
    let fits = (SHORTEST_PASSWORD..=LONGEST_PASSWORD).contains(&units);
    if fits { Ok(()) } else { Err(ProtectError::PasswordLength(units)) }
}

impl<'a> ProtectorMaker<'a> {
    /// Makes protectors of the present time.
    pub fn new(master: &'a SecretKey, dataset: &'a mut Dataset) -> Self {
        let time = FileTime(FileTime::now().0 / MILLISECOND * MILLISECOND);
        Self { master, dataset, time, stop: &NEVER }
    }

    /// For a password, in UTF-8.
    ///
    /// # Errors
    /// Windows would not take the password, or there are no random numbers.
    pub fn password(&mut self, id: Guid, utf8: &[u8]) -> Result<Entry, ProtectError> {
        check_password(utf8)?;
        let hash = PasswordHash::of_password(utf8).map_err(|_| ProtectError::PasswordText)?;
        let (salt, stretched) = stretch(&hash, self.stop)?;
        let kept = self.kept(algorithm::STRETCHED_PASSWORD_KEPT, &stretched);
        let stretch_key =
            StretchKey { algorithm: algorithm::PASSWORD, flags: 0, salt, entries: list([kept]) };
        let master = self.master_sealed(&stretched);
        self.protector(Protection::Password, id, [property(Value::StretchKey(stretch_key)), master])
    }

    /// For a recovery password.
    pub fn recovery_password(
        &mut self,
        id: Guid,
        recovery: &RecoveryPassword,
    ) -> Result<Entry, ProtectError> {
        let (salt, stretched) = stretch(&PasswordHash::of_recovery_password(recovery), self.stop)?;
        let backup = self.kept(algorithm::RECOVERY_PASSWORD, recovery.bytes());
        let kept = self.kept(algorithm::STRETCHED_RECOVERY_KEPT, &stretched);
        let entries = list([
            Entry { role: role::RECOVERY_PASSWORD_BACKUP, ..backup },
            Entry { role: role::STRETCHED_BACKUP, ..kept },
        ]);
        let stretch_key = StretchKey { algorithm: algorithm::RECOVERY_PASSWORD, flags: 0, salt, entries };
        let master = self.master_sealed(&stretched);
        self.protector(Protection::RecoveryPassword, id, [property(Value::StretchKey(stretch_key)), master])
    }

    /// For the key in a .BEK file.
    pub fn startup_key(&mut self, key: &StartupKey) -> Result<Entry, ProtectError> {
        let name = Value::Text(key.name.clone());
        let kept = self.kept(algorithm::EXTERNAL, &key.key.bytes);
        let used = UseKey { algorithm: algorithm::EXTERNAL, flags: 0, entries: list([kept]) };
        let master = self.master_sealed(&key.key.bytes);
        self.protector(
            Protection::StartupKey,
            key.id,
            [property(name), property(Value::UseKey(used)), master],
        )
    }

    /// With the key lying beside it: protection is suspended, the volume opens without a secret.
    pub fn clear_key(&mut self, id: Guid) -> Result<Entry, ProtectError> {
        let mut bytes = vec![0; SEALING_KEY_BYTES];
        getrandom::fill(&mut bytes)?;
        let master = self.master_sealed(&bytes);
        let key = Key { algorithm: algorithm::CLEAR, flags: 0, bytes };
        let entry = self.protector(Protection::ClearKey, id, [property(Value::Key(key)), master])?;
        Ok(Entry { flags: CLEAR_KEY_FLAGS, ..entry })
    }

    /// Any protector: what it asks for, its identifier, its parts.
    pub fn protector<const N: usize>(
        &mut self,
        protection: Protection,
        id: Guid,
        parts: [Entry; N],
    ) -> Result<Entry, ProtectError> {
        let changed = self.time;
        let protector = Protector { id, changed, flags: 0, protection, entries: list(parts) };
        Ok(Entry::new(role::PROTECTOR, Value::Protector(protector)))
    }

    /// The master key sealed with `key`, as a protector's last part.
    pub(crate) fn master_sealed(&mut self, key: &[u8]) -> Entry {
        let nonce = self.nonce();
        property(Value::Sealed(self.master.seal(key, nonce)))
    }

    /// A key sealed with the master key.
    pub fn kept(&mut self, algorithm: u16, key: &[u8]) -> Entry {
        let nonce = self.nonce();
        let key = SecretKey { algorithm, flags: 0, bytes: SecretBytes::copy_of(key) };
        property(Value::Sealed(key.seal(&self.master.bytes, nonce)))
    }

    fn nonce(&mut self) -> Nonce {
        Nonce { time: self.time.0, counter: self.dataset.take_nonce() }
    }
}

/// A new salt, and what the hash stretches to with it.
fn stretch(hash: &PasswordHash, stop: &AtomicBool) -> Result<([u8; 16], SecretBytes), ProtectError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt)?;
    let stretched = hash.stretch(&salt, stop).ok_or(ProtectError::Stopped)?;
    Ok((salt, stretched))
}

fn property(value: Value) -> Entry {
    Entry::new(role::PROPERTY, value)
}

fn list<const N: usize>(entries: [Entry; N]) -> Entries {
    Entries { list: entries.into(), rest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Guid = Guid([3; 16]);

    use crate::bitlocker::seal::unseal;

    fn master() -> SecretKey {
        SecretKey { algorithm: algorithm::MASTER, flags: 0, bytes: SecretBytes::copy_of(&[9; 32]) }
    }

    fn dataset() -> Dataset {
        Dataset {
            version: 1,
            volume: Guid([1; 16]),
            next_nonce: 2,
            method: 0x8004,
            second_method: 0x8004,
            created: FileTime(0),
            entries: Entries::default(),
        }
    }

    fn made(make: impl FnOnce(&mut ProtectorMaker<'_>) -> Result<Entry, ProtectError>) -> (Protector, u32) {
        let (master, mut dataset) = (master(), dataset());
        let entry = make(&mut ProtectorMaker::new(&master, &mut dataset)).expect("made");
        let Value::Protector(protector) = entry.value else { panic!("no protector") };
        (protector, dataset.next_nonce)
    }

    fn opens(protector: &Protector, key: &[u8]) -> bool {
        let sealed = protector.entries.sealed(role::PROPERTY).expect("sealed");
        SecretKey::unseal(key, sealed)
            .is_some_and(|key| key.bytes.same_as(&[9; 32]) && key.algorithm == 0x2003)
    }

    fn stretched(protector: &Protector, hash: &PasswordHash) -> SecretBytes {
        let salt = protector.entries.stretch_key().expect("a salt").salt;
        hash.stretch(&salt, &AtomicBool::new(false)).expect("not stopped")
    }

    #[test]
    fn a_password_opens_its_protector() {
        let (protector, next) = made(|m| m.password(ID, "pässwörd €😀".as_bytes()));
        assert_eq!((protector.protection, next), (Protection::Password, 4));
        let key = stretched(&protector, &PasswordHash::of_password("pässwörd €😀".as_bytes()).expect("text"));
        assert!(opens(&protector, &key));
        let other = stretched(&protector, &PasswordHash::of_password(b"another one").expect("text"));
        assert!(!opens(&protector, &other));
        let kept =
            protector.entries.stretch_key().expect("salt").entries.sealed(role::PROPERTY).expect("kept");
        assert!(SecretKey::unseal(&[9; 32], kept).is_some_and(|kept| kept.bytes.same_as(&key)));
    }

    #[test]
    fn a_recovery_password_opens_its_protector_and_can_be_printed() {
        let recovery = RecoveryPassword::random().expect("random");
        let (protector, next) = made(|m| m.recovery_password(ID, &recovery));
        assert_eq!((protector.protection, next), (Protection::RecoveryPassword, 5));
        assert!(opens(&protector, &stretched(&protector, &PasswordHash::of_recovery_password(&recovery))));
        let salt = protector.entries.stretch_key().expect("salt");
        let backup = salt.entries.sealed(role::RECOVERY_PASSWORD_BACKUP).expect("backup");
        let kept = SecretKey::unseal(&[9; 32], backup).expect("opens");
        assert!(kept.bytes.same_as(recovery.bytes()));
    }

    #[test]
    fn a_startup_key_and_a_clear_key_open_theirs() {
        let key = StartupKey::random().expect("random");
        let (protector, _) = made(|m| m.startup_key(&key));
        assert_eq!((protector.id, protector.protection), (key.id, Protection::StartupKey));
        assert!(opens(&protector, &key.key.bytes));
        let (protector, next) = made(|m| m.clear_key(ID));
        assert_eq!((protector.protection, next), (Protection::ClearKey, 3));
        assert!(opens(&protector, &protector.entries.key().expect("in the open").bytes));
    }

    #[test]
    fn passwords_that_windows_would_not_take_are_refused() {
        let (master, mut dataset) = (master(), dataset());
        let mut maker = ProtectorMaker::new(&master, &mut dataset);
        assert!(matches!(maker.password(ID, b"1234567"), Err(ProtectError::PasswordLength(7))));
        assert!(matches!(maker.password(ID, &[b'x'; 257]), Err(ProtectError::PasswordLength(257))));
        assert!(matches!(
            maker.password(ID, b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"),
            Err(ProtectError::PasswordText)
        ));
    }

    #[test]
    fn sizes_are_those_that_windows_writes() {
        // A sealed master key fills an entry of 80 bytes; a password's protector 224, as in
        // bitlk-aes-xts-128 (36 of its own, 108 for the salt and what is kept, 80).
        let (master, mut dataset) = (master(), dataset());
        let mut maker = ProtectorMaker::new(&master, &mut dataset);
        let mut bytes = Vec::new();
        maker.password(ID, b"anaconda").expect("made").write(&mut bytes).expect("short");
        assert_eq!(bytes.len(), 36 + 108 + 80);
        assert!(
            unseal(
                &[0; 32],
                Entries::parse(&bytes)
                    .protectors()
                    .next()
                    .expect("one")
                    .entries
                    .sealed(role::PROPERTY)
                    .expect("sealed")
            )
            .is_none()
        );
    }
}
