//! A session: who has proved what, and the keys that come with it.

use super::tables::Sp;
use keyway_secret::SecretBytes;
use keyway_sed::Uid;
use keyway_sed::uid::authority;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Authorities that one session may prove.
pub(super) const MAX_AUTHENTICATIONS: usize = 5;

pub(super) struct Session {
    pub(super) sp: Sp,
    /// The TPer's number of it.
    pub(super) tsn: u32,
    /// The host's number of it.
    pub(super) hsn: u32,
    /// Whether it may change anything.
    pub(super) write: bool,
    /// Authorities that are proved, with the keys of those of the Locking SP.
    pub(super) proved: BTreeMap<Uid, Option<SecretBytes>>,
    /// The admins' key, if an admin is among them.
    pub(super) admins: Option<SecretBytes>,
    /// The owner's PIN, if the owner is among them: activation makes it Admin1's.
    pub(super) owner_pin: Option<SecretBytes>,
    /// Keys of authorities that this session made anew: they prove nothing.
    pub(super) made: BTreeMap<Uid, SecretBytes>,
    /// The state when the open transaction began.
    pub(super) transaction: Option<Zeroizing<Vec<u8>>>,
    /// How long it may be silent.
    pub(super) timeout: Duration,
    pub(super) last: Instant,
}

impl Session {
    pub(super) fn new(sp: Sp, tsn: u32, hsn: u32, write: bool, timeout: Duration) -> Self {
        Self {
            sp,
            tsn,
            hsn,
            write,
            proved: BTreeMap::new(),
            admins: None,
            owner_pin: None,
            made: BTreeMap::new(),
            transaction: None,
            timeout,
            last: Instant::now(),
        }
    }

    pub(super) fn expired(&self) -> bool {
        self.last.elapsed() > self.timeout
    }

    /// The authorities that take part in access control: the proved ones, their classes, and everybody.
    pub(super) fn present(&self) -> BTreeSet<Uid> {
        let mut present = BTreeSet::from([authority::ANYBODY]);
        for uid in self.proved.keys() {
            present.insert(*uid);
            present.extend(class_of(self.sp, *uid));
        }
        present
    }
}

/// The class of an authority that is an individual.
pub(super) fn class_of(sp: Sp, uid: Uid) -> Option<Uid> {
    let row = uid.row_number();
    match sp {
        Sp::Admin => (uid == authority::admin_sp_admin(1)).then_some(authority::ADMINS),
        Sp::Locking if row >> 16 == 1 => Some(authority::ADMINS),
        Sp::Locking if row >> 16 == 3 && row & 0xffff != 0 => Some(authority::USERS),
        Sp::Locking => None,
    }
}
