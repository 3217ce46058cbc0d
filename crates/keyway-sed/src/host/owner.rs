//! What a drive's owner does: take ownership, activate locking, give PINs, take everything back.

use super::connection::{Expect, Host};
use super::error::{HostError, Misbehaved, Operation};
use super::session::{Credential, Session};
use super::single_user::write_selection;
use crate::Uid;
use crate::token::Value;
use crate::uid::{authority, c_pin, column, method, parameter, sp};
use keyway_secret::SecretBytes;

/// Most bytes that Random gives at once (Core 2.01, 5.6.4.1; Opal SSC 2.02, 4.3.8: 32 at least).
const RANDOM_AT_ONCE: usize = 32;

/// Where a security provider is in its life (Core 2.01, 5.1.3.46; Opal SSC 2.02, 5.2.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifeCycle {
    /// 8: there, not activated: the factory state.
    ManufacturedInactive,
    /// 9: in use.
    Manufactured,
    /// Another one.
    Other(u64),
}

/// How wrong PINs are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// Wrong ones in a row that lock the authority; 0 is no limit.
    pub limit: u64,
    /// Wrong ones so far.
    pub wrong: u64,
    /// Whether a power cycle leaves that count.
    pub persistent: bool,
}

/// The row of C_PIN that is an authority's: both tables use the same row numbers, but for two.
pub(crate) const fn pin_of(whose: Uid) -> Uid {
    if whose.number() == authority::SID.number() {
        c_pin::SID
    } else {
        Uid::row(c_pin::SID.table_number(), whose.row_number())
    }
}

impl Host {
    /// A session with the Admin SP.
    pub fn admin(&mut self, credential: Option<Credential<'_>>) -> Result<Session<'_>, HostError> {
        Session::start(self, sp::ADMIN, credential)
    }

    /// A session with the Locking SP.
    pub fn locking(&mut self, credential: Option<Credential<'_>>) -> Result<Session<'_>, HostError> {
        Session::start(self, sp::LOCKING, credential)
    }

    /// The factory's PIN, which everybody may read.
    ///
    /// # Errors
    /// Where the drive does not tell it.
    pub fn msid(&mut self) -> Result<SecretBytes, HostError> {
        let mut session = self.admin(None)?;
        let msid = session.get(c_pin::MSID, column::c_pin::PIN..=column::c_pin::PIN)?;
        session.end()?;
        msid.bytes(column::c_pin::PIN)
    }

    /// Where the Locking SP is in its life.
    ///
    /// # Errors
    /// Where the drive does not tell.
    pub fn locking_life(&mut self) -> Result<LifeCycle, HostError> {
        let mut session = self.admin(None)?;
        let row = session.get(sp::LOCKING, column::sp::LIFE_CYCLE..=column::sp::LIFE_CYCLE)?;
        session.end()?;
        Ok(match row.uint(column::sp::LIFE_CYCLE)? {
            8 => LifeCycle::ManufacturedInactive,
            9 => LifeCycle::Manufactured,
            other => LifeCycle::Other(other),
        })
    }

    /// Whether the owner's PIN still is the factory's: tries it.
    ///
    /// # Errors
    /// Anything but a refusal.
    pub fn is_unowned(&mut self) -> Result<bool, HostError> {
        if self.discovery().block_sid().is_some_and(|b| b.sid_differs_from_msid) {
            return Ok(false);
        }
        let msid = self.msid()?;
        match self.admin(Some(Credential { authority: authority::SID, pin: &msid })) {
            Ok(session) => session.end().map(|()| true),
            Err(e) if e.status().is_some() => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Makes `pin` the owner's PIN in place of the factory's.
    ///
    /// # Errors
    /// [`HostError::Refused`] with [`Operation::Authenticate`] where the drive has an owner already, or
    /// firmware has blocked the owner's authority.
    pub fn take_ownership(&mut self, pin: &[u8]) -> Result<(), HostError> {
        let msid = self.msid()?;
        let mut session = self.admin(Some(Credential { authority: authority::SID, pin: &msid }))?;
        session.set_pin(authority::SID, pin)?;
        session.end()
    }

    /// Puts the Locking SP to use; its first administrator's PIN is the owner's then. `single_user`
    /// are ranges that users alone will rule.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the owner's PIN is wrong or it is in use already.
    pub fn activate(&mut self, sid_pin: &[u8], single_user: &[u16]) -> Result<(), HostError> {
        let mut session = self.admin(Some(Credential { authority: authority::SID, pin: sid_pin }))?;
        session.call(Operation::Activate, sp::LOCKING, method::ACTIVATE, |to| {
            write_selection(to, single_user);
        })?;
        session.end()
    }

    /// Takes the whole drive back to its factory state, by its owner or by the PSID on its label.
    /// **Everything on it is lost**: its media keys are made anew.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the proof is wrong.
    pub fn revert(&mut self, credential: Credential<'_>) -> Result<(), HostError> {
        let mut session = self.admin(Some(credential))?;
        session.call_for(Operation::Revert, sp::ADMIN, method::REVERT, Expect::Slow, |_| {})?;
        session.forget();
        self.rediscover()?;
        Ok(())
    }

    /// Takes the Locking SP back to its factory state; what is in the global range stays readable
    /// with `keep_data`, if that range is unlocked. Other ranges are lost in any case.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the proof is wrong, or data are to be kept in a locked range.
    pub fn revert_locking(&mut self, credential: Credential<'_>, keep_data: bool) -> Result<(), HostError> {
        let mut session = self.locking(Some(credential))?;
        session.call_for(Operation::RevertSp, Uid::THIS_SP, method::REVERT_SP, Expect::Slow, |to| {
            if keep_data {
                to.named(parameter::KEEP_GLOBAL_RANGE_KEY, |to| {
                    to.boolean(true);
                });
            }
        })?;
        session.forget();
        self.rediscover()?;
        Ok(())
    }
}

impl Session<'_> {
    /// Sets an authority's PIN.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this session may not.
    pub fn set_pin(&mut self, whose: Uid, pin: &[u8]) -> Result<(), HostError> {
        self.set(pin_of(whose), |to| {
            to.named(column::c_pin::PIN, |to| {
                to.bytes(pin);
            });
        })
    }

    /// How wrong PINs of an authority are counted.
    ///
    /// # Errors
    /// [`HostError::Refused`] where this session may not know.
    pub fn tries(&mut self, whose: Uid) -> Result<Tries, HostError> {
        let row = self.get(pin_of(whose), column::c_pin::TRY_LIMIT..=column::c_pin::PERSISTENCE)?;
        Ok(Tries {
            limit: row.uint(column::c_pin::TRY_LIMIT)?,
            wrong: row.uint(column::c_pin::TRIES)?,
            persistent: row.boolean(column::c_pin::PERSISTENCE)?,
        })
    }

    /// Bytes from the drive's random number generator.
    ///
    /// # Errors
    /// [`HostError::Refused`] where there is none.
    pub fn random(&mut self, len: usize) -> Result<SecretBytes, HostError> {
        let mut all = SecretBytes::zeroed(len);
        for part in all.chunks_mut(RANDOM_AT_ONCE) {
            let reply = self.call(Operation::Other, Uid::THIS_SP, method::RANDOM, |to| {
                to.uint(part.len() as u64);
            })?;
            let results = reply.results()?;
            let bytes = match results.as_slice() {
                [Value::Bytes(bytes)] if bytes.len() == part.len() => bytes,
                _ => return Err(HostError::Misbehaved(Misbehaved::Form("Random"))),
            };
            part.copy_from_slice(bytes);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_belong_to_authorities() {
        assert_eq!(pin_of(authority::SID), c_pin::SID);
        assert_eq!(pin_of(authority::PSID), c_pin::PSID);
        assert_eq!(pin_of(authority::admin(2)), c_pin::admin(2));
        assert_eq!(pin_of(authority::user(9)), c_pin::user(9));
        assert_eq!(pin_of(authority::admin_sp_admin(1)), c_pin::admin_sp_admin(1));
    }
}
