//! What opens a volume. VeraCrypt and TrueCrypt volumes have one secret, a password with keyfiles and a PIM; BitLocker
//! volumes have any number of protectors, of several kinds.
//!
//! [`Protectors::look`] shows them. [`change`] plans what comes, goes, or takes the place of another: the
//! [`ProtectorPlan`] can be shown and asked about before it runs.

#[cfg(feature = "tpm")]
mod adding_tpm;
mod bitlocker;
mod change;
pub mod in_words;
mod list;
mod name;
mod outcome;
mod suitable;
mod tpm;
mod veracrypt;

pub use bitlocker::{Protectors, SavedRecovery, only_bitlocker};
pub use change::{ProtectorLoss, ProtectorPlan, ProtectorRequest, change, lost_by};
pub use keyway_volume::bitlocker::{Guid, LastProtector, Protection, RecoveryPassword};
pub use list::{ListedProtectors, ListedSecret, list};
pub use name::ProtectorName;
pub(crate) use outcome::digits;
pub use outcome::{ProtectionStatus, ProtectorOutcome, RemovedProtector, SetProtector, StillOpens};
pub use veracrypt::{ChangedSecret, SecretChange, SecretProtector};
