//! A model that was fitted to a real file, beside that file: what a cipher costs on both is never said in words that
//! contradict each other. Takes a minute, on a disk; `KEYWAY_SLOW=1` runs it.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::{
    Changes, Comparison, Drive, ExperimentRequest, LabError, Metric, PathKind, Target, Verdict, workload,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SPAN: u64 = 64 << 20;

/// What is asked of both: one request at a time, so that a queue's threads and a model's queue are the same.
const CELLS: &str = r#"
name = "fitted"
title = "One request at a time"
source = "here"
[turns]
runs = 6
seconds = 0.4
discarded = 1
slices = 4
[requests]
span = "64MiB"
data = "random"
[[requests.test]]
pattern = "random"
blocks = ["4KiB", "1MiB"]
queues = [1]
mixes = ["read"]
metric = "mb_s"
"#;

fn measured(drive: &str, targets: &[&str], folder: &Path) -> Vec<Comparison> {
    let file = folder.join("fitted.toml");
    std::fs::write(&file, CELLS).expect("written");
    workload::find(&file.display().to_string()).expect("a workload");
    let targets: Vec<Target> = targets.iter().map(|words| words.parse().expect("a target")).collect();
    let mut request = ExperimentRequest::new(targets, Drive::from(drive));
    request.workloads = vec![file.display().to_string()];
    request.changes = Changes { span_bytes: Some(SPAN), reads_only: true, ..Changes::default() };
    request.path = Some(PathKind::InProcess);
    request.time = Some(Duration::from_secs(25));
    let none = |_: &Arc<dyn keyway_store::Store>, _: &Target, _: &workload::Timed, _: &AtomicBool| {
        Err(LabError::Stopped)
    };
    let plan = request.plan().expect("a plan");
    let (document, error) = plan.run(none, &AtomicBool::new(false), &()).expect("it is set up");
    assert!(error.is_none(), "{error:?}");
    document.cells
}

fn of<'a>(rows: &'a [Comparison], cell: &str, target: &str, metric: Metric) -> &'a Comparison {
    let found = rows.iter().find(|row| row.cell == cell && row.target == target && row.metric == metric);
    found.expect("a row")
}

#[test]
fn a_fitted_model_says_what_the_file_says() {
    if std::env::var_os("KEYWAY_SLOW").is_none() {
        eprintln!("SKIP: KEYWAY_SLOW is not set");
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on a disk");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("disk")).expect("a folder");
    let (disk, ciphers) = (at("disk").display().to_string(), ["veracrypt:aes", "veracrypt:kuznyechik"]);
    let alone = measured(&disk, &["plain"], folder.path());
    let small = of(&alone, "RND4K Q1T1 read", "plain", Metric::LatencyUs).value;
    let large = of(&alone, "RND1M Q1T1 read", "plain", Metric::MbS).value;
    let read = format!(
        "latency_us = {small:.1}\nsequential_us = {small:.1}\nstream_mb_s = {large:.0}\nchannels = 8\niops = 200_000.0\nmb_s = {large:.0}\n"
    );
    let model = format!(
        "name = \"fitted\"\ntitle = \"The disk here\"\ncapacity_bytes = 256_060_514_304\nsector_bytes = 512\ninterface = \"NVMe\"\n\
         note = \"\"\nfigure = []\n[mechanism]\nkind = \"flash\"\nflush_us = 500.0\nspread = 0.05\ntail_share = 0.0\ntail_us = 0.0\n\
         [mechanism.read]\n{read}[mechanism.write]\n{read}cache_mib = 0\ndrain_mb_s = {large:.0}\n"
    );
    std::fs::write(at("model.toml"), model).expect("written");
    let targets = ["plain", ciphers[0], ciphers[1]];
    let real = measured(&disk, &targets, folder.path());
    let modelled = measured(&format!("model:{}", at("model.toml").display()), &targets, folder.path());
    let mut same = 0;
    for cell in ["RND4K Q1T1 read", "RND1M Q1T1 read"] {
        for cipher in ciphers {
            let [one, other] = [&real, &modelled].map(|rows| of(rows, cell, cipher, Metric::MbS));
            let words = [one.verdict, other.verdict];
            eprintln!(
                "{cell} {cipher}: {words:?}, {:.1} and {:.1} %",
                one.cost_percent(),
                other.cost_percent()
            );
            if !words.contains(&Verdict::Undecided) {
                assert_eq!(words[0], words[1], "{cell} {cipher}");
                same += 1;
            }
        }
    }
    assert!(same > 0, "nothing was decided on both: let the machine rest");
}
