//! How far long work is, in lines: a bar for a terminal, a line now and then for a log, an object for a program. Nothing is
//! written here: a front is given what to write, when it is time.

mod screen;

pub use screen::{Screen, SearchPace, ShownPace};

use crate::progress::{KeySearch, Note};
use crate::settled::Settled;
use crate::shown::line;
use crate::told::{duration, said_in};
use keyway_attach::path_text::value as in_json;
use keyway_error::enum_table;
use keyway_store::size;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
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

/// What was over so soon, as was told, and isn't after so long, is told nothing more of: nobody knows what it waits for.
const SOON: Duration = Duration::from_secs(2);
const BELIEVED: Duration = Duration::from_secs(3);

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
    settled: Settled,
    /// How long all of it takes by its plan.
    planned: Option<Duration>,
    /// It was counted anew: there are several parts, and what is counted is one of them.
    in_parts: bool,
    /// The largest part of planned work that was told: what is told goes forward only.
    furthest: f64,
    /// Since when it should be over soon.
    soon: Option<Instant>,
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
        let (points, settled) = (VecDeque::new(), Settled::default());
        let (planned, in_parts, furthest, soon) = (None, false, 0.0, None);
        Self { style, label: line(label), told: None, points, settled, planned, in_parts, furthest, soon }
    }

    /// The same, of work that knows how long it takes.
    pub fn planned(self, planned: Option<Duration>) -> Self {
        Self { planned, ..self }
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
        let since = self.points.front().map_or((Duration::ZERO, 0), |(at, before)| {
            (now.saturating_duration_since(*at), done.saturating_sub(*before))
        });
        let per_second = (since.1 > 0 && since.0 >= Duration::from_millis(500))
            .then(|| since.1 as f64 / since.0.as_secs_f64());
        let rest = |speed: f64| Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / speed).ok();
        let left = self.settled.left(now, (done, total), per_second.and_then(rest));
        let left = self.believed(now, left);
        if !self.is_time(now) {
            return None;
        }
        let part = if total > 0 { done.min(total) as f64 / total as f64 } else { 0.0 };
        Some(self.told(Reached { part, bytes: Some((done, total)), per_second, left }, Value::Null, columns))
    }

    /// So many of so many are done of what has no size, and now has that name: a bar or a line, as with [`Pace::at`].
    pub fn counted(
        &mut self,
        now: Instant,
        label: &str,
        (done, total): (u64, u64),
        columns: usize,
    ) -> Option<String> {
        if self.points.back().is_some_and(|(_, before)| *before > done) {
            // It began anew.
            self.points.clear();
            self.in_parts = true;
            // What is planned is all of it.
            let begun = self.settled.begun().filter(|_| self.planned.is_some());
            self.settled = Settled::begun_at(begun);
        }
        if self.points.back().is_none_or(|(_, before)| *before < done) {
            self.points.push_back((now, done));
            if self.points.len() > WINDOW {
                self.points.pop_front();
            }
        }
        let rest = self.rest(now, total.saturating_sub(done));
        // Before its first turn is prepared, nothing of what is planned is done.
        let counted = (total > 0).then(|| self.settled.left(now, (done, total), rest)).flatten();
        let planned = self.planned.zip(self.settled.begun()).filter(|_| total > 0);
        let planned = planned.map(|(all, begun)| (all, now.saturating_duration_since(begun)));
        let left = match planned.map(|(all, passed)| all.checked_sub(passed)) {
            // No less than what is counted still takes.
            Some(Some(by_plan)) => Some(by_plan.max(counted.unwrap_or_default())),
            // A plan that did not hold tells nothing more of other parts.
            Some(None) if self.in_parts => None,
            _ => counted,
        };
        let left = self.believed(now, left);
        if self.style == PaceStyle::None || !self.is_time(now) {
            return None;
        }
        self.label = line(label);
        let part = if total > 0 { done.min(total) as f64 / total as f64 } else { 0.0 };
        let part = planned.map_or(part, |(all, passed)| {
            self.furthest = part.min(passed.div_duration_f64(all)).max(self.furthest);
            self.furthest
        });
        Some(self.told(
            Reached { part, bytes: None, per_second: None, left },
            json!({"done": done, "total": total}),
            columns,
        ))
    }

    /// How long so many more steps take at the speed of the last ones; meanwhile less and less of the next one is left.
    fn rest(&self, now: Instant, steps: u64) -> Option<Duration> {
        let (first, last) = (self.points.front()?, self.points.back()?);
        let done = last.1.checked_sub(first.1).filter(|done| *done > 0)?;
        let one = last.0.saturating_duration_since(first.0).div_f64(done as f64);
        let passed = now.saturating_duration_since(last.0);
        match passed > one {
            // How long the one takes that should be over, nobody knows; the others are as they were.
            true => {
                steps.checked_sub(1).filter(|others| *others > 0).map(|others| one.mul_f64(others as f64))
            }
            false => Some(one.mul_f64(steps as f64).saturating_sub(passed)),
        }
    }

    /// What is left, unless it was nearly nothing for a while.
    fn believed(&mut self, now: Instant, left: Option<Duration>) -> Option<Duration> {
        if left.is_none_or(|left| left >= SOON) {
            self.soon = None;
            return left;
        }
        let since = *self.soon.get_or_insert(now);
        left.filter(|_| now.saturating_duration_since(since) < BELIEVED)
    }

    /// The search for a key is so far; the rest as with [`Pace::at`].
    pub fn searching(&mut self, now: Instant, search: &KeySearch, columns: usize) -> Option<String> {
        let left = self.believed(now, Some(search.left));
        if self.style == PaceStyle::None || !self.is_time(now) {
            return None;
        }
        let reached = Reached { part: search.done, bytes: None, per_second: None, left };
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

/// Work that is counted in turns. It is told every second, however long a turn takes, until this is dropped; a front's
/// [`Pace`] says when there is something to write.
pub struct Turns {
    counted: Arc<Counted>,
    every_second: Option<JoinHandle<()>>,
}

/// Is told a name, and how many turns of how many are done.
type TellTurns = dyn Fn(&str, u64, u64) + Send + Sync;

struct Counted {
    reached: Mutex<(String, u64, u64)>,
    tell: Box<TellTurns>,
    ended: AtomicBool,
}

impl Turns {
    /// Work that has that name at first; `tell` gets its name, and how many turns of how many are done.
    pub fn new(label: &str, style: PaceStyle, tell: impl Fn(&str, u64, u64) + Send + Sync + 'static) -> Self {
        let (reached, tell) = (Mutex::new((label.to_owned(), 0, 0)), Box::new(tell));
        let counted = Arc::new(Counted { reached, tell, ended: AtomicBool::new(false) });
        let told = Arc::clone(&counted);
        let tell = move || {
            while !told.ended.load(Ordering::Relaxed) {
                told.tell();
                std::thread::park_timeout(Duration::from_secs(1));
            }
        };
        // Without a thread it is told at each turn alone.
        let thread = || std::thread::Builder::new().name("pace".to_owned()).spawn(tell).ok();
        let every_second = (style != PaceStyle::None).then(thread).flatten();
        Self { counted, every_second }
    }

    /// So many turns of so many are done, and it has that name now.
    pub fn at(&self, label: &str, done: usize, all: usize) {
        let reached = (label.to_owned(), done as u64, all as u64);
        self.counted.reached.lock().into_iter().for_each(|mut at| at.clone_from(&reached));
        self.counted.tell();
    }
}

impl Drop for Turns {
    /// Nothing is told any more when this is over.
    fn drop(&mut self) {
        self.counted.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.every_second.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Counted {
    fn tell(&self) {
        let Ok((label, done, all)) = self.reached.lock().map(|at| at.clone()) else { return };
        (self.tell)(&label, done, all);
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

/// What a front says of other spellings of a password, and of a file system that could be larger; nothing of another note.
pub fn spelling(catalogue: &str, note: &Note<'_>) -> Option<String> {
    match note {
        Note::HasMetadata => Some(said_in(catalogue, "metadata seen", &Value::Null)),
        Note::Variants(count) => Some(said_in(catalogue, "variants tried", &json!({ "count": count }))),
        Note::StaysSmaller { path, kind, bytes } => {
            // In its sandbox nobody looks at a path any more.
            let sudo = if path.starts_with("/dev") { "sudo " } else { "" };
            let facts = json!({"path": in_json(path), "kind": kind.to_string(), "filesystem": kind.mount_type(),
                "bytes": bytes, "sudo": sudo});
            Some(said_in(catalogue, "conversion stays smaller", &facts))
        }
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

    /// Turns have no size: the name, the part and what is left; another test begins anew.
    #[test]
    fn turns_are_told_by_their_number() {
        let (begun, mut pace) = (Instant::now(), Pace::new(PaceStyle::Line, "preparing"));
        let mut at = |second: u64, label: &str, done| {
            pace.counted(begun + Duration::from_secs(second), label, (done, 40), 0)
        };
        assert_eq!(at(0, "cdm, test 1", 0), None);
        assert_eq!(at(9, "cdm, test 1", 9), None);
        assert_eq!(at(10, "cdm, test 1", 10).as_deref(), Some("cdm, test 1: 25 %, 30 seconds left"));
        assert_eq!(at(12, "cdm, test 2", 1), None);
        assert_eq!(at(22, "cdm, test 2", 11).as_deref(), Some("cdm, test 2: 28 %, 29 seconds left"));
        let mut json = Pace::new(PaceStyle::Json, "preparing");
        let told = json.counted(begun, "aes", (3, 12), 0).expect("told");
        let told: Value = serde_json::from_str(&told).expect("an object");
        assert_eq!(
            (&told["progress"], &told["done"], &told["total"]),
            (&json!("aes"), &json!(3), &json!(12))
        );
        assert_eq!(Pace::new(PaceStyle::None, "x").counted(begun, "aes", (3, 12), 0), None);
    }

    /// However long a turn takes, it is told; and when it is over, nothing more.
    #[test]
    fn turns_are_told_until_they_are_dropped() {
        let count = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&count);
        let turns = Turns::new("first", PaceStyle::Line, move |label, done, all| {
            told.lock().into_iter().for_each(|mut told| told.push((label.to_owned(), done, all)));
        });
        turns.at("second", 1, 2);
        let begun = Instant::now();
        let seen = || count.lock().map_or(0, |told| told.iter().filter(|told| told.0 == "second").count());
        while seen() < 2 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(turns);
        assert!(seen() >= 2);
        assert_eq!(Arc::strong_count(&count), 1);
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
        assert_eq!((&object(1)["done_bytes"], &object(1)["seconds_left"]), (&json!(512 << 20), &Value::Null));
    }

    /// Who knows how long it takes does not guess.
    #[test]
    fn a_plan_tells_what_is_left() {
        let (begun, minute) = (Instant::now(), Some(Duration::from_secs(60)));
        let mut pace = Pace::new(PaceStyle::Json, "preparing").planned(minute);
        let mut at = |second: u64, label: &str, turns| {
            let told = pace.counted(begun + Duration::from_secs(second), label, turns, 80).expect("told");
            serde_json::from_str::<Value>(&told).expect("an object")["seconds_left"].as_u64()
        };
        assert_eq!(at(0, "preparing", (0, 0)), None);
        assert_eq!(at(20, "cdm, test 1", (0, 40)), Some(60));
        assert_eq!(at(30, "cdm, test 1", (39, 40)), Some(50));
        assert_eq!(at(40, "cdm, test 2", (0, 40)), Some(40));
        assert_eq!(at(81, "cdm, test 2", (39, 40)), None);
    }

    /// What is told of turns goes forward: the part, and where none is done, what is left.
    #[test]
    fn turns_go_forward_only() {
        let (begun, minute) = (Instant::now(), Some(Duration::from_secs(60)));
        let told = |pace: &mut Pace, second: u64, turns| {
            let told = pace.counted(begun + Duration::from_secs(second), "test", turns, 80).expect("told");
            let told: Value = serde_json::from_str(&told).expect("an object");
            (told["percentage"].as_f64().unwrap_or_default(), told["seconds_left"].as_u64())
        };
        let mut study = Pace::new(PaceStyle::Json, "preparing").planned(minute);
        let parts: Vec<f64> =
            [(0, (0, 40)), (20, (39, 40)), (22, (0, 40)), (40, (20, 40)), (59, (39, 40)), (61, (0, 40))]
                .map(|(second, turns)| told(&mut study, second, turns).0)
                .into();
        assert!(parts.is_sorted() && parts[1] < 34.0 && parts[4] < 99.0, "{parts:?}");
        // Half of the turns took all of the planned time: as long again.
        let mut slow = Pace::new(PaceStyle::Json, "preparing").planned(minute);
        let left: Vec<_> = (0..=60).map(|second| told(&mut slow, second, (second / 3, 40)).1).collect();
        assert_eq!((left[30], left[60]), (Some(90), Some(60)), "{left:?}");
        let mut bench = Pace::new(PaceStyle::Json, "aes");
        let left: Vec<_> =
            (0..=40).map(|second| told(&mut bench, second, (second / 10, 4)).1).collect::<Vec<_>>();
        let told: Vec<u64> = left.into_iter().flatten().collect();
        assert!(told.len() > 20 && told.is_sorted_by(|one, next| one >= next), "{told:?}");
    }

    /// What should be over in a second, and isn't, is told no end of: bytes, turns and searches.
    #[test]
    fn a_second_that_is_left_for_long_is_not_told() {
        let begun = Instant::now();
        let at = |second: u64| begun + Duration::from_secs(second);
        let seconds = |told: Option<String>| {
            let told: Value = serde_json::from_str(&told.expect("told")).expect("an object");
            told["seconds_left"].as_u64()
        };
        // As fast as ever, and then hardly at all.
        let mut bytes = Pace::new(PaceStyle::Json, "copying");
        let left: Vec<_> = (0..=40)
            .map(|s| seconds(bytes.at(at(s), if s < 10 { s * 1000 } else { 9900 + s }, 10_000, 80)))
            .collect();
        assert_eq!(left[5], Some(5), "{left:?}");
        assert!(left[14..38].iter().all(Option::is_none), "{left:?}");
        // As slow as it is now, it takes a minute.
        assert_eq!(left[40], Some(60), "{left:?}");
        let mut turns = Pace::new(PaceStyle::Json, "aes");
        let left: Vec<_> =
            (0..=40).map(|s| seconds(turns.counted(at(s), "aes", ((s / 5).min(3), 4), 80))).collect();
        assert!(left[14] > Some(0) && left[21..].iter().all(Option::is_none), "{left:?}");
        let mut search = Pace::new(PaceStyle::Json, "looking");
        let nothing_left = KeySearch { done: 0.1, ..KeySearch::default() };
        let left: Vec<_> = (0..=9).map(|s| seconds(search.searching(at(s), &nothing_left, 80))).collect();
        assert!(left[0] == Some(0) && left[3..].iter().all(Option::is_none), "{left:?}");
        let more = KeySearch { left: Duration::from_secs(30), ..nothing_left };
        assert_eq!(seconds(search.searching(at(10), &more, 80)), Some(30));
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
