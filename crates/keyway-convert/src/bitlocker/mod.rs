//! Conversions of BitLocker volumes: a file system becomes one, one becomes a file system again, and one gets
//! another cipher and another data key.
//!
//! BitLocker leaves nearly everything where it is. Its first sectors move, its metadata lies in clusters
//! that the file system is kept off, or behind the file system; the rest is encrypted in place, from the
//! beginning on, up to a boundary that the metadata names. Decryption goes from the end on, and the boundary
//! falls. A volume with a boundary is a state of the format's own: it opens, here and elsewhere.
//!
//! So a conversion is one or more *runs*. A run begins with a file system or with a whole volume (encrypted
//! throughout, or paused) and ends with a whole volume or a file system. In between the marker stands in
//! front, nobody opens it, and the journal knows the state. The steps of a run:
//!
//! | | encryption | decryption |
//! |---|---|---|
//! | 0 | first run: the copy of the first sectors and the metadata, in bytes that nobody uses | |
//! | 1 | the marker in front; from here on there is no way but forward | same |
//! | | first run: pages of the file system that keep it off the metadata | |
//! | | each stretch, from the first to the last | each stretch, from the last to the first |
//! | | | the file system gets the clusters back that were kept from it (`bad_clusters`) |
//! | | the metadata says "encrypted"; the volume's first page in front | the first sectors back in their place |
//! | last | what the conversion left goes | same, and the metadata |
//!
//! A pause writes the metadata with the boundary where the journal says it is, then the volume's first page,
//! then the last step. See `marker` for what lies where, and how it is found however a sector was torn.
//!
//! A re-encryption is one run, with the steps of an encryption: the stretches are all that is encrypted, and go
//! from the old data key to the new one. No state of the format can say how far that is, so where it is paused it
//! stays as it is: the marker in front, which nobody opens, with the new key, sealed, in it. The metadata holds the
//! old key until the last step but one puts the new one there.

mod bad_clusters;
mod extents;
mod in_use;
mod marker;
mod metadata_space;
mod plan;
mod recovery;
mod relocate;
mod steps;

pub use marker::{BitLockerMarker, FoundBitLocker, Work, find};
pub use metadata_space::{content_capacity, has_room_within, map};
pub use plan::{BitLockerPlan, EncryptionRequest};
pub use recovery::{BitLockerMedium, Next, Proof, clean, how_far, look, next, prove, seen};
pub use relocate::{mend, place_below, relocate_below};
