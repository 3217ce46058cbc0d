//! Making a protector with a TPM.

use super::super::codes::{Protection, algorithm, kind, role};
use super::super::entry::{Entries, Entry, Nonce, Protector, StretchKey, UseKey, Value};
use super::super::filetime::FileTime;
use super::super::guid::Guid;
use super::super::seal::{SEALING_KEY_BYTES, SecretKey, seal};
use super::super::startup_key::StartupKey;
use super::blob;
use super::error::TpmProtectorError;
use super::pin::Pin;
use super::unlock::{TpmSecrets, unseal};
use keyway_secret::SecretBytes;
use keyway_tpm::{Pcrs, Tpm};
use std::sync::atomic::AtomicBool;

/// What Windows hashes into a PIN's authorization value.
const LABEL: &[u8; 20] = b"BitLockerAuthData\0\0\0";

/// What a new protector asks for besides the TPM.
#[derive(Clone, Copy)]
pub struct TpmProtection<'a> {
    /// The registers whose values of now it is bound to.
    pub pcrs: Pcrs,
    /// A PIN.
    pub pin: Option<&'a Pin>,
    /// Whether a startup key is made, and asked for.
    pub startup_key: bool,
    /// Its name in lists.
    pub name: Option<&'a str>,
}

/// A new protector.
pub struct TpmProtected {
    /// To be put among the volume's entries, with the role [`role::PROTECTOR`].
    pub protector: Protector,
    /// To be written to a medium of its own before the protector is put there.
    pub startup_key: Option<StartupKey>,
}

/// Makes a protector for a volume master key. `next_nonce` gives the volume's next nonce, up to four
/// of them, each once. The protector has been tried when it comes back: the TPM has given the key
/// again. Nothing is left in the TPM.
///
/// # Errors
/// The TPM refuses, or the system has no random numbers to give.
pub fn protect(
    tpm: &mut Tpm,
    master: &SecretKey,
    wanted: &TpmProtection<'_>,
    mut next_nonce: impl FnMut() -> Nonce,
) -> Result<TpmProtected, TpmProtectorError> {
    let startup_key = if wanted.startup_key { Some(StartupKey::random()?) } else { None };
    let id = match &startup_key {
        Some(key) => key.id,
        None => Guid::random()?,
    };
    let mut list = Vec::new();
    let mut push = |value| list.push(Entry::new(role::PROPERTY, value));
    if let Some(name) = wanted.name {
        push(Value::text(name));
    }

    let between = if wanted.pin.is_some() || wanted.startup_key { Some(intermediate()?) } else { None };
    let sealed = match (wanted.pin, &between) {
        (Some(pin), Some(between)) => {
            let mut salt = [0; 16];
            getrandom::fill(&mut salt)?;
            let kept =
                SecretKey { algorithm: algorithm::PIN, flags: algorithm::PIN_STRETCHED, bytes: pin.kept() };
            let enhanced = if pin.only_digits() { 0 } else { algorithm::PIN_ENHANCED };
            push(Value::StretchKey(StretchKey {
                algorithm: algorithm::PIN,
                flags: algorithm::PIN_STRETCHED | enhanced,
                salt,
                entries: alone(kept.seal(&master.bytes, next_nonce())),
            }));
            push(zeros(kind::SIMPLE_1));
            push(Value::Raw { kind: kind::CONCAT_HASH_KEY, bytes: LABEL.to_vec() });
            let stretched = pin.stretch(&salt, &AtomicBool::new(false)).ok_or(TpmProtectorError::Stopped)?;
            let inner = seal(&stretched.0, next_nonce(), &between.to_plain());
            let mut entry = Vec::new();
            // The entry that the TPM seals has no flags, unlike those around it.
            let inner = Entry { role: role::PROPERTY, flags: 0, value: Value::Sealed(inner) };
            inner.write(&mut entry).map_err(|_| TpmProtectorError::Damaged("sealed key"))?;
            tpm.seal(&SecretBytes::take(&mut entry), Some(&stretched.authorization(LABEL)), wanted.pcrs)?
        }
        (_, Some(between)) => tpm.seal(&between.to_plain(), None, wanted.pcrs)?,
        (_, None) => tpm.seal(&master.to_plain(), None, wanted.pcrs)?,
    };
    push(Value::TpmBlob(blob::entry(&sealed)));
    if wanted.pin.is_some() {
        push(zeros(kind::SIMPLE_2));
        push(zeros(kind::SIMPLE_3));
    }
    if let Some(startup_key) = &startup_key {
        push(Value::UseKey(UseKey {
            algorithm: algorithm::EXTERNAL,
            flags: 0,
            entries: alone(startup_key.key.seal(&master.bytes, next_nonce())),
        }));
    }
    if let Some(mut between) = between {
        if let Some(startup_key) = &startup_key {
            between.bytes.iter_mut().zip(&startup_key.key.bytes[..]).for_each(|(byte, other)| *byte ^= other);
        }
        push(Value::Sealed(master.seal(&between.bytes, next_nonce())));
    }
    let protection = match (wanted.pin.is_some(), wanted.startup_key) {
        (false, false) => Protection::Tpm,
        (false, true) => Protection::TpmStartupKey,
        (true, false) => Protection::TpmPin,
        (true, true) => Protection::TpmPinStartupKey,
    };
    let entries = Entries { list, rest: Vec::new() };
    let protector = Protector { id, changed: FileTime::now(), flags: 0, protection, entries };
    check(tpm, master, wanted, &protector, startup_key.as_ref())?;
    Ok(TpmProtected { protector, startup_key })
}

/// That the TPM gives the key again, before anybody relies on it.
fn check(
    tpm: &mut Tpm,
    master: &SecretKey,
    wanted: &TpmProtection<'_>,
    protector: &Protector,
    startup_key: Option<&StartupKey>,
) -> Result<(), TpmProtectorError> {
    let secrets = TpmSecrets {
        pin: wanted.pin,
        startup_keys: startup_key.map_or(&[], std::slice::from_ref),
        stop: &AtomicBool::new(false),
    };
    let again = unseal(protector, tpm, &secrets)?;
    if again.bytes.same_as(&master.bytes) { Ok(()) } else { Err(TpmProtectorError::Damaged("sealed key")) }
}

fn intermediate() -> Result<SecretKey, TpmProtectorError> {
    let mut bytes = SecretBytes::zeroed(SEALING_KEY_BYTES);
    getrandom::fill(&mut bytes)?;
    Ok(SecretKey { algorithm: algorithm::CLEAR, flags: 0, bytes })
}

fn alone(sealed: super::super::entry::Sealed) -> Entries {
    let entry = Entry::new(role::PROPERTY, Value::Sealed(sealed));
    Entries { list: vec![entry], rest: Vec::new() }
}

fn zeros(kind: u16) -> Value {
    Value::Raw { kind, bytes: vec![0; 4] }
}
