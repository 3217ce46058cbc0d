//! A stored run of two studies: each claim's verdict is computed here from the raw turns, with nothing of the program's own
//! arithmetic, and compared with what the program makes of the same turns.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::study::{Standing, StudyDocument, answer};
use keyway_lab::{Flag, Verdict};
use serde_json::Value;
use std::path::Path;

fn stored() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/study.json");
    std::fs::read_to_string(path).expect("the stored run")
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// A turn's figure, from what was counted.
fn figure(turn: &Value, metric: &str) -> f64 {
    if let Some(told) = number(&turn["values"][metric]) {
        return told;
    }
    let count = |key: &str| number(&turn[key]).expect("counted");
    match metric {
        "iops" => count("operations") / count("seconds"),
        "mb_s" => (count("bytes_read") + count("bytes_written")) / count("seconds") / 1e6,
        other => panic!("{other} follows from nothing"),
    }
}

fn turns(series: &Value, cell: &str, target: &str, metric: &str) -> Option<Vec<f64>> {
    let all = series.as_array().expect("series");
    let own = all.iter().find(|s| s["cell"] == cell && s["target"] == target)?;
    Some(own["samples"].as_array().expect("turns").iter().map(|turn| figure(turn, metric)).collect())
}

/// How many of the 2^n choices of ranks 1 to n have each sum, by counting.
fn choices(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let mut count = vec![0.0; most + 1];
    count[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..=most).rev() {
            count[sum] += count[sum - rank];
        }
    }
    count
}

/// The ends of the interval of the ratio, in pairs of turns; none where there are too few.
fn ends(base: &[f64], side: &[f64], outside: f64) -> Option<(f64, f64)> {
    let blocks = base.len().min(side.len()) / 2;
    let block = |turns: &[f64], n: usize| (turns[2 * n] * turns[2 * n + 1]).sqrt();
    let ratios: Vec<f64> = (0..blocks).map(|n| (block(side, n) / block(base, n)).ln()).collect();
    let mut means = Vec::new();
    for a in 0..blocks {
        for b in a..blocks {
            means.push((ratios[a] + ratios[b]) / 2.0);
        }
    }
    means.sort_by(f64::total_cmp);
    let (all, mut below, mut place) = (2f64.powi(blocks as i32), 0.0, 0);
    for count in choices(blocks) {
        below += count;
        if below / all > outside / 2.0 {
            break;
        }
        place += 1;
    }
    (place > 0).then(|| (means[place - 1].exp(), means[means.len() - place].exp()))
}

/// The word for an interval of what is gained, as a part of 1.
fn word((low, high): (f64, f64), delta: f64) -> &'static str {
    if high < 1.0 - delta {
        "costs"
    } else if low > 1.0 + delta {
        "gains"
    } else if low >= 1.0 - delta && high <= 1.0 + delta {
        "equal"
    } else {
        "undecided"
    }
}

/// What becomes of the claim: its word for Keyway and how it stands; and whether it was reproduced.
fn by_hand(run: &Value, told: &Value) -> (String, String, String) {
    let claim = &told["claim"];
    let text = |key: &str| claim[key].as_str().unwrap_or_default().to_owned();
    let same = |m: &&Value| m["study"] == told["study"] && m["experiment"] == claim["experiment"];
    let measured = run["measured"].as_array().expect("measured").iter().find(same).expect("its experiment");
    let (series, cells) = (&measured["document"]["series"], &measured["document"]["cells"]);
    let (cell, of, metric) = (text("cell"), text("of"), text("metric"));
    let delta = number(&claim["delta"]).expect("a change that counts");
    let side = turns(series, &cell, &of, &metric).expect("its turns");
    let base = match &*text("against") {
        "none" => turns(series, &cell, "bare", &metric).or_else(|| turns(series, &cell, "plain", &metric)),
        "hardware" => turns(series, &cell, "hardware", &metric),
        "aes" => turns(series, &cell, "veracrypt:aes", &metric),
        _ => Some(vec![number(&claim["figure"]).expect("a figure"); side.len()]),
    };
    let study = run["studies"].as_array().expect("studies").iter().find(|s| s["name"] == told["study"]);
    let claims = study.expect("its study")["claims"].as_array().expect("claims");
    let together = claims.iter().filter(|c| c["experiment"] == claim["experiment"]).count() as f64;
    let rows = cells.as_array().expect("rows").iter();
    let looks = rows.filter(|r| r["cell"] == *cell && r["target"] == *of).filter_map(|r| number(&r["looks"]));
    let look = looks.fold(1.0, f64::max);
    let less_is_better = metric == "latency_us" || metric == "seconds";
    // Of times, the other way round: more is always better here.
    let better = |(low, high): (f64, f64)| if less_is_better { (1.0 / high, 1.0 / low) } else { (low, high) };
    let cost = |ratio: f64| 100.0 * if less_is_better { ratio - 1.0 } else { 1.0 - ratio };
    let found =
        ends(&base.expect("what it was held against"), &side, 0.05 / together / (look * (look + 1.0)));
    let now = found.map_or("undecided", |found| word(better(found), delta));
    let (says, percent) = (text("says"), number(&claim["percent"]));
    let highest = found.map(|(low, high)| cost(low).max(cost(high)));
    let lowest = found.map(|(low, high)| cost(low).min(cost(high)));
    let standing = match (&*says, percent) {
        ("costs", Some(percent)) => {
            if now == "costs" && lowest.is_some_and(|low| low >= percent - delta * 100.0) {
                "holds"
            } else if highest.is_some_and(|high| high < percent - delta * 100.0) {
                "refuted"
            } else {
                "undecided"
            }
        }
        _ if now == "undecided" => "undecided",
        ("equal", _) if now == "costs" && text("against") == "figure" => "undecided",
        ("equal", _) if now == "gains" && text("against") != "figure" => "holds",
        _ if now == says => "holds",
        _ => "refuted",
    };
    let simulated = &told["simulated"];
    let reproduced = match (number(&simulated["none"]), number(&simulated["software"])) {
        (Some(none), Some(software)) => {
            let ratio = software / none;
            let then = word(better((ratio, ratio)), delta);
            let near = percent.is_none_or(|p| says == "equal" || (cost(ratio) - p).abs() <= p / 4.0);
            if then == says && near { "yes" } else { "no" }
        }
        _ => "no-model",
    };
    (now.to_owned(), standing.to_owned(), reproduced.to_owned())
}

#[test]
fn each_verdict_follows_from_the_raw_turns() {
    let text = stored();
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let document: StudyDocument = serde_json::from_str(&text).expect("a run of studies");
    let judged = serde_json::to_value(document.judged_again()).expect("plain data");
    let judged = judged.as_array().expect("verdicts");
    let mut kinds = std::collections::BTreeSet::new();
    for told in judged {
        let told_words = |value: &Value| value.as_str().expect("a word").to_owned();
        let words = (
            told_words(&told["now"]["verdict"]),
            told_words(&told["standing"]),
            told_words(&told["reproduced"]),
        );
        assert_eq!(by_hand(&run, told), words, "{}", told["claim"]);
        kinds.extend([words.1, words.2]);
    }
    assert!(judged.len() >= 12, "{}", judged.len());
    let all = ["holds", "no", "no-model", "refuted", "undecided", "yes"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all, "each kind was looked at");
}

/// What may be the machine's doing is not what encryption costs.
#[test]
fn the_answer_names_no_cost_that_noise_may_have_made() {
    let mut document: StudyDocument = serde_json::from_str(&stored()).expect("a run of studies");
    let costs = |document: &StudyDocument| {
        answer(document).into_iter().find(|line| line.starts_with("Software with AES costs")).expect("a line")
    };
    let before = costs(&document);
    let rows = document.measured.iter_mut().flat_map(|found| &mut found.document.cells);
    let named = rows.filter(|row| before.contains(&row.cell)).map(|row| row.flags.push(Flag::Noise));
    assert!(named.count() > 0, "{before}");
    assert_ne!(costs(&document), before);
}

/// Where nothing is decided, nothing is chosen, and nothing is said to cost nothing; nor where all that costs is noisy.
#[test]
fn what_is_undecided_chooses_nothing() {
    let mut document: StudyDocument = serde_json::from_str(&stored()).expect("a run of studies");
    let rows = |document: &mut StudyDocument, change: &dyn Fn(&mut keyway_lab::Comparison)| {
        document.measured.iter_mut().flat_map(|found| &mut found.document.cells).for_each(change);
    };
    rows(&mut document, &|row| row.flags.push(Flag::Noise));
    let noisy = answer(&document).join("\n");
    assert!(!noisy.contains("costs nothing") && noisy.contains("not sure how much"), "{noisy}");
    rows(&mut document, &|row| row.verdict = Verdict::Undecided);
    let told = answer(&document);
    let open = told.join("\n");
    assert!(!open.contains("Choose") && !open.contains("costs nothing"), "{open}");
    assert!(open.contains("nothing is decided yet") && open.contains("Nothing is decided:"), "{open}");
    assert!(told.len() <= 4, "{open}");
    rows(&mut document, &|row| row.verdict = Verdict::Equal);
    rows(&mut document, &|row| row.flags.clear());
    let equal = answer(&document).join("\n");
    assert!(equal.contains("hardware is no faster") && equal.contains("costs nothing in"), "{equal}");
}

/// The last line says in how many claims this machine was busy, and fits a terminal.
#[test]
fn a_busy_machine_is_told_with_how_much_it_spoilt() {
    let mut document: StudyDocument = serde_json::from_str(&stored()).expect("a run of studies");
    document.verdicts.iter_mut().for_each(|found| found.flags.clear());
    let last = |document: &StudyDocument| answer(document).pop().expect("a line");
    assert!(!last(&document).contains("busy"), "{}", last(&document));
    let all = document.verdicts.len();
    document.verdicts.iter_mut().take(2).for_each(|found| found.flags.push(Flag::BusyMachine));
    let told = last(&document);
    assert!(told.ends_with(&format!("this machine was busy in 2 of {all}.")), "{told}");
    assert!(told.chars().count() <= 80, "{told}");
    document.verdicts.iter_mut().skip(2).for_each(|found| found.flags.push(Flag::BusyMachine));
    assert!(last(&document).ends_with("this machine was busy."), "{}", last(&document));
}

/// By what this machine could not measure, no claim stands or falls.
#[test]
fn too_few_cores_decide_no_claim() {
    let mut document: StudyDocument = serde_json::from_str(&stored()).expect("a run of studies");
    assert!(document.judged_again().iter().any(|found| found.standing != Standing::Undecided));
    let rows = document.measured.iter_mut().flat_map(|found| &mut found.document.cells);
    rows.for_each(|row| row.flags.push(Flag::TooFewCores));
    assert!(document.judged_again().iter().all(|found| found.standing == Standing::Undecided));
}

/// What was stopped refutes nothing: a test without all of its turns is not measured, and that is said before all else.
#[test]
fn what_was_stopped_refutes_nothing() {
    let mut document: StudyDocument = serde_json::from_str(&stored()).expect("a run of studies");
    let count = |document: &StudyDocument| {
        document.verdicts.iter().filter(|found| found.standing == Standing::NotMeasured).count()
    };
    assert_eq!(count(&document), 0);
    for found in &mut document.measured {
        let short: Vec<String> = found.document.series.iter().map(|s| s.cell.clone()).collect();
        found.document.missing.extend(short.iter().map(|cell| format!("{cell} on bare: 1 of 40 turns done")));
    }
    document.verdicts = document.judged_again();
    assert_eq!(count(&document), document.verdicts.len());
    assert!(document.verdicts.iter().all(|found| found.less_by.is_none() && found.by_how_much().is_none()));
    let all = document.verdicts.len();
    let told = answer(&document);
    assert_eq!(told, [format!("Not finished: {all} of {all} claims were not measured, and do not count.")]);
    // One experiment of them alone: the others are judged, and summed up without it.
    document.measured.iter_mut().skip(1).for_each(|found| found.document.missing.clear());
    document.verdicts = document.judged_again();
    let (out, told) = (count(&document), answer(&document));
    assert!(out > 0 && out < all);
    assert!(told[0].starts_with(&format!("Not finished: {out} of {all} claims")), "{told:?}");
    assert!(told[1].starts_with(&format!("{} others: ", all - out)), "{told:?}");
    assert!(told.len() <= 5, "{told:?}");
}
