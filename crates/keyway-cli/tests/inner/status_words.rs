//! Times are short.

use super::*;

#[test]
fn times_are_short() {
    let words = [999, 1500, 42_000, 1_250_000, 3_000_000_000].map(duration);
    assert_eq!(words, ["999 ns", "1.5 µs", "42 µs", "1.2 ms", "3.0 s"]);
}
