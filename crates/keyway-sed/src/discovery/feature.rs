//! A feature descriptor on the wire: its code, and which bit is what.
//!
//! Offsets in this file count from a descriptor's first byte after its header of four, so they are 4 less than
//! the specifications'.

use super::descriptors::{
    BasicSsc, BlockSid, DataRemoval, DataStore, Geometry, LockingFeature, NamespaceLocking, OtherFeature,
    SingleUser, Ssc, TPerFeature,
};

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

impl Feature {
    /// The descriptor's code, and the specification's name for it.
    const fn row(&self) -> (u16, &'static str) {
        match self {
            Self::TPer(_) => (code::TPER, "TPer"),
            Self::Locking(_) => (code::LOCKING, "Locking"),
            Self::Geometry(_) => (code::GEOMETRY, "Geometry"),
            Self::Enterprise(_) => (code::ENTERPRISE, "Enterprise"),
            Self::OpalV1(_) => (code::OPAL_V1, "Opal 1.0"),
            Self::SingleUser(_) => (code::SINGLE_USER, "Single User Mode"),
            Self::DataStore(_) => (code::DATA_STORE, "DataStore tables"),
            Self::OpalV2(_) => (code::OPAL_V2, "Opal 2.0"),
            Self::Opalite(_) => (code::OPALITE, "Opalite"),
            Self::PyriteV1(_) => (code::PYRITE_V1, "Pyrite 1.0"),
            Self::PyriteV2(_) => (code::PYRITE_V2, "Pyrite 2.0"),
            Self::Ruby(_) => (code::RUBY, "Ruby"),
            Self::BlockSid(_) => (code::BLOCK_SID, "Block SID Authentication"),
            Self::NamespaceLocking(_) => (code::NAMESPACE_LOCKING, "Configurable Namespace Locking"),
            Self::DataRemoval(_) => (code::DATA_REMOVAL, "Supported Data Removal Mechanism"),
            Self::Other(other) => {
                let name = match other.code {
                    0x0004 => "Secure Messaging",
                    0x0005 => "SIIS",
                    0x0305 => "Key Per I/O",
                    0x0401 => "Locking LBA Ranges Control",
                    0x0405 => "Namespace Geometry",
                    0x0407 => "Shadow MBR for Multiple Namespaces",
                    0xc000.. => "the maker's own",
                    _ => "unknown",
                };
                (other.code, name)
            }
        }
    }

    /// The specification's name for it.
    pub const fn name(&self) -> &'static str {
        self.row().1
    }

    /// The descriptor's code.
    pub const fn code(&self) -> u16 {
        self.row().0
    }

    pub(super) fn parse(code: u16, version: u8, body: &[u8]) -> Self {
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

    pub(super) fn write(&self, to: &mut Vec<u8>) {
        let bits =
            |bits: &[(bool, u8)]| bits.iter().fold(0u8, |byte, (set, bit)| byte | u8::from(*set) << bit);
        let mut version = 0x10;
        // Fields at their offsets; the length is the specification's, unused bytes are zero.
        let mut body = Body::default();
        match self {
            Self::TPer(t) => {
                let low =
                    bits(&[(t.sync, 0), (t.async_protocol, 1), (t.ack_nak, 2), (t.buffer_management, 3)]);
                let flags = low | bits(&[(t.streaming, 4), (t.com_id_management, 6)]);
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
