//! A new volume: in a file that doesn't exist yet, on a device, or hidden in another.
//!
//! A [`CreateRequest`] says what is wanted. Its [`plan`](CreateRequest::plan) refuses everything that can be refused before
//! anyone types a password, and says what will be lost; then it [runs](CreatePlan::run). One who knows the format and has
//! the secret at hand finds the place ([`NewPlace`]) and makes the volume there ([`VeraCryptOptions::create`],
//! [`BitLockerOptions::create`]). What was half made is removed again.

mod bitlocker;
mod created;
mod in_words;
mod outer;
mod place;
mod plan;
mod planning;
mod protectors;
mod request;
mod there;
mod veracrypt;

pub(crate) use bitlocker::veracrypt_cipher;
pub use bitlocker::{BitLockerCreated, BitLockerOptions, description, method};
pub use created::{Created, CreatedDetails};
pub use in_words::key_rows;
pub use keyway_cipher::{Algorithm, Chain};
pub use keyway_fs::mkfs::FileSystem;
pub use keyway_volume::HashName;
pub use keyway_volume::bitlocker::{Method, NewProtectors};
pub use place::NewPlace;
pub(crate) use place::Overcommitted;
pub use plan::{CreateLoss, CreatePlan, PlannedDetails};
pub use protectors::{KeyFiles, ProtectorOptions, protector_id};
pub use request::CreateRequest;
pub use veracrypt::{VeraCryptCreated, VeraCryptOptions};
