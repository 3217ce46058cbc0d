//! What the disk says of itself: INQUIRY, mode pages, capacity, which commands there are.

use super::cdb::{Opcodes, Values, action};
use super::opcode as op;
use super::sense::Sense;
use crate::Namespace;
use crate::vhost_user::virtio_device::PIECE;

/// Ranges that one UNMAP can name.
pub(super) const UNMAP_RANGES: usize = 256;

/// The revision of this program, as a disk's firmware tells its own.
pub(super) fn firmware() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Text in a field of so many characters.
fn field(text: &str, characters: usize) -> impl Iterator<Item = u8> {
    text.bytes().chain(std::iter::repeat(b' ')).take(characters).collect::<Vec<_>>().into_iter()
}

/// Vendor and product.
fn names(disk: &dyn Namespace) -> (&str, &str) {
    disk.model().split_once(' ').unwrap_or(("Keyway", disk.model()))
}

/// Standard INQUIRY data (SPC-4, section 6.6.2): a direct access device of SPC-4, which takes commands side by side.
/// Without a disk: that there is none under this number.
pub(super) fn inquiry(disk: Option<&dyn Namespace>) -> Vec<u8> {
    let Some(disk) = disk else {
        let mut nothing = vec![0; 36];
        nothing.splice(..5, [0x7F, 0, 6, 2, 31]);
        return nothing;
    };
    let (vendor, product) = names(disk);
    let mut data = vec![0, 0, 6, 0x12, 91, 0, 0, 2];
    data.extend(field(vendor, 8).chain(field(product, 16)).chain(field(firmware(), 4)));
    data.resize(96, 0);
    data
}

/// A page of vital product data (SPC-4, section 7.8; SBC-3, section 6.5).
pub(super) fn vital(disk: &dyn Namespace, page: u8) -> Result<Vec<u8>, Sense> {
    let serial = disk.serial();
    let content = match page {
        0x00 => vec![0x00, 0x80, 0x83, 0xB0, 0xB1, 0xB2],
        0x80 => serial.into_bytes(),
        // One designator, in ASCII: the vendor, and what it calls this one.
        0x83 => {
            let (vendor, product) = names(disk);
            let name: Vec<u8> =
                field(vendor, 8).chain(field(product, 16)).chain(serial.bytes()).take(252).collect();
            [vec![2, 1, 0, name.len() as u8], name].concat()
        }
        // Block limits.
        0xB0 => {
            let mut limits = vec![0; 60];
            let most = (PIECE as u64 / u64::from(disk.block_bytes().max(1))) as u32;
            let mut put = |at: usize, value: u32| {
                limits.splice(at - 4..at, value.to_be_bytes());
            };
            put(8, most);
            put(12, most);
            if !disk.is_read_only() {
                put(20, u32::MAX);
                put(24, UNMAP_RANGES as u32);
                put(28, 1);
            }
            limits
        }
        // Solid state.
        0xB1 => [vec![0, 1], vec![0; 58]].concat(),
        // UNMAP is there; what blocks read as after it is not told. Not thin.
        0xB2 => vec![0, if disk.is_read_only() { 0 } else { 0x80 }, 0, 0],
        _ => return Err(Sense::FIELD),
    };
    let [high, low] = (content.len() as u16).to_be_bytes();
    Ok([vec![0, page, high, low], content].concat())
}

/// READ CAPACITY (10): the last block's number, as far as it fits, and a block's bytes.
pub(super) fn capacity_10(disk: &dyn Namespace) -> Vec<u8> {
    let last = u32::try_from(disk.blocks().saturating_sub(1)).unwrap_or(u32::MAX);
    [last.to_be_bytes(), disk.block_bytes().to_be_bytes()].concat()
}

/// READ CAPACITY (16): also that UNMAP is there.
pub(super) fn capacity_16(disk: &dyn Namespace) -> Vec<u8> {
    let mut data = disk.blocks().saturating_sub(1).to_be_bytes().to_vec();
    data.extend(disk.block_bytes().to_be_bytes());
    data.extend([0, 0, if disk.is_read_only() { 0 } else { 0x80 }]);
    data.resize(32, 0);
    data
}

/// MODE SENSE (SPC-4, sections 6.13 and 7.5): caching and control.
pub(super) fn mode(
    disk: &dyn Namespace,
    ten: bool,
    page: u8,
    values: Values,
    descriptor: bool,
) -> Result<Vec<u8>, Sense> {
    const CACHING: u8 = 0x08;
    const CONTROL: u8 = 0x0A;
    const ALL: u8 = 0x3F;
    if !matches!(page, CACHING | CONTROL | ALL) {
        return Err(Sense::FIELD);
    }
    let mut pages = Vec::new();
    let mut put = |code: u8, content: &[u8]| {
        if page == code || page == ALL {
            pages.extend([code, content.len() as u8]);
            // None of it can be changed.
            pages.extend(content.iter().map(|b| if values == Values::Current { *b } else { 0 }));
        }
    };
    // A write cache, which is on.
    put(CACHING, &[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    put(CONTROL, &[0; 10]);
    let mut blocks = Vec::new();
    if descriptor {
        blocks.extend(u32::try_from(disk.blocks()).unwrap_or(u32::MAX).to_be_bytes());
        // The upper byte is a block's bytes' first, which is 0 in every disk.
        blocks.extend(disk.block_bytes().to_be_bytes());
    }
    // Write protection; FUA is there.
    let specific = if disk.is_read_only() { 0x90 } else { 0x10 };
    let after = blocks.len() + pages.len();
    let head = if ten {
        let [high, low] = (after as u16 + 6).to_be_bytes();
        vec![high, low, 0, specific, 0, 0, 0, blocks.len() as u8]
    } else {
        vec![after as u8 + 3, 0, specific, blocks.len() as u8]
    };
    Ok([head, blocks, pages].concat())
}

/// REPORT LUNS: there is one.
pub(super) fn units() -> Vec<u8> {
    [[0, 0, 0, 8, 0, 0, 0, 0], [0; 8]].concat()
}

/// A command that there is: its service action, if it has one, and its bytes, in which bits are set that mean
/// something.
pub(super) struct Supported {
    pub(super) opcode: u8,
    pub(super) action: Option<u8>,
    usage: &'static [u8],
}

const fn command(usage: &'static [u8]) -> Supported {
    let [opcode, ..] = usage else { return Supported { opcode: 0, action: None, usage } };
    Supported { opcode: *opcode, action: None, usage }
}

const fn serviced(action: u8, usage: &'static [u8]) -> Supported {
    Supported { action: Some(action), ..command(usage) }
}

/// A command with a block's address of 64 bits and a length of 32.
const fn wide(opcode: u8, flags: u8) -> [u8; 16] {
    let mut usage = [0xFF; 16];
    [usage[0], usage[1], usage[14], usage[15]] = [opcode, flags, 0, 0];
    usage
}

const READ_16: [u8; 16] = wide(op::READ_16, 0x18);
const WRITE_16: [u8; 16] = wide(op::WRITE_16, 0x18);
const SYNCHRONIZE_CACHE_16: [u8; 16] = wide(op::SYNCHRONIZE_CACHE_16, 0);

/// All that there are.
pub(super) const SUPPORTED: &[Supported] = &[
    command(&[op::TEST_UNIT_READY, 0, 0, 0, 0, 0]),
    command(&[op::REQUEST_SENSE, 0, 0, 0, 0xFF, 0]),
    command(&[op::INQUIRY, 1, 0xFF, 0xFF, 0xFF, 0]),
    command(&[op::MODE_SENSE_6, 8, 0xFF, 0xFF, 0xFF, 0]),
    command(&[op::START_STOP_UNIT, 1, 0, 0, 0x05, 0]),
    command(&[op::READ_CAPACITY_10, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    command(&[op::READ_10, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0]),
    command(&[op::WRITE_10, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0]),
    command(&[op::SYNCHRONIZE_CACHE_10, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0]),
    command(&[op::UNMAP, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0]),
    command(&[op::MODE_SENSE_10, 8, 0xFF, 0xFF, 0, 0, 0, 0xFF, 0xFF, 0]),
    command(&[op::ATA_PASS_THROUGH_16, 0x1E, 0x3F, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0]),
    command(&READ_16),
    command(&WRITE_16),
    command(&SYNCHRONIZE_CACHE_16),
    serviced(
        action::READ_CAPACITY_16,
        &[op::SERVICE_ACTION_IN_16, 0x1F, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0],
    ),
    command(&[op::REPORT_LUNS, 0, 0xFF, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]),
    command(&[op::ATA_PASS_THROUGH_12, 0x1E, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0, 0]),
    command(&[op::SECURITY_PROTOCOL_IN, 0xFF, 0xFF, 0xFF, 0x80, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]),
    serviced(
        action::REPORT_OPCODES,
        &[op::MAINTENANCE_IN, 0x1F, 0x87, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0],
    ),
    command(&[op::SECURITY_PROTOCOL_OUT, 0xFF, 0xFF, 0xFF, 0x80, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0]),
];

/// Whether the disk has that command: some are of drives that encrypt themselves, and one says what need not be kept,
/// which a disk that is only read has nothing to do with. Writes to such a one are known, and answered with why not.
pub(super) fn has(disk: &dyn Namespace, opcode: u8) -> bool {
    match opcode {
        op::SECURITY_PROTOCOL_IN
        | op::SECURITY_PROTOCOL_OUT
        | op::ATA_PASS_THROUGH_12
        | op::ATA_PASS_THROUGH_16 => disk.has_security(),
        op::UNMAP => !disk.is_read_only(),
        _ => true,
    }
}

/// REPORT SUPPORTED OPERATION CODES (SPC-4, section 6.35).
pub(super) fn opcodes(disk: &dyn Namespace, what: Opcodes, timeouts: bool) -> Result<Vec<u8>, Sense> {
    // A descriptor of timeouts that tells none.
    const NO_TIMEOUTS: [u8; 12] = [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut there = SUPPORTED.iter().filter(|s| has(disk, s.opcode));
    let (options, opcode, wanted) = match what {
        Opcodes::All => {
            let mut list = Vec::new();
            for s in there {
                let flags = u8::from(s.action.is_some()) | if timeouts { 2 } else { 0 };
                list.extend([s.opcode, 0, 0, s.action.unwrap_or(0), 0, flags, 0, s.usage.len() as u8]);
                list.extend(NO_TIMEOUTS.iter().take(if timeouts { 12 } else { 0 }));
            }
            return Ok([(list.len() as u32).to_be_bytes().to_vec(), list].concat());
        }
        Opcodes::One { options, opcode, action } => (options, opcode, action),
    };
    let has_actions = SUPPORTED.iter().any(|s| s.opcode == opcode && s.action.is_some());
    let known = SUPPORTED.iter().any(|s| s.opcode == opcode);
    // Who asks for a service action where there are none, or for none where there are, is mistaken.
    if known && (options == 1 && has_actions || options == 2 && !has_actions) {
        return Err(Sense::FIELD);
    }
    let found = there.find(|s| s.opcode == opcode && s.action.is_none_or(|a| u16::from(a) == wanted));
    Ok(match found {
        // 3: as the standard has it. 1: not there.
        Some(s) => {
            let with_timeouts = if timeouts { 0x80 } else { 0 };
            let head = vec![0, 3 | with_timeouts, 0, s.usage.len() as u8];
            let tail = NO_TIMEOUTS.iter().take(if timeouts { 12 } else { 0 }).copied().collect();
            [head, s.usage.to_vec(), tail].concat()
        }
        None => vec![0, 1, 0, 0],
    })
}
