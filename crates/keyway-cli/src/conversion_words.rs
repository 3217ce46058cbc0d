//! Conversions in words: what is asked before one, what goes on, what came of it.

use crate::failure::{Exit, Failure};
use crate::output::{Output, bytes, pairs};
use crate::progress::{Progress, SearchBar, StandardError};
use crate::session_words;
use crate::words::said;
use keyway::conversion::{
    ConversionOutcome, ConversionPlan, ConversionRequest, ConversionState, FreeSpace, percentage,
};
use keyway::shown::{for_shell, shown};
use keyway::told::facts;
use keyway::{KeySearch, Note, Stage};
use keyway_attach::path_text::value as in_json;
use keyway_error::Kind;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::OnceLock;

/// What is to be asked before a conversion begins; nothing where it goes on.
pub(crate) fn question(plan: &ConversionPlan) -> Option<String> {
    let facts = plan.asked()?;
    Some(["what", "keys", "room", "backup"].map(|part| said(&format!("conversion {part}"), &facts)).concat())
}

/// Tells what goes on in a conversion.
pub(crate) struct Told<'a> {
    of: &'a ConversionRequest,
    out: Output,
    bar: OnceLock<Progress>,
    search: SearchBar,
}

impl<'a> Told<'a> {
    pub(crate) fn new(of: &'a ConversionRequest, out: Output) -> Self {
        Self { of, out, bar: OnceLock::new(), search: SearchBar::new(StandardError) }
    }
}

impl keyway::Progress for Told<'_> {
    fn stage(&self, stage: Stage) {
        match stage {
            Stage::Shrinking(kind) => {
                self.out.announce(&said("tool works", &json!({"kind": kind.name(), "how": "smaller"})));
            }
            Stage::Converting(kind) => match Progress::interruptible(kind.name()) {
                Ok(bar) => drop(self.bar.set(bar)),
                Err(failure) => self.out.warn(&failure.message),
            },
            _ => {}
        }
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.get().map_or(ControlFlow::Continue(()), |bar| bar.at(done, total))
    }

    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        self.search.searching(reached, size)
    }

    fn trying(&self, search: &KeySearch) {
        self.search.trying(search);
    }

    fn note(&self, note: &Note<'_>) {
        self.bar.get().filter(|_| !matches!(note, Note::NewKeys(_))).into_iter().for_each(Progress::done);
        let names = json!({"path": shown(&self.of.path), "resume": self.of.resume_with(false)});
        let words = |what: &str, more: Value| said(&format!("conversion {what}"), &facts(&names, more));
        let warn = |what: &str, more: Value| self.out.warn(&words(what, more));
        match note {
            Note::Attached(state) => {
                if let Err(failure) = session_words::tell(state, "", &[], true, self.out) {
                    self.out.warn(&failure.message);
                }
            }
            Note::NewKeys(made) => drop(self.out.say(&words("keys told", json!(made)))),
            Note::Converted => self.out.announce(&words("converted", Value::Null)),
            Note::Failed(e) => warn("failed", json!({"why": e.to_string()})),
            Note::Closed { percent, opens } => warn("closed", json!({"percent": percent, "opens": opens})),
            Note::Decrypted => self.out.announce(&words("decrypted", Value::Null)),
            Note::JournalNotRemoved(journal, e) => {
                warn("journal not removed", json!({"journal": in_json(journal), "why": e.reason()}));
            }
            Note::JournalUnproven(journal) => warn("journal unproven", json!({"journal": in_json(journal)})),
            Note::JournalNotFound(e) => warn("journal not found", json!({"why": e.to_string()})),
            Note::Lost { bytes, list } => warn("lost", json!({"bytes": bytes, "list": in_json(list)})),
            Note::BadClusters(e) => warn("bad clusters", json!({"why": e.to_string()})),
            other => self.search.note(other),
        }
    }
}

/// Tells what came of it.
pub(crate) fn tell(outcome: &ConversionOutcome, of: &ConversionRequest, out: Output) -> Result<(), Failure> {
    if outcome.was_in_use {
        // How far it is was told when it was closed, and the document when it was attached.
        let unfinished = || Failure::new(Exit::Failed, "", "").kind(Kind::Paused);
        return if outcome.state == ConversionState::Done { Ok(()) } else { Err(unfinished()) };
    }
    if outcome.state == ConversionState::Paused {
        let done = outcome.work.as_ref().and_then(|work| Some((work.done_bytes?, work.total_bytes)));
        let percent = done.map(|(done, total)| percentage(done, total)).unwrap_or_default();
        let state = json!({"path": in_json(&outcome.volume), "percent": percent,
            "opens": outcome.percentage_encrypted, "resume": outcome.resume_with(of)});
        let facts = facts(&outcome.made, state);
        let [what, next] = ["paused", "paused next"].map(|word| said(&format!("conversion {word}"), &facts));
        let failure = Failure::new(Exit::Failed, what, next).kind(Kind::Paused);
        let path = Some(outcome.volume.as_path().into());
        return Err(Failure { path, ..failure.with(serde_json::json!(outcome)) });
    }
    let told = outcome.made.keys.as_ref().and_then(|keys| keys.recovery_password.as_ref());
    let left = told.map(|_| || said("untold later", &json!({"volume": in_json(&outcome.volume)})));
    out.told(outcome, || words(outcome, of), left)
}

fn words(outcome: &ConversionOutcome, of: &ConversionRequest) -> String {
    let (path, next) = (shown(&outcome.volume), for_shell(&outcome.volume));
    let Some(work) = &outcome.work else {
        return said("conversion ended", &facts(&outcome.made, json!({"path": path})));
    };
    let facts = json!({"kind": outcome.conversion, "next": next, "needs": outcome.needs(of),
        "format": outcome.format, "new": outcome.new_format});
    let what = said("conversion done", &facts);
    let speed = format!("{}/s", bytes(work.bytes_per_second));
    let mut rows = vec![("  converted", work.converted()), ("  speed", speed)];
    let free = outcome.made.space.and_then(|space| space.free_space);
    rows.extend(free.map(|free| ("  free space", free_in_words(free))));
    rows.extend(outcome.made.rows());
    format!("{path} {what}\n{}", pairs(&rows))
}

/// What became, or becomes, of the space that the file system does not use.
pub(crate) fn free_in_words(free: FreeSpace) -> String {
    said("conversion free", &json!({ "how": free }))
}
