//! The report's page in a browser that draws it: no error, nothing fetched, nothing wider than a phone,
//! and it can be printed.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_lab::workload::{self, Procedure};
use keyway_lab::{
    Cell, Circumstances, Document, Drive, Entrant, Judging, Machine, PathKind, Rig, calibration, measure,
    report,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

const SPAN: u64 = 16 << 20;

/// A document with everything that a page draws: bars, curves, latencies, a map of costs, published
/// figures, a calibration, doubts, something missing.
fn document() -> Document {
    let stop = AtomicBool::new(false);
    let rig = Rig::open(&Drive::from("model:samsung-990-pro"), SPAN, false, &stop).expect("a rig");
    let entrants: Vec<Entrant> = ["plain", "veracrypt:aes-twofish-serpent", "bitlocker:aes-xts-128"]
        .iter()
        .map(|words| {
            let volume = rig.volume(&words.parse().expect("a target")).expect("a volume");
            Entrant::new(*words, rig.in_process(&volume).expect("a subject"))
        })
        .collect();
    let (mut cells, mut series, mut originals) = (Vec::new(), Vec::new(), Vec::new());
    for name in ["cdm", "atto"] {
        let original = workload::find(name).expect("shipped");
        let mut changed = original.clone();
        let turns = &mut changed.turns;
        (turns.runs, turns.slices, turns.discarded, turns.pause_seconds) = (1, 2, 0, 0.0);
        turns.seconds = 0.002;
        let Procedure::Requests(requests) = &mut changed.kind else { panic!("requests") };
        let fits = |cell: &Cell| cell.block_bytes <= SPAN / 4 && cell.queue_depth != 6;
        let (kept, metrics) = requests
            .cells
            .iter()
            .zip(&requests.metrics)
            .filter(|(cell, _)| fits(cell))
            .map(|(cell, metric)| (Cell { span_bytes: SPAN, ..cell.clone() }, *metric))
            .unzip();
        (requests.span_bytes, requests.cells, requests.metrics) = (SPAN, kept, metrics);
        let requests = requests.clone();
        let found = measure(&original, &changed, &requests, &entrants, Judging::default(), &stop, &());
        assert!(found.error.is_none(), "{:?}", found.error);
        cells.extend(found.comparisons);
        series.extend(found.series);
        // With what the originals touch, so that what was published for them is drawn as well.
        originals.push(original);
    }
    let model = rig.modelled().expect("a model").model();
    Document {
        cells,
        series,
        machine: Machine { processor: "A processor with a rather long name".into(), cores: 2, ..Machine::default() },
        drive: rig.title().to_owned(),
        path: PathKind::InProcess,
        circumstances: Circumstances { workloads: originals, ..Circumstances::default() },
        date: "2026-11-22T00:00:00Z".into(),
        command: "keyway lab compare --with veracrypt:aes-twofish-serpent --drive model:samsung-990-pro --workload cdm".into(),
        missing: vec!["RND4K Q1T1 read on plain: 3 of 40 turns done".into()],
        notes: vec![model.note.clone()],
        seconds: 1.0,
        calibration: calibration::table(model).expect("a table"),
    }
}

fn browse(chromium: &Path, folder: &Path, words: &[String]) -> Output {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let mut browser = Command::new("timeout");
    browser.arg("120").arg(chromium).args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
    ]);
    browser.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    // Nothing outside can be reached; what tries fails and is told on the console.
    browser.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files"]);
    browser.args(["--enable-logging=stderr", "--virtual-time-budget=4000", &profile]).args(words);
    browser.env("HOME", folder).output().expect("it starts")
}

/// Told by the frame's own document: its width, how wide it would like to be, what sticks out, what it has
/// fetched, and whether the charts are drawn.
const LOOK: &str = "
<body><script>
const told = [];
let left = 2;
for (const width of [360, 1200]) {
  const frame = document.createElement('iframe');
  frame.style = `width:${width}px;height:800px;border:0`;
  frame.onload = () => {
    const root = frame.contentDocument.documentElement;
    const charts = [...frame.contentDocument.querySelectorAll('svg.chart')].filter(c => c.getBoundingClientRect().height > 20);
    const out = [...frame.contentDocument.querySelectorAll('body *')].filter(e =>
      e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('.scroll')).map(e => e.tagName + '.' + e.className);
    told.push({ width, client: root.clientWidth, scroll: root.scrollWidth, out: out.slice(0, 5), charts: charts.length,
      fetched: frame.contentWindow.performance.getEntriesByType('resource').map(r => r.name) });
    if (--left == 0) document.body.innerHTML = '<pre id=told>' + JSON.stringify(told) + '</pre>';
  };
  frame.src = 'page.html';
  document.body.append(frame);
}
</script></body>";

/// What is wrong with a page: what the console says, what does not fit, what was fetched, charts missing.
fn faults(chromium: &Path, folder: &Path, page: &str) -> Vec<String> {
    std::fs::write(folder.join("page.html"), page).expect("written");
    std::fs::write(folder.join("look.html"), LOOK).expect("written");
    let url = format!("file://{}", folder.join("look.html").display());
    let seen = browse(chromium, folder, &["--dump-dom".into(), url]);
    let (dom, log) = (String::from_utf8_lossy(&seen.stdout), String::from_utf8_lossy(&seen.stderr));
    let told = dom.split_once("<pre id=\"told\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let told = told.unwrap_or_else(|| panic!("the page was not drawn\n{dom}\n{log}")).0;
    let told: Vec<serde_json::Value> = serde_json::from_str(told).expect("what the page told");
    assert_eq!(told.len(), 2, "two widths");
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(|line| format!("console: {line}"));
    let mut faults: Vec<String> = console.collect();
    for view in &told {
        let nothing = serde_json::json!([]);
        let wrong = [
            ("wider than its window", view["scroll"] != view["client"]),
            ("sticks out", view["out"] != nothing),
            ("fetched", view["fetched"] != nothing),
            ("charts missing", view["charts"].as_u64() < Some(8)),
        ];
        faults.extend(wrong.iter().filter(|(_, is)| *is).map(|(what, _)| format!("{what}: {view}")));
    }
    faults
}

#[test]
fn a_browser_draws_and_prints_the_page_and_fetches_nothing() {
    let Some(chromium) = keyway_testkit::require_tool("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let one = document();
    let other = Document { drive: "another machine's drive".into(), ..one.clone() };
    let page = report::html(std::slice::from_ref(&one));
    assert!(page.contains("Beside what others published"), "it is to be looked at as well");
    assert_eq!(faults(&chromium, folder.path(), &page), [""; 0]);

    // The same page with something planted, so that it is known that the fault would be seen.
    let plant = |what: &str| page.replacen("</body>", &format!("{what}</body>"), 1);
    for (what, seen) in [
        ("<script>nothing.of.the.kind()</script>", "console"),
        ("<img src='https://example.invalid/x.png' alt=''>", "console"),
        ("<div style='width:1500px'>wide</div>", "wider"),
    ] {
        let found = faults(&chromium, folder.path(), &plant(what));
        assert!(found.iter().any(|fault| fault.starts_with(seen)), "{what}: {found:?}");
    }

    assert_eq!(faults(&chromium, folder.path(), &report::html(&[one, other])), [""; 0]);
    let print = format!("--print-to-pdf={}", path("page.pdf").display());
    let url = format!("file://{}", path("page.html").display());
    let printed = browse(&chromium, folder.path(), &[print, "--no-pdf-header-footer".into(), url]);
    let pdf = std::fs::read(path("page.pdf"));
    let pdf =
        pdf.unwrap_or_else(|e| panic!("not printed: {e}\n{}", String::from_utf8_lossy(&printed.stderr)));
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000, "{} bytes", pdf.len());
}

/// The stored run of two studies, as the page that is shown to others.
#[test]
fn a_browser_draws_the_page_of_studies() {
    let Some(chromium) = keyway_testkit::require_tool("chromium") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/study.json");
    let text = std::fs::read(stored).expect("the stored run");
    let mut run: keyway_lab::study::StudyDocument = serde_json::from_slice(&text).expect("a run of studies");
    run.verdicts = run.judged_again();
    let page = report::studies(&run);
    for words in [
        "against hardware",
        "not held against that test",
        "refuted",
        "by 35 points",
        "</main>",
        "scope=\"col\"",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Most charts of this page are folded away.
    let found = |page: &str| -> Vec<String> {
        faults(&chromium, folder.path(), page)
            .into_iter()
            .filter(|f| !f.starts_with("charts missing"))
            .collect()
    };
    assert_eq!(found(&page), [""; 0]);
    let wide = page.replacen("</body>", "<div style='width:1500px'>wide</div></body>", 1);
    assert!(!found(&wide).is_empty());
}
