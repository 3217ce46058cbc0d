//! Waits for a serving process, and tells of it meanwhile.

use super::process::Process;
use super::state::SessionState;
use crate::{AttachError, Silence, SilentProcess};
use std::time::{Duration, Instant};

/// Nobody waits longer than this without a word,
pub(super) const FIRST_WORD: Duration = Duration::from_secs(2);
/// and after it not longer than this without another.
const NEXT_WORD: Duration = Duration::from_secs(30);
/// A process that was stopped is waited for so long: somebody may let it go on.
const STOPPED: Duration = Duration::from_secs(10);
/// A process that is to close is waited for as long as it works; this much without any work is too long. A medium
/// that takes what was cached keeps it at work.
const WITHOUT_WORK: Duration = Duration::from_secs(60);
/// A stopped process is asked in vain; this is for one that goes on at this moment.
const MOMENT: Duration = Duration::from_millis(500);

/// How long one request is worth waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// So long.
    Passed(Duration),
    /// As long as the process works.
    Done,
}

/// A wait for the process of one session.
pub(super) struct Patience<'a> {
    state: &'a SessionState,
    until: Until,
    tell: &'a dyn Fn(&SilentProcess),
    began: Instant,
    next_word: Duration,
    /// What it had worked when it was last seen to have worked, and when that was.
    worked: Option<u64>,
    at: Instant,
}

impl<'a> Patience<'a> {
    pub(super) fn new(state: &'a SessionState, until: Until, tell: &'a dyn Fn(&SilentProcess)) -> Self {
        let now = Instant::now();
        Self { state, until, tell, began: now, next_word: FIRST_WORD, worked: None, at: now }
    }

    /// Whether to wait on. Called a few times a second.
    pub(super) fn goes_on(&mut self) -> bool {
        let (waited, process) = (self.began.elapsed(), Process::look(self.state.pid));
        let stopped = process.is_some_and(|process| process.is_stopped());
        let worked = process.map(|process| process.worked);
        if worked != self.worked || stopped {
            (self.worked, self.at) = (worked, Instant::now());
        }
        let enough = match self.until {
            Until::Passed(_) if stopped => waited >= MOMENT,
            Until::Passed(limit) => waited >= limit,
            Until::Done if stopped => waited >= STOPPED,
            Until::Done => self.at.elapsed() >= WITHOUT_WORK,
        };
        if !enough && waited >= self.next_word {
            self.next_word = waited + NEXT_WORD;
            let why = Silence::of(process.map(|process| process.state));
            let (pid, volume) = (self.state.pid, self.state.volume.clone());
            (self.tell)(&SilentProcess { pid, volume, why });
        }
        !enough
    }

    /// It did not answer in all that time.
    pub(super) fn is_over(&self) -> AttachError {
        AttachError::Silent {
            volume: self.state.volume.display().to_string(),
            pid: self.state.pid,
            why: Silence::of(Process::look(self.state.pid).map(|process| process.state)),
        }
    }
}
