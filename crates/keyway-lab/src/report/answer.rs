//! The answer in words: what encryption costs here, where the cost lies, what to choose, and how sure that is.

use crate::result::{Comparison, Document, Flag, Verdict};
use crate::target::{is_hardware, is_unencrypted};
use std::collections::BTreeMap;

/// At most five sentences or pairs of them, for a person who reads nothing else; empty where nothing was compared.
pub fn answer(document: &Document) -> Vec<String> {
    let sides = sides(document);
    let mut lines: Vec<String> = match &*sides {
        [] => return Vec::new(),
        [first, .., last] if sides.len() > 2 => vec![first.costs(), last.costs()],
        few => few.iter().map(Side::costs).collect(),
    };
    lines.extend(parts(document, &sides));
    lines.push(choice(&sides));
    lines.push(sureness(document));
    lines
}

/// An encrypted target, and its rows.
struct Side<'a> {
    target: &'a str,
    rows: Vec<&'a Comparison>,
}

/// The encrypted targets, the one that costs least first.
fn sides(document: &Document) -> Vec<Side<'_>> {
    let mut sides: Vec<Side<'_>> = Vec::new();
    let compared = |r: &&Comparison| r.primary && r.target != r.baseline && !is_unencrypted(&r.target);
    for row in document.cells.iter().filter(compared) {
        match sides.iter_mut().find(|side| side.target == row.target) {
            Some(side) => side.rows.push(row),
            None => sides.push(Side { target: &row.target, rows: vec![row] }),
        }
    }
    sides.sort_by(|a, b| a.worst().total_cmp(&b.worst()));
    sides
}

impl Side<'_> {
    fn with(&self, verdict: Verdict) -> impl Iterator<Item = &&Comparison> {
        self.rows.iter().filter(move |r| r.verdict == verdict)
    }

    /// The largest cost that is sure, in percent.
    fn worst(&self) -> f64 {
        self.with(Verdict::Costs).map(|r| r.cost_percent()).fold(0.0, f64::max)
    }

    fn is_hardware(&self) -> bool {
        is_hardware(self.target)
    }

    fn costs(&self) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let (target, baseline, all) = (self.target, &first.baseline, self.rows.len());
        let count = |verdict| self.with(verdict).count();
        let (costs, undecided) = (count(Verdict::Costs), count(Verdict::Undecided));
        let same = all - costs - undecided;
        let delta = whole(first.delta * 100.0);
        let worst = self.with(Verdict::Costs).max_by(|a, b| a.cost_percent().total_cmp(&b.cost_percent()));
        match worst {
            None if undecided == 0 => {
                format!("{target} is as fast as {baseline}, within {delta} %, in all {all} tests.")
            }
            None if same == 0 => {
                format!("{target}: nothing is decided yet of {all} tests against {baseline}.")
            }
            None => format!(
                "{target} is as fast as {baseline}, within {delta} %, in {same} of {all} tests; the rest is undecided."
            ),
            Some(worst) => {
                let least = self.with(Verdict::Costs).map(|r| r.cost_percent()).fold(f64::INFINITY, f64::min);
                let (least, most) = (whole(least), whole(worst.cost_percent()));
                let range = if least == most { most } else { format!("{least} to {most}") };
                let open = if undecided > 0 { format!(", {undecided} undecided") } else { String::new() };
                format!(
                    "{target} costs {range} % in {costs} of {all} tests, most in {}; {same} as fast as {baseline}{open}.",
                    worst.cell
                )
            }
        }
    }
}

/// Of the largest cost, what the way there takes and what the cipher does.
fn parts(document: &Document, sides: &[Side<'_>]) -> Option<String> {
    let rows = sides.iter().flat_map(|side| side.with(Verdict::Costs));
    let worst = rows.max_by(|a, b| a.cost_percent().total_cmp(&b.cost_percent()))?;
    let part = |ratio: Option<f64>| ratio.map(|ratio| worst.metric.cost_percent(ratio));
    let (path, cipher) = (part(worst.path_cost)?, part(worst.cipher_cost)?);
    let (way, path_words, cipher_words) =
        (document.path.name(), whole(path.max(0.0)), whole(cipher.max(0.0)));
    Some(format!(
        "In {}, the way there without a cipher ({way}) costs {path_words} %, and the cipher {cipher_words} % of what is left.",
        worst.cell
    ))
}

fn choice(sides: &[Side<'_>]) -> String {
    let hardware = sides.iter().find(|side| side.is_hardware());
    let mut software = sides.iter().filter(|side| !side.is_hardware());
    let (best, next) = (software.next(), software.next_back());
    let delta = |side: &Side<'_>| side.rows.first().map_or(3.0, |r| r.delta * 100.0);
    match (hardware, best, next) {
        (Some(own), Some(best), _) if best.worst() > own.worst() + delta(best) => format!(
            "The drive's own encryption saves up to {} %: choose it if you trust the drive's firmware with the keys.",
            whole(best.worst() - own.worst())
        ),
        (Some(_), Some(best), _) => format!(
            "The drive's own encryption is hardly faster than {}: choose software, which keeps the keys out of firmware.",
            best.target
        ),
        (_, Some(best), Some(next)) if next.worst() > best.worst() + delta(best) => {
            format!("Choose {}: of what was compared it costs least.", best.target)
        }
        (_, Some(best), Some(next)) => format!(
            "{} and {} differ by nothing that counts: choose by who has to read it.",
            best.target, next.target
        ),
        (_, Some(only), None) if only.with(Verdict::Undecided).count() == only.rows.len() => {
            "There is nothing to choose by yet.".to_owned()
        }
        (_, Some(only), None) if only.worst() == 0.0 => {
            "Encrypt: nothing that was decided is slower for it.".to_owned()
        }
        (_, Some(_), None) => {
            "Encrypt, unless that test is your kind of work and its speed all that matters.".to_owned()
        }
        (Some(own), None, _) if own.worst() == 0.0 => {
            "Switch it on: nothing that was decided is slower for it.".to_owned()
        }
        (Some(_), None, _) | (None, None, _) => {
            "Compare it with software on the same drive before you choose.".to_owned()
        }
    }
}

fn sureness(document: &Document) -> String {
    let rows = || document.cells.iter().filter(|r| r.primary && r.target != r.baseline);
    let open: Vec<&Comparison> = rows().filter(|r| r.verdict == Verdict::Undecided).collect();
    let mut workloads: Vec<&str> = rows().map(|r| r.workload.as_str()).collect();
    workloads.dedup();
    let sure = match workloads.len() {
        0 | 1 => "What is told holds for all tests together with 95 %.",
        _ => "What is told holds with 95 % for all tests of a workload together.",
    };
    let busy = rows().any(|r| r.flags.contains(&Flag::BusyMachine));
    if open.is_empty() {
        return if busy { format!("{sure} This machine was busy, though.") } else { sure.to_owned() };
    }
    // A cell is measured for all of its targets at once.
    let mut cells: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for row in &open {
        let Some(seconds) = row.seconds_to_decide else { continue };
        let most = cells.entry((&row.workload, &row.cell)).or_default();
        *most = most.max(seconds);
    }
    let more: f64 = cells.values().sum();
    let undecided = format!("{sure} {} of {} are undecided", open.len(), rows().count());
    if more == 0.0 {
        return format!("{undecided}: a machine that does nothing else may decide them.");
    }
    let minutes = ((document.seconds + more) * 1.2 / 60.0).ceil();
    format!("{undecided}: `--minutes {minutes:.0}` should decide most.")
}

/// Whole percents; what is less than one is said as that.
pub(crate) fn whole(percent: f64) -> String {
    if percent > 0.0 && percent < 1.0 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Metric;

    fn row(target: &str, cell: &str, ratio: f64, verdict: Verdict) -> Comparison {
        let mut row: Comparison = serde_json::from_value(serde_json::json!({
            "workload": "cdm", "cell": cell, "target": target, "baseline": "bare", "metric": "iops", "primary": true,
            "value": 1000.0 * ratio, "baseline_value": 1000.0, "value_low": 1.0, "value_high": 1.0, "ratio": ratio,
            "ratio_low": ratio, "ratio_high": ratio, "delta": 0.03, "verdict": verdict, "flags": [], "turns": 40,
        }))
        .expect("a row");
        assert_eq!(row.metric, Metric::Iops);
        (row.path_cost, row.cipher_cost) = (Some(0.9), Some(ratio / 0.9));
        row
    }

    fn document(cells: Vec<Comparison>) -> Document {
        let path = crate::target::PathKind::FuseLoop;
        let text = serde_json::json!({
            "cells": cells, "series": [], "drive": "a drive", "path": path, "date": "", "command": "", "missing": [],
            "notes": [], "seconds": 60.0,
            "machine": {"processor": "", "cores": 2, "memory_bytes": 0, "kernel": "", "keyway": ""},
        });
        serde_json::from_value(text).expect("a document")
    }

    #[test]
    fn what_costs_nothing_is_said_in_three_lines() {
        let told = answer(&document(vec![
            row("plain", "a", 1.0, Verdict::Equal),
            row("veracrypt:aes", "a", 1.0, Verdict::Equal),
            row("veracrypt:aes", "b", 1.2, Verdict::Gains),
        ]));
        assert_eq!(
            told,
            [
                "veracrypt:aes is as fast as bare, within 3 %, in all 2 tests.",
                "Encrypt: nothing that was decided is slower for it.",
                "What is told holds for all tests together with 95 %.",
            ]
        );
    }

    #[test]
    fn costs_their_place_and_the_choice() {
        let mut open = row("veracrypt:aes", "c", 0.99, Verdict::Undecided);
        open.seconds_to_decide = Some(100.0);
        let told = answer(&document(vec![
            row("veracrypt:aes", "a", 0.72, Verdict::Costs),
            row("veracrypt:aes", "b", 0.94, Verdict::Costs),
            open,
            row("veracrypt:serpent", "a", 0.45, Verdict::Costs),
            row("veracrypt:serpent", "b", 1.0, Verdict::Equal),
        ]));
        assert_eq!(
            told,
            [
                "veracrypt:aes costs 6 to 28 % in 2 of 3 tests, most in a; 0 as fast as bare, 1 undecided.",
                "veracrypt:serpent costs 55 % in 1 of 2 tests, most in a; 1 as fast as bare.",
                "In a, the way there without a cipher (fuse-loop) costs 10 %, and the cipher 50 % of what is left.",
                "Choose veracrypt:aes: of what was compared it costs least.",
                "What is told holds for all tests together with 95 %. 1 of 5 are undecided: `--minutes 4` should decide most.",
            ]
        );
    }

    /// Two workloads may have a test of the same name: each takes its own time, and has its own 95 %.
    #[test]
    fn tests_of_two_workloads_are_two() {
        let open = |workload: &str, target: &str| Comparison {
            workload: workload.into(),
            seconds_to_decide: Some(250.0),
            ..row(target, "a", 0.99, Verdict::Undecided)
        };
        let told = |rows: Vec<Comparison>| answer(&document(rows)).pop().expect("a line");
        let one = told(vec![open("cdm", "veracrypt:aes"), open("cdm", "bitlocker:aes-xts-128")]);
        assert!(one.contains("`--minutes 7`") && one.contains("all tests together"), "{one}");
        let two = told(vec![open("cdm", "veracrypt:aes"), open("atto", "veracrypt:aes")]);
        assert!(two.contains("`--minutes 12`") && two.contains("of a workload together"), "{two}");
    }

    #[test]
    fn hardware_is_held_against_the_best_software() {
        let rows = |software, verdict| {
            vec![row("hardware", "a", 1.0, Verdict::Equal), row("veracrypt:aes", "a", software, verdict)]
        };
        let saves = answer(&document(rows(0.7, Verdict::Costs)));
        assert!(saves.iter().any(|line| line.contains("saves up to 30 %")), "{saves:?}");
        let same = answer(&document(rows(1.0, Verdict::Equal)));
        assert!(same.iter().any(|line| line.contains("choose software")), "{same:?}");
        assert!(answer(&document(vec![row("plain", "a", 1.0, Verdict::Equal)])).is_empty());
    }

    /// Never more than five lines, whatever was compared.
    #[test]
    fn five_lines_at_most() {
        let targets = ["veracrypt:aes", "veracrypt:serpent", "bitlocker:aes-xts-128", "hardware", "/mnt/x"];
        let told = answer(&document(targets.iter().map(|t| row(t, "a", 0.5, Verdict::Costs)).collect()));
        assert!(told.len() <= 5, "{told:?}");
    }
}
