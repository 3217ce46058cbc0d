//! Conversions of BitLocker volumes, as `encrypt`, `decrypt`, `resume`, `pause` and `status` tell of them.
//!
//! One that was paused in good order is an ordinary volume that opens here and elsewhere; only one that was
//! interrupted is nobody's until `resume`, and so is one that is being re-encrypted.

use crate::conversion::{self, HowArgs};
use crate::failure::{Exit, Failure};
use crate::given::{KeyArgs, VolumeArgs, bitlocker_secrets};
use crate::in_use::Way;
use crate::in_use_bitlocker;
use crate::narrow::NarrowArgs;
use crate::output::{Output, bytes, pairs};
use crate::secrets_in::SecretSource;
use crate::verbs::key_rows;
use crate::volume::{self, Which, about};
use crate::watch;
use keyway_convert::bitlocker::{self as convert, Found, Left, Next, Plan};
use keyway_convert::veracrypt::FreeSpace;
use keyway_convert::{JournalPlace, Kind, Stopped};
use keyway_engine::Access;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, Conversion, UnlockRequest};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// The run that is under way on a file or device, or was interrupted.
pub(crate) fn find(path: &Path) -> Result<Option<Found>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    convert::find(&store).map_err(Failure::from)
}

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
    let store: Arc<dyn Store> = Arc::new(conversion::claim(path)?);
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(&secrets)).map_err(|e| about(path, e))?;
    let file = conversion::journal_beside(path, how)?;
    let plan = Plan::of_volume(&store, unlocked, Kind::Decryption, file).map_err(|e| about(path, e))?;
    let plan = if how.full_journal { plan.kept_whole() } else { plan };
    let journal = journal(&plan, how)?;
    carry_out(Target { path, how, way, more: Map::new() }, &plan, (&store, journal), out)
}

/// Goes on with what was interrupted, or was paused here or by Windows.
pub(crate) fn resume(
    path: &Path,
    source: &SecretSource,
    keys: &KeyArgs,
    how: &HowArgs,
    out: Output,
) -> Result<(), Failure> {
    let nothing = || {
        Failure::usage(
            format!("no conversion of {} is under way", path.display()),
            "begin one with `keyway encrypt` or `keyway decrypt`",
        )
    };
    conversion::refuse_if_used(path)?;
    let found = find(path)?;
    let store: Arc<dyn Store> = Arc::new(volume::store(path, Access::ReadWrite, Caching::Direct)?);
    if let Some(found) = found.as_ref().filter(|found| !found.in_front) {
        let left = convert::clean(&store, &found.mark).map_err(|e| about(path, e))?;
        forget_journal(&found.mark.journal, out);
        if left != Left::Volume || !half(&store)? {
            return ended(path, &store, found, left, out);
        }
    }
    let is_volume = found.as_ref().is_some_and(|found| found.in_front) || bitlocker::is_volume(&store)?;
    if !is_volume || (found.is_none() && !half(&store)?) {
        return Err(nothing());
    }
    drop(store);
    if let Some(found) = found.as_ref().filter(|found| found.in_front) {
        conversion::journal_must_be_there(&found.mark.journal)?;
    }
    let way = how.in_use.way(out)?;
    let secrets = bitlocker_secrets(&Which::new(path, &NarrowArgs::default()), source, keys)?;
    let store: Arc<dyn Store> = Arc::new(volume::store(path, Access::ReadWrite, Caching::Direct)?);
    let file = conversion::journal_beside(path, how)?;
    match convert::next(&store, &UnlockRequest::new(&secrets), file).map_err(|e| about(path, e))? {
        Next::Run(plan) => {
            let plan = if how.full_journal && !plan.is_begun() { plan.kept_whole() } else { *plan };
            let plan = if how.in_use.online { plan.for_use().map_err(|e| about(path, e))? } else { plan };
            let journal = journal(&plan, how)?;
            carry_out(Target { path, how, way, more: Map::new() }, &plan, (&store, journal), out)
        }
        Next::Nothing(_) => {
            let words = format!("{}: the conversion had come to its end.", path.display());
            out.result(&json!({"volume": path, "format": "bitlocker", "state": "done"}), || words)
        }
    }
}

/// Whether the metadata names a boundary.
fn half(store: &dyn Store) -> Result<bool, Failure> {
    let seen = bitlocker::look(store)?;
    Ok(!matches!(seen.info.conversion_status, Conversion::FullyEncrypted)
        || seen.metadata.block().state == bitlocker::State::Converting)
}

/// What a run was that had not begun, or was over, when it was interrupted.
fn ended(path: &Path, store: &dyn Store, found: &Found, left: Left, out: Output) -> Result<(), Failure> {
    if matches!(left, Left::FileSystem | Left::Untouched) {
        let verb = if found.mark.kind == Kind::Decryption { "decrypt" } else { "encrypt" };
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "{}: the {} was interrupted before it had begun; nothing was changed",
                path.display(),
                found.mark.kind.name()
            ),
            format!("begin again with `keyway {verb}`"),
        )
        .kind("not-begun"));
    }
    let document =
        json!({"volume": path, "format": "bitlocker", "conversion": found.mark.kind, "state": "done"});
    if left == Left::Decrypted {
        give_back(store, found.mark.clone(), out);
        let words = || format!("{} is decrypted: it is a plain file system again.", path.display());
        return out.result(&document, words);
    }
    out.result(&document, || format!("{}: the conversion had come to its end.", path.display()))
}

/// The clusters that were the metadata's. What can't be given back is lost to the file system, and nothing
/// else is.
pub(crate) fn give_back(store: &dyn Store, mark: convert::Mark, out: Output) {
    if let Err(e) = convert::release(store, &mark) {
        out.warn(&format!("some 300 KiB stay marked as bad clusters in the file system: {e}"));
    }
}

/// Removes a journal that the medium says is not needed any more. Where its drive is not mounted it stays on that.
pub(crate) fn forget_journal(journal: &JournalPlace, out: Output) {
    if let JournalPlace::File(file) = journal
        && let Err(e) = std::fs::remove_file(file)
    {
        out.warn(&format!(
            "the journal {} is not needed any more, and could not be removed: {e}",
            file.display()
        ));
    }
}

/// Makes the file of a run's journal, or opens it where the run has begun; `None` where it is on the medium.
/// What can't be carried out while the volume is in use is refused before that, where that was wanted.
pub(crate) fn journal(plan: &Plan, how: &HowArgs) -> Result<Option<Box<dyn Store>>, Failure> {
    if how.in_use.online {
        plan.can_be_used()?;
    }
    let mark = plan.mark();
    let JournalPlace::File(file) = &mark.journal else { return Ok(None) };
    let bytes = mark.place.file_bytes();
    if plan.is_begun() {
        return conversion::open_journal(file, bytes, Access::ReadWrite).map(Some);
    }
    Ok(Some(Box::new(conversion::make_journal(file, bytes)?)))
}

/// Carries a run out until it ends or is paused, and tells what came of it.
pub(crate) fn carry_out(
    target: Target<'_>,
    plan: &Plan,
    (store, journal): (&Arc<dyn Store>, Option<Box<dyn Store>>),
    out: Output,
) -> Result<(), Failure> {
    let (path, mark) = (target.path, plan.mark());
    if let Some(way) = target.way {
        return in_use_bitlocker::carry_out((path, target.how.limit), plan, (store, journal), way, out);
    }
    let run = plan.conversion(store, journal.as_deref()).map_err(|e| about(path, e))?;
    let (stopped, time) = watch::watched(path, mark.kind, target.how.limit, |watch| plan.run(&run, watch))?;
    // Where no state of the format can say how far it is.
    let stays = stopped == Stopped::Paused && convert::find(store)?.is_some_and(|found| found.in_front);
    if !stays {
        forget_journal(&mark.journal, out);
    }
    let mut document = json!({
        "volume": path,
        "format": "bitlocker",
        "conversion": mark.kind,
        "state": if stopped == Stopped::Done { "done" } else { "paused" },
        "total_bytes": run.total(),
        "seconds": time.as_secs_f64(),
        "bytes_per_second": watch::speed(run.total(), time),
    });
    if let Some(object) = document.as_object_mut() {
        object.extend(target.more);
    }
    if stays {
        let done = run.done().map_err(|e| about(path, e))?;
        let percent = conversion::percentage(done, run.total());
        if let Some(object) = document.as_object_mut() {
            object.insert("done_bytes".to_owned(), json!(done));
        }
        return Err(Failure::new(
            Exit::Failed,
            format!("{}: paused at {percent:.1} %; it can't be opened like this", path.display()),
            format!("go on with `keyway resume {}`", path.display()),
        )
        .kind("paused")
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
        .kind("paused")
        .with(document));
    }
    if mark.kind == Kind::Decryption {
        give_back(store, mark.clone(), out);
    }
    out.result(&document, || {
        let what = match mark.kind {
            Kind::Decryption => "is decrypted: it is a plain file system again.".to_owned(),
            Kind::Reencryption => "has a new data key; backups of its old metadata are worthless.".to_owned(),
            Kind::Encryption => {
                format!("is a BitLocker volume. Open it with: keyway open {}", path.display())
            }
        };
        let speed = format!("{}/s", bytes(watch::speed(run.total(), time)));
        let mut rows = vec![("  converted", bytes(run.total())), ("  speed", speed)];
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        rows.extend(key_rows(text("recovery_password"), text("recovery_file"), text("startup_key")));
        format!("{} {what}\n{}", path.display(), pairs(&rows))
    })
}

/// What `info` and `status` say of a run whose marker is in front.
pub(crate) fn describe(path: &Path, found: &Found) -> Result<Value, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let mark = &found.mark;
    let file = match &mark.journal {
        JournalPlace::OnMedium => None,
        JournalPlace::File(file) => Some(file),
    };
    let journal = file
        .map(|file| conversion::open_journal(file, mark.place.file_bytes(), Access::ReadOnly))
        .transpose()?;
    let (done, total) = convert::how_far(found, &store, journal.as_deref()).map_err(|e| about(path, e))?;
    let running = watch::running(path)?;
    let word = if mark.kind == Kind::Decryption { "Decryption" } else { "Encryption" };
    let how = match mark.kind {
        _ if running.is_some() => "in Progress",
        // Paused or interrupted: it is the same to it.
        Kind::Reencryption => "Paused",
        Kind::Encryption | Kind::Decryption => "Interrupted",
    };
    let percent = conversion::percentage(done, total);
    let encrypted = match mark.kind {
        Kind::Encryption => percent,
        Kind::Decryption => 100.0 - percent,
        Kind::Reencryption => 100.0,
    };
    let seen = convert::look(&store).ok();
    let info = seen.as_ref().map(|seen| &seen.info);
    Ok(json!({
        "format": "bitlocker",
        "size_bytes": mark.size,
        "conversion": mark.kind,
        "conversion_status": format!("{word} {how}"),
        "percentage_done": percent,
        "percentage_encrypted": encrypted,
        "done_bytes": done,
        "total_bytes": total,
        "bytes_per_second": running.as_ref().map(|r| r.bytes_per_second),
        "seconds_left": running.as_ref().map(|r| r.seconds_left),
        "pid": running.as_ref().map(|r| r.pid),
        "journal_file": file,
        "encryption_method": info.map(|info| info.cipher.windows_name()),
        "free_space": Some(mark.free).filter(|free| *free != FreeSpace::Leave),
        "new_encryption_method": mark.new_key.as_ref().map(|key| key.method().windows_name()),
        "protection_status": "Unknown",
        "lock_status": "Locked",
        "key_protectors": info.map(|info| &info.key_protectors),
        "resume_with": format!("keyway resume {}", path.display()),
    }))
}

/// What `pause` says of a volume that it has left whole; `None` where it is no such volume.
pub(crate) fn paused(path: &Path) -> Result<Option<Value>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    if !bitlocker::is_volume(&store)? || !half(&store)? {
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
        path.display(),
        path.display()
    )
}
