//! How far long work is, on standard error: a bar on a terminal, else a line now and then, or JSON for a program.

use crate::failure::{Exit, Failure};
use crate::output::{clear, columns, draw, note, warn_once};
use crate::words::TOLD;
use keyway::pace::{PaceStyle, Screen, SearchPace, ShownPace};
use keyway::{KeySearch, Note, Stage};
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
#[cfg(feature = "lab")]
use std::time::Duration;

/// How it is told.
static STYLE: OnceLock<PaceStyle> = OnceLock::new();

/// Has it told as was asked; else as whoever reads standard error can take it.
pub(crate) fn be_told(asked: Option<PaceStyle>, quiet: bool) {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let _ = STYLE.set(match asked {
        Some(PaceStyle::Json) => PaceStyle::Json,
        _ if quiet => PaceStyle::None,
        Some(asked) => asked,
        None if io::stderr().is_terminal() && !dumb => PaceStyle::Bar,
        None => PaceStyle::Line,
    });
}

/// How it is told.
pub(crate) fn style() -> PaceStyle {
    STYLE.get().copied().unwrap_or(PaceStyle::None)
}

/// This process's standard error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandardError;

impl Screen for StandardError {
    fn style(&self) -> PaceStyle {
        style()
    }

    fn columns(&self) -> usize {
        if style() == PaceStyle::Bar { columns() } else { 0 }
    }

    fn show(&self, text: &str) {
        let _ = match style() {
            PaceStyle::Bar => return draw(text),
            PaceStyle::Json => writeln!(io::stderr().lock(), "{text}"),
            _ => writeln!(io::stderr().lock(), "keyway: {text}"),
        };
    }

    fn clear(&self) {
        clear();
    }

    fn note(&self, words: &str) {
        note(words);
    }

    fn warn(&self, words: &str) {
        warn_once(words);
    }

    fn catalogue(&self) -> &str {
        TOLD
    }
}

/// Work that is counted in bytes.
pub(crate) struct Progress {
    shown: ShownPace<StandardError>,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    /// Starts drawing, where anybody watches; Ctrl-C stops the work in good order.
    pub(crate) fn interruptible(label: &str) -> Result<Self, Failure> {
        Ok(Self { shown: ShownPace::new(StandardError, label), interrupted: stop_on_signals()? })
    }

    /// What is being done now.
    pub(crate) fn label(&self, label: &str) {
        self.shown.begin(label);
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.shown.done();
    }
}

/// Work that begins with its first byte: until then secrets are asked for, and Ctrl-C ends the process at once.
pub(crate) struct Later<F> {
    begun: OnceLock<Option<Progress>>,
    stage: Mutex<Option<Stage>>,
    label: F,
}

impl<F: Fn(Stage) -> String> Later<F> {
    /// Work whose stages have these names.
    pub(crate) fn new(label: F) -> Self {
        Self { begun: OnceLock::new(), stage: Mutex::new(None), label }
    }

    /// Takes the bar away, where there is one.
    pub(crate) fn done(&self) {
        self.begun.get().into_iter().flatten().for_each(Progress::done);
    }
}

impl<F: Fn(Stage) -> String + Sync> keyway::Progress for Later<F> {
    fn stage(&self, stage: Stage) {
        let before = self.stage.lock().ok().and_then(|mut now| now.replace(stage));
        if let Some(Some(progress)) = self.begun.get()
            && before != Some(stage)
        {
            progress.label(&(self.label)(stage));
        }
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        let stage = self.stage.lock().ok().and_then(|now| *now);
        let label = || stage.map(&self.label).unwrap_or_default();
        let begun = self.begun.get_or_init(|| Progress::interruptible(&label()).ok());
        begun.as_ref().map_or(ControlFlow::Continue(()), |progress| progress.at(done, total))
    }

    fn trying(&self, search: &KeySearch) {
        keyway::Progress::trying(&SEARCH, search);
    }

    fn note(&self, told: &Note<'_>) {
        keyway::Progress::note(&SEARCH, told);
    }
}

/// Set once a signal has come, so that the work ends in good order; the second one ends the process at once.
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>, Failure> {
    keyway_attach::stop_on_signals()
        .map_err(|e| Failure::new(Exit::Failed, format!("could not catch Ctrl-C: {e}"), ""))
}

/// Work that is counted in turns, and takes so long where that is planned, shown until it is dropped.
#[cfg(feature = "lab")]
pub(crate) fn turns(label: &str, planned: Option<Duration>) -> keyway::pace::Turns {
    let shown = ShownPace::of(StandardError, keyway::pace::Pace::new(style(), label).planned(planned));
    keyway::pace::Turns::new(label, style(), move |label, done, all| {
        shown.tell(|pace, now, wide| pace.counted(now, label, (done, all), wide));
    })
}

impl keyway::Progress for Progress {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.shown.tell(|pace, now, wide| pace.at(now, done, total, wide));
        let stopped = self.interrupted.load(Ordering::Relaxed);
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The search for lost metadata, and that for a key.
pub(crate) type SearchBar = SearchPace<StandardError>;

/// That of a verb which opens its one volume in this process; taken away when the verb has ended.
pub(crate) static SEARCH: SearchBar = SearchBar::new(StandardError);
