//! How long requests took: for each cell the part of all requests that was done after a time.

use super::bars::legend;
use super::picture::Picture;
use super::words::number;
use crate::result::{Document, Series};
use maud::{Markup, html};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 38.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 8.0;

/// More charts than this tell nobody anything; cells with few requests in flight come first.
const MOST: usize = 6;

/// A chart per cell for those where a request waits for the drive and not for other requests.
pub(super) fn charts(document: &Document, workload: &str) -> Markup {
    let own: Vec<&Series> =
        document.series.iter().filter(|s| s.workload == workload && s.latency.count() > 0).collect();
    let mut cells: Vec<&str> = Vec::new();
    for series in &own {
        if !cells.contains(&series.cell.as_str()) {
            cells.push(&series.cell);
        }
    }
    let single = |cell: &&str| cell.contains("Q1T1") && (cell.starts_with("RND") || cells.len() <= MOST);
    let mut shown: Vec<&str> = cells.iter().copied().filter(single).collect();
    if shown.is_empty() {
        shown.clone_from(&cells);
    }
    shown.truncate(MOST);
    let mut sides: Vec<&str> = Vec::new();
    for series in &own {
        if !sides.contains(&series.target.as_str()) {
            sides.push(&series.target);
        }
    }
    // The bare drive is measured second; colours follow the order of the bars: baseline, then the rest.
    html! {
        @if !shown.is_empty() {
            h3 { "How long a request takes" }
            (legend(&sides))
            div.small {
                @for cell in &shown {
                    @let lines: Vec<(usize, &Series)> = sides.iter().enumerate().filter_map(|(n, side)| {
                        Some((n, *own.iter().find(|s| s.cell == *cell && s.target == *side)?))
                    }).collect();
                    figure {
                        figcaption { (cell) }
                        (chart(cell, &sides, &lines).placed())
                        table.quantiles aria-label=(format!("How long requests take: {cell}")) {
                            tr { th scope="col" { "µs" } th scope="col" { "half" } th scope="col" { "99 %" } th scope="col" { "99.9 %" } th scope="col" { "99.99 %" } th scope="col" { "longest" } }
                            @for (n, s) in &lines {
                                tr { th scope="row" aria-label=(s.target) { svg width="10" height="10" aria-hidden="true" { rect class=(format!("s{}", n % 6)) width="10" height="10" rx="2" {} } }
                                    td { (number(s.latency.quantile_us(0.5))) } td { (number(s.latency.quantile_us(0.99))) }
                                    td { (number(s.latency.quantile_us(0.999))) } td { (tail_words(s)) } td { (number(s.latency.max_us())) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Of so many requests that it can be told, with its interval.
fn tail_words(series: &Series) -> String {
    let Some(tail) = series.tail() else { return String::new() };
    let high = tail.high_us.map_or_else(|| "…".to_owned(), number);
    format!("{} ({} to {high})", number(tail.us), number(tail.low_us))
}

fn chart<'a>(cell: &str, sides: &'a [&'a str], lines: &[(usize, &Series)]) -> Picture<'a> {
    // From where the first of a thousand is done to where all but one of a thousand are.
    let from = lines.iter().map(|(_, s)| s.latency.quantile_us(0.001)).fold(f64::MAX, f64::min).max(0.1);
    let to = lines.iter().map(|(_, s)| s.latency.quantile_us(0.999)).fold(0.0, f64::max).max(from * 1.5);
    let x = |us: f64| LEFT + (WIDTH - LEFT - 8.0) * ((us / from).ln() / (to / from).ln()).clamp(0.0, 1.0);
    let y = |part: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - part);
    let path = |s: &Series| {
        let all = s.latency.count().max(1) as f64;
        let mut seen = 0;
        let mut points = Vec::new();
        for (us, n) in s.latency.points() {
            seen += n;
            if us >= from && us <= to {
                points.push(format!("{:.1},{:.1}", x(us), y(seen as f64 / all)));
            }
        }
        points.join(" ")
    };
    let ticks = [1.0, 2.0, 5.0].into_iter().flat_map(|m| (-1..8).map(move |p| m * 10f64.powi(p)));
    let mut ticks: Vec<f64> = ticks.filter(|t| *t >= from && *t <= to).collect();
    ticks.sort_by(f64::total_cmp);
    let every = ticks.len().div_ceil(6).max(1);
    let shapes = html! {
            @for part in [0.0, 0.5, 1.0] {
                line.grid x1=(LEFT) x2=(WIDTH - 8.0) y1=(format!("{:.1}", y(part))) y2=(format!("{:.1}", y(part))) {}
                text.label x=(LEFT - 5.0) y=(format!("{:.1}", y(part) + 4.0)) text-anchor="end" { (format!("{:.0} %", part * 100.0)) }
            }
            @for tick in ticks.iter().step_by(every) {
                text.label x=(format!("{:.1}", x(*tick))) y=(HEIGHT - 7.0) text-anchor=(if x(*tick) > WIDTH - 30.0 { "end" } else { "middle" }) { (number(*tick).trim_end_matches(".00").trim_end_matches(".0")) " µs" }
            }
            @for (n, series) in lines { polyline class=(format!("l{}", n % 6)) points=(path(series)) {} }
    };
    let label = format!("{cell}: part of the requests that are done after a time");
    Picture { label, width: WIDTH, height: HEIGHT, sides, shapes }
}
