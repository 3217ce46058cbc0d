//! Why a protector with a TPM does not open or can't be made, sorted by whose doing it is.

use super::super::codes::Protection;
use super::super::guid::Guid;
use super::blob::BlobFault;
use super::pin::PinFault;
use keyway_error::explain;
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
    #[error("the startup key that was given is not this volume's")]
    OtherStartupKey(Guid),
    /// The startup key has the right name and the wrong key.
    #[error("the TPM gave its part, but the startup key {0} does not open the volume")]
    WrongStartupKey(Guid),
    /// The PIN can't be one.
    #[error("{0}")]
    Pin(#[from] PinFault),
    /// The TPM does not give what it sealed.
    #[error("{0}")]
    Tpm(#[from] TpmError),
    /// The sealed object can't be read.
    #[error("the key that the TPM sealed can't be used: {0}")]
    Blob(#[from] BlobFault),
    /// A part of the protector is missing or damaged.
    #[error("the TPM protector's {0} is damaged")]
    Damaged(&'static str),
    /// Windows 7 and older kept PINs in another way.
    #[error("the PIN of this protector is kept in the way of Windows 7")]
    OldPin,
    /// It was stopped.
    #[error("it was stopped before the PIN was tried")]
    Stopped,
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

explain! { TpmProtectorError, through Tpm {
    Self::NoProtector | Self::OtherKind(..) => [NoSuchProtector Secret, LeaveOutTpm],
    Self::NeedsPin => [NoSecret Request, GivePin],
    Self::NeedsStartupKey(_) => [NoSecret Request, GiveStartupKey],
    Self::OtherStartupKey(id) =>
        [OtherStartupKey Secret, NeedsStartupKey { name: id.to_string().to_uppercase() }],
    Self::WrongStartupKey(_) => [WrongStartupKey Secret, MayBeDamaged],
    Self::Pin(_) => [Pin Request, TakeAnotherPin],
    Self::Blob(BlobFault::Tpm12) => [Damaged Machine, UseRecoveryPassword],
    Self::Blob(_) => [Damaged Contents, UseRecoveryPassword],
    Self::Damaged(_) => [Damaged Contents, UseRecoveryAndAddTpm],
    Self::OldPin => [Unsupported Machine, UseRecoveryPassword],
    Self::Stopped => [Interrupted Stopped],
    Self::Random(_) => [Ours, ReportWithDoctor],
} }
