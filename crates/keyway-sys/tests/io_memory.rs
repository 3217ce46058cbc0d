//! Memory for requests: whose it is, what is in it, and what the kernel says of its pages.
#![allow(clippy::expect_used, reason = "a helper of tests fails as a test does")]

use keyway_sys::IoMemory;
use keyway_testkit::{Rng, leave_out};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MIB: usize = 1 << 20;

/// The pool is the process's, and so are its figures: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A figure of the mapping around `address`, in bytes, as `/proc/self/smaps` has it.
fn told(address: *const u8, figure: &str) -> usize {
    let line =
        mapping(address).into_iter().find(|line| line.starts_with(figure)).expect("the kernel tells it");
    let kib = line.split_whitespace().nth(1).expect("a number");
    kib.parse::<usize>().expect("a number") * 1024
}

fn mapping(address: *const u8) -> Vec<String> {
    let text = std::fs::read_to_string("/proc/self/smaps").expect("the kernel tells");
    let mut lines = text.lines().map(str::to_owned).skip_while(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let ends = range.map(|(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16)));
        !matches!(ends, Some([Ok(from), Ok(to)]) if (from..to).contains(&address.addr()))
    });
    let head = lines.next().expect("it is mapped");
    let rest = lines.take_while(|line| line.split(' ').next().is_some_and(|word| word.ends_with(':')));
    std::iter::once(head).chain(rest).collect()
}

/// Whether there are huge pages for whoever asks.
fn huge_pages() -> bool {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let there = setting.contains("[always]") || setting.contains("[madvise]");
    if !there {
        leave_out(&format!("huge pages: this kernel has them switched off ({})", setting.trim()));
    }
    there
}

#[test]
fn everything_touched_lies_in_huge_pages() {
    let _alone = alone();
    if !huge_pages() {
        return;
    }
    let mut large = IoMemory::zeroed(16 * MIB).expect("memory");
    let mut small: Vec<_> = (0..12).map(|_| IoMemory::zeroed(256 << 10).expect("memory")).collect();
    large.fill(1);
    small.iter_mut().for_each(|piece| piece.fill(2));
    // Where memory is short or in pieces the kernel has fewer; here it is told when there are none at all.
    let huge = told(large.as_ptr(), "AnonHugePages:");
    let small_huge = told(small[0].as_ptr(), "AnonHugePages:");
    if huge == 0 {
        leave_out("huge pages: this kernel has none left");
        return;
    }
    assert!(huge >= 14 * MIB, "{huge} of 16 MiB lie in huge pages");
    assert!(small_huge >= 2 * MIB, "{small_huge} of the small pieces' memory lie in huge pages");
}

#[test]
fn pieces_are_zeros_on_pages_and_nobody_elses() {
    let _alone = alone();
    let mut rng = Rng::new(22);
    let mut held: Vec<(IoMemory, u8)> = Vec::new();
    for round in 0..600u32 {
        if held.len() > 20 || (round % 3 == 2 && !held.is_empty()) {
            let (piece, mark) = held.swap_remove(rng.below(held.len() as u64) as usize);
            assert!(piece.iter().all(|byte| *byte == mark), "somebody else wrote into it");
        } else {
            let bytes = 1 + rng.below(if round % 10 == 0 { 5 << 20 } else { 700 << 10 }) as usize;
            let mut piece = IoMemory::zeroed(bytes).expect("memory");
            assert!(piece.len() >= bytes && piece.as_ptr().addr().is_multiple_of(4096));
            assert!(piece.iter().all(|byte| *byte == 0), "what another had written is still there");
            let mark = (round % 255) as u8 + 1;
            piece.fill(mark);
            held.push((piece, mark));
        }
    }
}

#[test]
fn what_nobody_has_goes_back_but_for_a_block() {
    let _alone = alone();
    let before = IoMemory::in_use();
    let held: Vec<_> = (0..40).map(|_| IoMemory::zeroed(512 << 10).expect("memory")).collect();
    let large = IoMemory::zeroed(3 * MIB).expect("memory");
    let during = IoMemory::in_use();
    assert_eq!(during.lent - before.lent, 24 * MIB, "20 MiB in pieces, and 3 in whole huge pages");
    assert!(during.mapped >= during.lent, "{during:?}");
    drop((held, large));
    let after = IoMemory::in_use();
    assert_eq!(after.lent, before.lent);
    assert!(after.mapped <= before.lent.next_multiple_of(2 * MIB) + 2 * MIB, "{after:?}");
}

#[test]
fn what_is_emptied_takes_no_memory_and_comes_back_huge() {
    let _alone = alone();
    let mut memory = IoMemory::apart(8 * MIB).expect("memory");
    memory.fill(7);
    assert!(told(memory.as_ptr(), "Rss:") >= 8 * MIB);
    memory.empty();
    // A neighbour's pages may be counted with it.
    assert!(told(memory.as_ptr(), "Rss:") < 8 * MIB, "its pages are still there");
    assert!(memory.iter().all(|byte| *byte == 0));
    memory.fill(8);
    if huge_pages() && told(memory.as_ptr(), "AnonHugePages:") == 0 {
        leave_out("huge pages: this kernel has none left");
    }
    assert!(memory.iter().all(|byte| *byte == 8));
    let mut part = IoMemory::zeroed(64 << 10).expect("memory");
    part.fill(9);
    part.empty();
    assert!(part.iter().all(|byte| *byte == 0));
}

#[test]
fn it_is_kept_out_of_swap_dumps_and_children() {
    let _alone = alone();
    let before = IoMemory::in_use().locked;
    let mut memory = IoMemory::apart(2 * MIB).expect("memory");
    memory.fill(1);
    let flags =
        mapping(memory.as_ptr()).into_iter().find(|line| line.starts_with("VmFlags:")).expect("flags");
    assert!(flags.contains(" dd") && flags.contains(" dc"), "{flags}");
    let locked = IoMemory::in_use().locked > before;
    assert_eq!(locked, flags.contains(" lo"), "{flags}");
    if !locked {
        leave_out("memory kept out of swap: this user may lock too little");
    }
}
