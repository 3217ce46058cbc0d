//! What `encrypt`, `decrypt`, `resume`, `pause` and `status` have in common: finding a conversion,
//! carrying it out, telling of it.

use crate::conversion_between;
use crate::conversion_bitlocker;
use crate::failure::{Exit, Failure};
use crate::in_use::{self, InUseArgs, Way};
use crate::output::{Output, bytes, pairs};
use crate::size;
use crate::volume::{self, about};
use crate::watch::{running, speed, watched};
use keyway_convert::veracrypt::{self, FreeSpace, Plan};
use keyway_convert::{ConvertError, Found, JournalPlace, Kind, Stopped};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore, OpenMode, Store};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
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

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            ConvertError::Store(e) => e.into(),
            ConvertError::Volume(e) => e.into(),
            ConvertError::NoRoom { missing } => {
                told.kind("no-room").with(json!({ "missing_bytes": missing }))
            }
            ConvertError::Unsupported(_) => told.kind("unsupported"),
            ConvertError::NoJournal => told.kind("no-journal"),
            ConvertError::ImpossibleRecord
            | ConvertError::Torn { .. }
            | ConvertError::Overwritten
            | ConvertError::Size { .. } => told.kind("damaged"),
            ConvertError::BitLocker(e) => e.into(),
            ConvertError::Metadata(e) => e.into(),
            ConvertError::Resize(e) => e.into(),
            ConvertError::NotConvertible(_) => told.kind("unsupported"),
            ConvertError::Allocation(_) => told.kind("filesystem"),
            ConvertError::TooLong(_) | ConvertError::Device(_) | ConvertError::Layout(_) => told,
            ConvertError::Headers(_) | ConvertError::Random(_) => told,
        }
    }
}

impl From<keyway_convert::room::RoomError> for Failure {
    fn from(error: keyway_convert::room::RoomError) -> Self {
        use keyway_convert::room::RoomError as E;
        let exit = if matches!(error, E::Missing { .. }) { 5 } else { 1 };
        let told = Self::told(exit, &error.to_string());
        match error {
            E::Store(e) => e.into(),
            E::Missing { .. } => told.kind("missing-program"),
            E::Damaged { .. } => told.kind("damaged-filesystem"),
            E::Refused { .. } => told.kind("no-room"),
            E::Run { .. } => told,
        }
    }
}

/// The conversion that is under way on a file or device.
pub(crate) fn find(path: &Path) -> Result<Option<Found>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    keyway_convert::find(&store).map_err(Failure::from)
}

/// A file or device that is half converted: how far it is, and all that is said of it without a secret.
pub(crate) fn half_converted(path: &Path) -> Result<Option<Value>, Failure> {
    if let Some(found) = find(path)?.filter(|found| found.in_front) {
        return describe(path, &found).map(Some);
    }
    if let Some(found) = conversion_bitlocker::find(path)?.filter(|found| found.in_front) {
        return conversion_bitlocker::describe(path, &found).map(Some);
    }
    match conversion_between::find(path)?.filter(|found| found.in_front) {
        Some(found) => conversion_between::describe(path, &found.mark).map(Some),
        None => Ok(None),
    }
}

/// Nothing but `resume` may touch what is half converted.
pub(crate) fn refuse_if_half(path: &Path) -> Result<(), Failure> {
    let interrupted = find(path)?.filter(|found| found.in_front).map(|found| found.marker.kind);
    let bitlocker = conversion_bitlocker::find(path)?.filter(|found| found.in_front);
    let between = conversion_between::find(path)?.filter(|found| found.in_front);
    let kind = interrupted.or(bitlocker.map(|found| found.mark.kind));
    match kind.or(between.map(|_| Kind::Reencryption)) {
        Some(kind) => Err(Failure::new(
            Exit::Failed,
            format!("{} is half converted: its {} has not come to its end", path.display(), kind.name()),
            format!(
                "where nothing is at work on it, go on with `keyway resume {}`; nothing is lost",
                path.display()
            ),
        )
        .kind("converting")),
        None => Ok(()),
    }
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
                    .kind("no-room")
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

/// It is being converted already.
fn under_way(path: &Path) -> Failure {
    Failure::usage(
        format!("a conversion of {} is under way", path.display()),
        format!("go on with `keyway resume {}`", path.display()),
    )
}

/// A file or device that is to be converted must not be mounted, nor be behind a loop device.
pub(crate) fn refuse_if_used(path: &Path) -> Result<(), Failure> {
    crate::verbs::open::refuse_if_open(path)?;
    let full = path.canonicalize().map_err(|e| Failure::io("find", path, &e))?;
    for entry in std::fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let backing = std::fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        if Path::new(backing.trim_end()) == full {
            let device = PathBuf::from("/dev").join(entry.file_name());
            return Err(Failure::new(
                Exit::Busy,
                format!("{} is in use by {}", path.display(), device.display()),
                format!("unmount it, then `losetup -d {}`", device.display()),
            ));
        }
    }
    // A mounted device can't be claimed.
    volume::store(path, Access::ReadWrite, Caching::Buffered).map(drop)
}

/// Where the journal goes: to the file that was named; for a volume's file beside it, because the
/// little room in a volume makes it slow; for a device onto it.
pub(crate) fn journal_beside(path: &Path, how: &HowArgs) -> Result<Option<PathBuf>, Failure> {
    let file = match &how.journal {
        Some(file) => Some(file.clone()),
        None if path.is_file() => {
            let mut name = OsString::from(path);
            name.push(".keyway-journal");
            Some(name.into())
        }
        None => None,
    };
    file.map(|file| std::path::absolute(&file).map_err(|e| Failure::io("find", &file, &e))).transpose()
}

/// Makes the journal's file, with all of its room.
pub(crate) fn new_journal(plan: &Plan) -> Result<Option<FileStore>, Failure> {
    let JournalPlace::File(path) = &plan.marker.journal else { return Ok(None) };
    make_journal(path, plan.marker.place.file_bytes()).map(Some)
}

/// The same, of so many bytes.
pub(crate) fn make_journal(path: &Path, bytes: u64) -> Result<FileStore, Failure> {
    let failed = |e: std::io::Error| Failure::io("make", path, &e);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| {
        let there = e.kind() == std::io::ErrorKind::AlreadyExists;
        let failure = failed(e);
        let what =
            "no conversion of this volume needs it, perhaps another one's does: remove it, or name another";
        if there { failure.hint(format!("{what} with --journal")) } else { failure }
    })?;
    let sized = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes);
    let made = sized.map_err(std::io::Error::from).and_then(|()| file.sync_all());
    let folder = path.parent().map(File::open).transpose().map_err(failed)?;
    let made = made.and_then(|()| folder.map_or(Ok(()), |folder| folder.sync_all()));
    if let Err(e) = made {
        let _ = std::fs::remove_file(path);
        return Err(failed(e));
    }
    Ok(FileStore::open(path, OpenMode::ReadWrite, Caching::Direct)?)
}

/// Opens the journal's file of a conversion that was found. It is removed by the conversion's last act, when nothing
/// on the medium is left that names it: where it is named it must be there.
pub(crate) fn old_journal(found: &Found, access: Access) -> Result<Option<Box<dyn Store>>, Failure> {
    let JournalPlace::File(path) = &found.marker.journal else { return Ok(None) };
    open_journal(path, found.marker.place.file_bytes(), access).map(Some)
}

/// A journal in a file that is out of reach tells nothing: neither that its conversion is through, nor that it had not
/// begun.
pub(crate) fn journal_must_be_there(journal: &JournalPlace) -> Result<(), Failure> {
    let JournalPlace::File(path) = journal else { return Ok(()) };
    // Whatever else is wrong with it, opening it says.
    if !matches!(path.try_exists(), Ok(false)) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Failed,
        format!("the journal {} isn't there", path.display()),
        "mount the drive it is on, or bring it back to that place, and try again; nothing was changed",
    )
    .kind("no-journal"))
}

/// Opens a journal's file that must be there.
pub(crate) fn open_journal(path: &Path, bytes: u64, access: Access) -> Result<Box<dyn Store>, Failure> {
    journal_must_be_there(&JournalPlace::File(path.to_owned()))?;
    let store = volume::store(path, access, Caching::Direct)?;
    if store.size() < bytes {
        return Err(ConvertError::NoJournal.into());
    }
    Ok(Box::new(store))
}

/// Carries a conversion out until it ends or is paused, and tells what came of it; with a `way` while its
/// volume is in use, until that is closed.
pub(crate) fn carry_out(
    path: &Path,
    plan: &Plan,
    stores: (FileStore, Option<Box<dyn Store>>),
    begun: Option<bool>,
    (limit, way): (Option<u64>, Option<Way>),
    out: Output,
) -> Result<(), Failure> {
    if let Some(way) = way {
        return in_use::carry_out(path, plan, stores, begun, limit, way, out);
    }
    let (store, journal) = stores;
    let conversion = plan.conversion(&store, journal.as_deref()).map_err(|e| about(path, e))?;
    let kind = plan.marker.kind;
    let (stopped, time) = watched(path, kind, limit, |watch| {
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
            .kind("paused")
            .with(json!({"volume": path, "conversion": kind, "state": "paused", "done_bytes": done, "total_bytes": total})));
    }
    remove_journal(plan, out);
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
            Kind::Encryption => format!("is encrypted. Open it with: keyway open {}", path.display()),
            Kind::Decryption => "is decrypted: it is a plain file system again.".to_owned(),
            Kind::Reencryption => "has new keys; backups of its old headers are worthless.".to_owned(),
        };
        let mut rows = vec![("  converted", bytes(total)), ("  speed", format!("{}/s", bytes(rate)))];
        rows.extend(plan.marker.used.map(|free| ("  free space", free_in_words(free).to_owned())));
        format!("{} {what}\n{}", path.display(), pairs(&rows))
    })
}

/// A journal in a file is not needed any more when its conversion is through.
pub(crate) fn remove_journal(plan: &Plan, out: Output) {
    conversion_bitlocker::forget_journal(&plan.marker.journal, out);
}

/// Of what is to be done.
pub(crate) fn percentage(done: u64, total: u64) -> f64 {
    if total == 0 { 100.0 } else { (done as f64 * 1000.0 / total as f64).floor() / 10.0 }
}

/// What `info` and `status` say of a conversion: percentage of the work, and of the volume that is
/// encrypted where that can be told.
fn describe(path: &Path, found: &Found) -> Result<Value, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let journal = old_journal(found, Access::ReadOnly)?;
    let mut tries = 0;
    let (done, total) = loop {
        match veracrypt::how_far(found, &store, journal.as_deref()) {
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
    let word = if what == Kind::Decryption { "Decryption" } else { "Encryption" };
    let how = if running.is_some() { "in Progress" } else { "Paused" };
    let encrypted = match what {
        Kind::Encryption => percent,
        Kind::Decryption => 100.0 - percent,
        Kind::Reencryption => 100.0,
    };
    let journal = match &found.marker.journal {
        JournalPlace::OnMedium => None,
        JournalPlace::File(path) => Some(path),
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
        "journal_file": journal,
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
    format!("{}\n{}", path.display(), pairs(&rows))
}

/// A line of progress for people who read logs: said before long work begins.
pub(crate) fn announce(out: Output, words: &str) {
    if !out.json {
        let _ = writeln!(std::io::stderr().lock(), "keyway: {words}");
    }
}
