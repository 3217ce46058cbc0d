//! Conversions in words: what is asked before one, what goes on, what came of it.

use crate::failure::{Exit, Failure};
use crate::new_volume_args::key_rows;
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::progress::SearchBar;
use crate::session_words;
use keyway::conversion::{
    Contents, ConversionKind, ConversionLoss, ConversionOutcome, ConversionPlan, ConversionState, FreeSpace,
    HeaderSpace, percentage,
};
use keyway::shown::{for_shell, shown};
use keyway::{Error, Note, Stage};
use keyway_error::Kind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// What is to be asked before a conversion begins; nothing where it goes on.
pub(crate) fn question(plan: &ConversionPlan) -> Option<String> {
    let path = plan.volume.display();
    let what = match (plan.conversion, &plan.from, &plan.to) {
        _ if plan.goes_on => return None,
        (ConversionKind::Encryption, ..) => format!("Everything on {path} will be encrypted in place"),
        (ConversionKind::Decryption, ..) => format!("Everything in {path} will lie open on it"),
        (_, Contents::Volume { format: old, .. }, Contents::Volume { format, .. }) if old != format => {
            format!("{path} becomes a {} volume in place", name_of(format.name()))
        }
        _ if plan.lost.contains(&ConversionLoss::HiddenVolume) => format!("{path} gets new keys in place"),
        _ => format!("{path} gets a new data key in place; what opens it stays the same"),
    };
    let room = match plan.space {
        HeaderSpace::SmallerFileSystem { filesystem, smaller_by_bytes, .. } => format!(
            ", and its {filesystem} file system is made {} smaller before that, with its own tools",
            bytes(smaller_by_bytes)
        ),
        HeaderSpace::LargerFile { bytes: to } => format!(", and its file grows to {}", bytes(to)),
        _ => String::new(),
    };
    let hidden = match plan.lost.contains(&ConversionLoss::HiddenVolume) {
        true => " A hidden volume in it will be lost.",
        false => "",
    };
    Some(format!("{what}{room}. Make a backup first.{hidden}"))
}

/// A format as people write it.
fn name_of(format: &str) -> &'static str {
    if format == "bitlocker" { "BitLocker" } else { "VeraCrypt" }
}

/// Tells what goes on in a conversion.
pub(crate) struct Told<'a> {
    path: &'a Path,
    out: Output,
    bar: OnceLock<Progress>,
    search: SearchBar,
}

impl<'a> Told<'a> {
    pub(crate) fn new(path: &'a Path, out: Output) -> Self {
        Self { path, out, bar: OnceLock::new(), search: SearchBar::new() }
    }
}

impl keyway::Progress for Told<'_> {
    fn stage(&self, stage: Stage) {
        match stage {
            Stage::Shrinking(kind) => self.out.announce(&format!("making the {kind} file system smaller")),
            Stage::Converting(kind) => match Progress::interruptible(kind.name()) {
                Ok(bar) => drop(self.bar.set(bar)),
                Err(failure) => self.out.warn(&failure.message),
            },
            _ => {}
        }
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.get().map_or(ControlFlow::Continue(()), |bar| bar.reached(done, total))
    }

    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        self.search.searching(reached, size)
    }

    fn note(&self, note: &Note<'_>) {
        self.bar.get().into_iter().for_each(Progress::done);
        let (path, warn) = (self.path.display(), |words: String| self.out.warn(&words));
        match note {
            Note::Attached(state) => {
                if let Err(failure) = session_words::tell(state, &[], true, self.out) {
                    self.out.warn(&failure.message);
                }
            }
            Note::Converted => {
                self.out.announce("everything is converted; the volume stays open until it is closed");
            }
            Note::Failed(e) => {
                warn(format!("the conversion stopped: {e}; the volume stays open until it is closed"));
            }
            Note::Closed { percentage_done, opens } => {
                let how = if *opens { "it can be opened like this" } else { "it can't be opened like this" };
                warn(format!(
                    "{path} is closed, and {percentage_done:.1} % converted; {how}: go on with `keyway resume {path}`"
                ));
            }
            Note::Decrypted => self.out.announce("it is a plain file system again"),
            Note::JournalNotRemoved(journal, e) => {
                let why = match e {
                    Error::System { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                let journal = journal.display();
                warn(format!(
                    "the journal {journal} is not needed any more, and could not be removed: {why}"
                ));
            }
            Note::JournalUnproven(journal) => warn(format!(
                "the journal {} is not needed any more; it was left where it is, because there is nothing that a secret \
                 could prove: remove it",
                journal.display()
            )),
            Note::JournalNotFound(e) => warn(format!("the journal is not needed any more, and stays: {e}")),
            Note::Lost { bytes, list } => warn(format!(
                "{bytes} bytes could not be read and are zeros now; {} lists where",
                list.display()
            )),
            Note::BadClusters(e) => {
                warn(format!("some 300 KiB stay marked as bad clusters in the file system: {e}"));
            }
            _ => {}
        }
    }
}

/// Tells what came of it.
pub(crate) fn tell(outcome: &ConversionOutcome, out: Output) -> Result<(), Failure> {
    if outcome.was_in_use {
        return Ok(());
    }
    if outcome.state == ConversionState::Paused {
        let path = outcome.volume.display();
        let how = match (outcome.percentage_encrypted, &outcome.work) {
            (Some(percent), _) => {
                format!("paused with {percent:.1} % encrypted; it can be opened and used like this")
            }
            (None, work) => {
                let done =
                    work.and_then(|work| Some((work.done_bytes?, work.total_bytes))).unwrap_or_default();
                format!("paused at {:.1} %; it can't be opened like this", percentage(done.0, done.1))
            }
        };
        let resume = format!("go on with `keyway resume {}`", for_shell(&outcome.volume));
        let failure = Failure::new(Exit::Failed, format!("{path}: {how}"), resume).kind(Kind::Paused);
        return Err(failure.with(serde_json::json!(outcome)));
    }
    out.result(outcome, || words(outcome))
}

fn words(outcome: &ConversionOutcome) -> String {
    let (path, next) = (shown(&outcome.volume), for_shell(&outcome.volume));
    let what = match (outcome.conversion, outcome.format) {
        (Some(ConversionKind::Decryption), _) => "is decrypted: it is a plain file system again.".to_owned(),
        _ if outcome.work.is_none() => return format!("{path}: the conversion had come to its end."),
        (Some(ConversionKind::Encryption), "veracrypt") => {
            format!("is encrypted. Open it with: keyway open {next}")
        }
        (Some(ConversionKind::Encryption), format) => {
            format!("is a {} volume. Open it with: keyway open {next}", name_of(format))
        }
        (_, format) if outcome.new_format.is_some() => {
            format!("is a {} volume now. Open it with: keyway open {next}", name_of(format))
        }
        (_, "veracrypt") => "has new keys; backups of its old headers are worthless.".to_owned(),
        _ => "has a new data key; backups of its old metadata are worthless.".to_owned(),
    };
    let mut rows = Vec::new();
    if let Some(work) = &outcome.work {
        let speed = format!("{}/s", bytes(work.bytes_per_second));
        rows.extend([("  converted", bytes(work.total_bytes)), ("  speed", speed)]);
    }
    let free = outcome.made.space.and_then(|space| space.free_space);
    rows.extend(free.map(|free| ("  free space", free_in_words(free).to_owned())));
    if let Some(keys) = &outcome.made.keys {
        let text = keys.recovery_text();
        rows.extend(key_rows(text.as_deref(), keys.recovery_file.as_deref(), keys.startup_key.as_deref()));
    }
    format!("{path} {what}\n{}", pairs(&rows))
}

/// What became, or becomes, of the space that the file system does not use.
pub(crate) fn free_in_words(free: FreeSpace) -> &'static str {
    match free {
        FreeSpace::Leave => "left as it was: what was deleted stays readable on the medium",
        FreeSpace::Fill => "filled with noise",
        FreeSpace::Trim => "trimmed: given back to the drive, as far as that does so",
    }
}
