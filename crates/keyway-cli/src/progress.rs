//! Progress bars with speed and time left on standard error, drawn on a terminal only.

use crate::failure::{Exit, Failure};
use crate::output::stderr_is_terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keyway::Stage;
use keyway::shown::line;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Work that is counted in bytes.
pub(crate) struct Progress {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    /// Starts drawing, where anybody watches; Ctrl-C stops the work in good order.
    pub(crate) fn interruptible(label: &str) -> Result<Self, Failure> {
        Ok(Self { bar: bar(label), interrupted: stop_on_signals()? })
    }

    /// What is being done now.
    pub(crate) fn label(&self, label: &str) {
        self.bar.set_message(line(label));
        self.bar.reset();
    }

    /// So much is done; whether it is to go on.
    pub(crate) fn reached(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
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

/// A bar for bytes, drawn where anybody watches.
pub(crate) fn bar(label: &str) -> ProgressBar {
    let bar =
        bar_of("{msg} {wide_bar} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta} left");
    bar.set_message(line(label));
    bar
}

/// The same for what is counted otherwise.
pub(crate) fn bar_of(template: &str) -> ProgressBar {
    let target =
        if stderr_is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

impl keyway::Progress for Progress {
    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.reached(done, total)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}

/// A search that ends sooner is not shown.
const SOON: Duration = Duration::from_secs(1);

/// Shown until it is dropped, and where the search takes a while.
pub(crate) struct SearchBar {
    began: OnceLock<Instant>,
    bar: OnceLock<ProgressBar>,
}

/// That of a verb which opens its one volume in this process; taken away when the verb has ended.
pub(crate) static SEARCH: SearchBar = SearchBar::new();

impl SearchBar {
    /// Of a search that begins with its first step.
    pub(crate) const fn new() -> Self {
        Self { began: OnceLock::new(), bar: OnceLock::new() }
    }

    /// Takes it away, where it is shown.
    pub(crate) fn done(&self) {
        self.bar.get().into_iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl keyway::Progress for SearchBar {
    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        if self.began.get_or_init(Instant::now).elapsed() > SOON {
            let shown = self.bar.get_or_init(|| bar("looking for the metadata"));
            shown.set_length(size);
            shown.set_position(reached);
        }
        ControlFlow::Continue(())
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
