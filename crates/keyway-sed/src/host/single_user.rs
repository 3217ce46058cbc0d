//! Single User Mode: a range that belongs to one user, whom nobody else can replace. Range N is user N + 1's.
//!
//! Single User Mode 1.00. An administrator can erase such a range and not unlock it.

use super::connection::{Expect, Host};
use super::error::{HostError, Operation};
use super::ranges::Lock;
use super::session::{Credential, Session};
use crate::Uid;
use crate::discovery::Feature;
use crate::token::Encoder;
use crate::uid::{authority, locking, method, parameter};

/// The user to whom a range belongs.
pub const fn user_of(range: u16) -> u16 {
    range.saturating_add(1)
}

/// The ranges that users alone shall rule, as a parameter of Activate and Reactivate.
pub(super) fn write_selection(to: &mut Encoder, ranges: &[u16]) {
    if ranges.is_empty() {
        return;
    }
    to.named(parameter::SINGLE_USER_SELECTION_LIST, |to| {
        to.list(|to| {
            for range in ranges {
                to.uid(locking::range(*range));
            }
        });
    });
}

impl Host {
    /// Refuses a drive without Single User Mode.
    pub(super) fn must_have_single_user_mode(&self) -> Result<(), HostError> {
        let has = |f: &Feature| matches!(f, Feature::SingleUser(s) if s.ranges > 0);
        if self.discovery().features.iter().any(has) {
            Ok(())
        } else {
            Err(HostError::Unsupported("Single User Mode"))
        }
    }

    /// Gives ranges to users alone, in place of those that belonged to some before. What is in ranges stays; every
    /// user's PIN is empty afterwards, and no range locks: [`Host::move_in`] is next.
    ///
    /// # Errors
    /// [`HostError::Refused`] where `owner` is not the first administrator's PIN, or a range is locked that it can't
    /// unlock.
    pub fn give_to_users(&mut self, owner: &[u8], ranges: &[u16]) -> Result<(), HostError> {
        self.must_have_single_user_mode()?;
        let admin = Some(Credential { authority: authority::admin(1), pin: owner });
        let mut session = self.locking(admin)?;
        for range in 0..=session.range_limits()?.ranges {
            match session.lock(range, Lock::Unlocked) {
                // A user's alone: if it is locked, the drive will say so.
                Err(e) if e.status().is_none() => return Err(e),
                _ => {}
            }
        }
        session.call_for(Operation::Reactivate, Uid::THIS_SP, method::REACTIVATE, Expect::Slow, |to| {
            write_selection(to, ranges);
        })?;
        // The session goes with it; a drive that leaves it open is told.
        session.forget();
        self.stack_reset()?;
        self.rediscover()?;
        Ok(())
    }

    /// What the user does first to whom a range was given, while the PIN is empty: sets a PIN, and has the range lock
    /// at every power cycle.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the range is not the user's, or the PIN is not empty any more.
    pub fn move_in(&mut self, range: u16, pin: &[u8], lock: Lock) -> Result<(), HostError> {
        let user = authority::user(user_of(range));
        let mut session = self.locking(Some(Credential { authority: user, pin: &[] }))?;
        session.set_pin(user, pin)?;
        session.enable_locking(range, true)?;
        session.lock(range, lock)?;
        session.end()
    }
}

impl Session<'_> {
    /// Destroys what is in a range, at once: one that is a user's alone is empty afterwards, unlocked, and its user's
    /// PIN is empty; any other has a new media key. Which it was: whether it is a user's.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this authority may do neither; [`Unfit::NoPlace`](super::error::Unfit::NoPlace).
    pub fn erase(&mut self, range: u16) -> Result<bool, HostError> {
        if self.host().must_have_single_user_mode().is_ok() {
            match self.erase_single_user(range) {
                Ok(()) => return Ok(true),
                Err(e) if e.status().is_none() => return Err(e),
                // It is nobody's alone.
                Err(_) => {}
            }
        }
        self.must_be_placed(range)?;
        self.new_key(range).map(|()| false)
    }
}
