//! From the factory's state to a locked drive, and back: the steps, in an order that can be cut anywhere.

use super::connection::Host;
use super::error::HostError;
use super::ranges::Lock;
use super::session::{Credential, Session};
use crate::uid::authority;

/// The user whose PIN unlocks a drive from day to day.
pub const USER: u16 = 1;

/// How a drive is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstSetup {
    /// What it lets through when it is done.
    pub lock: Lock,
    /// The drive belongs to its first user alone: the owner can erase it, and not unlock it (Single User Mode).
    pub single_user: bool,
}

impl Host {
    /// Takes a drive from its factory state to one that locks at every power cycle; what is on it stays.
    ///
    /// `owner` becomes the PIN of the owner and the first administrator, `user` that of the first user.
    /// Whoever calls has put `owner` in safety: from the first step on it opens the drive, whatever happens, and
    /// [`Host::release`] with it takes everything back. Locking is enabled last.
    ///
    /// # Errors
    /// [`HostError::Refused`], by the step that failed; [`Host::take_back`] is next then.
    pub fn set_up(&mut self, owner: &[u8], user: &[u8], setup: FirstSetup) -> Result<(), HostError> {
        if setup.single_user {
            self.must_have_single_user_mode()?;
        }
        self.take_ownership(owner)?;
        self.activate(owner, if setup.single_user { &[0] } else { &[] })?;
        self.rediscover()?;
        let shadow = self.discovery().locking().is_some_and(|l| !l.mbr_shadowing_not_supported);
        let mut session = self.locking(Some(Credential { authority: authority::admin(1), pin: owner }))?;
        if !setup.single_user {
            session.set_pin(authority::user(USER), user)?;
            session.enable_authority(authority::user(USER), true)?;
            session.allow_unlock(0, USER)?;
        }
        if shadow {
            match session.allow_shadow_done(USER) {
                // A drive without that rule has no shadow to lift, either.
                Err(e) if e.status().is_none() => return Err(e),
                _ => {}
            }
        }
        if setup.single_user {
            session.end()?;
            self.move_in(0, user, setup.lock)?;
        } else {
            session.enable_locking(0, true)?;
            session.lock(0, setup.lock)?;
            session.end()?;
        }
        self.rediscover()?;
        Ok(())
    }

    /// Undoes what a [`Host::set_up`] that failed has done, keeping the data. What that was, the drive is asked:
    /// it may have done what it did not answer to.
    ///
    /// # Errors
    /// Where that fails, too: the drive may have an owner now, whose PIN must not be lost.
    pub fn take_back(&mut self, owner: &[u8], user: &[u8]) -> Result<(), HostError> {
        self.stack_reset()?;
        if self.is_unowned()? {
            return Ok(());
        }
        // A drive that belongs to its user alone is locked by nobody else; where it does not, this is not needed.
        let unlocked = self.locking(Some(Credential { authority: authority::user(USER), pin: user }));
        let _ = unlocked.and_then(|mut session| session.lock(0, Lock::Unlocked).and_then(|()| session.end()));
        self.release(owner)
    }

    /// Gives the owner another PIN: the owner's authority (SID), and the first administrator's where it still has the
    /// owner's, so that everything that takes the owner's secret takes the new one. Whether the administrator has it.
    ///
    /// The administrator's is changed first. Where it is cut short, doing the same again goes on: what has the new PIN
    /// already is found out, and a wrong `old` is counted once for each of the two at most.
    ///
    /// # Errors
    /// [`HostError::Refused`] with [`Operation::Authenticate`](super::error::Operation::Authenticate) where `old` is not the
    /// owner's PIN; nothing is changed then.
    pub fn change_owner(&mut self, old: &[u8], new: &[u8]) -> Result<bool, HostError> {
        let owner = |pin| Credential { authority: authority::SID, pin };
        let admin = |pin| Credential { authority: authority::admin(1), pin };
        let has_admin = self.discovery().locking().is_some_and(|l| l.enabled);
        if let Err(refused) = self.admin(Some(owner(old))).and_then(Session::end) {
            // All was done before, but for an answer that was lost. The administrator is asked first, who counts for
            // itself: whoever has only mistyped the old one has no second wrong one counted against the owner.
            let done = refused.status().is_some()
                && has_admin
                && self.takes_locking(admin(new))?
                && self.admin(Some(owner(new))).and_then(Session::end).is_ok();
            return if done { Ok(true) } else { Err(refused) };
        }
        let same = has_admin
            && if self.takes_locking(admin(old))? {
                let mut session = self.locking(Some(admin(old)))?;
                session.set_pin(authority::admin(1), new)?;
                session.end()?;
                true
            } else {
                // Changed by a run that was cut short; or it has a PIN of its own, which is left to whoever set that.
                self.takes_locking(admin(new))?
            };
        let mut session = self.admin(Some(owner(old)))?;
        session.set_pin(authority::SID, new)?;
        session.end()?;
        Ok(same)
    }

    /// Whether somebody of the Locking SP has this PIN.
    fn takes_locking(&mut self, credential: Credential<'_>) -> Result<bool, HostError> {
        match self.locking(Some(credential)).and_then(Session::end) {
            Ok(()) => Ok(true),
            Err(e) if e.status().is_some() => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Gives the drive up: locking is switched off and the owner's PIN is the factory's again. What is in the
    /// global range stays; other ranges are lost. Where it is cut short, it can be done again: every step
    /// leaves a drive that `owner` opens, until the last has nothing left to open.
    ///
    /// # Errors
    /// [`HostError::Refused`] where `owner` is not the PIN of the owner and the first administrator, or where the
    /// global range belongs to a user alone and is locked.
    pub fn release(&mut self, owner: &[u8]) -> Result<(), HostError> {
        if self.rediscover()?.locking().is_some_and(|l| l.enabled) {
            let admin = Credential { authority: authority::admin(1), pin: owner };
            // A drive keeps the data of a range only while it is unlocked.
            let mut session = self.locking(Some(admin))?;
            match session.lock(0, Lock::Unlocked) {
                // It may be a user's alone.
                Err(e) if e.status().is_none() => return Err(e),
                _ => {}
            }
            session.end()?;
            self.revert_locking(admin, true)?;
        }
        let msid = self.msid()?;
        let mut session = self.admin(Some(Credential { authority: authority::SID, pin: owner }))?;
        session.set_pin(authority::SID, &msid)?;
        session.end()?;
        self.rediscover()?;
        Ok(())
    }
}
