//! Status codes of methods.

use keyway_error::code_table;
use std::fmt;

code_table! {
    /// The first integer of a status list (Core 2.01, 5.1.5, table 166).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Status(u8) {
        /// 0x00: it worked.
        Success(0x00, "SUCCESS"),
        /// 0x01: no authority of this session may do that, or the PIN was wrong.
        NotAuthorized(0x01, "NOT_AUTHORIZED"),
        /// 0x03: the SP has a session that excludes this one.
        SpBusy(0x03, "SP_BUSY"),
        /// 0x04: the SP failed.
        SpFailed(0x04, "SP_FAILED"),
        /// 0x05: the SP is disabled.
        SpDisabled(0x05, "SP_DISABLED"),
        /// 0x06: the SP is frozen.
        SpFrozen(0x06, "SP_FROZEN"),
        /// 0x07: no more sessions.
        NoSessionsAvailable(0x07, "NO_SESSIONS_AVAILABLE"),
        /// 0x08: there is one like it.
        UniquenessConflict(0x08, "UNIQUENESS_CONFLICT"),
        /// 0x09: no room.
        InsufficientSpace(0x09, "INSUFFICIENT_SPACE"),
        /// 0x0a: no rows left.
        InsufficientRows(0x0a, "INSUFFICIENT_ROWS"),
        /// 0x0c: a parameter is not what it must be.
        InvalidParameter(0x0c, "INVALID_PARAMETER"),
        /// 0x0f: the TPer is broken.
        TPerMalfunction(0x0f, "TPER_MALFUNCTION"),
        /// 0x10: the transaction could not be completed.
        TransactionFailure(0x10, "TRANSACTION_FAILURE"),
        /// 0x11: the answer does not fit.
        ResponseOverflow(0x11, "RESPONSE_OVERFLOW"),
        /// 0x12: too many wrong PINs.
        AuthorityLockedOut(0x12, "AUTHORITY_LOCKED_OUT"),
        /// 0x3f: it did not work, for a reason without a code.
        Fail(0x3f, "FAIL");
        /// A code that is not defined.
        Other("an undefined status"),
    }
    /// The specification's name.
    pub name: &'static str,
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
