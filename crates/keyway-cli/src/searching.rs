//! A bar on a terminal while a volume's lost metadata is looked for in all of a large drive.

use crate::progress;
use indicatif::ProgressBar;
use keyway::searching::SearchProgress;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A search that ends sooner is not shown.
const SOON: Duration = Duration::from_secs(1);

/// Shown until it is dropped, and where the search takes a while.
pub(crate) struct SearchBar {
    began: Instant,
    bar: OnceLock<ProgressBar>,
}

impl SearchBar {
    /// Of a search that begins now.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), bar: OnceLock::new() }
    }
}

impl SearchProgress for SearchBar {
    fn at(&self, reached: u64, size: u64) -> ControlFlow<()> {
        if self.began.elapsed() > SOON {
            let bar = self.bar.get_or_init(|| progress::bar("looking for the metadata"));
            bar.set_length(size);
            bar.set_position(reached);
        }
        ControlFlow::Continue(())
    }
}

impl Drop for SearchBar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
#[path = "../tests/inner/searching.rs"]
mod tests;
