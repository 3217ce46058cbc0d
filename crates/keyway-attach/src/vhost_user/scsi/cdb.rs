//! SCSI commands, parsed once: what is behind this is one that there is, with its numbers.

use super::ata::Task;
use super::opcode::{self, CDB_BYTES};
use super::sense::Sense;

/// Service actions.
pub(super) mod action {
    /// READ CAPACITY (16), of SERVICE ACTION IN (16).
    pub(crate) const READ_CAPACITY_16: u8 = 0x10;
    /// REPORT SUPPORTED OPERATION CODES, of MAINTENANCE IN.
    pub(crate) const REPORT_OPCODES: u8 = 0x0C;
}

/// Which of a mode page's values are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// What holds; it is what holds by default, too.
    Current,
    /// What could be changed.
    Changeable,
}

/// What of the operation codes is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcodes {
    /// All of them.
    All,
    /// One, that has no service action (1), has one (2), or either (3).
    One { options: u8, opcode: u8, action: u16 },
}

/// Blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) lba: u64,
    pub(super) blocks: u32,
}

/// A command. `room` is how many bytes of an answer the host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    TestUnitReady,
    RequestSense {
        room: usize,
    },
    Inquiry {
        page: Option<u8>,
        room: usize,
    },
    ModeSense {
        ten: bool,
        page: u8,
        values: Values,
        descriptor: bool,
        room: usize,
    },
    /// Whether it shall run; and whether what was written is put on the medium before it stops.
    StartStop {
        start: bool,
        flush: bool,
    },
    ReadCapacity10,
    ReadCapacity16 {
        room: usize,
    },
    ReportLuns {
        room: usize,
    },
    Opcodes {
        what: Opcodes,
        timeouts: bool,
        room: usize,
    },
    Read(Extent),
    Write {
        at: Extent,
        through: bool,
    },
    Flush,
    Unmap {
        bytes: usize,
    },
    SecurityIn {
        protocol: u8,
        specific: u16,
        room: usize,
        whole_blocks: bool,
    },
    SecurityOut {
        protocol: u8,
        specific: u16,
        bytes: usize,
    },
    Ata(Task),
}

fn be16(cdb: &[u8; CDB_BYTES], at: usize) -> u16 {
    cdb.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_be_bytes)
}

fn be32(cdb: &[u8; CDB_BYTES], at: usize) -> u32 {
    cdb.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes)
}

fn be64(cdb: &[u8; CDB_BYTES], at: usize) -> u64 {
    cdb.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_be_bytes)
}

impl Command {
    /// Reads a command; what we do not know, or what asks for what there is not, is refused.
    pub(super) fn parse(cdb: &[u8; CDB_BYTES]) -> Result<Self, Sense> {
        let [code, flags, page, ..] = *cdb;
        let room32 = |at| be32(cdb, at) as usize;
        Ok(match code {
            opcode::TEST_UNIT_READY => Self::TestUnitReady,
            opcode::REQUEST_SENSE => Self::RequestSense { room: cdb[4].into() },
            opcode::INQUIRY => match (flags & 3, page) {
                (0, 0) => Self::Inquiry { page: None, room: be16(cdb, 3).into() },
                (1, page) => Self::Inquiry { page: Some(page), room: be16(cdb, 3).into() },
                _ => return Err(Sense::FIELD),
            },
            opcode::MODE_SENSE_6 | opcode::MODE_SENSE_10 => {
                let ten = code == opcode::MODE_SENSE_10;
                let values = match page >> 6 {
                    0 | 2 => Values::Current,
                    1 => Values::Changeable,
                    _ => return Err(Sense::SAVED),
                };
                // No page here has a subpage; 0xff asks for all.
                if !matches!(cdb[3], 0 | 0xFF) {
                    return Err(Sense::FIELD);
                }
                let room = if ten { be16(cdb, 7).into() } else { cdb[4].into() };
                Self::ModeSense { ten, page: page & 0x3F, values, descriptor: flags & 8 == 0, room }
            }
            // Power conditions (bits 7 to 4), and a medium to load or eject (bit 1), are of disks that have them.
            opcode::START_STOP_UNIT if cdb[4] & 0xF2 != 0 => return Err(Sense::FIELD),
            opcode::START_STOP_UNIT => Self::StartStop { start: cdb[4] & 1 != 0, flush: cdb[4] & 4 == 0 },
            opcode::READ_CAPACITY_10 => Self::ReadCapacity10,
            opcode::READ_10 => Self::Read(Self::ten(cdb)),
            opcode::WRITE_10 => Self::Write { at: Self::ten(cdb), through: flags & 8 != 0 },
            opcode::READ_16 => Self::Read(Self::sixteen(cdb)),
            opcode::WRITE_16 => Self::Write { at: Self::sixteen(cdb), through: flags & 8 != 0 },
            // All of it, whichever part was named.
            opcode::SYNCHRONIZE_CACHE_10 | opcode::SYNCHRONIZE_CACHE_16 => Self::Flush,
            // ANCHOR is about what is provisioned here in no such way.
            opcode::UNMAP if flags & 1 != 0 => return Err(Sense::FIELD),
            opcode::UNMAP => Self::Unmap { bytes: be16(cdb, 7).into() },
            opcode::SERVICE_ACTION_IN_16 if flags & 0x1F == action::READ_CAPACITY_16 => {
                Self::ReadCapacity16 { room: room32(10) }
            }
            opcode::MAINTENANCE_IN if flags & 0x1F == action::REPORT_OPCODES => {
                let what = match page & 7 {
                    0 => Opcodes::All,
                    options @ 1..=3 => Opcodes::One { options, opcode: cdb[3], action: be16(cdb, 4) },
                    _ => return Err(Sense::FIELD),
                };
                Self::Opcodes { what, timeouts: page & 0x80 != 0, room: room32(6) }
            }
            opcode::SERVICE_ACTION_IN_16 | opcode::MAINTENANCE_IN => return Err(Sense::FIELD),
            // 0 and 2 ask for what hosts see; 1 asks for well-known units, of which there is none.
            opcode::REPORT_LUNS if matches!(page, 0..=2) => Self::ReportLuns { room: room32(6) },
            opcode::REPORT_LUNS => return Err(Sense::FIELD),
            opcode::SECURITY_PROTOCOL_IN | opcode::SECURITY_PROTOCOL_OUT => {
                // INC_512: the length counts blocks of 512 bytes.
                let whole_blocks = cdb[4] & 0x80 != 0;
                let unit = if whole_blocks { 512 } else { 1 };
                let len = room32(6).checked_mul(unit).ok_or(Sense::FIELD)?;
                let (protocol, specific) = (flags, be16(cdb, 2));
                if code == opcode::SECURITY_PROTOCOL_IN {
                    Self::SecurityIn { protocol, specific, room: len, whole_blocks }
                } else {
                    Self::SecurityOut { protocol, specific, bytes: len }
                }
            }
            opcode::ATA_PASS_THROUGH_12 | opcode::ATA_PASS_THROUGH_16 => Self::Ata(Task::parse(cdb)?),
            _ => return Err(Sense::OPCODE),
        })
    }

    /// Whether it needs the medium, which does not run in a disk that was stopped (SBC-3, section 5.25).
    pub(super) const fn needs_medium(&self) -> bool {
        matches!(
            self,
            Self::TestUnitReady | Self::Read(_) | Self::Write { .. } | Self::Flush | Self::Unmap { .. }
        )
    }

    /// Whether it is carried out though the host has not been told yet of what happened to the disk (SAM-5, unit
    /// attention conditions); REQUEST SENSE tells it.
    pub(super) const fn ignores_attention(code: u8) -> bool {
        matches!(code, opcode::INQUIRY | opcode::REPORT_LUNS | opcode::REQUEST_SENSE)
    }

    fn ten(cdb: &[u8; CDB_BYTES]) -> Extent {
        Extent { lba: be32(cdb, 2).into(), blocks: be16(cdb, 7).into() }
    }

    fn sixteen(cdb: &[u8; CDB_BYTES]) -> Extent {
        Extent { lba: be64(cdb, 2), blocks: be32(cdb, 10) }
    }
}

#[cfg(test)]
pub(super) fn padded(bytes: &[u8]) -> [u8; CDB_BYTES] {
    let mut cdb = [0; CDB_BYTES];
    cdb[..bytes.len()].copy_from_slice(bytes);
    cdb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Command, Sense> {
        Command::parse(&padded(bytes))
    }

    #[test]
    fn commands_are_read_as_the_standard_has_them() {
        let at = Extent { lba: 0x0102_0304, blocks: 0x0506 };
        assert_eq!(parse(&[0x28, 0, 1, 2, 3, 4, 0, 5, 6, 0]), Ok(Command::Read(at)));
        assert_eq!(parse(&[0x2A, 8, 1, 2, 3, 4, 0, 5, 6, 0]), Ok(Command::Write { at, through: true }));
        let at = Extent { lba: 0x0102_0304_0506_0708, blocks: 0x090A_0B0C };
        assert_eq!(parse(&[0x88, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0]), Ok(Command::Read(at)));
        // As the kernel's sd sends it, and in blocks of 512 bytes.
        let out = Command::SecurityOut { protocol: 1, specific: 0x07FE, bytes: 2048 };
        assert_eq!(parse(&[0xB5, 1, 0x07, 0xFE, 0, 0, 0, 0, 8, 0, 0, 0]), Ok(out));
        let room = Command::SecurityIn { protocol: 1, specific: 1, room: 2048, whole_blocks: true };
        assert_eq!(parse(&[0xA2, 1, 0, 1, 0x80, 0, 0, 0, 0, 4, 0, 0]), Ok(room));
        assert_eq!(parse(&[0x12, 1, 0x80, 1, 0, 0]), Ok(Command::Inquiry { page: Some(0x80), room: 256 }));
    }

    #[test]
    fn what_there_is_not_is_refused() {
        assert_eq!(parse(&[0xFF]), Err(Sense::OPCODE));
        assert_eq!(parse(&[0x12, 0, 0x80, 0, 255]), Err(Sense::FIELD));
        assert_eq!(parse(&[0x1A, 0, 0xC8, 0, 255]), Err(Sense::SAVED));
        assert_eq!(parse(&[0x9E, 0x12]), Err(Sense::FIELD));
        assert_eq!(parse(&[0x42, 1, 0, 0, 0, 0, 0, 0, 24]), Err(Sense::FIELD));
    }
}
