//! What of an Enterprise drive's tables can be read (Enterprise SSC 1.01, 5.3 and 5.6): its bands, who rules them, and
//! the factory's PIN. Nothing in them can be set.
//!
//! The rows' numbers are those of the SSC's tables 28, 29, 33 and 36, as sedutil uses them; a band's cells are those that
//! sedutil's comments show of a drive in its factory state.

use super::ace;
use super::builder::{Builder, C_PIN_NOPIN, C_PIN_PIN};
use super::locking_sp::MEDIA_ENCRYPTION;
use super::table::{RESET_POWER_CYCLE, Tables};
use crate::cell::Cell;
use crate::config::DriveConfig;
use keyway_sed::Uid;
use keyway_sed::uid::{authority, c_pin, locking, method, table};

/// Everybody reads the factory's PIN, and of the owner's all but the PIN: two rules of our own numbers, which nobody can
/// read here.
const MSID_PIN: Uid = ace::C_PIN_MSID_GET_PIN;
const NO_PIN: Uid = ace::C_PIN_SID_GET_NOPIN;

/// Who rules the bands, and who erases them.
pub(crate) fn masters(config: &DriveConfig) -> impl Iterator<Item = (Uid, String)> {
    let bands = (0..=config.ranges).map(|n| (authority::band_master(n), format!("BandMaster{n}")));
    bands.chain([(authority::ERASE_MASTER, "EraseMaster".to_owned())])
}

fn common() -> Builder {
    let mut b = Builder::default();
    b.ace(ace::ANYBODY, "ACE_Anybody", &[authority::ANYBODY], &[]);
    b.ace(NO_PIN, "ACE_C_PIN_NoPIN", &[authority::ANYBODY], &C_PIN_NOPIN);
    b.classes(&[(authority::MAKERS, "Makers")]);
    b.allow(Uid::THIS_SP, method::ENTERPRISE_AUTHENTICATE, &[ace::ANYBODY]);
    b.allow(Uid::THIS_SP, method::RANDOM, &[ace::ANYBODY]);
    b
}

fn readable(mut b: Builder, tables: &[Uid]) -> Tables {
    for table in tables {
        let rows: Vec<Uid> = b.tables.rows_of(*table).collect();
        for row in rows {
            b.allow(row, method::ENTERPRISE_GET, &[ace::ANYBODY]);
        }
    }
    b.tables
}

pub(super) fn admin_sp(config: &DriveConfig) -> Tables {
    let mut b = common();
    b.ace(MSID_PIN, "ACE_C_PIN_MSID_Get_PIN", &[authority::ANYBODY], &[0, C_PIN_PIN[0]]);
    b.authority(authority::SID, "SID", Uid::NULL, true, c_pin::SID);
    b.c_pin(c_pin::SID, "C_PIN_SID", config.try_limit);
    b.c_pin(c_pin::MSID, "C_PIN_MSID", 0);
    if let Some(row) = b.tables.rows.get_mut(&c_pin::MSID) {
        row.insert(C_PIN_PIN[0], Cell::name(&config.label.msid));
    }
    b.allow(c_pin::SID, method::ENTERPRISE_GET, &[NO_PIN]);
    b.allow(c_pin::MSID, method::ENTERPRISE_GET, &[MSID_PIN]);
    readable(b, &[table::AUTHORITY])
}

pub(super) fn locking_sp(config: &DriveConfig) -> Tables {
    let mut b = common();
    for (who, name) in masters(config) {
        let pin = c_pin::enterprise(who);
        b.authority(who, &name, Uid::NULL, true, pin);
        b.c_pin(pin, &format!("C_PIN_{name}"), config.try_limit);
        b.allow(pin, method::ENTERPRISE_GET, &[NO_PIN]);
    }
    b.row(
        locking::INFO,
        [
            (1, Cell::name("")),
            (2, Cell::Uint(1)),
            (3, Cell::Uint(MEDIA_ENCRYPTION)),
            (4, Cell::Uint(config.ranges.into())),
        ],
    );
    for n in 0..=config.ranges {
        let name = if n == 0 { "Global_Range".to_owned() } else { format!("Band{n}") };
        b.row(
            locking::band(n),
            [
                (1, Cell::name(&name)),
                (2, Cell::name("Locking")),
                (3, Cell::Uint(0)),
                (4, Cell::Uint(0)),
                (5, Cell::Uint(0)),
                (6, Cell::Uint(0)),
                (7, Cell::Uint(1)),
                (8, Cell::Uint(1)),
                (9, Cell::Uints(vec![RESET_POWER_CYCLE])),
                (10, Cell::Uid(Uid::row(table::K_AES_256.table_number(), u32::from(n) + 1))),
            ],
        );
    }
    readable(b, &[table::AUTHORITY, table::LOCKING_INFO, table::LOCKING])
}
