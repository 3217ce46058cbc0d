//! A conversion that is under way on a medium: found, told of, watched; and the file of its journal.

pub(crate) mod error;
mod found;
mod journal_file;
mod left;
pub(crate) mod refusal;
mod watch;

pub use error::ConversionError;
pub(crate) use found::at_rest;
pub use found::{Description, Details, Found, is_paused_volume, percentage};
pub use journal_file::resume_with;
pub(crate) use journal_file::{JournalFile, absolute, beside};
pub use left::{UnderWay, all_under_way, clean_stale, describe};
pub use refusal::ConversionRefusal;
pub use watch::{Running, running};
pub(crate) use watch::{Watch, has_left_work, not_the_same, speed};
