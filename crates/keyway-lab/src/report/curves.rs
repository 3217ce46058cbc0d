//! Speed over block size, as ATTO draws it: a chart per queue depth and direction.

use super::bars::legend;
use super::picture::Picture;
use super::words::{cells, number, sides, value};
use crate::result::Comparison;
use crate::workload::{parse_bytes, short_bytes};
use maud::{Markup, html};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 26.0;
const TOP: f64 = 10.0;

/// Fewer block sizes make no curve.
const FEWEST: usize = 5;

/// Block size in bytes, and what else the cell's name says: `SEQ4K Q4T1 read` is 4096 and `Q4T1 read`.
fn parts(cell: &str) -> Option<(u64, &str)> {
    let (block, rest) = cell.split_once(' ')?;
    let digits = block.find(|c: char| c.is_ascii_digit())?;
    Some((parse_bytes(block.get(digits..)?).ok()?, rest))
}

fn groups<'a>(rows: &[&'a Comparison]) -> Vec<(&'a str, Vec<(u64, &'a str)>)> {
    let mut all: Vec<(&str, Vec<(u64, &str)>)> = Vec::new();
    for cell in cells(rows) {
        let Some((block, rest)) = parts(cell) else { continue };
        match all.iter_mut().find(|(name, _)| *name == rest) {
            Some((_, points)) => points.push((block, cell)),
            None => all.push((rest, vec![(block, cell)])),
        }
    }
    all
}

/// Whether the cells differ in block size enough for curves.
pub(super) fn fit(rows: &[&Comparison]) -> bool {
    let groups = groups(rows);
    !groups.is_empty() && groups.iter().all(|(_, points)| points.len() >= FEWEST)
}

/// The charts.
pub(super) fn charts(rows: &[&Comparison]) -> Markup {
    let sides = sides(rows);
    html! {
        (legend(&sides))
        div.small {
            @for (name, points) in groups(rows) {
                figure { figcaption { (name) ", " (rows.first().map_or("", |r| r.metric.unit())) } (chart(name, rows, &sides, &points).placed()) }
            }
        }
    }
}

fn chart<'a>(name: &str, rows: &[&Comparison], sides: &'a [&'a str], points: &[(u64, &str)]) -> Picture<'a> {
    let line = |side: &str| -> Vec<(u64, f64)> {
        points.iter().filter_map(|(block, cell)| Some((*block, value(rows, cell, side)?.0))).collect()
    };
    let lines: Vec<Vec<(u64, f64)>> = sides.iter().map(|side| line(side)).collect();
    let all = || lines.iter().flatten().map(|(_, v)| *v);
    let (largest, smallest) = (all().fold(1e-9, f64::max), all().fold(f64::MAX, f64::min).max(1e-9));
    // Both scales are logarithmic: from 512 bytes to 64 MiB is 17 doublings, and speeds go along.
    let (top, bottom) = (largest.log10().ceil(), smallest.log10().floor());
    let (first, last) = (points.first().map_or(1, |p| p.0) as f64, points.last().map_or(2, |p| p.0) as f64);
    let x = |block: u64| {
        LEFT + (WIDTH - LEFT - 8.0) * ((block as f64 / first).log2() / (last / first).log2().max(1.0))
    };
    let y = |v: f64| TOP + (HEIGHT - TOP - BOTTOM) * (top - v.max(1e-9).log10()) / (top - bottom).max(1.0);
    let decades = (bottom as i32)..=(top as i32);
    let shapes = html! {
            @for decade in decades {
                @let at = y(10f64.powi(decade));
                line.grid x1=(LEFT) x2=(WIDTH - 8.0) y1=(format!("{at:.1}")) y2=(format!("{at:.1}")) {}
                text.label x=(LEFT - 6.0) y=(format!("{:.1}", at + 4.0)) text-anchor="end" { (number(10f64.powi(decade)).trim_end_matches(".00")) }
            }
            @for (n, (block, _)) in points.iter().enumerate().filter(|(n, _)| n % 4 == 0) {
                text.label x=(format!("{:.1}", x(*block))) y=(HEIGHT - 8.0) text-anchor=(if n == 0 { "start" } else if x(*block) > WIDTH - 20.0 { "end" } else { "middle" }) { (short_bytes(*block)) }
            }
            @for (n, line) in lines.iter().enumerate() {
                polyline class=(format!("l{}", n % 6)) points=(line.iter().map(|(b, v)| format!("{:.1},{:.1}", x(*b), y(*v))).collect::<Vec<_>>().join(" ")) {}
            }
    };
    let unit = rows.first().map_or("", |row| row.metric.unit());
    let label = format!("{name}: {unit} over block size");
    Picture { label, width: WIDTH, height: HEIGHT, sides, shapes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(parts("SEQ4K Q4T1 read"), Some((4096, "Q4T1 read")));
        assert_eq!(parts("SEQ512 Q1T1 write"), Some((512, "Q1T1 write")));
        assert_eq!(parts("opening"), None);
    }
}
