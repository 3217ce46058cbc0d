//! The answer in words: what encryption costs here, where the cost lies, what to choose, and how sure that is. All of it
//! follows from what is decided; where nothing is, nothing is chosen.

use super::rivals::Standings;
use crate::result::{Comparison, Document, Flag, Verdict};
use crate::target::{is_hardware, is_unencrypted};
use std::collections::BTreeMap;

/// At most five sentences or pairs of them, for a person who reads nothing else; empty where nothing was compared.
pub fn answer(document: &Document) -> Vec<String> {
    lines(document, choice)
}

/// The same of a drive that is encrypted already, as `already` says: nobody chooses to encrypt it any more. What it has was
/// measured itself where `is_its_own`, and else something like it.
pub fn answer_of_encrypted(document: &Document, already: &str, is_its_own: bool) -> Vec<String> {
    lines(document, |sides| {
        let worst = sides.iter().map(Side::worst).fold(0.0, f64::max);
        match () {
            () if !is_its_own => format!("{already}."),
            () if !sides.iter().any(Side::is_decided) => {
                format!("{already}: what that costs is not decided yet.")
            }
            () if worst == 0.0 => format!("{already}: nothing that was decided is slower for it."),
            () => format!("{already}: decrypted, it would be faster by what is told here."),
        }
    })
}

fn lines(document: &Document, choice: impl FnOnce(&[Side<'_>]) -> String) -> Vec<String> {
    let sides = sides(document);
    let mut lines: Vec<String> = match &*sides {
        [] => return Vec::new(),
        [first, .., last] if sides.len() > 2 => vec![first.costs(), last.costs()],
        few => few.iter().map(Side::costs).collect(),
    };
    lines.extend(parts(document, &sides));
    let baseline = encrypted_baseline(&sides);
    let others = baseline.first().map(|row| Side { target: &row.target, rows: baseline.iter().collect() });
    lines.push(choice(&sides.into_iter().chain(others).collect::<Vec<_>>()));
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

/// Where what the others are held against is encrypted too, it can be chosen as well: its rows, of which nothing is open.
fn encrypted_baseline(sides: &[Side<'_>]) -> Vec<Comparison> {
    let Some(side) = sides.first() else { return Vec::new() };
    let rows = side.rows.iter().filter(|row| !is_unencrypted(&row.baseline));
    let itself = |row: &&Comparison| Comparison {
        target: row.baseline.clone(),
        ratio: 1.0,
        ratio_low: 1.0,
        ratio_high: 1.0,
        verdict: Verdict::Equal,
        ..(*row).clone()
    };
    rows.map(itself).collect()
}

impl<'a> Side<'a> {
    fn with(&self, verdict: Verdict) -> impl Iterator<Item = &&'a Comparison> {
        self.rows.iter().filter(move |r| r.verdict == verdict)
    }

    /// Whether enough is decided to choose by.
    fn is_decided(&self) -> bool {
        self.with(Verdict::Undecided).count() * 2 <= self.rows.len()
    }

    /// The largest cost that is sure, in percent.
    fn worst(&self) -> f64 {
        self.with(Verdict::Costs).map(|r| r.cost_percent()).fold(0.0, f64::max)
    }

    fn is_hardware(&self) -> bool {
        is_hardware(self.target)
    }

    /// How it stands beside another.
    fn beside(&self, other: &Self) -> Standings {
        Standings::of(self.rows.iter().copied(), &other.rows)
    }

    /// One sentence: so many tests of each word, and of a cost its size and where it is largest.
    fn costs(&self) -> String {
        let Some(first) = self.rows.first() else { return String::new() };
        let (target, baseline, all) = (self.target, &first.baseline, self.rows.len());
        let delta = whole(first.delta * 100.0);
        let count = |verdict| self.with(verdict).count();
        let (costs, gains, equal) = (count(Verdict::Costs), count(Verdict::Gains), count(Verdict::Equal));
        let undecided = all - costs - gains - equal;
        if undecided == all {
            return format!("{target}: nothing is decided yet of {} against {baseline}.", tests(all));
        }
        if equal == all {
            return format!("{target} is as fast as {baseline}, within {delta} %, in all {}.", tests(all));
        }
        let mut told = Vec::new();
        let worst = self.with(Verdict::Costs).max_by(|a, b| a.cost_percent().total_cmp(&b.cost_percent()));
        if let Some(worst) = worst {
            let least = self.with(Verdict::Costs).map(|r| r.cost_percent()).fold(f64::INFINITY, f64::min);
            let range = range(least, worst.cost_percent());
            told.push(format!("costs {range} % in {costs} of {}, most in {}", tests(all), worst.cell));
        }
        let place = |n: usize, told: &[String]| {
            if told.is_empty() { format!("{n} of {}", tests(all)) } else { n.to_string() }
        };
        if equal > 0 {
            told.push(format!("is as fast as {baseline}, within {delta} %, in {}", place(equal, &told)));
        }
        if gains > 0 {
            told.push(format!("is faster than {baseline} in {}", place(gains, &told)));
        }
        if undecided > 0 {
            told.push(format!("{undecided} undecided"));
        }
        format!("{target} {}.", told.join("; "))
    }
}

fn tests(n: usize) -> String {
    if n == 1 { "1 test".to_owned() } else { format!("{n} tests") }
}

fn range(least: f64, most: f64) -> String {
    let (least, most) = (whole(least), whole(most));
    if least == most { most } else { format!("{least} to {most}") }
}

/// Of the largest cost, what the way there takes and what the cipher does: where both are decided.
fn parts(document: &Document, sides: &[Side<'_>]) -> Option<String> {
    let rows = sides.iter().flat_map(|side| side.with(Verdict::Costs));
    let worst = rows.max_by(|a, b| a.cost_percent().total_cmp(&b.cost_percent()))?;
    let same = |row: &&Comparison| {
        row.workload == worst.workload && row.cell == worst.cell && row.metric == worst.metric
    };
    let mut others = document.cells.iter().filter(same);
    let way = others.find(|row| row.target != row.baseline && is_unencrypted(&row.target))?;
    let path = match way.verdict {
        Verdict::Undecided => return None,
        Verdict::Costs => format!("costs {} %", whole(way.cost_percent())),
        Verdict::Equal | Verdict::Gains => "costs nothing that counts".to_owned(),
    };
    let cipher = worst.cipher_cost.map(|ratio| worst.metric.cost_percent(ratio))?;
    let is_slower = Standings::of([*worst], &[way]).slower > 0;
    let cipher = match way.verdict {
        _ if !is_slower => "what the cipher takes beside it is undecided".to_owned(),
        Verdict::Costs => format!("the cipher {} % of what is left", whole(cipher)),
        _ => format!("the cipher {} %", whole(cipher)),
    };
    let (cell, name) = (&worst.cell, document.path.name());
    Some(format!("In {cell}, the way there without a cipher ({name}) {path}, and {cipher}."))
}

/// What follows for a choice; nothing is chosen by what is undecided, nor where hardly anything is decided.
fn choice(sides: &[Side<'_>]) -> String {
    // An encrypted baseline comes last, and is what the others are held against.
    if !sides
        .iter()
        .filter(|side| side.rows.iter().all(|row| row.target != row.baseline))
        .any(Side::is_decided)
    {
        return "There is nothing to choose by yet.".to_owned();
    }
    let software: Vec<&Side<'_>> = sides.iter().filter(|side| !side.is_hardware()).collect();
    let best = software.iter().find(|side| {
        let others = software.iter().filter(|other| other.target != side.target);
        software.len() > 1
            && others.map(|other| side.beside(other)).all(|found| found.is_better() && found.is_known())
    });
    // Where none is the best, the one of which most is known.
    let known = |side: &&&Side<'_>| side.rows.len() - side.with(Verdict::Undecided).count();
    let best_known = best.or_else(|| software.iter().max_by_key(known));
    match (sides.iter().find(|side| side.is_hardware()), best_known) {
        (Some(own), Some(software)) => hardware_or(own, software),
        (Some(own), None) if own.worst() == 0.0 => {
            "Switch it on: nothing that was decided is slower for it.".to_owned()
        }
        (Some(_), None) => "Compare it with software on the same drive before you choose.".to_owned(),
        (None, None) => String::new(),
        (None, Some(_)) => match (&*software, best) {
            ([only], _) => alone(only),
            ([one, other], Some(best)) => {
                let rival = if best.target == one.target { other } else { one };
                better(best, rival)
            }
            ([one, other], None) => neither(one, other),
            (_, Some(best)) => {
                format!(
                    "Choose {}: each other is slower somewhere, and none is faster where it is decided.",
                    best.target
                )
            }
            (all, None) => {
                let mut pairs = all.iter().zip(all.iter().skip(1));
                if pairs.all(|(one, other)| one.beside(other).is_equal()) {
                    format!("All {} are equal: choose by who has to read it.", all.len())
                } else {
                    "None of them is sure to be the fastest: there is nothing to choose by yet.".to_owned()
                }
            }
        },
    }
}

/// One kind of software alone was compared with no encryption.
fn alone(only: &Side<'_>) -> String {
    match only.with(Verdict::Costs).count() {
        0 => "Encrypt: nothing that was decided is slower for it.",
        _ => "Encrypt, unless what costs is your kind of work and its speed all that matters.",
    }
    .to_owned()
}

fn equal(one: &str, other: &str) -> String {
    format!("{one} and {other} are equal: choose by who has to read it.")
}

fn better(best: &Side<'_>, rival: &Side<'_>) -> String {
    let found = best.beside(rival);
    let open = if found.open > 0 { format!("; {} undecided", found.open) } else { String::new() };
    format!(
        "Choose {}: it is faster than {} in {} of {}, and slower in none{open}.",
        best.target,
        rival.target,
        found.faster,
        tests(found.tests())
    )
}

fn neither(one: &Side<'_>, other: &Side<'_>) -> String {
    let (found, sides) = (one.beside(other), [one, other]);
    let (one, other, all) = (one.target, other.target, tests(found.tests()));
    match found {
        _ if found.is_equal() => equal(one, other),
        // What either takes is known.
        _ if found.decided() == 0 && sides.iter().all(|side| side.with(Verdict::Undecided).count() == 0) => {
            format!("{one} or {other}: between them nothing is decided, so choose by who has to read it.")
        }
        _ if found.decided() == 0 => {
            format!("Between {one} and {other} nothing is decided: there is nothing to choose by yet.")
        }
        Standings { faster: 0, slower: 0, equal, .. } => format!(
            "{one} and {other} are equal in {equal} of {all}; the rest is undecided, and chooses nothing."
        ),
        Standings { faster, slower, open, .. } if !found.is_known() => format!(
            "{one} is faster in {faster} of {all}, {other} in {slower}, and {open} are open: there is nothing to choose by yet."
        ),
        Standings { faster, slower, .. } => {
            format!("{one} is faster in {faster} of {all}, {other} in {slower}: choose by your kind of work.")
        }
    }
}

/// The drive's own encryption beside software.
fn hardware_or(own: &Side<'_>, software: &Side<'_>) -> String {
    let (found, target) = (own.beside(software), software.target);
    let all = tests(found.tests());
    match found {
        _ if found.decided() == 0 => {
            format!("Between the drive's own encryption and {target} nothing is decided yet.")
        }
        _ if !found.is_known() => format!(
            "Between the drive's own encryption and {target} only {} of {all} are decided: there is nothing to choose by yet.",
            found.decided()
        ),
        Standings { faster, slower: 0, saves, .. } if faster > 0 => format!(
            "The drive's own encryption saves up to {} %: choose it if you trust the drive's firmware with the keys.",
            whole(saves)
        ),
        Standings { faster, slower, .. } if faster > 0 => format!(
            "The drive's own encryption is faster than {target} in {faster} of {all}, slower in {slower}: choose by your kind of work."
        ),
        Standings { open: 0, .. } => format!(
            "The drive's own encryption is no faster than {target}: choose software, which keeps the keys out of firmware."
        ),
        _ => format!(
            "The drive's own encryption is no faster than {target} in {} of {all}; the rest is undecided.",
            found.decided()
        ),
    }
}

fn sureness(document: &Document) -> String {
    let rows = || document.cells.iter().filter(|r| r.primary && r.target != r.baseline);
    let open: Vec<&Comparison> = rows().filter(|r| r.verdict == Verdict::Undecided).collect();
    let mut workloads: Vec<&str> = rows().map(|r| r.workload.as_str()).collect();
    workloads.dedup();
    let (all, nothing) = (rows().count(), open.len() == rows().count());
    let sure = match workloads.len() {
        _ if nothing => "",
        0 | 1 => "What is told holds for all tests together with 95 %.",
        _ => "What is told holds with 95 % for all tests of a workload together.",
    };
    if open.is_empty() {
        return match rows().filter(|r| r.flags.contains(&Flag::BusyMachine)).count() {
            0 => sure.to_owned(),
            busy if busy == all => format!("{sure} This machine was busy, though."),
            busy => format!("{sure} This machine was busy in {busy} of {all}, though."),
        };
    }
    // A cell is measured for all of its targets at once.
    let mut cells: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for row in &open {
        let Some(seconds) = row.seconds_to_decide else { continue };
        let most = cells.entry((&row.workload, &row.cell)).or_default();
        *most = most.max(seconds);
    }
    let more: f64 = cells.values().sum();
    let undecided = if nothing {
        format!("Nothing is decided of {all}")
    } else {
        format!("{sure} {} of {all} are undecided", open.len())
    };
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
#[path = "../../tests/inner/answer.rs"]
mod tests;
