//! Requests over io_uring: a queue per CPU, and a thread that serves it.
//!
//! The thread takes what is there, does it, and tells the kernel all answers in one system call, in
//! which it also waits for what comes next. From memory it reads and writes at once. Where the medium
//! takes its time the system moves the bytes meanwhile, by the same ring. What would hold the queue up
//! all the same goes to the [`Helpers`], and what is large is shared with it.

use super::cpu_placement::{CpuPlacement, Crowd};
use super::helpers::{self, Answered, CompletionQueue, HELPERS, Helpers, Job};
use super::out_header;
use super::pace::Pace;
use super::watch::{self, Watch};
use crate::cpus::cpus;
use crate::fuse::abi::{self, InHeader, op};
use crate::fuse::request::{Answer, FileSystem, MAX_TRANSFER, Request};
use crate::fuse::volume_file::{Underway, VolumeFile};
use keyway_sys::{FuseEntry, FuseRing, RingEvent};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;
use zerocopy::{FromBytes, IntoBytes};

pub(crate) use super::permit::Permit;

/// Entries per queue, and so requests at once: as deep as a fast drive wants it. Only those that are
/// used take memory.
const PER_QUEUE: u16 = 32;
/// The same for what lies in memory, whose requests are done one after the other: few buffers, which are
/// then still in the CPU's caches when they are used again.
const IN_MEMORY: u16 = 8;
/// Entries altogether, where there are many CPUs.
const ENTRIES: u16 = 256;
/// Requests of so many bytes keep a CPU busy longer than it takes to wake another thread; while a
/// drive has to be waited for, that thread does them as fast as this one.
const LARGE: usize = 128 << 10;

/// What the queues share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) crowd: Crowd,
    pub(crate) helpers: Helpers,
}

/// One queue. Belongs to the thread that makes it.
pub(crate) struct Server<'a> {
    ring: FuseRing,
    file: &'a VolumeFile,
    shared: &'a Shared,
    completions: Arc<CompletionQueue>,
    place: CpuPlacement,
    pace: Pace,
    watch: Watch,
    /// CPUs besides this thread's.
    others: usize,
    /// Requests take long even though they are small.
    slow: bool,
    /// The alignment of what the system moves; `None` where it must be waited for.
    align: Option<usize>,
    /// What the system moves, by the entry's number.
    underway: Vec<Option<Underway<'a>>>,
    /// What others had better do, or do their share of, and how many bytes each moves.
    held: Vec<(FuseEntry, usize)>,
    /// So many requests are with others.
    away: usize,
}

impl<'a> Server<'a> {
    /// Offers entries in the queue of `cpu`, one of so many `queues`.
    pub(crate) fn register(
        fuse: BorrowedFd<'_>,
        cpu: u16,
        queues: u16,
        file: &'a VolumeFile,
        shared: &'a Shared,
    ) -> io::Result<Self> {
        let completions = Arc::new(CompletionQueue::new()?);
        // Payloads start on a page.
        let direct = file.queueable().filter(|direct| direct.memory_align <= 4096);
        let most = if direct.is_some() { PER_QUEUE } else { IN_MEMORY };
        let entries = (ENTRIES / queues).clamp(2, most);
        let files: Vec<_> = direct.iter().flat_map(|direct| [direct.file, direct.claim]).collect();
        let ring = FuseRing::register(fuse, cpu, entries, MAX_TRANSFER, &files, completions.bell())?;
        let watch = Watch::new();
        let others = cpus().saturating_sub(1);
        Ok(Self {
            ring,
            file,
            shared,
            completions,
            place: if direct.is_some() { CpuPlacement::for_good(cpu) } else { CpuPlacement::new(cpu) },
            pace: Pace::default(),
            watch,
            others,
            slow: false,
            align: direct.map(|direct| direct.offset_align),
            underway: (0..entries).map(|_| None).collect(),
            held: Vec::new(),
            away: 0,
        })
    }

    /// Serves requests until the file system is unmounted.
    pub(crate) fn serve(mut self) -> io::Result<()> {
        loop {
            while let Some(event) = self.ring.ready()? {
                match event {
                    RingEvent::Request(entry) => self.take(entry)?,
                    RingEvent::Moved(entry, moved) => self.moved(entry, moved.ok())?,
                    // What it says is looked at below.
                    RingEvent::Bell => {}
                }
            }
            if self.away > 0 {
                for answered in self.completions.collect() {
                    self.away -= 1;
                    self.reply(answered)?;
                }
            }
            if !self.held.is_empty() {
                self.share()?;
                continue;
            }
            if self.away == 0 && self.watch.pays(self.ring.transfers()) {
                let came = self.ring.watch(watch::LONGEST)?;
                self.watch.note(came);
                if came {
                    continue;
                }
            }
            if !self.ring.wait()? {
                return Ok(());
            }
        }
    }

    /// A request has come.
    fn take(&mut self, mut entry: FuseEntry) -> io::Result<()> {
        let alone = self.shared.crowd.join();
        self.place.note(alone);
        self.watch.came(alone);
        let (header, fixed, buffer, payload_len) = entry.parts();
        let (header, _) =
            InHeader::read_from_prefix(header).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let fixed = fixed.get(..abi::fixed_len(header.opcode)).unwrap_or_default();
        let len = match header.opcode {
            op::READ | op::WRITE => {
                let wanted = abi::TransferIn::read_from_prefix(fixed).ok().map(|(wanted, _)| wanted);
                // It ends with a flush.
                if header.opcode == op::WRITE && wanted.as_ref().is_some_and(abi::TransferIn::is_durable) {
                    self.hand_over(vec![entry], HELPERS);
                    return Ok(());
                }
                wanted.map_or(0, |wanted| wanted.size as usize)
            }
            // A flush, or a range of zeros.
            op::FSYNC | op::FALLOCATE => {
                self.hand_over(vec![entry], HELPERS);
                return Ok(());
            }
            _ => 0,
        };
        let large = len >= LARGE;
        if !alone && (self.slow || large) || large && self.align.is_none() {
            self.held.push((entry, len));
            return Ok(());
        }
        let unique = header.unique;
        let request = Request { header, fixed, payload_len };
        if let Some(align) = self.align
            && len > 0
        {
            return match self.file.begin(&request, buffer, align) {
                Ok(Some(underway)) => self.transfer(entry, underway),
                Ok(None) => {
                    self.hand_over(vec![entry], HELPERS);
                    Ok(())
                }
                Err(e) => self.reply(Answered { entry, unique, answer: Answer::Error(e) }),
            };
        }
        let file = self.file;
        let answer = self.judged(len, || file.answer(&request, buffer));
        self.reply(Answered { entry, unique, answer })
    }

    /// Does something with `len` bytes of data, and judges by the time that it took.
    fn judged<R>(&mut self, len: usize, work: impl FnOnce() -> R) -> R {
        if self.slow || len == 0 {
            return work();
        }
        let before = Instant::now();
        let done = work();
        self.slow = self.pace.is_slow(len, before.elapsed());
        done
    }

    fn transfer(&mut self, entry: FuseEntry, underway: Underway<'a>) -> io::Result<()> {
        let (direction, len, offset) = (underway.direction(), underway.len, underway.store_offset());
        if let Some(place) = self.underway.get_mut(entry.number()) {
            *place = Some(underway);
        }
        self.ring.transfer(entry, direction, len, offset)
    }

    /// The system has moved what it was told to move, or not.
    fn moved(&mut self, mut entry: FuseEntry, moved: Option<usize>) -> io::Result<()> {
        let underway = self.underway.get_mut(entry.number()).and_then(Option::take);
        let underway = underway.ok_or(io::ErrorKind::InvalidData)?;
        let (unique, len) = (underway.unique, underway.len);
        let (_, _, buffer, _) = entry.parts();
        let answer = self.judged(len, || underway.finish(buffer, moved));
        self.reply(Answered { entry, unique, answer })
    }

    fn reply(&mut self, answered: Answered) -> io::Result<()> {
        let Answered { entry, unique, answer } = answered;
        // An entry is offered again by answering, so what needs no answer gets an empty one; the
        // kernel sends such requests over /dev/fuse anyhow.
        let empty = (abi::OutHeader { len: 16, error: 0, unique }, 0);
        let (out, len) = out_header(unique, answer).unwrap_or(empty);
        self.shared.crowd.leave();
        self.ring.commit(entry, out.as_bytes(), len)
    }

    /// Shares what is held with others. What waits for a medium is theirs; what keeps CPUs busy is
    /// everybody's.
    fn share(&mut self) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let waits = self.slow || self.align.is_some();
        let (theirs, threads) = match waits {
            true => (held.len(), HELPERS),
            false => (held.len() * self.others / (self.others + 1), self.others),
        };
        let mine = held.split_off(theirs);
        self.hand_over(held.into_iter().map(|(entry, _)| entry).collect(), threads);
        let file = self.file;
        for (entry, len) in mine {
            if let Some(answered) = self.judged(len, || helpers::answer(file, entry)) {
                self.reply(answered)?;
            }
        }
        self.ring.tell()
    }

    /// Gives to others, so many threads at most, what they do while this one waits for more.
    fn hand_over(&mut self, entries: Vec<FuseEntry>, threads: usize) {
        if entries.is_empty() {
            return;
        }
        self.away += entries.len();
        let completions = &self.completions;
        let jobs = entries.into_iter().map(|entry| Job { entry, completions: Arc::clone(completions) });
        self.shared.helpers.hand_over(jobs, threads);
    }
}

/// How many queues the kernel has: one for each CPU that could ever be there.
pub(crate) fn queues() -> u16 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|n| n.parse::<u16>().ok());
    last.map_or(1, |n| n.saturating_add(1))
}
