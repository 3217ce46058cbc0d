//! A store that takes as long as a given drive would.

use super::clock::Clock;
use super::disk::Disk;
use super::flash::Flash;
use super::lateness::{Lateness, LatenessSummary};
use super::parameters::{DriveModel, Mechanism};
use super::sparse::SparseStore;
use super::timing::Timing;
use keyway_store::{Action, Store, StoreError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that takes as long as a given drive would. Clones are handles on the same drive.
#[derive(Clone)]
pub struct ModelDrive {
    drive: Arc<Inner>,
}

struct Inner {
    model: DriveModel,
    store: Box<dyn Store>,
    clock: Clock,
    timing: Mutex<Box<dyn Timing>>,
    lateness: Lateness,
    /// Lateness of handing over a queue's completions.
    behind: Lateness,
}

impl ModelDrive {
    /// A drive of that model, empty, its bytes in memory as they are written.
    pub fn new(model: DriveModel, clock: Clock) -> Self {
        let store = SparseStore::new(model.capacity_bytes, model.sector_bytes);
        Self::over(model, clock, Box::new(store))
    }

    /// A drive of that model whose bytes rest in `store`. Its size is the store's; where on the drive
    /// an address lies is the model's.
    pub fn over(model: DriveModel, clock: Clock, store: Box<dyn Store>) -> Self {
        let timing: Box<dyn Timing> = match &model.mechanism {
            Mechanism::Flash(p) => Box::new(Flash::new(p.clone(), model.capacity_bytes)),
            Mechanism::Disk(p) => Box::new(Disk::new(p.clone(), model.capacity_bytes)),
        };
        let (lateness, behind) = (Lateness::default(), Lateness::default());
        Self { drive: Arc::new(Inner { model, store, clock, timing: Mutex::new(timing), lateness, behind }) }
    }

    /// The model.
    pub fn model(&self) -> &DriveModel {
        &self.drive.model
    }

    /// The drive's clock.
    pub fn clock(&self) -> &Clock {
        &self.drive.clock
    }

    /// How late waits ended since the last [`ModelDrive::forget_lateness`].
    pub fn lateness(&self) -> LatenessSummary {
        self.drive.lateness.summary()
    }

    /// How late a queue's completions were handed over. Where this is much more than the
    /// [lateness](ModelDrive::lateness) of the waits, the submitting thread was busy (its cipher, its
    /// copies) when they were due, and it, not the drive, set the pace.
    pub fn behind(&self) -> LatenessSummary {
        self.drive.behind.summary()
    }

    /// Starts the figures of lateness afresh.
    pub fn forget_lateness(&self) {
        self.drive.lateness.reset();
        self.drive.behind.reset();
    }

    /// What the bytes rest in.
    pub(super) fn store(&self) -> &dyn Store {
        &*self.drive.store
    }

    /// Notes when a queue's completion was due, and when it was handed over.
    pub(super) fn note_behind(&self, due: u64, now: u64) {
        self.drive.behind.note(due, due, now);
    }

    /// From now on it is a drive of which everything was written once, one block after the other, and nothing discarded: as
    /// after encrypting all of it. One without a translation layer is as it was.
    pub fn fill(&self) {
        self.timing().fill();
    }

    /// As if blocks had been written at random places of its first `span` bytes until that changed nothing any more: in no
    /// time.
    pub fn wear_in(&self, span: u64, block_bytes: u32) {
        self.timing().wear_in(span, block_bytes);
    }

    fn timing(&self) -> MutexGuard<'_, Box<dyn Timing>> {
        self.drive.timing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When a request that arrives now is done.
    pub(super) fn due(&self, action: Action, offset: u64, len: usize) -> u64 {
        let mut timing = self.timing();
        // Under the lock, so that requests reach the timing in the order of their arrival.
        timing.due(self.drive.clock.now(), action, offset, len)
    }

    /// Returns when that moment has come.
    pub(super) fn wait(&self, due: u64) {
        self.drive.clock.wait(due, &self.drive.lateness);
    }
}

impl Store for ModelDrive {
    keyway_store::pass_on! { [drive.store] size sector_bytes is_read_only }

    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.drive.store.discard(offset, len)?;
        // It takes no time.
        self.timing().discard(offset, len);
        Ok(())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError> {
        let due = self.due(Action::Read, offset, buf.len());
        let done = self.drive.store.read_at(buf, offset);
        self.wait(due);
        done
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError> {
        let due = self.due(Action::Write, offset, buf.len());
        let done = self.drive.store.write_at(buf, offset);
        self.wait(due);
        done
    }

    fn flush(&self) -> Result<(), StoreError> {
        let due = self.due(Action::Flush, 0, 0);
        let done = self.drive.store.flush();
        self.wait(due);
        done
    }
}
