//! What the drive says of itself: Level 0 discovery.

use super::config::SscKind;
use super::tper::Tper;
use keyway_sed::discovery::{
    BasicSsc, BlockSid, DataRemoval, DataStore, Discovery, Feature, Geometry, LockingFeature, SingleUser,
    Ssc, TPerFeature,
};

impl Tper {
    /// What the drive says of itself.
    pub(super) fn discovery(&self) -> Discovery {
        let config = &self.state.config;
        let (mbr_enabled, mbr_done) = self.mbr_flags();
        let ssc = Ssc {
            minor_version: config.firmware.minor_version,
            base_com_id: config.firmware.com_id,
            com_ids: 1,
            range_crossing_fails: false,
            admins: config.admins,
            users: config.users,
            initial_sid_pin: 0,
            reverted_sid_pin: 0,
        };
        let small = Ssc { admins: 0, users: 0, ..ssc };
        let setup = &self.state.setup;
        let basic = BasicSsc { base_com_id: config.firmware.com_id, com_ids: 1, range_crossing_fails: false };
        let mut features = vec![
            Feature::TPer(TPerFeature { sync: true, streaming: true, ..TPerFeature::default() }),
            Feature::Locking(LockingFeature {
                supported: true,
                enabled: self.state.active,
                locked: self.any_locked(),
                media_encryption: config.ssc.encrypts(),
                mbr_enabled,
                mbr_done,
                mbr_shadowing_not_supported: config.mbr_bytes == 0,
                hardware_reset_supported: false,
            }),
        ];
        let mut vendor = [0; 32];
        vendor.iter_mut().zip(b"Keyway virtual drive").for_each(|(to, from)| *to = *from);
        if config.ssc == SscKind::Enterprise {
            features.push(Feature::Enterprise(basic));
            return Discovery { revision: (0, 1), vendor, features };
        }
        features.push(Feature::Geometry(Geometry {
            align_required: config.firmware.aligned,
            logical_block_bytes: config.block_bytes,
            alignment_granularity: config.alignment_blocks(),
            lowest_aligned_lba: 0,
        }));
        if config.firmware.opal_v1 {
            features.push(Feature::OpalV1(basic));
        }
        if config.single_user {
            features.push(Feature::SingleUser(SingleUser {
                ranges: u32::from(config.ranges) + 1,
                any: !setup.single_user.is_empty(),
                all: setup.single_user.len() > usize::from(config.ranges),
                // Set, too, where no range is in that mode: so do the drives whose discovery was published.
                policy: setup.admins_place_ranges || setup.single_user.is_empty(),
            }));
        }
        features.extend([
            Feature::DataStore(DataStore {
                max_tables: config.data_stores,
                max_bytes: u32::try_from(config.data_store_bytes).unwrap_or(u32::MAX),
                alignment: config.firmware.data_store_alignment,
            }),
            match config.ssc {
                SscKind::Opal2 => Feature::OpalV2(ssc),
                SscKind::Enterprise => Feature::Enterprise(basic),
                SscKind::Ruby => Feature::Ruby(ssc),
                SscKind::Opalite => Feature::Opalite(small),
                SscKind::Pyrite1 => Feature::PyriteV1(small),
                SscKind::Pyrite2 => Feature::PyriteV2(small),
            },
        ]);
        if config.firmware.block_sid {
            features.push(Feature::BlockSid(BlockSid {
                sid_differs_from_msid: !self.state.sid_is_msid,
                blocked: self.sid_blocked.is_some(),
                hardware_reset_clears: self.sid_blocked == Some(true),
            }));
        }
        if config.removes_data() {
            let mechanisms = 1 << config.ssc.data_removal();
            features.push(Feature::DataRemoval(DataRemoval { mechanisms, ..DataRemoval::default() }));
        }
        Discovery { revision: (0, 1), vendor, features }
    }
}
