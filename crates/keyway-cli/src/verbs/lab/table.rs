//! Results as tables that read at a glance.

use crate::output::table;
use crate::shown::shown;
use keyway_lab::{Comparison, Document, Flag, Metric, Workload};
use std::collections::BTreeSet;

/// The shipped workloads.
pub(super) fn workloads(all: &[Workload]) -> String {
    let rows = all.iter().map(|w| vec![w.name.clone(), w.title.clone()]);
    table(&["workload", "what it is"], 9, rows)
}

/// Everything a document says, for people.
pub(super) fn words(document: &Document) -> String {
    let machine = &document.machine;
    let mut text = format!(
        "Drive: {}. Path: {}. {}, {} cores, {}.\n",
        shown(&document.drive),
        document.path.name(),
        shown(&machine.processor),
        machine.cores,
        shown(&machine.kernel)
    );
    let mut groups: Vec<&str> = document.cells.iter().map(|c| c.workload.as_str()).collect();
    groups.dedup();
    for workload in groups {
        text.push_str(&format!("\n{}\n", shown(workload)));
        let rows: Vec<&Comparison> =
            document.cells.iter().filter(|c| c.workload == workload && c.primary).collect();
        text.push_str(&comparisons(&rows));
    }
    let flags: BTreeSet<Flag> = document.cells.iter().flat_map(|c| c.flags.iter().copied()).collect();
    if !flags.is_empty() {
        text.push('\n');
    }
    for flag in flags {
        text.push_str(&format!("{}: {}.\n", flag.name(), flag.meaning()));
    }
    if !document.missing.is_empty() {
        text.push_str("\nMissing:\n");
        for line in &document.missing {
            text.push_str(&format!("  {}\n", shown(line)));
        }
    }
    for note in &document.notes {
        text.push_str(&format!("\n{}\n", shown(note)));
    }
    text
}

fn comparisons(rows: &[&Comparison]) -> String {
    if rows.iter().all(|r| r.target == r.baseline) {
        let cells = rows.iter().map(|r| {
            vec![
                r.cell.clone(),
                number(r.value),
                r.metric.unit().to_owned(),
                format!("{} … {}", number(r.value_low), number(r.value_high)),
                r.best.map(number).unwrap_or_default(),
                r.cpu_s_per_gib.map(|c| format!("{c:.2}")).unwrap_or_default(),
                flags(r),
            ]
        });
        return table(&["cell", "median", "", "interval", "best run", "CPU s/GiB", ""], 1, cells);
    }
    let cells = rows.iter().map(|r| {
        vec![
            r.cell.clone(),
            r.target.clone(),
            r.metric.unit().to_owned(),
            number(r.baseline_value),
            number(r.value),
            cost(r),
            interval(r),
            cpu(r),
            verdict(r),
        ]
    });
    let baseline = rows.first().map_or("baseline", |r| r.baseline.as_str());
    table(&["cell", "target", "", baseline, "target", "cost", "95 % interval", "CPU s/GiB", ""], 3, cells)
}

/// How much worse, in percent of the baseline; less than nothing is better.
fn cost_of(ratio: f64, metric: Metric) -> f64 {
    100.0 * if metric.more_is_better() { 1.0 - ratio } else { ratio - 1.0 }
}

fn cost(row: &Comparison) -> String {
    percent(cost_of(row.ratio, row.metric))
}

fn percent(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{:+.1} %", if rounded == 0.0 { 0.0 } else { rounded })
}

fn interval(row: &Comparison) -> String {
    let (a, b) = (cost_of(row.ratio_low, row.metric), cost_of(row.ratio_high, row.metric));
    format!("{} … {}", percent(a.min(b)), percent(a.max(b)))
}

fn cpu(row: &Comparison) -> String {
    match (row.baseline_cpu_s_per_gib, row.cpu_s_per_gib) {
        (Some(base), Some(own)) => format!("{base:.2} → {own:.2}"),
        _ => String::new(),
    }
}

fn verdict(row: &Comparison) -> String {
    let flags = flags(row);
    let name = row.verdict.name();
    if flags.is_empty() { name.to_owned() } else { format!("{name}  [{flags}]") }
}

fn flags(row: &Comparison) -> String {
    row.flags.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ")
}

/// Four digits that count.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_what_gets_worse() {
        assert_eq!(percent(cost_of(0.9, Metric::MbS)), "+10.0 %");
        assert_eq!(percent(cost_of(1.25, Metric::LatencyUs)), "+25.0 %");
        assert_eq!(percent(cost_of(1.02, Metric::Iops)), "-2.0 %");
        assert_eq!(percent(cost_of(1.0001, Metric::Iops)), "+0.0 %");
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([12345.6, 123.46, 1.234, 0.01234].map(number), ["12346", "123.5", "1.23", "0.0123"]);
    }
}
