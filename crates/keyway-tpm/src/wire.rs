//! Structures as the TPM writes them: big-endian numbers and byte strings with their length first.

use crate::error::BadResponse;

/// A command's bytes while they are put together.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// A `TPM2B`: sixteen bits of length, then the bytes. Whoever calls keeps them below 64 KiB;
    /// what is longer goes out cut, and the TPM refuses it.
    pub(crate) fn sized(self, bytes: &[u8]) -> Self {
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.u16(length).bytes(bytes.get(..usize::from(length)).unwrap_or(bytes))
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// An answer's bytes while they are read: never past the end, nothing left over.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], BadResponse> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(BadResponse::TooShort)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadResponse> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(BadResponse::TooShort)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, BadResponse> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, BadResponse> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, BadResponse> {
        self.array().map(u32::from_be_bytes)
    }

    /// A `TPM2B` of at most `limit` bytes.
    pub(crate) fn sized(&mut self, limit: usize) -> Result<&'a [u8], BadResponse> {
        let length = usize::from(self.u16()?);
        if length > limit {
            return Err(BadResponse::TooLong { length, limit });
        }
        self.take(length)
    }

    /// Everything that has not been read yet.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    /// That nothing is left.
    pub(crate) fn end(self) -> Result<(), BadResponse> {
        if self.0.is_empty() { Ok(()) } else { Err(BadResponse::LeftOver { bytes: self.0.len() }) }
    }
}
