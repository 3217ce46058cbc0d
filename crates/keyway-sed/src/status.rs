//! Status codes of methods.

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
    /// The code on the wire, and the specification's name.
    const fn row(self) -> (u8, &'static str) {
        match self {
            Self::Success => (0x00, "SUCCESS"),
            Self::NotAuthorized => (0x01, "NOT_AUTHORIZED"),
            Self::SpBusy => (0x03, "SP_BUSY"),
            Self::SpFailed => (0x04, "SP_FAILED"),
            Self::SpDisabled => (0x05, "SP_DISABLED"),
            Self::SpFrozen => (0x06, "SP_FROZEN"),
            Self::NoSessionsAvailable => (0x07, "NO_SESSIONS_AVAILABLE"),
            Self::UniquenessConflict => (0x08, "UNIQUENESS_CONFLICT"),
            Self::InsufficientSpace => (0x09, "INSUFFICIENT_SPACE"),
            Self::InsufficientRows => (0x0a, "INSUFFICIENT_ROWS"),
            Self::InvalidParameter => (0x0c, "INVALID_PARAMETER"),
            Self::TPerMalfunction => (0x0f, "TPER_MALFUNCTION"),
            Self::TransactionFailure => (0x10, "TRANSACTION_FAILURE"),
            Self::ResponseOverflow => (0x11, "RESPONSE_OVERFLOW"),
            Self::AuthorityLockedOut => (0x12, "AUTHORITY_LOCKED_OUT"),
            Self::Fail => (0x3f, "FAIL"),
            Self::Other(code) => (code, "an undefined status"),
        }
    }

    /// From the wire.
    pub fn from_code(code: u8) -> Self {
        use Status as S;
        let defined = [
            S::Success,
            S::NotAuthorized,
            S::SpBusy,
            S::SpFailed,
            S::SpDisabled,
            S::SpFrozen,
            S::NoSessionsAvailable,
            S::UniquenessConflict,
            S::InsufficientSpace,
            S::InsufficientRows,
            S::InvalidParameter,
            S::TPerMalfunction,
            S::TransactionFailure,
            S::ResponseOverflow,
            S::AuthorityLockedOut,
            S::Fail,
        ];
        defined.into_iter().find(|status| status.code() == code).unwrap_or(Self::Other(code))
    }

    /// As on the wire.
    pub const fn code(self) -> u8 {
        self.row().0
    }

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        self.row().1
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
        let defined = (0..=u8::MAX).filter(|code| !matches!(Status::from_code(*code), Status::Other(_)));
        assert_eq!(defined.count(), 16);
    }
}
