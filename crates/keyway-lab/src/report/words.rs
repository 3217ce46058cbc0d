//! Numbers for people.

use crate::result::{Comparison, Verdict};

pub(super) fn percent(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{:+.1} %", if rounded == 0.0 { 0.0 } else { rounded }).replace('-', "−")
}

/// The cost where there is one, and what is said where there is none.
pub(super) fn cost_words(row: &Comparison) -> String {
    match row.verdict {
        Verdict::Costs | Verdict::Gains => percent(row.cost_percent()),
        Verdict::Equal | Verdict::Undecided => row.verdict.name().to_owned(),
    }
}

pub(super) fn interval_words(row: &Comparison) -> String {
    let (low, high) = row.cost_interval();
    format!("{} … {}", percent(low), percent(high))
}

/// Three or four digits that count, thousands apart.
pub(crate) fn number(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(w, r)| (w, Some(r)));
    let mut apart = String::new();
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n).is_multiple_of(3) && whole.len() > 4 && digit.is_ascii_digit() {
            apart.push('\u{202f}');
        }
        apart.push(digit);
    }
    rest.map_or(apart.clone(), |rest| format!("{apart}.{rest}"))
}

/// Targets in the order in which they come, the baseline first.
pub(super) fn sides<'a>(rows: &[&'a Comparison]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in rows.iter().map(|r| r.baseline.as_str()).chain(rows.iter().map(|r| r.target.as_str())) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Cells in the order in which they come.
pub(super) fn cells<'a>(rows: &[&'a Comparison]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for row in rows {
        if !all.contains(&row.cell.as_str()) {
            all.push(&row.cell);
        }
    }
    all
}

/// The value of a side in a cell, and its bounds where they are known.
pub(super) fn value(rows: &[&Comparison], cell: &str, side: &str) -> Option<(f64, Option<(f64, f64)>)> {
    let own = rows.iter().find(|r| r.cell == cell && r.target == side);
    let base =
        || rows.iter().find(|r| r.cell == cell && r.baseline == side).map(|r| (r.baseline_value, None));
    own.map(|r| (r.value, Some((r.value_low, r.value_high)))).or_else(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Metric;

    #[test]
    fn numbers_and_percents() {
        assert_eq!(number(1_234_567.8), "1\u{202f}234\u{202f}568");
        assert_eq!([12.34, 1.234, 4321.0].map(number), ["12.3", "1.23", "4321"]);
        assert_eq!(percent(-1.26), "−1.3 %");
        assert_eq!(percent(Metric::LatencyUs.cost_percent(1.25)), "+25.0 %");
    }
}
