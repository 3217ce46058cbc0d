//! Sizes as people write and read them: `512`, `64K`, `1.5G`, `10GiB`, `10GB`.

/// Why a text is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SizeError {
    /// It has no number, or a unit that there isn't.
    #[error("that is not a size")]
    NotASize,
    /// More than 64 bits hold.
    #[error("that is too large")]
    TooLarge,
}

/// Parses a size in bytes. One letter and `…iB` are powers of 1024, `…B` powers of 1000, as in `dd`.
///
/// # Errors
/// It is no size, or more than 64 bits hold.
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let text_trimmed = text.trim();
    let split = text_trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_trimmed.len());
    let (number, unit) = text_trimmed.split_at(split);
    let unit = unit.trim().to_ascii_uppercase();
    let (letter, base) = match unit.as_bytes() {
        [] => (b' ', 1),
        [b'B'] => (b' ', 1),
        [letter] | [letter, b'I', b'B'] => (*letter, 1024),
        [letter, b'B'] => (*letter, 1000),
        _ => return Err(SizeError::NotASize),
    };
    let power = match letter {
        b' ' => 0,
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        _ => return Err(SizeError::NotASize),
    };
    let factor = u64::pow(base, power);
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    let whole: u64 = whole.parse().map_err(|_| SizeError::NotASize)?;
    let whole = whole.checked_mul(factor).ok_or(SizeError::TooLarge)?;
    if fraction.is_empty() {
        return Ok(whole);
    }
    // Nine digits after the point are more than any drive's size needs.
    let digits: u64 =
        fraction.get(..fraction.len().min(9)).and_then(|d| d.parse().ok()).ok_or(SizeError::NotASize)?;
    let scale = 10u128.pow(fraction.len().min(9) as u32);
    let part = (u128::from(digits) * u128::from(factor) / scale) as u64;
    whole.checked_add(part).ok_or(SizeError::TooLarge)
}

/// Bytes for people, in binary units.
pub fn words(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} bytes");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value.fract() > 0.049);
    format!("{value:.digits$} {}", UNITS.get(unit).unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_for_people() {
        assert_eq!(words(0), "0 bytes");
        assert_eq!(words(1023), "1023 bytes");
        assert_eq!(words(1024), "1 KiB");
        assert_eq!(words(1536), "1.5 KiB");
        assert_eq!(words(10 << 30), "10 GiB");
        assert_eq!(words(u64::MAX), "16 EiB");
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
