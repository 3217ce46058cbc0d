//! The tables as they leave the factory.

use super::table::Tables;
use super::{admin_sp, enterprise, locking_sp};
use crate::config::{DriveConfig, Setup, SscKind};

impl Tables {
    /// The Admin SP's.
    pub(crate) fn admin_sp(config: &DriveConfig) -> Self {
        if config.ssc == SscKind::Enterprise {
            return enterprise::admin_sp(config);
        }
        admin_sp::tables(config)
    }

    /// The Locking SP's, as it was activated.
    pub(crate) fn locking_sp(config: &DriveConfig, setup: &Setup) -> Self {
        if config.ssc == SscKind::Enterprise {
            return enterprise::locking_sp(config);
        }
        locking_sp::tables(config, setup)
    }
}
