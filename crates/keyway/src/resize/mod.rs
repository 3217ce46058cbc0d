//! A volume gets larger or smaller, with everything in it.
//!
//! [`resize`] opens the volume and looks at what is in it: the [`ResizePlan`] says which sizes there will be, whether the
//! file system inside follows by its own tools, and what may be lost. Nothing is written before it [runs](ResizePlan::run).
//! Losing power loses nothing but while such a tool works.

mod bitlocker;
pub(crate) mod error;
pub(crate) mod inside;
mod plan;
mod run;
mod veracrypt;

pub use error::ResizeError;
pub use plan::{FileSystemPlan, HiddenVolume, MetadataPlan, ResizePlan, ResizeRequest, Resized};
pub use run::resize;
