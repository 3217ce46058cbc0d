//! The file format of a trace.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `KWTRACE1` |
//! | number | size of the volume in bytes |
//! | number | requests that were lost |
//! | number | records |
//!
//! and then, for each record, in the order of their start:
//!
//! | what | how |
//! |---|---|
//! | a number | action (0 read, 1 write, 2 flush) in the lowest two bits, then one bit that says whether a time taken follows, then the µs since the record before |
//! | its time taken | µs, a number; only where the bit says so |
//! | its length | a number, in units of 512 bytes where the lowest bit is 0, in bytes where it is 1; not for a flush |
//! | its place | distance from the end of the record before, signed, in the same unit; not for a flush |
//!
//! A *number* is 7 bits to the byte, lowest first, the highest bit set where more follow; a signed
//! one has its sign in the lowest bit. Most records take 5 to 9 bytes.

use super::requests::{Trace, TraceRecord};
use keyway_store::Action;

const MAGIC: &[u8; 8] = b"KWTRACE1";
/// Longest file that is read, in bytes.
pub const LONGEST_FILE: u64 = 256 << 20;
/// Most records of a trace.
pub const MOST_RECORDS: u64 = 1 << 24;

/// A file that is no trace, or a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TraceFormatError {
    /// Other first bytes.
    #[error("it does not begin as a trace of Keyway does")]
    Magic,
    /// More records than are taken.
    #[error("it holds more than {MOST_RECORDS} requests")]
    TooLong,
    /// It ends inside a record, or a value is out of range.
    #[error("request {0} is damaged")]
    Record(u64),
    /// Bytes after the last record.
    #[error("something follows the last request")]
    Trailing,
}

impl Trace {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for number in [self.volume_bytes, self.lost, self.records.len() as u64] {
            put(&mut out, number);
        }
        let (mut time, mut place) = (0u64, 0u64);
        for record in &self.records {
            let action = match record.action {
                Action::Read => 0,
                Action::Write => 1,
                Action::Flush => 2,
            };
            let since = record.start_us.saturating_sub(time);
            time = record.start_us;
            put(&mut out, action | u64::from(record.took_us.is_some()) << 2 | since << 3);
            if let Some(took) = record.took_us {
                put(&mut out, u64::from(took));
            }
            if record.action == Action::Flush {
                continue;
            }
            let len = u64::from(record.len);
            let whole =
                len.is_multiple_of(512) && record.offset.is_multiple_of(512) && place.is_multiple_of(512);
            let unit = if whole { 512 } else { 1 };
            put(&mut out, ((len / unit) << 1) | u64::from(!whole));
            let (from, to) = (place / unit, record.offset / unit);
            put(&mut out, if to >= from { (to - from) << 1 } else { (from - to) << 1 | 1 });
            place = record.offset.saturating_add(len);
        }
        out
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// It is not such a file, damaged, or longer than is taken.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TraceFormatError> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(TraceFormatError::Magic)?;
        let mut head = || take(&mut rest).ok_or(TraceFormatError::Record(0));
        let (volume_bytes, lost, count) = (head()?, head()?, head()?);
        if count > MOST_RECORDS {
            return Err(TraceFormatError::TooLong);
        }
        // A record takes a byte at least: a false count can't make us reserve more than the file.
        let mut records = Vec::with_capacity((count as usize).min(rest.len()));
        let (mut time, mut place) = (0u64, 0u64);
        for number in 1..=count {
            let record = record(&mut rest, &mut time, &mut place)
                .filter(|r| r.offset.saturating_add(u64::from(r.len)) <= volume_bytes);
            records.push(record.ok_or(TraceFormatError::Record(number))?);
        }
        if !rest.is_empty() {
            return Err(TraceFormatError::Trailing);
        }
        Ok(Self { volume_bytes, records, lost })
    }
}

fn record(rest: &mut &[u8], time: &mut u64, place: &mut u64) -> Option<TraceRecord> {
    let head = take(rest)?;
    let action = match head & 3 {
        0 => Action::Read,
        1 => Action::Write,
        2 => Action::Flush,
        _ => return None,
    };
    *time = time.checked_add(head >> 3)?;
    let took_us = match head & 4 {
        0 => None,
        _ => Some(u32::try_from(take(rest)?).ok()?),
    };
    let (mut offset, mut len) = (0, 0);
    if action != Action::Flush {
        let sized = take(rest)?;
        let unit = if sized & 1 == 0 { 512 } else { 1 };
        len = u32::try_from((sized >> 1).checked_mul(unit)?).ok()?;
        let moved = take(rest)?;
        let (distance, from) = ((moved >> 1).checked_mul(unit)?, *place / unit * unit);
        offset = if moved & 1 == 0 { from.checked_add(distance) } else { from.checked_sub(distance) }?;
        *place = offset.checked_add(u64::from(len))?;
    }
    Some(TraceRecord { start_us: *time, took_us, action, offset, len })
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records() -> impl Strategy<Value = Vec<TraceRecord>> {
        let one = (
            0..5000u64,
            proptest::option::of(any::<u32>()),
            0..3u8,
            any::<u32>(),
            0..1u64 << 44,
            any::<bool>(),
        );
        proptest::collection::vec(one, 0..200).prop_map(|all| {
            let mut start_us = 0;
            let made = all.into_iter().map(|(since, took_us, action, len, offset, whole)| {
                start_us += since;
                let round = if whole { !511 } else { !0 };
                let action = [Action::Read, Action::Write, Action::Flush][action as usize];
                match action {
                    Action::Flush => TraceRecord { start_us, took_us, action, offset: 0, len: 0 },
                    _ => TraceRecord {
                        start_us,
                        took_us,
                        action,
                        offset: offset & round,
                        len: len & round as u32,
                    },
                }
            });
            made.collect()
        })
    }

    proptest! {
        #[test]
        fn comes_back_as_it_was(records in records(), lost in any::<u64>()) {
            let trace = Trace { lost, ..Trace::new(1 << 45, records) };
            prop_assert_eq!(Trace::from_bytes(&trace.to_bytes()), Ok(trace));
        }

        #[test]
        fn takes_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut file = MAGIC.to_vec();
            file.extend(bytes);
            if let Ok(trace) = Trace::from_bytes(&file) {
                for r in &trace.records {
                    prop_assert!(r.offset + u64::from(r.len) <= trace.volume_bytes);
                }
            }
        }
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let read = |start_us, offset| TraceRecord {
            start_us,
            took_us: Some(40),
            action: Action::Read,
            offset,
            len: 4096,
        };
        let good = Trace::new(1 << 20, vec![read(0, 0), read(50, 8192), read(100, 4096)]).to_bytes();
        assert!(Trace::from_bytes(&good).is_ok());
        assert!(good.len() < 8 + 5 + 3 * 8, "{}", good.len());
        assert_eq!(Trace::from_bytes(b"KWTRACE2"), Err(TraceFormatError::Magic));
        assert_eq!(Trace::from_bytes(&good[..good.len() - 1]), Err(TraceFormatError::Record(3)));
        assert_eq!(Trace::from_bytes(&[&good[..], &[0]].concat()), Err(TraceFormatError::Trailing));
        let past = Trace { volume_bytes: 8192, ..Trace::from_bytes(&good).unwrap() };
        assert_eq!(Trace::from_bytes(&past.to_bytes()), Err(TraceFormatError::Record(2)));
        let mut long = MAGIC.to_vec();
        for number in [1, 0, MOST_RECORDS + 1] {
            put(&mut long, number);
        }
        assert_eq!(Trace::from_bytes(&long), Err(TraceFormatError::TooLong));
    }
}
