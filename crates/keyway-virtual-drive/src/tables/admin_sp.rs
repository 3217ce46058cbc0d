//! The Admin SP (Opal SSC 2.02, Opalite SSC 1.00 and Pyrite SSC 2.01, 4.2 of each): the drive's owner, and the SPs' lives.

use super::ace;
use super::builder::{Builder, C_PIN_NOPIN, C_PIN_PIN};
use super::table::{Sp, Tables, life_cycle};
use crate::cell::Cell;
use crate::config::DriveConfig;
use keyway_sed::Uid;
use keyway_sed::uid::{authority, c_pin, method, sp, table};

/// Wrong PINs in a row that lock the owner, or the label's secret, out until the next power cycle: the
/// specification leaves it to the maker.
const OWNER_TRY_LIMIT: u32 = 5;
/// The only row of TPerInfo, and its column that enables TPER_RESET.
pub(crate) const TPER_INFO: Uid = Uid::row(0x0201, 0x0003_0001);
pub(crate) const PROGRAMMATIC_RESET_ENABLE: u64 = 8;
/// The only row of DataRemovalMechanism, and its column.
const DATA_REMOVAL: Uid = Uid::row(0x1101, 1);

pub(super) fn tables(config: &DriveConfig) -> Tables {
    let mut b = Builder::default();
    let methods = [(method::REVERT, "Revert"), (method::ACTIVATE, "Activate")];
    b.common(Sp::Admin, "Admin", (2, "Admin"), &methods);
    let (sid, admins) = (authority::SID, authority::ADMINS);
    let (admin1, admin1_pin) = (authority::admin_sp_admin(1), c_pin::admin_sp_admin(1));

    // Opalite has no admins here, and Pyrite need not have any.
    let has_admins = !config.ssc.is_small();
    if has_admins {
        b.ace(ace::ADMIN, "ACE_Admin", &[admins], &[]);
        b.ace(ace::SET_ENABLED, "ACE_Set_Enabled", &[sid], &[5]);
        b.ace(ace::C_PIN_ADMINS_SET_PIN, "ACE_C_PIN_Admins_Set_PIN", &[admins, sid], &C_PIN_PIN);
    }
    b.ace(ace::C_PIN_SID_GET_NOPIN, "ACE_C_PIN_SID_Get_NOPIN", &[admins, sid], &C_PIN_NOPIN);
    b.ace(ace::C_PIN_SID_SET_PIN, "ACE_C_PIN_SID_Set_PIN", &[sid], &C_PIN_PIN);
    b.ace(ace::C_PIN_MSID_GET_PIN, "ACE_C_PIN_MSID_Get_PIN", &[authority::ANYBODY], &[0, 3]);
    b.ace(
        ace::TPER_INFO_SET_PROGRAMMATIC_RESET,
        "ACE_TPerInfo_Set_ProgrammaticResetEnable",
        &[sid],
        &[PROGRAMMATIC_RESET_ENABLE],
    );
    b.ace(ace::SP_SID, "ACE_SP_SID", &[sid], &[]);
    b.ace(ace::SP_PSID, "ACE_SP_PSID", &[authority::PSID], &[]);
    b.ace(ace::C_PIN_PSID_GET_NOPIN, "ACE_C_PIN_Get_PSID_NoPIN", &[authority::ANYBODY], &C_PIN_NOPIN);
    if config.removes_data() {
        b.ace(
            ace::DATA_REMOVAL_SET,
            "ACE_DataRemovalMechanism_Set_ActiveDataRemovalMechanism",
            &[admins, sid],
            &[1],
        );
    }
    b.public(table::ACE);

    b.classes(&[(admins, "Admins")]);
    b.authority(sid, "SID", Uid::NULL, true, c_pin::SID);
    b.authority(authority::PSID, "PSID", Uid::NULL, true, c_pin::PSID);
    if has_admins {
        b.authority(authority::MAKERS, "Makers", Uid::NULL, true, Uid::NULL);
        b.authority(admin1, "Admin1", admins, false, admin1_pin);
        for who in [authority::MAKERS, admin1] {
            b.allow(who, method::SET, &[ace::SET_ENABLED]);
        }
    }
    b.public(table::AUTHORITY);

    b.c_pin(c_pin::SID, "C_PIN_SID", OWNER_TRY_LIMIT);
    b.c_pin(c_pin::MSID, "C_PIN_MSID", 0);
    b.c_pin(c_pin::PSID, "C_PIN_PSID", OWNER_TRY_LIMIT);
    if let Some(row) = b.tables.rows.get_mut(&c_pin::MSID) {
        row.insert(3, Cell::name(&config.label.msid));
    }
    b.listed(table::C_PIN);
    b.allow(c_pin::SID, method::GET, &[ace::C_PIN_SID_GET_NOPIN]);
    b.allow(c_pin::SID, method::SET, &[ace::C_PIN_SID_SET_PIN]);
    b.allow(c_pin::MSID, method::GET, &[ace::C_PIN_MSID_GET_PIN]);
    b.allow(c_pin::PSID, method::GET, &[ace::C_PIN_PSID_GET_NOPIN]);
    if has_admins {
        b.c_pin(admin1_pin, "C_PIN_Admin1", config.try_limit);
        b.allow(admin1_pin, method::GET, &[ace::C_PIN_SID_GET_NOPIN]);
        b.allow(admin1_pin, method::SET, &[ace::C_PIN_ADMINS_SET_PIN]);
    }

    b.row(
        TPER_INFO,
        [
            (1, Cell::Uint(config.data_bytes())),
            (2, Cell::Bytes(gudid(&config.label.serial))),
            (3, Cell::Uint(0)),
            (4, Cell::Uint(1)),
            (5, Cell::Uint(1)),
            (6, Cell::Uint(0)),
            (7, Cell::Names(vec![config.ssc.tcg_name().to_owned()])),
            (PROGRAMMATIC_RESET_ENABLE, Cell::Uint(0)),
        ],
    );
    b.read_by(table::TPER_INFO, &[ace::ANYBODY]);
    b.allow(TPER_INFO, method::SET, &[ace::TPER_INFO_SET_PROGRAMMATIC_RESET]);

    for (n, name, instances) in [(1, "Base", 2), (2, "Admin", 1), (6, "Locking", 1)] {
        b.row(
            Uid::row(0x0204, n),
            [
                (1, Cell::name(name)),
                (2, Cell::Uint(1)),
                (3, Cell::Uint(instances)),
                (4, Cell::Uint(instances)),
            ],
        );
    }
    b.public(table::TEMPLATE);

    for (uid, name, state) in [
        (sp::ADMIN, "Admin", life_cycle::MANUFACTURED),
        (sp::LOCKING, "Locking", life_cycle::MANUFACTURED_INACTIVE),
    ] {
        b.row(uid, [(1, Cell::name(name)), (6, Cell::Uint(state)), (7, Cell::Uint(0))]);
        b.allow(uid, method::ACTIVATE, &[ace::SP_SID]);
    }
    b.public(table::SP);
    let mut reverters = vec![ace::SP_SID];
    reverters.extend(has_admins.then_some(ace::ADMIN));
    b.allow(sp::LOCKING, method::REVERT, &reverters);
    reverters.push(ace::SP_PSID);
    b.allow(sp::ADMIN, method::REVERT, &reverters);

    let mut own =
        vec![(table::TPER_INFO, "TPerInfo", 9), (table::TEMPLATE, "Template", 5), (table::SP, "SP", 8)];
    if config.removes_data() {
        b.row(DATA_REMOVAL, [(1, Cell::Uint(config.ssc.data_removal().into()))]);
        b.allow(DATA_REMOVAL, method::GET, &[ace::ANYBODY]);
        b.allow(DATA_REMOVAL, method::SET, &[ace::DATA_REMOVAL_SET]);
        own.push((table::DATA_REMOVAL, "DataRemovalMechanism", 2));
    }
    b.table_of_tables(&own);
    b.tables
}

/// Twelve bytes that no other drive has: four letters, and eight that follow from the serial number.
fn gudid(serial: &str) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let sum = Sha256::digest(serial.as_bytes());
    b"KEYW".iter().chain(sum.iter().take(8)).copied().collect()
}
