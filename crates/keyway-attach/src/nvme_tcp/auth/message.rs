//! The messages of an authentication (Base 2.0, 8.13.4 and 8.13.5). Integers are little-endian.

use super::secret::HASH;

/// Kinds of messages: common ones, and those of DH-HMAC-CHAP.
const COMMON: u8 = 0x00;
const DHCHAP: u8 = 0x01;
/// Their identifiers.
const NEGOTIATE: u8 = 0x00;
const CHALLENGE: u8 = 0x01;
const REPLY: u8 = 0x02;
const SUCCESS1: u8 = 0x03;
const SUCCESS2: u8 = 0x04;
const FAILURE2: u8 = 0xf0;
const FAILURE1: u8 = 0xf1;
/// Bytes of a protocol descriptor, and where in it the lists of hashes and groups begin.
const DESCRIPTOR: usize = 64;
const HASHES: usize = 4;
const GROUPS: usize = 34;
/// Entries that either list may have.
const ENTRIES: usize = 30;
/// SHA-256, and the group that is none.
const SHA256: u8 = 0x01;
const NULL_GROUP: u8 = 0x00;
/// The only reason of a failure.
const FAILED: u8 = 0x01;

/// Why the controller ends an authentication (Base 2.0, figure 445).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nvme_tcp) enum Failure {
    /// The proof is wrong.
    Failed = 0x01,
    /// No protocol that is spoken here.
    NotUsable = 0x02,
    /// A secure channel that is not offered.
    SecureChannel = 0x03,
    /// No hash that is computed here.
    Hash = 0x04,
    /// No group that is computed here.
    Group = 0x05,
    /// A message that does not fit its kind.
    Payload = 0x06,
    /// A message that is not due.
    Message = 0x07,
}

/// What a host sends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FromHost<'a> {
    /// It can do what we can.
    Negotiate { transaction: u16 },
    /// Its response, and its own challenge with that one's number.
    Reply { transaction: u16, response: &'a [u8], challenge: Option<(&'a [u8], u32)> },
    /// It accepts this side's proof.
    Success { transaction: u16 },
    /// It does not, or gives up.
    Failure,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl<'a> FromHost<'a> {
    /// Reads a message.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Failure> {
        let transaction = u16_at(bytes, 4).ok_or(Failure::Payload)?;
        match (bytes.first(), bytes.get(1)) {
            (Some(&COMMON), Some(&NEGOTIATE)) => {
                Self::negotiate(bytes).map(|()| Self::Negotiate { transaction })
            }
            (Some(&DHCHAP), Some(&REPLY)) => {
                Self::reply(bytes, transaction).ok_or(Failure::Payload).and_then(|reply| reply)
            }
            (Some(&DHCHAP), Some(&SUCCESS2)) => Ok(Self::Success { transaction }),
            (Some(&COMMON), Some(&FAILURE2)) => Ok(Self::Failure),
            _ => Err(Failure::Message),
        }
    }

    /// Whether the host offers a protocol, a hash and a group that are spoken here.
    fn negotiate(bytes: &[u8]) -> Result<(), Failure> {
        let (channel, count) = (bytes.get(6), bytes.get(7).copied().map_or(0, usize::from));
        if channel != Some(&0) {
            return Err(Failure::SecureChannel);
        }
        let (descriptors, _) = bytes.get(8..).unwrap_or_default().as_chunks::<DESCRIPTOR>();
        let ours = descriptors.iter().take(count).find(|d| d.first() == Some(&DHCHAP));
        let ours = ours.ok_or(Failure::NotUsable)?;
        let list = |from: usize, count: Option<&u8>| {
            let count = count.copied().map_or(0, usize::from).min(ENTRIES);
            ours.get(from..from + count).unwrap_or_default()
        };
        if !list(HASHES, ours.get(2)).contains(&SHA256) {
            return Err(Failure::Hash);
        }
        if !list(GROUPS, ours.get(3)).contains(&NULL_GROUP) {
            return Err(Failure::Group);
        }
        Ok(())
    }

    fn reply(bytes: &'a [u8], transaction: u16) -> Option<Result<Self, Failure>> {
        let (hash_len, challenges, group_len) = (*bytes.get(6)?, bytes.get(8)? & 1 == 1, u16_at(bytes, 10)?);
        if usize::from(hash_len) != HASH || group_len != 0 {
            return Some(Err(Failure::Payload));
        }
        let response = bytes.get(16..16 + HASH)?;
        let challenge = match challenges {
            true => Some((bytes.get(16 + HASH..16 + 2 * HASH)?, u32_at(bytes, 12)?)),
            false => None,
        };
        Some(Ok(Self::Reply { transaction, response, challenge }))
    }
}

fn header(kind: u8, id: u8, transaction: u16) -> Vec<u8> {
    let [low, high] = transaction.to_le_bytes();
    vec![kind, id, 0, 0, low, high]
}

/// The controller's challenge.
pub(super) fn challenge(transaction: u16, value: &[u8; HASH], sequence: u32) -> Vec<u8> {
    let mut bytes = header(DHCHAP, CHALLENGE, transaction);
    bytes.extend_from_slice(&[HASH as u8, 0, SHA256, NULL_GROUP, 0, 0]);
    bytes.extend_from_slice(&sequence.to_le_bytes());
    bytes.extend_from_slice(value);
    bytes
}

/// The host has proved itself; and this side's proof, where it asked for one.
pub(super) fn success(transaction: u16, response: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = header(DHCHAP, SUCCESS1, transaction);
    bytes.extend_from_slice(&[HASH as u8, 0, u8::from(response.is_some()), 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(response.unwrap_or_default());
    bytes
}

/// It has not.
pub(super) fn failure(transaction: u16, why: Failure) -> Vec<u8> {
    let mut bytes = header(COMMON, FAILURE1, transaction);
    bytes.extend_from_slice(&[FAILED, why as u8]);
    bytes
}
