//! UIDs of access control elements (Opal SSC 2.02, 4.2.1.6 and 4.3.1.7; what else says so).

use keyway_sed::Uid;

/// A row of the ACE table.
const fn row(row: u32) -> Uid {
    Uid::row(8, row)
}

pub(crate) const ANYBODY: Uid = row(1);
pub(crate) const ADMIN: Uid = row(2);
pub(crate) const ANYBODY_GET_COMMON_NAME: Uid = row(3);
pub(crate) const ADMINS_SET_COMMON_NAME: Uid = row(4);

// The Admin SP's.
pub(crate) const SET_ENABLED: Uid = row(0x0003_0001);
pub(crate) const SP_SID: Uid = row(0x0003_0002);
pub(crate) const TPER_INFO_SET_PROGRAMMATIC_RESET: Uid = row(0x0003_0003);
pub(crate) const C_PIN_SID_GET_NOPIN: Uid = row(0x8c02);
pub(crate) const C_PIN_SID_SET_PIN: Uid = row(0x8c03);
pub(crate) const C_PIN_MSID_GET_PIN: Uid = row(0x8c04);
pub(crate) const DATA_REMOVAL_SET: Uid = row(0x0005_0001);
// PSID feature set 1.00, table 3.
pub(crate) const SP_PSID: Uid = row(0x0001_00e0);
pub(crate) const C_PIN_PSID_GET_NOPIN: Uid = row(0x0001_00e1);

// The Locking SP's; C_PIN_ADMINS_SET_PIN both have.
pub(crate) const ACE_GET_ALL: Uid = row(0x0003_8000);
pub(crate) const ACE_SET_EXPRESSION: Uid = row(0x0003_8001);
pub(crate) const AUTHORITY_GET_ALL: Uid = row(0x0003_9000);
pub(crate) const AUTHORITY_SET_ENABLED: Uid = row(0x0003_9001);
pub(crate) const C_PIN_ADMINS_GET_NOPIN: Uid = row(0x0003_a000);
pub(crate) const C_PIN_ADMINS_SET_PIN: Uid = row(0x0003_a001);
pub(crate) const KEY_MODE: Uid = row(0x0003_bfff);
pub(crate) const GLOBAL_RANGE_ADMINS_SET: Uid = row(0x0003_f000);
pub(crate) const RANGE_ADMINS_SET: Uid = row(0x0003_f001);

pub(crate) const fn user_set_pin(user: u16) -> Uid {
    row(0x0003_a800 + user as u32)
}

pub(crate) const fn user_set_common_name(user: u16) -> Uid {
    row(0x0004_4000 + user as u32)
}

/// Of DataStore table `n`, counted from 0 (Additional DataStore Tables 1.01: further ones go on by two).
pub(crate) const fn data_store_get(n: u16) -> Uid {
    row(0x0003_fc00 + 2 * n as u32)
}

pub(crate) const fn data_store_set(n: u16) -> Uid {
    row(0x0003_fc01 + 2 * n as u32)
}

// Single User Mode 1.00.
pub(crate) const C_PIN_ANYBODY_GET_NOPIN: Uid = row(0x0004_2000);
pub(crate) const SP_REACTIVATE: Uid = row(0x0004_2001);

/// Columns ReadLockEnabled to LockOnReset of a range in Single User Mode.
pub(crate) const fn single_user_set(range: u16) -> Uid {
    row(0x0004_0000 + range as u32)
}

/// Columns RangeStart and RangeLength of a range in Single User Mode.
pub(crate) const fn single_user_place(range: u16) -> Uid {
    row(0x0004_1000 + range as u32)
}

pub(crate) const fn single_user_erase(range: u16) -> Uid {
    row(0x0004_3000 + range as u32)
}
