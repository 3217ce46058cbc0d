//! A conversion of a VeraCrypt volume that has been planned.

use crate::marker::VeraCryptMarker;
use crate::mover::Progress;
use crate::step::Keyed;
use crate::{Conversion, ConvertError, Stopped};
use std::ops::Range;

/// The ciphers of a conversion: before and after; `None` is plain.
#[derive(Clone)]
pub struct OldAndNewKeys {
    /// Of the data area as it was, from its first byte on.
    pub old: Option<Keyed>,
    /// Of the data area as it shall be, from its first byte on.
    pub new: Option<Keyed>,
}

/// A conversion that has been planned: what its marker says, and its keys.
pub struct VeraCryptPlan {
    /// What is on the medium while it goes on.
    pub marker: VeraCryptMarker,
    /// The ciphers.
    pub keys: OldAndNewKeys,
    /// What is moved where not everything is; `None` where everything is, or the list is not whole.
    pub(super) stretches: Option<Vec<Range<u64>>>,
    /// For one that was found: whether its marker is in front.
    pub(super) found: Option<bool>,
}

impl VeraCryptPlan {
    /// The same with a journal that keeps every segment whole ([`Redundancy`](crate::Redundancy)).
    pub fn kept_whole(mut self) -> Self {
        self.marker.place.whole = true;
        self
    }

    /// Whether it was found, and has not to be begun.
    pub fn is_begun(&self) -> bool {
        self.found.is_some()
    }

    /// Begins, or goes on, until it ends or is paused. Paused it stays half converted: nobody but this opens it.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn run(&self, conversion: &Conversion<'_>, progress: &dyn Progress) -> Result<Stopped, ConvertError> {
        if self.found.is_none() {
            self.begin(conversion)?;
        }
        conversion.run(self.found.unwrap_or_default(), progress)
    }
}
