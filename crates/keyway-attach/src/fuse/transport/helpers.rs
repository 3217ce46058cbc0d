//! Helper threads for what would hold up a queue: flushes, large requests, slow media.
//!
//! Large requests in memory only keep CPUs busy: the queue's own thread does its share of them, and no more helpers
//! than there are other CPUs.
//!
//! A queue's own thread takes requests and gives answers; in between anybody may have them. What is
//! handed over comes back to the queue's [`CompletionQueue`], whose bell tells the thread.

use crate::fuse::abi::{self, InHeader};
use crate::fuse::request::{Answer, FileSystem, Request};
use crate::fuse::volume_file::VolumeFile;
use keyway_sys::FuseEntry;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use zerocopy::FromBytes;

/// Threads: about as many requests of a slow medium at once.
pub(crate) const HELPERS: usize = 8;

/// Where the answers for one queue's thread arrive.
pub(crate) struct CompletionQueue {
    answered: Mutex<Vec<Answered>>,
    bell: OwnedFd,
}

/// A request with its answer.
pub(crate) struct Answered {
    pub(crate) entry: FuseEntry,
    pub(crate) unique: u64,
    pub(crate) answer: Answer,
}

/// A request to be answered.
pub(crate) struct Job {
    pub(crate) entry: FuseEntry,
    pub(crate) completions: Arc<CompletionQueue>,
}

/// The jobs, and the threads that wait for some.
#[derive(Default)]
pub(crate) struct Helpers {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for some,
    idle: usize,
    /// and those of them that have been called.
    called: usize,
    ended: bool,
}

/// Answers what lies in `entry`.
pub(crate) fn answer(file: &VolumeFile, mut entry: FuseEntry) -> Option<Answered> {
    let (header, fixed, buffer, payload_len) = entry.parts();
    let (header, _) = InHeader::read_from_prefix(header).ok()?;
    let fixed = fixed.get(..abi::fixed_len(header.opcode)).unwrap_or_default();
    let answer = file.answer(&Request { header, fixed, payload_len }, buffer);
    Some(Answered { entry, unique: header.unique, answer })
}

impl CompletionQueue {
    pub(crate) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { answered: Mutex::default(), bell })
    }

    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// All that have arrived.
    pub(crate) fn collect(&self) -> Vec<Answered> {
        std::mem::take(&mut *self.answered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn bring(&self, answered: Answered) {
        let mut all = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(answered);
        if all.len() == 1 {
            // Fails only when the counter is full: then it has been rung.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }
}

impl Helpers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over to so many threads at most.
    pub(crate) fn hand_over(&self, jobs: impl Iterator<Item = Job>, threads: usize) {
        let mut state = self.lock();
        state.jobs.extend(jobs);
        let awake = (HELPERS + state.called).saturating_sub(state.idle);
        let more = state.jobs.len().min(threads.saturating_sub(awake));
        state.called += more;
        drop(state);
        (0..more).for_each(|_| self.changed.notify_one());
    }

    /// Does what is handed over, until it is told that nothing more comes.
    pub(crate) fn serve(&self, file: &VolumeFile) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                if let Some(answered) = answer(file, job.entry) {
                    job.completions.bring(answered);
                }
                state = self.lock();
            } else if state.ended {
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                state.called = state.called.saturating_sub(1);
            }
        }
    }

    /// Sends all home, when what is there is done.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }
}
