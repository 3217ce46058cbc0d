//! Conversions in place: a file system becomes an encrypted volume, a volume becomes a file system again, gets another
//! cipher, or another format.
//!
//! Losing power at any moment loses nothing: what was interrupted is [`Found`] on the medium, and goes on.

mod claim;
pub(crate) mod error;
mod found;
mod journal_file;
mod watch;

pub use claim::*;
pub use error::ConversionError;
pub use found::{Description, Details, Found, describe, is_paused_volume, percentage};
pub use journal_file::{JournalFile, absolute, beside};
pub use keyway_convert::ConversionKind;
pub use watch::{Running, Watch, clean_stale, running, speed};
