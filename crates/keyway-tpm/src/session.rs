//! A salted session: commands with a MAC, the secret's parameter encrypted (Part 1, 17 and 19).

use crate::constants::Command;
use crate::constants::SESSION_DECRYPT;
use crate::crypt::{DIGEST, ParameterDirection, cfb, hmac, hmac_is, kdf_a, kdf_e, sha256};
use crate::error::{BadResponse, TpmError};
use crate::wire::{Reader, Writer};
use keyway_secret::{Locked, SecretBytes, wipe_stack};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{AffinePoint, NonZeroScalar, ProjectivePoint, Sec1Point};

/// Bytes of our nonces, and the most that a TPM's may have: those of the session's hash.
pub(crate) const NONCE: usize = DIGEST;

/// What only we and the TPM know, and what we send it for that.
pub(crate) struct Salt {
    /// The secret.
    pub(crate) secret: SecretBytes,
    /// `TPMS_ECC_POINT`: our public point.
    pub(crate) sent: Vec<u8>,
}

impl Salt {
    /// Agrees on a secret with the TPM's key, given by its point (Part 1, clause C.6.1).
    pub(crate) fn agree(x: &[u8], y: &[u8]) -> Result<Self, TpmError> {
        let wrong_key =
            || TpmError::BadResponse { command: Command::CreatePrimary.name(), fault: BadResponse::WrongKey };
        let theirs = point(x, y).ok_or_else(wrong_key)?;
        let scalar = random_scalar()?;
        let ours = ProjectivePoint::GENERATOR * **scalar;
        let ours = ours.to_affine().to_sec1_point(false);
        let agreed = Locked::new(|| (theirs * **scalar).to_affine().to_sec1_point(false));
        let (Some(our_x), Some(our_y), Some(agreed_x)) = (ours.x(), ours.y(), agreed.x()) else {
            return Err(wrong_key());
        };
        // The label is the one of session secrets (Part 1, clause 19.6.13).
        let secret = kdf_e(agreed_x, "SECRET", our_x, x);
        wipe_stack();
        let sent = Writer::default().sized(our_x).sized(our_y).done();
        Ok(Self { secret, sent })
    }
}

fn point(x: &[u8], y: &[u8]) -> Option<ProjectivePoint> {
    let x: [u8; DIGEST] = x.try_into().ok()?;
    let y: [u8; DIGEST] = y.try_into().ok()?;
    let encoded = Sec1Point::from_affine_coordinates(&x.into(), &y.into(), false);
    use p256::elliptic_curve::sec1::FromSec1Point;
    // `from_sec1_point` checks that the point is on the curve.
    Option::<AffinePoint>::from(AffinePoint::from_sec1_point(&encoded)).map(ProjectivePoint::from)
}

fn random_scalar() -> Result<Locked<NonZeroScalar>, TpmError> {
    loop {
        let mut bytes = SecretBytes::zeroed(DIGEST);
        getrandom::fill(&mut bytes)?;
        // Out of range once in 2^32 draws.
        if let Ok(scalar) = NonZeroScalar::try_from(&bytes[..]) {
            return Ok(Locked::new(|| scalar));
        }
    }
}

/// A session that has begun.
pub(crate) struct Session {
    handle: u32,
    key: SecretBytes,
    nonce_tpm: Vec<u8>,
}

/// A command under way in a session, between [`Session::authorize`] and [`Exchange::accept`].
pub(crate) struct Exchange {
    command: Command,
    /// The session's key and the object's authorization value.
    key: SecretBytes,
    nonce_caller: [u8; NONCE],
    /// The area that goes out.
    pub(crate) area: Vec<u8>,
}

impl Session {
    /// From what `TPM2_StartAuthSession` took and gave (Part 1, clause 19.6.8).
    pub(crate) fn new(handle: u32, salt: &Salt, nonce_tpm: Vec<u8>, nonce_caller: &[u8; NONCE]) -> Self {
        let key = kdf_a(&salt.secret, "ATH", &nonce_tpm, nonce_caller);
        Self { handle, key, nonce_tpm }
    }

    pub(crate) fn handle(&self) -> u32 {
        self.handle
    }

    /// Puts the authorization together for a command on objects of these names (Part 1, 19.4 and
    /// 19.6.2). With [`SESSION_DECRYPT`] in `attributes`, `secret`, the content of the first
    /// parameter, is encrypted in place; it comes before `others` in the command.
    pub(crate) fn authorize(
        &self,
        command: Command,
        names: &[u8],
        authorization: &[u8],
        attributes: u8,
        parameters: Parameters<'_>,
    ) -> Result<Exchange, TpmError> {
        let mut nonce_caller = [0; NONCE];
        getrandom::fill(&mut nonce_caller)?;
        let mut key = SecretBytes::zeroed(self.key.len() + authorization.len());
        let (start, end) = key.split_at_mut(self.key.len());
        start.copy_from_slice(&self.key);
        end.copy_from_slice(authorization);

        if attributes & SESSION_DECRYPT != 0 {
            let material = kdf_a(&key, "CFB", &nonce_caller, &self.nonce_tpm);
            cfb(&material, parameters.secret, ParameterDirection::Encrypt);
        }
        let length = sized_length(parameters.secret);
        let hashed = sha256(&[
            &command.code().to_be_bytes(),
            names,
            if parameters.secret.is_empty() { &[] } else { &length },
            parameters.secret,
            parameters.others,
        ]);
        let mac = hmac(&key, &[&hashed, &nonce_caller, &self.nonce_tpm, &[attributes]]);
        let area = Writer::default().u32(self.handle).sized(&nonce_caller).u8(attributes).sized(&mac).done();
        Ok(Exchange { command, key, nonce_caller, area })
    }
}

/// The parameters of a command: a first one that is secret, and the others.
pub(crate) struct Parameters<'a> {
    /// The content of the first one, without its length; empty where it is no secret.
    pub(crate) secret: &'a mut [u8],
    /// The others as they go out.
    pub(crate) others: &'a [u8],
}

/// The length of a `TPM2B` with this content.
pub(crate) fn sized_length(content: &[u8]) -> [u8; 2] {
    u16::try_from(content.len()).unwrap_or(u16::MAX).to_be_bytes()
}

impl Exchange {
    /// Checks the answer's MAC (Part 1, 19.6.6), and decrypts the first parameter into locked
    /// memory where the session asked for that.
    pub(crate) fn accept(self, parameters: &[u8], area: &[u8]) -> Result<Answer, TpmError> {
        let command = self.command.name();
        let bad = |fault| TpmError::BadResponse { command, fault };
        let mut reader = Reader::new(area);
        let (nonce_tpm, attributes, mac) = (|| {
            let parts = (reader.sized(NONCE)?, reader.u8()?, reader.sized(DIGEST)?);
            reader.end()?;
            Ok(parts)
        })()
        .map_err(bad)?;
        let success = 0u32.to_be_bytes();
        let hashed = sha256(&[&success, &self.command.code().to_be_bytes(), parameters]);
        if !hmac_is(&self.key, &[&hashed, nonce_tpm, &self.nonce_caller, &[attributes]], mac) {
            return Err(TpmError::NotAuthentic { command });
        }
        Ok(Answer { key: self.key, nonce_tpm: nonce_tpm.to_vec(), nonce_caller: self.nonce_caller })
    }
}

/// An authentic answer, whose first parameter may still be encrypted.
pub(crate) struct Answer {
    key: SecretBytes,
    nonce_tpm: Vec<u8>,
    nonce_caller: [u8; NONCE],
}

impl Answer {
    /// The content of the encrypted first parameter.
    pub(crate) fn decrypt(&self, content: &[u8]) -> SecretBytes {
        let mut secret = SecretBytes::copy_of(content);
        let material = kdf_a(&self.key, "CFB", &self.nonce_tpm, &self.nonce_caller);
        cfb(&material, &mut secret, ParameterDirection::Decrypt);
        secret
    }
}
