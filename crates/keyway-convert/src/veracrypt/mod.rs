//! Plans the conversions of VeraCrypt volumes: what lies where, and in which order it is done.
//!
//! A volume has 128 KiB of headers in front and 128 KiB of backups at the end
//! ([`keyway_volume::veracrypt`]). Both ends lie outside the data area, so they hold what belongs to a
//! conversion:
//!
//! ```text
//! the last 128 KiB, from their beginning
//! offset     size
//!      0     4096  the backup header
//!   4096           decryption: the parked page, then the journal's segments
//!                  re-encryption: a segment (the other is in front, behind the marker)
//! 110592  4 * 4096  the journal's records, and where there are only two of them their heads; of a journal in a file
//!                  the heads
//! 126976     4096  the second marker
//! ```
//!
//! - **Encryption.** The file system was made smaller, so there is room between its end and the last
//!   128 KiB: for the journal's segments and for its first 128 KiB, which are parked there, encrypted.
//!   Then the marker takes their place, everything else moves 128 KiB up, from the end on, and the
//!   parked bytes follow. What is behind the file system is overwritten with noise before the primary
//!   header takes the marker's place; with that the volume is there.
//! - **Decryption.** The first page of the data area is parked as it is, the marker takes the place of
//!   the primary header, everything else moves 128 KiB down, from the beginning on, and the parked page,
//!   decrypted, takes the place of the marker; with that the file system is there.
//! - **Re-encryption.** The marker takes the place of the primary header, everything stays where it is,
//!   and the new primary header takes the place of the marker. A hidden volume inside is lost.
//!
//! An encryption of used space only ([`used_stretches`]) moves these alone, and has their list before the
//! journal's records. An encryption with the journal on the medium has the heads before that.
//!
//! The very last step wipes the journal's records and then the second marker. They lie in the last 128 KiB,
//! which a volume in use does not write to.

mod areas;
mod in_use;
mod opened;
mod plan;
mod planning;
mod resume;
mod steps;
mod used_space;

pub use areas::content_capacity;
pub(crate) use areas::{end_group, header_page, noise, none};
pub use in_use::capacity_in_use;
pub use opened::SMALLEST_CONVERTED;
pub(crate) use opened::{header_of, key_of, whole_volume};
pub use plan::{OldAndNewKeys, VeraCryptPlan};
pub use planning::{decryption, encryption, reencryption};
pub(crate) use resume::open_header;
pub use resume::{ResumeSecrets, how_far};
pub use used_space::used_stretches;
