//! Studies and their verdicts as tables of 80 columns.

use super::definition::{Claim, HeldAgainst, Study};
use super::document::StudyDocument;
use super::verdict::{ClaimVerdict, Said};
use crate::report::{number, whole};
use crate::result::Verdict;
use crate::table::Table;

/// The studies that there are.
pub fn list(studies: &[Study]) -> Table {
    let rows = studies.iter().map(|study| vec![study.name.clone(), study.title.clone()]);
    Table::new("Articles whose experiments are made again", &["study", "what was asked"], 9, rows)
}

/// A table for each drive, target, and what that was held against: a claim in each line.
pub fn tables(document: &StudyDocument) -> Vec<Table> {
    let mut titles: Vec<String> = document.verdicts.iter().map(title).collect();
    titles.dedup();
    let header = ["test", "published", "then", "reproduced", "Keyway", "claim"];
    let table = |title_: String| {
        let rows = document.verdicts.iter().filter(|found| title(found) == title_).map(row);
        Table::new(title_.clone(), &header, 9, rows.collect::<Vec<_>>())
    };
    // The same title may come again after another.
    let mut seen: Vec<Table> = Vec::new();
    for title in titles {
        if !seen.iter().any(|table| table.title == title) {
            seen.push(table(title));
        }
    }
    seen
}

fn title(found: &ClaimVerdict) -> String {
    let ClaimVerdict { drive, claim: Claim { of, against, .. }, .. } = found;
    let drive = drive.strip_prefix("model of ").unwrap_or(drive);
    match against {
        HeldAgainst::Figure => format!("{drive}: {of}, the published figure itself"),
        held => format!("{drive}: {of} against {}", held.words()),
    }
}

fn row(found: &ClaimVerdict) -> Vec<String> {
    let claim = &found.claim;
    let none = || "-".to_owned();
    let said = |said: &Option<Said>| said.as_ref().map_or_else(none, |said| said_words(claim, said));
    let reproduced = if found.then.is_some() { found.reproduced.name() } else { "-" };
    vec![
        claim.cell.clone(),
        published_words(claim),
        said(&found.then),
        reproduced.to_owned(),
        said(&found.now),
        found.standing.name().to_owned(),
    ]
}

/// What was published, in a word and a figure.
pub(crate) fn published_words(claim: &Claim) -> String {
    match (claim.figure, claim.percent) {
        (Some(figure), _) => format!("{} {}", number(figure), claim.metric.unit()),
        (None, Some(percent)) if claim.says != Verdict::Equal => {
            format!("{} {} %", claim.says.name(), whole(percent))
        }
        _ => claim.says.name().to_owned(),
    }
}

/// What was found, in the same words.
pub(crate) fn said_words(claim: &Claim, said: &Said) -> String {
    if claim.against == HeldAgainst::Figure {
        return format!("{} {}", number(said.value), claim.metric.unit());
    }
    match said.verdict {
        Verdict::Costs | Verdict::Gains => {
            format!("{} {} %", said.verdict.name(), whole(said.cost_percent.abs()))
        }
        verdict => verdict.name().to_owned(),
    }
}
