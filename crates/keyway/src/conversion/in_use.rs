//! Conversions of volumes that stay in use: attached before they begin, and served while they go on.

use super::confined;
use super::ending::{
    becomes_bitlocker, forget, forget_new, interrupted, outcome, recovery_password_with, tell_of_kept,
    tell_of_room,
};
use super::job::Prepared;
use super::lost_sectors::LostList;
use super::outcome::{ConversionOutcome, Made};
use super::request::{ConversionRequest, Online};
use crate::error::Error;
use crate::progress::{Note, Progress};
use crate::under_way::{ConversionRefusal, JournalFile, Watch, percentage};
use keyway_attach::LocalUsers;
use keyway_attach::session::{self, AttachPlan, MountPlan, SessionState};
use keyway_convert::{
    Checkpoint, Conversion, ConversionKind, ConvertError, Live, PlannedConversion, Stopped,
};
use keyway_volume::bitlocker::look;
use serde_json::{Value, json};
use std::sync::Arc;

/// Carries a conversion out while its volume is in use, until that is closed. What is not converted by then stays as it
/// is until it goes on.
pub(super) fn carry_out(
    request: &ConversionRequest,
    online: &Online,
    prepared: Prepared,
    lost: Option<&LostList>,
    progress: &dyn Progress,
) -> Result<ConversionOutcome, Error> {
    let Prepared { planned, store, journal, mut made } = prepared;
    let failed = interrupted(request);
    let file = journal.as_ref();
    let mut conversion = planned.conversion(&*store, file.map(JournalFile::store), true).map_err(&failed)?;
    conversion.lost = lost.map(|list| list as _);
    let watch = Watch::new((&request.path, file.map(JournalFile::path)), None, request.limit)?;
    if let Err(error) = confined::prepare(request, file, &watch) {
        drop((conversion, watch));
        forget_new(journal, progress);
        return Err(error);
    }
    let begun = planned.begin_in_use(&conversion, &store).map_err(&failed)?;
    let was_in_use = begun.is_some();
    let stopped = match begun {
        Some(begun) => {
            let details = details(&planned, &made);
            serve(request, online, (&conversion, details), begun, watch, progress)?
        }
        None => {
            drop(watch);
            Stopped::Done
        }
    };
    // What is closed in good order has no journal any more.
    let done = conversion.done().unwrap_or_default();
    let stopped = planned.close(&conversion, stopped).map_err(&failed)?;
    let opens = stopped == Stopped::Done || planned.left_whole(&*store)?;
    if stopped == Stopped::Paused {
        let percent = match (opens, planned.kind()) {
            // The volume says it, and `status` says the same: this run may have begun in its middle.
            (true, ConversionKind::Encryption) => look(&*store)?.info.percentage_encrypted,
            (true, ConversionKind::Decryption) => 100.0 - look(&*store)?.info.percentage_encrypted,
            _ => percentage(done, conversion.total()),
        };
        progress.note(&Note::Closed { percent, opens });
    }
    made.recovery_password_with =
        recovery_password_with(&request.path, becomes_bitlocker(&planned), &made, &*store);
    if made.recovery_password_with.is_some() {
        progress.note(&Note::NewKeys(&made));
    }
    if let Some(journal) = journal.filter(|_| opens) {
        forget(journal, progress);
    }
    tell_of_kept(&planned, stopped, progress);
    tell_of_room(request, (&planned, stopped), &*store, progress);
    if stopped == Stopped::Done && planned.kind() == ConversionKind::Decryption {
        progress.note(&Note::Decrypted);
    } else if !was_in_use {
        return Err(ConversionRefusal::WasThrough(request.path.clone()).into());
    }
    Ok(ConversionOutcome { made, was_in_use, ..outcome(request, &planned, stopped) })
}

/// What `status` tells when all is converted, and nothing on the medium says it: the new volume's cipher, and what kind of
/// secret opens it.
fn details(planned: &PlannedConversion, made: &Made) -> Value {
    let [format, _] = planned.formats();
    let spec = match planned {
        PlannedConversion::VeraCrypt(plan) => plan.keys.new.as_ref().map(|new| new.cipher.spec()),
        PlannedConversion::BitLocker(_) | PlannedConversion::CrossFormat(_) => None,
    };
    let (cipher, mode) = (spec.map(|spec| spec.chain.to_string()), spec.map(|spec| spec.mode.name()));
    let volume = json!({"format": format, "conversion": planned.kind(), "cipher": cipher, "mode": mode});
    json!({"volume": volume, "key_protectors": made.secret.as_slice(), SessionState::CONVERTING: true})
}

/// Attaches what can be used, serves it until it is closed, and converts the rest meanwhile.
fn serve(
    request: &ConversionRequest,
    online: &Online,
    (conversion, details): (&Conversion<'_>, Value),
    (live, reached): (Live, Checkpoint),
    watch: Watch<'_>,
    progress: &dyn Progress,
) -> Result<Stopped, Error> {
    let failed = interrupted(request);
    let live = Arc::new(live);
    let device = live.device().map_err(&failed)?;
    let attach = AttachPlan {
        volume: request.path.clone(),
        attachment: online.attachment.clone(),
        mount: online.mountpoint.clone().map(|at| MountPlan {
            at,
            filesystem: None,
            options: String::new(),
            // What is converted goes on being converted.
            ends_it: false,
        }),
        close_when_idle: None,
        reasons: Vec::new(),
        details,
        credentials: None,
        users: LocalUsers::Own,
        cache: false,
        sandbox: confined::around_session(request),
    };
    let convert = || -> Result<Stopped, ConvertError> {
        let done = conversion.run_in_use(reached, &live, &watch);
        match &done {
            Ok(Stopped::Done) => progress.note(&Note::Converted),
            Ok(Stopped::Paused) => {}
            Err(e) => progress.note(&Note::Failed(e)),
        }
        done
    };
    let (served, converted) = std::thread::scope(|scope| {
        let mut converting = None;
        // It begins when the session answers to signals, and is in its sandbox: threads that are there before neither reaches.
        let served = session::run(Arc::new(device), attach, |state| {
            progress.note(&Note::Attached(state));
            converting = Some(scope.spawn(convert));
            true
        });
        watch.stop();
        (served, converting.map(std::thread::ScopedJoinHandle::join))
    });
    served?;
    let converted = converted
        .and_then(Result::ok)
        .ok_or_else(|| ConversionRefusal::EndedByItself(request.path.clone()))?;
    converted.map_err(failed)
}
