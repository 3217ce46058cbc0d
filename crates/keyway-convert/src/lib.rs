//! Conversions in place: a file system becomes an encrypted volume with the same content, an
//! encrypted volume becomes a plain one again or gets another cipher and other keys, and losing
//! power at any instant harms nothing.
//!
//! From below upwards:
//!
//! - [`Journal`] keeps the segments in flight a second time, or what puts them together again ([`Redundancy`]): slots, written in
//!   turn, checksummed.
//! - [`Conversion`] carries [`Step`]s out: [`Move`]s of bytes from one mapping to another, and small
//!   writes that may be repeated. It knows no format. [`Conversion::run`] begins where the journal says
//!   that the last run ended, whatever ended it.
//! - [`VeraCryptMarker`] is what lies on the medium for as long as a conversion is under way: what it is, and
//!   where its journal is. It stands where a file system or a header would be looked for, so that
//!   nobody takes what is half converted for something whole.
//! - [`Live`] is the volume's plain content meanwhile, for those who use it.
//! - [`veracrypt`] plans the conversions of VeraCrypt volumes.
//! - [`bitlocker`] plans those of BitLocker volumes.
//! - [`cross_format`] plans those from one format to the other.
//! - [`PlannedConversion`] is one of these three, for whoever carries it out.
//!
//! The protocol, what it assumes of the medium and why every instant is harmless are written down in
//! `docs/design/conversion.md`; `tests/model.rs` explores it exhaustively, `tests/powercut.rs` cuts the power
//! of the real code.
#![forbid(unsafe_code)]

pub mod bitlocker;
mod careful;
pub mod cross_format;
mod error;
mod free_space;
mod front;
mod journal;
mod live;
mod marker;
mod mover;
mod pipeline;
mod planned;
mod ranges;
mod rebuild;
mod redundancy;
mod size_before;
mod source;
mod step;
mod stripe_window;
pub mod veracrypt;

pub use error::{ConvertError, Stopped};
pub use free_space::FreeSpace;
pub use front::Front;
pub use journal::{
    Journal, JournalContents, LARGEST_SEGMENT, RECORD_BYTES, Record, SLOTS, Slot, SlotTable, segment_bytes,
};
pub use live::Live;
pub use marker::{ConversionKind, FoundVeraCrypt, JournalLocation, MARKER_BYTES, VeraCryptMarker, find};
pub use mover::{Checkpoint, Conversion, Progress};
pub use planned::PlannedConversion;
pub use redundancy::Redundancy;
pub use size_before::must_have_its_size;
pub use source::LostSectors;
pub use step::{Keyed, Move, Side, Small, Step, Wipe};
