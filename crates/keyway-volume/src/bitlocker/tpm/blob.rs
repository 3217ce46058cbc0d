//! The TPM blob: from the entry to the sealed object and back.

use super::super::entry::TpmBlob;
use keyway_tpm::{Pcrs, SealedObject};

/// Why a TPM blob can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlobFault {
    /// It ends too early, or something follows its end.
    #[error("it is cut off or something follows it")]
    Length,
    /// It begins as the blobs of a TPM 1.2 do.
    #[error("it was made by a TPM 1.2")]
    Tpm12,
    /// The digest of its measurements is no SHA-256.
    #[error("its measurements are no SHA-256 digest")]
    Digest,
    /// The registers are not the same in both places, or do not exist.
    #[error("its lists of PCRs contradict each other")]
    Registers,
}

/// A TPM 1.2's sealed data begins with this tag (`TPM_TAG_STORED_DATA12`, *TPM Main, Part 2*, 3.1).
const TPM12_TAG: u16 = 0x0016;
/// Bytes of a SHA-256.
const DIGEST: usize = 32;

/// Reads the sealed object out of the entry.
pub(super) fn parse(entry: &TpmBlob) -> Result<SealedObject, BlobFault> {
    let mut rest = &entry.blob[..];
    if sized(&mut { rest }).is_none() && rest.first_chunk() == Some(&TPM12_TAG.to_be_bytes()) {
        return Err(BlobFault::Tpm12);
    }
    let private = sized(&mut rest).ok_or(BlobFault::Length)?.to_vec();
    let public = sized(&mut rest).ok_or(BlobFault::Length)?.to_vec();
    let digest = sized(&mut rest).ok_or(BlobFault::Length)?;
    let pcr_digest: [u8; DIGEST] = digest.try_into().map_err(|_| BlobFault::Digest)?;
    let (count, bits) = rest.split_first().ok_or(BlobFault::Length)?;
    if usize::from(*count) != bits.len() {
        return Err(BlobFault::Length);
    }
    let known = (1..=4).contains(&bits.len());
    let selected = bits.iter().rev().take(4).fold(0, |all, byte| all << 8 | u32::from(*byte));
    let pcrs = Pcrs::from_bitmap(selected).filter(|pcrs| known && pcrs.bitmap() == entry.pcrs);
    Ok(SealedObject { private, public, pcrs: pcrs.ok_or(BlobFault::Registers)?, pcr_digest })
}

/// A `TPM2B`: sixteen bits of length, big-endian, then the bytes.
fn sized<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let (bytes, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
    *rest = after;
    Some(bytes)
}

/// The entry of a sealed object. A TPM's parts have some hundred bytes.
pub(super) fn entry(object: &SealedObject) -> TpmBlob {
    let mut blob = Vec::new();
    for part in [&object.private[..], &object.public, &object.pcr_digest] {
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        blob.extend_from_slice(&length.to_be_bytes());
        blob.extend_from_slice(part);
    }
    let [first, second, third, _] = object.pcrs.bitmap().to_le_bytes();
    blob.extend_from_slice(&[3, first, second, third]);
    TpmBlob { pcrs: object.pcrs.bitmap(), blob }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> SealedObject {
        SealedObject {
            private: vec![1; 170],
            public: vec![2; 78],
            pcrs: Pcrs::SECURE_BOOT,
            pcr_digest: [3; DIGEST],
        }
    }

    #[test]
    fn an_object_comes_back() {
        let entry = entry(&object());
        // 290 bytes: as long as the blobs that Windows makes with the same parts.
        assert_eq!((entry.pcrs, entry.blob.len()), (0x880, 290));
        assert_eq!(entry.blob[286..], [3, 0x80, 8, 0]);
        assert_eq!(parse(&entry), Ok(object()));
    }

    #[test]
    fn every_cut_and_every_extra_byte_is_seen() {
        let whole = entry(&object());
        for length in 0..whole.blob.len() {
            let cut = TpmBlob { pcrs: 0x880, blob: whole.blob[..length].to_vec() };
            assert_eq!(parse(&cut), Err(BlobFault::Length), "{length}");
        }
        let mut long = whole;
        long.blob.push(0);
        assert_eq!(parse(&long), Err(BlobFault::Length));
    }

    #[test]
    fn lies_are_told_apart() {
        let mut other = entry(&object());
        other.pcrs = 0x815;
        assert_eq!(parse(&other), Err(BlobFault::Registers));
        let mut other = entry(&object());
        other.blob[252..254].copy_from_slice(&[0, 31]);
        other.blob.remove(254);
        assert_eq!(parse(&other), Err(BlobFault::Digest));
        let none = TpmBlob { pcrs: 0, blob: [&entry(&object()).blob[..286], &[0]].concat() };
        assert_eq!(parse(&none), Err(BlobFault::Registers));
        let long = TpmBlob { pcrs: 0, blob: [&entry(&object()).blob[..286], &[5, 0, 0, 0, 0, 0]].concat() };
        assert_eq!(parse(&long), Err(BlobFault::Registers));
        let old = TpmBlob { pcrs: 0x815, blob: vec![0x00, 0x16, 0, 0, 0, 0, 0, 44] };
        assert_eq!(parse(&old), Err(BlobFault::Tpm12));
    }
}
