//! What the studies come to, in four lines; the fifth is where the report lies.

use super::document::StudyDocument;
use super::verdict::{Reproduced, Standing};
use crate::report::whole;
use crate::result::{Comparison, Flag, Metric, Verdict};
use crate::target::Target;

/// At most four lines, each of 80 columns at most.
pub fn answer(document: &StudyDocument) -> Vec<String> {
    let count = |standing| document.verdicts.iter().filter(|found| found.standing == standing).count();
    let (refuted, hold, open) =
        (count(Standing::Refuted), count(Standing::Holds), count(Standing::Undecided));
    if document.verdicts.is_empty() {
        return Vec::new();
    }
    let all = document.verdicts.len();
    let of_its_time = document.verdicts.iter().filter(|found| found.then.is_some());
    let (mut modelled, mut reproduced) = (0, 0);
    for found in of_its_time {
        modelled += 1;
        reproduced += usize::from(found.reproduced == Reproduced::Yes);
    }
    let then = match modelled {
        0 => String::new(),
        _ => format!(" Of {modelled} modelled, {reproduced} were so then."),
    };
    vec![
        format!("{all} claims: {refuted} refuted for Keyway, {hold} hold, {open} undecided.{then}"),
        costs(document),
        choice(document),
        sureness(document),
    ]
}

/// Whether a target is software with AES alone: what anybody takes who has no reason for another.
fn is_aes(target: &str) -> bool {
    match target.parse() {
        Ok(Target::VeraCrypt(cipher)) => cipher == "aes",
        Ok(Target::BitLocker(_)) => true,
        _ => false,
    }
}

/// The largest sure cost against no encryption among these targets, and its drive. What the machine disturbed is not sure.
fn worst<'a>(document: &'a StudyDocument, of: &dyn Fn(&str) -> bool) -> Option<(&'a Comparison, &'a str)> {
    let rows = document.measured.iter().flat_map(|found| {
        let drive = found.document.drive.strip_prefix("model of ").unwrap_or(&found.document.drive);
        found.document.cells.iter().map(move |row| (row, drive))
    });
    rows.filter(|(row, _)| row.primary && row.verdict == Verdict::Costs && of(&row.target))
        .filter(|(row, _)| row.metric != Metric::Seconds && !row.flags.contains(&Flag::Noise))
        .max_by(|(a, _), (b, _)| a.cost_percent().total_cmp(&b.cost_percent()))
}

fn costs(document: &StudyDocument) -> String {
    match worst(document, &is_aes) {
        None => "Software with AES costs nothing that counts in any test that is decided.".to_owned(),
        Some((row, drive)) => {
            format!("Software with AES costs {} % at most: {}, {drive}.", whole(row.cost_percent()), row.cell)
        }
    }
}

fn choice(document: &StudyDocument) -> String {
    let own = worst(document, &|target| target == "hardware").map_or(0.0, |(row, _)| row.cost_percent());
    let has_own =
        document.measured.iter().any(|f| f.document.cells.iter().any(|row| row.target == "hardware"));
    match worst(document, &is_aes).map(|(row, _)| row.cost_percent() - own) {
        Some(saves) if has_own && saves > 10.0 => {
            format!(
                "Choose software; hardware, if its {} % count more than who holds the keys.",
                whole(saves)
            )
        }
        _ if has_own => "Choose software: hardware saves little, and hides how it encrypts.".to_owned(),
        _ => "Choose AES: of what was compared, nothing is faster.".to_owned(),
    }
}

fn sureness(document: &StudyDocument) -> String {
    let busy = document.verdicts.iter().any(|found| found.flags.contains(&Flag::BusyMachine));
    if busy {
        return "Sure to 95 % in each experiment; the drives are models; this machine was busy.".to_owned();
    }
    "Sure to 95 % in each experiment; the drives are models of those in the articles.".to_owned()
}
