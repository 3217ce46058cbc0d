//! A run whose volume is in use: read and written while it is converted.
//!
//! It is used from the first stretch on, and what lies where is told by the volume's layout of before and the
//! stretches since ([`Live`]). Three things differ from a run that nobody watches. Free space is none of the journal's.
//! Where it is left out, somebody may write there all the same: so it counts as converted from the beginning on
//! ([`BitLockerPlan::for_use`]), and is read as the noise that it will be. And a decryption's last steps, which put the
//! file system's first sectors back in their place, wait until nobody uses it any more ([`BitLockerPlan::close`]).

use super::marker::BitLockerMarker;
use super::plan::BitLockerPlan;
use crate::free_space::FreeSpace;
use crate::marker::{ConversionKind, JournalLocation};
use crate::mover::Checkpoint;
use crate::ranges::without;
use crate::{Conversion, ConvertError, Live, Stopped};
use keyway_error::Advice;
use keyway_store::Store;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

impl BitLockerPlan {
    /// The part of the run that goes on while the volume is in use.
    ///
    /// # Errors
    /// [`BitLockerPlan::can_be_used`] says no.
    pub fn conversion_in_use<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
    ) -> Result<Conversion<'a>, ConvertError> {
        self.can_be_used()?;
        let mut conversion = self.conversion(store, journal)?;
        conversion.steps.truncate(self.mark.steps_in_use(&self.work));
        Ok(conversion.in_small_segments())
    }

    /// The same run of a volume that is to be in use meanwhile. What free space it leaves out is under the new cipher
    /// from the beginning on; no state of the format says so, so closed before its end it stays, with its marker,
    /// until it goes on.
    ///
    /// # Errors
    /// [`BitLockerPlan::can_be_used`] says no.
    pub fn for_use(mut self) -> Result<Self, ConvertError> {
        if !self.is_begun() && self.mark.free == FreeSpace::Leave {
            self.mark.free_is_new = !self.left_out().is_empty();
        }
        self.can_be_used()?;
        Ok(self)
    }

    /// Stretches that hold data and are not converted.
    fn left_out(&self) -> Vec<Range<u64>> {
        without(&self.volume.data(self.mark.kind != ConversionKind::Encryption), &self.work.ranges)
    }

    /// Whether the volume can be in use while this run goes on. Nothing is changed.
    ///
    /// # Errors
    /// The run is not one for that: its journal lies in free space, or it leaves free space out.
    pub fn can_be_used(&self) -> Result<(), ConvertError> {
        let mark = &self.mark;
        if mark.journal == JournalLocation::OnMedium
            && mark.place.slots != BitLockerMarker::small_journal(mark.copies).slots
        {
            return Err(ConvertError::Unsupported(
                "this conversion's journal lies in free space that somebody might use",
                Advice::GoOnOffline,
            ));
        }
        // What the metadata will say of a byte is true of it only if it was converted.
        if mark.free_is_new || self.left_out().is_empty() {
            return Ok(());
        }
        Err(ConvertError::Unsupported(
            "free space is left out of this conversion, and somebody might use it",
            Advice::GoOnOffline,
        ))
    }

    /// Begins, or goes on, until the volume can be used; done where there is nothing left to convert.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn begin_in_use(&self, conversion: &Conversion<'_>) -> Result<Stopped, ConvertError> {
        self.begin_or_go_on(conversion, &|_: u64, _: u64| ControlFlow::Break(()))
    }

    /// The volume's content, after [`BitLockerPlan::begin_in_use`]; `store` is the one that is converted.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn live(
        &self,
        conversion: &Conversion<'_>,
        store: Arc<dyn Store>,
    ) -> Result<(Live, Checkpoint), ConvertError> {
        let free = if self.mark.free_is_new { self.left_out() } else { vec![] };
        let ciphers = self.ciphers();
        let there = free.iter().map(|range| self.mark.convert(range, &ciphers)).collect();
        conversion.in_use_of(store, Some(self.volume.layout()), there)
    }

    /// Nobody uses it any more: what had to wait for that is done, and what was paused is made whole, as by
    /// [`BitLockerPlan::run`]. `stopped` is how [`Conversion::run_in_use`] ended.
    ///
    /// # Errors
    /// See [`ConvertError`].
    pub fn close(&self, conversion: &Conversion<'_>, stopped: Stopped) -> Result<Stopped, ConvertError> {
        // Stopped at its very end it has no less to do than one that came there.
        let is_through = stopped == Stopped::Done || conversion.done()? >= conversion.total();
        if !is_through {
            return self.settle(conversion, stopped);
        }
        if stopped == Stopped::Done && self.mark.kind != ConversionKind::Decryption {
            return Ok(stopped);
        }
        let all = self.conversion(conversion.store, Some(conversion.journal.store()))?;
        all.run(true, &())
    }
}
