//! What is told and left of a conversion when it ends, however it was carried out.

use super::outcome::{ConversionOutcome, ConversionState, Made};
use super::request::ConversionRequest;
use crate::error::Error;
use crate::progress::{Note, Progress};
use crate::shown::for_shell;
use crate::under_way::{ConversionError, JournalFile};
use keyway_convert::{ConversionKind, ConvertError, PlannedConversion, Stopped};
use keyway_fs::{FileSystemKind, FoundFileSystem};
use keyway_store::Store;
use keyway_volume::bitlocker::{Protection, look};
use std::path::Path;

/// An error in the middle of a conversion.
pub(super) fn interrupted(request: &ConversionRequest) -> impl Fn(ConvertError) -> Error + '_ {
    |error| request.said(ConversionError::Interrupted { path: request.path.clone(), error: Box::new(error) })
}

/// Removes a journal that is not needed any more.
pub(super) fn forget(journal: JournalFile, progress: &dyn Progress) {
    let path = journal.path().to_owned();
    if let Err(e) = journal.remove() {
        progress.note(&Note::JournalNotRemoved(&path, &e));
    }
}

/// The same of one that this process has made, where nothing was converted: of what is new nothing is left.
pub(super) fn forget_new(journal: Option<JournalFile>, progress: &dyn Progress) {
    journal.filter(JournalFile::is_new).into_iter().for_each(|journal| forget(journal, progress));
}

/// What of the clusters that were the metadata's was not given back: it is lost to the file system, and nothing else is.
pub(super) fn tell_of_kept(planned: &PlannedConversion, stopped: Stopped, progress: &dyn Progress) {
    if let PlannedConversion::BitLocker(plan) = planned
        && (stopped, planned.kind()) == (Stopped::Done, ConversionKind::Decryption)
        && let Some(e) = plan.kept_bad()
    {
        progress.note(&Note::BadClusters(e));
    }
}

/// Whether what was none becomes a BitLocker volume.
pub(super) fn becomes_bitlocker(planned: &PlannedConversion) -> bool {
    let [from, to] = planned.formats();
    to == "bitlocker" && (from != to || planned.kind() == ConversionKind::Encryption)
}

/// What tells the recovery password of a volume that becomes a BitLocker volume, as it is typed: where it is in no file, it was
/// told in words alone, or not at all by a run that was killed. Nothing where it has none, or does not open as it is.
pub(super) fn recovery_password_with(
    path: &Path,
    is_new: bool,
    made: &Made,
    store: &dyn Store,
) -> Option<String> {
    let is_kept = made.keys.as_ref().is_some_and(|keys| keys.recovery_file.is_some());
    if !is_new || is_kept {
        return None;
    }
    let protectors = look(store).ok()?.info.key_protectors;
    let has_one = protectors.iter().any(|one| one.kind == Protection::RecoveryPassword);
    has_one.then(|| format!("keyway protector recovery {}", for_shell(path)))
}

/// Bytes behind a file system that are not worth making it larger; and of one that no tool makes larger.
const SLACK: u64 = 64 << 10;
const MUCH: u64 = 1 << 20;

/// That the file system of a volume which was decrypted does not reach the end any more: whoever had it encrypted in place has
/// made it smaller for that.
pub(super) fn tell_of_room(
    request: &ConversionRequest,
    (planned, stopped): (&PlannedConversion, Stopped),
    store: &dyn Store,
    progress: &dyn Progress,
) {
    use FileSystemKind::{Btrfs, Ext, Ntfs, Xfs};
    if (stopped, planned.kind()) != (Stopped::Done, ConversionKind::Decryption) {
        return;
    }
    let Ok(Some(FoundFileSystem { kind, bytes, .. })) = FoundFileSystem::find(store) else { return };
    let (left, can_grow) = (store.size().saturating_sub(bytes), matches!(kind, Btrfs | Ext | Ntfs | Xfs));
    let worth_telling = if can_grow { SLACK } else { MUCH };
    if left > worth_telling {
        progress.note(&Note::StaysSmaller { path: &request.path, kind, bytes: left });
    }
}

/// What came of it, without its figures.
pub(super) fn outcome(
    request: &ConversionRequest,
    planned: &PlannedConversion,
    stopped: Stopped,
) -> ConversionOutcome {
    let [from, to] = planned.formats();
    let state = if stopped == Stopped::Done { ConversionState::Done } else { ConversionState::Paused };
    let format = if state == ConversionState::Done { to } else { from };
    ConversionOutcome {
        state,
        new_format: (from != to).then_some(to),
        ..nothing_left(request, Some(planned.kind()), format)
    }
}

/// The same where nothing was left to convert.
pub(super) fn nothing_left(
    request: &ConversionRequest,
    conversion: Option<ConversionKind>,
    format: &'static str,
) -> ConversionOutcome {
    ConversionOutcome {
        volume: request.path.clone(),
        state: ConversionState::Done,
        conversion,
        format,
        new_format: None,
        work: None,
        percentage_encrypted: None,
        made: Made::default(),
        lost: None,
        was_in_use: false,
    }
}
