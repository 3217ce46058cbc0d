//! Sizes as workloads write them: `512`, `4KiB`, `1MiB`, `107GB`.

use keyway_store::size;

/// Parses a size in bytes: `KiB`, `MiB`, `GiB`, `TiB` are powers of 1024 and so are `K`, `M`, `G`,
/// `T`; `kB`, `MB`, `GB`, `TB` are powers of 1000.
///
/// # Errors
/// One sentence that says what a size looks like.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size; write one such as 4KiB, 1MiB, 5GB");
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (_, unit) = text.split_at(digits);
    // A workload's file is read by more than this program: whole numbers, and units in one spelling.
    match unit.trim() {
        "" | "B" | "K" | "KiB" | "M" | "MiB" | "G" | "GiB" | "T" | "TiB" | "kB" | "KB" | "MB" | "GB"
        | "TB" => size::parse(text).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// The short form in a cell's name: `512`, `4K`, `1M`.
pub(crate) fn short_bytes(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    match units.iter().find(|(shift, _)| bytes >> shift > 0 && bytes.trailing_zeros() >= *shift) {
        Some((shift, letter)) => format!("{}{letter}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("512"), Ok(512));
        assert_eq!(parse_bytes("4KiB"), Ok(4096));
        assert_eq!(parse_bytes("64M"), Ok(64 << 20));
        assert_eq!(parse_bytes("5GB"), Ok(5_000_000_000));
        for wrong in ["", "KiB", "4 KiBs", "-1", "1.5GiB", "99999999999T"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn short_forms() {
        assert_eq!([512, 4096, 1 << 20, 1536, 3 << 30].map(short_bytes), ["512", "4K", "1M", "1536", "3G"]);
    }
}
