//! Why a TPM did not do what it was asked, sorted by whose doing it is.

use crate::lockout::Lockout;
use crate::pcr::Pcrs;
use crate::response_code::ResponseCode;
use keyway_error::{Advice, Fault, Kind, Meaning, explain};
use std::io;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
pub enum TpmError {
    /// There is none at that address.
    #[error("there is no TPM at {address}: {source}")]
    NoTpm {
        /// Where it was looked for.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is there, and this user may not use it.
    #[error("the TPM at {address} may not be used: {source}")]
    NotPermitted {
        /// Where it is.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another program holds the device, which serves one at a time.
    #[error("the TPM at {address} is in use by another program")]
    Busy {
        /// Where it is.
        address: String,
    },
    /// The wire to the TPM broke.
    #[error("the TPM can't be reached any more: {0}")]
    Transport(#[source] io::Error),
    /// What came back is no answer of a TPM 2.0.
    #[error("the TPM's answer to {command} makes no sense: {fault}")]
    BadResponse {
        /// The command.
        command: &'static str,
        /// What is wrong with the answer.
        fault: BadResponse,
    },
    /// The answer does not carry the MAC of the session: somebody else wrote it, or changed it.
    #[error("the TPM's answer to {command} is not authentic")]
    NotAuthentic {
        /// The command.
        command: &'static str,
    },
    /// The TPM refused, for a reason that is none of the below.
    #[error("the TPM refused {command}: {code}")]
    Refused {
        /// The command.
        command: &'static str,
        /// Its reason.
        code: ResponseCode,
    },
    /// The registers have other values than those the secret was sealed to.
    #[error("the machine's start-up measurements changed (PCRs {pcrs}), so the TPM keeps the key")]
    MeasurementsChanged {
        /// The registers that count.
        pcrs: Pcrs,
    },
    /// The authorization value is wrong.
    #[error("the TPM does not accept this PIN")]
    WrongAuthorization {
        /// How often it may still be wrong, where the TPM says so.
        lockout: Option<Lockout>,
    },
    /// Too many wrong authorizations: the TPM accepts none for now, not even the right one.
    #[error("the TPM is locked after too many wrong PINs")]
    LockedOut {
        /// How long it lasts, where the TPM says so.
        lockout: Option<Lockout>,
    },
    /// Another TPM sealed it, or this one before it was cleared; or the object is damaged, which looks
    /// the same to every TPM.
    #[error("this TPM did not seal the key, or it has been cleared since, or the sealed key is damaged")]
    NotThisTpm,
    /// The storage root key or the owner hierarchy has a password of its own.
    #[error("the TPM's owner set a password for its storage keys, which this program can't give")]
    OwnerPassword,
    /// A sealed object or a request that this client can't handle.
    #[error("{0}")]
    Unfit(#[from] Unfit),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

explain! { TpmError {
    Self::NoTpm { .. } => [NoTpm Machine, EnableTpm],
    Self::NotPermitted { .. } => [NotPermitted Machine, JoinTss],
    Self::Busy { .. } => [Busy InUse, UseResourceManager],
    Self::BadResponse { fault: BadResponse::UnknownTag(_), .. } => [Tpm Medium, NeedTpm2],
    Self::Transport(_) | Self::BadResponse { .. } | Self::Refused { .. } => [Tpm Medium, Retry, LeaveOutTpm],
    Self::NotAuthentic { .. } => [Tpm Medium, SomebodyBetween],
    Self::MeasurementsChanged { .. } => [MeasurementsChanged Machine, StartSealedSystem],
    Self::WrongAuthorization { lockout } =>
        [WrongPin Secret, CheckPin, ..lockout.map(|lockout| Advice::TriesLeft { tries: lockout.tries_left() })],
    Self::LockedOut { lockout } => {
        let mut meaning = Meaning::new(Kind::TpmLocked, Fault::Machine);
        let seconds = lockout.map(|lockout| lockout.forgets_one_after.as_secs());
        meaning
            .advice
            .extend(seconds.filter(|s| *s > 0).map(|seconds| Advice::ForgetsOneEvery { seconds }));
        meaning.advise(Advice::UseRecoveryPassword)
    },
    Self::NotThisTpm => [OtherTpm Machine, UseRecoveryAndAddTpm],
    Self::OwnerPassword => [Tpm Machine, LeaveOutTpm],
    Self::Unfit(Unfit::NoSha256Bank(_)) => [Unsupported Machine, EnableSha256Bank],
    Self::Unfit(Unfit::SecretTooLong { .. } | Unfit::AuthorizationTooLong { .. }) => [Unsupported Machine, ReportWithDoctor],
    Self::Unfit(_) => [Unsupported Machine, UseRecoveryPassword],
    Self::Random(_) => [Tpm Ours, ReportWithDoctor],
} }

/// An answer that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadResponse {
    /// It ends in the middle of a field.
    #[error("it ends in the middle of a field")]
    TooShort,
    /// More follows after its last field.
    #[error("{bytes} bytes follow its end")]
    LeftOver {
        /// How many.
        bytes: usize,
    },
    /// A field is longer than it can be.
    #[error("a field of {length} bytes where {limit} are the most")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The longest it may be.
        limit: usize,
    },
    /// It says that it has another size than it has.
    #[error("it says to have {said} bytes and has {actual}")]
    WrongSize {
        /// Bytes according to its header.
        said: usize,
        /// Bytes received.
        actual: usize,
    },
    /// Its tag is unknown, as with a TPM 1.2.
    #[error("its tag is 0x{0:04x}")]
    UnknownTag(u16),
    /// It answers another question.
    #[error("it answers another question")]
    OffTopic,
    /// A key that is not of the kind that was asked for, or not on its curve.
    #[error("it contains a key of another kind than was asked for")]
    WrongKey,
}

/// What this client can't handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The public part of a sealed object can't be read.
    #[error("the sealed key's public part is damaged")]
    DamagedObject,
    /// It isn't a sealed object with SHA-256 names.
    #[error("the sealed key uses algorithms that this program does not know (only SHA-256 is known)")]
    UnknownAlgorithms,
    /// Its policy is not "these registers and the authorization value".
    #[error(
        "the sealed key is bound to conditions other than start-up measurements and a PIN, or is damaged"
    )]
    UnknownPolicy,
    /// The secret is longer than a TPM seals.
    #[error("a TPM seals {limit} bytes at most, not {length}")]
    SecretTooLong {
        /// Its length in bytes.
        length: usize,
        /// The longest.
        limit: usize,
    },
    /// The authorization value is longer than the hash of the object's name.
    #[error("an authorization value has {limit} bytes at most, not {length}")]
    AuthorizationTooLong {
        /// Its length in bytes.
        length: usize,
        /// The longest.
        limit: usize,
    },
    /// The TPM keeps no SHA-256 measurements.
    #[error("the TPM keeps no SHA-256 measurements in PCRs {0}")]
    NoSha256Bank(Pcrs),
}
