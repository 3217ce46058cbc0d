//! Sizes and speeds are read as people write them.

use super::rate;

#[test]
fn speeds() {
    assert_eq!(rate("20"), Ok(20_000_000));
    assert_eq!(rate("0.5"), Ok(500_000));
    assert_eq!(rate("20M"), Ok(20 << 20));
    assert_eq!(rate("20MB"), Ok(20_000_000));
    assert_eq!(rate("1G"), Ok(1 << 30));
    for text in ["0", "0K", "", "M", "-1", "fast", "20M/s", "99999999999999"] {
        assert!(rate(text).is_err(), "{text}");
    }
    assert!(rate("20M/s").is_err_and(|e| e.contains("such as 20, or")));
}
