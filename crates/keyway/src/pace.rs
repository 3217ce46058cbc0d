//! How far long work is, in lines: a bar for a terminal, a line now and then for a log, an object for a program. Nothing is
//! written here: a front is given what to write, when it is time.

use crate::progress::{KeySearch, Note};
use crate::shown::line;
use crate::told::{duration, said_in};
use keyway_error::enum_table;
use keyway_store::size;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

enum_table! {
    /// How it is told.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum PaceStyle {
        /// Not at all.
        None("none"),
        /// A bar, drawn over itself, in as many columns as the terminal has.
        Bar("bar"),
        /// A line every ten seconds.
        Line("line"),
        /// A JSON object every second, in a line of its own.
        Json("json"),
    }
    /// Its word.
    pub name: &'static str,
}

impl PaceStyle {
    /// How long nothing more is told.
    const fn every(self) -> Duration {
        match self {
            Self::None => Duration::MAX,
            Self::Bar => Duration::from_millis(100),
            Self::Line => Duration::from_secs(10),
            Self::Json => Duration::from_secs(1),
        }
    }
}

/// The speed is that of so many last seconds.
const WINDOW: usize = 30;

/// The widest bar, in columns.
const WIDEST: usize = 40;

/// Work that is counted in bytes, or in parts of a search.
#[derive(Debug)]
pub struct Pace {
    style: PaceStyle,
    label: String,
    told: Option<Instant>,
    /// When it was how far, a second apart.
    points: VecDeque<(Instant, u64)>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    part: f64,
    bytes: Option<(u64, u64)>,
    per_second: Option<f64>,
    left: Option<Duration>,
}

impl Pace {
    /// Work that has that name, told so.
    pub fn new(style: PaceStyle, label: &str) -> Self {
        Self { style, label: line(label), told: None, points: VecDeque::new() }
    }

    /// So many bytes of so many are done. What is to be written, if it is time: a bar of so many columns, or a line.
    pub fn at(&mut self, now: Instant, done: u64, total: u64, columns: usize) -> Option<String> {
        if self.style == PaceStyle::None {
            return None;
        }
        let second = |at: Instant| now.saturating_duration_since(at) >= Duration::from_secs(1);
        if self.points.back().is_none_or(|(at, _)| second(*at)) {
            self.points.push_back((now, done));
            if self.points.len() > WINDOW {
                self.points.pop_front();
            }
        }
        if !self.is_time(now) {
            return None;
        }
        let part = if total > 0 { done.min(total) as f64 / total as f64 } else { 0.0 };
        let since = self.points.front().map_or((Duration::ZERO, 0), |(at, before)| {
            (now.saturating_duration_since(*at), done.saturating_sub(*before))
        });
        let per_second = (since.1 > 0 && since.0 >= Duration::from_millis(500))
            .then(|| since.1 as f64 / since.0.as_secs_f64());
        let rest = |speed: f64| Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / speed).ok();
        let left = per_second.and_then(rest);
        Some(self.told(Reached { part, bytes: Some((done, total)), per_second, left }, Value::Null, columns))
    }

    /// The search for a key is so far; the rest as with [`Pace::at`].
    pub fn searching(&mut self, now: Instant, search: &KeySearch, columns: usize) -> Option<String> {
        if self.style == PaceStyle::None || !self.is_time(now) {
            return None;
        }
        let reached = Reached { part: search.done, bytes: None, per_second: None, left: Some(search.left) };
        Some(self.told(reached, json!({"combinations": search.combinations}), columns))
    }

    fn is_time(&mut self, now: Instant) -> bool {
        let time = match self.told {
            // A line tells what goes on for long; the others, that it has begun.
            None => self.style != PaceStyle::Line,
            Some(told) => now.saturating_duration_since(told) >= self.style.every(),
        };
        if time || self.told.is_none() {
            self.told = Some(now);
        }
        time
    }

    fn told(&self, reached: Reached, more: Value, columns: usize) -> String {
        match self.style {
            PaceStyle::None => String::new(),
            PaceStyle::Json => self.object(reached, more),
            PaceStyle::Line => self.sentence(reached),
            PaceStyle::Bar => self.bar(reached, columns),
        }
    }

    fn object(&self, reached: Reached, more: Value) -> String {
        let mut object = json!({
            "progress": self.label,
            "percentage": (reached.part * 1000.0).round() / 10.0,
            "seconds_left": reached.left.map(|left| left.as_secs()),
        });
        if let (Some((done, total)), Some(fields)) = (reached.bytes, object.as_object_mut()) {
            fields.insert("done_bytes".to_owned(), json!(done));
            fields.insert("total_bytes".to_owned(), json!(total));
            fields.insert("bytes_per_second".to_owned(), json!(reached.per_second.map(|speed| speed as u64)));
        }
        if let (Some(fields), Some(more)) = (object.as_object_mut(), more.as_object()) {
            fields.extend(more.clone());
        }
        crate::shown::json(&object.to_string())
    }

    fn sentence(&self, reached: Reached) -> String {
        let parts = [Some(percent(reached.part)), reached.bytes.map(amount), speed(reached), left(reached)];
        format!("{}: {}", self.label, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// What matters most comes first, and what the terminal has no room for is left out; the bar takes what is left.
    fn bar(&self, reached: Reached, columns: usize) -> String {
        // The last column stays free: some terminals begin a new line in it.
        let room = columns.saturating_sub(1);
        let mut parts = match reached.per_second.or(reached.left.map(|left| left.as_secs_f64())) {
            None => vec!["…".to_owned()],
            Some(_) => vec![percent(reached.part)],
        };
        let taken = |parts: &[String]| -> usize {
            let all = parts.iter().map(|part| part.chars().count() + 2);
            all.sum::<usize>() + self.label.chars().count()
        };
        for more in
            [left(reached), reached.bytes.filter(|_| reached.left.is_some()).map(amount), speed(reached)]
        {
            let Some(more) = more else { continue };
            if taken(&parts) + more.chars().count() + 2 > room {
                break;
            }
            parts.push(more);
        }
        let wide = room.saturating_sub(taken(&parts) + 2).min(WIDEST);
        let full = (reached.part * wide as f64) as usize;
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(wide.saturating_sub(full)));
        let bar = if wide < 8 { String::new() } else { format!("{bar}  ") };
        let all = format!("{}  {bar}{}", self.label, parts.join("  "));
        all.chars().take(room).collect()
    }
}

/// What a front says once, before a search for a key that takes long; nothing of one that does not.
pub fn long_search(catalogue: &str, search: &KeySearch) -> Option<String> {
    /// A search of so many seconds goes without saying.
    const LONG: u64 = 8;
    let seconds = search.whole.as_secs();
    let facts = json!({
        "combinations": search.combinations,
        "seconds": seconds,
        "one_hash": search.one_hash,
    });
    (seconds >= LONG).then(|| said_in(catalogue, "searching key", &facts))
}

/// What a front says of other spellings of a password; nothing of another note.
pub fn spelling(catalogue: &str, note: &Note<'_>) -> Option<String> {
    match note {
        Note::Variants(count) => Some(said_in(catalogue, "variants tried", &json!({ "count": count }))),
        Note::OpenedAs(variant) => {
            Some(said_in(catalogue, &format!("variant {}", variant.word()), &Value::Null))
        }
        _ => None,
    }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Both in the unit of the larger.
fn amount((done, total): (u64, u64)) -> String {
    let whole = size::words(total);
    let (_, unit) = whole.split_once(' ').unwrap_or_default();
    let Ok(one) = size::parse(&format!("1{}", unit.replace("bytes", ""))) else { return whole };
    let done = done as f64 / one.max(1) as f64;
    if one == 1 { format!("{done:.0}/{whole}") } else { format!("{done:.1}/{whole}") }
}

fn speed(reached: Reached) -> Option<String> {
    reached.per_second.map(|speed| format!("{}/s", size::words(speed as u64)))
}

fn left(reached: Reached) -> Option<String> {
    reached.left.map(|left| format!("{} left", duration(left.as_secs().max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of work of 40 GiB that does 512 MiB in a second, at each of these seconds.
    fn told(style: PaceStyle, columns: usize, seconds: &[u64]) -> Vec<Option<String>> {
        let (begun, mut pace) = (Instant::now(), Pace::new(style, "encrypting"));
        let all = 0..=seconds.iter().copied().max().unwrap_or(0);
        let told =
            all.map(|s| (s, pace.at(begun + Duration::from_secs(s), s * (512 << 20), 40 << 30, columns)));
        told.filter(|(second, _)| seconds.contains(second)).map(|(_, told)| told).collect()
    }

    #[test]
    fn a_log_has_a_line_every_ten_seconds() {
        let told = told(PaceStyle::Line, 0, &[0, 5, 10, 11, 20]);
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(told[0..2], [None, None]);
        assert_eq!(told[2], line("encrypting: 12 %, 5.0/40 GiB, 512 MiB/s, 70 seconds left"));
        assert_eq!(told[3], None);
        assert_eq!(told[4], line("encrypting: 25 %, 10.0/40 GiB, 512 MiB/s, 60 seconds left"));
    }

    #[test]
    fn a_program_has_an_object_every_second() {
        let told = told(PaceStyle::Json, 0, &[0, 1]);
        let object = |at: usize| -> Value {
            serde_json::from_str(told[at].as_deref().expect("told")).expect("an object")
        };
        assert_eq!(
            object(0),
            json!({"progress": "encrypting", "percentage": 0.0, "done_bytes": 0, "total_bytes": 40_u64 << 30,
                "bytes_per_second": null, "seconds_left": null})
        );
        assert_eq!((&object(1)["done_bytes"], &object(1)["seconds_left"]), (&json!(512 << 20), &json!(79)));
    }

    #[test]
    fn a_bar_fits_its_terminal_and_begins_without_numbers() {
        for columns in [0, 1, 20, 40, 80, 200] {
            for drawn in told(PaceStyle::Bar, columns, &[0, 20]).into_iter().flatten() {
                assert!(drawn.chars().count() < columns.max(1), "{columns}: {drawn}");
            }
        }
        let at = |columns| told(PaceStyle::Bar, columns, &[0, 20]).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(at(40)[0], format!("encrypting  {}  …", "░".repeat(24)));
        assert_eq!(at(40)[1], "encrypting  25 %  60 seconds left");
        let wide = &at(200)[1];
        assert!(wide.contains(&"█".repeat(10)) && wide.chars().filter(|c| "█░".contains(*c)).count() == 40);
        assert!(wide.ends_with("25 %  60 seconds left  10.0/40 GiB  512 MiB/s"), "{wide}");
    }

    #[test]
    fn nothing_is_told_where_nobody_wants_it() {
        assert_eq!(told(PaceStyle::None, 80, &[0, 10, 20]), [None, None, None]);
        let mut search = Pace::new(PaceStyle::None, "looking");
        assert_eq!(search.searching(Instant::now(), &KeySearch::default(), 80), None, "no empty line");
    }

    #[test]
    fn what_another_writes_does_not_steer() {
        let mut pace = Pace::new(PaceStyle::Bar, "a\u{1b}[2J");
        let drawn = pace.at(Instant::now(), 1, 2, 80).expect("drawn");
        assert!(!drawn.contains('\u{1b}'), "{drawn:?}");
    }

    #[test]
    fn both_amounts_have_one_unit() {
        assert_eq!(amount((1 << 20, 3 << 30)), "0.0/3 GiB");
        assert_eq!(amount((100, 200)), "100/200 bytes");
        assert_eq!(amount((0, 0)), "0/0 bytes");
    }

    #[test]
    fn only_a_long_search_is_announced() {
        let search = |seconds| KeySearch { whole: Duration::from_secs(seconds), ..KeySearch::default() };
        let said = "searching key = {combinations}, {seconds}";
        assert_eq!(long_search(said, &search(7)), None);
        assert_eq!(long_search(said, &search(30)).as_deref(), Some("0, 30"));
    }
}
