//! A picture of the page: drawn in it, named for whoever can't see it, and to be taken away as a file of its own.

use super::style::{COLOURS, PICTURES};
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// A picture before it is placed.
pub(super) struct Picture<'a> {
    /// What it shows, in words.
    pub(super) label: String,
    /// In the drawing's own units.
    pub(super) width: f64,
    pub(super) height: f64,
    /// Whose colour is which, in their order. On the page that stands beside it.
    pub(super) sides: &'a [&'a str],
    /// The shapes.
    pub(super) shapes: Markup,
}

/// Heights of lines above a picture that stands by itself.
const LINE: f64 = 18.0;
const EDGE: f64 = 10.0;
/// About so wide is a letter of 11 px.
const LETTER: f64 = 6.2;

impl Picture<'_> {
    /// On the page, with a way to keep it.
    pub(super) fn placed(&self) -> Markup {
        let Self { label, width, height, shapes, .. } = self;
        html! {
            div.scroll tabindex="0" role="group" aria-label=(label) {
                svg.chart viewBox=(format!("0 0 {width} {height:.1}")) role="img" aria-label=(label) { (shapes) }
            }
            p.save {
                a href=(format!("data:image/svg+xml,{}", escaped(&self.alone()))) download=(self.file_name())
                    aria-label=(format!("Keep as SVG: {label}")) { "SVG" }
            }
        }
    }

    /// The whole file.
    fn alone(&self) -> String {
        let Self { label, width, shapes, .. } = self;
        let places = self.legend();
        let above = places.last().map_or(0.0, |(_, _, y)| y + LINE) + LINE + EDGE;
        let (whole, high) = (width + 2.0 * EDGE, self.height + above + EDGE);
        let file = html! {
            svg.chart xmlns="http://www.w3.org/2000/svg" width=(whole) height=(format!("{high:.0}"))
                viewBox=(format!("0 0 {whole} {high:.1}")) role="img" aria-label=(label) {
                style { (PreEscaped(COLOURS)) (PreEscaped(PICTURES)) }
                rect.paper width="100%" height="100%" {}
                text x=(EDGE) y=(EDGE + 11.0) { (label) }
                @for (n, x, y) in &places {
                    rect class=(format!("s{}", n % 6)) x=(format!("{x:.0}")) y=(format!("{:.0}", y + LINE + EDGE)) width="11" height="11" rx="2" {}
                    text x=(format!("{:.0}", x + 16.0)) y=(format!("{:.0}", y + LINE + EDGE + 10.0)) { (self.sides.get(*n).unwrap_or(&"")) }
                }
                g transform=(format!("translate({EDGE} {above:.0})")) { (shapes) }
            }
        };
        file.into_string()
    }

    /// Where each side stands in the legend: as many in a line as fit.
    fn legend(&self) -> Vec<(usize, f64, f64)> {
        let (mut x, mut y) = (EDGE, 0.0);
        let mut all = Vec::new();
        for (n, side) in self.sides.iter().enumerate() {
            let wide = 30.0 + LETTER * side.chars().count() as f64;
            if x > EDGE && x + wide > self.width {
                (x, y) = (EDGE, y + LINE);
            }
            all.push((n, x, y));
            x += wide;
        }
        all
    }

    /// The first words of what it shows.
    fn file_name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.label.chars().map(plain).collect();
        let words = name.split('-').filter(|word| !word.is_empty()).take(8);
        words.collect::<Vec<_>>().join("-") + ".svg"
    }
}

/// For an address: all that could end it or mean something in it is written as its bytes.
fn escaped(text: &str) -> String {
    let mut address = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~!*(),;:=".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_taken_away_whole() {
        let shapes = html! { rect.s0 width="5" height="5" {} };
        let sides = ["bare", "veracrypt:aes-twofish-serpent", "bitlocker:aes-xts-128"];
        let picture = Picture {
            label: "IOPS, \"all\" & more".into(),
            width: 320.0,
            height: 100.0,
            sides: &sides,
            shapes,
        };
        let page = picture.placed().into_string();
        assert!(page.contains("download=\"iops-all-more.svg\"") && !page.contains("http://"), "{page}");
        let alone = picture.alone();
        assert!(alone.starts_with("<svg") && alone.contains("http://www.w3.org/2000/svg"), "{alone}");
        assert!(sides.iter().all(|side| alone.contains(side)), "{alone}");
        // The third does not fit into the first line.
        let places: Vec<f64> = picture.legend().iter().map(|place| place.2).collect();
        assert_eq!(places, [0.0, 0.0, LINE]);
        assert_eq!(escaped("a \"#%</µ"), "a%20%22%23%25%3C%2F%C2%B5");
    }
}
