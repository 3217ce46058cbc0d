//! Makes a drive's PIN of a password, by the conventions of other programs.
//!
//! A drive compares bytes. Which bytes a password becomes is between the programs that set it and
//! those that give it: one that hashes can't open what one that doesn't has set, and the drive's
//! answer to both is that it was the wrong password.

use keyway_error::enum_table;
use keyway_kdf::{Prf, pbkdf2};
use keyway_secret::SecretBytes;
use std::fmt;
use std::str::FromStr;

/// Bytes of a serial number in an NVMe controller's or ATA drive's own data, spaces included.
pub(crate) const SERIAL_BYTES: usize = 20;

/// Most bytes of a secret that Opal's C_PIN table holds (Opal SSC 2.02, section 4.2.1.8: a PIN is of
/// the type `password`, at most 32 bytes).
pub const PIN_MAX: usize = 32;

/// Most bytes of a password that is hashed: what sedutil reads of one.
const PASSWORD_MAX: usize = 256;

/// Rounds of sedutil's PBKDF2 (`DtaHashPwd`).
const SEDUTIL_ROUNDS: u32 = 75_000;

/// Rounds of the PBKDF2 of ChubbyAnt's fork of sedutil.
const SEDUTIL_SHA512_ROUNDS: u32 = 500_000;

enum_table! {
    /// How a password becomes the bytes that a drive compares.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PasswordHash {
        /// As sedutil of the Drive Trust Alliance: PBKDF2-HMAC-SHA1, 75,000 rounds, the serial number
        /// as the salt, 32 bytes.
        #[default]
        Sedutil("sedutil", "PBKDF2-SHA1, 75,000 rounds, as sedutil does"),
        /// The password itself, as the kernel, cryptsetup, nvme-cli and `sedutil-cli -n` give it.
        Plain("plain", "not hashed, as the kernel and cryptsetup do"),
        /// As ChubbyAnt's fork of sedutil: PBKDF2-HMAC-SHA512, 500,000 rounds, the same salt and length.
        SedutilSha512("sedutil-sha512", "PBKDF2-SHA512, 500,000 rounds, as the fork of sedutil with SHA-512 does"),
    }
    /// The name that the command line takes.
    pub name: &'static str,
    /// Whose convention it is, in words.
    pub words: &'static str,
}

/// Why a password can't be given to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// There is none.
    #[error("an empty password protects nothing")]
    Empty,
    /// Not hashed, it is longer than a drive's table holds.
    #[error("a password that is not hashed can't be longer than {PIN_MAX} bytes")]
    TooLong,
    /// Longer than other programs would read.
    #[error("a drive's password can't be longer than {PASSWORD_MAX} bytes, which is what sedutil reads")]
    MuchTooLong,
}

impl PasswordHash {
    /// The others, the likeliest first.
    pub const fn others(self) -> [Self; 2] {
        match self {
            Self::Sedutil => [Self::Plain, Self::SedutilSha512],
            Self::Plain => [Self::Sedutil, Self::SedutilSha512],
            Self::SedutilSha512 => [Self::Sedutil, Self::Plain],
        }
    }

    /// The bytes that the drive is told. `serial` is the serial number as the drive keeps it, padded
    /// with spaces.
    ///
    /// # Errors
    /// For a password that is empty or too long.
    pub fn derive(self, password: &[u8], serial: &[u8; SERIAL_BYTES]) -> Result<SecretBytes, PasswordError> {
        let hashed = |prf, rounds| match password.len() {
            0 => Err(PasswordError::Empty),
            1..=PASSWORD_MAX => Ok(pbkdf2(prf, password, serial, rounds, PIN_MAX)),
            _ => Err(PasswordError::MuchTooLong),
        };
        match self {
            Self::Sedutil => hashed(Prf::Sha1, SEDUTIL_ROUNDS),
            Self::SedutilSha512 => hashed(Prf::Sha512, SEDUTIL_SHA512_ROUNDS),
            Self::Plain => match password.len() {
                0 => Err(PasswordError::Empty),
                1..=PIN_MAX => Ok(SecretBytes::copy_of(password)),
                _ => Err(PasswordError::TooLong),
            },
        }
    }
}

impl fmt::Display for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PasswordHash {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|hash| hash.name() == text)
            .ok_or_else(|| "one of sedutil, sedutil-sha512 and plain".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serial(text: &str) -> [u8; SERIAL_BYTES] {
        let mut serial = [b' '; SERIAL_BYTES];
        serial.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        serial
    }

    /// A known output of sedutil for a drive of Samsung's, published with go-tcg-storage.
    #[test]
    fn a_published_hash_of_sedutils() {
        let hash = PasswordHash::Sedutil.derive(b"dummy", &serial("S2RBNB0HA12200B")).expect("short");
        let known = [
            0x4f, 0x2a, 0xcc, 0xfd, 0x1a, 0x17, 0x64, 0xdc, 0x5b, 0x5b, 0xb3, 0x8f, 0x40, 0xf9, 0x06, 0x8d,
            0x2d, 0x1a, 0x1f, 0x6d, 0xd5, 0x39, 0x27, 0x07, 0xde, 0xa1, 0x4c, 0x3b, 0xb7, 0xde, 0xea, 0xcc,
        ];
        assert!(hash.same_as(&known));
    }

    /// Python's hashlib is the other implementation.
    #[test]
    fn another_implementation_agrees() {
        let Some(python) = keyway_testkit::require_tool("python3") else { return };
        let code = "import hashlib,sys\nfor h,n in (('sha1',75000),('sha512',500000)):\n \
                    print(hashlib.pbkdf2_hmac(h,sys.argv[1].encode(),sys.argv[2].ljust(20).encode(),n,32).hex())";
        for (password, number) in
            [("p\u{e4}ssword", "S3Z9NB0K123456X"), (&"long".repeat(40), "WD-WX12345678901234567")]
        {
            let number = number.get(..20).unwrap_or(number);
            let ran = std::process::Command::new(&python).args(["-c", code, password, number]).output();
            let said = String::from_utf8(ran.expect("python runs").stdout).expect("hex");
            let ours = [PasswordHash::Sedutil, PasswordHash::SedutilSha512].map(|hash| {
                let bytes = hash.derive(password.as_bytes(), &serial(number)).expect("short enough");
                bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()
            });
            assert_eq!(said.lines().collect::<Vec<_>>(), ours);
        }
    }

    #[test]
    fn plain_is_plain_and_has_a_limit() {
        let salt = serial("X");
        assert!(PasswordHash::Plain.derive(b"secret", &salt).expect("short").same_as(b"secret"));
        assert_eq!(PasswordHash::Plain.derive(&[b'x'; 33], &salt).err(), Some(PasswordError::TooLong));
        for hash in PasswordHash::ALL {
            assert_eq!(hash.derive(b"", &salt).err(), Some(PasswordError::Empty));
            assert_eq!(hash.name().parse(), Ok(hash));
        }
        assert_eq!(PasswordHash::Sedutil.derive(&[b'x'; 257], &salt).err(), Some(PasswordError::MuchTooLong));
        assert!("md5".parse::<PasswordHash>().is_err());
    }
}
