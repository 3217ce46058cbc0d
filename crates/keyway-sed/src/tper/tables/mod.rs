//! The tables of both SPs as they leave the factory: rows, and who may call what on them.
//!
//! Opal SSC 2.02, 4.2 (Admin SP) and 4.3 (Locking SP); the columns' numbers are Core 2.01's, chapter 5.
//! What a host changes is kept beside them (`State::cells`), so that reverting an SP forgets its changes.

pub(super) mod ace;
mod admin_sp;
mod builder;
pub(super) mod enterprise;
mod locking_sp;

pub(super) use admin_sp::{PROGRAMMATIC_RESET_ENABLE, TPER_INFO};

use super::cell::Cell;
use super::config::{DriveConfig, Setup, SscKind};
use crate::Uid;
use crate::uid::sp;
use std::collections::BTreeMap;

/// Which SP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sp {
    Admin,
    Locking,
}

impl Sp {
    pub(super) const fn uid(self) -> Uid {
        match self {
            Self::Admin => sp::ADMIN,
            Self::Locking => sp::LOCKING,
        }
    }

    /// The SP of that name on a drive of that kind.
    pub(super) fn of(uid: Uid, ssc: SscKind) -> Option<Self> {
        match uid {
            sp::ADMIN => Some(Self::Admin),
            sp::LOCKING if ssc != SscKind::Enterprise => Some(Self::Locking),
            sp::ENTERPRISE_LOCKING if ssc == SscKind::Enterprise => Some(Self::Locking),
            _ => None,
        }
    }
}

pub(super) type Row = BTreeMap<u64, Cell>;

/// One SP's tables.
#[derive(Default)]
pub(super) struct Tables {
    /// Every row of every object table.
    pub(super) rows: BTreeMap<Uid, Row>,
    /// The ACEs of each method on each object or table.
    pub(super) access: BTreeMap<(Uid, Uid), Vec<Uid>>,
    /// Byte tables: where they are in [`super::config`]'s layout, and their bytes.
    pub(super) byte_tables: BTreeMap<Uid, ByteTable>,
}

/// A table of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteTable {
    /// First byte on the medium.
    pub(super) offset: u64,
    /// Bytes.
    pub(super) len: u64,
}

/// A power cycle (Core 2.01, 5.1.3, `reset_types`).
pub(super) const RESET_POWER_CYCLE: u64 = 0;
/// A TPER_RESET.
pub(super) const RESET_PROGRAMMATIC: u64 = 3;

/// Life cycle states (Opal SSC 2.02, 5.2.3).
pub(super) mod life_cycle {
    pub(in crate::tper) const MANUFACTURED_INACTIVE: u64 = 8;
    pub(in crate::tper) const MANUFACTURED: u64 = 9;
}

impl Tables {
    /// The Admin SP's.
    pub(super) fn admin_sp(config: &DriveConfig) -> Self {
        if config.ssc == SscKind::Enterprise {
            return enterprise::admin_sp(config);
        }
        admin_sp::tables(config)
    }

    /// The Locking SP's, as it was activated.
    pub(super) fn locking_sp(config: &DriveConfig, setup: &Setup) -> Self {
        if config.ssc == SscKind::Enterprise {
            return enterprise::locking_sp(config);
        }
        locking_sp::tables(config, setup)
    }

    /// The rows of a table, in order.
    pub(super) fn rows_of(&self, table: Uid) -> impl Iterator<Item = Uid> {
        let number = table.table_number();
        self.rows.range(Uid::row(number, 1)..=Uid::row(number, u32::MAX)).map(|(uid, _)| *uid)
    }
}
