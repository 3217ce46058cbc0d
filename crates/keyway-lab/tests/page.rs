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
    browser.arg("300").arg(chromium).args([
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

/// Told by the frame's own document, at each width and as it is printed: how wide it would like to be, what sticks out, what it
/// has fetched, whether the charts are drawn, what can't be read for want of contrast (WCAG 2.2, 1.4.3), and what has no
/// name for whoever listens to it (the roles and names are those that the browser gives to a screen reader).
const LOOK: &str = r#"
<body><script>
const told = [];
const views = [['screen', 360], ['screen', 390], ['screen', 1200], ['print', 718]];
let left = views.length;
const channel = v => v <= 10.314 ? v / 3294.6 : Math.pow((v / 255 + 0.055) / 1.055, 2.4);
const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3]));
function paper(window, e) {
  const layers = [];
  for (; e; e = e.parentElement) layers.push(parse(window.getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
}
function unread(window, document) {
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const words = [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data.trim()).join('');
    const box = e.getBoundingClientRect();
    if (!words || !box.width || e.closest('svg title') || ['STYLE', 'SCRIPT', 'title'].includes(e.tagName)) continue;
    const style = window.getComputedStyle(e);
    const ink = parse(e.closest('svg') ? style.fill : style.color), below = paper(window, e);
    const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${e.tagName}.${e.getAttribute('class')} "${words.slice(0, 20)}" ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return found;
}
function unnamed(document) {
  const found = [];
  for (const e of document.querySelectorAll('svg:not([aria-hidden])')) {
    if (!e.closest('details:not([open])') && (e.computedRole != 'image' || !e.computedName)) found.push('picture ' + e.computedRole + ' ' + e.computedName);
  }
  for (const e of document.querySelectorAll('table')) {
    if (e.closest('details:not([open])')) continue;
    if (e.computedRole != 'table') found.push('table ' + e.computedRole);
    if (![...e.querySelectorAll('th')].some(h => h.computedRole == 'columnheader')) found.push('table without headings');
  }
  for (const e of document.querySelectorAll('a')) if (e.getBoundingClientRect().width && !e.closest('details:not([open])') && !e.computedName) found.push('link');
  if ([...document.querySelectorAll('main')].filter(m => m.computedRole == 'main').length != 1) found.push('main');
  let level = 0;
  for (const e of document.querySelectorAll('h1, h2, h3, h4')) {
    const next = Number(e.tagName[1]);
    if (next > level + 1) found.push(`heading ${e.tagName} after H${level}: ${e.textContent}`);
    level = next;
  }
  if (!document.documentElement.lang) found.push('language');
  return found;
}
for (const [media, width] of views) {
  const frame = document.createElement('iframe');
  frame.style = `width:${width}px;height:800px;border:0`;
  frame.onload = () => {
    const document = frame.contentDocument, root = document.documentElement;
    if (media == 'print') {
      for (const rule of [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(rule => rule.media)) {
        const text = rule.media.mediaText;
        if (text.includes('print')) rule.media.mediaText = 'all';
        else if (text.includes('screen')) rule.media.mediaText = 'not all';
      }
    }
    const charts = [...document.querySelectorAll('svg.chart')].filter(c => c.getBoundingClientRect().height > 20);
    const fits = e => media == 'screen' && e.closest('.scroll');
    const out = [...document.querySelectorAll('body *')].filter(e =>
      e.getBoundingClientRect().right > root.clientWidth + 1 && !fits(e)).map(e => e.tagName + '.' + e.getAttribute('class'));
    told.push({ media, width, client: root.clientWidth, scroll: root.scrollWidth, out: out.slice(0, 5), charts: charts.length,
      // Colours and names are the same at each width, and take long to look at.
      unread: width == 390 || media == 'print' ? unread(frame.contentWindow, document).slice(0, 5) : [],
      unnamed: width == 390 ? unnamed(document).slice(0, 5) : [],
      dark: frame.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches,
      paper: light(paper(frame.contentWindow, document.body)),
      fetched: frame.contentWindow.performance.getEntriesByType('resource').map(r => r.name) });
    if (--left == 0) window.document.body.innerHTML = '<pre id=told>' + JSON.stringify(told).replaceAll('<', ' ') + '</pre>';
  };
  frame.src = 'page.html';
  document.body.append(frame);
}
</script></body>"#;

/// What is wrong with a page, light and dark: what the console says, what does not fit, can't be read or has no name, what
/// was fetched, charts missing.
fn faults(chromium: &Path, folder: &Path, page: &str) -> Vec<String> {
    std::fs::write(folder.join("page.html"), page).expect("written");
    std::fs::write(folder.join("look.html"), LOOK).expect("written");
    let url = format!("file://{}", folder.join("look.html").display());
    let mut faults = Vec::new();
    for dark in [false, true] {
        let words = ["--enable-blink-features=ComputedAccessibilityInfo", "--dump-dom", &url];
        let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
        let words: Vec<String> = words.map(str::to_owned).into_iter().chain([scheme]).collect();
        let seen = browse(chromium, folder, &words);
        let (dom, log) = (String::from_utf8_lossy(&seen.stdout), String::from_utf8_lossy(&seen.stderr));
        let told = dom.split_once("<pre id=\"told\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        let told = told.unwrap_or_else(|| panic!("the page was not drawn\n{dom}\n{log}")).0;
        let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let told: Vec<serde_json::Value> = serde_json::from_str(&told).expect("what the page told");
        assert_eq!(told.len(), 4, "three widths and paper");
        let console = log.lines().filter(|line| line.contains("CONSOLE"));
        faults.extend(console.map(|line| format!("console: {line}")));
        for view in &told {
            assert_eq!(view["dark"], dark);
            let nothing = serde_json::json!([]);
            let is_dark = view["paper"].as_f64() < Some(0.5);
            let wrong = [
                ("wider than its window", view["scroll"] != view["client"]),
                ("sticks out", view["out"] != nothing),
                ("fetched", view["fetched"] != nothing),
                ("charts missing", view["charts"].as_u64() < Some(8)),
                ("can't be read", view["unread"] != nothing),
                ("has no name", view["unnamed"] != nothing),
                (
                    "light where it should be dark, or the other way round",
                    is_dark != (dark && view["media"] == "screen"),
                ),
            ];
            faults.extend(wrong.iter().filter(|(_, is)| *is).map(|(what, _)| format!("{what}: {view}")));
        }
    }
    faults
}

/// The first picture of a page, as the link beside it gives it away.
fn kept_picture(page: &str) -> String {
    let (_, rest) = page.split_once("href=\"data:image/svg+xml,").expect("a picture to keep");
    let mut bytes = Vec::new();
    let mut rest = rest.split_once('"').expect("its end").0.replace("&amp;", "&").into_bytes().into_iter();
    while let Some(byte) = rest.next() {
        let two = |a: Option<u8>, b: Option<u8>| String::from_utf8(vec![a?, b?]).ok();
        let of_hex = |text: String| u8::from_str_radix(&text, 16).ok();
        let written = if byte == b'%' { two(rest.next(), rest.next()).and_then(of_hex) } else { Some(byte) };
        bytes.push(written.expect("a byte"));
    }
    String::from_utf8(bytes).expect("text")
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
    let plant = |what: &str| page.replacen("</main>", &format!("{what}</main>"), 1);
    let all = [
        ("<script>nothing.of.the.kind()</script>", "console"),
        ("<img src='https://example.invalid/x.png' alt=''>", "console"),
        ("<div style='width:1500px'>wide</div>", "wider"),
        ("<p style='color: #888; background: #999'>grey</p>", "can't be read"),
        ("<svg viewBox='0 0 1 1'></svg><table><tr><td>1</td></tr></table>", "has no name"),
        ("<style>:root { --paper: #777 !important; }</style>", "can't be read"),
    ];
    let planted: String = all.iter().map(|(what, _)| *what).collect();
    let found = faults(&chromium, folder.path(), &plant(&planted));
    for (what, seen) in all {
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

    // A picture that was taken away is whole: by itself a browser makes a PNG of it, in its own size.
    std::fs::write(path("picture.svg"), kept_picture(&page)).expect("written");
    let shot = format!("--screenshot={}", path("picture.png").display());
    let url = format!("file://{}", path("picture.svg").display());
    let seen = browse(&chromium, folder.path(), &[shot, "--window-size=700,500".into(), url]);
    let png = std::fs::read(path("picture.png")).unwrap_or_else(|e| panic!("no picture: {e}"));
    // A blank picture of this size is compressed to much less.
    assert!(png.starts_with(b"\x89PNG") && png.len() > 8_000, "{} bytes", png.len());
    assert!(!String::from_utf8_lossy(&seen.stderr).contains("error on line"), "it is XML");
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
