//! Commands and completions (NVM Express Base Specification 1.4, 4.2 and 4.6).

/// A submission queue entry.
#[derive(Clone)]
pub(super) struct Command {
    bytes: [u8; 64],
}

/// Opcodes: admin commands (Base 1.4, figure 139), NVM commands (figure 346), and the fabrics' one.
pub(super) mod opcode {
    pub(in crate::nvme_tcp) const GET_LOG_PAGE: u8 = 0x02;
    pub(in crate::nvme_tcp) const IDENTIFY: u8 = 0x06;
    pub(in crate::nvme_tcp) const ABORT: u8 = 0x08;
    pub(in crate::nvme_tcp) const SET_FEATURES: u8 = 0x09;
    pub(in crate::nvme_tcp) const GET_FEATURES: u8 = 0x0a;
    pub(in crate::nvme_tcp) const ASYNC_EVENT: u8 = 0x0c;
    pub(in crate::nvme_tcp) const KEEP_ALIVE: u8 = 0x18;
    pub(in crate::nvme_tcp) const SECURITY_SEND: u8 = 0x81;
    pub(in crate::nvme_tcp) const SECURITY_RECEIVE: u8 = 0x82;
    pub(in crate::nvme_tcp) const FABRICS: u8 = 0x7f;
    pub(in crate::nvme_tcp) const FLUSH: u8 = 0x00;
    pub(in crate::nvme_tcp) const WRITE: u8 = 0x01;
    pub(in crate::nvme_tcp) const READ: u8 = 0x02;
    pub(in crate::nvme_tcp) const DATASET_MANAGEMENT: u8 = 0x09;
}

/// Fabrics command types (NVMe over Fabrics 1.1, figure 15).
pub(super) mod fabrics {
    pub(in crate::nvme_tcp) const PROPERTY_SET: u8 = 0x00;
    pub(in crate::nvme_tcp) const CONNECT: u8 = 0x01;
    pub(in crate::nvme_tcp) const PROPERTY_GET: u8 = 0x04;
    pub(in crate::nvme_tcp) const AUTHENTICATION_SEND: u8 = 0x05;
    pub(in crate::nvme_tcp) const AUTHENTICATION_RECEIVE: u8 = 0x06;
}

/// Status codes: type in bits 8 to 10 (Base 1.4, figures 126 to 131; Fabrics 1.1, figure 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(u16);

impl Status {
    pub(super) const INVALID_OPCODE: Self = Self(0x001);
    pub(super) const INVALID_FIELD: Self = Self(0x002);
    pub(super) const INTERNAL: Self = Self(0x006);
    pub(super) const INVALID_NAMESPACE: Self = Self(0x00b);
    pub(super) const SEQUENCE: Self = Self(0x00c);
    pub(super) const SGL_LENGTH: Self = Self(0x00f);
    pub(super) const LBA_OUT_OF_RANGE: Self = Self(0x080);
    pub(super) const ASYNC_EVENT_LIMIT: Self = Self(0x105);
    pub(super) const INVALID_LOG_PAGE: Self = Self(0x109);
    pub(super) const CONNECT_BUSY: Self = Self(0x181);
    pub(super) const CONNECT_INVALID: Self = Self(0x182);
    pub(super) const AUTHENTICATION_REQUIRED: Self = Self(0x191);
    pub(super) const WRITE_PROTECTED: Self = Self(0x120);
    pub(super) const WRITE_FAULT: Self = Self(0x280);
    pub(super) const READ_ERROR: Self = Self(0x281);
    pub(super) const ACCESS_DENIED: Self = Self(0x286);

    /// As in a completion: nothing here gets better by being tried again.
    const fn field(self) -> u16 {
        const DO_NOT_RETRY: u16 = 0x4000;
        (self.0 | DO_NOT_RETRY) << 1
    }
}

impl Command {
    pub(super) const fn new(bytes: [u8; 64]) -> Self {
        Self { bytes }
    }

    pub(super) fn u8_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub(super) fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.u8_at(at), self.u8_at(at + 1)])
    }

    pub(super) fn u32_at(&self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }

    pub(super) fn u64_at(&self, at: usize) -> u64 {
        u64::from(self.u32_at(at)) | u64::from(self.u32_at(at + 4)) << 32
    }

    pub(super) fn opcode(&self) -> u8 {
        self.u8_at(0)
    }

    pub(super) fn cid(&self) -> u16 {
        self.u16_at(2)
    }

    pub(super) fn namespace(&self) -> u32 {
        self.u32_at(4)
    }

    /// The fabrics command type, which stands in place of the namespace.
    pub(super) fn fabrics_type(&self) -> u8 {
        self.u8_at(4)
    }

    /// Command dword `n`, 10 to 15.
    pub(super) fn dword(&self, n: usize) -> u32 {
        self.u32_at(4 * n)
    }

    /// Length of the data that the SGL describes, in bytes.
    pub(super) fn data_len(&self) -> usize {
        self.u32_at(32) as usize
    }

    /// Whether the data is in the capsule: a data block descriptor with an offset (type 0, subtype 1).
    pub(super) fn in_capsule(&self) -> bool {
        self.u8_at(39) == 0x01
    }

    /// Whether the command carries data from the host: opcode bits 0 and 1 are 01 (Base 1.4, 4.2), the
    /// fabrics' commands say it in their type.
    pub(super) fn takes_data(&self) -> bool {
        let code = if self.opcode() == opcode::FABRICS { self.fabrics_type() } else { self.opcode() };
        code & 0x03 == 0x01
    }
}

/// A completion queue entry.
pub(super) fn completion(
    result: u64,
    head: u16,
    queue: u16,
    cid: u16,
    status: Result<(), Status>,
) -> [u8; 16] {
    let mut entry = [0; 16];
    let status = status.err().map_or(0, Status::field);
    let fields: [&[u8]; 5] = [
        &result.to_le_bytes(),
        &head.to_le_bytes(),
        &queue.to_le_bytes(),
        &cid.to_le_bytes(),
        &status.to_le_bytes(),
    ];
    entry.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
    entry
}
