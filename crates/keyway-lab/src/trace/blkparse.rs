//! The text blkparse prints (blkparse(1), "Default output"): a line per event of a block device.
//!
//! ```text
//! 8,0    3        1     0.000000000   697  D   R 223490 + 8 [kjournald]
//! ```
//!
//! are the device, the processor, a running number, the time in seconds, the process, the event, the
//! request's kind, its first sector and its sectors of 512 bytes. Issued requests (`D`) are taken, and
//! completions (`C`) tell how long they took; a text without `D` is taken by its queued ones (`Q`).
//! What follows the events is a summary.

use crate::trace_error::{TraceError, room};
use keyway_model::trace::{Trace, TraceRecord};
use keyway_store::Action;
use std::collections::HashMap;

/// A sector of blktrace, whatever the drive's, in bytes.
const SECTOR: u64 = 512;
/// The longest request that is taken, in bytes.
const LONGEST_REQUEST: u64 = 1 << 30;

/// The fields of an event that matter.
struct Event<'a> {
    time_us: u64,
    event: &'a str,
    kind: &'a str,
    rest: Vec<&'a str>,
}

/// Whether a line looks like an event: a device's two numbers, two numbers, a time.
pub(super) fn is_event(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let device = words.next().and_then(|w| w.split_once(','));
    let digits = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    device.is_some_and(|(major, minor)| digits(major) && digits(minor))
        && words.next().is_some_and(digits)
        && words.next().is_some_and(digits)
        && words.next().is_some_and(|w| w.contains('.'))
}

fn event(line: &str) -> Result<Event<'_>, &'static str> {
    let mut words = line.split_ascii_whitespace().skip(3);
    let mut word = || words.next().ok_or("it ends early");
    let (seconds, fraction) = word()?.split_once('.').ok_or("its time is not one")?;
    let whole = seconds.parse::<u64>().ok().and_then(|s| s.checked_mul(1_000_000));
    // Nine digits; what is missing on the right are zeros.
    let digits = fraction.get(..fraction.len().min(6)).unwrap_or_default();
    let micros = digits.parse::<u64>().ok().map(|n| n * 10u64.pow(6 - digits.len() as u32));
    let time_us = whole.zip(micros).and_then(|(w, m)| w.checked_add(m)).ok_or("its time is not one")?;
    word()?; // the process
    let (event, kind) = (word()?, word()?);
    Ok(Event { time_us, event, kind, rest: words.collect() })
}

pub(super) fn parse(text: &str) -> Result<Trace, TraceError> {
    let (mut issued, mut queued) = (Vec::new(), Vec::new());
    // Where a request that is under way stands, by its place and what it does.
    let mut flying: HashMap<(u64, bool), usize> = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let bad = |what: &str| TraceError::line(index + 1, format!("{what}: {line:?}"));
        if line.trim().is_empty() {
            continue;
        }
        if !is_event(line) {
            // "CPU0 (sda):" or "Total (sda):" begins the summary.
            if line.starts_with("CPU") || line.starts_with("Total") {
                break;
            }
            return Err(bad("this is no event of blkparse"));
        }
        let event = event(line).map_err(bad)?;
        if !matches!(event.event, "D" | "Q" | "C") {
            continue;
        }
        let action = match event.kind {
            kind if kind.contains('D') => continue, // discards
            kind if kind.contains('R') => Action::Read,
            kind if kind.contains('W') => Action::Write,
            kind if kind.contains('F') => Action::Flush,
            _ => continue,
        };
        let (offset, len) = match event.rest.as_slice() {
            [sector, "+", sectors, ..] => {
                let number = |text: &str| text.parse::<u64>().map_err(|_| bad("a number was expected"));
                let bytes =
                    |n: u64| n.checked_mul(SECTOR).ok_or_else(|| bad("it reaches past any drive's end"));
                (bytes(number(sector)?)?, bytes(number(sectors)?)?)
            }
            // A flush, or a request of no bytes, has no place.
            _ => (0, 0),
        };
        if offset.checked_add(len).is_none_or(|end| end > i64::MAX as u64) {
            return Err(bad("it reaches past any drive's end"));
        }
        if len > LONGEST_REQUEST {
            return Err(bad("it is longer than 1 GiB"));
        }
        let action = match (action, len) {
            (Action::Write, 0) => Action::Flush,
            (Action::Read, 0) => continue,
            (Action::Flush, n) if n > 0 => Action::Write,
            (action, _) => action,
        };
        let record = TraceRecord { start_us: event.time_us, took_us: None, action, offset, len: len as u32 };
        match event.event {
            "D" => {
                room(issued.len())?;
                flying.insert((offset, action == Action::Read), issued.len());
                issued.push(record);
            }
            "Q" => {
                room(queued.len())?;
                queued.push(record);
            }
            _ => {
                let found = flying.remove(&(offset, action == Action::Read));
                if let Some(request) = found.and_then(|at| issued.get_mut(at)) {
                    let took = event.time_us.saturating_sub(request.start_us);
                    request.took_us = Some(u32::try_from(took).unwrap_or(u32::MAX));
                }
            }
        }
    }
    Ok(Trace::new(0, if issued.is_empty() { queued } else { issued }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines blkparse(1) gives as its example, and more of the kind.
    const TEXT: &str = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   R [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000100000   697  D   W 223490 + 8 [kjournald]
  8,0    3        5     0.000120000   697  D   R 64 + 256 [cp]
  8,0    3        6     0.000170000     0  C   R 64 + 256 [0]
  8,0    3        7     0.000500000     0  C   W 223490 + 8 [0]
  8,0    3        8     0.000600000   697  D  FN [kworker]
  8,0    3        9     0.000700000   697  D   D 4096 + 2048 [fstrim]
CPU3 (sda):
 Reads Queued:           1,        4KiB	 Writes Queued:           1,        4KiB
";

    #[test]
    fn issued_requests_with_what_they_took() {
        assert!(is_event(TEXT.lines().next().unwrap()));
        let trace = parse(TEXT).unwrap();
        let plain: Vec<_> =
            trace.records.iter().map(|r| (r.start_us, r.took_us, r.action, r.offset, r.len)).collect();
        assert_eq!(
            plain,
            [
                (100, Some(400), Action::Write, 223_490 * 512, 4096),
                (120, Some(50), Action::Read, 64 * 512, 131_072),
                (600, None, Action::Flush, 0, 0),
            ]
        );
    }

    #[test]
    fn queued_requests_where_nothing_was_issued() {
        let only_queued: String = TEXT
            .lines()
            .filter(|l| !l.contains(" D ") && !l.contains(" C "))
            .map(|l| format!("{l}\n"))
            .collect();
        let trace = parse(&only_queued).unwrap();
        assert_eq!(trace.records.len(), 1);
        assert_eq!(trace.records[0].start_us, 2);
    }

    #[test]
    fn a_bad_line_is_named() {
        let first = TEXT.lines().next().unwrap();
        for bad in [
            "what is this",
            "8,0 3 1 0.x 697 D R 1 + 8 [x]",
            "8,0 3 1 0.5 697",
            "8,0 3 1 0.5 697 D R x + 8 [x]",
            "8,0 3 1 0.5 697 D R 36028797018963968 + 8 [x]",
            "8,0 3 1 0.5 697 D R 18446744073709551615 + 8 [x]",
            "8,0 3 1 0.5 697 D R 0 + 4194304 [x]",
        ] {
            match parse(&format!("{first}\n{bad}\n")) {
                Err(TraceError::Line { line: 2, .. }) => {}
                other => panic!("{bad}: {other:?}"),
            }
        }
    }
}
