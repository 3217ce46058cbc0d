//! A modelled drive: a store whose bytes rest in memory (or in any other store), and which takes as
//! long as a given drive would.
//!
//! A [`DriveModel`] is data: what a drive is, its timing, and the published figures that the timing
//! was set by. A [`ModelDrive`] is such a drive. It is used in two ways:
//!
//! - as a [`Store`]: `read_at` and `write_at` return when the drive would have been done. Requests of
//!   several threads overlap as in the drive's queue: each gets its time of completion under a lock
//!   and waits for it outside.
//! - through [`ModelDrive::queue`]: one thread keeps any number of requests in flight. The bytes are
//!   moved at submission, as a drive's own engine would move them while the request is under way; the
//!   completion is handed over when it is due. Encrypt before submitting, decrypt after completion,
//!   and the cipher's time lies where it lies with a real drive.
//!
//! Time is real, waited for to the microsecond ([`Clock::real`]), and the lateness of every wait is
//! noted ([`ModelDrive::lateness`]): on a busy machine it says that the figures are the neighbour's.
//! Or it is simulated ([`Clock::simulated`]): exact, repeatable, fast, and blind to the cipher;
//! that is how the models are calibrated ([`calibrate`]).
//!
//! What a model is not: a drive's firmware. It knows no garbage collection, no temperature, and no
//! compression; it is the drive as it was in the published tests.

mod calibration;
mod chance;
mod clock;
mod disk;
mod drive_queue;
mod flash;
mod lateness;
mod null;
mod parameters;
mod sparse;
mod timing;

pub use calibration::{Calibration, Measured, calibrate, measure};
pub use clock::Clock;
pub use drive_queue::ModelQueue;
pub use lateness::LatenessSummary;
pub use null::NullStore;
pub use parameters::{
    Direction, DiskParameters, DriveModel, Figure, FlashParameters, FlashRead, FlashWrite, Load, Mechanism,
    ModelError, Unit,
};
pub use sparse::SparseStore;

use crate::{Action, Store, StoreError};
use lateness::Lateness;
use std::sync::{Arc, Mutex, PoisonError};
use timing::Timing;

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
            Mechanism::Flash(p) => Box::new(flash::Flash::new(p.clone())),
            Mechanism::Disk(p) => Box::new(disk::Disk::new(p.clone(), model.capacity_bytes)),
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

    /// A queue for one thread; several queues share the drive.
    pub fn queue(&self) -> ModelQueue {
        ModelQueue::new(self.clone())
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

    /// When a request that arrives now is done.
    fn due(&self, action: Action, offset: u64, len: usize) -> u64 {
        let mut timing = self.drive.timing.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that requests reach the timing in the order of their arrival.
        timing.due(self.drive.clock.now(), action, offset, len)
    }

    fn wait(&self, due: u64) {
        self.drive.clock.wait(due, &self.drive.lateness);
    }
}

impl Store for ModelDrive {
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

    /// Takes no time.
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError> {
        self.drive.store.discard(offset, len)
    }

    fn size(&self) -> u64 {
        self.drive.store.size()
    }

    fn sector_bytes(&self) -> u32 {
        self.drive.store.sector_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.drive.store.is_read_only()
    }
}
