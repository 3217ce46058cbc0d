//! Carrying out what was planned: who speaks, and what is said.

use super::change::{DriveChange, DrivePlan};
use super::error::DriveError;
use super::handle::Drive;
use super::outcome::{DriveOutcome, OutcomeFacts as Outcome};
use super::read::Shadow;
use super::secret::DriveSecrets;
use crate::error::Error;
use crate::log_file;
use crate::progress::Progress;
use keyway_error::Advice;
use keyway_secret::SecretBytes;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::{Credential, Host, HostError, Operation, Session};
use keyway_sed::{Authority, Status};
use std::time::Instant;

impl Drive {
    /// Does what was planned. Secrets are asked for now.
    ///
    /// # Errors
    /// A secret can't be had or is refused, the drive refuses, or whoever watches stopped it.
    pub fn carry_out(
        &mut self,
        plan: DrivePlan,
        secrets: &DriveSecrets<'_>,
        progress: &dyn Progress,
    ) -> Result<DriveOutcome, Error> {
        let change = serde_json::json!(plan.change)["action"].as_str().unwrap_or("change").to_owned();
        let device = plan.device.clone();
        let done = || self.does(plan, secrets, progress);
        log_file::step(&format!("drive {change}"), &device, done, |_| "done".to_owned())
    }

    fn does(
        &mut self,
        plan: DrivePlan,
        secrets: &DriveSecrets<'_>,
        progress: &dyn Progress,
    ) -> Result<DriveOutcome, Error> {
        self.hash = secrets.hash;
        if plan.nothing_to_do {
            let (took, facts) = (std::time::Duration::ZERO, Outcome::Done);
            return Ok(DriveOutcome { plan, hash: secrets.hash, took, facts });
        }
        let begun = Instant::now();
        let (took, facts) = match &plan.change {
            DriveChange::SetUp(setup) => {
                let took = self.set_up(setup, secrets)?;
                (took, Outcome::Done)
            }
            DriveChange::Unlock { ranges, read_only, by_kernel, for_resume } => {
                let how = (*read_only, *by_kernel, *for_resume);
                (begun.elapsed(), self.unlock(ranges, how, &plan.by, secrets)?)
            }
            DriveChange::Revert { .. } | DriveChange::Release => {
                let pin = match plan.by.as_slice() {
                    [Authority::Psid] => secrets.psid(self)?,
                    _ => secrets.pin(self, Some(Authority::Sid))?,
                };
                let asked = Instant::now();
                match &plan.change {
                    DriveChange::Release => self.with(|host| host.release(&pin))?,
                    _ => {
                        let authority = one(&plan.by).uid();
                        self.with(|host| host.revert(Credential { authority, pin: &pin }))?;
                    }
                }
                (asked.elapsed(), Outcome::Done)
            }
            _ => {
                let result = self.change(&plan, secrets, progress)?;
                (begun.elapsed(), result)
            }
        };
        Ok(DriveOutcome { plan, hash: secrets.hash, took, facts })
    }

    /// What takes a message or a session.
    fn change(
        &mut self,
        plan: &DrivePlan,
        secrets: &DriveSecrets<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        let done = |()| Outcome::Done;
        let by = &plan.by;
        match &plan.change {
            DriveChange::BlockOwner { until_hardware_reset } => {
                Ok(self.with(|host| host.block_sid(*until_hardware_reset)).map(done)?)
            }
            DriveChange::Reset { whole } => {
                let reset = if *whole { Host::tper_reset } else { Host::stack_reset };
                Ok(self.with(reset).map(done)?)
            }
            DriveChange::MoveIn { range } => {
                let pin = secrets.new_pin(self, Authority::of_range(*range))?;
                Ok(self.with(|host| host.move_in(*range, &pin, Lock::Unlocked)).map(done)?)
            }
            DriveChange::GiveToUsers { ranges } => self.give_to_users(ranges, secrets).map(done),
            DriveChange::SetPassword { whose } => {
                let pin = secrets.pin(self, Some(one(by)))?;
                self.must_take(one(by), &pin, secrets)?;
                let fresh = secrets.new_pin(self, *whose)?;
                if *whose != Authority::Sid {
                    return self
                        .session(by, &pin, &mut |session| session.set_pin(whose.uid(), &fresh))
                        .map(done);
                }
                match self.with(|host| host.change_owner(&pin, &fresh)) {
                    Ok(administrator) => Ok(Outcome::OwnerChanged { administrator }),
                    // Whose old secret is refused has changed nothing.
                    Err(error @ DriveError::Refused { source: HostError::Refused(by), .. })
                        if by.operation == Operation::Authenticate && by.status == Status::NotAuthorized =>
                    {
                        Err(error.into())
                    }
                    Err(error) => Err(DriveError::HalfChanged(Box::new(error)).into()),
                }
            }
            DriveChange::EnableUser { user, range } => {
                let pin = secrets.pin(self, Some(one(by)))?;
                self.must_take(one(by), &pin, secrets)?;
                let fresh = secrets.new_pin(self, *user)?;
                self.session(by, &pin, &mut |session| {
                    session.set_pin(user.uid(), &fresh)?;
                    session.enable_authority(user.uid(), true)?;
                    session.allow_unlock(*range, number(*user))
                })
                .map(done)
            }
            change => {
                let pin = secrets.pin(self, by.first().copied().filter(|_| by.len() == 1))?;
                let (who, result) =
                    self.session_as(by, &pin, &mut |session| in_session(session, change, progress))?;
                Ok(match result {
                    Outcome::Done => Outcome::As(who),
                    other => other,
                })
            }
        }
    }

    /// Refuses a wrong secret before anybody thinks of a new one. Where that was named, too, nobody does, and a change that was
    /// cut short goes on with the old one, which is refused by now.
    fn must_take(
        &mut self,
        who: Authority,
        pin: &SecretBytes,
        secrets: &DriveSecrets<'_>,
    ) -> Result<(), Error> {
        if secrets.new.password.is_some() {
            return Ok(());
        }
        if who != Authority::Sid {
            return self.session(&[who], pin, &mut |_| Ok(()));
        }
        let owner = Credential { authority: who.uid(), pin };
        self.with(|host| host.admin(Some(owner))?.end()).map_err(|mut error| {
            if let DriveError::Refused { diagnosis, .. } = &mut error {
                diagnosis.meaning.advice.push(Advice::MayBeNewAlready);
            }
            error.into()
        })
    }

    /// Gives ranges away, and the new users' passwords in the same run: between the two their ranges are anybody's.
    fn give_to_users(&mut self, ranges: &[u16], secrets: &DriveSecrets<'_>) -> Result<(), Error> {
        let pin = secrets.pin(self, Some(Authority::Admin(1)))?;
        if !ranges.is_empty() {
            self.must_take(Authority::Admin(1), &pin, secrets)?;
        }
        let fresh = match ranges.first() {
            None => None,
            Some(first) => Some(secrets.new_pin(self, Authority::of_range(*first))?),
        };
        Ok(self.with(|host| {
            host.give_to_users(&pin, ranges)?;
            let Some(fresh) = &fresh else { return Ok(()) };
            ranges.iter().try_for_each(|range| host.move_in(*range, fresh, Lock::Unlocked))
        })?)
    }
}

/// What is said in a session of somebody's.
fn in_session(
    session: &mut Session<'_>,
    change: &DriveChange,
    progress: &dyn Progress,
) -> Result<Outcome, HostError> {
    match change {
        DriveChange::Lock { ranges } => {
            // All of them first: nothing is locked in part.
            ranges.iter().try_for_each(|range| session.must_be_placed(*range))?;
            ranges.iter().try_for_each(|range| session.lock_now(*range))?;
        }
        DriveChange::PlaceRange { range, start_bytes, length_bytes } => {
            let limits = session.range_limits()?;
            let (start_block, blocks) = limits.blocks(*start_bytes, *length_bytes)?;
            session.place_range(*range, start_block, blocks)?;
            session.enable_locking(*range, true)?;
            return Ok(Outcome::Placed { start_block, blocks, block_bytes: limits.block() });
        }
        DriveChange::EnableRange { range, locks } => {
            session.must_be_placed(*range)?;
            session.enable_locking(*range, *locks)?;
        }
        DriveChange::RemoveRange { range } => {
            session.enable_locking(*range, false)?;
            session.place_range(*range, 0, 0)?;
        }
        DriveChange::EraseRange { range } => {
            let user = session.erase(*range)?.then(|| Authority::of_range(*range));
            return Ok(Outcome::Erased { user });
        }
        DriveChange::DisableUser { user } => session.enable_authority(user.uid(), false)?,
        DriveChange::AllowUser { user, range, allowed: true } => {
            session.allow_unlock(*range, number(*user))?;
        }
        DriveChange::AllowUser { user, range, allowed: false } => {
            session.forbid_unlock(*range, number(*user))?;
        }
        DriveChange::EnableShadow { enabled } => {
            session.enable_shadow(*enabled)?;
            return Ok(Outcome::Shadow(Shadow::of(session)?));
        }
        DriveChange::FinishShadow { done } => {
            session.shadow_done(*done)?;
            return Ok(Outcome::Shadow(Shadow::of(session)?));
        }
        DriveChange::WriteTable { table, offset, content } => {
            let total = content.len() as u64;
            session.write_table(*table, *offset, content, |done| progress.at(done, total))?;
        }
        _ => {}
    }
    Ok(Outcome::Done)
}

fn one(by: &[Authority]) -> Authority {
    by.first().copied().unwrap_or(Authority::Admin(1))
}

/// The user's number: a plan has nobody else for it.
const fn number(user: Authority) -> u16 {
    match user {
        Authority::User(n) => n,
        _ => 0,
    }
}

#[cfg(all(test, feature = "virtual-drive"))]
mod tests {
    use super::*;
    use crate::drive::{Profile, SetUp, VirtualDrive};
    use crate::error::{Explain, Kind};
    use crate::secrets::{Question, Secrets, Wanted};
    use std::cell::RefCell;

    /// Somebody who has one password and thinks of another, and what they were asked.
    struct Asked(&'static [u8], RefCell<Vec<Wanted>>);

    impl Secrets for Asked {
        fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
            self.1.borrow_mut().push(question.wanted);
            let new = question.wanted == Wanted::NewPassword;
            Ok(Some(SecretBytes::copy_of(if new { b"a new one" } else { self.0 })))
        }
    }

    #[test]
    fn nobody_thinks_of_a_new_password_before_the_old_one_was_right() {
        let folder = tempfile::tempdir().expect("temp");
        let path = folder.path().join("drive");
        let profile = Profile::named("opal2").expect("there is one");
        drop(VirtualDrive::create(&path, profile, 32 << 20, 512).expect("made"));
        let mut drive = Drive::open(&path).expect("switched on");
        let plan = drive.plan(DriveChange::SetUp(SetUp::default()), None).expect("as it came");
        let right = SecretBytes::copy_of(b"right");
        drive.carry_out(plan, &DriveSecrets::asked(&right), &()).expect("set up");
        for whose in [Authority::User(1), Authority::Sid] {
            let mut change = |by: &Asked| {
                let plan = drive.plan(DriveChange::SetPassword { whose }, None).expect("it is set up");
                drive.carry_out(plan, &DriveSecrets::asked(by), &())
            };
            let wrong = Asked(b"wrong", RefCell::default());
            let told = change(&wrong).expect_err("refused");
            assert_eq!((told.kind(), &**wrong.1.borrow()), (Kind::WrongSecret, &[Wanted::Password][..]));
            let right = Asked(b"right", RefCell::default());
            change(&right).expect("changed");
            assert_eq!(**right.1.borrow(), [Wanted::Password, Wanted::NewPassword]);
        }
    }
}
