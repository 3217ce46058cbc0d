//! A conversion of a VeraCrypt volume that has been planned.

use crate::marker::Marker;
use crate::step::Keyed;
use std::ops::Range;

/// The ciphers of a conversion: before and after; `None` is plain.
#[derive(Clone)]
pub struct Keys {
    /// Of the data area as it was, from its first byte on.
    pub old: Option<Keyed>,
    /// Of the data area as it shall be, from its first byte on.
    pub new: Option<Keyed>,
}

/// A conversion that has been planned: what its marker says, and its keys.
pub struct Plan {
    /// What is on the medium while it goes on.
    pub marker: Marker,
    /// The ciphers.
    pub keys: Keys,
    /// What is moved where not everything is; `None` where everything is, or the list is not whole.
    pub(super) stretches: Option<Vec<Range<u64>>>,
}

impl Plan {
    /// The same with a journal that keeps every segment whole ([`Redundancy`](crate::Redundancy)).
    pub fn kept_whole(mut self) -> Self {
        self.marker.place.whole = true;
        self
    }
}
