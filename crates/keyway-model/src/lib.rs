//! Stores with a clock, for laboratories and tests: modelled drives, and traces of the requests that reach a volume.
//!
//! | you want | you take |
//! |---|---|
//! | a drive that nobody here owns, as a store | [`ModelDrive::new`] with [`DriveModel::named`] |
//! | the same over a store of your own | [`ModelDrive::over`] |
//! | many requests in flight from one thread | [`ModelDrive::queue`] |
//! | what a model makes of a published load | [`calibrate`] |
//! | requests taken down, written to a file, read back | [`trace`] |
//!
//! ```
//! use keyway_model::{Clock, DriveModel, ModelDrive};
//! use keyway_store::Store;
//!
//! let model = DriveModel::named("samsung-840-pro").ok_or("no such model")?;
//! let drive = ModelDrive::new(model, Clock::simulated());
//! drive.read_at(&mut [0; 4096], 1 << 30)?;
//! assert!(drive.clock().now() > 50_000, "a read took more than 50 µs, on the drive's clock");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modelled drives
//!
//! A [`DriveModel`] is data: what a drive is, its timing, and the published figures that the timing
//! was set by. A [`ModelDrive`] is such a drive. It is used in two ways:
//!
//! - as a [`Store`](keyway_store::Store): `read_at` and `write_at` return when the drive would have been done. Requests of
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
#![forbid(unsafe_code)]
// Without the feature `drives` the links above lead nowhere.
#![cfg_attr(not(feature = "drives"), allow(rustdoc::broken_intra_doc_links))]

#[cfg(feature = "drives")]
mod drive;
pub mod trace;

#[cfg(feature = "drives")]
pub use drive::{
    Calibration, Clock, Direction, DiskParameters, DriveModel, Figure, FlashParameters, FlashRead,
    FlashWrite, LatenessSummary, Load, Measured, Mechanism, ModelDrive, ModelError, ModelQueue, NullStore,
    SparseStore, TranslationParameters, Unit, calibrate, measure, measure_through,
};
