//! Bytes as published vectors write them.

/// The bytes of hexadecimal digits; what stands between the digits doesn't count.
///
/// # Panics
/// When a digit is left over.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    let (pairs, rest) = digits.as_chunks::<2>();
    assert!(rest.is_empty(), "half a byte in {text:?}");
    pairs.iter().map(|[high, low]| high << 4 | low).collect()
}

/// Bytes as lower-case hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
