//! A decrypted NTFS gets the clusters back that were kept from it, and the power fails before every write and flush of the end
//! of that: what is on the medium is a conversion that nobody mounts, or a whole NTFS, as other programs see it; and what
//! somebody puts into that is not touched by the `resume` that comes after.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod support;

use keyway_convert::bitlocker::{BitLockerMedium, BitLockerPlan, Next, find, next};
use keyway_convert::{ConversionKind, ConvertError, Stopped};
use keyway_store::{MemStore, Store};
use keyway_testkit::{Rng, require_tool};
use keyway_volume::bitlocker::{UnlockRequest, is_volume};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use support::bitlocker::{Case, key, opened};
use support::{Loss, Power};

const PAGE: usize = 4096;

/// Where the pointer is, in the loader's code.
const POINTER: std::ops::Range<usize> = 216..252;

/// Decrypts, from the beginning or from wherever it is.
fn decrypted(store: &Arc<dyn Store>, case: &Case) -> Result<Stopped, ConvertError> {
    let plan = if find(store)?.is_some() {
        match next(store, &UnlockRequest::new(&key(&case.key)), None)? {
            Next::Run(plan) => *plan,
            Next::Nothing(BitLockerMedium::Decrypted) => return Ok(Stopped::Done),
            Next::Nothing(left) => panic!("{left:?}"),
        }
    } else if is_volume(store)? {
        BitLockerPlan::of_volume(store, opened(store, &case.key), ConversionKind::Decryption, None)?
            .kept_whole()
    } else {
        return Ok(Stopped::Done);
    };
    let done = plan.run(&plan.conversion(store, None)?, &())?;
    assert!(plan.kept_bad().is_none(), "{:?}", plan.kept_bad());
    Ok(done)
}

fn left(power: Arc<Power>, loss: Loss) -> Vec<u8> {
    Arc::into_inner(power).expect("nobody else has it").left(loss)
}

/// The medium before the end of its decryption, and how many writes and flushes are left. How many there are is a matter of
/// time: of how many targets are on their way when the flusher looks.
fn near_the_end(case: &Case) -> (Vec<u8>, u64) {
    let whole = Arc::new(Power::new(case.image.clone(), None));
    let shared: Arc<dyn Store> = whole.clone();
    assert_eq!(decrypted(&shared, case).expect("nothing fails"), Stopped::Done);
    drop(shared);
    for before_the_end in (110..whole.steps()).step_by(20) {
        let power = Arc::new(Power::new(case.image.clone(), Some(whole.steps() - before_the_end)));
        let shared: Arc<dyn Store> = power.clone();
        let stopped = decrypted(&shared, case).is_err();
        drop(shared);
        let medium = left(power, Loss::All);
        if stopped && !is_ntfs(&medium) {
            let rest = Arc::new(Power::new(medium.clone(), None));
            let shared: Arc<dyn Store> = rest.clone();
            assert_eq!(decrypted(&shared, case).expect("goes on"), Stopped::Done);
            if rest.steps() >= 90 {
                return (medium, rest.steps());
            }
        }
    }
    panic!("a decryption has no end");
}

/// Whether it is what it was before it was encrypted, but for bytes that nobody has, and for the pointer while that is there.
/// A medium that tears the very sector from which the pointer goes keeps a piece of that: nothing of the file system's.
fn is_as_it_was(medium: &[u8], case: &Case, free: &HashSet<usize>, tears: bool) -> Result<(), String> {
    let pages = medium.chunks(PAGE).zip(case.plain.chunks(PAGE)).enumerate();
    for (number, (is, was)) in pages.filter(|(number, (is, was))| is != was && !free.contains(number)) {
        let differ: Vec<usize> = (0..PAGE).filter(|at| is[*at] != was[*at]).collect();
        let there = find(&MemStore::from_vec(medium.to_vec())).expect("read").is_some();
        if number > 0 || !(there || tears) || differ.iter().any(|at| !POINTER.contains(at)) {
            return Err(format!("page {number} is another, at {differ:?}"));
        }
    }
    Ok(())
}

/// Pages of clusters that are free in the file system as it was made: the answer of its own tools.
fn free_pages(case: &Case, cluster: usize) -> HashSet<usize> {
    let file = tempfile::NamedTempFile::new().expect("temp");
    std::fs::write(file.path(), &case.plain).expect("written");
    let bits = output("ntfscat", &["-n", "$Bitmap"], file.path());
    let is_free = |cluster: &usize| bits[cluster / 8] >> (cluster % 8) & 1 == 0;
    let clusters = (0..case.plain.len() / cluster).filter(is_free);
    clusters.flat_map(|n| n * cluster / PAGE..((n + 1) * cluster).div_ceil(PAGE)).collect()
}

fn output(tool: &str, words: &[&str], file: &Path) -> Vec<u8> {
    let tool = require_tool(tool).expect("with mkfs.ntfs");
    let done = match words {
        ["-n", name] => Command::new(tool).arg(file).arg(name).output(),
        words => Command::new(tool).args(words).arg(file).output(),
    };
    let done = done.expect("runs");
    let said = [&done.stderr[..], &done.stdout[..done.stdout.len().min(2000)]].concat();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said));
    done.stdout
}

/// What is mounted, and read, by ntfs-3g's library.
fn mounts(medium: &[u8], when: &str) {
    let file = tempfile::NamedTempFile::new().expect("temp");
    std::fs::write(file.path(), medium).expect("written");
    let tool = require_tool("ntfsinfo").expect("with mkfs.ntfs");
    let done = Command::new(tool).arg("-m").arg(file.path()).output().expect("runs");
    assert!(done.status.success(), "{when}: {}", String::from_utf8_lossy(&done.stderr));
    let fixed = Command::new(require_tool("ntfsfix").expect("with it")).arg("-n").arg(file.path()).output();
    let said = fixed.expect("runs").stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("orrecting") && !said.contains("FAILED"), "{when}: {said}");
}

fn is_ntfs(medium: &[u8]) -> bool {
    medium[3..11] == *b"NTFS    "
}

#[test]
fn a_cut_at_the_end_leaves_a_conversion_or_a_whole_file_system() {
    for (cluster, bytes) in [(4096, 8 << 20), (65_536, 12 << 20)] {
        let Some(case) = Case::of_ntfs(bytes, cluster) else { return };
        let free = free_pages(&case, cluster as usize);
        let (base, steps) = near_the_end(&case);
        assert!(!is_ntfs(&base) && find(&MemStore::from_vec(base.clone())).expect("read").is_some());
        let whole = Arc::new(MemStore::from_vec(base.clone()));
        let shared: Arc<dyn Store> = whole.clone();
        assert_eq!(decrypted(&shared, &case).expect("goes on"), Stopped::Done);
        let (mut front, mut behind) = (0, 0);
        for cut in 0..steps {
            for loss in [if cut % 2 == 0 { Loss::All } else { Loss::Some(cut) }, Loss::Nothing] {
                let when = format!("clusters of {cluster}, cut before {cut} of {steps}, {loss:?}");
                let tears = matches!(loss, Loss::Some(_));
                let power = Arc::new(Power::new(base.clone(), Some(cut)));
                let shared: Arc<dyn Store> = power.clone();
                // How many steps there are is a matter of time.
                let _ = decrypted(&shared, &case);
                drop(shared);
                let medium = left(power, loss);
                let memory = Arc::new(MemStore::from_vec(medium.clone()));
                let in_front = find(&memory).expect("read").is_some_and(|found| found.in_front);
                if in_front {
                    front += 1;
                } else {
                    assert!(is_ntfs(&medium), "{when}: neither the one nor the other");
                    behind += 1;
                    is_as_it_was(&medium, &case, &free, tears).unwrap_or_else(|e| panic!("{when}: {e}"));
                    if cut % 4 == 0 {
                        mounts(&medium, &when);
                    }
                }
                let shared: Arc<dyn Store> = memory.clone();
                // Once more the power fails, wherever.
                let again = Arc::new(Power::new(medium, Some(cut * 7 % 40)));
                let once_more: Arc<dyn Store> = again.clone();
                let _ = decrypted(&once_more, &case);
                drop(once_more);
                let twice: Arc<MemStore> = Arc::new(MemStore::from_vec(left(again, loss)));
                for store in [shared, twice.clone()] {
                    let done = decrypted(&store, &case).unwrap_or_else(|e| panic!("{when}: {e}"));
                    assert_eq!(done, Stopped::Done, "{when}");
                }
                for after in [memory.snapshot(), twice.snapshot()] {
                    let done = MemStore::from_vec(after.clone());
                    assert!(find(&done).expect("read").is_none(), "{when}: still found");
                    is_as_it_was(&after, &case, &free, tears)
                        .unwrap_or_else(|e| panic!("{when}, resumed: {e}"));
                }
            }
        }
        assert!(front > 40 && behind > 20, "{front} and {behind} of {steps}");
        mounts(&whole.snapshot(), "the end");
    }
}

/// Where the metadata was being wiped, what is left of it may be a copy whose seal is broken: the decryption is through all
/// the same.
#[test]
fn a_seal_that_was_half_wiped_does_not_stand_in_the_way() {
    let Some(case) = Case::of_ntfs(8 << 20, 4096) else { return };
    let free = free_pages(&case, 4096);
    let (base, steps) = near_the_end(&case);
    let behind = (0..steps).find_map(|cut| {
        let power = Arc::new(Power::new(base.clone(), Some(cut)));
        let shared: Arc<dyn Store> = power.clone();
        let _ = decrypted(&shared, &case);
        drop(shared);
        let medium = left(power, Loss::Nothing);
        find(&MemStore::from_vec(medium.clone()))
            .expect("read")
            .is_some_and(|found| !found.in_front)
            .then_some(medium)
    });
    let mut medium = behind.expect("the file system is put in front before the metadata goes");
    let copies: Vec<usize> =
        (0..medium.len()).step_by(512).filter(|at| medium[*at..].starts_with(b"-FVE-FS-")).collect();
    let [first, second, third] = copies[..] else { panic!("copies at {copies:?}") };
    for wiped in [first, second] {
        medium[wiped..wiped + PAGE].fill(0);
    }
    // Behind the block, whose length is in units of 16 bytes, are its checksum and the seal, which ends with its MAC.
    let block = usize::from(u16::from_le_bytes([medium[third + 8], medium[third + 9]])) * 16;
    medium[third + block + 8 + 24] ^= 1;
    let store = Arc::new(MemStore::from_vec(medium));
    let shared: Arc<dyn Store> = store.clone();
    assert_eq!(decrypted(&shared, &case).expect("it is through"), Stopped::Done);
    is_as_it_was(&store.snapshot(), &case, &free, false).expect("the file system");
}

/// Between the cut and `resume` all free space is given to a file.
#[test]
fn resume_leaves_what_was_put_there_since() {
    for (cluster, bytes) in [(4096, 8 << 20), (65_536, 12 << 20)] {
        let Some(case) = Case::of_ntfs(bytes, cluster) else { return };
        let free = free_pages(&case, cluster as usize).len() * PAGE;
        let content = Rng::new(cluster).bytes(free - (96 << 10) - 3 * cluster as usize);
        let given = tempfile::NamedTempFile::new().expect("temp");
        std::fs::write(given.path(), &content).expect("written");
        let pages: HashSet<&[u8]> = content.chunks(PAGE).collect();
        let volume = MemStore::from_vec(case.image.clone());
        let copies = opened(&volume, &case.key).opened.metadata.block().copies;
        let (base, _) = near_the_end(&case);
        let (mut cut, mut tried) = (0, 0);
        loop {
            let power = Arc::new(Power::new(base.clone(), Some(cut)));
            let shared: Arc<dyn Store> = power.clone();
            let done = decrypted(&shared, &case).is_ok();
            drop(shared);
            cut += 2;
            let medium = left(power, Loss::Nothing);
            if done {
                break;
            }
            if !is_ntfs(&medium) || find(&MemStore::from_vec(medium.clone())).expect("read").is_none() {
                continue;
            }
            tried += 1;
            let file = tempfile::NamedTempFile::new().expect("temp");
            std::fs::write(file.path(), &medium).expect("written");
            let copied = Command::new(require_tool("ntfscp").expect("with mkfs.ntfs"))
                .arg(file.path())
                .arg(given.path())
                .arg("given")
                .output()
                .expect("runs");
            assert!(copied.status.success(), "cut {cut}: {}", String::from_utf8_lossy(&copied.stderr));
            let filled = std::fs::read(file.path()).expect("read");
            let theirs = copies.iter().filter(|at| pages.contains(&filled[**at as usize..][..PAGE]));
            assert!(theirs.count() >= 2, "cut {cut}: the file lies elsewhere");
            let store = Arc::new(MemStore::from_vec(filled));
            let shared: Arc<dyn Store> = store.clone();
            decrypted(&shared, &case).unwrap_or_else(|e| panic!("cut {cut}: {e}"));
            assert!(find(&shared).expect("read").is_none(), "cut {cut}: still found");
            std::fs::write(file.path(), store.snapshot()).expect("written");
            assert!(
                output("ntfscat", &["-n", "given"], file.path()) == content,
                "cut {cut}: another content"
            );
            mounts(&store.snapshot(), &format!("cut {cut}"));
        }
        assert!(tried > 6, "{tried}");
    }
}
