//! ATA commands as a bridge passes them through (SAT-3, section 12.2): who the drive is, and TRUSTED SEND and RECEIVE.

use super::opcode::{self, CDB_BYTES};
use super::sense::Sense;
use crate::Namespace;

/// Bytes of a block of an ATA transfer.
const BLOCK: usize = 512;

/// ATA commands (ACS-3, table 205).
mod command {
    pub(super) const TRUSTED_RECEIVE: u8 = 0x5C;
    pub(super) const TRUSTED_RECEIVE_DMA: u8 = 0x5D;
    pub(super) const TRUSTED_SEND: u8 = 0x5E;
    pub(super) const TRUSTED_SEND_DMA: u8 = 0x5F;
    pub(super) const IDENTIFY_DEVICE: u8 = 0xEC;
}

/// How the pass-through says that data go (its protocol field).
mod way {
    pub(super) const PIO_IN: u8 = 4;
    pub(super) const PIO_OUT: u8 = 5;
    pub(super) const DMA: u8 = 6;
    pub(super) const UDMA_IN: u8 = 10;
    pub(super) const UDMA_OUT: u8 = 11;
}

/// What an ATA command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// IDENTIFY DEVICE.
    Identify,
    /// TRUSTED RECEIVE of so many bytes.
    Receive { protocol: u8, specific: u16, bytes: usize },
    /// TRUSTED SEND of so many bytes.
    Send { protocol: u8, specific: u16, bytes: usize },
    /// What the drive does not know: it aborts it.
    Unknown,
}

/// An ATA command, and whether the host wants its registers afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) act: Act,
    pub(super) check: bool,
}

impl Task {
    /// From ATA PASS-THROUGH (12) or (16). One that says of its transfer other things than the ATA command does is
    /// refused.
    pub(super) fn parse(cdb: &[u8; CDB_BYTES]) -> Result<Self, Sense> {
        let (features, count, [low, mid, high], code) = match cdb[0] {
            opcode::ATA_PASS_THROUGH_16 => (cdb[4], cdb[6], [cdb[8], cdb[10], cdb[12]], cdb[14]),
            _ => (cdb[3], cdb[4], [cdb[5], cdb[6], cdb[7]], cdb[9]),
        };
        let (way, flags) = (cdb[1] >> 1 & 0xF, cdb[2]);
        let (check, from_device) = (flags & 0x20 != 0, flags & 8 != 0);
        let (specific, blocks) = (u16::from_be_bytes([high, mid]), u16::from_be_bytes([low, count]));
        let bytes = usize::from(blocks) * BLOCK;
        let act = match code {
            command::IDENTIFY_DEVICE => Act::Identify,
            command::TRUSTED_RECEIVE | command::TRUSTED_RECEIVE_DMA => {
                Act::Receive { protocol: features, specific, bytes }
            }
            command::TRUSTED_SEND | command::TRUSTED_SEND_DMA => {
                Act::Send { protocol: features, specific, bytes }
            }
            _ => return Ok(Self { act: Act::Unknown, check }),
        };
        let is_in = !matches!(act, Act::Send { .. });
        let fits = match way {
            way::PIO_IN | way::UDMA_IN => is_in,
            way::PIO_OUT | way::UDMA_OUT => !is_in,
            way::DMA => true,
            _ => false,
        };
        if !fits || is_in != from_device {
            return Err(Sense::FIELD);
        }
        // T_LENGTH, BYT_BLOK and T_TYPE: where the length is and what it counts.
        let length = match flags & 3 {
            1 => Some(features.into()),
            2 => Some(usize::from(count)),
            // The host adapter knows it.
            3 => None,
            _ => return Err(Sense::FIELD),
        };
        let unit = match (flags & 4 != 0, flags & 0x10 != 0) {
            (true, false) => BLOCK,
            (false, _) => 1,
            // In blocks of the medium: no host says so of these commands.
            (true, true) => return Err(Sense::FIELD),
        };
        let moves = if act == Act::Identify { BLOCK } else { bytes };
        if length.is_some_and(|length| length * unit != moves) {
            return Err(Sense::FIELD);
        }
        Ok(Self { act, check })
    }
}

/// IDENTIFY DEVICE data (ACS-3, section 7.12): a drive of solid state with 48-bit addresses, and with trusted commands
/// where it has security commands.
pub(super) fn identify(disk: &dyn Namespace, firmware: &str) -> [u8; BLOCK] {
    let mut words = [0u16; BLOCK / 2];
    let mut put = |at: usize, values: &[u16]| {
        words.iter_mut().skip(at).zip(values).for_each(|(word, value)| *word = *value);
    };
    let text = |text: &str, characters: usize| -> Vec<u16> {
        let padded: Vec<u8> = text.bytes().chain(std::iter::repeat(b' ')).take(characters).collect();
        // The first character of a word is in its upper half.
        padded.as_chunks().0.iter().map(|pair| u16::from_be_bytes(*pair)).collect()
    };
    let block = disk.block_bytes();
    let sectors = disk.blocks();
    let low = u32::try_from(sectors).unwrap_or(u32::MAX).min(0x0FFF_FFFF);
    put(0, &[0x0040]);
    put(10, &text(&disk.serial(), 20));
    put(23, &text(firmware, 8));
    put(27, &text(disk.model(), 40));
    // Word 48 says whether trusted commands are there; its bit 14 is always set.
    put(48, &[0x4000 | u16::from(disk.has_security()), 0x0F00, 0x4000]);
    put(53, &[0x0006]);
    put(60, &[low as u16, (low >> 16) as u16]);
    // Multiword DMA 0 to 2; PIO 3 and 4; ACS-3; Ultra DMA 0 to 6.
    put(63, &[0x0007, 0x0003]);
    put(80, &[0x07F0]);
    // FLUSH CACHE and its EXT, 48-bit addresses, a write cache: there, and on.
    put(82, &[0x0020, 0x7400, 0x4000, 0x0020, 0x3400, 0x4000, 0x007F]);
    put(100, &[sectors as u16, (sectors >> 16) as u16, (sectors >> 32) as u16, (sectors >> 48) as u16]);
    if block > 512 {
        let in_words = block / 2;
        put(106, &[0x5000]);
        put(117, &[in_words as u16, (in_words >> 16) as u16]);
    }
    // Solid state.
    put(217, &[1]);
    let mut page = [0; BLOCK];
    for (bytes, word) in page.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    // Its own check: all bytes together are 0.
    page[510] = 0xA5;
    let sum = page.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    page[511] = sum.wrapping_neg();
    page
}

#[cfg(test)]
mod tests {
    use super::super::cdb::padded;
    use super::*;

    #[test]
    fn pass_through_is_read_in_both_forms() {
        // As the host's side of self-encrypting drives sends them.
        let sixteen = [0x85, 0x08, 0x0E, 0, 0x01, 0, 4, 0, 0, 0, 0xFE, 0, 0x07, 0, 0x5C, 0];
        let act = Act::Receive { protocol: 1, specific: 0x07FE, bytes: 2048 };
        assert_eq!(Task::parse(&padded(&sixteen)), Ok(Task { act, check: false }));
        let twelve = [0xA1, 0x0A, 0x06, 0x01, 2, 0, 0xFE, 0x07, 0, 0x5E, 0, 0];
        let act = Act::Send { protocol: 1, specific: 0x07FE, bytes: 1024 };
        assert_eq!(Task::parse(&padded(&twelve)), Ok(Task { act, check: false }));
        let identify = [0xA1, 0x08, 0x2E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0];
        assert_eq!(Task::parse(&padded(&identify)), Ok(Task { act: Act::Identify, check: true }));
        let smart = [0xA1, 0x08, 0x0E, 0xD0, 1, 0, 0x4F, 0xC2, 0, 0xB0, 0, 0];
        assert_eq!(Task::parse(&padded(&smart)), Ok(Task { act: Act::Unknown, check: false }));
    }

    #[test]
    fn transfers_that_contradict_the_command_are_refused() {
        for wrong in [
            // Out, and the command is in; a count of 2 and one block; no data at all; blocks of the medium.
            [0xA1, 0x0A, 0x06, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0],
            [0xA1, 0x08, 0x0E, 0, 2, 0, 0, 0, 0, 0xEC, 0, 0],
            [0xA1, 0x08, 0x0C, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0],
            [0xA1, 0x08, 0x1E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0],
            [0xA1, 0x06, 0x0E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0],
        ] {
            assert_eq!(Task::parse(&padded(&wrong)), Err(Sense::FIELD), "{wrong:02x?}");
        }
    }
}
