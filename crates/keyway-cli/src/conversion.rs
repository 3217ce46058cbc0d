//! What `encrypt`, `decrypt`, `resume`, `pause` and `status` have in common: finding a conversion,
//! carrying it out, telling of it.

use crate::failure::{Exit, Failure};
use crate::in_use::{self, InUseArgs, Way};
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::shown::shown;
use crate::size;
use crate::volume::about;
use keyway::conversion::{self, Description, Details, JournalFile, Watch, percentage, speed};
use keyway_convert::veracrypt::Plan;
use keyway_convert::{ConversionKind, ConvertError, FreeSpace, JournalLocation, Stopped};
use keyway_store::FileStore;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

/// Where the journal is that is to be read.
#[derive(clap::Args, Debug)]
pub(crate) struct JournalArgs {
    /// The file with the journal of the conversion, where it is not beside the volume (VOLUME.keyway-journal)
    #[arg(long = "journal", value_name = "FILE")]
    journal: Option<PathBuf>,
}

impl JournalArgs {
    pub(crate) fn path(&self) -> Option<&Path> {
        self.journal.as_deref()
    }
}

/// A file or device that is half converted: how far it is, and all that is said of it without a secret.
pub(crate) fn half_converted(path: &Path, named: Option<&Path>) -> Result<Option<Value>, Failure> {
    Ok(conversion::describe(path, named)?.map(|description| document(path, &description)))
}

/// The description as a document, with what the format's own tools call it.
fn document(path: &Path, description: &Description) -> Value {
    let word = match description.conversion {
        ConversionKind::Decryption => "Decryption",
        ConversionKind::Encryption | ConversionKind::Reencryption => "Encryption",
    };
    let how = match (&description.details, description.conversion) {
        _ if description.pid.is_some() => "in Progress",
        // A BitLocker volume that was paused in good order is a whole one.
        (Details::BitLocker { .. }, ConversionKind::Encryption | ConversionKind::Decryption) => "Interrupted",
        _ => "Paused",
    };
    let mut document = json!(description);
    if let Some(object) = document.as_object_mut() {
        object.insert("conversion_status".to_owned(), json!(format!("{word} {how}")));
        object.insert("resume_with".to_owned(), json!(format!("keyway resume {}", path.display())));
        if !matches!(description.details, Details::VeraCrypt { .. }) {
            object.insert("protection_status".to_owned(), json!("Unknown"));
            object.insert("lock_status".to_owned(), json!("Locked"));
        }
    }
    document
}

/// Removes a journal that is not needed any more.
pub(crate) fn remove(journal: JournalFile, out: Output) {
    let path = journal.path().to_owned();
    if let Err(keyway::Error::System { source, .. }) = journal.remove() {
        out.warn(&format!(
            "the journal {} is not needed any more, and could not be removed: {source}",
            path.display()
        ));
    }
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

/// Where the journal goes: to the file that was named; for a volume's file beside it, because the
/// little room in a volume makes it slow; for a device onto it.
pub(crate) fn journal_beside(path: &Path, how: &HowArgs) -> Result<Option<PathBuf>, Failure> {
    let file = match &how.journal {
        Some(file) => Some(file.clone()),
        None if path.is_file() => Some(conversion::beside(path)),
        None => None,
    };
    Ok(file.map(|file| conversion::absolute(&file)).transpose()?)
}

/// Makes the journal's file, where it is to have one.
pub(crate) fn new_journal(plan: &Plan) -> Result<Option<JournalFile>, Failure> {
    let JournalLocation::File(path) = &plan.marker.journal else { return Ok(None) };
    Ok(Some(JournalFile::make(path, plan.marker.place.file_bytes())?))
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
        remove(journal, out);
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

/// Has a conversion run while it is shown, told to whoever asks, and may be stopped; how it ended, and after
/// how long.
pub(crate) fn watched(
    (path, journal): (&Path, Option<&Path>),
    kind: ConversionKind,
    limit: Option<u64>,
    run: impl FnOnce(&dyn keyway_convert::Progress) -> Result<Stopped, ConvertError>,
) -> Result<(Stopped, Duration), Failure> {
    let bar = Progress::interruptible(kind.name())?;
    let watch = Watch::new((path, journal), Some(&bar), limit)?;
    let began = Instant::now();
    let result = run(&watch);
    drop(watch);
    bar.done();
    Ok((result.map_err(|e| stopped(path, e))?, began.elapsed()))
}
