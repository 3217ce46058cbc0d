//! Numbers of the metadata, and our names for them.
//!
//! Sources: libbde's format description and dissect.fve's definitions (entry roles and types,
//! algorithms, protections, states); cryptsetup's BITLK documentation (smart cards, the volume's
//! GUID). Each was met in volumes that Windows made unless it says otherwise.

use keyway_cipher::Algorithm;
use keyway_error::{code_table, enum_table};
use serde::{Serialize, Serializer};

/// Constants of the format, a line for each: name, value, and what it is.
macro_rules! constants {
    ($type:ty: $($name:ident = $value:expr, $is:literal;)*) => {
        $(#[doc = $is] pub const $name: $type = $value;)*
    };
}

/// Roles of entries: what the entry is for.
pub mod role {
    constants! { u16:
        PROPERTY = 0x0000, "A part of the entry around it.";
        PROTECTOR = 0x0002, "A key protector with its copy of the volume master key.";
        DATA_KEY = 0x0003, "The volume's data key, encrypted with the volume master key.";
        STARTUP_KEY = 0x0006, "The key in a startup key's file.";
        DESCRIPTION = 0x0007, "The computer, drive and date: `DESKTOP-NPM7RCA H: 7/4/2019`.";
        AUTO_UNLOCK = 0x000b,
            "Keys of drives that this one unlocks, kept on a system volume (dissect.fve's account).";
        BOOT_BACKUP = 0x000f, "Where the volume's first sectors lie.";
        RECOVERY_PASSWORD_BACKUP = 0x0012,
            "A recovery password's 16 bytes, sealed with the volume master key: `manage-bde` prints it from here.";
        STRETCHED_BACKUP = 0x0013, "A recovery password's stretched key, encrypted with the volume master key.";
    }
}

/// Types of entries: how their bytes are laid out.
pub mod kind {
    constants! { u16:
        KEY = 0x0001, "A key in the open.";
        TEXT = 0x0002, "UTF-16LE text that ends in a zero.";
        STRETCH_KEY = 0x0003, "A salt, and what is encrypted with the key that it stretches to.";
        USE_KEY = 0x0004, "Says which key the entries in it use.";
        SEALED = 0x0005, "AES-CCM cipher text.";
        TPM_BLOB = 0x0006, "Something that a TPM sealed.";
        PROTECTOR = 0x0008, "A key protector.";
        EXTERNAL_KEY = 0x0009, "A key in a file of its own.";
        ERROR = 0x000b, "An error log.";
        BOOT_BACKUP = 0x000f, "Where the volume's first sectors lie.";
        SIMPLE_1 = 0x0010, "A number, 0 in what was met (dissect.fve's account; here and in the two below).";
        SIMPLE_2 = 0x0011, "Another.";
        SIMPLE_3 = 0x0013, "Another.";
        CONCAT_HASH_KEY = 0x0012, "A key made of several hashed together.";
        GUID = 0x0017, "A GUID.";
    }
}

/// Algorithms named inside keys.
pub mod algorithm {
    constants! { u16:
        RECOVERY_PASSWORD = 0x1000, "A recovery password; in a stretch key, that one is stretched.";
        PASSWORD = 0x1001, "In a stretch key: a password is stretched.";
        CLEAR = 0x2000, "A clear key; the key between a TPM and the volume master key.";
        EXTERNAL = 0x2002, "An external key, as in a .BEK file.";
        MASTER = 0x2003, "The volume master key.";
        PIN = 0x2004, "A PIN; in a stretch key, that one is stretched.";
        PIN_STRETCHED = 0x0010,
            "Flag of a PIN's keys: it is stretched, as since Windows 8 (dissect.fve's \"enhanced crypto\").";
        PIN_ENHANCED = 0x0004,
            "Flag of a PIN's stretch key: it may have other characters than digits (dissect.fve's account).";
        SHA256 = 0x2005, "SHA-256: the metadata's validation hash.";
        STRETCHED_PASSWORD_KEPT = 0x2007,
            "What a password stretches to, kept sealed with the volume master key.";
        STRETCHED_RECOVERY_KEPT = 0x2008,
            "What a recovery password stretches to, kept sealed with the volume master key.";
    }
}

enum_table! {
    /// How the data is encrypted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        /// AES-CBC with 128 bits and the Elephant diffuser.
        Cbc128Elephant(0x8000, "aes-cbc-128-elephant", "AES 128 with Diffuser", Algorithm::Aes128, true, 64),
        /// AES-CBC with 256 bits and the Elephant diffuser.
        Cbc256Elephant(0x8001, "aes-cbc-256-elephant", "AES 256 with Diffuser", Algorithm::Aes256, true, 64),
        /// AES-CBC with 128 bits.
        Cbc128(0x8002, "aes-cbc-128", "AES 128", Algorithm::Aes128, false, 16),
        /// AES-CBC with 256 bits.
        Cbc256(0x8003, "aes-cbc-256", "AES 256", Algorithm::Aes256, false, 32),
        /// AES-XTS with 128 bits: Windows' default since version 1511.
        Xts128(0x8004, "aes-xts-128", "XTS-AES 128", Algorithm::Aes128, true, 32),
        /// AES-XTS with 256 bits.
        Xts256(0x8005, "aes-xts-256", "XTS-AES 256", Algorithm::Aes256, true, 64),
    }
    /// Its number on the medium.
    pub code: u16,
    /// The name in commands and JSON.
    pub name: &'static str,
    /// The name that `manage-bde -status` prints.
    pub windows_name: &'static str,
    /// The block cipher.
    pub algorithm: Algorithm,
    /// Whether a second key of the same size (of the diffuser, of the tweak) comes after the cipher's own.
    pub(crate) has_tweak_key: bool,
    /// Bytes of the data key as the metadata keeps it. With the diffuser it is 64 bytes always, the second key in the
    /// second half.
    pub stored_key_bytes: usize,
}

impl Method {
    /// The method with that number.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.code() == code)
    }

    /// Whether new volumes may have it: those with the diffuser are for opening old ones.
    pub const fn is_offered(self) -> bool {
        !matches!(self, Self::Cbc128Elephant | Self::Cbc256Elephant)
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

code_table! {
    /// What a protector asks for. The numbers are flags: a TPM with a PIN is both.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Protection(u16) {
        /// Nothing: the key lies beside it. Protection is suspended.
        ClearKey(0x0000, "clear-key", "Clear Key"),
        /// A TPM.
        Tpm(0x0100, "tpm", "TPM"),
        /// A startup key.
        StartupKey(0x0200, "startup-key", "External Key"),
        /// A TPM and a startup key.
        TpmStartupKey(0x0300, "tpm-startup-key", "TPM And Startup Key"),
        /// A TPM and a PIN.
        TpmPin(0x0500, "tpm-pin", "TPM And PIN"),
        /// A TPM, a PIN and a startup key.
        TpmPinStartupKey(0x0700, "tpm-pin-startup-key", "TPM And PIN And Startup Key"),
        /// A recovery password of 48 digits.
        RecoveryPassword(0x0800, "recovery-password", "Numerical Password"),
        /// A certificate or smart card.
        Certificate(0x1000, "certificate", "Smart Card"),
        /// A TPM and a certificate: unlocking over the network.
        TpmNetwork(0x1100, "tpm-network", "TPM And Network Key"),
        /// A password.
        Password(0x2000, "password", "Password");
        /// Something else.
        Other("unknown", "Unknown"),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
    /// The words of `manage-bde -protectors -get`.
    pub windows_name: &'static str,
}

impl Protection {
    /// Whether a TPM is part of it.
    pub const fn needs_tpm(self) -> bool {
        matches!(
            self,
            Self::Tpm | Self::TpmStartupKey | Self::TpmPin | Self::TpmPinStartupKey | Self::TpmNetwork
        )
    }
}

impl Serialize for Protection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

code_table! {
    /// How far the volume's encryption has come.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EncryptionState(u16) {
        /// Not encrypted (any more).
        Decrypted(1),
        /// Being converted, with a log of the sectors in flight.
        ConvertingWithLog(2),
        /// Conversion paused (Windows Vista).
        Paused(3),
        /// Encrypted.
        Encrypted(4),
        /// Being converted.
        Converting(5);
        /// Something else.
        Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for code in 0..=u16::MAX {
            assert_eq!(Protection::from_code(code).code(), code);
            assert_eq!(EncryptionState::from_code(code).code(), code);
            assert!(Method::from_code(code).is_none_or(|method| method.code() == code));
        }
    }

    #[test]
    fn every_known_protection_has_its_own_number() {
        assert!(Protection::KNOWN.into_iter().all(|known| Protection::from_code(known.code()) == known));
        let known =
            (0..=u16::MAX).filter(|code| !matches!(Protection::from_code(*code), Protection::Other(_)));
        assert_eq!(known.count(), 10);
    }

    #[test]
    fn stored_keys_have_room_for_what_the_cipher_needs() {
        for method in Method::ALL {
            let keys = 1 + usize::from(method.has_tweak_key());
            assert!(method.stored_key_bytes() >= keys * method.algorithm().key_bytes(), "{method:?}");
        }
    }
}
