//! The entries of a file or folder as they are written (7.4, 7.6, 7.7).

use crate::calendar::parts;
use crate::exfat::{CONTIGUOUS, ENTRY, FILE, IS_FOLDER, NAME, STREAM, set_sum};
use std::time::{SystemTime, UNIX_EPOCH};

/// Units of a name in an entry (7.7.3).
const UNITS: usize = 15;
/// A file that was changed since somebody made a copy of all that was (7.4.4).
const ARCHIVE: u16 = 0x20;
/// That it may have clusters (6.3.4.1).
const POSSIBLE: u8 = 1;
/// That the clock was UTC's (7.4.10).
const UTC: u8 = 0x80;
/// The years that a time may have (7.4.8).
const YEARS: std::ops::RangeInclusive<u32> = 1980..=2107;

/// A set of entries.
pub(super) type Entries = Vec<[u8; ENTRY]>;

/// Where a file's bytes are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    pub(super) first: u32,
    pub(super) bytes: u64,
    pub(super) contiguous: bool,
}

/// A set for something new.
pub(super) fn entries(
    name: &[u16],
    hash: u16,
    is_folder: bool,
    modified: Option<i64>,
    body: Body,
) -> Entries {
    let mut file = [0; ENTRY];
    let names = name.chunks(UNITS);
    file[0] = FILE;
    file[1] = 1 + names.len() as u8;
    put(&mut file, 4, &(if is_folder { IS_FOLDER as u16 } else { ARCHIVE }).to_le_bytes());
    let now = now();
    let times = [now, modified.and_then(stamp).unwrap_or(now), now];
    for (i, (time, _)) in times.iter().enumerate() {
        put(&mut file, 8 + 4 * i, &time.to_le_bytes());
        put(&mut file, 22 + i, &[UTC]);
    }
    // Hundredths of a second are kept of two of them.
    file[20] = times[0].1;
    file[21] = times[1].1;
    let mut stream = [0; ENTRY];
    stream[0] = STREAM;
    stream[3] = name.len() as u8;
    put(&mut stream, 4, &hash.to_le_bytes());
    let mut set = vec![file, stream];
    for units in names {
        let mut piece = [0; ENTRY];
        piece[0] = NAME;
        for (i, unit) in units.iter().enumerate() {
            put(&mut piece, 2 + 2 * i, &unit.to_le_bytes());
        }
        set.push(piece);
    }
    give_body(&mut set, body);
    set
}

/// Says where the bytes are.
pub(super) fn give_body(set: &mut [[u8; ENTRY]], body: Body) {
    if let Some(stream) = set.get_mut(1) {
        stream[1] = POSSIBLE | if body.contiguous && body.first != 0 { CONTIGUOUS } else { 0 };
        put(stream, 8, &body.bytes.to_le_bytes());
        put(stream, 20, &body.first.to_le_bytes());
        put(stream, 24, &body.bytes.to_le_bytes());
    }
    let sum = set_sum(set);
    if let Some(file) = set.first_mut() {
        put(file, 2, &sum.to_le_bytes());
    }
}

fn put(entry: &mut [u8; ENTRY], at: usize, bytes: &[u8]) {
    if let Some(place) = entry.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// A time as it is kept: to two seconds, and hundredths of these.
fn stamp(at: i64) -> Option<(u32, u8)> {
    let [year, month, day, hour, min, sec] = parts(at).filter(|parts| YEARS.contains(&parts[0]))?;
    let date = (year - YEARS.start()) << 25 | month << 21 | day << 16;
    Some((date | hour << 11 | min << 5 | (sec / 2), (sec % 2) as u8 * 100))
}

fn now() -> (u32, u8) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // A clock that is wrong: the first day there is.
    i64::try_from(since).ok().and_then(stamp).unwrap_or((1 << 21 | 1 << 16, 0))
}
