//! How a command fails: sense data (SPC-4, section 4.5).

/// Bytes of sense data that are ever sent.
pub(super) const MOST: usize = 22;

/// What became of an ATA command: the registers that SAT reports (SAT-3, section 12.2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AtaEnd {
    /// Whether the device took it.
    pub(super) done: bool,
}

/// Sense data: key, code and qualifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sense {
    key: u8,
    code: [u8; 2],
    ata: Option<AtaEnd>,
}

impl Sense {
    const fn new(key: u8, code: u8, qualifier: u8) -> Self {
        Self { key, code: [code, qualifier], ata: None }
    }

    /// NO SENSE: nothing is wrong.
    pub(super) const NONE: Self = Self::new(0, 0, 0);
    /// INVALID COMMAND OPERATION CODE.
    pub(super) const OPCODE: Self = Self::new(5, 0x20, 0);
    /// INVALID FIELD IN CDB.
    pub(super) const FIELD: Self = Self::new(5, 0x24, 0);
    /// INVALID FIELD IN PARAMETER LIST.
    pub(super) const PARAMETER: Self = Self::new(5, 0x26, 0);
    /// PARAMETER LIST LENGTH ERROR.
    pub(super) const LENGTH: Self = Self::new(5, 0x1A, 0);
    /// SAVING PARAMETERS NOT SUPPORTED.
    pub(super) const SAVED: Self = Self::new(5, 0x39, 0);
    /// LOGICAL BLOCK ADDRESS OUT OF RANGE.
    pub(super) const RANGE: Self = Self::new(5, 0x21, 0);
    /// LOGICAL UNIT NOT SUPPORTED.
    pub(super) const UNIT: Self = Self::new(5, 0x25, 0);
    /// COMMAND SEQUENCE ERROR.
    pub(super) const SEQUENCE: Self = Self::new(5, 0x2C, 0);
    /// DATA PROTECT, ACCESS DENIED - NO ACCESS RIGHTS: the blocks are locked.
    pub(super) const LOCKED: Self = Self::new(7, 0x20, 2);
    /// DATA PROTECT, WRITE PROTECTED.
    pub(super) const READ_ONLY: Self = Self::new(7, 0x27, 0);
    /// NOT READY, LOGICAL UNIT NOT READY, INITIALIZING COMMAND REQUIRED: it was stopped, and waits for being started.
    pub(super) const STOPPED: Self = Self::new(2, 0x04, 2);
    /// UNIT ATTENTION, BUS DEVICE RESET FUNCTION OCCURRED.
    pub(super) const RESET: Self = Self::new(6, 0x29, 3);
    /// MEDIUM ERROR, UNRECOVERED READ ERROR.
    pub(super) const READ_FAILED: Self = Self::new(3, 0x11, 0);
    /// MEDIUM ERROR, WRITE ERROR.
    pub(super) const WRITE_FAILED: Self = Self::new(3, 0x0C, 0);
    /// HARDWARE ERROR, INTERNAL TARGET FAILURE.
    pub(super) const INTERNAL: Self = Self::new(4, 0x44, 0);
    /// RECOVERED ERROR, ATA PASS THROUGH INFORMATION AVAILABLE: it went well, and the host wanted to know how.
    pub(super) const ATA_DONE: Self = Self { ata: Some(AtaEnd { done: true }), ..Self::new(1, 0, 0x1D) };
    /// ABORTED COMMAND: the ATA device did not take it.
    pub(super) const ATA_ABORTED: Self = Self { ata: Some(AtaEnd { done: false }), ..Self::new(0x0B, 0, 0) };

    /// The sense data: of the fixed format, or of the other one where that is needed to report ATA's registers.
    pub(super) fn bytes(self) -> Vec<u8> {
        let [code, qualifier] = self.code;
        let Some(AtaEnd { done }) = self.ata else {
            return vec![0x70, 0, self.key, 0, 0, 0, 0, 10, 0, 0, 0, 0, code, qualifier, 0, 0, 0, 0];
        };
        // Status: device ready, seek complete; and where it failed, that (ACS-3, 6.2). Error: ABORT.
        let (error, status) = if done { (0, 0x50) } else { (0x04, 0x51) };
        let mut bytes = vec![0x72, self.key, code, qualifier, 0, 0, 0, 14];
        bytes.extend([0x09, 0x0C, 0, error, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, status]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_is_said_as_the_standard_has_it() {
        let bytes = Sense::LOCKED.bytes();
        assert_eq!((bytes[0], bytes[2], bytes[12], bytes[13], bytes.len()), (0x70, 7, 0x20, 2, 18));
        let ata = Sense::ATA_ABORTED.bytes();
        assert_eq!((ata[0], ata[1], ata[8], ata[11], ata[21], ata.len()), (0x72, 11, 9, 4, 0x51, MOST));
    }
}
