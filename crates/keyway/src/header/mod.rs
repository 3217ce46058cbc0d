//! The part of a volume whose loss loses everything: backing it up, putting it back, checking and repairing it.
//!
//! A VeraCrypt or TrueCrypt volume has a header and a copy of it at the end; a BitLocker volume has three copies of its
//! metadata, and the first sector that names them. What writes ([`backup`], [`restore`], [`repair`]) is a plan first, so that
//! it can be shown and asked about before it runs.

mod backup;
mod check;
mod family;
pub mod in_words;
mod repair;
mod restore;

pub use crate::bitlocker::{BootFault, CopyInfo, CopyState};
pub use crate::veracrypt::HeaderLocation;
pub use backup::{BackedUp, BackupPlan, backup};
pub use check::{Checked, CheckedDetails, CheckedHeader, check, none_opens};
pub use repair::{RepairPlan, RepairedHeader, repair};
pub use restore::{RestorePlan, Restored, RestoredPart, restore};
