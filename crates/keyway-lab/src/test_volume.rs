//! The volumes that are measured: they hold nothing and live for minutes.

use crate::error::LabError;
use crate::target::Target;
use keyway_cipher::{Chain, CipherError};
use keyway_engine::{Layout, Mapping, Segment};
use keyway_secret::SecretBytes;
use keyway_store::Store;
use keyway_volume::Secrets;
use keyway_volume::bitlocker::{self, Method, NewProtectors, StartupKey};
use keyway_volume::veracrypt::{self, Fill, HashName};
use std::sync::Arc;

/// Volumes start here on the drive, plain ones as well: behind VeraCrypt's headers (128 KiB).
pub(crate) const DATA_START: u64 = 128 << 10;

/// Makes the volume of a target on a store, over whatever was there.
pub(crate) fn make(store: &Arc<dyn Store>, target: &Target) -> Result<Layout, LabError> {
    let wrong = |why: String| LabError::Target(target.to_string(), why);
    let layout = match target {
        Target::Plain => {
            let len = store.size().saturating_sub(2 * DATA_START);
            let segment = Segment { start: 0, len, mapping: Mapping::Plain { store_offset: DATA_START } };
            Layout::new(store.sector_bytes(), vec![segment])?
        }
        Target::VeraCrypt(cipher) => {
            let cipher = veracrypt_cipher(target, cipher)?;
            let secrets = secrets();
            let new =
                veracrypt::NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
            let made = veracrypt::create(store.as_ref(), &new, &());
            made.map_err(|e| LabError::volume(&e))?.layout
        }
        Target::BitLocker(cipher) => {
            let method = known_method(target, cipher)?;
            let key = StartupKey::random().map_err(|e| LabError::Volume(e.to_string(), Vec::new()))?;
            let protectors = NewProtectors { startup_key: Some(key), ..NewProtectors::default() };
            let new = bitlocker::NewVolume {
                protectors: &protectors,
                method,
                fill: bitlocker::Fill::UsedSpaceOnly,
                filesystem: None,
                to_go: false,
                description: "keyway lab",
            };
            let made = bitlocker::create(store, &new, &());
            made.map_err(|e| LabError::volume(&e))?.layout
        }
        Target::Bare | Target::Hardware(_) | Target::At(_) => {
            return Err(wrong("it is not made here".to_owned()));
        }
    };
    Ok(layout)
}

/// Refuses a cipher that no such volume has, before anything is made or said of how long it takes.
pub(crate) fn must_be_known(target: &Target) -> Result<(), LabError> {
    match target {
        Target::VeraCrypt(cipher) => veracrypt_cipher(target, cipher).map(drop),
        Target::BitLocker(cipher) => known_method(target, cipher).map(drop),
        Target::Plain | Target::Bare | Target::Hardware(_) | Target::At(_) => Ok(()),
    }
}

fn veracrypt_cipher(target: &Target, cipher: &str) -> Result<Chain, LabError> {
    cipher.parse().map_err(|e: CipherError| LabError::Target(target.to_string(), e.to_string()))
}

fn known_method(target: &Target, cipher: &str) -> Result<Method, LabError> {
    bitlocker_method(cipher).ok_or_else(|| {
        let names = METHODS.map(Method::name).join(", ");
        LabError::Target(target.to_string(), format!("BitLocker's ciphers are {names}"))
    })
}

/// What a BitLocker volume may be made with.
const METHODS: [Method; 4] = [Method::Xts128, Method::Xts256, Method::Cbc128, Method::Cbc256];

/// The method of that name, where a BitLocker volume may be made with it.
pub fn bitlocker_method(cipher: &str) -> Option<Method> {
    METHODS.into_iter().find(|m| m.name() == cipher)
}

/// What opens a VeraCrypt volume of the laboratory's.
pub(crate) fn secrets() -> Secrets {
    // PIM 1 makes the key derivation short; the volume holds nothing and lives for minutes.
    Secrets { password: SecretBytes::copy_of(b"keyway laboratory"), keyfiles: Vec::new(), pim: Some(1) }
}
