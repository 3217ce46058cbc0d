//! An SP's tables: rows, methods' access, and tables of bytes.

use crate::cell::Cell;
use crate::config::{ByteTable, SscKind};
use keyway_sed::Uid;
use keyway_sed::uid::sp;
use std::collections::BTreeMap;

/// Which SP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sp {
    Admin,
    Locking,
}

impl Sp {
    pub(crate) const fn uid(self) -> Uid {
        match self {
            Self::Admin => sp::ADMIN,
            Self::Locking => sp::LOCKING,
        }
    }

    /// The SP of that name on a drive of that kind.
    pub(crate) fn of(uid: Uid, ssc: SscKind) -> Option<Self> {
        match uid {
            sp::ADMIN => Some(Self::Admin),
            sp::LOCKING if ssc != SscKind::Enterprise => Some(Self::Locking),
            sp::ENTERPRISE_LOCKING if ssc == SscKind::Enterprise => Some(Self::Locking),
            _ => None,
        }
    }
}

pub(crate) type Row = BTreeMap<u64, Cell>;

/// One SP's tables.
#[derive(Default)]
pub(crate) struct Tables {
    /// Every row of every object table.
    pub(crate) rows: BTreeMap<Uid, Row>,
    /// The ACEs of each method on each object or table.
    pub(crate) access: BTreeMap<(Uid, Uid), Vec<Uid>>,
    /// Byte tables: where they are in [`crate::config`]'s layout, and their bytes.
    pub(crate) byte_tables: BTreeMap<Uid, ByteTable>,
}

/// A power cycle (Core 2.01, 5.1.3, `reset_types`).
pub(crate) const RESET_POWER_CYCLE: u64 = 0;
/// A TPER_RESET.
pub(crate) const RESET_PROGRAMMATIC: u64 = 3;

/// Life cycle states (Opal SSC 2.02, 5.2.3).
pub(crate) mod life_cycle {
    pub(crate) const MANUFACTURED_INACTIVE: u64 = 8;
    pub(crate) const MANUFACTURED: u64 = 9;
}

impl Tables {
    /// The rows of a table, in order.
    pub(crate) fn rows_of(&self, table: Uid) -> impl Iterator<Item = Uid> {
        let number = table.table_number();
        self.rows.range(Uid::row(number, 1)..=Uid::row(number, u32::MAX)).map(|(uid, _)| *uid)
    }
}
