//! Refusals that come before a drive looks at the content.

/// A security command that the drive refuses before it looks at its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecurityError {
    /// Not 0, 1 or 2.
    #[error("security protocol {0:#04x} is not supported")]
    Protocol(u8),
    /// Nothing listens there.
    #[error("ComID {0:#06x} is not in use")]
    ComId(u16),
    /// More than the drive takes.
    #[error("a transfer of {0} bytes is longer than the drive takes")]
    TransferLength(usize),
    /// The answer to the command before was not fetched (synchronous protocol violation).
    #[error("the answer to the command before has not been fetched")]
    AnswerWaiting,
    /// TPER_RESET is not enabled, or Block SID finds the owner's PIN changed or blocked already.
    #[error("the drive does not do that in the state it is in")]
    NotNow,
    /// The medium failed.
    #[error("the drive has failed")]
    Failed,
}
