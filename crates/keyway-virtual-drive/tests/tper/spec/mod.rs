//! What Opal SSC 2.02 preconfigures, as the tests ask for it: ACEs, access control rows, tables and their cells.

pub(crate) mod access;
pub(crate) mod cells;

use keyway_sed::Uid;
use keyway_sed::uid::authority;

/// Ranges besides the global one, admins and users that the specification asks for (and one user more, for
/// Single User Mode).
pub(crate) const RANGES: u16 = 8;
pub(crate) const ADMINS: u16 = 4;
pub(crate) const USERS: u16 = 9;

/// An access control element.
pub(crate) struct Ace {
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) who: Vec<Uid>,
    /// None is all of them.
    pub(crate) columns: Vec<u64>,
}

const NOPIN: &[u64] = &[0, 4, 5, 6, 7];

fn ace(name: &str, row: u32, who: &[Uid], columns: &[u64]) -> Ace {
    Ace { name: name.into(), uid: Uid::row(8, row), who: who.to_vec(), columns: columns.to_vec() }
}

/// Table 23, and table 3 of PSID 1.00.
pub(crate) fn admin_sp_aces() -> Vec<Ace> {
    let (anybody, admins, sid) = (authority::ANYBODY, authority::ADMINS, authority::SID);
    vec![
        ace("ACE_Anybody", 1, &[anybody], &[]),
        ace("ACE_Admin", 2, &[admins], &[]),
        ace("ACE_Set_Enabled", 0x0003_0001, &[sid], &[5]),
        ace("ACE_C_PIN_SID_Get_NOPIN", 0x8c02, &[admins, sid], NOPIN),
        ace("ACE_C_PIN_SID_Set_PIN", 0x8c03, &[sid], &[3]),
        ace("ACE_C_PIN_MSID_Get_PIN", 0x8c04, &[anybody], &[0, 3]),
        ace("ACE_C_PIN_Admins_Set_PIN", 0x0003_a001, &[admins, sid], &[3]),
        ace("ACE_TPerInfo_Set_ProgrammaticResetEnable", 0x0003_0003, &[sid], &[8]),
        ace("ACE_SP_SID", 0x0003_0002, &[sid], &[]),
        ace("ACE_DataRemovalMechanism_Set_ActiveDataRemovalMechanism", 0x0005_0001, &[admins, sid], &[1]),
        ace("ACE_SP_PSID", 0x0001_00e0, &[authority::PSID], &[]),
        ace("ACE_C_PIN_Get_PSID_NoPIN", 0x0001_00e1, &[anybody], NOPIN),
    ]
}

/// Table 39, and what Single User Mode adds where no range is in it.
pub(crate) fn locking_sp_aces() -> Vec<Ace> {
    let (anybody, admins) = (&[authority::ANYBODY][..], &[authority::ADMINS][..]);
    let mut aces = vec![
        ace("ACE_Anybody", 1, anybody, &[]),
        ace("ACE_Admin", 2, admins, &[]),
        ace("ACE_Anybody_Get_CommonName", 3, anybody, &[0, 2]),
        ace("ACE_Admins_Set_CommonName", 4, admins, &[2]),
        ace("ACE_ACE_Get_All", 0x0003_8000, admins, &[]),
        ace("ACE_ACE_Set_BooleanExpression", 0x0003_8001, admins, &[3]),
        ace("ACE_Authority_Get_All", 0x0003_9000, admins, &[]),
        ace("ACE_Authority_Set_Enabled", 0x0003_9001, admins, &[5]),
        ace("ACE_C_PIN_Admins_Get_All_NOPIN", 0x0003_a000, admins, NOPIN),
        ace("ACE_C_PIN_Admins_Set_PIN", 0x0003_a001, admins, &[3]),
        ace("ACE_K_AES_Mode", 0x0003_bfff, anybody, &[4]),
        ace("ACE_Locking_GlblRng_Admins_Set", 0x0003_f000, admins, &[5, 6, 7, 8, 9]),
        ace("ACE_Locking_Admins_RangeStartToLOR", 0x0003_f001, admins, &[3, 4, 5, 6, 7, 8, 9]),
        ace("ACE_MBRControl_Admins_Set", 0x0003_f800, admins, &[1, 2, 3]),
        ace("ACE_MBRControl_Set_DoneToDOR", 0x0003_f801, admins, &[2, 3]),
        ace("ACE_DataStore_Get_All", 0x0003_fc00, admins, &[]),
        ace("ACE_DataStore_Set_All", 0x0003_fc01, admins, &[]),
        ace("ACE_C_PIN_Anybody_Get_NOPIN", 0x0004_2000, anybody, NOPIN),
        ace("ACE_SP_Reactivate_Admin", 0x0004_2001, admins, &[]),
    ];
    for n in 1..=USERS {
        let row = u32::from(n);
        let who = [authority::ADMINS, authority::user(n)];
        aces.push(ace(&format!("ACE_C_PIN_User{n}_Set_PIN"), 0x0003_a800 + row, &who, &[3]));
        aces.push(ace(&format!("ACE_User{n}_Set_CommonName"), 0x0004_4000 + row, admins, &[2]));
    }
    for n in 0..=RANGES {
        let row = u32::from(n);
        let range = range_name(n);
        let name = |text: &str| text.replace("RANGE", &range);
        let told = &[3, 4, 5, 6, 7, 8, 9, 10];
        aces.push(ace(&name("ACE_Locking_RANGE_Get_RangeStartToActiveKey"), 0x0003_d000 + row, admins, told));
        aces.push(ace(&name("ACE_Locking_RANGE_Set_RdLocked"), 0x0003_e000 + row, admins, &[7]));
        aces.push(ace(&name("ACE_Locking_RANGE_Set_WrLocked"), 0x0003_e800 + row, admins, &[8]));
        aces.push(ace(&name("ACE_K_AES_256_RANGE_GenKey"), 0x0003_b800 + row, admins, &[]));
    }
    aces
}

pub(crate) fn range_name(n: u16) -> String {
    if n == 0 { "GlobalRange".into() } else { format!("Range{n}") }
}
