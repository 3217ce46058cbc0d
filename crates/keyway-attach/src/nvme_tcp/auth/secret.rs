//! A secret for in-band authentication, and the proofs that are made with it.

use base64ct::{Base64, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use keyway_error::explain;
use keyway_secret::SecretBytes;
use sha2::{Sha256, Sha384, Sha512};

/// How a secret is written (Base 2.0, 8.13.5.8): `DHHC-1:HH:BASE64:`, HH its transformation, the Base64 of the key and
/// its CRC-32.
const PREFIX: &[u8] = b"DHHC-1:";
/// Bytes of a key.
const KEYS: [usize; 3] = [32, 48, 64];
/// Bytes of the CRC behind it, little-endian.
const CRC: usize = 4;
/// What a transformed key is bound to, beside a name.
const PURPOSE: &[u8] = b"NVMe-over-Fabrics";
/// Bytes of SHA-256's output: challenges and responses.
pub(super) const HASH: usize = 32;

/// Why a text is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretFault {
    /// Not of that form.
    #[error("this is no NVMe secret")]
    Form,
    /// The check at its end fails.
    #[error("this NVMe secret is mistyped: the check at its end fails")]
    Crc,
}

explain! { SecretFault {
    Self::Form => [Usage Request, MakeNvmeSecret],
    Self::Crc => [Usage Request, CopyItAgain],
} }

/// How a key is bound to the name of who uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transform {
    None,
    Sha256,
    Sha384,
    Sha512,
}

/// A secret that both sides know.
pub struct AuthSecret {
    transform: Transform,
    key: SecretBytes,
}

impl AuthSecret {
    /// Reads `DHHC-1:HH:BASE64:`.
    pub fn parse(text: &[u8]) -> Result<Self, SecretFault> {
        let text = text.trim_ascii().strip_prefix(PREFIX).ok_or(SecretFault::Form)?;
        let (transform, rest) = text.split_at_checked(3).ok_or(SecretFault::Form)?;
        let transform = match transform {
            b"00:" => Transform::None,
            b"01:" => Transform::Sha256,
            b"02:" => Transform::Sha384,
            b"03:" => Transform::Sha512,
            _ => return Err(SecretFault::Form),
        };
        let base64 = rest.strip_suffix(b":").ok_or(SecretFault::Form)?;
        let mut room = SecretBytes::zeroed(64 + CRC);
        let len = Base64::decode(base64, &mut room).map_err(|_| SecretFault::Form)?.len();
        room.truncate(len);
        let (key, crc) =
            len.checked_sub(CRC).and_then(|at| room.split_at_checked(at)).ok_or(SecretFault::Form)?;
        if !KEYS.contains(&key.len()) {
            return Err(SecretFault::Form);
        }
        if crc32fast::hash(key).to_le_bytes() != crc {
            return Err(SecretFault::Crc);
        }
        Ok(Self { transform, key: SecretBytes::copy_of(key) })
    }

    /// The key, bound to the name of who proves it (Base 2.0, 8.13.5.7).
    fn bound_to(&self, nqn: &[u8]) -> SecretBytes {
        let parts = [nqn, PURPOSE];
        match self.transform {
            Transform::None => SecretBytes::copy_of(&self.key),
            Transform::Sha256 => hmac::<Hmac<Sha256>>(&self.key, &parts),
            Transform::Sha384 => hmac::<Hmac<Sha384>>(&self.key, &parts),
            Transform::Sha512 => hmac::<Hmac<Sha512>>(&self.key, &parts),
        }
    }

    /// The response to a challenge (Base 2.0, 8.13.5.4): an HMAC over the challenge, its number, the transaction, whether
    /// a secure channel is asked for (never), the side's role and both names.
    pub(super) fn response(&self, challenge: &Challenge<'_>, proves: Side<'_>, to: &[u8]) -> SecretBytes {
        let key = self.bound_to(proves.nqn);
        let parts: [&[u8]; 8] = [
            challenge.value,
            &challenge.sequence.to_le_bytes(),
            &challenge.transaction.to_le_bytes(),
            &[0],
            proves.role,
            proves.nqn,
            &[0],
            to,
        ];
        hmac::<Hmac<Sha256>>(&key, &parts)
    }
}

/// A challenge.
pub(super) struct Challenge<'a> {
    pub(super) value: &'a [u8],
    pub(super) sequence: u32,
    pub(super) transaction: u16,
}

/// Who answers it.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    role: &'static [u8],
    nqn: &'a [u8],
}

impl<'a> Side<'a> {
    pub(super) const fn host(nqn: &'a [u8]) -> Self {
        Self { role: b"HostHost", nqn }
    }

    pub(super) const fn controller(nqn: &'a [u8]) -> Self {
        Self { role: b"Controller", nqn }
    }
}

fn hmac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> SecretBytes {
    // An HMAC takes keys of every length.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return SecretBytes::zeroed(0) };
    parts.iter().for_each(|part| mac.update(part));
    let mut bytes = mac.finalize().into_bytes();
    let out = SecretBytes::take(&mut bytes);
    keyway_secret::wipe_stack();
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A key as it is written.
    pub(in crate::nvme_tcp) fn written(transform: u8, key: &[u8]) -> String {
        let mut bytes = key.to_vec();
        bytes.extend_from_slice(&crc32fast::hash(key).to_le_bytes());
        let mut room = [0u8; 128];
        let base64 = Base64::encode(&bytes, &mut room).expect("room");
        format!("DHHC-1:{transform:02}:{base64}:")
    }

    #[test]
    fn a_secret_that_another_program_made() {
        // An example in the documentation of other programs (SPDK's, nvme-cli's).
        let text = b"DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:\n";
        let secret = AuthSecret::parse(text).expect("valid");
        assert_eq!((secret.key.len(), secret.transform), (32, Transform::None));
    }

    #[test]
    fn what_is_no_secret_is_told() {
        let key: Vec<u8> = (0..32).collect();
        let good = written(1, &key);
        assert!(AuthSecret::parse(good.as_bytes()).is_ok());
        for wrong in ["", "DHHC-1:00:", "DHHC-1:00::", "DHHC-1:04:AAAA:", "password", "DHHC-1:00:AAAAAAA=:"] {
            assert_eq!(AuthSecret::parse(wrong.as_bytes()).err(), Some(SecretFault::Form), "{wrong}");
        }
        assert_eq!(AuthSecret::parse(written(0, &key[..31]).as_bytes()).err(), Some(SecretFault::Form));
        let mistyped = good.replacen("AAEC", "AAED", 1);
        assert_ne!(mistyped, good);
        assert_eq!(AuthSecret::parse(mistyped.as_bytes()).err(), Some(SecretFault::Crc));
    }

    #[test]
    fn keys_are_bound_to_names_and_proofs_to_roles() {
        let key: Vec<u8> = (0..48).collect();
        let challenge = Challenge { value: &[7; HASH], sequence: 9, transaction: 3 };
        let plain = AuthSecret::parse(written(0, &key).as_bytes()).expect("valid");
        assert!(plain.bound_to(b"nqn.a").same_as(&key));
        let bound = AuthSecret::parse(written(2, &key).as_bytes()).expect("valid");
        assert_eq!(bound.bound_to(b"nqn.a").len(), 48);
        assert!(!bound.bound_to(b"nqn.a").same_as(&bound.bound_to(b"nqn.b")));
        let host = bound.response(&challenge, Side::host(b"nqn.a"), b"nqn.s");
        assert_eq!(host.len(), HASH);
        let mirrored = bound.response(&challenge, Side::controller(b"nqn.a"), b"nqn.s");
        assert!(!host.same_as(&mirrored), "a proof can't be turned round");
        let later = Challenge { sequence: 10, ..challenge };
        assert!(!host.same_as(&bound.response(&later, Side::host(b"nqn.a"), b"nqn.s")));
    }
}
