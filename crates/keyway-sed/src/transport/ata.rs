//! ATA TRUSTED SEND and RECEIVE, wrapped in SCSI's ATA PASS-THROUGH for the kernel's SG interface and
//! for bridges that translate (SAT-3, ATA PASS-THROUGH; ACS-3, TRUSTED SEND and TRUSTED RECEIVE).

/// ATA PASS-THROUGH (16).
const PASS_THROUGH_16: u8 = 0x85;
/// ATA PASS-THROUGH (12).
const PASS_THROUGH_12: u8 = 0xA1;
/// Protocol field: PIO Data-In.
const PIO_IN: u8 = 4 << 1;
/// Protocol field: PIO Data-Out.
const PIO_OUT: u8 = 5 << 1;
/// BYT_BLOK: the length counts blocks of 512 bytes. T_LENGTH 2: it is in the count field.
const BLOCKS_IN_COUNT: u8 = 1 << 2 | 2;
/// T_DIR: from the device.
const FROM_DEVICE: u8 = 1 << 3;
/// IDENTIFY DEVICE.
const IDENTIFY: u8 = 0xEC;
/// TRUSTED RECEIVE.
const TRUSTED_RECEIVE: u8 = 0x5C;
/// TRUSTED SEND.
const TRUSTED_SEND: u8 = 0x5E;
/// Bytes of a block.
const BLOCK: usize = 512;

/// Most bytes of one transfer: the pass-through's length is the count field alone, which ACS gives
/// eight bits (zero would be none).
pub const MAX_TRANSFER: usize = 255 * BLOCK;

/// A command's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Whether data come from the device.
    pub from_device: bool,
    /// Features.
    pub features: u8,
    /// Count: the transfer's length in blocks.
    pub count: u8,
    /// LBA, bits 7:0, 15:8 and 23:16.
    pub lba: [u8; 3],
    /// The command.
    pub command: u8,
}

/// Which form of the pass-through a bridge takes. Some know only the shorter, which others take for
/// MMC's BLANK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// ATA PASS-THROUGH (16).
    Sixteen,
    /// ATA PASS-THROUGH (12).
    Twelve,
}

/// IDENTIFY DEVICE.
pub const fn identify() -> Registers {
    Registers { from_device: true, features: 0, count: 1, lba: [0; 3], command: IDENTIFY }
}

/// TRUSTED RECEIVE of `len` bytes, a multiple of 512 up to [`MAX_TRANSFER`]; `None` otherwise.
pub(crate) fn trusted_receive(protocol: u8, specific: u16, len: usize) -> Option<Registers> {
    trusted(TRUSTED_RECEIVE, true, protocol, specific, len)
}

/// TRUSTED SEND of `len` bytes, a multiple of 512 up to [`MAX_TRANSFER`]; `None` otherwise.
pub(crate) fn trusted_send(protocol: u8, specific: u16, len: usize) -> Option<Registers> {
    trusted(TRUSTED_SEND, false, protocol, specific, len)
}

/// Security protocol in the features; length in the count and LBA 7:0; what is the protocol's own in
/// LBA 23:8.
fn trusted(command: u8, from_device: bool, protocol: u8, specific: u16, len: usize) -> Option<Registers> {
    if len == 0 || len > MAX_TRANSFER || !len.is_multiple_of(BLOCK) {
        return None;
    }
    let count = u8::try_from(len / BLOCK).ok()?;
    let [high, low] = specific.to_be_bytes();
    Some(Registers { from_device, features: protocol, count, lba: [0, low, high], command })
}

impl Registers {
    /// The SCSI command that carries it.
    pub fn cdb(&self, form: Form) -> Vec<u8> {
        let [low, mid, high] = self.lba;
        let (protocol, direction) = if self.from_device { (PIO_IN, FROM_DEVICE) } else { (PIO_OUT, 0) };
        let flags = direction | BLOCKS_IN_COUNT;
        let (features, count, command) = (self.features, self.count, self.command);
        match form {
            Form::Sixteen => {
                vec![
                    PASS_THROUGH_16,
                    protocol,
                    flags,
                    0,
                    features,
                    0,
                    count,
                    0,
                    low,
                    0,
                    mid,
                    0,
                    high,
                    0,
                    command,
                    0,
                ]
            }
            Form::Twelve => {
                vec![PASS_THROUGH_12, protocol, flags, features, count, low, mid, high, 0, command, 0, 0]
            }
        }
    }
}

/// Whether IDENTIFY DEVICE data say that trusted commands are there (ACS-3, word 48: bits 15:14 are
/// 01, bit 0 is the feature set).
pub(crate) fn has_trusted(identify: &[u8]) -> bool {
    identify.get(96..98).is_some_and(|word| word[1] & 0xC0 == 0x40 && word[0] & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_byte_commands() {
        let receive = trusted_receive(0x01, 0x07FE, 2048).expect("four blocks");
        let expected = [0x85, 0x08, 0x0E, 0, 0x01, 0, 4, 0, 0, 0, 0xFE, 0, 0x07, 0, 0x5C, 0];
        assert_eq!(receive.cdb(Form::Sixteen), expected);
        let send = trusted_send(0x02, 0x1234, 512).expect("one block");
        let expected = [0x85, 0x0A, 0x06, 0, 0x02, 0, 1, 0, 0, 0, 0x34, 0, 0x12, 0, 0x5E, 0];
        assert_eq!(send.cdb(Form::Sixteen), expected);
    }

    #[test]
    fn twelve_byte_commands() {
        let receive = trusted_receive(0x01, 0x0001, 512).expect("one block");
        assert_eq!(receive.cdb(Form::Twelve), [0xA1, 0x08, 0x0E, 0x01, 1, 0, 0x01, 0, 0, 0x5C, 0, 0]);
        let send = trusted_send(0x01, 0x07FE, 1024).expect("two blocks");
        assert_eq!(send.cdb(Form::Twelve), [0xA1, 0x0A, 0x06, 0x01, 2, 0, 0xFE, 0x07, 0, 0x5E, 0, 0]);
        assert_eq!(identify().cdb(Form::Twelve), [0xA1, 0x08, 0x0E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0]);
    }

    #[test]
    fn lengths_that_do_not_fit() {
        for len in [0, 1, 511, 513, 256 * 512, usize::MAX] {
            assert_eq!(trusted_send(1, 1, len), None, "{len}");
        }
        assert!(trusted_receive(1, 1, MAX_TRANSFER).is_some());
    }

    #[test]
    fn the_feature_sets_word() {
        let mut page = [0u8; 512];
        assert!(!has_trusted(&page));
        page[97] = 0x40;
        page[96] = 0x01;
        assert!(has_trusted(&page));
        page[97] = 0xC0;
        assert!(!has_trusted(&page), "an invalid word says nothing");
        assert!(!has_trusted(&[]));
    }
}
