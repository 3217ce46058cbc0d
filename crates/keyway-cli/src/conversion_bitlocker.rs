//! Conversions of BitLocker volumes, as `encrypt`, `decrypt`, `resume`, `pause` and `status` tell of them.
//!
//! One that was paused in good order is an ordinary volume that opens here and elsewhere; only one that was
//! interrupted is nobody's until `resume`, and so is one that is being re-encrypted.

use crate::conversion::{self, HowArgs};
use crate::failure::{Exit, Failure};
use crate::given::{KeyArgs, VolumeArgs, bitlocker_secrets_of};
use crate::in_use::Way;
use crate::in_use_bitlocker;
use crate::narrow::NarrowArgs;
use crate::new_protectors::key_rows;
use crate::output::{Output, bytes, pairs};
use crate::secrets_in::SecretSource;
use crate::shown::shown;
use crate::volume::{self, Which, about};
use keyway::conversion::{ConversionError, JournalFile, claim, is_paused_volume, percentage, speed};
use keyway_convert::bitlocker::{self as convert, Found, MediumState, Next, Plan, Proof};
use keyway_convert::{ConversionKind, ConvertError, JournalLocation, Stopped};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore, Store};
use keyway_volume::bitlocker::{self, UnlockRequest};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// What there is to know about a medium that is converted.
pub(crate) struct Target<'a> {
    /// Its file or device.
    pub(crate) path: &'a Path,
    /// How it is converted.
    pub(crate) how: &'a HowArgs,
    /// How it is reached, where it is in use meanwhile.
    pub(crate) way: Option<Way>,
    /// What the answer says besides.
    pub(crate) more: Map<String, Value>,
}

/// Decrypts a volume.
pub(crate) fn decrypt(target: &VolumeArgs, how: &HowArgs, out: Output) -> Result<(), Failure> {
    let path = &target.volume;
    let way = how.in_use.way(out)?;
    out.confirm(&format!("Everything in {} will lie open on it. Make a backup first.", path.display()))?;
    let secrets = target.bitlocker_secrets()?;
    let store: Arc<dyn Store> = Arc::new(claim(path)?);
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(&secrets)).map_err(|e| about(path, e))?;
    let file = conversion::journal_beside(path, how)?;
    let plan =
        Plan::of_volume(&store, unlocked, ConversionKind::Decryption, file).map_err(|e| about(path, e))?;
    let plan = if how.full_journal { plan.kept_whole() } else { plan };
    let journal = new_journal(&plan, how)?;
    carry_out(Target { path, how, way, more: Map::new() }, &plan, (&store, journal), out)
}

/// Goes on with what was interrupted, or was paused here or by Windows, on a file or device that is claimed. The marks on
/// it are anybody's: what there is to open must have opened before anything is written or removed.
pub(crate) fn resume(
    (path, store): (&Path, FileStore),
    source: &SecretSource,
    keys: &KeyArgs,
    how: &HowArgs,
    out: Output,
) -> Result<(), Failure> {
    let failed = |e: ConvertError| about(path, e);
    let store: Arc<dyn Store> = Arc::new(store);
    let found = convert::find(&store)?;
    if found.is_none() && !is_paused_volume(&store)? {
        return Err(ConversionError::NotUnderWay(path.to_owned()).into());
    }
    let named = how.journal.as_deref();
    let old_journal = |found: &Found| match &found.mark.journal {
        JournalLocation::File(made_as) => {
            let mark = &found.mark;
            JournalFile::find(path, named, made_as, (&mark.place, &mark.id)).map(Some).map_err(Failure::from)
        }
        JournalLocation::OnMedium => Ok(None),
    };
    let mut old = found.as_ref().map_or(Ok(None), old_journal);
    if found.as_ref().is_some_and(|found| found.in_front)
        && let Err(failure) = old
    {
        return Err(failure);
    }
    let way = how.in_use.way(out)?;
    let seen = match &found {
        Some(found) => convert::seen(&store, found).map_err(failed)?,
        None => Some(bitlocker::look(&store)?),
    };
    let which = Which::new(path, &NarrowArgs::default());
    let secrets = seen.map(|seen| bitlocker_secrets_of(&which, source, keys, || Ok(seen)));
    let secrets = secrets.transpose()?.unwrap_or_default();
    let request = UnlockRequest::new(&secrets);
    if let Some(found) = found.as_ref().filter(|found| !found.in_front) {
        let proof = convert::prove(&store, found, &request).map_err(failed)?;
        let left = convert::clean(&store, &found.mark, proof).map_err(failed)?;
        forget(std::mem::replace(&mut old, Ok(None)), proof, out);
        if left != MediumState::Volume || !is_paused_volume(&store)? {
            return ended(path, found, left, out);
        }
    }
    let file = conversion::journal_beside(path, how)?;
    match convert::next(&store, &request, file).map_err(failed)? {
        Next::Run(plan) => {
            let plan = if how.full_journal && !plan.is_begun() { plan.kept_whole() } else { *plan };
            let plan = if how.in_use.online { plan.for_use().map_err(failed)? } else { plan };
            let journal = match old? {
                Some(old) => {
                    can_be_used(&plan, how)?;
                    Some(old.for_writing()?)
                }
                None => new_journal(&plan, how)?,
            };
            carry_out(Target { path, how, way, more: Map::new() }, &plan, (&store, journal), out)
        }
        Next::Nothing(_) => {
            let words = format!("{}: the conversion had come to its end.", shown(path));
            out.result(&json!({"volume": path, "format": "bitlocker", "state": "done"}), || words)
        }
    }
}

/// What becomes of the journal of a run that had not begun, or was through. Without a proof it stays: a medium that says
/// the same of itself as the one it belongs to may be another.
fn forget(old: Result<Option<JournalFile>, Failure>, proof: Proof, out: Output) {
    match (old, proof) {
        (Ok(None), _) => {}
        (Ok(Some(journal)), Proof::Opens) => conversion::remove(journal, out),
        (Ok(Some(journal)), Proof::NothingToOpen) => out.warn(&format!(
            "the journal {} is not needed any more; it was left where it is, because there is nothing that a secret could \
             prove: remove it",
            journal.path().display()
        )),
        (Err(failure), _) => {
            out.warn(&format!("the journal is not needed any more, and stays: {}", failure.message));
        }
    }
}

/// What a run was that had not begun, or was over, when it was interrupted.
fn ended(path: &Path, found: &Found, left: MediumState, out: Output) -> Result<(), Failure> {
    if matches!(left, MediumState::FileSystem | MediumState::Untouched) {
        let verb = if found.mark.kind == ConversionKind::Decryption { "decrypt" } else { "encrypt" };
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "{}: the {} was interrupted before it had begun; nothing was changed",
                path.display(),
                found.mark.kind.name()
            ),
            format!("begin again with `keyway {verb}`"),
        )
        .kind(keyway_error::Kind::NotBegun));
    }
    let document =
        json!({"volume": path, "format": "bitlocker", "conversion": found.mark.kind, "state": "done"});
    if left == MediumState::Decrypted {
        let words = || format!("{} is decrypted: it is a plain file system again.", shown(path));
        return out.result(&document, words);
    }
    out.result(&document, || format!("{}: the conversion had come to its end.", shown(path)))
}

/// What of the clusters that were the metadata's was not given back: it is lost to the file system, and nothing else is.
pub(crate) fn tell_of_kept(plan: &Plan, out: Output) {
    if let Some(e) = plan.kept_bad() {
        out.warn(&format!("some 300 KiB stay marked as bad clusters in the file system: {e}"));
    }
}

/// Makes the file of a new run's journal; `None` where it is on the medium. What can't be carried out while the volume
/// is in use is refused before that, where that was wanted.
pub(crate) fn new_journal(plan: &Plan, how: &HowArgs) -> Result<Option<JournalFile>, Failure> {
    can_be_used(plan, how)?;
    let mark = plan.mark();
    match &mark.journal {
        JournalLocation::File(file) => Ok(Some(JournalFile::make(file, mark.place.file_bytes())?)),
        JournalLocation::OnMedium => Ok(None),
    }
}

fn can_be_used(plan: &Plan, how: &HowArgs) -> Result<(), Failure> {
    if how.in_use.online {
        plan.can_be_used()?;
    }
    Ok(())
}

/// Carries a run out until it ends or is paused, and tells what came of it.
pub(crate) fn carry_out(
    target: Target<'_>,
    plan: &Plan,
    (store, journal): (&Arc<dyn Store>, Option<JournalFile>),
    out: Output,
) -> Result<(), Failure> {
    let (path, mark) = (target.path, plan.mark());
    if let Some(way) = target.way {
        return in_use_bitlocker::carry_out((path, target.how.limit), plan, (store, journal), way, out);
    }
    let file = journal.as_ref();
    let run = plan.conversion(store, file.map(JournalFile::store)).map_err(|e| about(path, e))?;
    let told = (path, file.map(JournalFile::path));
    let (stopped, time) =
        conversion::watched(told, mark.kind, target.how.limit, |watch| plan.run(&run, watch))?;
    let total = run.total();
    let done = match stopped {
        Stopped::Done => total,
        Stopped::Paused => run.done().map_err(|e| about(path, e))?,
    };
    // Where no state of the format can say how far it is.
    let stays = stopped == Stopped::Paused && convert::find(store)?.is_some_and(|found| found.in_front);
    if let Some(journal) = journal.filter(|_| !stays) {
        conversion::remove(journal, out);
    }
    let mut document = json!({
        "volume": path,
        "format": "bitlocker",
        "conversion": mark.kind,
        "state": if stopped == Stopped::Done { "done" } else { "paused" },
        "total_bytes": total,
        "seconds": time.as_secs_f64(),
        "bytes_per_second": speed(total, time),
    });
    if let Some(object) = document.as_object_mut() {
        object.extend(target.more);
    }
    if stays {
        let percent = percentage(done, total);
        if let Some(object) = document.as_object_mut() {
            object.insert("done_bytes".to_owned(), json!(done));
        }
        return Err(Failure::new(
            Exit::Failed,
            format!("{}: paused at {percent:.1} %; it can't be opened like this", path.display()),
            format!("go on with `keyway resume {}`", path.display()),
        )
        .kind(keyway_error::Kind::Paused)
        .with(document));
    }
    if stopped == Stopped::Paused {
        let seen = bitlocker::look(store)?;
        let percent = seen.info.percentage_encrypted;
        if let Some(object) = document.as_object_mut() {
            object.insert("percentage_encrypted".to_owned(), json!(percent));
        }
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "{}: paused with {percent:.1} % encrypted; it can be opened and used like this",
                path.display()
            ),
            format!("go on with `keyway resume {}`", path.display()),
        )
        .kind(keyway_error::Kind::Paused)
        .with(document));
    }
    if mark.kind == ConversionKind::Decryption {
        tell_of_kept(plan, out);
    }
    out.result(&document, || {
        let what = match mark.kind {
            ConversionKind::Decryption => "is decrypted: it is a plain file system again.".to_owned(),
            ConversionKind::Reencryption => {
                "has a new data key; backups of its old metadata are worthless.".to_owned()
            }
            ConversionKind::Encryption => {
                format!("is a BitLocker volume. Open it with: keyway open {}", shown(path))
            }
        };
        let speed = format!("{}/s", bytes(speed(total, time)));
        let mut rows = vec![("  converted", bytes(total)), ("  speed", speed)];
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        rows.extend(key_rows(text("recovery_password"), text("recovery_file"), text("startup_key")));
        format!("{} {what}\n{}", shown(path), pairs(&rows))
    })
}

/// What `pause` says of a volume that it has left whole; `None` where it is no such volume.
pub(crate) fn paused(path: &Path) -> Result<Option<Value>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    if !is_paused_volume(&store)? {
        return Ok(None);
    }
    let info = bitlocker::look(&store)?.info;
    Ok(Some(json!({
        "volume": path,
        "format": "bitlocker",
        "size_bytes": info.data_bytes,
        "conversion_status": info.conversion_status,
        "percentage_encrypted": info.percentage_encrypted,
        "resume_with": format!("keyway resume {}", path.display()),
    })))
}

/// The same for people.
pub(crate) fn paused_in_words(path: &Path, document: &Value) -> String {
    let percent = document.get("percentage_encrypted").and_then(Value::as_f64).unwrap_or_default();
    format!(
        "{}: paused with {percent:.1} % encrypted. It can be opened and used; `keyway resume {}` goes on.",
        shown(path),
        shown(path)
    )
}
