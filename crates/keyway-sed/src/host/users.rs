//! Users: who may unlock what.

use super::error::HostError;
use super::session::Session;
use crate::Uid;
use crate::uid::column::{ace, authority as col};
use crate::uid::{authority, locking, parameter};

/// The operator OR of an access rule (Core 2.01, 5.1.3.17).
const OR: u64 = 1;

/// A user as the drive keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its number, counted from 1.
    pub number: u16,
    /// Whether it may be used.
    pub enabled: bool,
}

impl Session<'_> {
    /// A user.
    pub fn user(&mut self, number: u16) -> Result<User, HostError> {
        let row = self.get(authority::user(number), col::ENABLED..=col::ENABLED)?;
        Ok(User { number, enabled: row.boolean(col::ENABLED)? })
    }

    /// Lets an authority of the Locking SP be used, or not.
    pub fn enable_authority(&mut self, whose: Uid, enabled: bool) -> Result<(), HostError> {
        self.set(whose, |to| {
            to.named(col::ENABLED, |to| {
                to.boolean(enabled);
            });
        })
    }

    /// Who may lock and unlock a range for reading and for writing, administrators included.
    pub fn unlockers(&mut self, range: u16) -> Result<Vec<Uid>, HostError> {
        let mut both = self.admitted(locking::ace_set_read_locked(range))?;
        let writers = self.admitted(locking::ace_set_write_locked(range))?;
        both.retain(|who| writers.contains(who));
        Ok(both)
    }

    /// Lets a user lock and unlock a range, beside those who may already.
    pub fn allow_unlock(&mut self, range: u16, user: u16) -> Result<(), HostError> {
        self.admit(locking::ace_set_read_locked(range), authority::user(user))?;
        self.admit(locking::ace_set_write_locked(range), authority::user(user))
    }

    /// Takes that right from a user.
    pub fn forbid_unlock(&mut self, range: u16, user: u16) -> Result<(), HostError> {
        self.dismiss(locking::ace_set_read_locked(range), authority::user(user))?;
        self.dismiss(locking::ace_set_write_locked(range), authority::user(user))
    }

    /// Lets a user say that the MBR shadow has done its work, which unlocking needs where there is one.
    pub fn allow_shadow_done(&mut self, user: u16) -> Result<(), HostError> {
        self.admit(locking::ACE_MBR_CONTROL_DONE, authority::user(user))
    }

    fn admitted(&mut self, rule: Uid) -> Result<Vec<Uid>, HostError> {
        self.get(rule, ace::BOOLEAN_EXPR..=ace::BOOLEAN_EXPR)?.authorities(ace::BOOLEAN_EXPR)
    }

    fn admit(&mut self, rule: Uid, who: Uid) -> Result<(), HostError> {
        let mut admitted = self.admitted(rule)?;
        if admitted.contains(&who) {
            return Ok(());
        }
        admitted.push(who);
        self.set_admitted(rule, &admitted)
    }

    fn dismiss(&mut self, rule: Uid, who: Uid) -> Result<(), HostError> {
        let mut admitted = self.admitted(rule)?;
        admitted.retain(|other| *other != who);
        // Nobody is not an expression; the administrators are who is left at the factory.
        if admitted.is_empty() {
            admitted.push(authority::ADMINS);
        }
        self.set_admitted(rule, &admitted)
    }

    /// Writes "any of these", operators behind their operands (Core 2.01, 5.3.4.2.2).
    fn set_admitted(&mut self, rule: Uid, admitted: &[Uid]) -> Result<(), HostError> {
        use crate::token::Token::{EndName, StartName};
        self.set(rule, |to| {
            to.named(ace::BOOLEAN_EXPR, |to| {
                to.list(|to| {
                    for (i, who) in admitted.iter().enumerate() {
                        to.token(StartName).bytes(&parameter::AUTHORITY_REF).uid(*who).token(EndName);
                        if i > 0 {
                            to.token(StartName).bytes(&parameter::BOOLEAN_ACE).uint(OR).token(EndName);
                        }
                    }
                });
            });
        })
    }
}
