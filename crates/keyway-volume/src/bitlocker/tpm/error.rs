//! Why a protector with a TPM does not open or can't be made, sorted by whose doing it is.

use super::super::codes::Protection;
use super::super::guid::Guid;
use super::blob::BlobFault;
use super::pin::PinFault;
use keyway_tpm::TpmError;

/// A protector that did not open, or was not made.
#[derive(Debug, thiserror::Error)]
pub enum TpmProtectorError {
    /// The volume has none.
    #[error("this volume has no protector with a TPM")]
    NoProtector,
    /// It has one of another kind.
    #[error("the protector {0} is of the kind {name}, without a TPM that this program can ask", name = .1.name())]
    OtherKind(Guid, Protection),
    /// The protector wants a PIN and none was given.
    #[error("this volume's TPM protector needs a PIN")]
    NeedsPin,
    /// The protector wants a startup key and none was given.
    #[error("this volume's TPM protector needs its startup key, the file {name}.BEK", name = .0.to_string().to_uppercase())]
    NeedsStartupKey(Guid),
    /// Startup keys were given, but not the protector's.
    #[error("the startup key that was given is not this volume's; it needs {name}.BEK", name = .0.to_string().to_uppercase())]
    OtherStartupKey(Guid),
    /// The startup key has the right name and the wrong key.
    #[error("the TPM gave its part, but the startup key {0} does not open the volume; it may be damaged")]
    WrongStartupKey(Guid),
    /// The PIN can't be one.
    #[error("{0}")]
    Pin(#[from] PinFault),
    /// The TPM does not give what it sealed.
    #[error("{0}")]
    Tpm(#[from] TpmError),
    /// The sealed object can't be read.
    #[error("the key that the TPM sealed can't be used: {0}; use a recovery password")]
    Blob(#[from] BlobFault),
    /// A part of the protector is missing or damaged.
    #[error("the TPM protector's {0} is damaged; use a recovery password, and add the TPM again")]
    Damaged(&'static str),
    /// Windows 7 and older kept PINs in another way.
    #[error("the PIN of this protector is kept in the way of Windows 7; use a recovery password")]
    OldPin,
    /// It was stopped.
    #[error("it was stopped before the PIN was tried")]
    Stopped,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

impl TpmProtectorError {
    /// The exit code of the command line's contract: 1 it failed, 2 wrong usage, 3 wrong secret,
    /// 4 not a volume or a damaged one, 5 not permitted or this machine lacks what it needs, 6 busy.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NeedsPin | Self::NeedsStartupKey(_) | Self::Pin(_) => 2,
            Self::NoProtector | Self::OtherKind(..) | Self::OtherStartupKey(_) | Self::WrongStartupKey(_) => {
                3
            }
            Self::Blob(BlobFault::Tpm12) | Self::OldPin => 5,
            Self::Blob(_) | Self::Damaged(_) => 4,
            Self::Stopped | Self::Random(_) => 1,
            Self::Tpm(error) => match error {
                TpmError::WrongAuthorization { .. } => 3,
                TpmError::NoTpm { .. }
                | TpmError::NotPermitted { .. }
                | TpmError::MeasurementsChanged { .. }
                | TpmError::LockedOut { .. }
                | TpmError::NotThisTpm
                | TpmError::OwnerPassword
                | TpmError::Unfit(_) => 5,
                TpmError::Busy { .. } => 6,
                _ => 1,
            },
        }
    }
}
