//! Threads that encrypt and decrypt beside the one that moves a queue's requests, on processors that have nothing else
//! to do.
//!
//! A queue hands sectors over, and takes back what no worker has begun when it would otherwise wait: a worker that the
//! system does not run delays what it has begun, and nothing else. Whether to hand over is decided by what was measured
//! here: what ciphering a byte takes, and how long handed sectors wait for a worker that is awake, and for one that
//! must be woken first. A worker looks for sectors as long as waking it would take, then sleeps.

use keyway_cipher::SectorCipher;
use keyway_store::AlignedBuf;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Threads of this process that own a queue with workers or are one.
static THREADS: AtomicUsize = AtomicUsize::new(0);
/// What a wake-up is taken to cost until one was measured, in nanoseconds.
const FIRST_WAKE: u64 = 30_000;
/// What handing over is taken to cost until it was measured, in nanoseconds.
const FIRST_DELAY: u64 = 1_000;
/// A worker is woken for what takes so many times as long as waking it. With AES, requests of 1 MiB that come alone
/// were slower by a tenth with 1 (`cargo run --release -p keyway-lab --example workers`).
const WAKES: f64 = 8.0;
/// How long a worker looks for sectors before it sleeps, at least and at most, in nanoseconds.
const LOOK: (u64, u64) = (20_000, 200_000);
/// One in so many ciphered pieces is timed: looking at the clock takes a tenth of what a page does.
const TIMED: u32 = 16;
/// After so much ciphering without workers it is tried again whether they are any faster now, in nanoseconds.
const FORGET: f64 = 100_000_000.0;
/// What each worker is given to do ahead, in nanoseconds.
const STOCK: f64 = 3_000.0;
/// How long the queue's thread looks for what a worker has before it sleeps, in nanoseconds.
const PATIENCE: u64 = 20_000;

/// Sectors to be ciphered, and what becomes of them.
pub(crate) struct Job {
    /// The queue's name for them.
    pub name: u64,
    /// Encrypt and write them; else they were read.
    pub is_write: bool,
    /// Where they are in the store.
    pub at: u64,
    /// What they are ciphered with.
    pub cipher: Arc<SectorCipher>,
    /// The first one's number.
    pub first_unit: u64,
    /// The sectors.
    pub buf: AlignedBuf,
    /// Where they are copied from first: a buffer, and from which byte of it.
    pub from: Option<(Arc<AlignedBuf>, usize)>,
}

impl Job {
    pub(crate) fn run(&mut self) {
        if let Some((from, at)) = self.from.take()
            && let Some(from) = from.get(at..at + self.buf.len())
        {
            self.buf.copy_from_slice(from);
        }
        if self.is_write {
            self.cipher.encrypt_sectors(&mut self.buf, self.first_unit);
        } else {
            self.cipher.decrypt_sectors(&mut self.buf, self.first_unit);
        }
    }
}

/// A job that was handed over.
struct Handed {
    job: Job,
    /// When, in nanoseconds since the workers were made.
    since: u64,
    /// What a worker did then.
    worker: Worker,
}

/// What a worker did when a job was handed over, so what its delay tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worker {
    /// Looked for it.
    Looked,
    /// Slept.
    Slept,
    /// Had others to do first: nothing is told.
    Worked,
}

/// What the queue's thread and its workers share.
struct Shared {
    since: Instant,
    todo: Mutex<VecDeque<Handed>>,
    more: Condvar,
    done: Mutex<Vec<Job>>,
    /// Jobs in `todo` and in `done`, to be looked at without a lock.
    waiting: AtomicUsize,
    finished: AtomicUsize,
    /// Workers that sleep, and those that look for jobs.
    asleep: AtomicUsize,
    looking: AtomicUsize,
    /// How much later jobs are done by a worker that is awake than they would be here, and how long they wait for one
    /// that must be woken; sliding means in nanoseconds.
    delay: AtomicU64,
    wake: AtomicU64,
    /// What ciphering a KiB takes, in nanoseconds.
    cost: AtomicU64,
    /// The queue's thread, while it sleeps for a worker.
    owner: Mutex<Option<Thread>>,
    owner_sleeps: AtomicBool,
    is_over: AtomicBool,
}

/// A panic while a lock is held leaves nothing half done: both lists are whole between calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves a sliding mean by an eighth towards what was found.
fn slide(mean: &AtomicU64, found: u64) {
    let old = mean.load(Ordering::Relaxed);
    mean.store(old - old / 8 + found / 8, Ordering::Relaxed);
}

impl Shared {
    fn now(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }

    /// Takes the job that waits longest, or for the queue's own thread the newest.
    fn pop(&self, newest: bool) -> Option<Handed> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut todo = lock(&self.todo);
        let job = if newest { todo.pop_back() } else { todo.pop_front() };
        self.waiting.store(todo.len(), Ordering::Release);
        job
    }

    /// Nanoseconds since then.
    fn waited(&self, since: u64) -> u64 {
        self.now().saturating_sub(since)
    }

    /// A worker's life.
    fn work(&self) {
        while !self.is_over.load(Ordering::Acquire) {
            let Some(handed) = self.next() else { continue };
            let Handed { mut job, since, worker } = handed;
            if worker == Worker::Slept {
                slide(&self.wake, self.waited(since));
            }
            job.run();
            if worker == Worker::Looked {
                let work = self.cost.load(Ordering::Relaxed) * job.buf.len() as u64 / 1024;
                slide(&self.delay, self.waited(since).saturating_sub(work));
            }
            {
                let mut done = lock(&self.done);
                done.push(job);
                self.finished.store(done.len(), Ordering::Release);
            }
            if self.owner_sleeps.load(Ordering::SeqCst)
                && let Some(owner) = lock(&self.owner).as_ref()
            {
                owner.unpark();
            }
        }
    }

    /// Looks for a job, and sleeps where there is none for a while.
    fn next(&self) -> Option<Handed> {
        self.looking.fetch_add(1, Ordering::SeqCst);
        let began = Instant::now();
        let patience = Duration::from_nanos(self.wake.load(Ordering::Relaxed).clamp(LOOK.0, LOOK.1));
        let mut found = self.pop(false);
        while found.is_none() && began.elapsed() < patience && !self.is_over.load(Ordering::Acquire) {
            std::hint::spin_loop();
            found = self.pop(false);
        }
        self.looking.fetch_sub(1, Ordering::SeqCst);
        if found.is_some() {
            return found;
        }
        let mut todo = lock(&self.todo);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while todo.is_empty() && !self.is_over.load(Ordering::Acquire) {
            todo = self.more.wait(todo).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        let found = todo.pop_front();
        self.waiting.store(todo.len(), Ordering::Release);
        found
    }
}

/// The workers of one queue.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Jobs that were handed over and did not come back.
    out: usize,
    /// What ciphering a byte takes, in nanoseconds.
    cost: f64,
    /// Nanoseconds of ciphering since the store was last waited for.
    debt: f64,
    /// Nanoseconds of ciphering that workers were not given, since that was last thought over.
    refused: f64,
    /// Ciphered pieces.
    count: u32,
    cores: usize,
}

impl Workers {
    /// None yet: they are started when there is something to do for them.
    pub(crate) fn new() -> Self {
        THREADS.fetch_add(1, Ordering::Relaxed);
        let shared = Shared {
            since: Instant::now(),
            todo: Mutex::default(),
            more: Condvar::new(),
            done: Mutex::default(),
            waiting: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            delay: AtomicU64::new(FIRST_DELAY),
            wake: AtomicU64::new(FIRST_WAKE),
            cost: AtomicU64::new(0),
            owner: Mutex::new(None),
            owner_sleeps: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            shared: Arc::new(shared),
            threads: Vec::new(),
            out: 0,
            cost: 0.0,
            debt: 0.0,
            refused: 0.0,
            count: 0,
            cores,
        }
    }

    /// Ciphers on the queue's own thread.
    pub(crate) fn cipher_here(&mut self, bytes: usize, cipher: impl FnOnce()) {
        self.count = self.count.wrapping_add(1);
        if self.cost > 0.0 && !self.count.is_multiple_of(TIMED) {
            cipher();
        } else {
            let began = Instant::now();
            cipher();
            let found = began.elapsed().as_nanos() as f64 / bytes.max(1) as f64;
            // A turn that the system took away in the middle is not what ciphering takes.
            self.cost =
                if self.cost == 0.0 { found } else { self.cost * 0.875 + found.min(self.cost * 4.0) * 0.125 };
        }
        self.debt += self.cost * bytes as f64;
    }

    /// The store had nothing ready: it is what limits, not the cipher.
    pub(crate) fn store_is_behind(&mut self) {
        self.debt = 0.0;
    }

    /// Whether the queue's thread has ciphered since the store was last waited for.
    pub(crate) fn cipher_is_behind(&self) -> bool {
        self.debt > 0.0
    }

    /// Jobs that are handed over.
    pub(crate) fn out(&self) -> usize {
        self.out
    }

    /// How many jobs of so many bytes workers should be given now, where the queue's thread would have to cipher
    /// `further` bytes on its own.
    pub(crate) fn room(&mut self, bytes: usize, further: usize) -> usize {
        let (behind, job) = (self.debt + self.cost * further as f64, self.cost * bytes as f64);
        let shared = self.shared.clone();
        let delay = shared.delay.load(Ordering::Relaxed);
        if job <= 2.0 * delay as f64 {
            // What once took long is tried again some time.
            self.refused += job;
            if self.refused > FORGET {
                self.refused = 0.0;
                shared.delay.store(delay / 2, Ordering::Relaxed);
            }
            return 0;
        }
        if behind > self.patience() && shared.looking.load(Ordering::Relaxed) == 0 {
            self.start();
        }
        let awake = self.threads.len().saturating_sub(shared.asleep.load(Ordering::Relaxed));
        let waiting = shared.waiting.load(Ordering::Relaxed);
        if awake == 0 {
            let is_worth_it = !self.threads.is_empty() && behind > self.patience();
            return if is_worth_it { 2usize.saturating_sub(waiting) } else { 0 };
        }
        // Enough to be busy with until there is more.
        let each = 1 + (STOCK / job.max(1.0)).ceil() as usize;
        (awake * each).saturating_sub(waiting)
    }

    /// How long this thread must have been behind before a worker is started or woken, in nanoseconds.
    fn patience(&self) -> f64 {
        WAKES * self.shared.wake.load(Ordering::Relaxed) as f64
    }

    /// Starts one more, where none sleeps and a processor is left for it.
    fn start(&mut self) {
        if self.shared.asleep.load(Ordering::Relaxed) > 0 || THREADS.load(Ordering::Relaxed) >= self.cores {
            return;
        }
        let shared = self.shared.clone();
        match std::thread::Builder::new().name("cipher".to_owned()).spawn(move || shared.work()) {
            Ok(thread) => {
                THREADS.fetch_add(1, Ordering::Relaxed);
                self.threads.push(thread);
            }
            // Not asked for again.
            Err(_) => self.cores = 0,
        }
    }

    /// Hands jobs over.
    pub(crate) fn hand(&mut self, jobs: impl IntoIterator<Item = Job>) {
        let shared = &self.shared;
        let (since, looking) = (shared.now(), shared.looking.load(Ordering::SeqCst));
        let mut todo = lock(&shared.todo);
        let before = todo.len();
        // Each worker that looks takes one at once.
        let mut looking = looking.saturating_sub(before);
        let sleeps = before == 0 && looking == 0 && shared.asleep.load(Ordering::SeqCst) > 0;
        todo.extend(jobs.into_iter().map(|job| {
            let worker = if looking > 0 {
                Worker::Looked
            } else if sleeps {
                Worker::Slept
            } else {
                Worker::Worked
            };
            looking = looking.saturating_sub(1);
            Handed { job, since, worker }
        }));
        self.out += todo.len() - before;
        shared.waiting.store(todo.len(), Ordering::Release);
        let is_more = todo.len() > before;
        drop(todo);
        if sleeps && is_more {
            shared.more.notify_one();
        }
    }

    /// What workers are done with.
    pub(crate) fn take_done(&mut self, into: &mut Vec<Job>) {
        if self.shared.finished.load(Ordering::Acquire) > 0 {
            let mut done = lock(&self.shared.done);
            self.out -= done.len();
            into.append(&mut done);
            self.shared.finished.store(0, Ordering::Release);
        }
    }

    /// A job that no worker has begun, for the queue's own thread, ciphered.
    pub(crate) fn take_back(&mut self) -> Option<Job> {
        let Handed { mut job, since, worker } = self.shared.pop(true)?;
        self.out -= 1;
        let waited = self.shared.waited(since);
        match worker {
            Worker::Looked => slide(&self.shared.delay, waited),
            // One that had no time to begin is no sign that it never would have.
            Worker::Slept if waited > self.shared.wake.load(Ordering::Relaxed) => {
                slide(&self.shared.wake, waited)
            }
            _ => {}
        }
        let bytes = job.buf.len();
        self.cipher_here(bytes, || job.run());
        Some(job)
    }

    /// Waits a moment for a worker that has begun a job; `since` is when the waiting began.
    pub(crate) fn await_worker(&self, since: Instant) {
        if (since.elapsed().as_nanos() as u64) < PATIENCE {
            std::hint::spin_loop();
            return;
        }
        *lock(&self.shared.owner) = Some(std::thread::current());
        self.shared.owner_sleeps.store(true, Ordering::SeqCst);
        if self.shared.finished.load(Ordering::SeqCst) == 0 {
            // The store may have something in the meantime.
            std::thread::park_timeout(Duration::from_micros(50));
        }
        self.shared.owner_sleeps.store(false, Ordering::SeqCst);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        {
            // Whoever is about to sleep holds this until it does.
            let _todo = lock(&self.shared.todo);
            self.shared.more.notify_all();
        }
        let threads = self.threads.len();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        THREADS.fetch_sub(1 + threads, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
