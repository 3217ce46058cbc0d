//! What the laboratory found, for people.

use super::bench::{self, BenchDocument};
use super::study::{self, StudyDocument};
use super::{Document, Flag, Found, Slot, Table, Watch, Workload, report};
use crate::pace::Turns;
use crate::shown::shown;
use crate::told::{table, wrapped};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Tells how far it is: which workload, which test, how many of its turns.
pub struct Turning(Turns, Mutex<String>);

impl Turning {
    /// By whatever tells turns.
    pub fn new(turns: Turns) -> Self {
        Self(turns, Mutex::default())
    }
}

impl Watch for Turning {
    fn workload(&self, workload: &Workload) {
        self.1.lock().into_iter().for_each(|mut name| name.clone_from(&workload.name));
    }

    fn turn(&self, slot: Slot, done: usize, all: usize) {
        let name = self.1.lock().map(|name| name.clone()).unwrap_or_default();
        self.0.at(&format!("{name}, test {}", slot.cell + 1), done, all);
    }
}

/// Tables, each under its title.
pub fn tables(all: impl IntoIterator<Item = Table>) -> String {
    let one = |t: Table| {
        let header: Vec<&str> = t.header.iter().map(String::as_str).collect();
        format!("{}\n{}", shown(&t.title), table(&header, t.numbers_from, t.rows))
    };
    all.into_iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Everything a document says; the answer last.
pub fn document(document: &Document, wide: bool) -> String {
    let machine = &document.machine;
    let (drive, path, cores) = (shown(&document.drive), document.path.name(), machine.cores);
    let (processor, kernel) = (shown(&machine.processor), shown(&machine.kernel));
    let mut text = format!("Drive: {drive}. Path: {path}. {processor}, {cores} cores, {kernel}.\n");
    let found = tables(if wide { report::wide_tables(document) } else { report::tables(document) });
    if !found.is_empty() {
        text.push_str(&format!("\n{found}"));
    }
    let flags: BTreeSet<Flag> = document.cells.iter().flat_map(|c| c.flags.iter().copied()).collect();
    if !flags.is_empty() {
        text.push('\n');
    }
    flags.iter().for_each(|flag| text.push_str(&format!("{}: {}.\n", flag.name(), flag.meaning())));
    text.push_str(&missing(&document.missing));
    document.notes.iter().for_each(|note| text.push_str(&format!("\n{}\n", shown(note))));
    text + &answer(&report::answer(document))
}

/// Everything that was found on one drive after the other.
pub fn found(Found(documents): &Found, wide: bool) -> String {
    documents.iter().map(|one| document(one, wide)).collect::<Vec<_>>().join("\n")
}

/// Everything that studies found; the answer last.
pub fn studies(document: &StudyDocument) -> String {
    tables(study::tables(document)) + &missing(&document.missing) + &answer(&document.answer)
}

fn missing(lines: &[String]) -> String {
    let heading = if lines.is_empty() { "" } else { "\nMissing:\n" };
    let lines = lines.iter().map(|line| format!("  {}\n", shown(line)));
    heading.to_owned() + &lines.collect::<String>()
}

/// What it all comes to, below it.
pub fn answer(lines: &[String]) -> String {
    let gap = if lines.is_empty() { "" } else { "\n" };
    let lines = lines.iter().map(|words| wrapped("", &shown(words), 80) + "\n");
    gap.to_owned() + &lines.collect::<String>()
}

/// A benchmark in words.
pub fn bench(document: &BenchDocument) -> String {
    let machine = &document.machine;
    let mut text = tables(bench::tables(document));
    text.push_str(&format!(
        "\n{}, {} cores; 512-byte sectors, MB = 10^6 bytes, * the kernel that would be chosen.\n",
        machine.processor, machine.cores
    ));
    text.push_str("± is how far the five turns lie from their median, which is told.\n");
    if let (Some(mhz), Some(how)) = (machine.clock_mhz, machine.clock_known_by) {
        text.push_str(&format!("Cycles per byte at about {mhz:.0} MHz: {how}.\n"));
    }
    text + &answer(&bench::answer(document))
}
