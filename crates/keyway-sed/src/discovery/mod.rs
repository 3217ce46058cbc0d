//! Level 0 discovery: what a drive says of itself without a session.
//!
//! A header of 48 bytes (Core 2.01, 3.3.6.4), then feature descriptors, each with a code, a version, a
//! length and its bytes. Everything is big-endian.

mod descriptors;
mod feature;

pub use descriptors::{
    BasicSsc, BlockSid, DataRemoval, DataStore, Geometry, LockingFeature, NamespaceLocking, OtherFeature,
    SingleUser, Ssc, TPerFeature,
};
pub use feature::Feature;

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

/// Behind all others: where a drive speaks Opal, too, that is what a host should speak.
const ENTERPRISE_RANK: u8 = 6;

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
        self.spoken().map(|(_, com_id)| com_id)
    }

    /// Whether that SSC is Enterprise, which names things otherwise ([`crate::enterprise`]).
    pub fn speaks_enterprise(&self) -> bool {
        self.spoken().is_some_and(|(rank, _)| rank == ENTERPRISE_RANK)
    }

    /// The rank of the SSC that a host should speak, and its first channel.
    fn spoken(&self) -> Option<(u8, u16)> {
        let rank = |feature: &Feature| match feature {
            Feature::OpalV2(s) => Some((0, s.base_com_id)),
            Feature::Ruby(s) => Some((1, s.base_com_id)),
            Feature::OpalV1(s) => Some((2, s.base_com_id)),
            Feature::Opalite(s) => Some((3, s.base_com_id)),
            Feature::PyriteV2(s) => Some((4, s.base_com_id)),
            Feature::PyriteV1(s) => Some((5, s.base_com_id)),
            Feature::Enterprise(s) => Some((ENTERPRISE_RANK, s.base_com_id)),
            _ => None,
        };
        self.features.iter().filter_map(rank).min()
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
