//! What opens a volume. VeraCrypt and TrueCrypt volumes have one secret, a password with keyfiles and a PIM
//! ([`change_secret`]); BitLocker volumes have any number of protectors, of several kinds ([`Protectors`]).

#[cfg(feature = "tpm")]
mod adding_tpm;
mod bitlocker;
mod tpm;
mod veracrypt;

pub use bitlocker::{Added, Left, NewSecret, Protectors};
pub use keyway_volume::bitlocker::{Guid, LastProtector, Protection, RecoveryPassword};
pub use tpm::NewTpmProtector;
pub use veracrypt::{ChangedSecret, SecretChange, SecretProtector, change_secret};
