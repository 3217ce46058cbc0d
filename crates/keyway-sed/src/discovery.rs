//! Level 0 discovery: what a drive says of itself without a session.
//!
//! A header of 48 bytes (Core 2.01, 3.3.6.4), then feature descriptors, each with a code, a version, a
//! length and its bytes. Offsets in this file count from a descriptor's first byte after that header of four,
//! so they are 4 less than the specifications'. Everything is big-endian.

use crate::CodecError;
use crate::packet::Fields;

/// Bytes of the header.
pub const HEADER: usize = 48;
/// The largest answer that is read, in bytes. Real ones have a few hundred.
const MAX_LEN: usize = 64 * 1024;
/// Descriptors that are read.
const MAX_FEATURES: usize = 256;

/// What a drive says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// Version of the header: major and minor; 0 and 1 in every specification so far.
    pub revision: (u16, u16),
    /// The maker's own bytes.
    pub vendor: [u8; 32],
    /// The features, in the drive's order.
    pub features: Vec<Feature>,
}

/// One feature descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feature {
    /// 0x0001 (Core 2.01, 3.3.6.5).
    TPer(TPerFeature),
    /// 0x0002 (Core 2.01, 3.3.6.6; the two last bits Opal SSC 2.01 and 2.02, 3.1.1.3).
    Locking(LockingFeature),
    /// 0x0003 (Opal SSC 2.01, 3.1.1.4).
    Geometry(Geometry),
    /// 0x0100 (Enterprise SSC 1.01, 3.6.2.7).
    Enterprise(BasicSsc),
    /// 0x0200 (Opal SSC 1.00, 3.1.1.4).
    OpalV1(BasicSsc),
    /// 0x0201 (Single User Mode 1.00, 4.2).
    SingleUser(SingleUser),
    /// 0x0202 (Additional DataStore Tables 1.00, 4.1).
    DataStore(DataStore),
    /// 0x0203 (Opal SSC 2.01, 3.1.1.5).
    OpalV2(Ssc),
    /// 0x0301 (Opalite SSC 1.00, 3.1.1.4).
    Opalite(Ssc),
    /// 0x0302 (Pyrite SSC 1.00, 3.1.1.4).
    PyriteV1(Ssc),
    /// 0x0303 (Pyrite SSC 2.00, 3.1.1.4).
    PyriteV2(Ssc),
    /// 0x0304 (Ruby SSC 1.00, 3.1.1.5).
    Ruby(Ssc),
    /// 0x0402 (Block SID Authentication 1.01, 3.1).
    BlockSid(BlockSid),
    /// 0x0403 (Configurable Namespace Locking 1.00, 4.1).
    NamespaceLocking(NamespaceLocking),
    /// 0x0404 (Opal SSC 2.02, 3.1.1.6; Pyrite SSC 2.00, 3.1.1.5).
    DataRemoval(DataRemoval),
    /// Any other one: a code that this program has no use for, or the maker's own (from 0xc000 on).
    Other(OtherFeature),
}

/// How the TPer communicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TPerFeature {
    /// Synchronous protocol: what everybody speaks.
    pub sync: bool,
    /// Asynchronous protocol.
    pub async_protocol: bool,
    /// Acknowledgements.
    pub ack_nak: bool,
    /// Buffer management.
    pub buffer_management: bool,
    /// Streaming.
    pub streaming: bool,
    /// ComIDs given out on request.
    pub com_id_management: bool,
}

/// The state of locking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockingFeature {
    /// There is a Locking template.
    pub supported: bool,
    /// An SP with it is in use (not in its factory state).
    pub enabled: bool,
    /// Some range is locked for reading or writing.
    pub locked: bool,
    /// The medium is encrypted.
    pub media_encryption: bool,
    /// The MBR shadow is enabled.
    pub mbr_enabled: bool,
    /// The MBR shadow has done its work.
    pub mbr_done: bool,
    /// There is no MBR shadow.
    pub mbr_shadowing_not_supported: bool,
    /// Hardware resets can lock (Opal 2.02).
    pub hardware_reset_supported: bool,
}

/// What ranges must be aligned to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Whether they must be.
    pub align_required: bool,
    /// Bytes of a logical block.
    pub logical_block_bytes: u32,
    /// Logical blocks that starts and lengths are multiples of.
    pub alignment_granularity: u64,
    /// The first aligned logical block.
    pub lowest_aligned_lba: u64,
}

/// An SSC that says its channels only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BasicSsc {
    /// The first ComID.
    pub base_com_id: u16,
    /// How many there are.
    pub com_ids: u16,
    /// Whether a transfer across ranges of different state fails as a whole: the bit is 0 where a
    /// transfer may cross them if all are unlocked.
    pub range_crossing_fails: bool,
}

/// An SSC of the Opal family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ssc {
    /// The version byte's minor half: 1 in Opal 2.01, 2 in 2.02.
    pub minor_version: u8,
    /// The first ComID.
    pub base_com_id: u16,
    /// How many there are.
    pub com_ids: u16,
    /// As in [`BasicSsc::range_crossing_fails`].
    pub range_crossing_fails: bool,
    /// Admins of the Locking SP; 0 in Pyrite and Opalite, which have no such field.
    pub admins: u16,
    /// Users of the Locking SP; 0 likewise.
    pub users: u16,
    /// Whether the owner's first PIN is the MSID (0) or something else (255).
    pub initial_sid_pin: u8,
    /// Whether reverting makes the owner's PIN the MSID (0) or something else (255).
    pub reverted_sid_pin: u8,
}

/// Single User Mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SingleUser {
    /// Ranges that can be in it.
    pub ranges: u32,
    /// One or more ranges are.
    pub any: bool,
    /// All ranges are.
    pub all: bool,
    /// Admins, not the users, set where ranges lie.
    pub policy: bool,
}

/// Further DataStore tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataStore {
    /// How many there may be.
    pub max_tables: u16,
    /// Bytes of all together.
    pub max_bytes: u32,
    /// Bytes that each table's size is a multiple of.
    pub alignment: u32,
}

/// Block SID Authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockSid {
    /// The owner's PIN is no longer the MSID.
    pub sid_differs_from_msid: bool,
    /// The owner can't authenticate until the next reset that ends it.
    pub blocked: bool,
    /// A hardware reset ends it too, not only a power cycle.
    pub hardware_reset_clears: bool,
}

/// Configurable Namespace Locking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NamespaceLocking {
    /// Ranges inside a namespace can be configured.
    pub ranges_configurable: bool,
    /// Some namespace has one besides its global range.
    pub ranges_present: bool,
    /// Keys altogether.
    pub max_keys: u32,
    /// Keys not yet used.
    pub unused_keys: u32,
    /// Ranges a namespace can have; `u32::MAX` says nothing.
    pub max_ranges_per_namespace: u32,
}

/// How data can be removed by a revert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataRemoval {
    /// It is going on.
    pub processing: bool,
    /// It was interrupted.
    pub interrupted: bool,
    /// Mechanisms: bit 0 overwriting, 1 block erase, 2 new key, 3 unmapping, 4 resetting write pointers, 5 the maker's.
    pub mechanisms: u8,
    /// For each of them, whether its time is in minutes (else in units of two seconds).
    pub in_minutes: u8,
    /// Time of each mechanism; 0 says nothing.
    pub times: [u16; 6],
}

/// A descriptor as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFeature {
    /// Its code.
    pub code: u16,
    /// The version byte.
    pub version: u8,
    /// What follows.
    pub bytes: Vec<u8>,
}

/// Codes of descriptors (see [`Feature`]).
mod code {
    pub(super) const TPER: u16 = 0x0001;
    pub(super) const LOCKING: u16 = 0x0002;
    pub(super) const GEOMETRY: u16 = 0x0003;
    pub(super) const ENTERPRISE: u16 = 0x0100;
    pub(super) const OPAL_V1: u16 = 0x0200;
    pub(super) const SINGLE_USER: u16 = 0x0201;
    pub(super) const DATA_STORE: u16 = 0x0202;
    pub(super) const OPAL_V2: u16 = 0x0203;
    pub(super) const OPALITE: u16 = 0x0301;
    pub(super) const PYRITE_V1: u16 = 0x0302;
    pub(super) const PYRITE_V2: u16 = 0x0303;
    pub(super) const RUBY: u16 = 0x0304;
    pub(super) const BLOCK_SID: u16 = 0x0402;
    pub(super) const NAMESPACE_LOCKING: u16 = 0x0403;
    pub(super) const DATA_REMOVAL: u16 = 0x0404;
}

impl Discovery {
    /// Reads an answer, whose end may be padding or cut off by a short transfer; a descriptor that is
    /// cut off is left out. Descriptors that are shorter than their definition are kept as
    /// [`Feature::Other`].
    ///
    /// # Errors
    /// A header that is cut off or lengths that can't be.
    pub fn parse(bytes: &[u8]) -> Result<Self, CodecError> {
        let mut head = Fields { rest: bytes, what: "Level 0 discovery" };
        let len = (head.u32()? as usize).saturating_add(4);
        if !(HEADER..=MAX_LEN).contains(&len) {
            return Err(CodecError::Length { what: "Level 0 discovery", len: len as u64 });
        }
        let revision = (head.u16()?, head.u16()?);
        head.take(8)?;
        let mut vendor = [0; 32];
        vendor.copy_from_slice(head.take(32)?);
        let rest = head.rest;
        let rest = rest.get(..len - HEADER).unwrap_or(rest);
        let mut from = Fields { rest, what: "a feature descriptor" };
        let mut features = Vec::new();
        while from.rest.len() >= 4 && features.len() < MAX_FEATURES {
            let code = from.u16()?;
            let version = from.u8()?;
            let len = usize::from(from.u8()?);
            let Ok(body) = from.take(len) else { break };
            features.push(Feature::parse(code, version, body));
        }
        Ok(Self { revision, vendor, features })
    }

    /// Writes it.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend_from_slice(&self.revision.0.to_be_bytes());
        bytes.extend_from_slice(&self.revision.1.to_be_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&self.vendor);
        for feature in &self.features {
            feature.write(&mut bytes);
        }
        let len = (bytes.len() - 4) as u32;
        if let Some(place) = bytes.first_chunk_mut() {
            *place = len.to_be_bytes();
        }
        bytes
    }

    /// The locking feature, if there is one.
    pub fn locking(&self) -> Option<&LockingFeature> {
        self.features.iter().find_map(|f| if let Feature::Locking(l) = f { Some(l) } else { None })
    }

    /// The geometry, if it is told.
    pub fn geometry(&self) -> Option<&Geometry> {
        self.features.iter().find_map(|f| if let Feature::Geometry(g) = f { Some(g) } else { None })
    }

    /// The TPer feature, if there is one.
    pub fn tper(&self) -> Option<&TPerFeature> {
        self.features.iter().find_map(|f| if let Feature::TPer(t) = f { Some(t) } else { None })
    }

    /// Block SID Authentication, if there is such a thing.
    pub fn block_sid(&self) -> Option<&BlockSid> {
        self.features.iter().find_map(|f| if let Feature::BlockSid(b) = f { Some(b) } else { None })
    }

    /// The first channel of the SSC that a host should speak: the newest Opal, then its smaller relatives,
    /// then Enterprise.
    pub fn base_com_id(&self) -> Option<u16> {
        let rank = |feature: &Feature| match feature {
            Feature::OpalV2(s) => Some((0, s.base_com_id)),
            Feature::Ruby(s) => Some((1, s.base_com_id)),
            Feature::OpalV1(s) => Some((2, s.base_com_id)),
            Feature::Opalite(s) => Some((3, s.base_com_id)),
            Feature::PyriteV2(s) => Some((4, s.base_com_id)),
            Feature::PyriteV1(s) => Some((5, s.base_com_id)),
            Feature::Enterprise(s) => Some((6, s.base_com_id)),
            _ => None,
        };
        self.features.iter().filter_map(rank).min().map(|(_, com_id)| com_id)
    }
}

impl Feature {
    /// The specification's name for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TPer(_) => "TPer",
            Self::Locking(_) => "Locking",
            Self::Geometry(_) => "Geometry",
            Self::Enterprise(_) => "Enterprise",
            Self::OpalV1(_) => "Opal 1.0",
            Self::SingleUser(_) => "Single User Mode",
            Self::DataStore(_) => "DataStore tables",
            Self::OpalV2(_) => "Opal 2.0",
            Self::Opalite(_) => "Opalite",
            Self::PyriteV1(_) => "Pyrite 1.0",
            Self::PyriteV2(_) => "Pyrite 2.0",
            Self::Ruby(_) => "Ruby",
            Self::BlockSid(_) => "Block SID Authentication",
            Self::NamespaceLocking(_) => "Configurable Namespace Locking",
            Self::DataRemoval(_) => "Supported Data Removal Mechanism",
            Self::Other(other) => match other.code {
                0x0004 => "Secure Messaging",
                0x0005 => "SIIS",
                0x0305 => "Key Per I/O",
                0x0401 => "Locking LBA Ranges Control",
                0x0405 => "Namespace Geometry",
                0x0407 => "Shadow MBR for Multiple Namespaces",
                0xc000.. => "the maker's own",
                _ => "unknown",
            },
        }
    }

    /// The descriptor's code.
    pub const fn code(&self) -> u16 {
        match self {
            Self::TPer(_) => code::TPER,
            Self::Locking(_) => code::LOCKING,
            Self::Geometry(_) => code::GEOMETRY,
            Self::Enterprise(_) => code::ENTERPRISE,
            Self::OpalV1(_) => code::OPAL_V1,
            Self::SingleUser(_) => code::SINGLE_USER,
            Self::DataStore(_) => code::DATA_STORE,
            Self::OpalV2(_) => code::OPAL_V2,
            Self::Opalite(_) => code::OPALITE,
            Self::PyriteV1(_) => code::PYRITE_V1,
            Self::PyriteV2(_) => code::PYRITE_V2,
            Self::Ruby(_) => code::RUBY,
            Self::BlockSid(_) => code::BLOCK_SID,
            Self::NamespaceLocking(_) => code::NAMESPACE_LOCKING,
            Self::DataRemoval(_) => code::DATA_REMOVAL,
            Self::Other(other) => other.code,
        }
    }

    fn parse(code: u16, version: u8, body: &[u8]) -> Self {
        Self::parse_known(code, version, body)
            .unwrap_or_else(|| Self::Other(OtherFeature { code, version, bytes: body.to_vec() }))
    }

    fn parse_known(code: u16, version: u8, body: &[u8]) -> Option<Self> {
        let bit = |at: usize, bit: u8| body.get(at).map(|byte| byte >> bit & 1 == 1);
        let u8_at = |at: usize| body.get(at).copied();
        let u16_at = |at: usize| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
        let u32_at = |at: usize| Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_be_bytes(body.get(at..at + 8)?.try_into().ok()?));
        let basic = || {
            Some(BasicSsc { base_com_id: u16_at(0)?, com_ids: u16_at(2)?, range_crossing_fails: bit(4, 0)? })
        };
        let ssc = |counts: bool| {
            let count = |at| if counts { u16_at(at) } else { Some(0) };
            Some(Ssc {
                minor_version: version & 0x0f,
                base_com_id: u16_at(0)?,
                com_ids: u16_at(2)?,
                range_crossing_fails: counts && bit(4, 0)?,
                admins: count(5)?,
                users: count(7)?,
                initial_sid_pin: u8_at(9)?,
                reverted_sid_pin: u8_at(10)?,
            })
        };
        Some(match code {
            code::TPER => Self::TPer(TPerFeature {
                sync: bit(0, 0)?,
                async_protocol: bit(0, 1)?,
                ack_nak: bit(0, 2)?,
                buffer_management: bit(0, 3)?,
                streaming: bit(0, 4)?,
                com_id_management: bit(0, 6)?,
            }),
            code::LOCKING => Self::Locking(LockingFeature {
                supported: bit(0, 0)?,
                enabled: bit(0, 1)?,
                locked: bit(0, 2)?,
                media_encryption: bit(0, 3)?,
                mbr_enabled: bit(0, 4)?,
                mbr_done: bit(0, 5)?,
                mbr_shadowing_not_supported: bit(0, 6)?,
                hardware_reset_supported: bit(0, 7)?,
            }),
            code::GEOMETRY => Self::Geometry(Geometry {
                align_required: bit(0, 0)?,
                logical_block_bytes: u32_at(8)?,
                alignment_granularity: u64_at(12)?,
                lowest_aligned_lba: u64_at(20)?,
            }),
            code::ENTERPRISE => Self::Enterprise(basic()?),
            code::OPAL_V1 => Self::OpalV1(basic()?),
            code::SINGLE_USER => Self::SingleUser(SingleUser {
                ranges: u32_at(0)?,
                any: bit(4, 0)?,
                all: bit(4, 1)?,
                policy: bit(4, 2)?,
            }),
            code::DATA_STORE => Self::DataStore(DataStore {
                max_tables: u16_at(2)?,
                max_bytes: u32_at(4)?,
                alignment: u32_at(8)?,
            }),
            code::OPAL_V2 => Self::OpalV2(ssc(true)?),
            code::RUBY => Self::Ruby(ssc(true)?),
            code::OPALITE => Self::Opalite(ssc(false)?),
            code::PYRITE_V1 => Self::PyriteV1(ssc(false)?),
            code::PYRITE_V2 => Self::PyriteV2(ssc(false)?),
            code::BLOCK_SID => Self::BlockSid(BlockSid {
                sid_differs_from_msid: bit(0, 0)?,
                blocked: bit(0, 1)?,
                hardware_reset_clears: bit(1, 0)?,
            }),
            code::NAMESPACE_LOCKING => Self::NamespaceLocking(NamespaceLocking {
                ranges_configurable: bit(0, 7)?,
                ranges_present: bit(0, 6)?,
                max_keys: u32_at(4)?,
                unused_keys: u32_at(8)?,
                max_ranges_per_namespace: u32_at(12)?,
            }),
            code::DATA_REMOVAL => {
                let mut times = [0; 6];
                for (time, at) in times.iter_mut().zip((4..).step_by(2)) {
                    *time = u16_at(at)?;
                }
                Self::DataRemoval(DataRemoval {
                    processing: bit(1, 0)?,
                    interrupted: bit(1, 1)?,
                    mechanisms: u8_at(2)?,
                    in_minutes: u8_at(3)?,
                    times,
                })
            }
            _ => return None,
        })
    }

    fn write(&self, to: &mut Vec<u8>) {
        let bits =
            |bits: &[(bool, u8)]| bits.iter().fold(0u8, |byte, (set, bit)| byte | u8::from(*set) << bit);
        let mut version = 0x10;
        // Fields at their offsets; the length is the specification's, unused bytes are zero.
        let mut body = Body::default();
        match self {
            Self::TPer(t) => {
                let flags = bits(&[
                    (t.sync, 0),
                    (t.async_protocol, 1),
                    (t.ack_nak, 2),
                    (t.buffer_management, 3),
                    (t.streaming, 4),
                    (t.com_id_management, 6),
                ]);
                body.len(12).put(0, &[flags]);
            }
            Self::Locking(l) => {
                let flags = bits(&[
                    (l.supported, 0),
                    (l.enabled, 1),
                    (l.locked, 2),
                    (l.media_encryption, 3),
                    (l.mbr_enabled, 4),
                    (l.mbr_done, 5),
                    (l.mbr_shadowing_not_supported, 6),
                    (l.hardware_reset_supported, 7),
                ]);
                body.len(12).put(0, &[flags]);
            }
            Self::Geometry(g) => {
                body.len(28)
                    .put(0, &[u8::from(g.align_required)])
                    .put(8, &g.logical_block_bytes.to_be_bytes());
                body.put(12, &g.alignment_granularity.to_be_bytes())
                    .put(20, &g.lowest_aligned_lba.to_be_bytes());
            }
            Self::Enterprise(s) | Self::OpalV1(s) => {
                body.len(16).put(0, &s.base_com_id.to_be_bytes()).put(2, &s.com_ids.to_be_bytes());
                body.put(4, &[u8::from(s.range_crossing_fails)]);
            }
            Self::SingleUser(s) => {
                let flags = bits(&[(s.any, 0), (s.all, 1), (s.policy, 2)]);
                body.len(12).put(0, &s.ranges.to_be_bytes()).put(4, &[flags]);
            }
            Self::DataStore(d) => {
                body.len(12).put(2, &d.max_tables.to_be_bytes()).put(4, &d.max_bytes.to_be_bytes());
                body.put(8, &d.alignment.to_be_bytes());
            }
            Self::OpalV2(s) | Self::Opalite(s) | Self::PyriteV1(s) | Self::PyriteV2(s) | Self::Ruby(s) => {
                // Opal 2 counts its major version from 1 too; the minor one tells 2.00, 2.01 and 2.02 apart.
                version = 0x10 | s.minor_version & 0x0f;
                body.len(16).put(0, &s.base_com_id.to_be_bytes()).put(2, &s.com_ids.to_be_bytes());
                if matches!(self, Self::OpalV2(_) | Self::Ruby(_)) {
                    body.put(4, &[u8::from(s.range_crossing_fails)]).put(5, &s.admins.to_be_bytes());
                    body.put(7, &s.users.to_be_bytes());
                }
                body.put(9, &[s.initial_sid_pin, s.reverted_sid_pin]);
            }
            Self::BlockSid(b) => {
                body.len(12).put(0, &[bits(&[(b.sid_differs_from_msid, 0), (b.blocked, 1)])]);
                body.put(1, &[u8::from(b.hardware_reset_clears)]);
            }
            Self::NamespaceLocking(n) => {
                body.len(16).put(0, &[bits(&[(n.ranges_configurable, 7), (n.ranges_present, 6)])]);
                body.put(4, &n.max_keys.to_be_bytes()).put(8, &n.unused_keys.to_be_bytes());
                body.put(12, &n.max_ranges_per_namespace.to_be_bytes());
            }
            Self::DataRemoval(d) => {
                let flags = bits(&[(d.processing, 0), (d.interrupted, 1)]);
                body.len(32).put(1, &[flags, d.mechanisms, d.in_minutes]);
                for (time, at) in d.times.iter().zip((4..).step_by(2)) {
                    body.put(at, &time.to_be_bytes());
                }
            }
            Self::Other(other) => {
                version = other.version;
                body.bytes.extend_from_slice(other.bytes.get(..255).unwrap_or(&other.bytes));
            }
        }
        to.extend_from_slice(&self.code().to_be_bytes());
        to.push(version);
        to.push(body.bytes.len() as u8);
        to.extend_from_slice(&body.bytes);
    }
}

/// A descriptor's bytes while they are written.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
}

impl Body {
    fn len(&mut self, len: usize) -> &mut Self {
        self.bytes.resize(len, 0);
        self
    }

    fn put(&mut self, at: usize, field: &[u8]) -> &mut Self {
        if let Some(place) = self.bytes.get_mut(at..at + field.len()) {
            place.copy_from_slice(field);
        }
        self
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn everything() -> Vec<Feature> {
        let basic = BasicSsc { base_com_id: 0x07fe, com_ids: 2, range_crossing_fails: true };
        let small = Ssc {
            minor_version: 0,
            base_com_id: 0x1004,
            com_ids: 1,
            reverted_sid_pin: 0xff,
            ..Ssc::default()
        };
        let full = Ssc { minor_version: 2, range_crossing_fails: true, admins: 4, users: 9, ..small };
        vec![
            Feature::TPer(TPerFeature { sync: true, com_id_management: true, ..TPerFeature::default() }),
            Feature::Locking(LockingFeature {
                supported: true,
                locked: true,
                mbr_done: true,
                ..LockingFeature::default()
            }),
            Feature::Geometry(Geometry {
                align_required: true,
                logical_block_bytes: 512,
                alignment_granularity: 8,
                lowest_aligned_lba: 1,
            }),
            Feature::Enterprise(basic),
            Feature::OpalV1(basic),
            Feature::SingleUser(SingleUser { ranges: 9, any: true, all: false, policy: true }),
            Feature::DataStore(DataStore { max_tables: 9, max_bytes: 1 << 20, alignment: 1 }),
            Feature::OpalV2(full),
            Feature::Opalite(small),
            Feature::PyriteV1(small),
            Feature::PyriteV2(small),
            Feature::Ruby(full),
            Feature::BlockSid(BlockSid {
                sid_differs_from_msid: true,
                blocked: true,
                hardware_reset_clears: true,
            }),
            Feature::NamespaceLocking(NamespaceLocking {
                ranges_configurable: true,
                max_keys: 16,
                unused_keys: 3,
                max_ranges_per_namespace: u32::MAX,
                ranges_present: true,
            }),
            Feature::DataRemoval(DataRemoval {
                processing: true,
                interrupted: false,
                mechanisms: 0b111,
                in_minutes: 1,
                times: [1, 2, 3, 4, 5, 6],
            }),
            Feature::Other(OtherFeature { code: 0xc123, version: 0x20, bytes: vec![1, 2, 3] }),
        ]
    }

    #[test]
    fn everything_that_is_written_is_read() {
        let discovery = Discovery { revision: (0, 1), vendor: [7; 32], features: everything() };
        let bytes = discovery.write();
        assert_eq!(bytes[..4], ((bytes.len() - 4) as u32).to_be_bytes());
        let mut transfer = bytes.clone();
        transfer.resize(2048, 0);
        assert_eq!(Discovery::parse(&transfer), Ok(discovery.clone()));
        for cut in HEADER..bytes.len() {
            let read = Discovery::parse(&bytes[..cut]).unwrap();
            assert_eq!(read.features, discovery.features[..read.features.len()]);
        }
        assert_eq!(discovery.base_com_id(), Some(0x1004));
    }

    #[test]
    fn an_opal_descriptor_byte_for_byte() {
        // The offsets of Opal SSC 2.01, 3.1.1.5, table 8.
        let mut bytes = Vec::new();
        everything()[7].write(&mut bytes);
        let expected = [2, 3, 0x12, 16, 0x10, 4, 0, 1, 1, 0, 4, 0, 9, 0, 0xff, 0, 0, 0, 0, 0];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_short_descriptor_is_kept_as_it_is() {
        let mut bytes = vec![0; HEADER];
        bytes[3] = (HEADER + 6 - 4) as u8;
        bytes.extend_from_slice(&[0, 3, 0x10, 2, 9, 9]);
        let read = Discovery::parse(&bytes).unwrap();
        let other = OtherFeature { code: 3, version: 0x10, bytes: vec![9, 9] };
        assert_eq!(read.features, [Feature::Other(other)]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), len in 40u32..400) {
            if let Some(place) = bytes.first_chunk_mut() {
                *place = len.to_be_bytes();
            }
            let _ = Discovery::parse(&bytes);
        }
    }
}
