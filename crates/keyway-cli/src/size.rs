//! Sizes and speeds as words of the command line.

use keyway_store::size::{self, SizeError};

/// Parses a size in bytes, and says what one looks like.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    size::parse(text).map_err(|error| match error {
        SizeError::TooLarge => format!("{text:?} is too large"),
        _ => format!("{text:?} is not a size: write a number with K, M, G or T, such as 512M or 10G"),
    })
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
#[path = "../tests/inner/size.rs"]
mod tests;
