//! A document's comparisons as tables, one for each workload.

use crate::result::{Comparison, Document};
use crate::table::Table;

/// Tables of 80 columns: for each workload and target a line for each test.
pub fn tables(document: &Document) -> Vec<Table> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for row in document.cells.iter().filter(|row| row.primary) {
        let key = (row.workload.as_str(), row.target.as_str());
        if !all.contains(&key) {
            all.push(key);
        }
    }
    let table = |(workload, target): (&str, &str)| {
        let own = |c: &&Comparison| c.primary && c.workload == workload && c.target == target;
        one_target(workload, target, &document.cells.iter().filter(own).collect::<Vec<_>>())
    };
    all.into_iter().map(table).collect()
}

fn one_target(workload: &str, target: &str, rows: &[&Comparison]) -> Table {
    let Some(first) = rows.iter().find(|r| r.target != r.baseline) else {
        return comparisons(workload, rows);
    };
    let cells = rows.iter().map(|r| {
        let (low, high) = r.cost_interval();
        vec![
            r.cell.clone(),
            number(r.baseline_value),
            number(r.value),
            r.metric.unit().to_owned(),
            percent(r.cost_percent()),
            format!("{low:+.1} … {high:+.1}"),
            // A doubt is named below, and beside its row with --wide.
            format!("{}{}", r.verdict.name(), if r.flags.is_empty() { "" } else { " !" }),
        ]
    });
    let title = format!("{workload}: {target} against {}", first.baseline);
    Table::new(title, &["test", &first.baseline, "here", "", "cost", "95 % interval", ""], 1, cells)
}

/// A table for each workload of the document, with all that is known of each test and target.
pub fn wide_tables(document: &Document) -> Vec<Table> {
    let mut workloads: Vec<&str> = document.cells.iter().map(|c| c.workload.as_str()).collect();
    workloads.dedup();
    let table = |workload: &str| {
        let rows: Vec<&Comparison> =
            document.cells.iter().filter(|c| c.workload == workload && c.primary).collect();
        comparisons(workload, &rows)
    };
    workloads.into_iter().map(table).collect()
}

fn comparisons(title: &str, rows: &[&Comparison]) -> Table {
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
        return Table::new(title, &["cell", "median", "", "interval", "best run", "CPU s/GiB", ""], 1, cells);
    }
    let cells = rows.iter().map(|r| {
        let (low, high) = r.cost_interval();
        vec![
            r.cell.clone(),
            r.target.clone(),
            r.metric.unit().to_owned(),
            number(r.baseline_value),
            number(r.value),
            percent(r.cost_percent()),
            format!("{} … {}", percent(low), percent(high)),
            part(r, r.path_cost),
            part(r, r.cipher_cost),
            cpu(r),
            verdict(r),
        ]
    });
    let baseline = rows.first().map_or("baseline", |r| r.baseline.as_str());
    Table::new(
        title,
        &[
            "cell",
            "target",
            "",
            baseline,
            "target",
            "cost",
            "95 % interval",
            "path",
            "cipher",
            "CPU s/GiB",
            "",
        ],
        3,
        cells,
    )
}

/// What a part of the cost is, where it was measured.
fn part(row: &Comparison, ratio: Option<f64>) -> String {
    ratio.map(|ratio| percent(row.metric.cost_percent(ratio))).unwrap_or_default()
}

fn percent(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{:+.1} %", if rounded == 0.0 { 0.0 } else { rounded })
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
    fn nothing_has_no_sign() {
        assert_eq!([10.0, -2.0, -0.01].map(percent), ["+10.0 %", "-2.0 %", "+0.0 %"]);
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([12345.6, 123.46, 1.234, 0.01234].map(number), ["12346", "123.5", "1.23", "0.0123"]);
    }
}
