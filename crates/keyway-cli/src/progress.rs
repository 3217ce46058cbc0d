//! How far long work is, on standard error: a bar on a terminal, else a line now and then, or JSON for a program.

use crate::failure::{Exit, Failure};
use crate::output::{clear, columns, draw, note, warn};
use crate::words::TOLD;
use keyway::pace::{Pace, PaceStyle, long_search, spelling};
use keyway::{KeySearch, Note, Stage};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

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

/// One kind of work, until it is done.
struct Shown(Mutex<Option<Pace>>);

impl Shown {
    fn new(label: &str) -> Self {
        Self(Mutex::new(Some(Pace::new(style(), label))))
    }

    fn begin(&self, label: &str) {
        self.0.lock().into_iter().for_each(|mut pace| *pace = Some(Pace::new(style(), label)));
    }

    fn tell(&self, more: impl FnOnce(&mut Pace, Instant, usize) -> Option<String>) {
        let Ok(mut pace) = self.0.lock() else { return };
        let wide = if style() == PaceStyle::Bar { columns() } else { 0 };
        let told = pace.as_mut().and_then(|pace| more(pace, Instant::now(), wide));
        let Some(text) = told else { return };
        let _ = match style() {
            PaceStyle::Bar => return draw(&text),
            PaceStyle::Json => writeln!(io::stderr().lock(), "{text}"),
            _ => writeln!(io::stderr().lock(), "keyway: {text}"),
        };
    }

    fn done(&self) {
        if self.0.lock().is_ok_and(|mut pace| pace.take().is_some()) {
            clear();
        }
    }
}

/// Work that is counted in bytes.
pub(crate) struct Progress {
    shown: Shown,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    /// Starts drawing, where anybody watches; Ctrl-C stops the work in good order.
    pub(crate) fn interruptible(label: &str) -> Result<Self, Failure> {
        Ok(Self { shown: Shown::new(label), interrupted: stop_on_signals()? })
    }

    /// What is being done now.
    pub(crate) fn label(&self, label: &str) {
        self.shown.begin(label);
    }

    /// So much is done; whether it is to go on.
    pub(crate) fn reached(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.shown.tell(|pace, now, wide| pace.at(now, done, total, wide));
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
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
        begun.as_ref().map_or(ControlFlow::Continue(()), |progress| progress.reached(done, total))
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
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::new(Exit::Failed, format!("could not catch Ctrl-C: {e}"), ""))?;
    }
    Ok(stop)
}

/// Work that is counted in turns, and takes so long where that is planned, shown until it is dropped.
#[cfg(feature = "lab")]
pub(crate) fn turns(label: &str, planned: Option<Duration>) -> keyway::pace::Turns {
    let shown = Shown(Mutex::new(Some(Pace::new(style(), label).planned(planned))));
    keyway::pace::Turns::new(label, style(), move |label, done, all| {
        shown.tell(|pace, now, wide| pace.counted(now, label, (done, all), wide));
    })
}

impl keyway::Progress for Progress {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.reached(done, total)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.done();
    }
}

/// A search that ends sooner is not shown.
const SOON: Duration = Duration::from_secs(1);
/// The right password is found sooner, as a rule: how long all may take is no news before.
const PATIENCE: Duration = Duration::from_secs(3);

/// The search for lost metadata, and that for a key: shown until it is dropped, and where it takes a while.
pub(crate) struct SearchBar {
    began: OnceLock<Instant>,
    medium: OnceLock<Shown>,
    key: OnceLock<Shown>,
    announced: OnceLock<()>,
}

/// That of a verb which opens its one volume in this process; taken away when the verb has ended.
pub(crate) static SEARCH: SearchBar = SearchBar::new();

impl SearchBar {
    /// Of a search that begins with its first step.
    pub(crate) const fn new() -> Self {
        Self {
            began: OnceLock::new(),
            medium: OnceLock::new(),
            key: OnceLock::new(),
            announced: OnceLock::new(),
        }
    }

    /// Takes it away, where it is shown.
    pub(crate) fn done(&self) {
        [&self.medium, &self.key].into_iter().filter_map(OnceLock::get).for_each(Shown::done);
    }
}

impl keyway::Progress for SearchBar {
    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        if self.began.get_or_init(Instant::now).elapsed() > SOON {
            let shown = self.medium.get_or_init(|| Shown::new("looking for the metadata"));
            shown.tell(|pace, now, wide| pace.at(now, reached, size, wide));
        }
        ControlFlow::Continue(())
    }

    fn trying(&self, search: &KeySearch) {
        let shown = self.key.get_or_init(|| Shown::new("looking for the key"));
        if search.whole.saturating_sub(search.left) >= PATIENCE {
            self.announced.get_or_init(|| {
                let said = long_search(TOLD, search);
                let said = said.filter(|_| matches!(style(), PaceStyle::Bar | PaceStyle::Line));
                said.iter().for_each(|words| note(words));
            });
        }
        shown.tell(|pace, now, wide| pace.searching(now, search, wide));
    }

    fn note(&self, told: &Note<'_>) {
        match told {
            Note::Weak(weakness) => warn(&weakness.to_string()),
            told => spelling(TOLD, told).iter().for_each(|words| note(words)),
        }
    }
}

impl Drop for SearchBar {
    fn drop(&mut self) {
        self.done();
    }
}

#[cfg(test)]
#[path = "../tests/inner/progress.rs"]
mod tests;
