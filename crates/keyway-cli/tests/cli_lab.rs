//! `lab`: its JSON, its page, and what it refuses.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, two_lines};
use keyway_testkit::{require_root, require_tool};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Seconds matter here, not figures.
const SHORT: &str = "--quick --seconds 0.08 --minutes 0.01 --size 16M";

fn rows(document: &Value) -> Vec<Value> {
    document["cells"].as_array().expect("cells").clone()
}

#[test]
fn a_comparison_keeps_the_contract_and_its_page_can_be_drawn_again() {
    let cli = Cli::new();
    let words = format!(
        "lab compare --with veracrypt:aes --with bitlocker:aes-xts-128 --drive model:samsung-990-pro \
         --reads-only --workload quick {SHORT} --save @one.json --html @one.html"
    );
    let document = cli.json(0, &words);
    let rows = rows(&document);
    for row in &rows {
        for key in ["workload", "cell", "target", "baseline", "metric", "verdict"] {
            assert!(row[key].is_string(), "{key} in {row}");
        }
        for key in ["value", "baseline_value", "ratio", "ratio_low", "ratio_high"] {
            assert!(row[key].as_f64() > Some(0.0), "{key} in {row}");
        }
        assert!(
            row["ratio_low"].as_f64() <= row["ratio"].as_f64()
                && row["ratio"].as_f64() <= row["ratio_high"].as_f64()
        );
        assert!(["costs", "gains", "equal", "undecided"].contains(&row["verdict"].as_str().expect("text")));
        assert_eq!(row["baseline"], "bare");
        assert_eq!(row["delta"], 0.03);
        let (path, cipher) = (row["path_cost"].as_f64(), row["cipher_cost"].as_f64());
        assert_eq!((path.is_some(), cipher.is_some()), (true, row["target"] != "plain"), "{row}");
        // Figures and cost are of one piece.
        let quotient =
            row["value"].as_f64().expect("a figure") / row["baseline_value"].as_f64().expect("a figure");
        assert!((quotient - row["ratio"].as_f64().expect("a ratio")).abs() < 1e-6, "{row}");
    }
    let find = |cell: &str, target: &str, metric: &str| {
        rows.iter().any(|r| r["cell"] == cell && r["target"] == target && r["metric"] == metric)
    };
    assert!(find("RND4K Q1T1 read", "veracrypt:aes", "iops"));
    assert!(find("RND4K Q1T1 read", "bitlocker:aes-xts-128", "latency_us"));
    assert!(find("SEQ1M Q8T1 read", "plain", "mb_s"));
    assert!(document["machine"]["kernel"].as_str().is_some_and(|k| k.starts_with("Linux")));
    let said = cli.json(0, "lab report @one.json @one.json --html @both.html");
    assert_eq!(said["documents"], 2);
    let page = std::fs::read_to_string(cli.path("both.html")).expect("the page");
    assert!(page.contains("Machines beside each other") && page.contains("veracrypt:aes"));
    for outside in ["<script", "http://", "<link", "@import", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn every_path_without_root_reaches_the_volume() {
    let cli = Cli::new();
    std::fs::create_dir(cli.path("disk")).expect("a folder");
    for path in ["in-process", "nbd"] {
        let words =
            format!("lab compare --with veracrypt:aes --drive @disk --path {path} --workload quick {SHORT}");
        let document = cli.json(0, &words);
        assert!(
            rows(&document)
                .iter()
                .any(|r| r["cell"] == "RND4K Q32T1 write" && r["target"] == "veracrypt:aes")
        );
        assert_eq!(document["path"], path);
        assert_eq!(std::fs::read_dir(cli.path("disk")).expect("there").count(), 0, "the file is removed");
    }
}

#[test]
fn reads_from_the_page_cache_are_flagged() {
    let cli = Cli::new();
    std::fs::create_dir(cli.path("disk")).expect("a folder");
    let words = format!("lab run --drive @disk --buffered --reads-only --no-bare --workload quick {SHORT}");
    let document = cli.json(0, &words);
    let flagged = |row: &Value| row["flags"].as_array().is_some_and(|f| f.iter().any(|f| f == "page-cache"));
    assert!(rows(&document).iter().all(flagged), "{}", document["cells"]);
}

#[test]
fn what_would_be_lost_is_refused_and_nothing_is_touched() {
    let cli = Cli::new();
    let bytes = vec![9; 64 << 20];
    std::fs::write(cli.path("photos"), &bytes).expect("written");
    let refused = |words: &str, kind: &str, code: i32| {
        let done = cli.json(code, words);
        assert_eq!(done["error"]["kind"], kind, "{words}: {done}");
        two_lines(&cli.run(words));
    };
    refused("lab compare --with veracrypt:aes --drive @photos --quick --size 16M", "would-destroy", 2);
    refused("lab compare --with veracrypt:aes --drive @photos --quick --size 16M --destroy-data", "usage", 2);
    refused(
        "lab compare --with veracrypt:aes --drive @photos --size 1G --destroy-data --yes",
        "too-small",
        1,
    );
    refused("lab compare --with veracrypt:aes --drive @nowhere", "failed", 1);
    refused("lab compare --with veracrypt:rot13 --drive model:samsung-990-pro", "usage", 2);
    refused("lab compare --with veracrypt:aes --drive model:no-such-drive", "usage", 2);
    refused("lab run --workload no-such-workload", "no-such-workload", 2);
    // A modelled drive keeps a part of it, and the option that makes it less is named.
    let large = "lab compare --with hardware --drive model:samsung-840-pro --workload in-place-time";
    cli.fails(2, "usage", "add --scale 0.005", large);
    cli.fails(
        1,
        "failed",
        "check the path given as --drive",
        "lab compare --with veracrypt:aes --drive @nofolder/x",
    );
    assert_eq!(std::fs::read(cli.path("photos")).expect("there"), bytes);
}

#[test]
fn a_file_is_never_replaced_unasked() {
    let cli = Cli::new();
    std::fs::write(cli.path("report.html"), "a thesis").expect("written");
    std::fs::create_dir(cli.path("disk")).expect("a folder");
    let words = format!("lab run --drive @disk --no-bare --workload quick {SHORT}");
    for place in ["--html @report.html", "--save @report.html"] {
        let told = cli.json(2, &format!("{words} {place}"));
        assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("report.html")), "{told}");
    }
    cli.refused("usage", "name another place with --report, or add --yes", "demo --report @report.html");
    let told = cli.json(1, &format!("{words} --html @nowhere/report.html"));
    assert!(told["cells"].is_null(), "told before anything is measured: {told}");
    assert_eq!(std::fs::read(cli.path("report.html")).expect("there"), b"a thesis");
    cli.json(0, &format!("{words} --html @report.html --save @one.json --yes"));
    // What was measured before is as dear as any other file.
    let before = std::fs::read(cli.path("report.html")).expect("there");
    cli.json(2, &format!("{words} --html @report.html"));
    cli.json(2, &format!("{words} --save @one.json"));
    cli.json(2, "lab report @one.json --html @report.html");
    cli.json(2, "bench --cipher aes --time 1 --no-kdf --html @report.html");
    assert_eq!(std::fs::read(cli.path("report.html")).expect("there"), before);
    let told = cli.run("lab report @one.json --html @report.html --yes");
    assert!(String::from_utf8_lossy(&told.stdout).contains("report.html"), "{told:?}");
    assert!(std::fs::read_to_string(cli.path("report.html")).expect("there").contains("<svg"));
    std::fs::write(cli.path("thesis.json"), b"\"a thesis\"").expect("written");
    let told = cli.json(1, "lab report @thesis.json --html @report.html --yes");
    assert_eq!(told["error"]["kind"], "not-a-document");
    let left: Vec<_> = std::fs::read_dir(cli.path("")).expect("there").flatten().collect();
    assert!(!left.iter().any(|f| f.path().extension().is_some_and(|e| e == "part")), "{left:?}");
}

#[test]
fn a_workload_of_ones_own_is_told_where_it_is_wrong() {
    let cli = Cli::new();
    let text = "name = \"mine\"\ntitle = \"t\"\nsource = \"me\"\n[turns]\nruns = 0\n";
    std::fs::write(cli.path("mine.toml"), text).expect("written");
    let told = cli.json(2, "lab run --workload @mine.toml --drive model:samsung-990-pro");
    let message = told["error"]["message"].as_str().expect("text");
    assert!(message.contains("mine.toml:5: runs is 0"), "{message}");
}

#[test]
fn the_shipped_workloads_are_an_object_as_every_document() {
    let told = Cli::new().json(0, "lab run --list");
    let names = told["workloads"].as_array().expect("a list").iter().map(|one| one["name"].as_str());
    assert!(names.clone().any(|name| name == Some("cdm")), "{told}");
}

#[test]
fn studies_are_listed_and_their_report_replaces_nothing() {
    let cli = Cli::new();
    let listed = cli.json(0, "lab study --list");
    let studies = listed["studies"].as_array().expect("studies");
    assert!(
        studies.len() >= 4 && studies.iter().all(|s| s["claims"].as_array().is_some_and(|c| !c.is_empty()))
    );
    for words in ["lab study", "lab study oltp", "lab study --all hard-disk"] {
        cli.ends(2, words);
    }
    std::fs::write(cli.path("mine.html"), "a thesis").expect("written");
    cli.ends(2, "lab study hard-disk --html @mine.html");
    assert_eq!(std::fs::read_to_string(cli.path("mine.html")).expect("it is there"), "a thesis");
}

/// What is kept is gone on with, by the options that it had; by others it is refused.
/// A study takes minutes, and the program that it needs at their end is missed before they begin.
#[test]
fn a_program_that_a_study_needs_is_looked_for_first() {
    let Some(unshare) = require_root().then(|| require_tool("unshare")).flatten() else { return };
    let cli = Cli::new();
    let there = "for d in /usr/sbin /sbin /usr/bin /bin; do [ ! -e $d/mkfs.exfat ] || mount --bind /dev/null $d/mkfs.exfat; done";
    let run = format!("{there}; exec \"$0\" lab study --all --html {} --json", cli.path("s.html").display());
    let began = Instant::now();
    let done = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""))
        .args(["sh", "-c", &run])
        .arg(env!("CARGO_BIN_EXE_keyway"))
        .output()
        .expect("unshare starts");
    let told: Value = serde_json::from_slice(&done.stdout).expect("a document");
    assert_eq!(told["error"]["kind"], "failed", "{told}");
    assert!(told.to_string().contains("exfatprogs"), "{told}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(!cli.path("s.html").exists(), "an empty report is left behind");
}

#[test]
fn a_comparison_is_resumed() {
    let cli = Cli::new();
    let words =
        format!("lab compare --with veracrypt:aes --drive model:samsung-990-pro --workload quick {SHORT}");
    let first = cli.json(0, &format!("{words} --save @kept.json"));
    let more = cli.json(0, &format!("{words} --resume @kept.json"));
    let turns = |document: &Value| rows(document).iter().map(|row| row["turns"].as_u64()).collect::<Vec<_>>();
    assert_eq!(turns(&first), turns(&more), "there was no time for more, and nothing began anew");
    assert!(more["seconds"].as_f64() > first["seconds"].as_f64());
    let other = words.replace("veracrypt:aes", "veracrypt:serpent");
    let told = cli.json(2, &format!("{other} --resume @kept.json"));
    assert!(told["error"]["message"].as_str().is_some_and(|m| m.contains("--with was ")), "{told}");
    let larger = words.replace("--size 16M", "--size 32M");
    let told = cli.json(2, &format!("{larger} --resume @kept.json"));
    let said = told["error"]["message"].as_str().unwrap_or_default();
    assert!(said.contains("--size was 16 MiB, and is 32 MiB"), "{told}");
}

/// `--minutes` is the whole time: the first look at every test, which plans more here, and the preparation are in it. How far it
/// is, is told off a terminal too, every ten seconds; and what can't be kept is said.
#[test]
fn the_time_that_is_given_is_kept_and_how_far_it_is_told() {
    let cli = Cli::new();
    // The workload would take seven minutes and a half; the least of it takes ten seconds.
    let words = "lab compare --with veracrypt:aes --drive model:samsung-990-pro --workload quick --seconds 5 --size 16M";
    let begun = Instant::now();
    let done = cli.run(&format!("{words} --minutes 0.5 --json --progress line"));
    let took = begun.elapsed();
    let document: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let noted = |document: &Value, what: &str| document["notes"].to_string().contains(what);
    assert!(noted(&document, "Turns were shortened"), "{}", document["notes"]);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    let lines = told.lines().filter(|line| line.starts_with("keyway: quick, test ") && line.contains(" %"));
    assert!(lines.count() >= 1, "{told}");
    // A machine with other work may need more for the least; then that is told.
    let kept = took < Duration::from_secs(35);
    assert!(kept || noted(&document, "The least that these tests take"), "{took:?}: {}", document["notes"]);
    let done = cli.run(&format!("{words} --minutes 0.02 --json --progress json"));
    let short: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert!(noted(&short, "more than the 0.0 that were given"), "{}", short["notes"]);
    let first = String::from_utf8_lossy(&done.stderr).lines().next().map(str::to_owned).unwrap_or_default();
    let object: Value = serde_json::from_str(&first).expect("an object");
    assert!(object["progress"].is_string() && object["total"].is_number(), "{object}");
}
