//! Lists of ranges of a medium: what is left of them without others, and which are near each other.

use std::ops::Range;

/// What is left of these ranges, which are in order, without those, which are, too.
pub(crate) fn without(ranges: &[Range<u64>], out: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut from = range.start;
        let first = out.partition_point(|out| out.end <= range.start);
        for out in out.iter().skip(first).take_while(|out| out.start < range.end) {
            if from < out.start {
                left.push(from..out.start);
            }
            from = from.max(out.end);
        }
        if from < range.end {
            left.push(from..range.end);
        }
    }
    left
}

/// The same ranges, in order; those with less than `gap` between them are one, and so are the first bytes, as many as
/// `gap`, with what begins so near behind them.
pub(crate) fn far_apart(ranges: impl Iterator<Item = Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    let mut apart: Vec<Range<u64>> = Vec::new();
    for mut range in ranges {
        match apart.last_mut() {
            Some(last) if range.start - last.end < gap => last.end = range.end,
            Some(_) => apart.push(range),
            None => {
                if range.start < 2 * gap {
                    range.start = gap;
                }
                apart.push(range);
            }
        }
    }
    apart
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges, some of them short")]
mod tests {
    use super::*;

    #[test]
    fn ranges_without_others_are_what_is_left_of_them() {
        assert_eq!(without(&[0..10, 20..30], &[]), [0..10, 20..30]);
        assert_eq!(without(&[0..10, 20..30], &[5..25]), [0..5, 25..30]);
        assert_eq!(without(&[0..30], &[0..5, 10..20]), [5..10, 20..30]);
        assert_eq!(without(&[5..30], &[0..7, 7..9, 40..50]), [9..30]);
        assert!(without(std::slice::from_ref(&(5..30)), &[0..30]).is_empty());
    }

    #[test]
    fn stretches_that_are_near_are_one() {
        const PAGE: u64 = 4096;
        let pages = |pages: &[Range<u64>]| {
            let bytes = pages.iter().map(|pages| pages.start * PAGE..pages.end * PAGE);
            let apart = far_apart(bytes, 32 * PAGE).into_iter();
            apart.map(|range| range.start / PAGE..range.end / PAGE).collect::<Vec<_>>()
        };
        assert_eq!(pages(&[40..41, 72..73, 105..106]), [32..73, 105..106]);
        assert_eq!(pages(&[64..65, 97..98, 129..130]), [64..65, 97..130]);
    }
}
