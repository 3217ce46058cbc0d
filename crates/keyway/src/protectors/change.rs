//! Another thing opens a volume: a plan of what comes, goes or takes the place of what, and its outcome.

use super::bitlocker::{NewSecret, Protectors, only_bitlocker};
use super::name::ProtectorName;
use super::outcome::{ProtectionStatus, ProtectorOutcome, RemovedProtector, SetProtector, StillOpens};
use super::suitable::{may_be_new, must_be_the_tpms};
use super::tpm::NewTpmProtector;
use super::veracrypt::{SecretChange, change_secret};
use crate::detect::{look_at_bitlocker, must_be_noise};
use crate::error::{Error, Misuse};
use crate::locked::LockedVolume;
use crate::log_file;
use crate::progress::tell_weakness;
use crate::secrets::{NewTpmSource, PasswordSource, Subject, Wanted, one_standard_input};
use crate::tpm::Address;
use crate::unlock::Family;
use keyway_attach::path_text;
use keyway_engine::Access;
use keyway_volume::Weakness;
use keyway_volume::bitlocker::{
    ChangeError, Guid, LastProtector, Locked, Protection, RecoveryPassword, StartupKey, Warning,
    may_add_beside, may_remove_from,
};
use keyway_volume::veracrypt::check_hash;
use serde::Serialize;
use std::path::PathBuf;

/// What is wanted of the protectors of a volume.
#[derive(Debug, Clone)]
pub enum ProtectorRequest {
    /// One more, of a BitLocker volume.
    Add {
        /// Its kind: a password, a recovery password, a startup key, or one with a TPM.
        kind: Protection,
        /// Where its secret goes: a new file for a recovery password, a folder for a startup key.
        to: Option<PathBuf>,
        /// A new password's source.
        secret: PasswordSource,
        /// The TPM that seals, where the kind has one.
        tpm: NewTpmSource,
    },
    /// Another secret in the place of one.
    Change {
        /// Which protector of a BitLocker volume; its password without one.
        id: Option<ProtectorName>,
        /// Where a recovery password or startup key goes.
        to: Option<PathBuf>,
        /// The TPM that seals anew, and its new PIN, where the protector has a TPM.
        tpm: NewTpmSource,
        /// The new secret. But for a password only VeraCrypt and TrueCrypt volumes have what it names.
        secret: SecretChange,
    },
    /// One goes, of a BitLocker volume.
    Remove {
        /// Which.
        id: ProtectorName,
        /// Even if nothing else opens the volume.
        last: LastProtector,
    },
    /// A BitLocker volume opens without a secret, until its protection is resumed.
    Suspend,
    /// It needs one again.
    Resume,
}

/// A change of what opens a volume. Nothing has been written yet, and nobody asked for a new secret.
#[derive(Serialize)]
#[non_exhaustive]
pub struct ProtectorPlan<'a> {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// Its format's family.
    pub format: Family,
    /// "add", "change", "remove", "suspend" or "resume".
    pub action: &'static str,
    /// The protector that is changed or removed.
    pub id: Option<Guid>,
    /// Its kind, or the new one's.
    pub kind: Option<Protection>,
    /// The new file or the folder that the new secret goes to.
    #[serde(with = "path_text")]
    pub to: Option<PathBuf>,
    /// What only a VeraCrypt or TrueCrypt volume's change has.
    #[serde(flatten)]
    pub secret: Option<SecretChange>,
    /// It is the last protector that opens the volume, or the last but a clear key.
    pub last: bool,
    /// What the volume's owner should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// What is lost with the last protector.
    #[serde(skip)]
    pub loses: Option<ChangeError>,
    #[serde(skip)]
    step: Step<'a>,
}

/// What is carried out.
enum Step<'a> {
    Secret(&'a LockedVolume<'a>, SecretChange),
    Put { protectors: Protectors<'a>, kind: Protection, replaces: Option<Guid>, source: PasswordSource },
    Seal { protectors: Protectors<'a>, new: NewTpmProtector },
    Remove { protectors: Protectors<'a>, id: Guid, last: LastProtector },
    Suspend(Protectors<'a>),
    Resume(Protectors<'a>),
}

/// Plans a change of what opens a volume; a BitLocker volume is opened for it.
///
/// # Errors
/// The volume can't be written, does not open, or has no such protector; or the request can't be granted.
pub fn change<'a>(
    volume: &'a LockedVolume<'a>,
    request: ProtectorRequest,
) -> Result<ProtectorPlan<'a>, Error> {
    let format = volume.family()?;
    volume.sources.check()?;
    let mut plan = ProtectorPlan {
        volume: volume.path.clone(),
        format,
        action: request.name(),
        id: None,
        kind: None,
        to: None,
        secret: None,
        last: false,
        warnings: Vec::new(),
        loses: None,
        step: Step::Secret(volume, SecretChange::default()),
    };
    if format == Family::VeraCrypt {
        let ProtectorRequest::Change { id, to, secret, tpm } = request else {
            only_bitlocker(volume)?;
            return Ok(plan);
        };
        must_be_noise(&volume.path, &volume.arguments)?;
        if id.is_some() || to.is_some() || tpm.says_how() || volume.sources.names_bitlocker() {
            return Err(Misuse::ForBitLockerOnly(volume.path.clone()).into());
        }
        secret.must_leave_something()?;
        volume.must_be_free(Access::ReadWrite)?;
        secret.hash.map_or(Ok(()), check_hash).map_err(|e| volume.said(e))?;
        one_standard_input([&volume.sources.password, &secret.secret])?;
        plan.secret = Some(secret.clone());
        plan.step = Step::Secret(volume, secret);
        return Ok(plan);
    }
    volume.must_have_first_sector()?;
    request.check(volume)?;
    let protectors = match request {
        ProtectorRequest::Resume => Protectors::open_suspended(volume)?,
        _ => Protectors::open(volume, Access::ReadWrite)?,
    };
    plan.warnings.clone_from(&protectors.warnings);
    if matches!(request, ProtectorRequest::Resume) {
        // This ends it.
        plan.warnings.retain(|warning| *warning != Warning::Suspended.to_string());
    }
    let said = |e: ChangeError| volume.said(e);
    plan.step = match request {
        ProtectorRequest::Add { kind, to, secret, tpm } => {
            protectors.keys.may_add(kind).map_err(said)?;
            (plan.kind, plan.to) = (Some(kind), to.clone());
            match kind.needs_tpm() {
                true => Step::Seal { protectors, new: NewTpmProtector::new(kind, tpm, to) },
                false => Step::Put { protectors, kind, replaces: None, source: secret },
            }
        }
        ProtectorRequest::Change { id, to, secret, mut tpm } => {
            let id = id.map(|id| id.among(&volume.path, protectors.all())).transpose()?;
            // A new PIN alone says which.
            let id = id.or_else(|| tpm.pin.as_ref().and_then(|_| protectors.with_pin()));
            let Some((own, kind)) = protectors.find(id) else {
                return Err(Misuse::NoPasswordToChange(volume.path.clone()).into());
            };
            may_be_new(kind, to.as_deref(), &secret.secret)?;
            must_be_the_tpms(kind, &tpm, &secret.secret)?;
            (plan.id, plan.kind, plan.to) = (Some(own), Some(kind), to.clone());
            if kind.needs_tpm() {
                // What opened the volume seals again, unless another is named.
                let opened = volume.sources.tpm.as_ref().filter(|_| tpm.address == Address::default());
                opened.iter().for_each(|by| tpm.address.clone_from(&by.address));
                let new = NewTpmProtector { replaces: Some(own), ..NewTpmProtector::new(kind, tpm, to) };
                Step::Seal { protectors, new }
            } else {
                Step::Put { protectors, kind, replaces: Some(own), source: secret.secret }
            }
        }
        ProtectorRequest::Remove { id, last } => {
            let id = id.among(&volume.path, protectors.all())?;
            plan.id = Some(id);
            plan.kind = protectors.find(Some(id)).map(|(_, kind)| kind);
            plan.loses = match protectors.keys.may_remove(id, LastProtector::Keep) {
                Err(e) if e.is_of_the_last() && last == LastProtector::Remove => Some(e),
                other => other.map(|()| None).map_err(said)?,
            };
            plan.last = plan.loses.is_some();
            Step::Remove { protectors, id, last }
        }
        ProtectorRequest::Suspend => {
            protectors.keys.may_add(Protection::ClearKey).map_err(said)?;
            Step::Suspend(protectors)
        }
        ProtectorRequest::Resume => {
            protectors.keys.may_resume().map_err(said)?;
            Step::Resume(protectors)
        }
    };
    Ok(plan)
}

impl ProtectorRequest {
    const fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Change { .. } => "change",
            Self::Remove { .. } => "remove",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
        }
    }

    /// What a BitLocker volume can't have, said before anyone types its password.
    fn check(&self, volume: &LockedVolume<'_>) -> Result<(), Error> {
        let own = &volume.sources.password;
        match self {
            Self::Add { kind, to, secret, tpm } => {
                let pin = PasswordSource { password: tpm.pin.clone(), ..PasswordSource::new() };
                one_standard_input([own, secret, &pin])?;
                may_be_new(*kind, to.as_deref(), secret)?;
                if let Ok(seen) = look_at_bitlocker(&volume.path, &volume.arguments, volume.progress) {
                    let has = seen.info.key_protectors.iter().map(|protector| protector.kind);
                    may_add_beside(has, *kind).map_err(|e| volume.said(e))?;
                    // Else its TPM is looked for among what opens the volume, which it can't be yet.
                    if volume.sources.tpm.is_some()
                        && !seen.info.key_protectors.iter().any(|protector| protector.kind.needs_tpm())
                    {
                        return Err(Misuse::TpmOpensNothing(volume.path.clone()).into());
                    }
                }
                #[cfg(feature = "tpm")]
                if kind.needs_tpm() {
                    tpm.open()?;
                }
                Ok(())
            }
            Self::Change { secret, .. }
                if secret.hash.is_some() || secret.no_keyfiles || secret.no_password =>
            {
                Err(Misuse::OneDerivation.into())
            }
            Self::Change { id, to, secret, tpm } => {
                let pin = PasswordSource { password: tpm.pin.clone(), ..PasswordSource::new() };
                one_standard_input([own, &secret.secret, &pin])?;
                let kind = match id {
                    None if tpm.pin.is_some() => None,
                    id => kind_of(volume, id.as_ref())?,
                };
                let Some(kind) = kind else { return Ok(()) };
                must_be_the_tpms(kind, tpm, &secret.secret)?;
                may_be_new(kind, to.as_deref(), &secret.secret)
            }
            Self::Remove { id, last } => {
                let Ok(seen) = look_at_bitlocker(&volume.path, &volume.arguments, volume.progress) else {
                    return Ok(());
                };
                let id = id.among(&volume.path, all_in(&seen))?;
                may_remove_from(seen.metadata.block(), id, *last).map_err(|e| volume.said(e))
            }
            Self::Suspend => match look_at_bitlocker(&volume.path, &volume.arguments, volume.progress) {
                Ok(seen) => may_add_beside(all_in(&seen).map(|(_, kind)| kind), Protection::ClearKey)
                    .map_err(|e| volume.said(e)),
                Err(_) => Ok(()),
            },
            Self::Resume => Ok(()),
        }
    }
}

fn all_in(seen: &Locked) -> impl Iterator<Item = (Guid, Protection)> + '_ {
    seen.info.key_protectors.iter().map(|protector| (protector.id, protector.kind))
}

/// What is lost by a change of what opens a volume, told before anyone types a secret; nothing where nothing is, or where that
/// shows only when the volume has opened.
///
/// # Errors
/// The volume can't be looked at; or the request can't be granted.
pub fn lost_by(
    volume: &LockedVolume<'_>,
    request: &ProtectorRequest,
) -> Result<Option<ProtectorLoss>, Error> {
    match request {
        ProtectorRequest::Suspend => {
            only_bitlocker(volume)?;
            volume.must_have_first_sector()?;
            volume.sources.check()?;
            request.check(volume)?;
            Ok(Some(ProtectorLoss::Secrecy))
        }
        ProtectorRequest::Remove { id, last: LastProtector::Remove } => {
            only_bitlocker(volume)?;
            volume.must_have_first_sector()?;
            volume.sources.check()?;
            let Ok(seen) = look_at_bitlocker(&volume.path, &volume.arguments, volume.progress) else {
                return Ok(None);
            };
            let id = id.among(&volume.path, all_in(&seen))?;
            let may = may_remove_from(seen.metadata.block(), id, LastProtector::Keep);
            Ok(may.err().filter(ChangeError::is_of_the_last).map(ProtectorLoss::Last))
        }
        _ => Ok(None),
    }
}

/// What is lost by a change.
#[derive(Debug)]
pub enum ProtectorLoss {
    /// Anybody reads the volume as long as its protection is suspended.
    Secrecy,
    /// The last protector that opens it, or the last but a clear key.
    Last(ChangeError),
}

/// What the protector is that is to be changed, its password without a name, as far as that lies open: nothing of a volume whose
/// metadata has to be looked for.
fn kind_of(volume: &LockedVolume<'_>, id: Option<&ProtectorName>) -> Result<Option<Protection>, Error> {
    let Ok(seen) = look_at_bitlocker(&volume.path, &volume.arguments, volume.progress) else {
        return Ok(None);
    };
    let own = id.map(|id| id.among(&volume.path, all_in(&seen))).transpose()?;
    let is_meant =
        |(id, kind): &(Guid, Protection)| own.map_or(*kind == Protection::Password, |own| own == *id);
    match all_in(&seen).find(is_meant) {
        Some((_, kind)) => Ok(Some(kind)),
        None => Err(Misuse::NoPasswordToChange(volume.path.clone()).into()),
    }
}

impl ProtectorPlan<'_> {
    /// Carries it out; a new secret that was not named is asked for.
    ///
    /// # Errors
    /// Nobody answers; a key's file exists or can't be written; the metadata can't be written.
    pub fn run(self) -> Result<ProtectorOutcome, Error> {
        let path = self.volume.clone();
        log_file::step(
            "protector",
            &path,
            || self.carry_out(),
            |outcome| {
                let what = match outcome {
                    ProtectorOutcome::Set(set) if set.replaced => "one was replaced",
                    ProtectorOutcome::Set(_) => "one was added",
                    ProtectorOutcome::Secret(_) => "another secret opens it",
                    ProtectorOutcome::Removed(_) => "one was removed",
                    ProtectorOutcome::Protection(_) => "protection was suspended or resumed",
                };
                what.to_owned()
            },
        )
    }

    fn carry_out(self) -> Result<ProtectorOutcome, Error> {
        let (path, to) = (self.volume, self.to);
        Ok(match self.step {
            Step::Secret(volume, change) => ProtectorOutcome::Secret(change_secret(volume, &change)?),
            Step::Put { mut protectors, kind, replaces, source } => {
                let new = match kind {
                    Protection::RecoveryPassword => NewSecret::Recovery(RecoveryPassword::random()?),
                    Protection::StartupKey => NewSecret::StartupKey(StartupKey::random()?),
                    _ => {
                        let subject = Subject::Volume(path.clone());
                        let secrets = protectors.volume.secrets;
                        let new = source.read(Wanted::NewBitLockerPassword, &subject, secrets)?.password;
                        tell_weakness(protectors.volume.progress, Weakness::of_password(&new));
                        NewSecret::Password(new)
                    }
                };
                let added = protectors.put(&new, replaces, to.as_deref())?;
                let recovery_password = match new {
                    NewSecret::Recovery(password) if added.file.is_none() => Some(password),
                    _ => None,
                };
                ProtectorOutcome::Set(Box::new(SetProtector {
                    recovery_password,
                    replaced: replaces.is_some(),
                    ..SetProtector::of(path, added)
                }))
            }
            Step::Seal { mut protectors, new } => {
                let (added, pcrs) = protectors.add_tpm(&new)?;
                let (pcrs, replaced) = (Some(pcrs.iter().collect()), new.replaces.is_some());
                ProtectorOutcome::Set(Box::new(SetProtector {
                    pcrs,
                    replaced,
                    ..SetProtector::of(path, added)
                }))
            }
            Step::Remove { mut protectors, id, last } => {
                let Protectors { volume, store, keys, .. } = &mut protectors;
                keys.remove_protector(store, id, last).map_err(|e| volume.said(e))?;
                let opens = protectors.still_opens();
                ProtectorOutcome::Removed(RemovedProtector { volume: path, removed: id, opens })
            }
            Step::Suspend(Protectors { volume, store, mut keys, .. }) => {
                let id = Some(keys.suspend(&store).map_err(|e| volume.said(e))?);
                let protection_status = "Protection Off";
                ProtectorOutcome::Protection(ProtectionStatus { volume: path, protection_status, id })
            }
            Step::Resume(Protectors { volume, store, mut keys, .. }) => {
                keys.resume(&store).map_err(|e| volume.said(e))?;
                let protection_status = "Protection On";
                ProtectorOutcome::Protection(ProtectionStatus { volume: path, protection_status, id: None })
            }
        })
    }
}

impl ProtectorPlan<'_> {
    /// Whether a new recovery password is shown when it is done, as [`ProtectorOptions::told_once`](crate::create::ProtectorOptions::told_once)
    /// says: what it takes the place of may be the only other way in.
    pub fn told_once(&self) -> Option<bool> {
        let makes = matches!(&self.step, Step::Put { kind: Protection::RecoveryPassword, .. });
        (makes && self.to.is_none()).then_some(true)
    }
}

impl Protectors<'_> {
    /// The protector with a PIN, where it is the only one.
    fn with_pin(&self) -> Option<Guid> {
        let pinned = |kind| matches!(kind, Protection::TpmPin | Protection::TpmPinStartupKey);
        let mut all = self.all().filter(|(_, kind)| pinned(*kind)).map(|(id, _)| id);
        all.next().filter(|_| all.next().is_none())
    }

    fn still_opens(&self) -> StillOpens {
        let all = |such: &dyn Fn(Protection) -> bool| self.all().all(|(_, kind)| such(kind));
        if self.all().next().is_none() {
            StillOpens::Secrets
        } else if all(&|kind| kind == Protection::ClearKey) {
            StillOpens::ClearKey
        } else if all(&Protection::needs_tpm) {
            StillOpens::Tpm
        } else {
            StillOpens::Secrets
        }
    }
}
