//! What is told and left of a conversion when it ends, however it was carried out.

use super::observer::{Note, Observer};
use super::outcome::{Made, Outcome, State};
use super::request::Request;
use crate::error::Error;
use crate::under_way::{ConversionError, JournalFile};
use keyway_convert::{ConversionKind, ConvertError, PlannedConversion, Stopped};

/// An error in the middle of a conversion.
pub(super) fn interrupted(request: &Request) -> impl Fn(ConvertError) -> Error + '_ {
    |error| request.said(ConversionError::Interrupted { path: request.path.clone(), error })
}

/// Removes a journal that is not needed any more.
pub(super) fn forget(journal: JournalFile, observer: &dyn Observer) {
    let path = journal.path().to_owned();
    if let Err(e) = journal.remove() {
        observer.note(&Note::JournalNotRemoved(&path, &e));
    }
}

/// What of the clusters that were the metadata's was not given back: it is lost to the file system, and nothing else is.
pub(super) fn tell_of_kept(planned: &PlannedConversion, stopped: Stopped, observer: &dyn Observer) {
    if let PlannedConversion::BitLocker(plan) = planned
        && (stopped, planned.kind()) == (Stopped::Done, ConversionKind::Decryption)
        && let Some(e) = plan.kept_bad()
    {
        observer.note(&Note::BadClusters(e));
    }
}

/// What came of it, without its figures.
pub(super) fn outcome(request: &Request, planned: &PlannedConversion, stopped: Stopped) -> Outcome {
    let [from, to] = planned.formats();
    let state = if stopped == Stopped::Done { State::Done } else { State::Paused };
    let format = if state == State::Done { to } else { from };
    Outcome {
        state,
        new_format: (from != to).then_some(to),
        ..nothing_left(request, Some(planned.kind()), format)
    }
}

/// The same where nothing was left to convert.
pub(super) fn nothing_left(
    request: &Request,
    conversion: Option<ConversionKind>,
    format: &'static str,
) -> Outcome {
    Outcome {
        volume: request.path.clone(),
        state: State::Done,
        conversion,
        format,
        new_format: None,
        work: None,
        percentage_encrypted: None,
        made: Made::default(),
        was_in_use: false,
    }
}
