//! The TPM's key derivations, MAC and parameter encryption, for SHA-256 and AES-128 (Part 1, 11.4).

use aes::Aes128;
use cipher::{BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use keyway_secret::SecretBytes;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// Bytes of a SHA-256.
pub(crate) const DIGEST: usize = 32;

/// The hash of the parts strung together.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// The MAC of the parts strung together.
pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; DIGEST] {
    keyed(key, parts).finalize().into_bytes().into()
}

/// Whether `mac` is the MAC of the parts, in a time that does not depend on where it differs.
pub(crate) fn hmac_is(key: &[u8], parts: &[&[u8]], mac: &[u8]) -> bool {
    keyed(key, parts).verify_slice(mac).is_ok()
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    // HMAC takes keys of every length, so the error does not exist; an empty key would not match.
    let mut mac = Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// The bits that both derivations are asked for here: one block of SHA-256.
const BITS: [u8; 4] = 256u32.to_be_bytes();
/// The number of that block.
const FIRST: [u8; 4] = 1u32.to_be_bytes();

/// `KDFa` (Part 1, 11.4.10.2): 256 bits from a key, a label and two nonces.
pub(crate) fn kdf_a(key: &[u8], label: &str, older: &[u8], newer: &[u8]) -> SecretBytes {
    SecretBytes::take(&mut hmac(key, &[&FIRST, label.as_bytes(), &[0], older, newer, &BITS]))
}

/// `KDFe` (Part 1, 11.4.10.3): 256 bits from an agreed point's x and both public points' x.
pub(crate) fn kdf_e(agreed: &[u8], label: &str, ours: &[u8], theirs: &[u8]) -> SecretBytes {
    SecretBytes::take(&mut sha256(&[&FIRST, agreed, label.as_bytes(), &[0], ours, theirs]))
}

/// Bytes of AES' block, and of the key of AES-128.
const BLOCK: usize = 16;

/// Which way a parameter goes.
#[derive(Clone, Copy)]
pub(crate) enum ParameterDirection {
    /// To the TPM.
    Encrypt,
    /// From the TPM.
    Decrypt,
}

/// AES-128 in cipher feedback over one parameter (Part 1, clause 21.3). `material` is the key and
/// the initial vector, as [`kdf_a`] gives them.
pub(crate) fn cfb(material: &SecretBytes, data: &mut [u8], way: ParameterDirection) {
    let (key, start) = material.split_at(BLOCK);
    let Ok(cipher) = Aes128::new_from_slice(key) else { return };
    let mut feedback = cipher::Array::<u8, cipher::typenum::U16>::default();
    feedback.copy_from_slice(start);
    for part in data.chunks_mut(BLOCK) {
        cipher.encrypt_block(&mut feedback);
        for (byte, mask) in part.iter_mut().zip(&mut feedback) {
            let came = *byte;
            *byte ^= *mask;
            *mask = match way {
                ParameterDirection::Encrypt => *byte,
                ParameterDirection::Decrypt => came,
            };
        }
    }
    feedback.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::hex;

    /// NIST SP 800-38A, F.3.13 and F.3.14.
    #[test]
    fn cfb_agrees_with_the_published_vectors() {
        let material =
            SecretBytes::copy_of(&hex("2b7e151628aed2a6abf7158809cf4f3c 000102030405060708090a0b0c0d0e0f"));
        let plain = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
        let encrypted = hex("3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b");
        let mut data = plain.clone();
        cfb(&material, &mut data, ParameterDirection::Encrypt);
        assert_eq!(data, encrypted);
        cfb(&material, &mut data, ParameterDirection::Decrypt);
        assert_eq!(data, plain);
        let mut part = plain[..21].to_vec();
        cfb(&material, &mut part, ParameterDirection::Encrypt);
        assert_eq!(part, encrypted[..21]);
    }

    /// RFC 4231, test case 2.
    #[test]
    fn hmac_agrees_with_the_published_vector() {
        let mac = hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac[..], hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
        assert!(hmac_is(b"Jefe", &[b"what do ya want for nothing?"], &mac));
        assert!(!hmac_is(b"Jefe", &[b"what do ya want for nothing!"], &mac));
    }

    /// The key that protected a real BitLocker object in a firmware TPM, derived from its seed:
    /// the one-block form is checked against the HMAC it stands for.
    #[test]
    fn kdf_a_is_one_block_of_the_counter_mode() {
        let key = [7; 32];
        let derived = kdf_a(&key, "CFB", b"newer", b"older");
        let spelled = hmac(&key, &[b"\0\0\0\x01CFB\0newerolder\0\0\x01\0"]);
        assert_eq!(derived[..], spelled);
    }
}
