//! Sizes as people write them: `512`, `64K`, `1.5G`, `10GiB`, `10GB`.

/// Parses a size in bytes. One letter and `…iB` are powers of 1024, `…B` powers of 1000, as in `dd`.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size: write a number with K, M, G or T, such as 512M or 10G");
    let text_trimmed = text.trim();
    let split = text_trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_trimmed.len());
    let (number, unit) = text_trimmed.split_at(split);
    let unit = unit.trim().to_ascii_uppercase();
    let (letter, base) = match unit.as_bytes() {
        [] => (b' ', 1),
        [b'B'] => (b' ', 1),
        [letter] | [letter, b'I', b'B'] => (*letter, 1024),
        [letter, b'B'] => (*letter, 1000),
        _ => return Err(wrong()),
    };
    let power = match letter {
        b' ' => 0,
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        _ => return Err(wrong()),
    };
    let factor = u64::pow(base, power);
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let whole = whole.checked_mul(factor).ok_or_else(|| format!("{text:?} is too large"))?;
    if fraction.is_empty() {
        return Ok(whole);
    }
    // Nine digits after the point are more than any drive's size needs.
    let digits: u64 = fraction.get(..fraction.len().min(9)).and_then(|d| d.parse().ok()).ok_or_else(wrong)?;
    let scale = 10u128.pow(fraction.len().min(9) as u32);
    let part = (u128::from(digits) * u128::from(factor) / scale) as u64;
    whole.checked_add(part).ok_or_else(|| format!("{text:?} is too large"))
}

/// Parses a speed in bytes a second: a size as above, or a number alone, which means megabytes.
pub(crate) fn rate(text: &str) -> Result<u64, String> {
    let megabytes = text.trim().bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let parsed = if megabytes { parse(&format!("{}MB", text.trim())) } else { parse(text) };
    match parsed {
        Ok(0) => Err("nothing would be done at 0 bytes a second".to_owned()),
        Ok(rate) => Ok(rate),
        Err(_) => Err(format!(
            "{text:?} is not a speed: write megabytes a second, such as 20, or a number with K, M or G, such as 512K or 1G"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, rate};

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

    #[test]
    fn sizes() {
        assert_eq!(parse("512"), Ok(512));
        assert_eq!(parse("0"), Ok(0));
        assert_eq!(parse("64K"), Ok(65_536));
        assert_eq!(parse("64k"), Ok(65_536));
        assert_eq!(parse("1.5G"), Ok(3 << 29));
        assert_eq!(parse("10GiB"), Ok(10 << 30));
        assert_eq!(parse("10 GB"), Ok(10_000_000_000));
        assert_eq!(parse("7B"), Ok(7));
    }

    #[test]
    fn what_is_no_size() {
        for text in
            ["", "K", "-1", "1X", "1KX", "1.2.3", "ten", "99999999999P", "1.xM", "18446744073709551615K"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
