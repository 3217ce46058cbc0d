//! Modelled drives, and stores for them to rest their bytes in.

mod calibration;
mod chance;
mod clock;
mod disk;
mod flash;
mod lateness;
mod model_drive;
mod null;
mod parameters;
mod queue;
mod sparse;
mod timing;
mod translation;

pub use calibration::{Calibration, Measured, calibrate, measure, measure_through};
pub use clock::Clock;
pub use lateness::LatenessSummary;
pub use model_drive::ModelDrive;
pub use null::NullStore;
pub use parameters::{
    Direction, DiskParameters, DriveModel, Figure, FlashParameters, FlashRead, FlashWrite, Load, Mechanism,
    ModelError, TranslationParameters, Unit,
};
pub use queue::ModelQueue;
pub use sparse::SparseStore;
