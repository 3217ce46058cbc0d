//! Unlocks the volume master key with a TPM protector.

use super::super::codes::{Protection, algorithm, kind, role};
use super::super::entry::{Entries, Protector, Sealed, StretchKey, TpmBlob, Value};
use super::super::guid::Guid;
use super::super::seal::{SEALING_KEY_BYTES, SecretKey};
use super::super::startup_key::StartupKey;
use super::blob;
use super::error::TpmProtectorError;
use super::pin::{Pin, StretchedPin};
use keyway_secret::SecretBytes;
use keyway_tpm::{Pcrs, Tpm};
use std::sync::atomic::AtomicBool;

/// What the user gives besides the TPM.
#[derive(Clone, Copy)]
pub struct TpmSecrets<'a> {
    /// The PIN.
    pub pin: Option<&'a Pin>,
    /// Startup keys; the one with the protector's identifier counts.
    pub startup_keys: &'a [StartupKey],
    /// Set from elsewhere, it ends the stretching of the PIN.
    pub stop: &'a AtomicBool,
}

/// Whether a protector of that kind wants a PIN, and whether it wants a startup key; `None` where
/// it has no TPM that this program can ask.
pub(super) fn wants(protection: Protection) -> Option<(bool, bool)> {
    match protection {
        Protection::Tpm => Some((false, false)),
        Protection::TpmStartupKey => Some((false, true)),
        Protection::TpmPin => Some((true, false)),
        Protection::TpmPinStartupKey => Some((true, true)),
        _ => None,
    }
}

/// The volume master key by one of the protectors with a TPM, or by the one with that identifier;
/// and which it was. The TPM is asked only for protectors whose PIN and startup key are there, so
/// no try is wasted.
///
/// # Errors
/// There is none, or the first one's reason not to open.
pub fn unseal_any(
    entries: &Entries,
    wanted: Option<Guid>,
    tpm: &mut Tpm,
    secrets: &TpmSecrets<'_>,
) -> Result<(SecretKey, Guid), TpmProtectorError> {
    let mut failure = None;
    for protector in entries.protectors().filter(|p| wanted.is_none_or(|id| id == p.id)) {
        if wants(protector.protection).is_none() && wanted.is_none() {
            continue;
        }
        match unseal(protector, tpm, secrets) {
            Ok(master) => return Ok((master, protector.id)),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or(TpmProtectorError::NoProtector))
}

/// The volume master key by this protector.
///
/// # Errors
/// See [`TpmProtectorError`]. What the user has forgotten to give is told before the TPM is asked.
pub fn unseal(
    protector: &Protector,
    tpm: &mut Tpm,
    secrets: &TpmSecrets<'_>,
) -> Result<SecretKey, TpmProtectorError> {
    let other = || TpmProtectorError::OtherKind(protector.id, protector.protection);
    let (wants_pin, wants_startup_key) = wants(protector.protection).ok_or_else(other)?;
    let object = blob::parse(tpm_blob(protector).ok_or(TpmProtectorError::Damaged("sealed key"))?)?;
    let startup_key = if wants_startup_key { Some(startup_key(protector, secrets)?) } else { None };
    let (stretched, authorization) = if wants_pin {
        let pin = secrets.pin.ok_or(TpmProtectorError::NeedsPin)?;
        let salt = salted(protector)?.salt;
        let stretched = pin.stretch(&salt, secrets.stop).ok_or(TpmProtectorError::Stopped)?;
        let authorization = stretched.authorization(label(protector)?);
        (Some(stretched), Some(authorization))
    } else {
        (None, None)
    };
    let unsealed = tpm.unseal(&object, authorization.as_ref())?;
    open(protector, &unsealed, stretched.as_ref(), startup_key)
}

/// The volume master key out of what the TPM unsealed.
fn open(
    protector: &Protector,
    unsealed: &SecretBytes,
    stretched: Option<&StretchedPin>,
    startup_key: Option<&StartupKey>,
) -> Result<SecretKey, TpmProtectorError> {
    const INSIDE: TpmProtectorError = TpmProtectorError::Damaged("sealed key's content");
    let key = match stretched {
        None => SecretKey::parse(unsealed),
        // What is in it is encrypted still.
        Some(stretched) => sealed_entry(unsealed).and_then(|inner| SecretKey::unseal(&stretched.0, &inner)),
    };
    let mut key = key.filter(|key| key.bytes.len() == SEALING_KEY_BYTES).ok_or(INSIDE)?;
    let Some(sealed) = protector.entries.sealed(role::PROPERTY) else {
        // Without a key in between, what the TPM sealed is the volume master key itself.
        return if key.algorithm == algorithm::MASTER { Ok(key) } else { Err(INSIDE) };
    };
    if let Some(startup_key) = startup_key {
        key.bytes.iter_mut().zip(&startup_key.key.bytes[..]).for_each(|(byte, other)| *byte ^= other);
    }
    let master = SecretKey::unseal(&key.bytes, sealed).filter(|key| key.bytes.len() == SEALING_KEY_BYTES);
    master.ok_or(match startup_key {
        Some(startup_key) => TpmProtectorError::WrongStartupKey(startup_key.id),
        None => TpmProtectorError::Damaged("copy of the volume master key"),
    })
}

fn startup_key<'a>(
    protector: &Protector,
    secrets: &TpmSecrets<'a>,
) -> Result<&'a StartupKey, TpmProtectorError> {
    let found = secrets.startup_keys.iter().find(|key| key.id == protector.id);
    found.ok_or(match secrets.startup_keys {
        [] => TpmProtectorError::NeedsStartupKey(protector.id),
        _ => TpmProtectorError::OtherStartupKey(protector.id),
    })
}

/// The registers that a protector's sealed key is bound to; none where it has no such key.
pub fn pcrs_of(protector: &Protector) -> Option<Pcrs> {
    Pcrs::from_bitmap(tpm_blob(protector)?.pcrs)
}

fn tpm_blob(protector: &Protector) -> Option<&TpmBlob> {
    protector
        .entries
        .with_role(role::PROPERTY)
        .find_map(|value| if let Value::TpmBlob(blob) = value { Some(blob) } else { None })
}

/// The stretch key of a PIN in the way of Windows 8 and later.
fn salted(protector: &Protector) -> Result<&StretchKey, TpmProtectorError> {
    let stretch = protector.entries.stretch_key().ok_or(TpmProtectorError::OldPin)?;
    if stretch.algorithm != algorithm::PIN || stretch.flags & algorithm::PIN_STRETCHED == 0 {
        return Err(TpmProtectorError::OldPin);
    }
    Ok(stretch)
}

fn label(protector: &Protector) -> Result<&[u8], TpmProtectorError> {
    let found = protector.entries.with_role(role::PROPERTY).find_map(|value| match value {
        Value::Raw { kind: kind::CONCAT_HASH_KEY, bytes } => Some(&bytes[..]),
        _ => None,
    });
    found.ok_or(TpmProtectorError::OldPin)
}

/// The sealed entry among these bytes.
fn sealed_entry(bytes: &[u8]) -> Option<Sealed> {
    if let Value::Sealed(sealed) = Entries::parse_first(bytes)?.value { Some(sealed) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::super::filetime::FileTime;
    use super::*;
    use keyway_testkit::hex;

    fn secret(text: &str) -> SecretBytes {
        SecretBytes::copy_of(&hex(text))
    }

    /// A protector of Windows with the entry that seals its volume master key.
    fn windows(protection: Protection, sealed: &str) -> Protector {
        let entries = Entries::parse(&hex(sealed));
        assert!(entries.rest.is_empty());
        Protector { id: Guid([7; 16]), changed: FileTime(0), flags: 0, protection, entries }
    }

    fn startup_key(key: &str) -> StartupKey {
        StartupKey {
            id: Guid([7; 16]),
            created: FileTime(0),
            changed: FileTime(0),
            name: Vec::new(),
            key: SecretKey { algorithm: algorithm::EXTERNAL, flags: 0, bytes: secret(key) },
        }
    }

    fn stretched(salt: &str) -> StretchedPin {
        let pin = Pin::new(b"87654321").expect("text");
        let salt = hex(salt).try_into().expect("16 bytes");
        pin.stretch(&salt, &AtomicBool::new(false)).expect("not stopped")
    }

    // Below: what en4rab read off the wires of real machines and published with SPITkey. The
    // startup keys were taken out of the protectors with the volume master keys.

    #[test]
    fn a_tpm_alone_gives_the_master_key_of_a_real_volume() {
        let master = "ed2a4bae5476f99aa81edf7195692f9f5035a8e122ac8e4740934620d6a6e796";
        let unsealed = secret(&format!("2c0000000100000003200000{master}"));
        let key = open(&windows(Protection::Tpm, ""), &unsealed, None, None).expect("opens");
        assert!(key.bytes.same_as(&hex(master)));
        let other = secret(&format!("2c0000000100000000200000{master}"));
        assert!(matches!(
            open(&windows(Protection::Tpm, ""), &other, None, None),
            Err(TpmProtectorError::Damaged(_))
        ));
    }

    #[test]
    fn tpm_and_startup_key_open_a_real_volume() {
        let protector = windows(
            Protection::TpmStartupKey,
            "5000000005000100 0018845ac897d901 15000000 91b825c4fde56beb260c792771df09f4 \
             a1c027af6716692971a43fbb28a65c1b0edb44e6a39b71b51dadb7cbd2c928b524202a6d0cd98ccb2bb7c4ca",
        );
        let unsealed = secret(
            "2c0000000100000000200000 f49b79da4f3f3247acfac90817995c0c52484896fd5837205c4f0ec31baf74d7",
        );
        let right = startup_key("d1bf5e99123c1941525b91f7d52bd8282d91145f1cf6fa8595617ccbe4683207");
        let key = open(&protector, &unsealed, None, Some(&right)).expect("opens");
        assert!(key.bytes.same_as(&hex("ed2a4bae5476f99aa81edf7195692f9f5035a8e122ac8e4740934620d6a6e796")));
        let wrong = startup_key("d1bf5e99123c1941525b91f7d52bd8282d91145f1cf6fa8595617ccbe4683208");
        assert!(matches!(
            open(&protector, &unsealed, None, Some(&wrong)),
            Err(TpmProtectorError::WrongStartupKey(_))
        ));
    }

    #[test]
    fn tpm_and_pin_open_a_real_volume() {
        let protector = windows(
            Protection::TpmPin,
            "5000000005000100 90d1b018b93bd901 0b000000 4d076ec5223772227cad6bba60fed4ba \
             10460210bc7acf754e1fd00c2c2f63e2d0b5a108d2a2d59ee1c808587310a4feb5e37f4e32425a2745ecc5eb",
        );
        let unsealed = secret(
            "500000000500000090d1b018b93bd9010a000000add200b999cfea54f49aefe715cea27b26f35ef66440e1ba\
             f568450169486bd5fdd157961c623b1faade994d21b91df54a09e99a4c319c85b6d0705e",
        );
        let stretched = stretched("f9339faeb3ccb8a21155389bf0bd7581");
        let key = open(&protector, &unsealed, Some(&stretched), None).expect("opens");
        assert!(key.bytes.same_as(&hex("9ec51b4b4ab8e17a56a6f5c37fe968595c044af8922e4f4aff868de9e6c80502")));
    }

    #[test]
    fn tpm_pin_and_startup_key_open_a_real_volume() {
        let protector = windows(
            Protection::TpmPinStartupKey,
            "5000000005000100 d0b9f9464399d901 38000000 db0f8508ee60c5ca16ecbca30529fb71 \
             a88c525313b0de26bb306fff9e6ba07b994dd7aafa5aac3f3e3a837c498afbf8680a6bade82b53d68f5c9d23",
        );
        let unsealed = secret(
            "5000000005000000d0b9f9464399d901360000005af22c9f8979bb5373f41858bf2436b2ff70c2a3e5a4eb40\
             28f6928cd1642e53ff3a178a608090fc93372461d64c3f19cff17ea8e1ad2454127aaa19",
        );
        let stretched = stretched("a21b9bcd87b0a1d5352f67dec4ab8198");
        let startup_key = startup_key("926c2671f1234222a4410e3380dc73e948aa597643e2c8d0e99f0748d7538fd7");
        let key = open(&protector, &unsealed, Some(&stretched), Some(&startup_key)).expect("opens");
        assert!(key.bytes.same_as(&hex("c0b8abce7d44d7a2aeb045bba09531ebab489cda3b5a3eace5e7a9ccdb5d4a96")));
    }
}
