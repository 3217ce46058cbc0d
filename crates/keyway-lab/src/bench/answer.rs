//! Which cipher to take, and why: by what was measured on this machine, and not where the turns' spread hides it.

use super::ciphers::CipherRow;
use super::document::{BenchDocument, Point, point_words};
use super::subject::BenchSubject;

/// What drives read in a second, in MB/s, the fastest first.
const DRIVES: [(f64, &str); 4] = [
    (7500.0, "the fastest SSDs (7500 MB/s)"),
    (3500.0, "fast SSDs (3500 MB/s)"),
    (550.0, "SSDs on SATA (550 MB/s)"),
    (250.0, "hard disks (250 MB/s)"),
];

/// How many MB/s each cipher gives at most, of all that was measured of it; the fastest first.
fn limits(document: &BenchDocument) -> Option<String> {
    let points = document.points();
    let most = |name: &str| {
        let speeds = points.iter().filter_map(|&point| document.best_row(name, point)).map(CipherRow::mb_s);
        speeds.reduce(f64::max)
    };
    let mut all: Vec<_> =
        document.names().into_iter().filter_map(|name| Some((name.to_owned(), most(name)?))).collect();
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let told: Vec<String> = all.iter().map(|(name, speed)| format!("{name} up to {speed:.0}")).collect();
    (!told.is_empty()).then(|| format!("In MB/s this machine gives {}.", told.join(", ")))
}

/// How much each cipher gives, a sentence for each format of which something was measured, and one on drives.
pub fn answer(document: &BenchDocument) -> Vec<String> {
    let Some(&point) = document.points_of_comparison().first() else { return Vec::new() };
    let of = |bitlocker: bool| {
        let format = |name: &&str| matches!(name.parse(), Ok(BenchSubject::BitLocker(_))) == bitlocker;
        let names = document.names().into_iter().filter(format);
        let mut rows: Vec<&CipherRow> = names.filter_map(|name| document.best_row(name, point)).collect();
        rows.sort_by(|a, b| b.mb_s().total_cmp(&a.mb_s()));
        rows
    };
    let formats = [("VeraCrypt", of(false)), ("BitLocker", of(true))];
    let mut lines: Vec<String> = limits(document).into_iter().collect();
    lines.extend(formats.iter().filter_map(|(format, rows)| choice(format, rows, point)));
    let fastest = formats.iter().filter_map(|(_, rows)| rows.first());
    lines.extend(fastest.max_by(|a, b| a.mb_s().total_cmp(&b.mb_s())).map(|row| drives(row, point)));
    lines
}

/// What one of its turns may be, at least and at most.
fn bounds(row: &CipherRow) -> (f64, f64) {
    let spread = row.spread_percent() / 100.0;
    (row.mb_s() * (1.0 - spread), row.mb_s() * (1.0 + spread))
}

/// A difference of this part of the faster one's speed is worth a choice.
const WORTH_IT: f64 = 1.0 / 3.0;

/// Whether two that do not differ beyond their spread may differ by so much all the same.
fn hides_a_choice(best: &CipherRow, next: &CipherRow) -> bool {
    let [best, next] = [best, next].map(|row| row.spread_percent() / 100.0);
    1.0 - best <= (1.0 - WORTH_IT) * (1.0 + next)
}

fn choice(format: &str, rows: &[&CipherRow], point: Point) -> Option<String> {
    let (best, next) = (rows.first()?, rows.get(1));
    let place = point_words(point);
    let (name, speed) = (&best.cipher, best.mb_s());
    Some(match next {
        None => format!("{format}: {name} does {speed:.0} MB/s ({place}); nothing else of it was measured."),
        Some(next) if bounds(best).0 <= bounds(next).1 && hides_a_choice(best, next) => format!(
            "{format}: {name} and {} are too unsteady here to tell: run it again when nothing else runs.",
            next.cipher
        ),
        Some(next) if bounds(best).0 <= bounds(next).1 => {
            format!("{format}: {name} and {} do not differ beyond their spread: take either.", next.cipher)
        }
        Some(next) => format!(
            "{format}: take {name}, the fastest: {speed:.0} MB/s ({place}); the next, {}, does {:.0}.",
            next.cipher,
            next.mb_s()
        ),
    })
}

/// Which drives it keeps up with, and which wait for it: by its median, and what its spread hides is said to be hidden.
fn drives(row: &CipherRow, point: Point) -> String {
    let (name, speed, (least, most)) = (&row.cipher, row.mb_s(), bounds(row));
    let place = if point.1 == 1 { "on one core" } else { "on these threads" };
    let waits = match DRIVES.iter().rfind(|(drive, _)| speed < *drive) {
        None => "it costs processor time alone".to_owned(),
        Some((drive, drives)) if most < *drive => format!("{drives} wait for it"),
        Some((_, drives)) => format!("whether {drives} wait for it, its spread hides"),
    };
    match DRIVES.iter().find(|(drive, _)| speed >= *drive) {
        Some((drive, drives)) => {
            let turns = if least < *drive { ", if not in each turn" } else { "" };
            format!("{name} keeps up with {drives} {place}{turns}: {waits}.")
        }
        None => format!("{name} is slower than hard disks {place}: {waits}."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::BenchMachine;
    use super::*;

    fn document(rows: &[(&str, f64, f64)]) -> BenchDocument {
        let row = |(cipher, speed, spread): &(&str, f64, f64)| CipherRow {
            cipher: (*cipher).to_owned(),
            kernel: "avx2",
            threads: 1,
            buffer_bytes: 1 << 20,
            sector_bytes: 512,
            encrypt_mb_s: *speed,
            decrypt_mb_s: speed + 1.0,
            encrypt_spread_percent: *spread,
            decrypt_spread_percent: 0.1,
            encrypt_cycles_per_byte: None,
            decrypt_cycles_per_byte: None,
            chosen: true,
        };
        BenchDocument {
            machine: BenchMachine::here(String::new()),
            ciphers: rows.iter().map(row).collect(),
            kdfs: Vec::new(),
            memcpy_mb_s: 10_000.0,
            memcpy_spread_percent: 0.0,
            memory: Vec::new(),
        }
    }

    #[test]
    fn the_fastest_is_taken_where_the_spread_does_not_hide_it() {
        let told = answer(&document(&[
            ("serpent", 900.0, 1.0),
            ("aes", 5000.0, 1.0),
            ("aes-xts-128", 6000.0, 8.0),
            ("aes-xts-256", 5500.0, 8.0),
        ]));
        assert_eq!(
            told,
            [
                "In MB/s this machine gives aes-xts-128 up to 6000, aes-xts-256 up to 5500, aes up to 5000, serpent up to 900.",
                "VeraCrypt: take aes, the fastest: 5000 MB/s (1 MiB, one core); the next, serpent, does 900.",
                "BitLocker: aes-xts-128 and aes-xts-256 do not differ beyond their spread: take either.",
                "aes-xts-128 keeps up with fast SSDs (3500 MB/s) on one core: the fastest SSDs (7500 MB/s) wait for it.",
            ]
        );
        assert!(told.iter().skip(1).all(|line| line.chars().count() < 110));
    }

    /// On a machine that does much else, a cipher that is twice as fast is nothing to toss a coin about.
    #[test]
    fn what_a_wide_spread_hides_is_not_called_the_same() {
        let told =
            |aes, serpent| answer(&document(&[("aes", 868.0, aes), ("serpent", 376.0, serpent)])).remove(1);
        let unsteady =
            "VeraCrypt: aes and serpent are too unsteady here to tell: run it again when nothing else runs.";
        assert_eq!(told(134.0, 49.0), unsteady);
        assert_eq!(told(60.0, 10.0), unsteady);
        assert!(told(30.0, 10.0).contains("take aes, the fastest"));
        let close = answer(&document(&[("aes", 400.0, 15.0), ("serpent", 376.0, 15.0)])).remove(1);
        assert!(close.ends_with("take either."), "{close}");
    }

    #[test]
    fn one_alone_is_no_choice() {
        let told = answer(&document(&[("aes", 9000.0, 1.0)]));
        assert_eq!(told[0], "In MB/s this machine gives aes up to 9000.");
        assert!(told[1].ends_with("nothing else of it was measured."), "{told:?}");
        assert!(told[2].contains("processor time alone"), "{told:?}");
        assert!(answer(&document(&[("serpent", 90.0, 1.0)]))[2].contains("slower than hard disks"));
    }
    /// The median says what it keeps up with; a spread that reaches past a drive's speed is told, and is no wait.
    #[test]
    fn a_spread_is_told_and_not_taken_off() {
        let last = |speed, spread| answer(&document(&[("aes", speed, spread)])).pop().expect("a line");
        let keeps = "aes keeps up with SSDs on SATA (550 MB/s) on one core";
        assert_eq!(last(1000.0, 10.0), format!("{keeps}: fast SSDs (3500 MB/s) wait for it."));
        assert_eq!(
            last(1000.0, 60.0),
            format!("{keeps}, if not in each turn: fast SSDs (3500 MB/s) wait for it.")
        );
        assert_eq!(
            last(3000.0, 30.0),
            format!("{keeps}: whether fast SSDs (3500 MB/s) wait for it, its spread hides.")
        );
    }
}
