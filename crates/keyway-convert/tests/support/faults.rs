//! What no loss of power does happens to a medium whose conversion was cut: a read of the journal fails, once or always, a bit of
//! it flips, sectors are as they were before, an older journal or an older medium is put back. Then the conversion is resumed:
//! it ends with every byte right, or it is refused with the medium as it was.

use super::cuts::Interrupted;
use super::{Bad, Loss, Power};
use keyway_convert::{ConvertError, SlotTable, Stopped};
use keyway_error::Explain;
use keyway_testkit::Rng;
use std::ops::Range;
use std::sync::Arc;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A page of the journal can't be read: so many times.
    Unread(u64),
    /// A bit of it is another.
    Flipped,
    /// A page of it is as it was before.
    OldPage,
    /// All of it.
    OldJournal,
    /// The medium without its journal's file.
    OldMedium,
}

const FAULTS: [Fault; 6] = [
    Fault::Unread(1),
    Fault::Unread(u64::MAX),
    Fault::Flipped,
    Fault::OldPage,
    Fault::OldJournal,
    Fault::OldMedium,
];

/// Where things are that can be damaged.
pub(crate) struct Journal {
    /// Records, heads, and what is kept of segments, in the order of their places.
    pub(crate) parts: Vec<Range<usize>>,
    /// Where the medium ends and the journal's file begins; the end where there is none.
    pub(crate) file: usize,
}

/// How a number of such runs ended.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) done: u64,
    pub(crate) refused: u64,
}

impl Journal {
    /// That of a place, on a medium of so many bytes with the journal's file behind it, if it is in one.
    pub(crate) fn at(place: &SlotTable, medium: usize, in_a_file: bool) -> Self {
        let file = if in_a_file { medium } else { 0 };
        let page = |at: usize| at..at + 4096;
        let mut parts: Vec<_> = place.heads.iter().map(|at| page(*at as usize)).collect();
        for slot in &place.slots {
            let first = slot.segment as usize + file;
            parts.extend([page(slot.record as usize + file), first..first + place.segment_bytes as usize]);
        }
        Self { parts, file: medium }
    }
}

fn left(power: Arc<Power>, loss: Loss) -> Vec<u8> {
    Arc::into_inner(power).expect("nobody else has it").left(loss)
}

/// Goes on with a medium; how it ended, and the medium. `None`: nothing was found.
fn resumed(
    case: &dyn Interrupted,
    medium: Vec<u8>,
    bad: Option<Bad>,
    dies_at: Option<u64>,
    loss: Loss,
) -> (Option<Result<Stopped, ConvertError>>, Vec<u8>) {
    let power = Arc::new(Power::new(medium, dies_at).with(case.damage()).failing(bad));
    let result = case.resume(&power);
    let loss = if dies_at.is_some() { loss } else { Loss::All };
    // What is not flushed in the end was not needed, or was not written.
    let loss = if matches!(result, None | Some(Err(_))) && dies_at.is_none() { Loss::Nothing } else { loss };
    (result, left(power, loss))
}

/// Cuts the conversion so many times, lets something happen to it, and resumes; panics where anything is wrong.
pub(crate) fn after_any_fault(
    case: &dyn Interrupted,
    journal_of: &dyn Fn(&[u8]) -> Option<Journal>,
    runs: u64,
) -> Ends {
    let name = case.name();
    let whole = Arc::new(Power::new(case.image().to_vec(), None));
    assert_eq!(case.begin(&whole).expect("nothing fails"), Stopped::Done, "{name}");
    let steps = whole.steps();
    let mut ends = Ends::default();
    for turn in 0..runs {
        let mut rng = Rng::new(turn ^ 0xfa_017);
        let cut = rng.below(steps);
        let fault = FAULTS[(turn % FAULTS.len() as u64) as usize];
        let back = match fault {
            // A backup is from some time before: nothing tells the last moment's from what a cut leaves.
            Fault::OldMedium => steps / 3 + rng.below(steps / 3),
            _ => 1 + rng.below(if turn % 4 < 2 { 12 } else { steps }),
        };
        if back > cut {
            continue;
        }
        let photo = cut.saturating_sub(back);
        let power = Arc::new(Power::new(case.image().to_vec(), Some(cut)).with(case.damage()).seen_at(photo));
        if case.begin(&power).is_ok() {
            continue;
        }
        let before = power.photo().expect("it came so far");
        let loss = [Loss::All, Loss::Nothing, Loss::Some(turn)][rng.below(3) as usize];
        let mut medium = left(power, loss);
        let Some(journal) = journal_of(&medium) else { continue };
        let in_a_file = journal.file < medium.len();
        let part = journal.parts[rng.below(journal.parts.len() as u64) as usize].clone();
        // The beginning of a page is where a record is; elsewhere of what is kept any byte.
        let within = |rng: &mut Rng| match part.len() {
            4096 => part.start + rng.below(176) as usize,
            len => part.start + rng.below(len as u64) as usize,
        };
        let mut bad = None;
        match fault {
            Fault::Unread(times) => {
                let at = within(&mut rng) as u64 / 512 * 512;
                bad = Some(Bad { range: at..at + 512, times });
            }
            Fault::Flipped => medium[within(&mut rng)] ^= 1 << rng.below(8),
            Fault::OldPage => {
                let at = within(&mut rng) / 4096 * 4096;
                // A file need not end with a page.
                let page = at..(at + 4096).min(medium.len());
                medium[page.clone()].copy_from_slice(&before[page]);
            }
            Fault::OldJournal if in_a_file => medium[journal.file..].copy_from_slice(&before[journal.file..]),
            Fault::OldMedium if in_a_file => medium[..journal.file].copy_from_slice(&before[..journal.file]),
            Fault::OldJournal | Fault::OldMedium => continue,
        }
        let when = format!("{name}, turn {turn}, cut before {cut} of {steps}, {loss:?}, {fault:?}, {part:?}");
        // One in three times the power fails again.
        let again = (rng.below(3) == 0).then(|| rng.below(24));
        let (mut result, mut after) = resumed(case, medium.clone(), bad, again, Loss::Some(turn));
        if matches!(result, Some(Err(ConvertError::Store(_) | ConvertError::Unreadable { .. }))) {
            // What was cut, or could not be read, is gone on with, without another fault.
            medium = after.clone();
            (result, after) = resumed(case, medium.clone(), None, None, Loss::All);
        }
        match result {
            Some(Ok(Stopped::Done)) => {
                ends.done += 1;
                case.is_done(&after).unwrap_or_else(|wrong| {
                    assert!(case.is_untouched(&after), "{when}, {again:?}: {wrong}");
                });
            }
            Some(Ok(Stopped::Paused)) => panic!("{when}: nobody paused it"),
            Some(Err(e)) => {
                ends.refused += 1;
                assert_eq!(e.fault(), keyway_error::Fault::Contents, "{when}: {e}");
                let differ = after.iter().zip(&medium).position(|(after, before)| after != before);
                assert_eq!(differ, None, "{when}: refused ({e}), and written to");
            }
            None => {
                let right = case.is_done(&after).is_ok() || case.is_untouched(&after);
                assert!(right || fault == Fault::OldMedium, "{when}: nothing is found");
            }
        }
    }
    eprintln!("{name}: after a fault {} done, {} refused", ends.done, ends.refused);
    ends
}
