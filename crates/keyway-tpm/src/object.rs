//! Objects' public parts: the templates of our keys, and what seals a secret (Part 2, clause 12).

use crate::constants::*;
use crate::crypt::{DIGEST, sha256};
use crate::error::{BadResponse, Unfit};
use crate::pcr::Pcrs;
use crate::wire::{Reader, Writer};

/// The longest secret in bytes (`MAX_SYM_DATA`; Part 2, clause 11.1.13).
pub(crate) const LARGEST_SECRET: usize = 128;
/// The longest authorization value in bytes: that of the name's hash (Part 1, clause 17.6.4.3).
pub(crate) const LARGEST_AUTHORIZATION: usize = DIGEST;
/// The longest structure that this client accepts for a part of an object, in bytes. A TPM's are
/// some hundred bytes long.
pub(crate) const LARGEST_PART: usize = 2048;

/// A secret that a TPM sealed: no secret itself, and of use to that TPM alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedObject {
    /// `TPM2B_PRIVATE` without its length: what only the TPM can read.
    pub private: Vec<u8>,
    /// `TPM2B_PUBLIC` without its length: algorithms, attributes and the policy's digest.
    pub public: Vec<u8>,
    /// The registers whose values the secret is bound to, in the SHA-256 bank.
    pub pcrs: Pcrs,
    /// SHA-256 of their values strung together, as they were when it was sealed.
    pub pcr_digest: [u8; DIGEST],
}

/// The name of an object whose public part is this: how commands refer to it in their MACs
/// (Part 1, clause 16).
pub(crate) fn name(public: &[u8]) -> Vec<u8> {
    Writer::default().u16(ALG_SHA256).bytes(&sha256(&[public])).done()
}

/// `TPML_PCR_SELECTION` of registers of the SHA-256 bank (Part 2, clause 10.9.7).
pub(crate) fn selection(pcrs: Pcrs) -> Vec<u8> {
    let select = pcrs.select();
    Writer::default().u32(1).u16(ALG_SHA256).u8(3).bytes(&select).done()
}

/// The digest of the policy "the authorization value, and these registers with these values", in
/// the order in which BitLocker asks for them (Part 3, clauses 23.17 and 23.7).
pub(crate) fn policy(pcrs: Pcrs, pcr_digest: &[u8; DIGEST]) -> [u8; DIGEST] {
    let with_authorization = sha256(&[&[0; DIGEST], &Command::PolicyAuthValue.code().to_be_bytes()]);
    sha256(&[&with_authorization, &Command::PolicyPcr.code().to_be_bytes(), &selection(pcrs), pcr_digest])
}

/// `TPMT_PUBLIC` of an object that seals a secret under a policy. Windows sets the same attributes:
/// where there is a PIN, wrong ones count; where there is none, nothing can be guessed.
pub(crate) fn sealed_template(policy: &[u8; DIGEST], guessable: bool) -> Vec<u8> {
    let guard = if guessable { 0 } else { OBJECT_NO_DICTIONARY_ATTACK };
    Writer::default()
        .u16(ALG_KEYEDHASH)
        .u16(ALG_SHA256)
        .u32(OBJECT_FIXED_TPM | OBJECT_FIXED_PARENT | guard)
        .sized(policy)
        .u16(ALG_NULL)
        .sized(&[])
        .done()
}

/// That a sealed object is one that this client can unseal: SHA-256 names, the policy above.
pub(crate) fn check_sealed(object: &SealedObject) -> Result<(), Unfit> {
    let mut public = Reader::new(&object.public);
    let (kind, name_hash, authorization) = (|| {
        let kind = public.u16()?;
        let name_hash = public.u16()?;
        let _attributes = public.u32()?;
        Ok::<_, BadResponse>((kind, name_hash, public.sized(DIGEST)?))
    })()
    .map_err(|_| Unfit::DamagedObject)?;
    if kind != ALG_KEYEDHASH || name_hash != ALG_SHA256 {
        return Err(Unfit::UnknownAlgorithms);
    }
    if authorization != policy(object.pcrs, &object.pcr_digest) {
        return Err(Unfit::UnknownPolicy);
    }
    Ok(())
}

/// What every storage key of ours is: it stays in its TPM and protects other objects.
const STORAGE_KEY: u32 = OBJECT_FIXED_TPM
    | OBJECT_FIXED_PARENT
    | OBJECT_SENSITIVE_DATA_ORIGIN
    | OBJECT_USER_WITH_AUTH
    | OBJECT_NO_DICTIONARY_ATTACK
    | OBJECT_RESTRICTED
    | OBJECT_DECRYPT;

/// The kinds of storage key that provisioning makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageKey {
    /// RSA with 2048 bits: what Windows makes.
    Rsa2048,
    /// On the curve P-256: what systemd makes.
    EccP256,
}

impl StorageKey {
    /// `TPMT_PUBLIC` of its template (*TCG TPM v2.0 Provisioning Guidance*, 7.5.1, with the
    /// templates of *TCG EK Credential Profile*, B.3 and B.4, as storage root keys): an empty
    /// policy, AES-128-CFB inside, `unique` of zeros.
    pub(crate) fn template(self) -> Vec<u8> {
        let kind = match self {
            Self::Rsa2048 => ALG_RSA,
            Self::EccP256 => ALG_ECC,
        };
        let start = Writer::default()
            .u16(kind)
            .u16(ALG_SHA256)
            .u32(STORAGE_KEY)
            .sized(&[])
            .u16(ALG_AES)
            .u16(128)
            .u16(ALG_CFB)
            .u16(ALG_NULL);
        match self {
            // 2048 bits and the usual exponent, 65537, which is written 0.
            Self::Rsa2048 => start.u16(2048).u32(0).sized(&[0; 256]).done(),
            Self::EccP256 => start.u16(CURVE_P256).u16(ALG_NULL).sized(&[0; 32]).sized(&[0; 32]).done(),
        }
    }
}

/// The point of a public part that follows [`StorageKey::EccP256`]: x and y.
pub(crate) fn ecc_point(public: &[u8]) -> Result<(&[u8], &[u8]), BadResponse> {
    let template = StorageKey::EccP256.template();
    let fixed = template.len() - 2 * (2 + DIGEST);
    let mut reader = Reader::new(public);
    if reader.take(fixed)? != &template[..fixed] {
        return Err(BadResponse::WrongKey);
    }
    let point = (reader.sized(DIGEST)?, reader.sized(DIGEST)?);
    reader.end()?;
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::hex;

    /// Public parts and PCR digests that Windows wrote (with Secure Boot and without), published
    /// with the tool SPITkey.
    fn windows_object(public: &str, pcrs: Pcrs, digest: &str) -> SealedObject {
        SealedObject {
            private: Vec::new(),
            public: hex(public),
            pcrs,
            pcr_digest: hex(digest).try_into().expect("32 bytes"),
        }
    }

    #[test]
    fn the_policy_is_the_one_that_windows_seals_under() {
        let secure_boot = windows_object(
            "0008000b000004120020870475dd84278f361870bbfd32eeb69b1110c63d1528798c4f40cea99d9ba3d7\
             00100020a79f85dbb803a00b232c563efb166379a36facd97f8cd8c851bd240895483d5f",
            Pcrs::SECURE_BOOT,
            "274cb5f1ba14fd461518bffc366a62123374e9b073d075c47fad2e18512a7cf3",
        );
        assert_eq!(check_sealed(&secure_boot), Ok(()));
        let with_pin = windows_object(
            "0008000b0000001200207b8be11d1d6a3e46bc3d35d757665712c404642e6573e7ed1b82bdcfa0f6cf71\
             0010002083f4e239339e7872a7adc9cc1f740b3fad6bd213aadde498e948cff246cd7ddb",
            Pcrs::NO_SECURE_BOOT,
            "1dd7e196ce6e18af93075b00e733ed0c02210bb0043cf02a37d78e737ea3e918",
        );
        assert_eq!(check_sealed(&with_pin), Ok(()));
    }

    #[test]
    fn our_template_differs_from_windows_objects_only_in_what_the_tpm_fills_in() {
        let digest = hex("274cb5f1ba14fd461518bffc366a62123374e9b073d075c47fad2e18512a7cf3");
        let policy = policy(Pcrs::SECURE_BOOT, &digest.try_into().expect("32 bytes"));
        let start =
            "0008000b000004120020870475dd84278f361870bbfd32eeb69b1110c63d1528798c4f40cea99d9ba3d70010";
        assert_eq!(sealed_template(&policy, false), hex(&format!("{start}0000")));
        assert_eq!(sealed_template(&policy, true)[4..8], hex("00000012"));
    }

    #[test]
    fn damaged_objects_and_other_policies_are_told_apart() {
        let pcrs = Pcrs::SECURE_BOOT;
        let object = |public: Vec<u8>| SealedObject { private: vec![], public, pcrs, pcr_digest: [7; 32] };
        let good = sealed_template(&policy(pcrs, &[7; 32]), true);
        assert_eq!(check_sealed(&object(good.clone())), Ok(()));
        for length in 0..42 {
            assert_eq!(check_sealed(&object(good[..length].to_vec())), Err(Unfit::DamagedObject));
        }
        let mut other = good.clone();
        other[3] = 0x04;
        assert_eq!(check_sealed(&object(other)), Err(Unfit::UnknownAlgorithms));
        let mut other = good;
        other[20] ^= 1;
        assert_eq!(check_sealed(&object(other)), Err(Unfit::UnknownPolicy));
    }

    #[test]
    fn a_point_is_found_in_a_key_of_the_right_kind_only() {
        let key = StorageKey::EccP256.template();
        assert_eq!(ecc_point(&key), Ok((&[0; 32][..], &[0; 32][..])));
        assert_eq!(ecc_point(&StorageKey::Rsa2048.template()), Err(BadResponse::WrongKey));
        assert_eq!(ecc_point(&key[..key.len() - 1]), Err(BadResponse::TooShort));
    }
}
