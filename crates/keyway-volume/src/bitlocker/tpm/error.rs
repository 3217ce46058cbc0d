//! Why a protector with a TPM does not open or can't be made, sorted by whose doing it is.

use super::super::codes::Protection;
use super::super::guid::Guid;
use super::blob::BlobFault;
use super::pin::PinFault;
use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
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

impl Explain for TpmProtectorError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::NoProtector | Self::OtherKind(..) => (K::NoSuchProtector, F::Secret, A::LeaveOutTpm).into(),
            Self::NeedsPin => (K::NoSecret, F::Request, A::GivePin).into(),
            Self::NeedsStartupKey(_) => (K::NoSecret, F::Request, A::GiveStartupKey).into(),
            Self::OtherStartupKey(id) => {
                let name = id.to_string().to_uppercase();
                (K::OtherStartupKey, F::Secret, A::NeedsStartupKey { name }).into()
            }
            Self::WrongStartupKey(_) => (K::WrongStartupKey, F::Secret, A::MayBeDamaged).into(),
            Self::Pin(_) => (K::Pin, F::Request).into(),
            Self::Tpm(error) => error.explain(),
            Self::Blob(BlobFault::Tpm12) => (K::Damaged, F::Machine, A::UseRecoveryPassword).into(),
            Self::Blob(_) => (K::Damaged, F::Contents, A::UseRecoveryPassword).into(),
            Self::Damaged(_) => (K::Damaged, F::Contents, A::UseRecoveryAndAddTpm).into(),
            Self::OldPin => (K::Unsupported, F::Machine, A::UseRecoveryPassword).into(),
            Self::Stopped => (K::Interrupted, F::Stopped).into(),
            Self::Random(_) => Meaning::of(F::Ours),
        }
    }
}
