//! SCSI's own commands: SECURITY PROTOCOL IN and OUT, INQUIRY, and what sense data say (SPC-4,
//! sections 6.6, 6.39, 6.40 and 4.5).

/// SECURITY PROTOCOL IN.
const SECURITY_PROTOCOL_IN: u8 = 0xA2;
/// SECURITY PROTOCOL OUT.
const SECURITY_PROTOCOL_OUT: u8 = 0xB5;
/// INQUIRY.
const INQUIRY: u8 = 0x12;
/// The vital product data page with the unit's serial number.
pub(crate) const SERIAL_PAGE: u8 = 0x80;
/// Sense key: the command is not understood.
pub(crate) const ILLEGAL_REQUEST: u8 = 5;
/// Sense key: something happened to the device that it had to tell first; the command was not looked at.
pub(crate) const UNIT_ATTENTION: u8 = 6;

/// SECURITY PROTOCOL IN, its length in bytes (INC_512 is 0), as the kernel's own sd driver sends it.
pub(crate) fn security_in(protocol: u8, specific: u16, len: u32) -> [u8; 12] {
    security(SECURITY_PROTOCOL_IN, protocol, specific, len)
}

/// SECURITY PROTOCOL OUT, its length in bytes.
pub(crate) fn security_out(protocol: u8, specific: u16, len: u32) -> [u8; 12] {
    security(SECURITY_PROTOCOL_OUT, protocol, specific, len)
}

fn security(opcode: u8, protocol: u8, specific: u16, len: u32) -> [u8; 12] {
    let [s1, s0] = specific.to_be_bytes();
    let [l3, l2, l1, l0] = len.to_be_bytes();
    [opcode, protocol, s1, s0, 0, 0, l3, l2, l1, l0, 0, 0]
}

/// INQUIRY: the standard data, or a page of vital product data.
pub fn inquiry(page: Option<u8>, len: u8) -> [u8; 6] {
    [INQUIRY, u8::from(page.is_some()), page.unwrap_or(0), 0, len, 0]
}

/// What sense data say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sense {
    /// The sense key.
    pub key: u8,
    /// The additional sense code.
    pub asc: u8,
    /// Its qualifier.
    pub ascq: u8,
}

impl Sense {
    /// From sense data of either format; what is missing is zero.
    pub fn parse(sense: &[u8]) -> Self {
        let at = |i: usize| sense.get(i).copied().unwrap_or(0);
        match at(0) & 0x7F {
            0x72 | 0x73 => Self { key: at(1) & 0xF, asc: at(2), ascq: at(3) },
            0x70 | 0x71 => Self { key: at(2) & 0xF, asc: at(12), ascq: at(13) },
            _ => Self { key: 0, asc: 0, ascq: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_as_the_standard_has_them() {
        assert_eq!(security_in(0x01, 0x07FE, 2048), [0xA2, 1, 0x07, 0xFE, 0, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(security_out(0xEE, 0x0001, 0x0102_0304), [0xB5, 0xEE, 0, 1, 0, 0, 1, 2, 3, 4, 0, 0]);
        assert_eq!(inquiry(None, 96), [0x12, 0, 0, 0, 96, 0]);
        assert_eq!(inquiry(Some(SERIAL_PAGE), 255), [0x12, 1, 0x80, 0, 255, 0]);
    }

    #[test]
    fn sense_of_both_formats() {
        let fixed = [0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0x01, 0, 0, 0, 0];
        assert_eq!(Sense::parse(&fixed), Sense { key: 5, asc: 0x24, ascq: 1 });
        assert_eq!(Sense::parse(&[0x72, 5, 0x20, 0, 0, 0, 0, 0]), Sense { key: 5, asc: 0x20, ascq: 0 });
        assert_eq!(Sense::parse(&[0x70, 0]), Sense { key: 0, asc: 0, ascq: 0 });
        assert_eq!(Sense::parse(&[]), Sense { key: 0, asc: 0, ascq: 0 });
    }
}
