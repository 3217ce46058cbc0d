//! From one format to the other: a VeraCrypt volume becomes a BitLocker volume with the same content, and the other
//! way round. Each segment goes from one cipher straight to the other; nothing lies open at any time.
//!
//! A VeraCrypt volume has 128 KiB of headers at either end, and its content begins behind the first. A BitLocker
//! volume's content begins with the medium, but for its first sectors, which lie elsewhere, and the metadata, which
//! reads as zeros.
//!
//! - **To BitLocker.** The first sectors go to their new place in what was the backup header's 128 KiB; everything else
//!   moves 128 KiB down, from the beginning on. The metadata lies behind the content, in the 256 KiB that the headers
//!   had, so every content has room.
//! - **To VeraCrypt.** The file system must leave 256 KiB free behind it. Its first sectors are parked there, under the
//!   new key; everything else moves 128 KiB up, from the end on; the first sectors follow.
//!
//! Neither volume's headers can stay where they are meanwhile, so the journal is always in a file, and with it what
//! opens the two volumes: the old and the new headers and metadata, sealed under their own secrets (`sheet`). On the
//! medium a marker in front and in the last page names that file (`marker`).

mod marker;
mod plan;
mod sheet;
mod steps;

pub use marker::{CrossFormatMarker, Direction, FoundCrossFormat, find};
pub use plan::{BothSecrets, CrossFormatMedium, CrossFormatPlan, content_capacity, how_far, look, settle};
