//! What goes over protocol 2, and over reserved ComIDs: resets, and commands that need no session.
//!
//! Core 2.01, 3.3.4.3 ("ComID Management"): a request is the ComID, its extension and a code; the
//! answer repeats them and adds two reserved bytes, a length and so many bytes.

use crate::CodecError;
use crate::packet::Fields;

/// The security protocol of ComPackets and of Level 0 discovery (SPC-4, table 265).
pub const PROTOCOL_TCG: u8 = 0x01;
/// The security protocol of ComID management and resets.
pub const PROTOCOL_COMID: u8 = 0x02;
/// The ComID of Level 0 discovery (Core 2.01, 3.3.6).
pub const DISCOVERY: u16 = 0x0001;
/// The ComID of TPER_RESET, sent over protocol 2 (Opal SSC 2.01, 3.2.3).
pub const TPER_RESET: u16 = 0x0004;
/// The ComID of Block SID Authentication, sent over protocol 2 (Block SID Authentication 1.00, 3.2).
pub const BLOCK_SID: u16 = 0x0005;
/// Over protocol 2, ComID 0 asks for a ComID (Core 2.01, 3.3.4.3.1).
pub const GET_COMID: u16 = 0x0000;

/// What is asked of a ComID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Is it valid? (Code 1.)
    Verify,
    /// Forget everything that is going on at it. (Code 2.)
    StackReset,
    /// A code that is not defined.
    Other(u32),
}

/// What a ComID is, by the answer to [`Request::Verify`] (Core 2.01, 3.3.4.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComIdState {
    /// No such ComID.
    Invalid,
    /// Known, given to nobody.
    Inactive,
    /// Given to a host.
    Issued,
    /// Has a session.
    Associated,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// Nothing was asked, or it is not done yet.
    Pending,
    /// What the ComID is.
    State(ComIdState),
    /// Whether the reset worked.
    Reset(bool),
}

impl Request {
    /// The code on the wire.
    pub const fn code(self) -> u32 {
        match self {
            Self::Verify => 1,
            Self::StackReset => 2,
            Self::Other(code) => code,
        }
    }

    /// Writes the request.
    pub fn write(self, com_id: u16, extension: u16) -> [u8; 8] {
        let [a, b] = com_id.to_be_bytes();
        let [c, d] = extension.to_be_bytes();
        let [e, f, g, h] = self.code().to_be_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Reads a request: ComID, extension, what is asked.
    pub fn parse(bytes: &[u8]) -> Result<(u16, u16, Self), CodecError> {
        let mut from = Fields { rest: bytes, what: "a ComID request" };
        let (com_id, extension) = (from.u16()?, from.u16()?);
        let request = match from.u32()? {
            1 => Self::Verify,
            2 => Self::StackReset,
            other => Self::Other(other),
        };
        Ok((com_id, extension, request))
    }
}

impl Response {
    /// Writes the answer to `request`.
    pub fn write(self, com_id: u16, extension: u16, request: Request) -> Vec<u8> {
        let mut bytes = request.write(com_id, extension).to_vec();
        match self {
            Self::Pending => bytes.extend_from_slice(&[0; 4]),
            Self::State(state) => {
                // Four bytes of state and three times of ten bytes, which drives without a clock leave at zero.
                bytes.extend_from_slice(&[0, 0, 0, 0x22]);
                let state: u32 = match state {
                    ComIdState::Invalid => 0,
                    ComIdState::Inactive => 1,
                    ComIdState::Issued => 2,
                    ComIdState::Associated => 3,
                };
                bytes.extend_from_slice(&state.to_be_bytes());
                bytes.extend_from_slice(&[0; 30]);
            }
            Self::Reset(worked) => {
                bytes.extend_from_slice(&[0, 0, 0, 4]);
                bytes.extend_from_slice(&u32::from(!worked).to_be_bytes());
            }
        }
        bytes
    }

    /// Reads an answer: ComID, extension, what it says.
    ///
    /// # Errors
    /// Too short, or values that are not defined.
    pub fn parse(bytes: &[u8]) -> Result<(u16, u16, Self), CodecError> {
        let mut from = Fields { rest: bytes, what: "a ComID answer" };
        let (com_id, extension) = (from.u16()?, from.u16()?);
        let code = from.u32()?;
        from.u16()?;
        let available = from.u16()?;
        if available == 0 {
            return Ok((com_id, extension, Self::Pending));
        }
        let value = from.u32()?;
        let unknown = |what| CodecError::Value { what, value: value.into() };
        let response = match (code, value) {
            (1, 0) => Self::State(ComIdState::Invalid),
            (1, 1) => Self::State(ComIdState::Inactive),
            (1, 2) => Self::State(ComIdState::Issued),
            (1, 3) => Self::State(ComIdState::Associated),
            (1, _) => return Err(unknown("a ComID's state")),
            (2, 0) => Self::Reset(true),
            (2, 1) => Self::Reset(false),
            (2, _) => return Err(unknown("a reset's result")),
            _ => return Err(CodecError::Value { what: "a ComID request", value: code.into() }),
        };
        Ok((com_id, extension, response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back() {
        let cases = [
            (Request::Verify, Response::State(ComIdState::Associated)),
            (Request::StackReset, Response::Reset(true)),
            (Request::StackReset, Response::Reset(false)),
            (Request::StackReset, Response::Pending),
        ];
        for (request, response) in cases {
            let bytes = response.write(0x1000, 7, request);
            assert_eq!(Response::parse(&bytes), Ok((0x1000, 7, response)));
            assert!(Response::parse(bytes.get(..11).unwrap_or_default()).is_err());
        }
        assert_eq!(Request::parse(&Request::StackReset.write(9, 0)), Ok((9, 0, Request::StackReset)));
    }
}
