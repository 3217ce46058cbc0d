//! A namespace in memory, with a security protocol that echoes.

use keyway_attach::nvme_tcp::{Namespace, NamespaceError, SecurityRefusal};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const BLOCKS: u64 = 8192;
pub(crate) const LOCKED_FROM: u64 = 8000;

pub(crate) struct Memory {
    bytes: Mutex<Vec<u8>>,
    sent: Mutex<Vec<u8>>,
    pub(crate) flushes: AtomicU64,
    pub(crate) discarded: Mutex<Vec<(u64, u64)>>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Mutex::new(vec![0; BLOCKS as usize * 512]),
            sent: Mutex::default(),
            flushes: AtomicU64::new(0),
            discarded: Mutex::default(),
        }
    }

    fn range(lba: u64, len: usize) -> Result<std::ops::Range<usize>, NamespaceError> {
        let from = lba.checked_mul(512).ok_or(NamespaceError::OutOfRange)?;
        let end = from.checked_add(len as u64).ok_or(NamespaceError::OutOfRange)?;
        if end > BLOCKS * 512 {
            return Err(NamespaceError::OutOfRange);
        }
        if end > LOCKED_FROM * 512 {
            return Err(NamespaceError::AccessDenied);
        }
        Ok(from as usize..end as usize)
    }
}

impl Namespace for Memory {
    fn serial(&self) -> String {
        "SERIAL".into()
    }

    fn blocks(&self) -> u64 {
        BLOCKS
    }

    fn block_bytes(&self) -> u32 {
        512
    }

    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError> {
        buf.copy_from_slice(&self.bytes.lock().unwrap()[Self::range(lba, buf.len())?]);
        Ok(())
    }

    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError> {
        self.bytes.lock().unwrap()[Self::range(lba, bytes.len())?].copy_from_slice(bytes);
        Ok(())
    }

    fn flush(&self) -> Result<(), NamespaceError> {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError> {
        self.discarded.lock().unwrap().push((lba, blocks));
        Ok(())
    }

    fn has_security(&self) -> bool {
        true
    }

    fn security_send(&self, protocol: u8, com_id: u16, bytes: &[u8]) -> Result<(), SecurityRefusal> {
        if (protocol, com_id) != (1, 0x1234) {
            return Err(SecurityRefusal::Field);
        }
        *self.sent.lock().unwrap() = bytes.to_vec();
        Ok(())
    }

    fn security_receive(&self, protocol: u8, com_id: u16, len: usize) -> Result<Vec<u8>, SecurityRefusal> {
        if (protocol, com_id) != (1, 0x1234) {
            return Err(SecurityRefusal::Sequence);
        }
        let mut sent = self.sent.lock().unwrap().clone();
        sent.truncate(len);
        Ok(sent)
    }
}
