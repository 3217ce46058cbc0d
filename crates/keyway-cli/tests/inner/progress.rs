//! A search is shown where it takes a while.

use super::*;
use keyway::Progress as _;

#[test]
fn a_long_search_is_shown_and_a_short_one_is_not() {
    let mut shown = SearchBar::new();
    assert!(shown.searching(1, 24 << 20).is_continue());
    assert!(shown.bar.get().is_none());
    // As if it had been at it for long.
    shown.began = Instant::now().checked_sub(SOON * 2).expect("a machine that is up").into();
    assert!(shown.searching(23 << 20, 24 << 20).is_continue());
    let bar = shown.bar.get().expect("shown");
    assert_eq!((bar.length(), bar.position()), (Some(24 << 20), 23 << 20));
}
