//! Operation codes of SCSI commands (SPC-4, table 14 and SBC-3, table 13).

/// Bytes of the field that virtio has for a command.
pub(super) const CDB_BYTES: usize = 32;

pub(super) const TEST_UNIT_READY: u8 = 0x00;
pub(super) const REQUEST_SENSE: u8 = 0x03;
pub(super) const INQUIRY: u8 = 0x12;
pub(super) const MODE_SENSE_6: u8 = 0x1A;
pub(super) const START_STOP_UNIT: u8 = 0x1B;
pub(super) const READ_CAPACITY_10: u8 = 0x25;
pub(super) const READ_10: u8 = 0x28;
pub(super) const WRITE_10: u8 = 0x2A;
pub(super) const SYNCHRONIZE_CACHE_10: u8 = 0x35;
pub(super) const UNMAP: u8 = 0x42;
pub(super) const MODE_SENSE_10: u8 = 0x5A;
pub(super) const ATA_PASS_THROUGH_16: u8 = 0x85;
pub(super) const READ_16: u8 = 0x88;
pub(super) const WRITE_16: u8 = 0x8A;
pub(super) const SYNCHRONIZE_CACHE_16: u8 = 0x91;
pub(super) const SERVICE_ACTION_IN_16: u8 = 0x9E;
pub(super) const REPORT_LUNS: u8 = 0xA0;
pub(super) const ATA_PASS_THROUGH_12: u8 = 0xA1;
pub(super) const SECURITY_PROTOCOL_IN: u8 = 0xA2;
pub(super) const MAINTENANCE_IN: u8 = 0xA3;
pub(super) const SECURITY_PROTOCOL_OUT: u8 = 0xB5;
