//! What `encrypt`, `decrypt`, `resume`, `pause` and `status` have in common: finding a conversion,
//! carrying it out, telling of it.

use crate::conversion_between;
use crate::conversion_bitlocker;
use crate::failure::{Exit, Failure};
use crate::in_use::{self, InUseArgs, Way};
use crate::journal_file::{self, JournalFile};
use crate::output::{Output, bytes, pairs};
use crate::shown::shown;
use crate::size;
use crate::volume::{self, about};
use crate::watch::{self, running, speed, watched};
use crate::words;
use keyway_convert::FreeSpace;
use keyway_convert::veracrypt::{self, Plan};
use keyway_convert::{ConversionKind, ConvertError, Found, JournalLocation, Stopped};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore, InUse};
use keyway_sys::Use;
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a conversion is carried out.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Conversion")]
pub(crate) struct HowArgs {
    /// Keep the journal in this new file instead of on the volume; on another drive it makes the conversion faster
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Write everything to the journal before it is written to its place, for a drive that may damage more than 64 KiB in a
    /// row when its power fails; slower by a third. A conversion goes on as it was begun
    #[arg(long)]
    pub(crate) full_journal: bool,
    /// Convert so many megabytes a second at most, or so many KiB, MiB or GiB: 20, 512K, 20M, 1G
    #[arg(long, value_name = "MB/S", value_parser = size::rate)]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) in_use: InUseArgs,
}

/// The conversion that is under way on a file or device.
pub(crate) fn find(path: &Path) -> Result<Option<Found>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    keyway_convert::find(&store).map_err(Failure::from)
}

/// A file or device that is half converted: how far it is, and all that is said of it without a secret. Its journal is
/// where `named` says; else where the process that converts it says; else beside it.
pub(crate) fn half_converted(path: &Path, named: Option<&Path>) -> Result<Option<Value>, Failure> {
    watch::clean_stale();
    let told = running(path)?.and_then(|telling| telling.journal);
    let named = named.or(told.as_deref());
    if let Some(found) = find(path)?.filter(|found| found.in_front) {
        return describe(path, &found, named).map(Some);
    }
    if let Some(found) = conversion_bitlocker::find(path)?.filter(|found| found.in_front) {
        return conversion_bitlocker::describe(path, &found, named).map(Some);
    }
    match conversion_between::find(path)?.filter(|found| found.in_front) {
        Some(found) => conversion_between::describe(path, &found.mark, named).map(Some),
        None => Ok(None),
    }
}

/// Whether there is something that could go on.
pub(crate) fn is_under_way(path: &Path) -> Result<bool, Failure> {
    let of_its_format = find(path)?.is_some() || conversion_bitlocker::is_under_way(path)?;
    Ok(of_its_format || conversion_between::find(path)?.is_some())
}

/// No conversion of it is under way, of either format or from one to the other.
pub(crate) fn refuse_if_begun(path: &Path) -> Result<(), Failure> {
    let of_its_format = find(path)?.is_some() || conversion_bitlocker::find(path)?.is_some();
    if !of_its_format && conversion_between::find(path)?.is_none() {
        return Ok(());
    }
    Err(under_way(path))
}

/// Claims what is to be converted. Nobody else can begin a conversion of it from now on, and nobody has
/// begun one since it was looked at.
pub(crate) fn claim(path: &Path) -> Result<FileStore, Failure> {
    let store = volume::store(path, Access::ReadWrite, Caching::Direct)?;
    refuse_if_begun(path)?;
    Ok(store)
}

/// Claims what was half converted when it was looked at: from now on nobody else goes on with it.
pub(crate) fn claim_to_resume(path: &Path) -> Result<FileStore, Failure> {
    refuse_if_used(path)?;
    volume::store(path, Access::ReadWrite, Caching::Direct).map_err(|e| by_whom(path, e))
}

/// Gives a file all the room that it will need: converted it has no holes any more, and a file system that is
/// full in the middle would be found out too late.
pub(crate) fn allocate(path: &Path) -> Result<(), Failure> {
    if !path.is_file() {
        return Ok(());
    }
    let bytes = path.metadata().map_err(|e| Failure::io("look at", path, &e))?.len();
    allocate_ranges(path, std::slice::from_ref(&(0..bytes)))
}

/// The same where it will be written.
pub(crate) fn allocate_ranges(path: &Path, ranges: &[Range<u64>]) -> Result<(), Failure> {
    use rustix::fs::{FallocateFlags, fallocate};
    if !path.is_file() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path).map_err(|e| Failure::io("open", path, &e))?;
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        match fallocate(&file, FallocateFlags::empty(), range.start, range.end - range.start) {
            // Where there is no such call the file system has no holes either.
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(e @ (Errno::NOSPC | Errno::DQUOT)) => {
                let failure = Failure::io("take room for", path, &e.into());
                return Err(failure
                    .kind(keyway_error::Kind::NoRoom)
                    .hint("it has holes, and converted it will have fewer or none: free some space"));
            }
            Err(e) => return Err(Failure::io("take room for", path, &e.into())),
        }
    }
    Ok(())
}

/// Gives a file that size.
pub(crate) fn set_len(path: &Path, to: u64) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).open(path);
    let sized = file.and_then(|file| file.set_len(to).and_then(|()| file.sync_all()));
    sized.map_err(|e| Failure::io("change the size of", path, &e))
}

/// A failure in the middle of a conversion, with what to do after it.
pub(crate) fn stopped(path: &Path, error: ConvertError) -> Failure {
    let failure = about(path, error);
    let resume = format!("go on with `keyway resume {}`", path.display());
    match &*failure.hint {
        "" => failure.hint(resume),
        // Nothing has a size that could be chosen any more.
        _ if failure.kind == keyway_error::Kind::NoSpace => {
            failure.hint(format!("free some space there; then {resume}"))
        }
        hint => {
            let hint = format!("{hint}; then {resume}");
            failure.hint(hint)
        }
    }
}

/// There is nothing to go on with.
pub(crate) fn nothing_under_way(path: &Path) -> Failure {
    Failure::usage(
        format!("no conversion of {} is under way", path.display()),
        "begin one with `keyway encrypt` or `keyway decrypt`",
    )
}

/// Who has what could not be claimed, where that is a process that converts it.
fn by_whom(path: &Path, failure: Failure) -> Failure {
    let running = if failure.exit == Exit::Busy { running(path).ok().flatten() } else { None };
    let Some(running) = running else { return failure };
    Failure::new(
        Exit::Busy,
        format!("{} is being converted by process {}", path.display(), running.pid),
        format!("`keyway status {0}` tells how far it is, `keyway pause {0}` stops it", path.display()),
    )
}

/// It is being converted already.
fn under_way(path: &Path) -> Failure {
    Failure::usage(
        format!("a conversion of {} is under way", path.display()),
        format!("go on with `keyway resume {}`", path.display()),
    )
}

/// A file or device that is to be converted must not be mounted, nor be behind a loop device.
pub(crate) fn refuse_if_used(path: &Path) -> Result<(), Failure> {
    watch::clean_stale();
    crate::verbs::open::refuse_if_open(path, false)
        .map_err(|e| if e.kind == keyway_error::Kind::Busy { by_whom(path, e) } else { e })?;
    let uses = keyway_sys::uses(path).map_err(|e| Failure::io("look at", path, &e))?;
    match uses.iter().find(|one| matches!(one, Use::Loop(_))) {
        None => Ok(()),
        // Idle as it is, it would be in the way of the file system's own tools, and show what is half converted.
        Some(one) => Err(Failure::new(
            Exit::Busy,
            format!("{} is in use: {one}", path.display()),
            words::sentence(&InUse::by(path, one.clone()).advice()),
        )
        .kind(keyway_error::Kind::Busy)),
    }
}

/// Where the journal goes: to the file that was named; for a volume's file beside it, because the
/// little room in a volume makes it slow; for a device onto it.
pub(crate) fn journal_beside(path: &Path, how: &HowArgs) -> Result<Option<PathBuf>, Failure> {
    let file = match &how.journal {
        Some(file) => Some(file.clone()),
        None if path.is_file() => Some(journal_file::beside(path)),
        None => None,
    };
    file.map(|file| journal_file::absolute(&file)).transpose()
}

/// Makes the journal's file, where it is to have one.
pub(crate) fn new_journal(plan: &Plan) -> Result<Option<JournalFile>, Failure> {
    let JournalLocation::File(path) = &plan.marker.journal else { return Ok(None) };
    JournalFile::make(path, plan.marker.place.file_bytes()).map(Some)
}

/// Finds the journal's file of a conversion that was found, where it has one. It is removed by the conversion's last act,
/// when nothing on the medium is left that tells of it: where it is told of it must be there.
pub(crate) fn old_journal(
    path: &Path,
    found: &Found,
    named: Option<&Path>,
) -> Result<Option<JournalFile>, Failure> {
    let marker = &found.marker;
    let JournalLocation::File(made_as) = &marker.journal else { return Ok(None) };
    JournalFile::find(path, named, made_as, (&marker.place, &marker.id)).map(Some)
}

/// Carries a conversion out until it ends or is paused, and tells what came of it; with a `way` while its
/// volume is in use, until that is closed.
pub(crate) fn carry_out(
    path: &Path,
    plan: &Plan,
    stores: (FileStore, Option<JournalFile>),
    begun: Option<bool>,
    (limit, way): (Option<u64>, Option<Way>),
    out: Output,
) -> Result<(), Failure> {
    if let Some(way) = way {
        return in_use::carry_out(path, plan, stores, begun, limit, way, out);
    }
    let (store, journal) = stores;
    let file = journal.as_ref();
    let conversion = plan.conversion(&store, file.map(JournalFile::store)).map_err(|e| about(path, e))?;
    let kind = plan.marker.kind;
    let (stopped, time) = watched((path, file.map(JournalFile::path)), kind, limit, |watch| {
        let marked = match begun {
            Some(marked) => marked,
            None => {
                plan.begin(&conversion)?;
                false
            }
        };
        conversion.run(marked, watch)
    })?;
    let resume = format!("go on with `keyway resume {}`", path.display());
    let total = conversion.total();
    if stopped == Stopped::Paused {
        let done = conversion.done().map_err(|e| about(path, e))?;
        let percent = percentage(done, total);
        return Err(Failure::new(Exit::Failed, format!("{}: paused at {percent:.1} %", path.display()), resume)
            .kind(keyway_error::Kind::Paused)
            .with(json!({"volume": path, "conversion": kind, "state": "paused", "done_bytes": done, "total_bytes": total})));
    }
    if let Some(journal) = journal {
        journal.remove(out);
    }
    let rate = speed(total, time);
    let document = json!({
        "volume": path,
        "conversion": kind,
        "state": "done",
        "total_bytes": total,
        "seconds": time.as_secs_f64(),
        "bytes_per_second": rate,
        "used_space_only": plan.marker.used.is_some(),
        "free_space": plan.marker.used,
    });
    out.result(&document, || {
        let what = match kind {
            ConversionKind::Encryption => format!("is encrypted. Open it with: keyway open {}", shown(path)),
            ConversionKind::Decryption => "is decrypted: it is a plain file system again.".to_owned(),
            ConversionKind::Reencryption => {
                "has new keys; backups of its old headers are worthless.".to_owned()
            }
        };
        let mut rows = vec![("  converted", bytes(total)), ("  speed", format!("{}/s", bytes(rate)))];
        rows.extend(plan.marker.used.map(|free| ("  free space", free_in_words(free).to_owned())));
        format!("{} {what}\n{}", shown(path), pairs(&rows))
    })
}

/// Of what is to be done.
pub(crate) fn percentage(done: u64, total: u64) -> f64 {
    if total == 0 { 100.0 } else { (done as f64 * 1000.0 / total as f64).floor() / 10.0 }
}

/// What `info` and `status` say of a conversion: percentage of the work, and of the volume that is
/// encrypted where that can be told.
fn describe(path: &Path, found: &Found, named: Option<&Path>) -> Result<Value, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let journal = old_journal(path, found, named)?;
    let journal = journal.as_ref();
    let mut tries = 0;
    let (done, total) = loop {
        match veracrypt::how_far(found, &store, journal.map(JournalFile::store)) {
            // It is being written just now.
            Err(ConvertError::NoJournal) if tries < 20 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            read => break read.map_err(|e| about(path, e))?,
        }
    };
    let running = running(path)?;
    let (what, percent) = (found.marker.kind, percentage(done, total));
    let word = if what == ConversionKind::Decryption { "Decryption" } else { "Encryption" };
    let how = if running.is_some() { "in Progress" } else { "Paused" };
    let encrypted = match what {
        ConversionKind::Encryption => percent,
        ConversionKind::Decryption => 100.0 - percent,
        ConversionKind::Reencryption => 100.0,
    };
    Ok(json!({
        "format": "veracrypt",
        "size_bytes": found.marker.size,
        "conversion": what,
        "conversion_status": format!("{word} {how}"),
        "percentage_done": percent,
        "percentage_encrypted": encrypted,
        "done_bytes": done,
        "total_bytes": total,
        "bytes_per_second": running.as_ref().map(|r| r.bytes_per_second),
        "seconds_left": running.as_ref().map(|r| r.seconds_left),
        "pid": running.as_ref().map(|r| r.pid),
        "journal_file": journal.map(JournalFile::path),
        "used_space_only": found.marker.used.is_some(),
        "free_space": found.marker.used,
        "resume_with": format!("keyway resume {}", path.display()),
    }))
}

/// What became, or becomes, of the space that the file system does not use.
fn free_in_words(free: FreeSpace) -> &'static str {
    match free {
        FreeSpace::Leave => "left as it was: what was deleted stays readable on the medium",
        FreeSpace::Fill => "filled with noise",
        FreeSpace::Trim => "trimmed: given back to the drive, as far as that does so",
    }
}

/// The same for people.
pub(crate) fn describe_in_words(path: &Path, document: &Value) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| document.get(key).and_then(Value::as_f64);
    let mut rows = vec![
        ("  Size:", bytes(document.get("size_bytes").and_then(Value::as_u64).unwrap_or_default())),
        ("  Conversion Status:", text("conversion_status")),
        ("  Percentage Encrypted:", format!("{:.1}%", number("percentage_encrypted").unwrap_or_default())),
        (
            "  conversion",
            format!("{}, {:.1} % done", text("conversion"), number("percentage_done").unwrap_or_default()),
        ),
    ];
    let free = document.get("free_space").and_then(|free| FreeSpace::deserialize(free).ok());
    rows.extend(free.map(|free| ("  free space", free_in_words(free).to_owned())));
    if let (Some(speed), Some(left)) = (number("bytes_per_second"), number("seconds_left")) {
        // Nothing is known in the first moment.
        if speed > 0.0 {
            rows.push(("  speed", format!("{}/s, {left} s left", bytes(speed as u64))));
        }
    } else {
        rows.push(("  what to do", format!("{}; nothing is lost", text("resume_with"))));
    }
    format!("{}\n{}", shown(path), pairs(&rows))
}

/// A line of progress for people who read logs: said before long work begins.
pub(crate) fn announce(out: Output, words: &str) {
    if !out.json {
        let _ = writeln!(std::io::stderr().lock(), "keyway: {}", crate::shown::line(words));
    }
}
