//! Work that is shared comes out as if one thread had done it.

use super::*;
use keyway_cipher::{LayerKey, Mode, Spec};

const UNIT: usize = 512;

fn cipher() -> Arc<SectorCipher> {
    let chain = "aes".parse().expect("a cipher");
    let spec = Spec { chain, mode: Mode::Xts, unit_bytes: UNIT as u32 };
    let keys = [LayerKey { key: &[1; 32], tweak_key: &[2; 32] }];
    Arc::new(SectorCipher::new(&spec, &keys).expect("keys that fit"))
}

fn job(name: u64, cipher: &Arc<SectorCipher>) -> Job {
    let mut buf = AlignedBuf::zeroed(8 * UNIT);
    buf.fill(name as u8);
    Job { name, is_write: true, at: name, cipher: cipher.clone(), first_unit: 8 * name, buf, from: None }
}

/// One worker at least, whatever else this process runs.
fn workers() -> Workers {
    let mut workers = Workers::new();
    workers.cores = usize::MAX;
    workers.start();
    assert_eq!(workers.threads.len(), 1);
    workers
}

fn done(workers: &mut Workers, count: usize) -> Vec<Job> {
    let (mut all, since) = (Vec::new(), Instant::now());
    while all.len() < count {
        assert!(since.elapsed() < Duration::from_secs(60), "{} of {count}", all.len());
        workers.await_worker(since);
        workers.take_done(&mut all);
    }
    all
}

#[test]
fn what_workers_cipher_is_what_this_thread_would_have() {
    let (cipher, mut workers) = (cipher(), workers());
    for round in 0..20 {
        // Now and then it sleeps before the next.
        std::thread::sleep(Duration::from_millis(round % 3));
        workers.hand((0..9).map(|n| job(round * 9 + n, &cipher)));
        assert_eq!(workers.out(), 9);
        for found in done(&mut workers, 9) {
            let mut here = job(found.name, &cipher);
            here.run();
            assert_eq!(here.buf[..], found.buf[..], "{}", found.name);
        }
        assert_eq!(workers.out(), 0);
    }
}

#[test]
fn each_job_comes_back_once_from_a_worker_or_taken_back() {
    let (cipher, mut workers) = (cipher(), workers());
    for round in 0..200u64 {
        workers.hand((0..7).map(|n| job(round * 7 + n, &cipher)));
        let mut back: Vec<Job> = std::iter::from_fn(|| workers.take_back()).collect();
        let begun = workers.out();
        back.extend(done(&mut workers, begun));
        let mut names: Vec<u64> = back.iter().map(|job| job.name).collect();
        names.sort_unstable();
        assert_eq!(names, (round * 7..round * 7 + 7).collect::<Vec<_>>());
    }
}

#[test]
fn a_worker_copies_the_part_that_it_encrypts() {
    let (cipher, mut workers) = (cipher(), workers());
    let mut whole = AlignedBuf::zeroed(32 * UNIT);
    for (n, part) in whole.chunks_mut(8 * UNIT).enumerate() {
        part.fill(n as u8);
    }
    let whole = Arc::new(whole);
    workers.hand((0..4).map(|n| {
        let from = Some((whole.clone(), n as usize * 8 * UNIT));
        Job { from, buf: AlignedBuf::zeroed(8 * UNIT), ..job(n, &cipher) }
    }));
    for found in done(&mut workers, 4) {
        let mut here = job(found.name, &cipher);
        here.run();
        assert_eq!(here.buf[..], found.buf[..], "{}", found.name);
    }
    assert!(Arc::into_inner(whole).is_some(), "nobody keeps it");
}

#[test]
fn who_leaves_waits_for_nothing_but_what_is_begun() {
    let (cipher, mut workers) = (cipher(), workers());
    let threads = THREADS.load(Ordering::Relaxed);
    assert!(threads >= 2);
    workers.hand((0..1000).map(|n| job(n, &cipher)));
    drop(workers);
}

#[test]
fn nothing_is_handed_over_for_less_than_it_costs() {
    let (cipher, mut workers) = (cipher(), workers());
    let mut small = job(1, &cipher);
    workers.cipher_here(small.buf.len(), || small.run());
    assert!(workers.cipher_is_behind());
    workers.debt = 1e12;
    workers.cost = 1.0;
    workers.shared.delay.store(1000, Ordering::Relaxed);
    assert_eq!(workers.room(2000, 1 << 20), 0, "a job of 2 us, and a delay of 1");
    assert!(workers.room(2001, 1 << 20) > 0);
    // What was slow is tried again.
    workers.shared.delay.store(1_000_000, Ordering::Relaxed);
    assert_eq!(workers.room(1 << 20, 1 << 20), 0);
    assert!((0..1000).any(|_| workers.room(1 << 20, 1 << 20) > 0));
    workers.store_is_behind();
    assert!(!workers.cipher_is_behind());
}
