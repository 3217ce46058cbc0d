//! Results in words and tables.

use crate::failure::Failure;
use crate::output::{Output, table, tables};
use crate::shown::shown;
use keyway::lab::{Document, Flag, report, workload};
use std::collections::BTreeSet;

/// Tells the shipped workloads.
pub(super) fn workloads(out: Output) -> Result<(), Failure> {
    let all = workload::shipped()?;
    let rows = || all.iter().map(|w| vec![w.name.clone(), w.title.clone()]);
    out.result(&all, || table(&["workload", "what it is"], 9, rows()))
}

/// Everything a document says, for people.
pub(crate) fn words(document: &Document) -> String {
    let machine = &document.machine;
    let (drive, path, cores) = (shown(&document.drive), document.path.name(), machine.cores);
    let (processor, kernel) = (shown(&machine.processor), shown(&machine.kernel));
    let mut text = format!("Drive: {drive}. Path: {path}. {processor}, {cores} cores, {kernel}.\n");
    let found = tables(report::tables(document));
    if !found.is_empty() {
        text.push_str(&format!("\n{found}"));
    }
    let flags: BTreeSet<Flag> = document.cells.iter().flat_map(|c| c.flags.iter().copied()).collect();
    if !flags.is_empty() {
        text.push('\n');
    }
    flags.iter().for_each(|flag| text.push_str(&format!("{}: {}.\n", flag.name(), flag.meaning())));
    if !document.missing.is_empty() {
        text.push_str("\nMissing:\n");
    }
    document.missing.iter().for_each(|line| text.push_str(&format!("  {}\n", shown(line))));
    document.notes.iter().for_each(|note| text.push_str(&format!("\n{}\n", shown(note))));
    text
}
