//! Bars side by side, a chart per unit, as CrystalDiskMark's readers know them.

use super::picture::Picture;
use super::words::{cells, number, sides, value};
use crate::result::{Comparison, Metric};
use maud::{Markup, html};

/// Widths and heights in the drawing's own units.
const LABEL: f64 = 150.0;
const BARS: f64 = 420.0;
const VALUE: f64 = 80.0;
const BAR: f64 = 13.0;
const GAP: f64 = 10.0;

/// A chart for each metric among the rows.
pub(super) fn charts(rows: &[&Comparison]) -> Markup {
    let sides = sides(rows);
    // One request at a time is slow by nature, and beside a full queue its bars could not be seen.
    let kind = |row: &Comparison| (row.metric, row.cell.contains("Q1T1"));
    let mut kinds: Vec<(Metric, bool)> = Vec::new();
    for row in rows {
        if !kinds.contains(&kind(row)) {
            kinds.push(kind(row));
        }
    }
    html! {
        (legend(&sides))
        @for (metric, single) in kinds {
            @let own: Vec<&Comparison> = rows.iter().copied().filter(|r| kind(r) == (metric, single)).collect();
            h3 { (metric.unit()) @if single { ", one request at a time" } @if !metric.more_is_better() { span.dim { " (less is better)" } } }
            (chart(metric, &own, &sides).placed())
        }
    }
}

/// Which colour is whose.
pub(super) fn legend(sides: &[&str]) -> Markup {
    html! {
        @if sides.len() > 1 {
            p.legend {
                @for (n, side) in sides.iter().enumerate() {
                    span { svg width="12" height="12" aria-hidden="true" { rect class=(format!("s{}", n % 6)) width="12" height="12" rx="2" {} } " " (side) }
                }
            }
        }
    }
}

fn chart<'a>(metric: Metric, rows: &[&Comparison], sides: &'a [&'a str]) -> Picture<'a> {
    let highest = |r: &&Comparison| r.value_high.max(r.value).max(r.baseline_value);
    let largest = rows.iter().map(highest).fold(f64::MIN_POSITIVE, f64::max);
    let along = |v: f64| (BARS * v / largest).clamp(0.0, BARS);
    let mut top = GAP / 2.0;
    let mut drawn = Vec::new();
    for cell in cells(rows) {
        let values: Vec<_> = sides
            .iter()
            .enumerate()
            .filter_map(|(n, side)| Some((n, *side, value(rows, cell, side)?)))
            .collect();
        let height = BAR * values.len().max(1) as f64;
        drawn.push(html! {
            text.label x=(LABEL - 8.0) y=(format!("{:.1}", top + height / 2.0 + 4.0)) text-anchor="end" { (cell) }
            @for (place, (n, side, (value, bounds))) in values.iter().enumerate() {
                @let y = top + BAR * place as f64;
                rect class=(format!("s{}", n % 6)) x=(LABEL) y=(format!("{y:.1}")) height=(BAR - 2.0) rx="1.5"
                    width=(format!("{:.1}", along(*value).max(1.0))) {
                    title { (cell) ", " (side) ": " (number(*value)) }
                }
                @if let Some((low, high)) = bounds {
                    line.whisker x1=(format!("{:.1}", LABEL + along(*low))) x2=(format!("{:.1}", LABEL + along(*high)))
                        y1=(format!("{:.1}", y + 5.5)) y2=(format!("{:.1}", y + 5.5)) {}
                }
                text.value x=(format!("{:.1}", LABEL + along(bounds.map_or(*value, |b| b.1.max(*value))) + 5.0)) y=(format!("{:.1}", y + 9.5)) { (number(*value)) }
            }
        });
        top += height + GAP;
    }
    let shapes = html! { @for group in &drawn { (group) } };
    let label = format!("{}: the medians; the thin lines are their intervals", metric.unit());
    Picture { label, width: LABEL + BARS + VALUE, height: top, sides, shapes }
}
