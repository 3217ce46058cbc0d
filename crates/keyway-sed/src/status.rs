//! Method status codes, in words.

use std::fmt;

/// The first integer of a status list (Core 2.01, 5.1.5, table 166).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// 0x00: it worked.
    Success,
    /// 0x01: no authority of this session may do that, or the PIN was wrong.
    NotAuthorized,
    /// 0x03: the SP has a session that excludes this one.
    SpBusy,
    /// 0x04: the SP failed.
    SpFailed,
    /// 0x05: the SP is disabled.
    SpDisabled,
    /// 0x06: the SP is frozen.
    SpFrozen,
    /// 0x07: no more sessions.
    NoSessionsAvailable,
    /// 0x08: there is one like it.
    UniquenessConflict,
    /// 0x09: no room.
    InsufficientSpace,
    /// 0x0a: no rows left.
    InsufficientRows,
    /// 0x0c: a parameter is not what it must be.
    InvalidParameter,
    /// 0x0f: the TPer is broken.
    TPerMalfunction,
    /// 0x10: the transaction could not be completed.
    TransactionFailure,
    /// 0x11: the answer does not fit.
    ResponseOverflow,
    /// 0x12: too many wrong PINs.
    AuthorityLockedOut,
    /// 0x3f: it did not work, for a reason without a code.
    Fail,
    /// A code that is not defined.
    Other(u8),
}

impl Status {
    /// From the wire.
    pub const fn from_code(code: u8) -> Self {
        match code {
            0x00 => Self::Success,
            0x01 => Self::NotAuthorized,
            0x03 => Self::SpBusy,
            0x04 => Self::SpFailed,
            0x05 => Self::SpDisabled,
            0x06 => Self::SpFrozen,
            0x07 => Self::NoSessionsAvailable,
            0x08 => Self::UniquenessConflict,
            0x09 => Self::InsufficientSpace,
            0x0a => Self::InsufficientRows,
            0x0c => Self::InvalidParameter,
            0x0f => Self::TPerMalfunction,
            0x10 => Self::TransactionFailure,
            0x11 => Self::ResponseOverflow,
            0x12 => Self::AuthorityLockedOut,
            0x3f => Self::Fail,
            other => Self::Other(other),
        }
    }

    /// As on the wire.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0x00,
            Self::NotAuthorized => 0x01,
            Self::SpBusy => 0x03,
            Self::SpFailed => 0x04,
            Self::SpDisabled => 0x05,
            Self::SpFrozen => 0x06,
            Self::NoSessionsAvailable => 0x07,
            Self::UniquenessConflict => 0x08,
            Self::InsufficientSpace => 0x09,
            Self::InsufficientRows => 0x0a,
            Self::InvalidParameter => 0x0c,
            Self::TPerMalfunction => 0x0f,
            Self::TransactionFailure => 0x10,
            Self::ResponseOverflow => 0x11,
            Self::AuthorityLockedOut => 0x12,
            Self::Fail => 0x3f,
            Self::Other(code) => code,
        }
    }

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::NotAuthorized => "NOT_AUTHORIZED",
            Self::SpBusy => "SP_BUSY",
            Self::SpFailed => "SP_FAILED",
            Self::SpDisabled => "SP_DISABLED",
            Self::SpFrozen => "SP_FROZEN",
            Self::NoSessionsAvailable => "NO_SESSIONS_AVAILABLE",
            Self::UniquenessConflict => "UNIQUENESS_CONFLICT",
            Self::InsufficientSpace => "INSUFFICIENT_SPACE",
            Self::InsufficientRows => "INSUFFICIENT_ROWS",
            Self::InvalidParameter => "INVALID_PARAMETER",
            Self::TPerMalfunction => "TPER_MALFUNCTION",
            Self::TransactionFailure => "TRANSACTION_FAILURE",
            Self::ResponseOverflow => "RESPONSE_OVERFLOW",
            Self::AuthorityLockedOut => "AUTHORITY_LOCKED_OUT",
            Self::Fail => "FAIL",
            Self::Other(_) => "an undefined status",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#04x})", self.name(), self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back() {
        for code in 0..=u8::MAX {
            assert_eq!(Status::from_code(code).code(), code);
        }
    }
}
