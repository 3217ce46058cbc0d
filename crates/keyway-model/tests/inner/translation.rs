//! The translation layer against laws that others have published, and against what must be so whatever is written.

use super::*;

const PAGE: u64 = 4096;
const PER_BLOCK: u64 = 128;

/// A drive of `blocks` blocks of its own and so many spare ones.
fn drive(blocks: u64, spare: u64) -> Translation {
    let block = PAGE * PER_BLOCK;
    let p = TranslationParameters {
        flash_bytes: (blocks + spare) * block,
        page_bytes: PAGE as u32,
        block_bytes: block as u32,
    };
    Translation::new(&p, blocks * block)
}

/// Numbers that look like chance: xorshift (Marsaglia, 2003).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// How often each page that is given is written, over `writes` of them among the first `pages`, after as many to settle.
fn amplification(drive: &mut Translation, pages: u64, writes: u64) -> f64 {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut round = |drive: &mut Translation| -> u64 {
        (0..writes).map(|_| drive.write(dice.below(pages) * PAGE, PAGE as usize) / PAGE).sum()
    };
    round(drive);
    1.0 + round(drive) as f64 / writes as f64
}

/// Desnoyers 2012: of a block that is taken, the part that is still in use is the `v` for which `v = exp(-a(1 - v))`, where `a`
/// is the flash there is to the pages in use; blocks of many pages that are taken greedily come to the same.
fn law(a: f64) -> f64 {
    let v = (0..10_000).fold(0.5, |v: f64, _| (-a * (1.0 - v)).exp());
    1.0 / (1.0 - v)
}

#[test]
fn writes_spread_evenly_are_amplified_as_the_law_says() {
    for (spare, writes) in [(80, 1_500_000), (200, 1_000_000), (500, 600_000)] {
        let mut drive = drive(1000, spare);
        drive.lay_down();
        let found = amplification(&mut drive, 1000 * PER_BLOCK, writes);
        // Three that are kept erased are of no use.
        let law = law((1000 + spare - 3) as f64 / 1000.0);
        assert!((found / law - 1.0).abs() < 0.08, "{spare} spare: {found:.3}, the law {law:.3}");
    }
}

#[test]
fn what_is_discarded_is_room() {
    let mut drive = drive(1000, 80);
    drive.lay_down();
    drive.discard(500 * PER_BLOCK * PAGE, 500 * PER_BLOCK * PAGE);
    let found = amplification(&mut drive, 500 * PER_BLOCK, 600_000);
    let law = law(1077.0 / 500.0);
    assert!((found / law - 1.0).abs() < 0.08, "{found:.3}, the law {law:.3}");
}

#[test]
fn a_drive_that_has_room_collects_nothing() {
    let mut drive = drive(1000, 80);
    let again: u64 = (0..1000 * PER_BLOCK).map(|page| drive.write(page * PAGE, PAGE as usize)).sum();
    assert_eq!(again, 0, "each page once");
}

#[test]
fn no_page_is_ever_lost_and_none_is_counted_twice() {
    let mut drive = drive(60, 8);
    let mut dice = Dice(7);
    let mut written = std::collections::BTreeSet::new();
    for step in 0..200_000u64 {
        let page = dice.below(60 * PER_BLOCK);
        let len = 1 + dice.below(3);
        if step % 7 == 0 {
            drive.discard(page * PAGE, len * PAGE);
            written.retain(|kept| !(page..page + len).contains(kept));
        } else {
            drive.write(page * PAGE, (len * PAGE) as usize);
            written.extend(page..(page + len).min(u64::from(drive.pages())));
        }
    }
    let in_use: u64 = drive.blocks.iter().map(|block| u64::from(block.in_use)).sum();
    assert_eq!(in_use, written.len() as u64);
    for page in 0..drive.pages() {
        let at = drive.block_of(page);
        assert_eq!(at != NOWHERE, written.contains(&u64::from(page)), "page {page}");
        assert!(at == NOWHERE || !drive.erased.contains(&at), "page {page} lies in a block that is erased");
    }
    assert!(drive.blocks.iter().all(|block| block.pages.len() as u64 <= PER_BLOCK));
}

#[test]
fn bytes_that_are_no_whole_page_are_not_discarded() {
    let mut drive = drive(10, 8);
    drive.lay_down();
    drive.discard(1, PAGE);
    assert!((0..drive.pages()).all(|page| drive.block_of(page) != NOWHERE), "no page of it is whole");
}

const SMALLER: u64 = 64;

/// Requests a second of 4 KiB random writes over a span at depth 32, on a drive of that model as it was made, and on one that is
/// full.
fn as_made_and_full(span: u64) -> [f64; 2] {
    use crate::drive::{Clock, Direction, DriveModel, Load, Mechanism, ModelDrive, NullStore, measure};
    let mut model = DriveModel::named("samsung-840-pro").unwrap();
    // A small one of its kind: what counts is what is to what.
    model.capacity_bytes /= SMALLER;
    if let Mechanism::Flash(flash) = &mut model.mechanism {
        let translation = flash.translation.as_mut().unwrap();
        translation.flash_bytes /= SMALLER;
        translation.block_bytes /= 8;
    }
    let span = span / SMALLER;
    let load =
        Load::Random { action: Direction::Write, block_bytes: 4096, depth: 32, span_bytes: Some(span) };
    [false, true].map(|full| {
        let store = NullStore::new(model.capacity_bytes, model.sector_bytes);
        let drive = ModelDrive::over(model.clone(), Clock::simulated(), Box::new(store));
        if full {
            drive.fill();
            drive.wear_in(span, 4096);
        }
        measure(&drive, &load).unwrap().unwrap().iops
    })
}

/// What is spare is 18.8 GB. A test of 8 GB writes over itself in there, whatever else the drive holds; one that writes
/// everywhere does not.
#[test]
fn a_full_drive_is_slow_where_what_is_written_is_more_than_what_is_spare() {
    let [made, full] = as_made_and_full(8_000_000_000);
    assert!(full / made > 0.97, "8 GB: {made:.0} and {full:.0}");
    let [made, full] = as_made_and_full(64_000_000_000);
    assert!(full / made < 0.75, "64 GB: {made:.0} and {full:.0}");
}
