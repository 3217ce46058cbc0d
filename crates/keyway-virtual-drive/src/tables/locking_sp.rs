//! The Locking SP (Opal SSC 2.02, Opalite SSC 1.00 and Pyrite SSC 2.01, 4.3 of each): ranges, their keys, the MBR shadow, and who may do what to them.
//!
//! With Single User Mode (feature set 1.00) a range belongs to one user, who alone locks, unlocks and erases it:
//! range n to user n + 1. No admin can give that user a new PIN or change those ACEs.

use super::ace;
use super::builder::{Builder, C_PIN_NOPIN, C_PIN_PIN};
use super::table::{RESET_POWER_CYCLE, Sp, Tables};
use crate::cell::Cell;
use crate::config::{DriveConfig, Setup};
use keyway_sed::Uid;
use keyway_sed::uid::{authority, c_pin, locking, method, table};

/// `symmetric_mode_media`: XTS (Core 2.01, 5.1.3).
const MODE_XTS: u64 = 7;
/// Media encryption is there, or not (Core 2.01, 5.1.3, `enc_supported`).
const NO_ENCRYPTION: u64 = 0;
pub(super) const MEDIA_ENCRYPTION: u64 = 1;
/// The column of K_AES_256 that holds the key, and how it is kept: by means of the maker's own
/// (Core 2.01, 5.1.3, `protect_types`).
const KEY_COLUMN: u64 = 3;
const PROTECT_VENDOR: u64 = 0;
/// The row of SecretProtect about K_AES_256 (Opal SSC 2.02, 4.3.1.10).
const SECRET_OF_KEYS: Uid = Uid::row(0x1d, 0x1e);

pub(super) fn tables(config: &DriveConfig, setup: &Setup) -> Tables {
    let mut b = Builder::default();
    let mut methods = vec![(method::REVERT_SP, "RevertSP")];
    if config.ssc.encrypts() {
        methods.push((method::GEN_KEY, "GenKey"));
    }
    if config.single_user {
        methods.extend([(method::REACTIVATE, "Reactivate"), (method::ERASE, "Erase")]);
    }
    b.common(Sp::Locking, "Locking", (6, "Locking"), &methods);
    b.allow(Uid::THIS_SP, method::REVERT_SP, &[ace::ADMIN]);
    b.aces(config, setup);
    b.authorities(config, setup);
    b.ranges(config, setup);

    let mut own = vec![
        (table::LOCKING_INFO, "LockingInfo", 11),
        (table::LOCKING, "Locking", 11),
        (table::MBR_CONTROL, "MBRControl", 4),
        (table::MBR, "MBR", 1),
    ];
    if config.ssc.encrypts() {
        b.row(
            SECRET_OF_KEYS,
            [
                (1, Cell::Uid(Uid::row(1, table::K_AES_256.table_number()))),
                (2, Cell::Uint(KEY_COLUMN)),
                (3, Cell::Uints(vec![PROTECT_VENDOR])),
            ],
        );
        b.public(table::SECRET_PROTECT);
        own.extend([(table::SECRET_PROTECT, "SecretProtect", 4), (table::K_AES_256, "K_AES_256", 5)]);
    }
    let encryption = if config.ssc.encrypts() { MEDIA_ENCRYPTION } else { NO_ENCRYPTION };
    b.row(
        locking::INFO,
        [
            (1, Cell::name("")),
            (2, Cell::Uint(1)),
            (3, Cell::Uint(encryption)),
            (4, Cell::Uint(config.ranges.into())),
            (5, Cell::Uint(0)),
            (6, Cell::Uint(0)),
            (7, Cell::Uint(config.firmware.aligned.into())),
            (8, Cell::Uint(config.block_bytes.into())),
            (9, Cell::Uint(config.alignment_blocks())),
            (10, Cell::Uint(0)),
        ],
    );
    b.allow(locking::INFO, method::GET, &[ace::ANYBODY]);
    b.row(
        locking::MBR_CONTROL,
        [(1, Cell::Uint(0)), (2, Cell::Uint(0)), (3, Cell::Uints(vec![RESET_POWER_CYCLE]))],
    );
    b.allow(locking::MBR_CONTROL, method::GET, &[ace::ANYBODY]);
    let aces = [locking::ACE_MBR_CONTROL_ADMINS, locking::ACE_MBR_CONTROL_DONE];
    b.allow(locking::MBR_CONTROL, method::SET, &aces);
    b.tables.byte_tables.insert(table::MBR, config.mbr_table());
    b.allow(table::MBR, method::GET, &[ace::ANYBODY]);
    b.allow(table::MBR, method::SET, &[ace::ADMIN]);
    let names: Vec<_> = (0..).map(data_store_name).take(setup.data_stores.len()).collect();
    for ((n, bytes), name) in (0..).zip(config.data_store_tables(setup)).zip(&names) {
        let table = data_store(n);
        b.tables.byte_tables.insert(table, bytes);
        b.allow(table, method::GET, &[ace::data_store_get(n)]);
        b.allow(table, method::SET, &[ace::data_store_set(n)]);
        own.push((table, name, 1));
    }
    b.table_of_tables(&own);
    b.tables
}

/// DataStore table `n`, counted from 0.
const fn data_store(n: u16) -> Uid {
    Uid::row(table::DATA_STORE.table_number() + n as u32, 0)
}

fn data_store_name(n: u16) -> String {
    if n == 0 { "DataStore".to_owned() } else { format!("DataStore{}", n + 1) }
}

impl Builder {
    fn aces(&mut self, config: &DriveConfig, setup: &Setup) {
        let admins = &[authority::ADMINS];
        let anybody = &[authority::ANYBODY];
        // Those whose expression an admin may change (Opal SSC 2.02, table 38).
        let mut settable = vec![ace::ACE_GET_ALL, ace::AUTHORITY_GET_ALL, locking::ACE_MBR_CONTROL_DONE];
        let has_names = !config.ssc.is_small();
        self.ace(ace::ADMIN, "ACE_Admin", admins, &[]);
        if has_names {
            self.ace(ace::ANYBODY_GET_COMMON_NAME, "ACE_Anybody_Get_CommonName", anybody, &[0, 2]);
            self.ace(ace::ADMINS_SET_COMMON_NAME, "ACE_Admins_Set_CommonName", admins, &[2]);
        }
        self.ace(ace::ACE_GET_ALL, "ACE_ACE_Get_All", admins, &[]);
        self.ace(ace::ACE_SET_EXPRESSION, "ACE_ACE_Set_BooleanExpression", admins, &[3]);
        self.ace(ace::AUTHORITY_GET_ALL, "ACE_Authority_Get_All", admins, &[]);
        self.ace(ace::AUTHORITY_SET_ENABLED, "ACE_Authority_Set_Enabled", admins, &[5]);
        self.ace(ace::C_PIN_ADMINS_GET_NOPIN, "ACE_C_PIN_Admins_Get_All_NOPIN", admins, &C_PIN_NOPIN);
        self.ace(ace::C_PIN_ADMINS_SET_PIN, "ACE_C_PIN_Admins_Set_PIN", admins, &C_PIN_PIN);
        for n in 1..=config.users {
            let user = authority::user(n);
            let alone = setup.range_of(n).is_some();
            let (pin, name) =
                if alone { (&[user][..], &[user]) } else { (&[authority::ADMINS, user][..], admins) };
            self.ace(ace::user_set_pin(n), &format!("ACE_C_PIN_User{n}_Set_PIN"), pin, &C_PIN_PIN);
            if has_names {
                self.ace(ace::user_set_common_name(n), &format!("ACE_User{n}_Set_CommonName"), name, &[2]);
            }
            if !alone {
                settable.push(ace::user_set_pin(n));
                settable.extend(has_names.then(|| ace::user_set_common_name(n)));
            }
        }
        if config.ssc.encrypts() {
            self.ace(ace::KEY_MODE, "ACE_K_AES_Mode", anybody, &[4]);
        }
        self.ace(ace::GLOBAL_RANGE_ADMINS_SET, "ACE_Locking_GlblRng_Admins_Set", admins, &[5, 6, 7, 8, 9]);
        if config.ranges > 0 {
            let columns = &[3, 4, 5, 6, 7, 8, 9];
            self.ace(ace::RANGE_ADMINS_SET, "ACE_Locking_Admins_RangeStartToLOR", admins, columns);
        }
        for n in 0..=config.ranges {
            let range = range_name(n);
            let alone = setup.user_of(n).map(authority::user);
            let reader = if alone.is_some() { anybody } else { admins };
            let ruler = &[alone.unwrap_or(authority::ADMINS)];
            let name = format!("ACE_Locking_{range}_Get_RangeStartToActiveKey");
            self.ace(locking::ace_get_range(n), &name, reader, &[3, 4, 5, 6, 7, 8, 9, 10]);
            let name = |suffix: &str| format!("ACE_Locking_{range}_{suffix}");
            self.ace(locking::ace_set_read_locked(n), &name("Set_RdLocked"), ruler, &[7]);
            self.ace(locking::ace_set_write_locked(n), &name("Set_WrLocked"), ruler, &[8]);
            if config.ssc.encrypts() {
                let name = format!("ACE_K_AES_256_{range}_GenKey");
                self.ace(locking::ace_gen_key_256(n), &name, ruler, &[]);
            }
            if let Some(user) = alone {
                self.ace(ace::single_user_set(n), &name("Set_ReadToLOR"), &[user], &[5, 6, 7, 8, 9]);
                let placed_by = if setup.admins_place_ranges { authority::ADMINS } else { user };
                if n > 0 {
                    self.ace(ace::single_user_place(n), &name("Set_Range"), &[placed_by], &[3, 4]);
                }
                self.ace(ace::single_user_erase(n), &name("Erase"), &[authority::ADMINS, user], &[]);
            } else {
                settable.extend([
                    locking::ace_get_range(n),
                    locking::ace_set_read_locked(n),
                    locking::ace_set_write_locked(n),
                ]);
                settable.extend(config.ssc.encrypts().then(|| locking::ace_gen_key_256(n)));
            }
        }
        if config.single_user {
            self.ace(ace::C_PIN_ANYBODY_GET_NOPIN, "ACE_C_PIN_Anybody_Get_NOPIN", anybody, &C_PIN_NOPIN);
            self.ace(ace::SP_REACTIVATE, "ACE_SP_Reactivate_Admin", admins, &[]);
            self.allow(Uid::THIS_SP, method::REACTIVATE, &[ace::SP_REACTIVATE]);
        }
        self.ace(locking::ACE_MBR_CONTROL_ADMINS, "ACE_MBRControl_Admins_Set", admins, &[1, 2, 3]);
        self.ace(locking::ACE_MBR_CONTROL_DONE, "ACE_MBRControl_Set_DoneToDOR", admins, &[2, 3]);
        for n in (0..).take(setup.data_stores.len()) {
            let name = data_store_name(n);
            for (uid, verb) in [(ace::data_store_get(n), "Get"), (ace::data_store_set(n), "Set")] {
                self.ace(uid, &format!("ACE_{name}_{verb}_All"), admins, &[]);
                settable.push(uid);
            }
        }
        self.listed(table::ACE);
        self.read_by(table::ACE, &[ace::ACE_GET_ALL]);
        for uid in settable {
            self.allow(uid, method::SET, &[ace::ACE_SET_EXPRESSION]);
        }
    }

    fn authorities(&mut self, config: &DriveConfig, setup: &Setup) {
        let has_names = !config.ssc.is_small();
        self.classes(&[(authority::ADMINS, "Admins"), (authority::USERS, "Users")]);
        self.listed(table::AUTHORITY);
        self.listed(table::C_PIN);
        for n in 1..=config.admins {
            let (who, pin) = (authority::admin(n), c_pin::admin(n));
            self.authority(who, &format!("Admin{n}"), authority::ADMINS, n == 1, pin);
            self.c_pin(pin, &format!("C_PIN_Admin{n}"), config.try_limit);
            // Admin1 can't be disabled.
            let enabled = (n > 1).then_some(ace::AUTHORITY_SET_ENABLED);
            let named = has_names.then_some(ace::ADMINS_SET_COMMON_NAME);
            let set: Vec<Uid> = enabled.into_iter().chain(named).collect();
            if !set.is_empty() {
                self.allow(who, method::SET, &set);
            }
            self.allow(pin, method::GET, &[ace::C_PIN_ADMINS_GET_NOPIN]);
            self.allow(pin, method::SET, &[ace::C_PIN_ADMINS_SET_PIN]);
        }
        for n in 1..=config.users {
            let (who, pin) = (authority::user(n), c_pin::user(n));
            let alone = setup.range_of(n).is_some();
            self.authority(who, &format!("User{n}"), authority::USERS, alone, pin);
            self.c_pin(pin, &format!("C_PIN_User{n}"), config.try_limit);
            let enabled = (!alone).then_some(ace::AUTHORITY_SET_ENABLED);
            let named = has_names.then(|| ace::user_set_common_name(n));
            let set: Vec<Uid> = enabled.into_iter().chain(named).collect();
            self.allow(who, method::SET, &set);
            let get = if alone { ace::C_PIN_ANYBODY_GET_NOPIN } else { ace::C_PIN_ADMINS_GET_NOPIN };
            self.allow(pin, method::GET, &[get]);
            self.allow(pin, method::SET, &[ace::user_set_pin(n)]);
        }
        let mut readers = vec![ace::AUTHORITY_GET_ALL];
        readers.extend(has_names.then_some(ace::ANYBODY_GET_COMMON_NAME));
        self.read_by(table::AUTHORITY, &readers);
    }

    fn ranges(&mut self, config: &DriveConfig, setup: &Setup) {
        self.listed(table::LOCKING);
        for n in 0..=config.ranges {
            let range = locking::range(n);
            let key = if config.ssc.encrypts() { locking::key_256(n) } else { Uid::NULL };
            self.row(
                range,
                [
                    (1, Cell::name(&format!("Locking_{}", range_name(n)))),
                    (2, Cell::name("")),
                    (3, Cell::Uint(0)),
                    (4, Cell::Uint(0)),
                    (5, Cell::Uint(0)),
                    (6, Cell::Uint(0)),
                    (7, Cell::Uint(0)),
                    (8, Cell::Uint(0)),
                    (9, Cell::Uints(vec![RESET_POWER_CYCLE])),
                    (10, Cell::Uid(key)),
                ],
            );
            let named = |ace| (!config.ssc.is_small()).then_some(ace);
            let mut get = vec![locking::ace_get_range(n)];
            get.extend(named(ace::ANYBODY_GET_COMMON_NAME));
            self.allow(range, method::GET, &get);
            let set = match setup.user_of(n) {
                Some(user) => {
                    self.allow(range, method::ERASE, &[ace::single_user_erase(n)]);
                    let mut set = vec![ace::single_user_set(n), ace::user_set_common_name(user)];
                    set.extend((n > 0).then(|| ace::single_user_place(n)));
                    set
                }
                None => {
                    let place = if n == 0 { ace::GLOBAL_RANGE_ADMINS_SET } else { ace::RANGE_ADMINS_SET };
                    let locks = [locking::ace_set_read_locked(n), locking::ace_set_write_locked(n)];
                    [place].into_iter().chain(locks).chain(named(ace::ADMINS_SET_COMMON_NAME)).collect()
                }
            };
            self.allow(range, method::SET, &set);
            if config.ssc.encrypts() {
                let name = format!("K_AES_256_{}_Key", range_name(n));
                self.row(key, [(1, Cell::name(&name)), (2, Cell::name("")), (4, Cell::Uint(MODE_XTS))]);
                self.allow(key, method::GET, &[ace::KEY_MODE]);
                self.allow(key, method::GEN_KEY, &[locking::ace_gen_key_256(n)]);
            }
        }
    }
}

fn range_name(n: u16) -> String {
    if n == 0 { "GlobalRange".to_owned() } else { format!("Range{n}") }
}
