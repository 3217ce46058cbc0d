//! What was measured as one HTML page that needs nothing else: bar charts, then every figure.

use super::ciphers::CipherRow;
use super::document::{BenchDocument, MemoryRow, Point, point_words};
use keyway_store::size::words as bytes;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The page.
pub fn html(document: &BenchDocument) -> String {
    let machine = &document.machine;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Keyway: ciphers and key derivations on " (machine.processor) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "Ciphers and key derivations" }
                dl {
                    dt { "Machine" } dd { (machine.processor) ", " (machine.cores) " cores; " (machine.features.join(" ")) }
                    dt { "System" } dd { (machine.system) }
                    dt { "Date" } dd { (machine.date) }
                    dt { "Command" } dd { code { (machine.command) } " (Keyway " (machine.keyway) ")" }
                    @if let (Some(mhz), Some(how)) = (machine.clock_mhz, machine.clock_known_by) {
                        dt { "Clock" } dd { "about " (format!("{mhz:.0}")) " MHz: " (how) }
                    }
                }
                @for line in super::answer(document) { p { strong { (line) } } }
                p {
                    "Sectors of 512 bytes, worked on in place; MB are 10" sup { "6" } " bytes. Each figure is the median "
                    "of five turns that the kernels took one after the other. A bar is the slower of "
                    "encrypting and decrypting."
                }
                @for point in document.points_of_comparison() {
                    h2 { "Each kernel: " (point_words(point)) }
                    (by_kernel(document, point))
                }
                @if document.points().len() > 1 {
                    h2 { "The chosen kernel by buffer and threads" }
                    (by_point(document))
                }
                @if !document.kdfs.is_empty() {
                    h2 { "Key derivations on one core" }
                    p { "Milliseconds; VeraCrypt's for one header key (192 bytes) without a PIM, BitLocker's stretch for one and for two protectors." }
                    (chart(&[], &kdf_groups(document), None))
                }
                h2 { "Copying memory" }
                (chart(&[], &memory_groups(document), None))
                h2 { "Every figure" }
                (figures(document))
            }
        }
    };
    page.into_string()
}

/// Bars that belong together: a label, and a value of each series where there is one.
type Group = (String, Vec<Option<f64>>);

fn by_kernel(document: &BenchDocument, point: Point) -> Markup {
    let kernels = document.kernels_at(point);
    let group = |name: &str| -> Group {
        let value = |kernel: &&str| document.row(name, kernel, point).map(CipherRow::mb_s);
        (name.to_owned(), kernels.iter().map(value).collect())
    };
    let groups: Vec<Group> = document.names().into_iter().map(group).collect();
    let series: Vec<String> = kernels.iter().map(|kernel| (*kernel).to_owned()).collect();
    chart(&series, &groups, document.memory_at(point))
}

fn by_point(document: &BenchDocument) -> Markup {
    let points = document.points();
    let group = |name: &str| -> Group {
        let value = |&point: &Point| document.best_row(name, point).map(CipherRow::mb_s);
        (name.to_owned(), points.iter().map(value).collect())
    };
    let groups: Vec<Group> = document.names().into_iter().map(group).collect();
    let series: Vec<String> = points.iter().map(|&point| point_words(point)).collect();
    chart(&series, &groups, None)
}

fn kdf_groups(document: &BenchDocument) -> Vec<Group> {
    document.kdfs.iter().map(|row| (row.kdf.clone(), vec![Some(row.ms)])).collect()
}

fn memory_groups(document: &BenchDocument) -> Vec<Group> {
    let group = |row: &MemoryRow| (point_words((row.buffer_bytes, row.threads)), vec![Some(row.memcpy_mb_s)]);
    document.memory.iter().map(group).collect()
}

/// Widths and heights in the drawing's own units.
const LABEL: f64 = 190.0;
const BARS: f64 = 540.0;
const VALUE: f64 = 70.0;
const BAR: f64 = 13.0;
const GAP: f64 = 9.0;

/// Horizontal bars in groups, to one linear scale; `ceiling` is a dashed line if the scale has it.
fn chart(series: &[String], groups: &[Group], ceiling: Option<f64>) -> Markup {
    let values = groups.iter().flat_map(|(_, values)| values.iter().flatten().copied());
    let largest = values.fold(f64::MIN_POSITIVE, f64::max);
    let along = |value: f64| BARS * value / largest;
    let mut top = GAP;
    let mut bars = Vec::new();
    for (label, values) in groups {
        let present: Vec<(usize, f64)> =
            values.iter().enumerate().filter_map(|(n, value)| Some((n, (*value)?))).collect();
        let height = BAR * present.len().max(1) as f64;
        bars.push(html! {
            text.label x=(LABEL - 8.0) y=(top + height / 2.0 + 4.0) text-anchor="end" { (label) }
            @for (place, (n, value)) in present.iter().enumerate() {
                @let y = top + BAR * place as f64;
                rect class=(format!("s{}", n % COLOURS)) x=(LABEL) y=(y) height=(BAR - 2.0)
                    width=(format!("{:.1}", along(*value).max(1.0))) {
                    title { (label) @if let Some(name) = series.get(*n) { ", " (name) } ": " (number(*value)) }
                }
                text.value x=(format!("{:.1}", LABEL + along(*value).max(1.0) + 5.0)) y=(y + 9.5) { (number(*value)) }
            }
        });
        top += height + GAP;
    }
    let ceiling_words = ceiling.map(|ceiling| {
        let place = if ceiling <= largest { "the dashed line" } else { "beyond this scale" };
        format!("Copying the same bytes: {} MB/s, {place}.", number(ceiling))
    });
    html! {
        @if series.len() > 1 {
            p.legend {
                @for (n, name) in series.iter().enumerate() {
                    span { svg width="12" height="12" aria-hidden="true" { rect class=(format!("s{}", n % COLOURS)) width="12" height="12" {} } " " (name) }
                }
            }
        }
        @if let Some(words) = ceiling_words {
            p.legend { (words) }
        }
        svg.chart viewBox=(format!("0 0 {} {top}", LABEL + BARS + VALUE)) role="img" {
            @for bar in &bars { (bar) }
            @if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling <= largest) {
                line x1=(format!("{:.1}", LABEL + along(ceiling))) x2=(format!("{:.1}", LABEL + along(ceiling))) y1="0" y2=(top) {
                    title { "copying memory: " (number(ceiling)) }
                }
            }
        }
    }
}

/// Whole from a hundred on, a digit after the point below.
fn number(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn figures(document: &BenchDocument) -> Markup {
    let cycles = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.2}"));
    html! {
        table {
            thead { tr {
                th { "cipher" } th { "kernel" } th { "buffer" } th { "threads" }
                th { "encrypt MB/s" } th { "±" } th { "decrypt MB/s" } th { "±" } th { "encrypt cycles/byte" } th { "decrypt cycles/byte" } th { "chosen" }
            } }
            tbody {
                @for row in &document.ciphers {
                    tr {
                        td { (row.cipher) } td { (row.kernel) } td { (bytes(row.buffer_bytes)) } td { (row.threads) }
                        td { (format!("{:.1}", row.encrypt_mb_s)) } td { (format!("{:.1} %", row.encrypt_spread_percent)) }
                        td { (format!("{:.1}", row.decrypt_mb_s)) } td { (format!("{:.1} %", row.decrypt_spread_percent)) }
                        td { (cycles(row.encrypt_cycles_per_byte)) } td { (cycles(row.decrypt_cycles_per_byte)) }
                        td { @if row.chosen { "yes" } }
                    }
                }
            }
        }
        @if !document.kdfs.is_empty() {
            table {
                thead { tr { th { "key derivation" } th { "kernel" } th { "iterations" } th { "memory" } th { "ms" } th { "±" } } }
                tbody {
                    @for row in &document.kdfs {
                        tr {
                            td { (row.kdf) } td { (row.kernel.unwrap_or_default()) } td { (row.iterations) }
                            td { @if let Some(kib) = row.memory_kib { (bytes(u64::from(kib) * 1024)) } }
                            td { (format!("{:.1}", row.ms)) }
                            td { @if let Some(spread) = row.spread_percent { (format!("{spread:.1} %")) } }
                        }
                    }
                }
            }
        }
    }
}

/// How many colours the style has.
const COLOURS: usize = 5;

const STYLE: &str = "
:root { --ink: #1b1f24; --dim: #5b6570; --paper: #ffffff; --line: #d5dae0;
  --c0: #1f6feb; --c1: #1a8754; --c2: #c2700a; --c3: #8250df; --c4: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaef; --dim: #9aa5b1; --paper: #12161b; --line: #323a43;
  --c0: #4d94ff; --c1: #3fb981; --c2: #e8973a; --c3: #a98bf5; --c4: #8b949e; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 58rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .15rem .8rem; margin: 0; }
dt, .legend, .label { color: var(--dim); } dd { margin: 0; }
.legend span { margin-right: 1.2rem; white-space: nowrap; } .legend svg { vertical-align: -1px; }
.chart { width: 100%; height: auto; } .chart text { font: 11px system-ui, sans-serif; fill: var(--ink); }
.chart .label { fill: var(--dim); }
.chart line { stroke: var(--dim); stroke-dasharray: 4 3; }
.s0 { fill: var(--c0); } .s1 { fill: var(--c1); } .s2 { fill: var(--c2); } .s3 { fill: var(--c3); } .s4 { fill: var(--c4); }
table { border-collapse: collapse; margin: .8rem 0 1.6rem; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { padding: .15rem .7rem .15rem 0; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
code { overflow-wrap: anywhere; }
";

#[cfg(test)]
mod tests {
    use super::super::document::BenchMachine;
    use super::super::kdfs::KdfRow;
    use super::*;

    fn document() -> BenchDocument {
        let row = |cipher: &str, kernel, threads, buffer_bytes, speed, chosen| CipherRow {
            cipher: cipher.to_owned(),
            kernel,
            threads,
            buffer_bytes,
            sector_bytes: 512,
            encrypt_mb_s: speed,
            decrypt_mb_s: speed + 1.5,
            encrypt_spread_percent: 3.7,
            decrypt_spread_percent: 0.4,
            encrypt_cycles_per_byte: Some(0.25),
            decrypt_cycles_per_byte: None,
            chosen,
        };
        let kdf = |kdf: &str, ms| KdfRow {
            kdf: kdf.to_owned(),
            iterations: 1000,
            ms,
            spread_percent: Some(1.3),
            kernel: Some("avx2"),
            measured_iterations: None,
            memory_kib: None,
        };
        let mut machine = BenchMachine::here(String::new());
        machine.processor = "A <fast> & \"odd\" one".to_owned();
        BenchDocument {
            machine,
            ciphers: vec![
                row("aes", "portable", 1, 1 << 20, 123.4, false),
                row("aes", "avx2", 1, 1 << 20, 8765.4, true),
                row("aes", "avx2", 2, 4096, 9876.5, true),
                row("serpent", "avx2", 1, 1 << 20, 543.2, true),
            ],
            kdfs: vec![kdf("pbkdf2-sha512", 280.1), kdf("argon2id", 701.9)],
            memcpy_mb_s: 11_111.1,
            memcpy_spread_percent: 2.1,
            memory: vec![MemoryRow {
                buffer_bytes: 1 << 20,
                threads: 1,
                memcpy_mb_s: 11_111.1,
                memcpy_spread_percent: 2.1,
            }],
        }
    }

    #[test]
    fn every_figure_is_in_the_report() {
        let text = html(&document());
        for figure in [
            "3.7", "0.4", "1.3", "123.4", "124.9", "8765.4", "8766.9", "9876.5", "543.2", "280.1", "701.9",
            "11111",
        ] {
            assert!(text.contains(figure), "{figure}");
        }
        for name in ["aes", "serpent", "portable", "pbkdf2-sha512", "argon2id", "1 MiB", "2 threads"] {
            assert!(text.contains(name), "{name}");
        }
    }

    #[test]
    fn the_report_needs_nothing_else_and_takes_names_as_they_are() {
        let text = html(&document());
        assert!(text.contains("A &lt;fast&gt; &amp; &quot;odd&quot; one"));
        for outside in ["<script", "http://", "https://", "url(", "@import"] {
            assert!(!text.contains(outside), "{outside}");
        }
        assert_eq!(text.matches("<svg").count(), text.matches("</svg>").count());
    }

    #[test]
    fn bars_keep_to_their_scale() {
        let groups = vec![("a".to_owned(), vec![Some(50.0), None]), ("b".to_owned(), vec![Some(100.0)])];
        let text = chart(&[], &groups, Some(75.0)).into_string();
        assert!(text.contains("width=\"270.0\"") && text.contains("width=\"540.0\""), "{text}");
        assert!(text.contains("x1=\"595.0\"") && text.contains("the dashed line"), "{text}");
        let beyond = chart(&[], &groups, Some(200.0)).into_string();
        assert!(!beyond.contains("<line") && beyond.contains("200 MB/s, beyond this scale"), "{beyond}");
    }
}
