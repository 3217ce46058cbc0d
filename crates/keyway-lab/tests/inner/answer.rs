//! The answer in words: what it says of tables, and that it never contradicts a cell of one.

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
            "veracrypt:aes is as fast as bare, within 3 %, in 1 of 2 tests; is faster than bare in 1.",
            "Encrypt: nothing that was decided is slower for it.",
            "What is told holds for all tests together with 95 %.",
        ]
    );
}

#[test]
fn costs_their_place_and_the_choice() {
    let mut open = row("veracrypt:aes", "c", 0.99, Verdict::Undecided);
    open.seconds_to_decide = Some(100.0);
    let way = Comparison { path_cost: None, cipher_cost: None, ..row("plain", "a", 0.9, Verdict::Costs) };
    let told = answer(&document(vec![
        way,
        row("veracrypt:aes", "a", 0.72, Verdict::Costs),
        row("veracrypt:aes", "b", 0.94, Verdict::Costs),
        open,
        row("veracrypt:serpent", "a", 0.45, Verdict::Costs),
        row("veracrypt:serpent", "b", 1.0, Verdict::Equal),
    ]));
    assert_eq!(
        told,
        [
            "veracrypt:aes costs 6 to 28 % in 2 of 3 tests, most in a; 1 undecided.",
            "veracrypt:serpent costs 55 % in 1 of 2 tests, most in a; is as fast as bare, within 3 %, in 1.",
            "In a, the way there without a cipher (fuse-loop) costs 10 %, and the cipher 50 % of what is left.",
            "veracrypt:aes is faster in 1 of 2 tests, veracrypt:serpent in 1: choose by your kind of work.",
            "What is told holds for all tests together with 95 %. 1 of 6 are undecided: `--minutes 4` should decide most.",
        ]
    );
}

/// One busy moment spoils one test, not all that was measured.
#[test]
fn a_busy_machine_is_told_with_how_much_it_spoilt() {
    let told = |busy: &[&str]| {
        let mut rows: Vec<Comparison> =
            ["a", "b", "c"].map(|cell| row("veracrypt:aes", cell, 1.0, Verdict::Equal)).into();
        let spoilt = rows.iter_mut().filter(|row| busy.contains(&row.cell.as_str()));
        spoilt.for_each(|row| row.flags.push(Flag::BusyMachine));
        answer(&document(rows)).pop().expect("a line")
    };
    assert!(!told(&[]).contains("busy"), "{}", told(&[]));
    assert!(told(&["b"]).ends_with(" This machine was busy in 1 of 3, though."), "{}", told(&["b"]));
    assert!(told(&["a", "b", "c"]).ends_with(" This machine was busy, though."));
}

/// Two workloads may have a test of the same name: each takes its own time, and has its own 95 %.
#[test]
fn tests_of_two_workloads_are_two() {
    let open = |workload: &str, target: &str| Comparison {
        workload: workload.into(),
        seconds_to_decide: Some(250.0),
        ..row(target, "a", 0.99, Verdict::Undecided)
    };
    let told = |open: Vec<Comparison>| {
        let decided = row("veracrypt:aes", "b", 1.0, Verdict::Equal);
        let rows = std::iter::once(decided).chain(open).collect();
        answer(&document(rows)).pop().expect("a line")
    };
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

/// Whoever has encrypted a drive is not told to do so.
#[test]
fn of_what_is_encrypted_already_nothing_is_chosen() {
    let told = |verdict, is_its_own| {
        let rows = document(vec![row("bitlocker:aes-xts-128", "a", 0.9, verdict)]);
        let told = answer_of_encrypted(&rows, "It is encrypted already", is_its_own);
        assert_eq!(told.len(), answer(&rows).len(), "one line stands in the place of another");
        assert!(told[0].starts_with("bitlocker:aes-xts-128"), "{told:?}");
        told.get(1).cloned().expect("a second line")
    };
    let costs = "It is encrypted already: decrypted, it would be faster by what is told here.";
    assert_eq!(told(Verdict::Costs, true), costs);
    let equal = "It is encrypted already: nothing that was decided is slower for it.";
    assert_eq!(told(Verdict::Equal, true), equal);
    let open = "It is encrypted already: what that costs is not decided yet.";
    assert_eq!(told(Verdict::Undecided, true), open);
    assert_eq!(told(Verdict::Costs, false), "It is encrypted already.");
}

/// Never more than five lines, whatever was compared.
#[test]
fn five_lines_at_most() {
    let targets = ["veracrypt:aes", "veracrypt:serpent", "bitlocker:aes-xts-128", "hardware", "/mnt/x"];
    let told = answer(&document(targets.iter().map(|t| row(t, "a", 0.5, Verdict::Costs)).collect()));
    assert!(told.len() <= 5, "{told:?}");
}

/// Two candidates that don't differ are told as equal; of one that is not decided nothing is chosen, however much the
/// other costs.
#[test]
fn what_is_equal_or_open_is_not_chosen() {
    let choice = |one: Verdict, other: Verdict, ratio: f64| {
        let rows = vec![row("veracrypt:aes", "a", 1.0, one), row("bitlocker:aes-xts-128", "a", ratio, other)];
        let told = answer(&document(rows));
        told.get(told.len() - 2).cloned().expect("a choice")
    };
    assert_eq!(
        choice(Verdict::Equal, Verdict::Equal, 1.0),
        "veracrypt:aes and bitlocker:aes-xts-128 are equal: choose by who has to read it."
    );
    assert_eq!(
        choice(Verdict::Undecided, Verdict::Costs, 0.4),
        "Between veracrypt:aes and bitlocker:aes-xts-128 nothing is decided: there is nothing to choose by yet."
    );
    let open = |row: Comparison| Comparison { ratio_low: 0.5, ratio_high: 1.5, ..row };
    let rows = [
        row("veracrypt:aes", "a", 1.0, Verdict::Costs),
        row("bitlocker:aes-xts-128", "a", 1.0, Verdict::Costs),
    ];
    let told = answer(&document(rows.map(open).to_vec()));
    assert_eq!(
        told.get(told.len() - 2).map(String::as_str),
        Some(
            "veracrypt:aes or bitlocker:aes-xts-128: between them nothing is decided, so choose by who has to read it."
        )
    );
    assert_eq!(
        choice(Verdict::Equal, Verdict::Costs, 0.4),
        "Choose veracrypt:aes: it is faster than bitlocker:aes-xts-128 in 1 of 1 test, and slower in none."
    );
    assert_eq!(choice(Verdict::Undecided, Verdict::Undecided, 1.0), "There is nothing to choose by yet.");
}

/// One test of many decides nothing: what is told of it stays, and no choice follows.
#[test]
fn hardly_anything_decided_is_nothing_to_choose_by() {
    let told = |candidates: &[(&str, Verdict, f64)], open: usize| {
        let rows = candidates.iter().flat_map(|(target, verdict, ratio)| {
            let undecided = (0..open).map(|n| row(target, &format!("open{n}"), 1.0, Verdict::Undecided));
            std::iter::once(row(target, "a", *ratio, *verdict)).chain(undecided)
        });
        let told = answer(&document(rows.collect()));
        told.get(told.len() - 2).cloned().expect("a choice")
    };
    for target in ["hardware", "veracrypt:aes"] {
        let one = [(target, Verdict::Equal, 1.0)];
        assert_eq!(told(&one, 11), "There is nothing to choose by yet.");
        assert!(told(&one, 1).contains("nothing that was decided is slower"), "{}", told(&one, 1));
    }
    let cost = ("veracrypt:aes", Verdict::Costs, 0.5);
    for other in ["hardware", "veracrypt:serpent"] {
        let two = [(other, Verdict::Equal, 1.0), cost];
        assert!(told(&two, 11).ends_with("nothing to choose by yet."), "{}", told(&two, 11));
        assert!(told(&two, 1).to_lowercase().contains("choose"), "{}", told(&two, 1));
        assert!(!told(&two, 1).contains("nothing to choose"), "{}", told(&two, 1));
    }
}

/// An encrypted baseline is a candidate as well.
#[test]
fn what_the_others_are_held_against_can_be_chosen() {
    let against = |verdict, ratio| {
        let row =
            Comparison { baseline: "veracrypt:aes".into(), ..row("veracrypt:serpent", "a", ratio, verdict) };
        let told = answer(&document(vec![row]));
        told.get(told.len() - 2).cloned().expect("a choice")
    };
    assert!(against(Verdict::Costs, 0.5).starts_with("Choose veracrypt:aes:"));
    assert!(against(Verdict::Gains, 1.5).starts_with("Choose veracrypt:serpent:"));
    assert!(against(Verdict::Equal, 1.0).contains("are equal"));
    assert_eq!(against(Verdict::Undecided, 1.0), "There is nothing to choose by yet.");
}

/// What the sentences may say of any table: they never contradict a cell of it.
#[test]
fn no_sentence_contradicts_a_cell() {
    let mut rng = keyway_store::SplitMix64::new(7);
    let all = ["veracrypt:aes", "bitlocker:aes-xts-128", "veracrypt:serpent", "hardware"];
    let mut seen = BTreeMap::<&str, usize>::new();
    for _ in 0..4000 {
        let (tests, sides) = (1 + rng.below(3), 1 + rng.below(4) as usize);
        // Some tables have much of one word, so that every sentence comes.
        let (noise, cost) = (rng.below(4), rng.below(3));
        let first = rng.below(2) as usize;
        let mut cells = Vec::new();
        for test in 0..tests {
            let name = format!("test{test}");
            for target in std::iter::once("plain").chain(all.iter().copied().skip(first).take(sides)) {
                let ratio = 1.0 - (rng.below(1 + 300 * cost) as f64 - 60.0 * cost as f64) / 1000.0;
                let half = (1 + rng.below(1 + 40 * noise)) as f64 / 1000.0;
                let (low, high) = (ratio - half, ratio + half);
                let verdict = match () {
                    () if high < 0.97 => Verdict::Costs,
                    () if low > 1.03 => Verdict::Gains,
                    () if low >= 0.97 && high <= 1.03 => Verdict::Equal,
                    () => Verdict::Undecided,
                };
                let mut row = row(target, &name, ratio, verdict);
                (row.ratio_low, row.ratio_high) = (low, high);
                row.seconds_to_decide = (verdict == Verdict::Undecided).then_some(60.0);
                cells.push(row);
            }
        }
        let told = answer(&document(cells.clone()));
        assert!(told.len() <= 5, "{told:?}");
        check(&told, &cells, &mut seen);
    }
    // Each sentence was seen, so that none is right because it never came.
    for sentence in ["choose", "equal", "open", "none", "hardware", "by work"] {
        assert!(seen.get(sentence).is_some_and(|n| *n > 5), "{sentence}: {seen:?}");
    }
}

/// The rows of a target, by test.
fn of<'a>(cells: &'a [Comparison], target: &str) -> Vec<&'a Comparison> {
    cells.iter().filter(|row| row.target == target).collect()
}

/// In which tests the one is surely faster than the other: both decided, their intervals further apart than counts.
fn faster(cells: &[Comparison], one: &str, other: &str) -> usize {
    let decided = |row: &Comparison| row.verdict != Verdict::Undecided;
    let both = of(cells, one).into_iter().zip(of(cells, other));
    let both = both.filter(|(a, b)| decided(a) && decided(b));
    both.filter(|(a, b)| (a.verdict, b.verdict) != (Verdict::Equal, Verdict::Equal))
        .filter(|(a, b)| a.ratio_low > b.ratio_high * 1.03)
        .count()
}

fn check<'a>(told: &[String], cells: &[Comparison], seen: &mut BTreeMap<&'a str, usize>) {
    let mut note = |word: &'a str| *seen.entry(word).or_default() += 1;
    let encrypted: Vec<&Comparison> = cells.iter().filter(|row| row.target != "plain").collect();
    let mut names: Vec<&str> = encrypted.iter().map(|row| row.target.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let why = || format!("{told:#?}\n{cells:#?}");
    let whole = told.join("\n");
    if encrypted.iter().all(|row| row.verdict == Verdict::Undecided) {
        note("none");
        assert!(
            whole.contains("There is nothing to choose by yet.") && whole.contains("--minutes"),
            "{}",
            why()
        );
        assert!(!whole.contains("Choose ") && !whole.contains("choose software"), "{}", why());
        assert!(!whole.contains("ncrypt:") && !whole.contains("%:"), "{}", why());
    }
    for line in told {
        // What a target's own sentence says is what its cells say.
        if let Some(name) = names.iter().find(|name| {
            line.starts_with(&format!("{name} "))
                && !line.contains("are equal")
                && !line.contains("choose by")
        }) {
            let count = |verdict| of(cells, name).iter().filter(|row| row.verdict == verdict).count();
            assert_eq!(line.contains("costs "), count(Verdict::Costs) > 0, "{line}: {}", why());
            assert_eq!(line.contains("as fast as"), count(Verdict::Equal) > 0, "{line}: {}", why());
            assert_eq!(line.contains("faster than bare"), count(Verdict::Gains) > 0, "{line}: {}", why());
            assert_eq!(line.contains("undecided"), count(Verdict::Undecided) > 0, "{line}: {}", why());
        }
        if let Some(chosen) = line.strip_prefix("Choose ").and_then(|rest| rest.split_once(": ")) {
            note("choose");
            for other in names.iter().filter(|name| **name != chosen.0 && **name != "hardware") {
                assert!(faster(cells, chosen.0, other) > 0, "{line}: {}", why());
                assert_eq!(faster(cells, other, chosen.0), 0, "{line}: {}", why());
            }
        }
        if line.contains("are equal:") {
            note("equal");
            for (one, other) in names.iter().flat_map(|one| names.iter().map(move |other| (one, other))) {
                let shared = of(cells, one).into_iter().zip(of(cells, other));
                for (a, b) in shared {
                    assert!(a.verdict != Verdict::Undecided && b.verdict != Verdict::Undecided, "{}", why());
                }
                assert_eq!(faster(cells, one, other), 0, "{line}: {}", why());
            }
        }
        if line.contains("nothing is decided: there is nothing to choose by yet") {
            note("open");
            assert_eq!(names.iter().filter(|name| faster(cells, name, names[0]) > 0).count(), 0, "{}", why());
        }
        if line.starts_with("The drive's own encryption") {
            note("hardware");
            let rivals = || names.iter().filter(|name| **name != "hardware");
            if line.contains("saves up to") {
                assert!(rivals().any(|other| faster(cells, "hardware", other) > 0), "{}", why());
            }
            if let Some(other) = rivals().find(|name| line.contains(&format!("no faster than {name}"))) {
                assert_eq!(faster(cells, "hardware", other), 0, "{line}: {}", why());
            }
        }
        if line.contains("choose by your kind of work") && names.len() == 2 {
            note("by work");
            let (one, other) = (names[0], names[1]);
            assert!(faster(cells, one, other) > 0 && faster(cells, other, one) > 0, "{line}: {}", why());
        }
        if line.starts_with("Encrypt: ") {
            assert!(encrypted.iter().all(|row| row.verdict != Verdict::Costs), "{}", why());
        }
        // The way's part is told where it is decided, and as it is.
        if line.contains("the way there without a cipher") {
            let way = of(cells, "plain").into_iter().find(|row| line.contains(&format!("In {},", row.cell)));
            let way = way.expect("a row of the way");
            assert_eq!(
                line.contains("costs nothing that counts"),
                way.verdict != Verdict::Costs,
                "{}",
                why()
            );
            assert_ne!(way.verdict, Verdict::Undecided, "{}", why());
        }
    }
}
