//! Lists of ranges of a medium: what is left of them without others.

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
}
