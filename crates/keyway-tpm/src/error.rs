//! Why a TPM did not do what it was asked, sorted by whose doing it is.

use crate::lockout::Lockout;
use crate::pcr::Pcrs;
use crate::response_code::ResponseCode;
use std::io;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
pub enum TpmError {
    /// There is none at that address.
    #[error(
        "there is no TPM at {address}: {source}; switch it on in the firmware's settings, or name another"
    )]
    NoTpm {
        /// Where it was looked for.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is there, and this user may not use it.
    #[error("the TPM at {address} may not be used: {source}; do it as root, or as a member of the group tss")]
    NotPermitted {
        /// Where it is.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another program holds the device, which serves one at a time.
    #[error("the TPM at {address} is in use by another program; /dev/tpmrm0 can be shared")]
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
    #[error(
        "the TPM's answer to {command} is not authentic; somebody may be between this program and the TPM"
    )]
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
    #[error(
        "the machine's start-up measurements changed (PCRs {pcrs}), so the TPM keeps the key; start the system \
         that it was sealed under, or use a recovery password"
    )]
    MeasurementsChanged {
        /// The registers that count.
        pcrs: Pcrs,
    },
    /// The authorization value is wrong.
    #[error("the TPM does not accept this PIN{}", tries_left(.lockout.as_ref()))]
    WrongAuthorization {
        /// How often it may still be wrong, where the TPM says so.
        lockout: Option<Lockout>,
    },
    /// Too many wrong authorizations: the TPM accepts none for now, not even the right one.
    #[error("the TPM is locked after too many wrong PINs{}; use a recovery password", waiting(.lockout.as_ref()))]
    LockedOut {
        /// How long it lasts, where the TPM says so.
        lockout: Option<Lockout>,
    },
    /// Another TPM sealed it, or this one before it was cleared; or the object is damaged, which looks
    /// the same to every TPM.
    #[error(
        "this TPM did not seal the key, or it has been cleared since, or the sealed key is damaged; use a \
         recovery password, and add the TPM again"
    )]
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

fn tries_left(lockout: Option<&Lockout>) -> String {
    match lockout.map(Lockout::tries_left) {
        None => String::new(),
        Some(0) => "; it was the last try before the TPM locks itself".to_owned(),
        Some(1) => "; 1 more try before the TPM locks itself".to_owned(),
        Some(n) => format!("; {n} more tries before the TPM locks itself"),
    }
}

fn waiting(lockout: Option<&Lockout>) -> String {
    match lockout.map(|lockout| lockout.forgets_one_after.as_secs()) {
        Some(seconds) if seconds > 0 => {
            format!("; it forgets one of them every {} while it is powered", duration(seconds))
        }
        _ => String::new(),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3600),
    }
}

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
    #[error("its tag is 0x{0:04x}; a TPM 2.0 is needed, and this may be a TPM 1.2")]
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
    #[error(
        "the TPM keeps no SHA-256 measurements in PCRs {0}; switch its SHA-256 bank on in the firmware's settings"
    )]
    NoSha256Bank(Pcrs),
}
