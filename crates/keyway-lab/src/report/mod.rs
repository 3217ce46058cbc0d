//! One page that needs nothing else: what was measured, drawn.

mod answer;
mod bars;
mod curves;
mod heat;
mod latency;
mod picture;
mod published;
pub(crate) mod rivals;
mod study;
mod style;
mod tables;
mod words;

use crate::result::{Comparison, Document, Flag, Verdict};
use crate::target::PathKind;
pub(crate) use answer::whole;
pub use answer::{answer, answer_of_encrypted};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeSet;
pub use study::studies;
pub use tables::{tables, wide_tables};
pub(crate) use words::number;
use words::{cost_words, interval_words, percent};

/// The page for documents of one or several machines.
pub fn html(documents: &[Document]) -> String {
    let heading = "What encryption costs";
    let title = match documents {
        [only] => format!("{heading} on {}", only.drive),
        _ => heading.to_owned(),
    };
    let content = html! {
        main {
            h1 { (heading) }
            p.lead {
                "Turns of all sides were interleaved (A B B A). Intervals hold with 95 % for all verdicts of a workload "
                "together. “Costs” and “gains” are told where the whole interval lies beyond the change that counts, "
                "“equal” where it lies within; everything else is undecided."
            }
            @if documents.len() > 1 { (beside_each_other(documents)) }
            @for document in documents { (section(document, documents.len() > 1)) }
        }
    };
    page(&title, &content)
}

/// One page that needs nothing else.
fn page(title: &str, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                // A page that begins so may be replaced by a newer one.
                meta name="generator" content=(concat!("Keyway ", env!("CARGO_PKG_VERSION")));
                meta charset="utf-8";
                // Whatever a browser would fetch, it is not allowed to: everything is in the page.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style::COLOURS)) (PreEscaped(style::PICTURES)) (PreEscaped(style::PAGE)) }
            }
            body { (content) }
        }
    };
    page.into_string()
}

fn section(document: &Document, many: bool) -> Markup {
    let machine = &document.machine;
    let gib = machine.memory_bytes as f64 / f64::from(1u32 << 30);
    html! {
        section aria-label=(document.drive) {
            @if many { h2.machine { (document.drive) ", " (machine.processor) } }
            dl {
                dt { "Drive" } dd { (document.drive) }
                dt { "Path" } dd { (path_words(document.path)) }
                dt { "Machine" } dd { (machine.processor) ", " (machine.cores) " cores, " (format!("{gib:.0}")) " GiB; " (machine.kernel) }
                dt { "Date" } dd { (document.date) }
                dt { "Command" } dd { code { (document.command) } " (Keyway " (machine.keyway) ")" }
            }
            div.answer { @for line in answer(document) { p { (line) } } }
            (at_a_glance(document))
            @for note in &document.notes { p.note { (note) } }
            @if !document.missing.is_empty() {
                div.warning {
                    p { strong { "This run was not finished." } }
                    ul { @for line in &document.missing { li { (line) } } }
                }
            }
            @for workload in workloads(document) { (drawn(document, workload)) }
            (calibrated(document))
            (doubts(document))
            (figures(document))
        }
    }
}

fn path_words(path: PathKind) -> &'static str {
    match path {
        PathKind::InProcess => "in process: the engine is called by the load generator",
        PathKind::Fuse => "through the file of a FUSE mount",
        PathKind::FuseLoop => "through a loop device on the file of a FUSE mount",
        PathKind::Ublk => "through a block device of the kernel's ublk driver",
        PathKind::Nbd => "through an NBD server on a unix socket",
    }
}

fn workloads(document: &Document) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for row in &document.cells {
        if !all.contains(&row.workload.as_str()) {
            all.push(&row.workload);
        }
    }
    all
}

/// A card for each target: what it costs on the whole.
fn at_a_glance(document: &Document) -> Markup {
    let mut targets: Vec<&str> = Vec::new();
    for row in document.cells.iter().filter(|r| r.target != r.baseline) {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    html! {
        div.cards {
            @for target in targets {
                @let rows: Vec<&Comparison> = document.cells.iter().filter(|r| r.primary && r.target == target).collect();
                @let said = |verdict: Verdict| rows.iter().filter(|r| r.verdict == verdict).count();
                @let worst = rows.iter().filter(|r| r.verdict == Verdict::Costs).max_by(|a, b| a.cost_percent().total_cmp(&b.cost_percent()));
                div.card role="group" aria-label=(target) {
                    h2 { (target) }
                    p.big { (said(Verdict::Equal) + said(Verdict::Gains)) span { " of " (rows.len()) } }
                    p { "tests are no slower than " (rows.first().map_or("", |r| r.baseline.as_str())) "; "
                        (said(Verdict::Costs)) " cost, " (said(Verdict::Undecided)) " are undecided." }
                    @if let Some(worst) = worst {
                        p { "Most it costs: " strong { (percent(worst.cost_percent())) } " on " (worst.cell) "." }
                    }
                }
            }
        }
    }
}

fn drawn(document: &Document, workload: &str) -> Markup {
    let rows: Vec<&Comparison> =
        document.cells.iter().filter(|r| r.workload == workload && r.primary).collect();
    let every: Vec<&Comparison> = document.cells.iter().filter(|r| r.workload == workload).collect();
    html! {
        h2 { (workload) }
        (heat::map(&rows))
        @if curves::fit(&rows) { (curves::charts(&rows)) } @else { (bars::charts(&rows)) }
        (latency::charts(document, workload))
        (published::beside(document, workload, &every))
    }
}

/// A modelled drive beside what was published of it.
fn calibrated(document: &Document) -> Markup {
    html! {
        @if !document.calibration.is_empty() {
            h2 { "The model beside what was published" }
            p.dim { "Without encryption, on the simulated clock, which is exact and knows no processor." }
            div.scroll tabindex="0" role="group" aria-label="The model beside what was published" { table {
                tr { th scope="col" { "load" } th scope="col" { "unit" } th scope="col" { "published" } th scope="col" { "modelled" } th scope="col" { "off by" } th scope="col" { "source" } }
                @for row in &document.calibration {
                    tr {
                        th scope="row" { (row.load) } td { (row.unit) } td { (number(row.published)) } td { (number(row.modelled)) }
                        td { (percent(row.deviation_percent)) @if !row.binding { " (not held to it)" } }
                        td.words { (row.source) "; "
                            @if let Some(page) = &row.read_in { "read in " (page) } @else { "not compared, an estimate" } }
                    }
                }
            } }
        }
    }
}

/// The same cells on several machines.
fn beside_each_other(documents: &[Document]) -> Markup {
    let mut keys: Vec<(&str, &str, &str)> = Vec::new();
    for row in documents.iter().flat_map(|d| &d.cells).filter(|r| r.primary && r.target != r.baseline) {
        let key = (row.workload.as_str(), row.cell.as_str(), row.target.as_str());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    html! {
        h2 { "Machines beside each other: cost" }
        div.scroll tabindex="0" role="group" aria-label="Machines beside each other" { table {
            tr { th scope="col" { "test" } th scope="col" { "target" } @for d in documents { th scope="col" { (d.drive) br; span.dim { (d.machine.processor) } } } }
            @for (workload, cell, target) in keys {
                tr {
                    th scope="row" { (workload) ": " (cell) } td { (target) }
                    @for d in documents {
                        @let row = d.cells.iter().find(|r| r.primary && r.workload == workload && r.cell == cell && r.target == target);
                        td { @if let Some(row) = row { (cost_words(row)) } @else { "–" } }
                    }
                }
            }
        } }
    }
}

fn doubts(document: &Document) -> Markup {
    let flags: BTreeSet<Flag> = document.cells.iter().flat_map(|r| r.flags.iter().copied()).collect();
    html! {
        @if !flags.is_empty() {
            h2 { "What speaks against believing it" }
            dl.flags {
                @for flag in flags {
                    @let n = document.cells.iter().filter(|r| r.primary && r.flags.contains(&flag)).count();
                    dt { span.flag { (flag.name()) } } dd { (flag.meaning()) " (" (n) " rows)" }
                }
            }
        }
    }
}

/// Every row, folded away.
fn figures(document: &Document) -> Markup {
    html! {
        details {
            summary { "Every figure" }
            div.scroll tabindex="0" role="group" aria-label="Every figure" { table {
                tr {
                    th scope="col" { "test" } th scope="col" { "target" } th scope="col" { "unit" } th scope="col" { "baseline" } th scope="col" { "target" } th scope="col" { "cost" } th scope="col" { "95 % interval" }
                    th scope="col" { "best run" } th scope="col" { "CPU s/GiB" } th scope="col" { "J/GiB" } th scope="col" { "verdict" } th scope="col" { "flags" }
                }
                @for r in &document.cells {
                    tr {
                        th scope="row" { (r.workload) ": " (r.cell) } td { (r.target) } td { (r.metric.unit()) }
                        td { (number(r.baseline_value)) } td { (number(r.value)) }
                        td { (percent(r.cost_percent())) } td { (interval_words(r)) }
                        td { @if let Some(best) = r.best { (number(best)) } }
                        td { @if let (Some(a), Some(b)) = (r.baseline_cpu_s_per_gib, r.cpu_s_per_gib) { (format!("{a:.2} → {b:.2}")) } }
                        td { @if let Some(j) = r.joules_per_gib { (format!("{j:.1}")) } }
                        td { (r.verdict.name()) } td { @for f in &r.flags { span.flag { (f.name()) } " " } }
                    }
                }
            } }
        }
    }
}
