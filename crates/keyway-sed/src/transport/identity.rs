//! Which drive it is: model, serial number, firmware, as its own identification data say.

use crate::password::SERIAL_BYTES;
use std::fmt;

/// How a drive is connected, as far as its commands go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// NVMe, over PCIe or a network.
    Nvme,
    /// ATA, directly or behind a bridge that translates.
    Ata,
    /// SCSI.
    Scsi,
    /// A virtual drive in this process.
    Virtual,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nvme => "NVMe",
            Self::Ata => "ATA",
            Self::Scsi => "SCSI",
            Self::Virtual => "virtual",
        })
    }
}

/// Which drive it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// How it is connected.
    pub interface: Interface,
    /// The model, without the spaces around it.
    pub model: String,
    /// The serial number, without the spaces around it.
    pub serial: String,
    /// The firmware's revision, without the spaces around it.
    pub firmware: String,
    /// The serial number's field as it is: what password hashes are salted with.
    pub serial_field: [u8; SERIAL_BYTES],
}

impl Identity {
    /// From text; the serial number's field is padded with spaces.
    pub fn new(interface: Interface, model: &str, serial: &str, firmware: &str) -> Self {
        let mut field = [b' '; SERIAL_BYTES];
        field.iter_mut().zip(serial.bytes()).for_each(|(to, from)| *to = from);
        Self::of(interface, model.as_bytes(), &field, firmware.as_bytes())
    }

    /// From fields of an identification page.
    fn of(interface: Interface, model: &[u8], serial: &[u8; SERIAL_BYTES], firmware: &[u8]) -> Self {
        Self {
            interface,
            model: text(model),
            serial: text(serial),
            firmware: text(firmware),
            serial_field: *serial,
        }
    }

    /// From an NVMe controller's Identify data (NVMe base specification 2.0, figure 275: serial
    /// number in bytes 4 to 23, model to 63, firmware to 71).
    pub(crate) fn from_nvme(page: &[u8]) -> Option<Self> {
        let serial = page.get(4..24)?.try_into().ok()?;
        Some(Self::of(Interface::Nvme, page.get(24..64)?, serial, page.get(64..72)?))
    }

    /// From an ATA drive's IDENTIFY DEVICE data (ACS-3: serial number in words 10 to 19,
    /// firmware in 23 to 26, model in 27 to 46, the first character of a word in its upper half).
    pub(crate) fn from_ata(page: &[u8]) -> Option<Self> {
        let swapped = |words: std::ops::Range<usize>| -> Option<Vec<u8>> {
            let bytes = page.get(words.start.checked_mul(2)?..words.end.checked_mul(2)?)?;
            Some(bytes.chunks_exact(2).flat_map(|pair| pair.iter().rev().copied()).collect())
        };
        let serial: [u8; SERIAL_BYTES] = swapped(10..20)?.try_into().ok()?;
        Some(Self::of(Interface::Ata, &swapped(27..47)?, &serial, &swapped(23..27)?))
    }

    /// From a SCSI device's standard INQUIRY data (SPC-4, 6.6.2: vendor in bytes 8 to 15, product to
    /// 31, revision to 35) and its unit serial number page (7.8.15).
    pub(crate) fn from_scsi(inquiry: &[u8], serial_page: &[u8]) -> Option<Self> {
        let len = usize::from(u16::from_be_bytes([*serial_page.get(2)?, *serial_page.get(3)?]));
        let number = serial_page.get(4..)?;
        let number = number.get(..len.min(number.len())).unwrap_or_default();
        let mut field = [b' '; SERIAL_BYTES];
        field.iter_mut().zip(number).for_each(|(to, from)| *to = *from);
        let mut name = text(inquiry.get(8..16)?);
        name.push(' ');
        name.push_str(&text(inquiry.get(16..32)?));
        Some(Self::of(Interface::Scsi, name.as_bytes(), &field, inquiry.get(32..36)?))
    }
}

/// Printable characters, without spaces or zeros around them.
fn text(bytes: &[u8]) -> String {
    let text: String =
        bytes.iter().map(|&b| if (0x20..0x7f).contains(&b) { char::from(b) } else { ' ' }).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvme_fields() {
        let mut page = vec![0u8; 4096];
        page[4..24].copy_from_slice(b"S5GXNX0T123456      ");
        page[24..64].copy_from_slice(b"Samsung SSD 990 PRO 2TB                 ");
        page[64..72].copy_from_slice(b"4B2QJXD7");
        let id = Identity::from_nvme(&page).expect("long enough");
        assert_eq!(id.model, "Samsung SSD 990 PRO 2TB");
        assert_eq!(id.serial, "S5GXNX0T123456");
        assert_eq!(&id.serial_field, b"S5GXNX0T123456      ");
        assert_eq!(id.firmware, "4B2QJXD7");
        assert!(Identity::from_nvme(&page[..70]).is_none());
    }

    #[test]
    fn ata_fields_are_swapped() {
        let mut page = vec![0u8; 512];
        let mut put = |word: usize, text: &[u8]| {
            for (i, pair) in text.chunks(2).enumerate() {
                page[(word + i) * 2] = pair[1];
                page[(word + i) * 2 + 1] = pair[0];
            }
        };
        put(10, b"     WD-WX21A1234567");
        put(23, b"80.00A80");
        put(27, b"WDC WDS100T1R0A-68A4W0                  ");
        let id = Identity::from_ata(&page).expect("long enough");
        assert_eq!((id.serial.as_str(), id.firmware.as_str()), ("WD-WX21A1234567", "80.00A80"));
        assert_eq!(id.model, "WDC WDS100T1R0A-68A4W0");
        assert_eq!(&id.serial_field, b"     WD-WX21A1234567", "leading spaces are part of the salt");
    }

    #[test]
    fn scsi_fields() {
        let mut inquiry = vec![0u8; 96];
        inquiry[8..36].copy_from_slice(b"SEAGATE ST1200MM0027    0003");
        let id = Identity::from_scsi(&inquiry, b"\0\x80\0\x08S3L0ABCDjunk").expect("long enough");
        assert_eq!((id.model.as_str(), id.serial.as_str()), ("SEAGATE ST1200MM0027", "S3L0ABCD"));
        assert_eq!(id.firmware, "0003");
        let lying = Identity::from_scsi(&inquiry, b"\0\x80\xff\xffAB").expect("a length that lies");
        assert_eq!(lying.serial, "AB");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let id = Identity::new(Interface::Virtual, "a\x1b[2Jb", "s", "f");
        assert_eq!(id.model, "a [2Jb");
    }
}
