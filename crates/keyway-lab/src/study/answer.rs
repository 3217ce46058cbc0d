//! What the studies come to, in four lines; the fifth is where the report lies. Where not all was measured, that is said before.

use super::document::StudyDocument;
use super::verdict::{Reproduced, Standing};
use crate::report::rivals::Standings;
use crate::report::whole;
use crate::result::{Comparison, Flag, Metric, Verdict};
use crate::target::{Target, is_hardware, is_unencrypted};

/// At most four lines, each of 80 columns at most; before them, where not all was measured, how much does not count.
pub fn answer(document: &StudyDocument) -> Vec<String> {
    let count = |standing| document.verdicts.iter().filter(|found| found.standing == standing).count();
    let (refuted, hold, open) =
        (count(Standing::Refuted), count(Standing::Holds), count(Standing::Undecided));
    let (told, unmeasured) = (document.verdicts.len(), count(Standing::NotMeasured));
    let mut lines = Vec::new();
    if unmeasured > 0 {
        lines.push(format!(
            "Not finished: {unmeasured} of {told} claims were not measured, and do not count."
        ));
    }
    let all = told - unmeasured;
    if all == 0 {
        return lines;
    }
    let measured = document.verdicts.iter().filter(|found| found.standing != Standing::NotMeasured);
    let of_its_time = measured.filter(|found| found.then.is_some());
    let (mut modelled, mut reproduced) = (0, 0);
    for found in of_its_time {
        modelled += 1;
        reproduced += usize::from(found.reproduced == Reproduced::Yes);
    }
    let then = match modelled {
        0 => String::new(),
        _ => format!(" Of {modelled} modelled, {reproduced} were so then."),
    };
    let what = if unmeasured > 0 { "others" } else { "claims" };
    lines.extend([
        format!("{all} {what}: {refuted} refuted for Keyway, {hold} hold, {open} undecided.{then}"),
        costs(document),
        choice(document),
        sureness(document),
    ]);
    lines
}

/// Whether a target is software with AES alone: what anybody takes who has no reason for another.
fn is_aes(target: &str) -> bool {
    match target.parse() {
        Ok(Target::VeraCrypt(cipher)) => cipher == "aes",
        Ok(Target::BitLocker(_)) => true,
        _ => false,
    }
}

/// The rows of what was measured that tell of encryption, each with its drive.
fn rows(document: &StudyDocument) -> impl Iterator<Item = (&Comparison, &str)> {
    document.measured.iter().flat_map(move |found| {
        let drive = found.document.drive.strip_prefix("model of ").unwrap_or(&found.document.drive);
        found.document.cells.iter().filter(|row| tells(row)).map(move |row| (row, drive))
    })
}

/// Whether a row tells what requests cost under encryption: what is switched on once and timed is no such thing, and what
/// was stopped in the middle tells nothing.
fn tells(row: &Comparison) -> bool {
    row.primary
        && !row.flags.contains(&Flag::Incomplete)
        && row.target != row.baseline
        && !is_unencrypted(&row.target)
        && row.metric != Metric::Seconds
}

fn is_noisy(row: &Comparison) -> bool {
    row.flags.contains(&Flag::Noise)
}

/// The largest cost that is sure. How large one is that the machine may have made is not: that there is more is said.
fn costs(document: &StudyDocument) -> String {
    let aes: Vec<_> = rows(document).filter(|(row, _)| is_aes(&row.target)).collect();
    let decided = aes.iter().filter(|(row, _)| row.verdict != Verdict::Undecided).count();
    let costly = || aes.iter().filter(|(row, _)| row.verdict == Verdict::Costs);
    let largest = |noisy: bool| {
        let rows = costly().filter(|(row, _)| is_noisy(row) == noisy);
        rows.max_by(|(a, _), (b, _)| a.cost_percent().total_cmp(&b.cost_percent()))
    };
    match (largest(false), largest(true)) {
        (Some((row, drive)), noisy) => {
            let more = noisy.is_some_and(|(noisy, _)| noisy.cost_percent() > row.cost_percent());
            let most = if more { "or more" } else { "at most" };
            format!("Software with AES costs {} % {most}: {}, {drive}.", whole(row.cost_percent()), row.cell)
        }
        (None, Some((row, drive))) => {
            format!(
                "Software with AES costs something, by noise it is not sure how much: {}, {drive}.",
                row.cell
            )
        }
        (None, None) => costs_nothing(&aes, decided),
    }
}

fn costs_nothing(aes: &[(&Comparison, &str)], decided: usize) -> String {
    match () {
        () if aes.is_empty() => "Software with AES was not measured.".to_owned(),
        () if decided == 0 => {
            format!("What software with AES costs is decided in none of {} tests.", aes.len())
        }
        () => {
            format!(
                "Software with AES costs nothing in the {decided} of {} tests that are decided.",
                aes.len()
            )
        }
    }
}

/// How some targets stand beside others in all experiments that have both.
fn beside(document: &StudyDocument, of: &dyn Fn(&str) -> bool, others: &dyn Fn(&str) -> bool) -> Standings {
    let mut all = Standings::default();
    for found in &document.measured {
        // What noise may have made decides nothing.
        let sure = |row: &Comparison| match is_noisy(row) {
            true => Comparison { verdict: Verdict::Undecided, ..row.clone() },
            false => row.clone(),
        };
        let rows: Vec<Comparison> = found.document.cells.iter().filter(|row| tells(row)).map(sure).collect();
        let wanted = |wanted: &dyn Fn(&str) -> bool| -> Vec<&Comparison> {
            rows.iter().filter(|row| wanted(&row.target)).collect()
        };
        all = all.and(Standings::of(wanted(of), &wanted(others)));
    }
    all
}

/// What is decided chooses; nothing else does.
fn choice(document: &StudyDocument) -> String {
    let own = beside(document, &is_hardware, &is_aes);
    if own.tests() > 0 {
        return match own {
            _ if own.decided() == 0 => "Between hardware and software nothing is decided yet.".to_owned(),
            Standings { faster: 0, open: 0, .. } => {
                "Choose software: hardware is no faster, and hides how it encrypts.".to_owned()
            }
            Standings { faster: 0, open, .. } => {
                format!("Hardware is faster in no test that is decided; {open} of {} are not.", own.tests())
            }
            _ if !own.is_known() => {
                format!(
                    "Only {} of {} tests are decided: there is nothing to choose by yet.",
                    own.decided(),
                    own.tests()
                )
            }
            _ => format!(
                "Choose software; hardware, if its {} % count more than who holds the keys.",
                whole(own.saves)
            ),
        };
    }
    let is_other = |target: &str| !is_aes(target) && !is_unencrypted(target) && !is_hardware(target);
    let aes = beside(document, &is_aes, &is_other);
    match aes {
        _ if aes.tests() == 0 => {
            "One kind of encryption was measured: there is nothing to choose.".to_owned()
        }
        _ if aes.decided() == 0 => "Between AES and others nothing is decided yet.".to_owned(),
        _ if aes.is_better() && aes.is_known() => "Choose AES: nothing that is decided is faster.".to_owned(),
        _ if aes.is_equal() => "AES and the others are equal.".to_owned(),
        _ => format!("AES is faster in {} of {} tests, slower in {}.", aes.faster, aes.tests(), aes.slower),
    }
}

fn sureness(document: &StudyDocument) -> String {
    if rows(document).all(|(row, _)| row.verdict == Verdict::Undecided) {
        return "Nothing is decided: a machine that does nothing else may decide it.".to_owned();
    }
    let is_busy = |flags: &[Flag]| flags.contains(&Flag::BusyMachine);
    let busy = document.verdicts.iter().filter(|found| is_busy(&found.flags)).count();
    match document.verdicts.len() {
        _ if busy == 0 => {
            "Sure to 95 % in each experiment; the drives are models of those in the articles.".to_owned()
        }
        all if busy == all => {
            "Sure to 95 % in each experiment; the drives are models; this machine was busy.".to_owned()
        }
        all => {
            format!("Sure to 95 % in each experiment, on models; this machine was busy in {busy} of {all}.")
        }
    }
}
