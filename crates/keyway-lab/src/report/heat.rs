//! The cost of every cell and target as a map: pale where nothing was found, redder the more it costs.

use super::answer::whole;
use super::words::{cells, cost_words, interval_words, percent};
use crate::result::{Comparison, Verdict};
use maud::{Markup, html};

/// The cost at which the colour is at its strongest, in percent.
const STRONGEST: f64 = 40.0;

/// The map; nothing where nothing is compared.
pub(super) fn map(rows: &[&Comparison]) -> Markup {
    let mut targets: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| r.target != r.baseline) {
        if !targets.contains(&row.target.as_str()) {
            targets.push(&row.target);
        }
    }
    let mut deltas: Vec<String> = rows.iter().map(|r| whole(r.delta * 100.0)).collect();
    deltas.sort();
    deltas.dedup();
    html! {
        @if !targets.is_empty() {
            h3 { "Cost" }
            div.scroll tabindex="0" role="group" aria-label="Cost of each test" { table.heat aria-label="Cost of each test" {
                tr { th scope="col" { "test" } @for target in &targets { th scope="col" { (target) } } }
                @for cell in cells(rows) {
                    tr {
                        th scope="row" { (cell) }
                        @for target in &targets {
                            @if let Some(row) = rows.iter().find(|r| r.cell == cell && r.target == *target) {
                                td class=(class(row)) style=(format!("--strength: {:.2}", strength(row)))
                                    title=(format!("{} ({})", percent(row.cost_percent()), interval_words(row))) {
                                    (cost_words(row))
                                    @if !row.flags.is_empty() { sup title="with a doubt" { "!" } }
                                }
                            } @else { td { "–" } }
                        }
                    }
                }
            } }
            p.dim { "Cost in percent of " (rows.first().map_or("the baseline", |r| r.baseline.as_str()))
                "; less throughput or more time is a cost. “Equal” is within ±" (deltas.join(" or ")) " %, “undecided” is what the noise of this run hides; "
                "“!” has a doubt, named below." }
        }
    }
}

fn class(row: &Comparison) -> &'static str {
    match row.verdict {
        Verdict::Equal => "same",
        Verdict::Undecided => "open",
        Verdict::Costs => "cost",
        Verdict::Gains => "gain",
    }
}

fn strength(row: &Comparison) -> f64 {
    (row.cost_percent().abs() / STRONGEST).clamp(0.08, 1.0)
}
