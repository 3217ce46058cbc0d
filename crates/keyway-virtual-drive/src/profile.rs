//! What drives are made as by name: one of each SSC, and drives that can be bought, as their discovery was published.

use super::config::{DriveConfig, Firmware, Label, SscKind};

/// A drive to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Of that SSC, with everything that it asks for.
    Of(SscKind),
    /// Samsung SSD 850 EVO 500GB, firmware EMT02B6Q: the bytes of its discovery are in sedutil's issue 304
    /// (2019): Opal 2.00, and 1.00 beside it.
    Samsung850Evo,
    /// KIOXIA XG8 (KXG8AZNV1T02), firmware 5108APLA: its discovery, as sedutil tells it, is in sedutil's
    /// issue 503 (2025). The minor version of its SSC is not told there.
    KioxiaXg8,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Of(SscKind::Opal2),
        Self::Of(SscKind::Opalite),
        Self::Of(SscKind::Pyrite1),
        Self::Of(SscKind::Pyrite2),
        Self::Of(SscKind::Ruby),
        Self::Of(SscKind::Enterprise),
        Self::Samsung850Evo,
        Self::KioxiaXg8,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Of(ssc) => ssc.name(),
            Self::Samsung850Evo => "samsung-850-evo",
            Self::KioxiaXg8 => "kioxia-xg8",
        }
    }

    /// The profile of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Such a drive.
    pub fn config(self, blocks: u64, block_bytes: u32, label: Label) -> DriveConfig {
        let opal = |label| DriveConfig::opal(blocks, block_bytes, label);
        match self {
            Self::Of(ssc) => DriveConfig::of(ssc, blocks, block_bytes, label),
            Self::Samsung850Evo => {
                let firmware = Firmware {
                    com_id: 0x1004,
                    minor_version: 0,
                    aligned: false,
                    granularity: 1,
                    opal_v1: true,
                    block_sid: false,
                    ..Firmware::OWN
                };
                DriveConfig { firmware, ..opal(label) }
            }
            Self::KioxiaXg8 => {
                let firmware = Firmware {
                    com_id: 0x2000,
                    minor_version: 1,
                    granularity: 1,
                    data_store_alignment: 4096,
                    ..Firmware::OWN
                };
                DriveConfig { firmware, data_stores: 10, ..opal(label) }
            }
        }
    }
}
