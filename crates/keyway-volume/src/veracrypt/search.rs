//! Finding the header, hash and cipher that a password opens, on all cores, stopping at the first.
//!
//! Nothing on the medium says which hash made a header key, so every hash is tried on every
//! header. The unit of work is a batch of PBKDF2 blocks of one hash, as many as the processor
//! computes side by side, whichever headers they belong to; a header is tried as soon as the
//! first blocks of its key are there. The likeliest come first: the primary header with each
//! hash, then the other headers.

use super::header::HeaderFault;
use super::header_location::HeaderLocation;
use super::params::{Derivation, Format, HashName};
use super::search_pace::{KeySearch, KeyWatch, Pace, Steps, state};
use super::suite::longest_key;
use super::trial::{Candidate, Match, Trial};
use crate::Argon2idSkipped;
use keyway_kdf::{Argon2idCost, Block, Prf};
use keyway_secret::SecretBytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What to look for.
pub(crate) struct Wanted<'a> {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) formats: Vec<Format>,
    pub(crate) hash: Option<HashName>,
    pub(crate) pim: Option<u32>,
    pub(crate) store_bytes: u64,
    pub(crate) watch: &'a dyn KeyWatch,
}

/// How a search without a match ended.
pub(crate) struct NoMatch {
    /// The first header that decrypted but is damaged or lies, with its in-place flag and sizes.
    pub(crate) damaged: Option<(HeaderLocation, HeaderFault)>,
    /// Why Argon2id was not tried.
    pub(crate) argon2id_skipped: Option<Argon2idSkipped>,
}

/// One block of one trial's key.
#[derive(Clone, Copy)]
struct Piece {
    trial: usize,
    index: u32,
}

enum Work {
    Blocks { prf: Prf, iterations: u32, pieces: Vec<Piece> },
    Argon2id { trials: Vec<usize>, cost: Argon2idCost },
}

impl Work {
    /// How many memories for Argon2id it takes.
    fn argon2ids(&self) -> u64 {
        match self {
            Self::Blocks { .. } => 0,
            Self::Argon2id { trials, .. } => trials.len() as u64,
        }
    }

    /// What it costs. A batch of blocks costs the same however full it is.
    fn steps(&self) -> (Steps, u64) {
        match self {
            Self::Blocks { prf, iterations, .. } => (Steps::Pbkdf2(*prf), u64::from(*iterations)),
            Self::Argon2id { cost, .. } => {
                let each = u64::from(cost.memory_kib).saturating_mul(cost.passes.into());
                (Steps::Argon2id, each.saturating_mul(self.argon2ids()))
            }
        }
    }
}

struct Task {
    /// Lower comes first.
    rank: (usize, usize),
    work: Work,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    argon2id_running: u64,
}

struct Search {
    trials: Vec<Trial>,
    password: SecretBytes,
    store_bytes: u64,
    queue: Mutex<Queue>,
    argon2id_at_once: u64,
    stop: AtomicBool,
    pace: Pace,
}

enum Message {
    Opened(Box<Match>),
    Damaged(HeaderLocation, HeaderFault),
    NoMemory,
}

/// Searches; the password is what goes into the key derivation.
pub(crate) fn search(wanted: Wanted<'_>, password: SecretBytes) -> Result<Box<Match>, NoMatch> {
    let mut trials = trials(wanted.candidates, &wanted.formats, wanted.hash, wanted.pim);
    let all = trials.len();
    // A wrong password would take minutes to be told.
    trials.retain(|trial| wanted.hash.is_some() || !trial.derivation.is_extravagant());
    let argon2id_skipped = (trials.len() < all).then_some(Argon2idSkipped::Cost);
    let tasks = tasks(&trials);
    let workers = keyway_kdf::cores().min(tasks.len().max(1));
    let search = Arc::new(Search {
        argon2id_at_once: argon2id_at_once(&trials),
        trials,
        password,
        store_bytes: wanted.store_bytes,
        pace: Pace::of(tasks.iter().map(|task| task.work.steps())),
        queue: Mutex::new(Queue { tasks: tasks.into(), argon2id_running: 0 }),
        stop: AtomicBool::new(false),
    });
    let begun = Instant::now();
    let (sender, receiver) = channel();
    let mut started = 0;
    for _ in 0..workers {
        let (search, sender) = (Arc::clone(&search), sender.clone());
        // Not scoped: a match must not wait for the threads that still notice they may stop.
        let thread = std::thread::Builder::new().name("keyway-unlock".into());
        if thread.spawn(move || search.work(&sender)).is_ok() {
            started += 1;
        }
    }
    if started == 0 {
        search.work(&sender);
    }
    drop(sender);
    let one_hash = wanted.hash.is_some();
    let mut measured = Vec::new();
    let tell = || {
        if measured.is_empty() {
            measured = search.pace.measured();
        }
        let (done, all) = search.pace.seconds(&measured);
        let state = state(done, all, workers, begun.elapsed());
        wanted.watch.trying(&KeySearch { combinations: search.trials.len(), one_hash, ..state });
    };
    collect(&search, &receiver, argon2id_skipped, tell)
}

/// How often it is told how far the search is.
const TOLD: Duration = Duration::from_secs(1);

fn collect(
    search: &Search,
    receiver: &Receiver<Message>,
    argon2id_skipped: Option<Argon2idSkipped>,
    mut tell: impl FnMut(),
) -> Result<Box<Match>, NoMatch> {
    let mut none = NoMatch { damaged: None, argon2id_skipped };
    loop {
        let message = match receiver.recv_timeout(TOLD) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => {
                tell();
                continue;
            }
            // Every worker has dropped its sender.
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match message {
            Message::Opened(found) => {
                search.stop.store(true, Ordering::Relaxed);
                return Ok(search.original(&found).unwrap_or(found));
            }
            Message::Damaged(place, fault) => none.damaged = none.damaged.or(Some((place, fault))),
            Message::NoMemory => none.argon2id_skipped = Some(Argon2idSkipped::Memory),
        }
    }
    Err(none)
}

fn trials(
    candidates: Vec<Candidate>,
    formats: &[Format],
    hash: Option<HashName>,
    pim: Option<u32>,
) -> Vec<Trial> {
    let mut trials = Vec::new();
    for candidate in &candidates {
        let place = candidate.place;
        for format in formats.iter().copied() {
            if place == HeaderLocation::OldHidden && format == Format::VeraCrypt {
                continue;
            }
            for hash in HashName::ALL.into_iter().filter(|h| hash.is_none_or(|only| only == *h)) {
                let Some(derivation) = Derivation::of(format, hash, pim, place == HeaderLocation::System)
                else {
                    continue;
                };
                let candidate = Candidate { place, sealed: candidate.sealed.clone() };
                trials.push(Trial::new(candidate, format, hash, derivation));
            }
        }
    }
    trials
}

/// How many Argon2id derivations make one task: two side by side take little longer than one, and
/// more would keep the header that is usually right waiting.
const ARGON2ID_BATCH: usize = 2;

/// Batches of blocks and of Argon2id derivations, the likeliest first. A batch of blocks costs
/// the same however full it is, so the copies at the end share one with the headers that are usually right.
fn tasks(trials: &[Trial]) -> Vec<Task> {
    let mut groups: Vec<((Prf, u32), Vec<Piece>)> = Vec::new();
    let mut argon2id: Vec<(Argon2idCost, Vec<usize>)> = Vec::new();
    for (i, trial) in trials.iter().enumerate() {
        match (trial.derivation, trial.hash.prf()) {
            (Derivation::Argon2id { memory_kib, passes }, _) => {
                let key = Argon2idCost { memory_kib, passes, lanes: 1 };
                match argon2id.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, all)) => all.push(i),
                    None => argon2id.push((key, vec![i])),
                }
            }
            (Derivation::Pbkdf2 { iterations }, Some(prf)) => {
                let count = trial.blocks();
                let pieces =
                    (1..=u32::try_from(count).unwrap_or(u32::MAX)).map(|index| Piece { trial: i, index });
                let key = (prf, iterations);
                match groups.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, all)) => all.extend(pieces),
                    None => groups.push((key, pieces.collect())),
                }
            }
            (Derivation::Pbkdf2 { .. }, None) => {}
        }
    }
    let rank = |trial: &usize| trials.get(*trial).map(Trial::rank).unwrap_or_default();
    let mut tasks = Vec::new();
    for ((prf, iterations), mut pieces) in groups {
        pieces.sort_by_key(|piece| rank(&piece.trial));
        for batch in pieces.chunks(keyway_kdf::lanes(prf).max(1)) {
            let rank = batch.iter().map(|piece| rank(&piece.trial)).min().unwrap_or_default();
            tasks.push(Task { rank, work: Work::Blocks { prf, iterations, pieces: batch.to_vec() } });
        }
    }
    for (cost, mut trials) in argon2id {
        trials.sort_by_key(rank);
        for batch in trials.chunks(ARGON2ID_BATCH) {
            let rank = batch.iter().map(rank).min().unwrap_or_default();
            tasks.push(Task { rank, work: Work::Argon2id { trials: batch.to_vec(), cost } });
        }
    }
    tasks.sort_by_key(|task| task.rank);
    tasks
}

/// How many Argon2id derivations fit into half of the memory that is free now.
fn argon2id_at_once(trials: &[Trial]) -> u64 {
    let largest = trials.iter().filter_map(|trial| match trial.derivation {
        Derivation::Argon2id { memory_kib, .. } => Some(u64::from(memory_kib)),
        Derivation::Pbkdf2 { .. } => None,
    });
    match (largest.max(), keyway_kdf::free_memory()) {
        (Some(needed), Some(free)) => free.ram_kib / 2 / needed.max(1),
        _ => 1,
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Search {
    /// The header that this one is a copy of, where it opens as well: on a busy machine the thread that has it may be
    /// slower than the one that had the copy, and a header is not damaged for that.
    fn original(&self, copy: &Match) -> Option<Box<Match>> {
        let place = copy.place.backup().filter(|_| copy.place.is_backup())?;
        let is_it = |trial: &&Trial| {
            trial.candidate.place == place
                && (trial.format, trial.hash) == (copy.header.format, copy.hash)
                && trial.derivation == copy.derivation
        };
        let trial = self.trials.iter().find(is_it).filter(|trial| !trial.is_ruled_out())?;
        let opened = trial.open_alone(&self.password, self.store_bytes);
        keyway_secret::wipe_stack();
        opened
    }

    fn work(&self, sender: &Sender<Message>) {
        'search: while let Some(task) = self.next() {
            let touched = self.run(&task.work, sender);
            self.pace.done(task.work.steps());
            for trial in touched.into_iter().filter_map(|i| self.trials.get(i)) {
                let message = match trial.open(self.store_bytes) {
                    Ok(None) => continue,
                    Ok(Some(found)) => {
                        self.stop.store(true, Ordering::Relaxed);
                        Message::Opened(found)
                    }
                    Err(fault) => {
                        self.prefer(trial);
                        Message::Damaged(trial.candidate.place, fault)
                    }
                };
                // The receiver is gone once somebody else has found the header.
                if sender.send(message).is_err() {
                    break 'search;
                }
            }
        }
        // Also when somebody else was faster: this thread may have decrypted the same keys.
        keyway_secret::wipe_stack();
    }

    /// The next task that may run now.
    fn next(&self) -> Option<Task> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut queue = unpoisoned(&self.queue);
        let running = queue.argon2id_running;
        let fits = |more: u64| more == 0 || running == 0 || running + more <= self.argon2id_at_once;
        let at = queue.tasks.iter().position(|task| fits(task.work.argon2ids()))?;
        let task = queue.tasks.remove(at)?;
        queue.argon2id_running += task.work.argon2ids();
        Some(task)
    }

    /// Runs a task; names the trials that have more of their key now.
    fn run(&self, work: &Work, sender: &Sender<Message>) -> Vec<usize> {
        match work {
            Work::Blocks { prf, iterations, pieces } => self.derive_blocks(*prf, *iterations, pieces),
            Work::Argon2id { trials, cost } => {
                let known: Vec<&Trial> = trials.iter().filter_map(|i| self.trials.get(*i)).collect();
                let salts: Vec<&[u8]> = known.iter().map(|trial| trial.candidate.sealed.salt()).collect();
                let len = known.iter().map(|trial| longest_key(trial.format)).max().unwrap_or(0);
                let derived = keyway_kdf::argon2id_many(*cost, &self.password, &salts, len, &self.stop);
                unpoisoned(&self.queue).argon2id_running -= work.argon2ids();
                match derived {
                    Ok(Some(keys)) => {
                        known.iter().zip(&keys).for_each(|(trial, key)| trial.put(1, key));
                        trials.clone()
                    }
                    Ok(None) => Vec::new(),
                    Err(_) => {
                        let _ = sender.send(Message::NoMemory);
                        Vec::new()
                    }
                }
            }
        }
    }

    fn derive_blocks(&self, prf: Prf, iterations: u32, pieces: &[Piece]) -> Vec<usize> {
        let known: Vec<(&Trial, Piece)> =
            pieces.iter().filter_map(|p| Some((self.trials.get(p.trial)?, *p))).collect();
        let blocks: Vec<Block<'_>> = known
            .iter()
            .map(|(trial, piece)| Block { salt: trial.candidate.sealed.salt(), index: piece.index })
            .collect();
        let Some(derived) = keyway_kdf::pbkdf2_blocks(prf, &self.password, iterations, &blocks, &self.stop)
        else {
            return Vec::new();
        };
        let mut touched = Vec::new();
        for ((trial, piece), bytes) in known.iter().zip(&derived) {
            trial.put(piece.index, bytes);
            if touched.last() != Some(&piece.trial) {
                touched.push(piece.trial);
            }
        }
        touched
    }

    /// A damaged header has given its derivation away: its copy elsewhere has the same.
    fn prefer(&self, damaged: &Trial) {
        let mut queue = unpoisoned(&self.queue);
        let same = |task: &Task| match &task.work {
            Work::Blocks { pieces, .. } => pieces
                .iter()
                .filter_map(|piece| self.trials.get(piece.trial))
                .any(|trial| trial.hash == damaged.hash && trial.derivation == damaged.derivation),
            Work::Argon2id { .. } => damaged.hash == HashName::Argon2id,
        };
        queue.tasks.make_contiguous().sort_by_key(|task| !same(task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secrets;
    use crate::veracrypt::{BACKUP_GROUP_BYTES, Fill, HEADER_BYTES, NewVolume, SealedHeader, create};
    use keyway_store::MemStore;
    use std::collections::HashSet;

    fn candidates() -> Vec<Candidate> {
        let sealed = |place: HeaderLocation| SealedHeader::from_bytes([place as u8; HEADER_BYTES]);
        HeaderLocation::ALL.into_iter().map(|place| Candidate { place, sealed: sealed(place) }).collect()
    }

    #[test]
    fn every_block_of_every_key_is_computed_once() {
        let trials = trials(candidates(), &[Format::VeraCrypt, Format::TrueCrypt], None, None);
        let tasks = tasks(&trials);
        let mut seen = HashSet::new();
        for task in &tasks {
            match &task.work {
                Work::Blocks { pieces, prf, .. } => {
                    assert!(pieces.len() <= keyway_kdf::lanes(*prf));
                    assert!(pieces.iter().all(|p| seen.insert((p.trial, p.index))));
                }
                Work::Argon2id { trials, .. } => assert!(trials.iter().all(|trial| seen.insert((*trial, 1)))),
            }
        }
        let wanted: usize = trials.iter().map(|trial| trial.blocks()).sum();
        assert_eq!(seen.len(), wanted);
    }

    #[test]
    fn the_usual_hash_on_the_primary_header_comes_first_and_copies_come_last() {
        let trials = trials(candidates(), &[Format::VeraCrypt, Format::TrueCrypt], None, None);
        let tasks = tasks(&trials);
        let places = |task: &Task| -> Vec<HeaderLocation> {
            let place = |i: usize| trials[i].candidate.place;
            match &task.work {
                Work::Blocks { pieces, .. } => pieces.iter().map(|p| place(p.trial)).collect(),
                Work::Argon2id { trials, .. } => trials.iter().copied().map(place).collect(),
            }
        };
        let first = &tasks[0];
        assert_eq!(places(first)[0], HeaderLocation::Primary);
        assert!(matches!(first.work, Work::Blocks { prf: Prf::Sha512, iterations: 500_000, .. }));
        assert!(!places(&tasks[tasks.len() - 1]).contains(&HeaderLocation::Primary));
    }

    #[test]
    fn one_hash_and_format_narrow_the_work() {
        let only = Some(HashName::Whirlpool);
        let all = trials(candidates(), &[Format::VeraCrypt], only, Some(7));
        // The old hidden header is TrueCrypt's.
        assert_eq!(all.len(), 5);
        assert!(all.iter().all(|t| t.derivation == Derivation::Pbkdf2 { iterations: 22_000 }));
        assert!(trials(candidates(), &[Format::TrueCrypt], Some(HashName::Sha256), None).is_empty());
    }

    #[test]
    fn a_copy_that_is_found_first_gives_way_to_a_header_that_is_well() {
        let password = SecretBytes::copy_of(b"of both");
        let secrets = Secrets { password, keyfiles: Vec::new(), pim: Some(1) };
        let store = MemStore::new(1 << 20);
        let cipher = "aes".parse().expect("a cipher");
        let new = NewVolume { secrets: &secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
        create(&store, &new, &()).expect("made");
        let medium = store.snapshot();
        let header = |at: usize| *medium.get(at..).and_then(|rest| rest.first_chunk()).expect("a header");
        let end = medium.len() - BACKUP_GROUP_BYTES as usize;
        let search = |primary: [u8; HEADER_BYTES]| {
            let of = |place, bytes| Candidate { place, sealed: SealedHeader::from_bytes(bytes) };
            let candidates =
                vec![of(HeaderLocation::Primary, primary), of(HeaderLocation::BackupPrimary, header(end))];
            let trials = trials(candidates, &[Format::VeraCrypt], Some(HashName::Sha512), Some(1));
            Search {
                argon2id_at_once: 1,
                trials,
                password: SecretBytes::copy_of(b"of both"),
                store_bytes: 1 << 20,
                queue: Mutex::default(),
                stop: AtomicBool::new(true),
                pace: Pace::default(),
            }
        };
        let well = search(header(0));
        let copy = |search: &Search| search.trials[1].open_alone(&search.password, 1 << 20).expect("opens");
        let found = copy(&well);
        assert_eq!(found.place, HeaderLocation::BackupPrimary);
        assert_eq!(well.original(&found).map(|found| found.place), Some(HeaderLocation::Primary));
        let damaged = search([7; HEADER_BYTES]);
        assert!(damaged.original(&copy(&damaged)).is_none());
        // A header is no copy of its copy.
        let original = well.original(&found).expect("as above");
        assert!(well.original(&original).is_none());
    }
}
