//! The Locking SP's life: activated, activated anew, a range erased, taken back to the factory.

use super::config::{DriveConfig, Setup};
use super::keys::{KEY_BYTES, PinRecord, Sealed, random_key};
use super::session::Session;
use super::state::RangeKeys;
use super::tables::Sp;
use super::tper::{Tper, factory_pins};
use keyway_secret::SecretBytes;
use keyway_sed::message::Call;
use keyway_sed::token::Value;
use keyway_sed::uid::{authority, c_pin, column, locking, parameter, table};
use keyway_sed::{Status, Uid};

/// Columns of a range that Erase and Reactivate put back: ReadLockEnabled to LockOnReset.
const LOCKS: std::ops::RangeInclusive<u64> =
    column::locking::READ_LOCK_ENABLED..=column::locking::LOCK_ON_RESET;

impl Setup {
    /// What the parameters of Activate and Reactivate ask for; `sizes` is the number of the one that divides
    /// the DataStore table. Says whether that one was given.
    ///
    /// # Errors
    /// What the drive has not, or no such parameters.
    pub(super) fn asked(call: &Call<'_>, config: &DriveConfig, sizes: u64) -> Result<(Self, bool), Status> {
        let mut setup = Self::ordinary(config);
        let wrong = Status::InvalidParameter;
        if call.required().next().is_some() {
            return Err(wrong);
        }
        if let Some(list) = call.optional(parameter::SINGLE_USER_SELECTION_LIST) {
            let range = |value: &Value<'_>| {
                let uid = value.uid()?;
                (0..=config.ranges).find(|n| locking::range(*n) == uid)
            };
            setup.single_user = match list.uid() {
                Some(uid) if uid == table::LOCKING => (0..=config.ranges).collect(),
                Some(_) => return Err(wrong),
                None => list.list().ok_or(wrong)?.iter().map(range).collect::<Option<_>>().ok_or(wrong)?,
            };
        }
        if let Some(policy) = call.optional(parameter::RANGE_POLICY) {
            setup.admins_place_ranges = policy.boolean().ok_or(wrong)?;
        }
        if !config.single_user && (!setup.single_user.is_empty() || setup.admins_place_ranges) {
            return Err(wrong);
        }
        let Some(list) = call.optional(sizes) else { return Ok((setup, false)) };
        let list: Vec<u64> =
            list.list().ok_or(wrong)?.iter().map(Value::uint).collect::<Option<_>>().ok_or(wrong)?;
        let sum = list.iter().try_fold(0u64, |sum, bytes| sum.checked_add(*bytes)).ok_or(wrong)?;
        let alignment = u64::from(config.firmware.data_store_alignment);
        if list.is_empty() || list.iter().any(|bytes| *bytes == 0 || !bytes.is_multiple_of(alignment)) {
            return Err(wrong);
        }
        if list.len() > usize::from(config.data_stores) || sum > config.data_store_bytes {
            return Err(Status::InsufficientSpace);
        }
        setup.data_stores = list;
        Ok((setup, true))
    }
}

impl Tper {
    /// Activates the Locking SP: its Admin1 gets the owner's PIN, everybody else an empty one and no access but
    /// to the range that belongs to them alone.
    pub(super) fn activate(&mut self, session: &mut Session, setup: Setup) -> Result<(), Status> {
        if self.state.active {
            return Ok(());
        }
        let pin = session.owner_pin.as_ref().ok_or(Status::NotAuthorized)?;
        let admins = random_key(KEY_BYTES)?;
        let (mut record, key) = PinRecord::new(pin, self.state.config.pin_iterations)?;
        record.escrow = Some(Sealed::new(&admins, &key)?);
        record.admins = Some(Sealed::new(&key, &admins)?);
        self.state.pins.insert((Sp::Locking, c_pin::admin(1)), record);
        self.state.setup = setup;
        self.state.active = true;
        self.follow_setup();
        self.enrol(session, &admins)
    }

    /// Gives everybody but Admin1 an empty PIN, and the ranges' keys, all of which must be open, to whom they belong.
    fn enrol(&mut self, session: &mut Session, admins: &SecretBytes) -> Result<(), Status> {
        let config = &self.state.config;
        let others = (2..=config.admins).map(|n| (authority::admin(n), c_pin::admin(n), false));
        let users = (1..=config.users)
            .map(|n| (authority::user(n), c_pin::user(n), self.state.setup.range_of(n).is_some()));
        for (who, row, alone) in others.chain(users).collect::<Vec<_>>() {
            // An empty PIN is no better for being stretched.
            let (mut record, key) = PinRecord::new(&[], 1)?;
            if alone {
                session.made.insert(who, key);
            } else {
                record.escrow = Some(Sealed::new(admins, &key)?);
            }
            self.state.pins.insert((Sp::Locking, row), record);
        }
        for (n, keys) in (0..).zip(&mut self.state.ranges) {
            let key = keys.open.as_ref().ok_or(Status::TPerMalfunction)?;
            keys.grants.clear();
            keys.by_admins = match self.state.setup.user_of(n) {
                Some(_) => None,
                None => Some(Sealed::new(admins, key)?),
            };
        }
        Ok(())
    }

    /// Activates the Locking SP anew (Single User Mode 1.00, Reactivate): everything in it is as after an activation,
    /// but where the ranges lie, what they hold, and, unless another one is given, Admin1's PIN.
    pub(super) fn reactivate(
        &mut self,
        session: &mut Session,
        (setup, sizes): (Setup, bool),
        admin1_pin: Option<&[u8]>,
    ) -> Result<(), Status> {
        if self.any_locked() {
            return Err(Status::Fail);
        }
        let admins = SecretBytes::copy_of(session.admins.as_ref().ok_or(Status::NotAuthorized)?);
        for n in 0..=self.state.config.ranges {
            let kept = match self.held_key(n, session) {
                Some(key) => {
                    let old = self.state.ranges.get(usize::from(n)).ok_or(Status::TPerMalfunction)?;
                    let media = old.media.open(&key).ok_or(Status::TPerMalfunction)?;
                    // Another key around it: who had the old one has it no more.
                    RangeKeys::of(&media)?
                }
                // An empty range whose user is not here holds nothing.
                None if n > 0 && self.range_state(n).len == 0 => RangeKeys::generate()?,
                None => return Err(Status::Fail),
            };
            *self.state.ranges.get_mut(usize::from(n)).ok_or(Status::TPerMalfunction)? = kept;
        }
        if sizes {
            self.clear_bytes(self.state.config.data_store_area())?;
        }
        let stays = |row: &Uid, column: &u64| {
            row.table() == table::LOCKING
                && [column::locking::RANGE_START, column::locking::RANGE_LENGTH].contains(column)
        };
        self.state.cells.retain(|(sp, row, column), _| *sp == Sp::Admin || stays(row, column));
        self.tries.retain(|(sp, _), _| *sp != Sp::Locking);
        if let Some(pin) = admin1_pin {
            self.set_pin(c_pin::admin(1), pin, session)?;
        }
        let data_stores = std::mem::take(&mut self.state.setup.data_stores);
        self.state.setup = if sizes { setup } else { Setup { data_stores, ..setup } };
        self.follow_setup();
        self.enrol(session, &admins)
    }

    /// Erases a range in Single User Mode: a new media key, no locks, and an empty PIN for its user.
    pub(super) fn erase(&mut self, row: Uid, session: &mut Session) -> Result<(), Status> {
        let n = (0..=self.state.config.ranges)
            .find(|n| locking::range(*n) == row)
            .ok_or(Status::InvalidParameter)?;
        let user = self.state.setup.user_of(n).ok_or(Status::InvalidParameter)?;
        let who = authority::user(user);
        for keys in &mut self.state.ranges {
            keys.grants.retain(|(way, _)| !way.contains(&who));
        }
        *self.state.ranges.get_mut(usize::from(n)).ok_or(Status::TPerMalfunction)? = RangeKeys::generate()?;
        self.state
            .cells
            .retain(|(sp, of, column), _| (*sp, *of) != (Sp::Locking, row) || !LOCKS.contains(column));
        let (record, key) = PinRecord::new(&[], 1)?;
        self.state.pins.insert((Sp::Locking, c_pin::user(user)), record);
        self.tries.remove(&(Sp::Locking, c_pin::user(user)));
        if let Some(proved) = session.proved.get_mut(&who) {
            *proved = Some(SecretBytes::copy_of(&key));
        }
        session.made.insert(who, key);
        Ok(())
    }

    /// The key of a range that this session has, or that is at hand because the range is not locked.
    fn held_key(&self, n: u16, session: &Session) -> Option<SecretBytes> {
        let n = usize::from(n);
        self.range_key(n, Some(session)).or_else(|| {
            let unlocked = self.unlocked.get(n)?.as_ref()?;
            Some(SecretBytes::copy_of(&unlocked.key))
        })
    }

    /// The Locking SP as it left the factory; every range gets new keys, the global one only if its key
    /// is not to be kept. One that is not active is left alone (Opal SSC 2.02, 5.1.2.2).
    pub(super) fn revert_locking(&mut self, session: &Session, keep_global: bool) -> Result<(), Status> {
        if !self.state.active {
            return Ok(());
        }
        let kept = if keep_global {
            let global = self.range_state(0);
            if global.read_locked && global.write_locked {
                return Err(Status::Fail);
            }
            Some(self.held_key(0, session).ok_or(Status::Fail)?)
        } else {
            None
        };
        let config = &self.state.config;
        let mut cleared = vec![config.mbr_table(), config.data_store_area()];
        if config.removes_data() && !config.ssc.encrypts() && kept.is_none() {
            cleared.push(config.data_area());
        }
        for table in cleared {
            self.clear_bytes(table)?;
        }
        self.state.active = false;
        self.state.setup = Setup::ordinary(&self.state.config);
        self.follow_setup();
        self.state.cells.retain(|(sp, ..), _| *sp != Sp::Locking);
        self.state.pins.retain(|(sp, _), _| *sp != Sp::Locking);
        self.tries.retain(|(sp, _), _| *sp != Sp::Locking);
        for (n, keys) in self.state.ranges.iter_mut().enumerate() {
            if n == 0
                && let Some(key) = &kept
            {
                keys.open = Some(SecretBytes::copy_of(key));
                keys.by_admins = None;
                keys.grants.clear();
            } else {
                *keys = RangeKeys::generate()?;
            }
        }
        Ok(())
    }

    /// The whole drive as it left the factory.
    pub(super) fn revert_drive(&mut self, session: &Session) -> Result<(), Status> {
        self.revert_locking(session, false)?;
        self.state.cells.clear();
        self.state.pins.clear();
        self.tries.clear();
        self.state.sid_is_msid = true;
        let factory = factory_pins(&self.state.config)?;
        self.state.pins.extend(factory);
        Ok(())
    }
}
