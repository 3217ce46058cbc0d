//! What can go wrong between a host and a drive, sorted by whose fault it is.

use crate::password::PasswordError;
use crate::transport::TransportError;
use crate::{CodecError, Status, Uid};
use keyway_error::enum_table;
use std::time::Duration;

/// Why the drive did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The command did not get through.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The drive answered, and says no.
    #[error("the drive answered {} to {}", .0.status, .0.operation.words())]
    Refused(Refused),
    /// The drive does not keep to the protocol.
    #[error("the drive does not keep to the protocol: {0}")]
    Misbehaved(Misbehaved),
    /// The drive lacks it.
    #[error("the drive has no {0}")]
    Unsupported(&'static str),
    /// A reset of everything, which the drive takes only where its owner has allowed it.
    #[error(
        "the drive does not let a program reset its whole security side (TPER_RESET): its owner has not allowed that"
    )]
    ResetNotAllowed,
    /// The secret can't be used.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// What was asked for can't be.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Whoever watched wanted it to stop.
    #[error("it was stopped")]
    Stopped,
}

/// Why what was asked for can't be: the drive was not told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// A range that begins or ends inside a block.
    #[error("start and length must be whole blocks")]
    PartBlocks,
    /// A range that does not keep to the drive's alignment.
    #[error("start and length must keep to the drive's alignment")]
    Unaligned,
    /// A range that was told to lock, and whose locking is not enabled.
    #[error("this range can't be locked yet")]
    NeverLocks,
    /// A range that was never placed: it takes every word, and there is nothing that it could lock.
    #[error("range {0} has no place on the drive yet")]
    NoPlace(u16),
    /// The DataStore ends before that.
    #[error("the DataStore ends before that")]
    PastDataStore,
    /// More than the MBR shadow has room for.
    #[error("the image is larger than the MBR shadow")]
    LargerThanShadow,
    /// A request that is larger than the drive takes.
    #[error("the request is larger than the drive takes")]
    LargeRequest,
}

impl From<CodecError> for HostError {
    fn from(error: CodecError) -> Self {
        Self::Misbehaved(Misbehaved::Bytes(error))
    }
}

impl HostError {
    /// The status of the drive's refusal, if it is one.
    pub const fn status(&self) -> Option<Status> {
        if let Self::Refused(refused) = self { Some(refused.status) } else { None }
    }
}

/// A refusal: what was asked, and as whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// What was asked.
    pub operation: Operation,
    /// The authority that the session was started with, or tried to be.
    pub authority: Option<Uid>,
    /// The drive's answer.
    pub status: Status,
}

enum_table! {
    /// What a drive was asked to do: what its refusal means depends on it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Operation {
        /// Exchange properties.
        Properties("the exchange of properties"),
        /// Start a session, or prove an authority in one: where wrong secrets show.
        Authenticate("the attempt to authenticate"),
        /// Read.
        Get("the attempt to read a setting"),
        /// Write.
        Set("the attempt to change a setting"),
        /// Change a range's place.
        SetRange("the attempt to set up a range"),
        /// Make a new media key.
        GenKey("the request for a new media key"),
        /// Activate the Locking SP.
        Activate("the activation of locking"),
        /// Activate it anew, with other ranges that are users' alone.
        Reactivate("the request to give ranges to users"),
        /// Take the drive back to its factory state.
        Revert("the request to revert the drive"),
        /// Take the Locking SP back to its factory state.
        RevertSp("the request to revert locking"),
        /// Erase in single user mode.
        Erase("the request to erase a range"),
        /// Anything else.
        Other("the request"),
    }
    /// In words.
    pub words: &'static str,
}

/// What no drive should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaved {
    /// Bytes that are no packet or message.
    #[error("{0}")]
    Bytes(CodecError),
    /// It does not come to an end.
    #[error("it had no answer ready after {} seconds", .0.as_secs_f32())]
    Stalled(Duration),
    /// It announces an answer larger than any that could be due.
    #[error("it announces an answer of {0} bytes")]
    TooMuch(u32),
    /// It answers for somebody else.
    #[error("it answers for another session or channel")]
    OtherSession,
    /// It ends a session by itself.
    #[error("it ended the session by itself")]
    Closed,
    /// An answer of another form.
    #[error("its answer to {0} has another form than it must")]
    Form(&'static str),
    /// It offers no channel.
    #[error("it offers no channel for commands")]
    NoComId,
}
