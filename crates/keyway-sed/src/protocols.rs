//! Security protocol 0: which security protocols a drive speaks (SPC-4, 7.7.1.3; ATA and NVMe take the same list).

/// The protocol of the question, and what is specific to it.
pub const LIST: (u8, u16) = (0x00, 0x0000);
/// IEEE 1667, "authentication in host attachments of storage devices": by it Windows drives an encrypted hard drive
/// (eDrive).
pub const IEEE_1667: u8 = 0xee;

/// Reads the answer; what is cut off is left out.
pub fn parse(bytes: &[u8]) -> Vec<u8> {
    let Some((head, list)) = bytes.split_first_chunk::<8>() else { return Vec::new() };
    let [.., high, low] = *head;
    let len = usize::from(u16::from_be_bytes([high, low]));
    list.get(..len).unwrap_or(list).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_far_as_they_are_there() {
        let edrive = [0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 2, 0xee, 9, 9];
        assert_eq!(parse(&edrive), [0, 1, 2, IEEE_1667]);
        assert_eq!(parse(&edrive[..10]), [0, 1]);
        assert_eq!(parse(&[0, 0, 0, 0, 0, 0, 0xff, 0xff, 1]), [1]);
        assert!(parse(&[0; 512]).is_empty());
        assert!(parse(&[0; 7]).is_empty());
    }
}
