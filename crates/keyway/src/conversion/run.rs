//! A conversion that was looked at, and is carried out.

use super::confined;
use super::ending::{
    becomes_bitlocker, forget, forget_new, interrupted, outcome, recovery_password_with, tell_of_kept,
    tell_of_room,
};
use super::examined::Examined;
use super::free_room::may_begin;
use super::in_use;
use super::job::{Job, Next, Prepared, With};
use super::lost_sectors::LostList;
use super::outcome::{ConversionOutcome, Work};
use super::plan::ConversionPlan;
use super::request::{ConversionRequest, Goal, NewVolume};
use super::{bitlocker, cross_format, resume, veracrypt};
use crate::detect::{family_on, must_have_first_sector};
use crate::error::Error;
use crate::key_file::{must_have_folder, must_take_files};
use crate::log_file;
use crate::progress::{Note, Progress, Stage};
use crate::secrets::{Secrets, one_standard_input};
use crate::under_way::{ConversionError, ConversionRefusal, JournalFile, Watch, speed};
use crate::unlock::Family;
use keyway_attach::session::{Fate, Inode};
use keyway_convert::Stopped;
use keyway_store::Held;
use std::sync::OnceLock;
use std::time::Instant;

/// What will be done, and what does it.
type Planned = (ConversionPlan, Box<dyn Job>);

/// A conversion that was looked at. Nothing was changed; nobody else begins with the medium until this is run or dropped.
#[non_exhaustive]
pub struct Conversion {
    /// What it will do.
    pub plan: ConversionPlan,
    request: ConversionRequest,
    job: Box<dyn Job>,
    /// Kept until it is through.
    held: Option<Held>,
}

/// Looks what would become of a file system or volume, and refuses all that can be refused before anybody is asked for
/// a secret. Only where a volume is to get the other format its secrets are asked: the room for a VeraCrypt volume's headers
/// must be found within it, and who gets a BitLocker volume for Windows should know what that reads.
///
/// # Errors
/// The file or device can't be written, or somebody uses it; what was asked for can't be had, or not together; there is
/// no room; the file system is damaged; a sandbox is required that the kernel does not have. Where secrets are asked:
/// nothing opens the volume.
pub fn plan(
    request: &ConversionRequest,
    secrets: &dyn Secrets,
    progress: &dyn Progress,
) -> Result<Conversion, Error> {
    confined::check(request)?;
    let medium = Examined::of(request)?;
    one_standard_input([&request.sources.password])?;
    one_standard_input([&request.new])?;
    for new in request.journal.iter().chain(&request.skip_unreadable) {
        must_have_folder(new)?;
        if Inode::is_one(new, &request.path) {
            return Err(ConversionError::IsConverted(new.clone()).into());
        }
    }
    request.skip_unreadable.as_deref().filter(|list| !list.exists()).map_or(Ok(()), must_take_files)?;
    request.skip_unreadable.as_deref().map_or(Ok(()), LostList::check)?;
    let begins = |planned| may(request, planned);
    let (plan, job) = match &request.goal {
        Goal::Encrypt(new) if new.format == Some(Family::BitLocker) => {
            bitlocker::encryption(request, new, &medium).and_then(begins)
        }
        Goal::Encrypt(new) => veracrypt::encryption(request, new, &medium).and_then(begins),
        Goal::Reencrypt(new) => of_volume(request, Some(new), &medium, (secrets, progress)),
        Goal::Decrypt => of_volume(request, None, &medium, (secrets, progress)),
        Goal::Resume => resume::resumption(request, &medium).and_then(begins),
    }?;
    Ok(Conversion { plan, request: request.clone(), job, held: medium.held })
}

/// A conversion that is planned, if it may begin.
fn may(request: &ConversionRequest, planned: Planned) -> Result<Planned, Error> {
    may_begin(&planned.0, request).map(|()| planned)
}

/// Looks whether a volume can become another one, or, where none is wanted, the file system in it.
fn of_volume(
    request: &ConversionRequest,
    new: Option<&NewVolume>,
    medium: &Examined<'_>,
    asked: (&dyn Secrets, &dyn Progress),
) -> Result<Planned, Error> {
    let old = family_on(medium.path, &*medium.store, &request.arguments)?;
    must_have_first_sector(medium.path, &*medium.store, &request.arguments)?;
    if let Some(new) = new {
        let wanted = new.format.unwrap_or(old);
        // What can't be had together is told before what is no volume.
        if new.used_space_only && (old != wanted || old != Family::BitLocker) {
            return Err(ConversionRefusal::UsedSpaceOnly.into());
        }
        if old == wanted && new.grow {
            return Err(ConversionRefusal::KeepsItsSize.into());
        }
    }
    request.sources.must_suit(old, medium.path, &request.arguments)?;
    let planned = match (new, old) {
        (None, Family::BitLocker) => bitlocker::decryption(request, medium),
        (None, Family::VeraCrypt) => veracrypt::decryption(request, medium),
        // It asks for secrets, and has looked whether it may begin before that.
        (Some(new), old) if new.format.unwrap_or(old) != old => {
            return cross_format::conversion(request, new, medium, old, asked);
        }
        (Some(new), Family::BitLocker) => bitlocker::reencryption(request, new, medium),
        (Some(new), Family::VeraCrypt) => veracrypt::reencryption(request, new, medium),
    };
    planned.and_then(|planned| may(request, planned))
}

impl Conversion {
    /// Reads the secrets, makes room, and converts, until it is through or whoever watches stops it. Losing power, or
    /// being killed, loses nothing from the moment on that [`Stage::Converting`] is told: it goes on with
    /// [`Goal::Resume`].
    ///
    /// # Errors
    /// A secret is wrong; what was asked for can't be had; somebody else was faster: then everything is as it was. The
    /// medium failed: what is converted stays so ([`ConversionError::Interrupted`](super::ConversionError::Interrupted)).
    pub fn run(self, secrets: &dyn Secrets, progress: &dyn Progress) -> Result<ConversionOutcome, Error> {
        let path = self.request.path.clone();
        log_file::step(
            "convert",
            &path,
            || self.convert(secrets, progress),
            |outcome| {
                let bytes = outcome.work.as_ref().map_or(0, |work| work.total_bytes);
                let what = outcome.conversion.map_or("conversion", |conversion| conversion.name());
                let state = format!("{:?}", outcome.state).to_lowercase();
                format!("{what} {state}, {}, {bytes} bytes", outcome.format)
            },
        )
    }

    fn convert(self, secrets: &dyn Secrets, progress: &dyn Progress) -> Result<ConversionOutcome, Error> {
        let Self { plan, request, job, held: _held } = self;
        let lost = LostList::of(&request)?;
        match job.prepare(&With { plan: &plan, request: &request, secrets, progress })? {
            Next::Ended(outcome) => Ok(*outcome),
            Next::Convert(prepared) => {
                let lost = lost.as_ref();
                let done = match &request.online {
                    Some(online) => in_use::carry_out(&request, online, *prepared, lost, progress),
                    None => carry_out(&request, *prepared, lost, progress),
                };
                // However it ended.
                lost.into_iter().for_each(|lost| lost.tell(progress));
                Ok(lost.into_iter().fold(done?, |outcome, lost| lost.add(outcome)))
            }
        }
    }
}

fn carry_out(
    request: &ConversionRequest,
    prepared: Prepared,
    lost: Option<&LostList>,
    progress: &dyn Progress,
) -> Result<ConversionOutcome, Error> {
    let Prepared { planned, store, journal, mut made } = prepared;
    let file = journal.as_ref();
    let conversion = planned.conversion(&*store, file.map(JournalFile::store), false);
    let mut conversion = conversion.map_err(|e| request.said(e))?;
    conversion.lost = lost.map(|list| list as _);
    // Whoever stops it from now on is heard.
    progress.stage(Stage::Converting(planned.kind()));
    let told = OnceLock::new();
    let far = |done, total| {
        // The metadata is on the medium as soon as a first byte is done: whoever is killed from now on has been told.
        if told.set(()).is_ok() && made.shows_recovery() {
            progress.note(&Note::NewKeys(&made));
        }
        progress.at(done, total)
    };
    let watch = Watch::new((&request.path, file.map(JournalFile::path)), Some(&far), request.limit)?;
    // What could not be looked up is told as done now: it is a figure for people.
    let earlier = match request.goal {
        Goal::Resume => conversion.done().unwrap_or_default(),
        _ => 0,
    };
    if let Err(error) = confined::enter(request, file, &watch) {
        drop((conversion, watch));
        forget_new(journal, progress);
        return Err(error);
    }
    let began = Instant::now();
    let stopped = planned.run(&conversion, &watch);
    let (before, reached) = watch.reached();
    let fate = watch.fate();
    drop(watch);
    let stopped = stopped.map_err(interrupted(request))?;
    let (total_bytes, time) = (conversion.total(), began.elapsed());
    let (mut done_bytes, mut percentage_encrypted) = (None, None);
    if stopped == Stopped::Paused {
        match planned.left_whole(&*store).map_err(|e| request.said(e))? {
            true => {
                let seen = keyway_volume::bitlocker::look(&*store)?;
                percentage_encrypted = Some(seen.info.percentage_encrypted);
            }
            false => done_bytes = Some(conversion.done().map_err(|e| request.said(e))?),
        }
    }
    made.recovery_password_with =
        recovery_password_with(&request.path, becomes_bitlocker(&planned), &made, &*store);
    if let Some(journal) = journal.filter(|_| done_bytes.is_none()) {
        forget(journal, progress);
    }
    // Whatever is at its path now, if anything, is another file.
    let volume = match fate {
        Fate::Kept => request.path.clone(),
        Fate::Moved(path) => path,
        Fate::Deleted => return Err(ConversionError::Removed(request.path.clone()).into()),
    };
    tell_of_kept(&planned, stopped, progress);
    tell_of_room(request, (&planned, stopped), &*store, progress);
    let done_now = if stopped == Stopped::Done { total_bytes } else { reached };
    let work = Work {
        total_bytes,
        converted_bytes: done_now.saturating_sub(earlier),
        done_bytes,
        seconds: time.as_secs_f64(),
        // What an earlier run has done took none of this one's time.
        bytes_per_second: speed(done_now.saturating_sub(before), time),
    };
    Ok(ConversionOutcome {
        work: Some(work),
        percentage_encrypted,
        made,
        volume,
        ..outcome(request, &planned, stopped)
    })
}
