//! Hashes passwords and recovery passwords to the 32 bytes that are stretched.
//!
//! A password: SHA-256 of the SHA-256 of its UTF-16LE. A recovery password: SHA-256 of its 16 bytes.
//! Source: libbde's format description ("User key", "Recovery key").

use super::error::BitLockerError;
use super::recovery::RecoveryPassword;
use crate::looks::Looks;
use keyway_secret::{SecretBytes, wipe_stack};
use sha2::{Digest, Sha256};
use std::sync::atomic::AtomicBool;
use zeroize::Zeroize;

/// Bytes of what is stretched.
const HASH_BYTES: usize = 32;

/// What a password or a recovery password is before it is stretched with a protector's salt.
pub struct PasswordHash(SecretBytes);

impl PasswordHash {
    /// Of a password in UTF-8.
    ///
    /// # Errors
    /// [`BitLockerError::NotUtf8`].
    pub(crate) fn of_password(password: &[u8]) -> Result<Self, BitLockerError> {
        let text = std::str::from_utf8(password).map_err(|_| BitLockerError::NotUtf8(Looks::of(password)))?;
        let mut utf16 = SecretBytes::zeroed(text.encode_utf16().count() * 2);
        for (slot, mut unit) in utf16.chunks_exact_mut(2).zip(text.encode_utf16()) {
            slot.copy_from_slice(&unit.to_le_bytes());
            unit.zeroize();
        }
        Ok(Self(sha256(&sha256(&utf16))))
    }

    /// Of a recovery password.
    pub(crate) fn of_recovery_password(password: &RecoveryPassword) -> Self {
        Self(sha256(password.bytes()))
    }

    /// The key that a protector's salt makes of it; takes a good part of a second. `None` when
    /// `stop` was set.
    pub fn stretch(&self, salt: &[u8; 16], stop: &AtomicBool) -> Option<SecretBytes> {
        keyway_kdf::bitlocker_stretch(self.bytes()?, salt, stop)
    }

    /// [`PasswordHash::stretch`] with several salts, side by side.
    pub(crate) fn stretch_all(&self, salts: &[[u8; 16]], stop: &AtomicBool) -> Option<Vec<SecretBytes>> {
        let password_hash = self.bytes()?;
        let asked: Vec<_> =
            salts.iter().map(|salt| keyway_kdf::BitlockerStretch { password_hash, salt }).collect();
        keyway_kdf::bitlocker_stretches(&asked, stop)
    }

    fn bytes(&self) -> Option<&[u8; HASH_BYTES]> {
        self.0.first_chunk()
    }
}

fn sha256(bytes: &[u8]) -> SecretBytes {
    let hash = SecretBytes::take(Sha256::digest(bytes).as_mut_slice());
    wipe_stack();
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_another_program() {
        // Python: sha256(sha256("pässwörd €😀".encode("utf-16-le")).digest()).hexdigest()
        let hash = PasswordHash::of_password("pässwörd €😀".as_bytes()).expect("text");
        let hex: String = hash.0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "ef13148e7a6d8154b9b3556963f8f807760476193837064c44505c416c3e5a33");
        let password = RecoveryPassword::parse("471207-278498-422125-177177-561902-537405-468006-693451")
            .expect("right");
        let hash = PasswordHash::of_recovery_password(&password);
        let hex: String = hash.0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "a4c9244478110805015c94d1b001a933ada2ab0b716bac342bb86c844b63491f");
    }

    #[test]
    fn other_encodings_are_refused() {
        assert!(matches!(PasswordHash::of_password(b"p\xe4ssword"), Err(BitLockerError::NotUtf8(_))));
    }
}
