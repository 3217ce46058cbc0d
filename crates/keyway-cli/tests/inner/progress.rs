//! A search is shown where it takes a while, and anything else that is written takes its place.

use super::*;
use keyway::Progress as _;

#[test]
fn a_long_search_is_shown_and_a_short_one_is_not() {
    let mut shown = SearchBar::new();
    assert!(shown.searching(1, 24 << 20).is_continue());
    assert!(shown.medium.get().is_none());
    // As if it had been at it for long.
    shown.began = Instant::now().checked_sub(SOON * 2).expect("a machine that is up").into();
    assert!(shown.searching(23 << 20, 24 << 20).is_continue());
    assert!(shown.medium.get().is_some());
    shown.trying(&KeySearch::default());
    assert!(shown.key.get().is_some());
    shown.done();
    assert!(shown.medium.get().expect("shown").0.lock().expect("whole").is_none());
}
