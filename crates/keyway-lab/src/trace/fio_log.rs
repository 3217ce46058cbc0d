//! fio's iologs, versions 2 and 3 (fio's manual, "Trace file format v2", "v3").
//!
//! Version 2 is `FILE ACTION [OFFSET LENGTH]`, with `wait` lines between; version 3 begins each line
//! with a time in µs and has none. Neither says how long a request took. Actions on several files
//! are laid one after the other, each file as long as its requests reach.

use crate::trace_error::{TraceError, room};
use keyway_model::trace::{Trace, TraceRecord};
use keyway_store::Action;

/// The longest request that is taken, in bytes; fio's own limit is a configuration's.
const LONGEST_REQUEST: u64 = 1 << 30;
/// Files between which a log may switch.
const MOST_FILES: usize = 1000;

pub(super) fn parse(text: &str) -> Result<Trace, TraceError> {
    let mut lines = text.lines().enumerate();
    let timed = match lines.next().map(|(_, first)| first.trim_end()) {
        Some("fio version 2 iolog") => false,
        Some("fio version 3 iolog") => true,
        Some(other) => {
            return Err(TraceError::Version(other.to_owned()));
        }
        None => return Err(TraceError::Unknown),
    };
    let mut files: Vec<(&str, u64)> = Vec::new();
    let mut requests: Vec<(usize, TraceRecord)> = Vec::new();
    let mut time = 0u64;
    for (index, line) in lines {
        let bad = |what: &str| TraceError::line(index + 1, format!("{what}: {line:?}"));
        let number = |text: &str| text.parse::<u64>().map_err(|_| bad("a number was expected"));
        let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if timed {
            let told = number(words.remove(0))?;
            if told < time {
                return Err(bad("its time is before that of the line above"));
            }
            time = told;
        }
        let (file, action, rest) = match words.as_slice() {
            [file, action, rest @ ..] => (*file, *action, rest),
            _ => return Err(bad("a file and an action were expected")),
        };
        let action = match (action, rest) {
            ("add" | "open" | "close", []) => continue,
            ("wait", [us, ..]) if !timed => {
                time = time.checked_add(number(us)?).ok_or_else(|| bad("it waits too long"))?;
                continue;
            }
            ("trim", [_, _]) => continue,
            ("read", [_, _]) => Action::Read,
            ("write", [_, _]) => Action::Write,
            ("sync" | "datasync", _) => Action::Flush,
            _ => return Err(bad("this action, or what follows it, is not known")),
        };
        let number_of = match files.iter().position(|(name, _)| *name == file) {
            Some(found) => found,
            None if files.len() < MOST_FILES => {
                files.push((file, 0));
                files.len() - 1
            }
            None => return Err(bad("too many files")),
        };
        let (mut offset, mut len) = (0, 0);
        if let ([at, n], true) = (rest, action != Action::Flush) {
            (offset, len) = (number(at)?, number(n)?);
            let end = offset.checked_add(len).filter(|end| *end <= i64::MAX as u64);
            let end = end.ok_or_else(|| bad("it reaches past any file's end"))?;
            if len == 0 || len > LONGEST_REQUEST {
                return Err(bad("its length is out of range (1 byte to 1 GiB)"));
            }
            if let Some((_, size)) = files.get_mut(number_of) {
                *size = (*size).max(end);
            }
        }
        room(requests.len())?;
        let record = TraceRecord { start_us: time, took_us: None, action, offset, len: len as u32 };
        requests.push((number_of, record));
    }
    // Each file begins at a round place after the one before.
    let mut starts = Vec::with_capacity(files.len());
    let mut next = 0u64;
    for (_, size) in &files {
        starts.push(next);
        let end = next.checked_add(*size).and_then(|end| end.checked_next_multiple_of(1 << 20));
        next = end.ok_or_else(|| TraceError::line(1, "its files are too large together"))?;
    }
    let records = requests.into_iter().map(|(file, mut record)| {
        if record.action != Action::Flush {
            record.offset += starts.get(file).copied().unwrap_or(0);
        }
        record
    });
    Ok(Trace::new(0, records.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_with_waits_and_two_files() {
        let text = "fio version 2 iolog\n/a add\n/b add\n/a open\n/b open\n/a read 0 4096\n/a wait 250 0\n\
                    /b write 8192 512\n/b datasync 0 0\n/a trim 0 4096\n/a read 3145728 4096\n/a close\n";
        let trace = parse(text).unwrap();
        let plain: Vec<_> = trace.records.iter().map(|r| (r.start_us, r.action, r.offset, r.len)).collect();
        assert_eq!(
            plain,
            [
                (0, Action::Read, 0, 4096),
                (250, Action::Write, (4 << 20) + 8192, 512),
                (250, Action::Flush, 0, 0),
                (250, Action::Read, 3_145_728, 4096),
            ]
        );
        assert_eq!(trace.volume_bytes, (4 << 20) + 8704);
    }

    /// Written by fio 3.33 with `--thinktime=1000`.
    const VERSION_3: &str = "fio version 3 iolog\n17 /tmp/f.bin add\n104 /tmp/f.bin open\n\
        108 /tmp/f.bin read 61440 4096\n1295 /tmp/f.bin read 774144 4096\n3377 /tmp/f.bin write 491520 4096\n\
        10131 /tmp/f.bin close\n";

    #[test]
    fn version_3_has_times() {
        let trace = parse(VERSION_3).unwrap();
        assert_eq!(trace.records.iter().map(|r| r.start_us).collect::<Vec<_>>(), [108, 1295, 3377]);
        assert!(trace.records.iter().all(|r| r.took_us.is_none()));
        assert_eq!(trace.bytes(), (8192, 4096));
    }

    #[test]
    fn a_bad_line_is_named() {
        for (line, text) in [
            (1, "fio version 4 iolog\n"),
            (2, "fio version 2 iolog\n/a read x 4096\n"),
            (3, "fio version 2 iolog\n/a add\n/a read 0\n"),
            (2, "fio version 2 iolog\n/a erase 0 512\n"),
            (2, "fio version 2 iolog\n/a read 18446744073709551615 4096\n"),
            (2, "fio version 2 iolog\n/a read 0 0\n"),
            (2, "fio version 2 iolog\n/a read 0 2147483648\n"),
            (2, "fio version 2 iolog\nalone\n"),
            (3, "fio version 3 iolog\n50 /a read 0 512\n49 /a read 0 512\n"),
            (2, "fio version 3 iolog\n/a read 0 512\n"),
        ] {
            match parse(text) {
                Err(TraceError::Line { line: told, .. }) => assert_eq!(told, line, "{text}"),
                Err(e @ TraceError::Version(_)) => {
                    assert!(line == 1 && e.to_string().starts_with("line 1 of the trace"), "{e}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
