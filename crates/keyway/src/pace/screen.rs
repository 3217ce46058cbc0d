//! Work that is told on a screen: a terminal's line, a log, a window. A front says how; when, and what, is said here.

use super::{Pace, PaceStyle, long_search, spelling};
use crate::progress::{KeySearch, Note, Progress};
use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Where work is told.
pub trait Screen: Send + Sync {
    /// How it is told there.
    fn style(&self) -> PaceStyle;

    /// How wide it is, in columns; 0 where that is nobody's business.
    fn columns(&self) -> usize;

    /// Tells how far it is, in its style: a bar in the place of the one before.
    fn show(&self, text: &str);

    /// Takes the bar away, where there is one.
    fn clear(&self);

    /// A remark.
    fn note(&self, words: &str);

    /// A warning.
    fn warn(&self, words: &str);

    /// The sentences that it speaks in.
    fn catalogue(&self) -> &str;
}

/// One kind of work, until it is done.
pub struct ShownPace<S: Screen>(S, Mutex<Option<Pace>>);

impl<S: Screen> ShownPace<S> {
    /// Work that has that name.
    pub fn new(screen: S, label: &str) -> Self {
        let pace = Pace::new(screen.style(), label);
        Self::of(screen, pace)
    }

    /// The same as it is told.
    pub const fn of(screen: S, pace: Pace) -> Self {
        Self(screen, Mutex::new(Some(pace)))
    }

    /// What is done now has that name.
    pub fn begin(&self, label: &str) {
        self.1.lock().into_iter().for_each(|mut pace| *pace = Some(Pace::new(self.0.style(), label)));
    }

    /// Tells more, where it is time.
    pub fn tell(&self, more: impl FnOnce(&mut Pace, Instant, usize) -> Option<String>) {
        let Ok(mut pace) = self.1.lock() else { return };
        let told = pace.as_mut().and_then(|pace| more(pace, Instant::now(), self.0.columns()));
        told.iter().for_each(|text| self.0.show(text));
    }

    /// It is done.
    pub fn done(&self) {
        if self.1.lock().is_ok_and(|mut pace| pace.take().is_some()) {
            self.0.clear();
        }
    }
}

impl<S: Screen> Drop for ShownPace<S> {
    fn drop(&mut self) {
        self.done();
    }
}

/// A search that ends sooner is not shown.
const SOON: Duration = Duration::from_secs(1);
/// The right password is found sooner, as a rule: how long all may take is no news before.
const PATIENCE: Duration = Duration::from_secs(3);

/// The search for lost metadata, and that for a key: shown until it is dropped, and where it takes a while.
pub struct SearchPace<S: Screen + Copy> {
    screen: S,
    began: OnceLock<Instant>,
    medium: OnceLock<ShownPace<S>>,
    key: OnceLock<ShownPace<S>>,
    announced: OnceLock<()>,
}

impl<S: Screen + Copy> SearchPace<S> {
    /// Of a search that begins with its first step.
    pub const fn new(screen: S) -> Self {
        Self {
            screen,
            began: OnceLock::new(),
            medium: OnceLock::new(),
            key: OnceLock::new(),
            announced: OnceLock::new(),
        }
    }

    /// Takes it away, where it is shown.
    pub fn done(&self) {
        [&self.medium, &self.key].into_iter().filter_map(OnceLock::get).for_each(ShownPace::done);
    }
}

impl<S: Screen + Copy> Progress for SearchPace<S> {
    fn searching(&self, reached: u64, size: u64) -> ControlFlow<()> {
        if self.began.get_or_init(Instant::now).elapsed() > SOON {
            let shown = self.medium.get_or_init(|| ShownPace::new(self.screen, "looking for the metadata"));
            shown.tell(|pace, now, wide| pace.at(now, reached, size, wide));
        }
        ControlFlow::Continue(())
    }

    fn trying(&self, search: &KeySearch) {
        let shown = self.key.get_or_init(|| ShownPace::new(self.screen, "looking for the key"));
        if search.whole.saturating_sub(search.left) >= PATIENCE {
            self.announced.get_or_init(|| {
                let said = long_search(self.screen.catalogue(), search);
                let for_people = matches!(self.screen.style(), PaceStyle::Bar | PaceStyle::Line);
                said.filter(|_| for_people).iter().for_each(|words| self.screen.note(words));
            });
        }
        shown.tell(|pace, now, wide| pace.searching(now, search, wide));
    }

    fn note(&self, told: &Note<'_>) {
        match told {
            Note::Weak(weakness) => self.screen.warn(&weakness.to_string()),
            told => {
                spelling(self.screen.catalogue(), told).iter().for_each(|words| self.screen.note(words));
            }
        }
    }
}

impl<S: Screen + Copy> Drop for SearchPace<S> {
    fn drop(&mut self) {
        self.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Nowhere;

    impl Screen for Nowhere {
        fn style(&self) -> PaceStyle {
            PaceStyle::Line
        }
        fn columns(&self) -> usize {
            80
        }
        fn show(&self, _: &str) {}
        fn clear(&self) {}
        fn note(&self, _: &str) {}
        fn warn(&self, _: &str) {}
        fn catalogue(&self) -> &str {
            ""
        }
    }

    #[test]
    fn a_long_search_is_shown_and_a_short_one_is_not() {
        let mut shown = SearchPace::new(Nowhere);
        assert!(shown.searching(1, 24 << 20).is_continue());
        assert!(shown.medium.get().is_none());
        // As if it had been at it for long.
        shown.began = Instant::now().checked_sub(SOON * 2).expect("a machine that is up").into();
        assert!(shown.searching(23 << 20, 24 << 20).is_continue());
        assert!(shown.medium.get().is_some());
        shown.trying(&KeySearch::default());
        assert!(shown.key.get().is_some());
        shown.done();
        assert!(shown.medium.get().expect("shown").1.lock().expect("whole").is_none());
    }
}
