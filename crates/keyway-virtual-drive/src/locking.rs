//! What locks and unlocks: keys follow what the tables say, and the data path follows the keys.

use super::cell::Cell;
use super::keys::{MEDIA_KEY_BYTES, NoRandom, PinRecord, Sealed, joint_key, random_key};
use super::media::{Media, MediaRange, Transform};
use super::session::Session;
use super::tables::{RESET_POWER_CYCLE, Sp};
use super::tper::{Tper, Unlocked};
use keyway_cipher::{Algorithm, Chain, LayerKey, Mode, SectorCipher, Spec};
use keyway_secret::SecretBytes;
use keyway_sed::uid::{authority, c_pin, column, locking, table};
use keyway_sed::{Status, Uid};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most ways that keys of one range are kept for.
const MAX_GRANTS: usize = 64;

impl From<NoRandom> for Status {
    fn from(_: NoRandom) -> Self {
        Self::TPerMalfunction
    }
}

/// How a range stands.
#[derive(Clone, Copy)]
pub(super) struct RangeState {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) read_locked: bool,
    pub(super) write_locked: bool,
    /// Whether a power cycle leaves it locked for both.
    closed_by_power_cycle: bool,
}

impl Tper {
    fn flag(&self, row: Uid, column: u64) -> bool {
        self.cell(Sp::Locking, row, column).and_then(|c| c.uint()) == Some(1)
    }

    pub(super) fn range_state(&self, n: u16) -> RangeState {
        use column::locking as col;
        let row = locking::range(n);
        let number = |column| self.cell(Sp::Locking, row, column).and_then(|c| c.uint()).unwrap_or(0);
        let lock = |enabled, locked| self.flag(row, enabled) && self.flag(row, locked);
        let resets = matches!(self.cell(Sp::Locking, row, col::LOCK_ON_RESET),
            Some(Cell::Uints(list)) if list.contains(&RESET_POWER_CYCLE));
        let after = |enabled, locked| self.flag(row, enabled) && (resets || self.flag(row, locked));
        RangeState {
            start: number(col::RANGE_START),
            len: number(col::RANGE_LENGTH),
            read_locked: lock(col::READ_LOCK_ENABLED, col::READ_LOCKED),
            write_locked: lock(col::WRITE_LOCK_ENABLED, col::WRITE_LOCKED),
            closed_by_power_cycle: after(col::READ_LOCK_ENABLED, col::READ_LOCKED)
                && after(col::WRITE_LOCK_ENABLED, col::WRITE_LOCKED),
        }
    }

    pub(super) fn any_locked(&self) -> bool {
        (0..=self.state.config.ranges).map(|n| self.range_state(n)).any(|r| r.read_locked || r.write_locked)
    }

    pub(super) fn mbr_flags(&self) -> (bool, bool) {
        let flag = |column| self.flag(locking::MBR_CONTROL, column);
        (flag(column::mbr_control::ENABLE), flag(column::mbr_control::DONE))
    }

    /// The key of a range, as far as this session, or anybody, has it.
    pub(super) fn range_key(&self, n: usize, session: Option<&Session>) -> Option<SecretBytes> {
        let keys = self.state.ranges.get(n)?;
        if let Some(key) = &keys.open {
            return Some(SecretBytes::copy_of(key));
        }
        let session = session?;
        if let (Some(admins), Some(sealed)) = (&session.admins, &keys.by_admins) {
            return sealed.open(admins);
        }
        keys.grants.iter().find_map(|(who, sealed)| {
            let parts: Option<Vec<_>> = who.iter().map(|uid| session.proved.get(uid)?.as_ref()).collect();
            sealed.open(&joint_key(parts?.into_iter()))
        })
    }

    /// The key of an authority of the Locking SP: its own proof, or the admins' copy.
    pub(super) fn authority_key(&self, uid: Uid, session: &Session) -> Option<SecretBytes> {
        if let Some(key) = session.made.get(&uid).or_else(|| session.proved.get(&uid)?.as_ref()) {
            return Some(SecretBytes::copy_of(key));
        }
        let record = self.state.pins.get(&(Sp::Locking, Uid::row(0x0b, uid.row_number())))?;
        record.escrow.as_ref()?.open(session.admins.as_ref()?)
    }

    /// The sets of users that some ACE admits to unlocking a range or renewing its key. Admins have their
    /// own way, and who is disabled has none.
    fn ways_into(&self, n: u16) -> Result<BTreeSet<BTreeSet<Uid>>, Status> {
        let users =
            || (1..=self.state.config.users).map(authority::user).filter(|u| self.enabled(Sp::Locking, *u));
        if let Some(user) = self.state.setup.user_of(n) {
            return Ok(BTreeSet::from([BTreeSet::from([authority::user(user)])]));
        }
        let aces =
            [locking::ace_set_read_locked(n), locking::ace_set_write_locked(n), locking::ace_gen_key_256(n)];
        let mut ways = BTreeSet::new();
        for ace in aces {
            let Some(Cell::Expression(expression)) = self.cell(Sp::Locking, ace, column::ace::BOOLEAN_EXPR)
            else {
                continue;
            };
            for mut way in expression.ways().unwrap_or_default() {
                // "Users" and User3 is User3; "Users" alone is any of them.
                let class = way.remove(&authority::USERS);
                let admin = |uid: &Uid| *uid == authority::ADMINS || uid.row_number() >> 16 == 1;
                if way.iter().any(admin) || !way.iter().all(|uid| users().any(|u| u == *uid)) {
                    continue;
                }
                if class && way.is_empty() {
                    ways.extend(users().map(|user| BTreeSet::from([user])));
                } else {
                    ways.insert(way);
                }
            }
        }
        if ways.len() > MAX_GRANTS { Err(Status::InsufficientSpace) } else { Ok(ways) }
    }

    /// Makes the keys what the tables say: open where no PIN is asked for, and under the keys of those whom
    /// the ACEs admit. Fails, having changed something, where this session has not the keys to do it.
    pub(super) fn refresh_keys(&mut self, session: Option<&Session>) -> Result<(), Status> {
        if !self.state.active {
            return Ok(());
        }
        for n in 1..=self.state.config.admins {
            let (who, pin) = (authority::admin(n), (Sp::Locking, c_pin::admin(n)));
            let enabled = self.enabled(Sp::Locking, who);
            let present = self.state.pins.get(&pin).is_some_and(|r| r.admins.is_some());
            if enabled != present {
                let sealed = if enabled {
                    let session = session.ok_or(Status::Fail)?;
                    let key = self.authority_key(who, session).ok_or(Status::Fail)?;
                    Some(Sealed::new(&key, session.admins.as_ref().ok_or(Status::Fail)?)?)
                } else {
                    None
                };
                self.state.pins.get_mut(&pin).ok_or(Status::Fail)?.admins = sealed;
            }
        }
        for n in 0..=self.state.config.ranges {
            let index = usize::from(n);
            let ways = self.ways_into(n)?;
            let closed = self.range_state(n).closed_by_power_cycle;
            let keys = self.state.ranges.get(index).ok_or(Status::Fail)?;
            let missing: Vec<_> =
                ways.iter().filter(|way| keys.grants.iter().all(|(who, _)| who != *way)).cloned().collect();
            let must_open = !closed && keys.open.is_none();
            let mut added = Vec::new();
            let mut opened = None;
            if must_open || !missing.is_empty() {
                let key = self.range_key(index, session).ok_or(Status::Fail)?;
                for way in missing {
                    let session = session.ok_or(Status::Fail)?;
                    let parts: Option<Vec<_>> =
                        way.iter().map(|uid| self.authority_key(*uid, session)).collect();
                    let joint = joint_key(parts.ok_or(Status::Fail)?.iter());
                    added.push((way, Sealed::new(&joint, &key)?));
                }
                opened = must_open.then_some(key);
            }
            let keys = self.state.ranges.get_mut(index).ok_or(Status::Fail)?;
            keys.grants.retain(|(who, _)| ways.contains(who));
            keys.grants.extend(added);
            if closed {
                keys.open = None;
            } else if opened.is_some() {
                keys.open = opened;
            }
        }
        Ok(())
    }

    /// The data path as the state has it now.
    pub(super) fn map_media(&mut self, session: Option<&Session>) -> Result<Media, Status> {
        let (blocks, block_bytes) = (self.state.config.blocks, self.state.config.block_bytes);
        let mut mapped = Vec::new();
        for n in 0..=self.state.config.ranges {
            let range = self.range_state(n);
            let end = if n == 0 { blocks } else { range.start.saturating_add(range.len) };
            let start = if n == 0 { 0 } else { range.start };
            let unused = (n != 0 && range.len == 0) || (range.read_locked && range.write_locked);
            let transform = if unused {
                if let Some(unlocked) = self.unlocked.get_mut(usize::from(n)) {
                    *unlocked = None;
                }
                Transform::Closed
            } else {
                self.transform(usize::from(n), session)?
            };
            if n == 0 || range.len > 0 {
                mapped.push(MediaRange {
                    blocks: start..end,
                    read_locked: range.read_locked,
                    write_locked: range.write_locked,
                    transform,
                });
            }
        }
        let mut mapped = mapped.into_iter();
        let global = mapped.next().ok_or(Status::TPerMalfunction)?;
        let mut ranges: Vec<_> = mapped.collect();
        ranges.sort_by_key(|r| r.blocks.start);
        let shadow = (self.mbr_flags() == (true, false)).then(|| self.state.config.mbr_table());
        Ok(Media { blocks, block_bytes, offset: self.state.config.data_offset(), global, ranges, shadow })
    }

    /// What is between a range that is not locked and the medium; its key stays at hand as long.
    fn transform(&mut self, n: usize, session: Option<&Session>) -> Result<Transform, Status> {
        let of = self.state.ranges.get(n).ok_or(Status::TPerMalfunction)?.media.clone();
        if let Some(Some(unlocked)) = self.unlocked.get(n)
            && unlocked.of == of
        {
            return Ok(unlocked.transform.clone());
        }
        let key = self.range_key(n, session).ok_or(Status::Fail)?;
        let transform = if self.engine && self.state.config.ssc.encrypts() {
            let media = of.open(&key).ok_or(Status::TPerMalfunction)?;
            let (data, tweak) = media.split_at_checked(MEDIA_KEY_BYTES / 2).ok_or(Status::TPerMalfunction)?;
            let unit_bytes = self.state.config.block_bytes;
            let spec = Spec { chain: Chain::single(Algorithm::Aes256), mode: Mode::Xts, unit_bytes };
            let cipher = SectorCipher::new(&spec, &[LayerKey { key: data, tweak_key: tweak }])
                .map_err(|_| Status::TPerMalfunction)?;
            Transform::Cipher(Arc::new(cipher))
        } else {
            Transform::Plain
        };
        if let Some(place) = self.unlocked.get_mut(n) {
            *place = Some(Unlocked { of, key, transform: transform.clone() });
        }
        Ok(transform)
    }

    /// A new media key for a range: what was in it is gone.
    pub(super) fn gen_key(&mut self, row: Uid, session: &Session) -> Result<(), Status> {
        let n = (0..=self.state.config.ranges)
            .find(|n| locking::key_256(*n) == row)
            .ok_or(Status::InvalidParameter)?;
        let key = self.range_key(usize::from(n), Some(session)).ok_or(Status::Fail)?;
        let media = Sealed::new(&key, &random_key(MEDIA_KEY_BYTES)?)?;
        self.state.ranges.get_mut(usize::from(n)).ok_or(Status::Fail)?.media = media;
        Ok(())
    }

    /// A new PIN.
    pub(super) fn set_pin(&mut self, row: Uid, pin: &[u8], session: &mut Session) -> Result<(), Status> {
        let iterations = self.state.config.pin_iterations;
        let place = (session.sp, row);
        match session.sp {
            Sp::Admin => {
                let (record, _) = PinRecord::new(pin, iterations)?;
                self.state.pins.insert(place, record);
                if row == c_pin::SID {
                    self.state.sid_is_msid = pin == self.state.config.label.msid.as_bytes();
                    if session.owner_pin.is_some() {
                        session.owner_pin = Some(SecretBytes::copy_of(pin));
                    }
                }
            }
            Sp::Locking => {
                let who = Uid::row(9, row.row_number());
                let key = self.authority_key(who, session).ok_or(Status::Fail)?;
                self.state.pins.get_mut(&place).ok_or(Status::Fail)?.set(pin, iterations, &key)?;
            }
        }
        self.tries.remove(&place);
        Ok(())
    }

    /// Locks what a reset locks, and shows the shadow again.
    pub(super) fn reset_locks(&mut self, kind: u64) {
        let resets = |cell: Option<Cell>| matches!(cell, Some(Cell::Uints(list)) if list.contains(&kind));
        for n in 0..=self.state.config.ranges {
            let row = locking::range(n);
            if !resets(self.cell(Sp::Locking, row, column::locking::LOCK_ON_RESET)) {
                continue;
            }
            use column::locking as col;
            for (enabled, locked) in
                [(col::READ_LOCK_ENABLED, col::READ_LOCKED), (col::WRITE_LOCK_ENABLED, col::WRITE_LOCKED)]
            {
                if self.flag(row, enabled) {
                    self.state.cells.insert((Sp::Locking, row, locked), Cell::Uint(1));
                }
            }
        }
        let done = column::mbr_control::DONE;
        if resets(self.cell(Sp::Locking, locking::MBR_CONTROL, column::mbr_control::DONE_ON_RESET)) {
            self.state.cells.insert((Sp::Locking, locking::MBR_CONTROL, done), Cell::Uint(0));
        }
    }

    /// Whether an authority may be used.
    pub(super) fn enabled(&self, sp: Sp, who: Uid) -> bool {
        debug_assert_eq!(who.table(), table::AUTHORITY);
        self.cell(sp, who, column::authority::ENABLED).and_then(|c| c.uint()) == Some(1)
    }
}
