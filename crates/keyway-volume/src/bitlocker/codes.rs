//! The numbers that metadata uses for kinds of things, and our names for them.
//!
//! Sources: libbde's format description and dissect.fve's definitions (entry roles and types,
//! algorithms, protections, states); cryptsetup's BITLK documentation (smart cards, the volume's
//! GUID). Each was met in volumes that Windows made unless it says otherwise.

use keyway_cipher::Algorithm;
use serde::{Serialize, Serializer};

/// Roles of entries: what the entry is for.
pub mod role {
    /// A part of the entry around it.
    pub const PROPERTY: u16 = 0x0000;
    /// A key protector with its copy of the volume master key.
    pub const PROTECTOR: u16 = 0x0002;
    /// The volume's data key, encrypted with the volume master key.
    pub const DATA_KEY: u16 = 0x0003;
    /// The key in a startup key's file.
    pub const STARTUP_KEY: u16 = 0x0006;
    /// The computer, drive and date: `DESKTOP-NPM7RCA H: 7/4/2019`.
    pub const DESCRIPTION: u16 = 0x0007;
    /// Keys of drives that this one unlocks, kept on a system volume (dissect.fve's account).
    pub const AUTO_UNLOCK: u16 = 0x000b;
    /// Where the volume's first sectors lie.
    pub const BOOT_BACKUP: u16 = 0x000f;
    /// A recovery password's 16 bytes, encrypted with the volume master key: what lets
    /// `manage-bde -protectors -get` print it.
    pub const RECOVERY_PASSWORD_BACKUP: u16 = 0x0012;
    /// A recovery password's stretched key, encrypted with the volume master key.
    pub const STRETCHED_BACKUP: u16 = 0x0013;
    /// The volume's GUID (cryptsetup's account).
    pub const VOLUME_GUID: u16 = 0x0019;
}

/// Types of entries: how their bytes are laid out.
pub mod kind {
    /// Erased.
    pub const ERASED: u16 = 0x0000;
    /// A key in the open.
    pub const KEY: u16 = 0x0001;
    /// UTF-16LE text that ends in a zero.
    pub const TEXT: u16 = 0x0002;
    /// A salt, and what is encrypted with the key that it stretches to.
    pub const STRETCH_KEY: u16 = 0x0003;
    /// Says which key the entries in it use.
    pub const USE_KEY: u16 = 0x0004;
    /// AES-CCM cipher text.
    pub const SEALED: u16 = 0x0005;
    /// Something that a TPM sealed.
    pub const TPM_BLOB: u16 = 0x0006;
    /// Hashes of a boot configuration.
    pub const VALIDATION: u16 = 0x0007;
    /// A key protector.
    pub const PROTECTOR: u16 = 0x0008;
    /// A key in a file of its own.
    pub const EXTERNAL_KEY: u16 = 0x0009;
    /// An update.
    pub const UPDATE: u16 = 0x000a;
    /// An error log.
    pub const ERROR: u16 = 0x000b;
    /// A key encrypted to a certificate.
    pub const ASYMMETRIC: u16 = 0x000c;
    /// An exported key.
    pub const EXPORTED_KEY: u16 = 0x000d;
    /// A certificate's public key.
    pub const PUBLIC_KEY: u16 = 0x000e;
    /// Where the volume's first sectors lie.
    pub const BOOT_BACKUP: u16 = 0x000f;
    /// A number, 0 in what was met (dissect.fve's account; here and in the two below).
    pub const SIMPLE_1: u16 = 0x0010;
    /// Another.
    pub const SIMPLE_2: u16 = 0x0011;
    /// Another.
    pub const SIMPLE_3: u16 = 0x0013;
    /// A key made of several hashed together.
    pub const CONCAT_HASH_KEY: u16 = 0x0012;
    /// When a recovery password was saved elsewhere.
    pub const BACKUP_INFO: u16 = 0x0015;
    /// A GUID.
    pub const GUID: u16 = 0x0017;
    /// A hint.
    pub const HINT: u16 = 0x0018;
}

/// Algorithms named inside keys.
pub mod algorithm {
    /// A recovery password; in a stretch key, that one is stretched.
    pub const RECOVERY_PASSWORD: u16 = 0x1000;
    /// In a stretch key: a password is stretched.
    pub const PASSWORD: u16 = 0x1001;
    /// A clear key; the key between a TPM and the volume master key.
    pub const CLEAR: u16 = 0x2000;
    /// An external key, as in a .BEK file.
    pub const EXTERNAL: u16 = 0x2002;
    /// The volume master key.
    pub const MASTER: u16 = 0x2003;
    /// A PIN; in a stretch key, that one is stretched.
    pub const PIN: u16 = 0x2004;
    /// Flag of a PIN's keys: it is stretched, as since Windows 8 (dissect.fve's "enhanced crypto").
    pub const PIN_STRETCHED: u16 = 0x0010;
    /// Flag of a PIN's stretch key: it may have other characters than digits (dissect.fve's account).
    pub const PIN_ENHANCED: u16 = 0x0004;
    /// SHA-256: the metadata's validation hash.
    pub const SHA256: u16 = 0x2005;
    /// What a password stretches to, kept sealed with the volume master key.
    pub const STRETCHED_PASSWORD_KEPT: u16 = 0x2007;
    /// What a recovery password stretches to, kept sealed with the volume master key.
    pub const STRETCHED_RECOVERY_KEPT: u16 = 0x2008;
}

/// How the data is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// AES-CBC with 128 bits and the Elephant diffuser.
    Cbc128Elephant,
    /// AES-CBC with 256 bits and the Elephant diffuser.
    Cbc256Elephant,
    /// AES-CBC with 128 bits.
    Cbc128,
    /// AES-CBC with 256 bits.
    Cbc256,
    /// AES-XTS with 128 bits: Windows' default since version 1511.
    Xts128,
    /// AES-XTS with 256 bits.
    Xts256,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Cbc128Elephant, Self::Cbc256Elephant, Self::Cbc128, Self::Cbc256, Self::Xts128, Self::Xts256];

    /// The method with that number.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.code() == code)
    }

    /// Its number on the medium.
    pub const fn code(self) -> u16 {
        match self {
            Self::Cbc128Elephant => 0x8000,
            Self::Cbc256Elephant => 0x8001,
            Self::Cbc128 => 0x8002,
            Self::Cbc256 => 0x8003,
            Self::Xts128 => 0x8004,
            Self::Xts256 => 0x8005,
        }
    }

    /// The name in commands and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cbc128Elephant => "aes-cbc-128-elephant",
            Self::Cbc256Elephant => "aes-cbc-256-elephant",
            Self::Cbc128 => "aes-cbc-128",
            Self::Cbc256 => "aes-cbc-256",
            Self::Xts128 => "aes-xts-128",
            Self::Xts256 => "aes-xts-256",
        }
    }

    /// The name that `manage-bde -status` prints.
    pub const fn windows_name(self) -> &'static str {
        match self {
            Self::Cbc128Elephant => "AES 128 with Diffuser",
            Self::Cbc256Elephant => "AES 256 with Diffuser",
            Self::Cbc128 => "AES 128",
            Self::Cbc256 => "AES 256",
            Self::Xts128 => "XTS-AES 128",
            Self::Xts256 => "XTS-AES 256",
        }
    }

    /// The block cipher.
    pub const fn algorithm(self) -> Algorithm {
        match self {
            Self::Cbc128Elephant | Self::Cbc128 | Self::Xts128 => Algorithm::Aes128,
            Self::Cbc256Elephant | Self::Cbc256 | Self::Xts256 => Algorithm::Aes256,
        }
    }

    /// Whether a second key of the same size (of the diffuser, of the tweak) comes after the
    /// cipher's own.
    pub const fn has_tweak_key(self) -> bool {
        !matches!(self, Self::Cbc128 | Self::Cbc256)
    }

    /// Bytes of the data key as the metadata keeps it. With the diffuser it is 64 bytes always,
    /// the second key in the second half.
    pub const fn stored_key_bytes(self) -> usize {
        match self {
            Self::Cbc128Elephant | Self::Cbc256Elephant | Self::Xts256 => 64,
            Self::Cbc128 => 16,
            Self::Cbc256 | Self::Xts128 => 32,
        }
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What a protector asks for. The numbers are flags: a TPM with a PIN is both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Nothing: the key lies beside it. Protection is suspended.
    ClearKey,
    /// A TPM.
    Tpm,
    /// A startup key.
    StartupKey,
    /// A TPM and a startup key.
    TpmStartupKey,
    /// A TPM and a PIN.
    TpmPin,
    /// A TPM, a PIN and a startup key.
    TpmPinStartupKey,
    /// A recovery password of 48 digits.
    RecoveryPassword,
    /// A certificate or smart card.
    Certificate,
    /// A TPM and a certificate: unlocking over the network.
    TpmNetwork,
    /// A password.
    Password,
    /// Something else.
    Other(u16),
}

impl Protection {
    /// All that are known.
    pub const KNOWN: [Self; 10] = [
        Self::ClearKey,
        Self::Tpm,
        Self::StartupKey,
        Self::TpmStartupKey,
        Self::TpmPin,
        Self::TpmPinStartupKey,
        Self::RecoveryPassword,
        Self::Certificate,
        Self::TpmNetwork,
        Self::Password,
    ];

    /// From its number.
    pub const fn from_code(code: u16) -> Self {
        match code {
            0x0000 => Self::ClearKey,
            0x0100 => Self::Tpm,
            0x0200 => Self::StartupKey,
            0x0300 => Self::TpmStartupKey,
            0x0500 => Self::TpmPin,
            0x0700 => Self::TpmPinStartupKey,
            0x0800 => Self::RecoveryPassword,
            0x1000 => Self::Certificate,
            0x1100 => Self::TpmNetwork,
            0x2000 => Self::Password,
            other => Self::Other(other),
        }
    }

    /// Its number on the medium.
    pub const fn code(self) -> u16 {
        match self {
            Self::ClearKey => 0x0000,
            Self::Tpm => 0x0100,
            Self::StartupKey => 0x0200,
            Self::TpmStartupKey => 0x0300,
            Self::TpmPin => 0x0500,
            Self::TpmPinStartupKey => 0x0700,
            Self::RecoveryPassword => 0x0800,
            Self::Certificate => 0x1000,
            Self::TpmNetwork => 0x1100,
            Self::Password => 0x2000,
            Self::Other(code) => code,
        }
    }

    /// The name in commands and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClearKey => "clear-key",
            Self::Tpm => "tpm",
            Self::StartupKey => "startup-key",
            Self::TpmStartupKey => "tpm-startup-key",
            Self::TpmPin => "tpm-pin",
            Self::TpmPinStartupKey => "tpm-pin-startup-key",
            Self::RecoveryPassword => "recovery-password",
            Self::Certificate => "certificate",
            Self::TpmNetwork => "tpm-network",
            Self::Password => "password",
            Self::Other(_) => "unknown",
        }
    }

    /// The words of `manage-bde -protectors -get`.
    pub const fn windows_name(self) -> &'static str {
        match self {
            Self::ClearKey => "Clear Key",
            Self::Tpm => "TPM",
            Self::StartupKey => "External Key",
            Self::TpmStartupKey => "TPM And Startup Key",
            Self::TpmPin => "TPM And PIN",
            Self::TpmPinStartupKey => "TPM And PIN And Startup Key",
            Self::RecoveryPassword => "Numerical Password",
            Self::Certificate => "Smart Card",
            Self::TpmNetwork => "TPM And Network Key",
            Self::Password => "Password",
            Self::Other(_) => "Unknown",
        }
    }

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

/// How far the volume's encryption has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not encrypted (any more).
    Decrypted,
    /// Being converted, with a log of the sectors in flight.
    ConvertingWithLog,
    /// Conversion paused (Windows Vista).
    Paused,
    /// Encrypted.
    Encrypted,
    /// Being converted.
    Converting,
    /// Something else.
    Other(u16),
}

impl State {
    /// From its number.
    pub const fn from_code(code: u16) -> Self {
        match code {
            1 => Self::Decrypted,
            2 => Self::ConvertingWithLog,
            3 => Self::Paused,
            4 => Self::Encrypted,
            5 => Self::Converting,
            other => Self::Other(other),
        }
    }

    /// Its number on the medium.
    pub const fn code(self) -> u16 {
        match self {
            Self::Decrypted => 1,
            Self::ConvertingWithLog => 2,
            Self::Paused => 3,
            Self::Encrypted => 4,
            Self::Converting => 5,
            Self::Other(code) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for code in 0..=u16::MAX {
            assert_eq!(Protection::from_code(code).code(), code);
            assert_eq!(State::from_code(code).code(), code);
            assert!(Method::from_code(code).is_none_or(|method| method.code() == code));
        }
    }

    #[test]
    fn stored_keys_have_room_for_what_the_cipher_needs() {
        for method in Method::ALL {
            let keys = 1 + usize::from(method.has_tweak_key());
            assert!(method.stored_key_bytes() >= keys * method.algorithm().key_bytes(), "{method:?}");
        }
    }
}
