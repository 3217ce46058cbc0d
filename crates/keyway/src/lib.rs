//! What one does with encrypted volumes and drives, as types: the application that the command line, a window or
//! another program stands on.
//!
//! # Which call do I want?
//!
//! | I want to | |
//! |---|---|
//! | know what a file or device is | [`Volume::detect`] |
//! | know which partitions a disk has, and which one a volume is | [`disk::Disk::on`], [`disk::meant`] |
//! | open a volume and read it | [`Volume::open`], then [`Volume::device`](Volume) for its sectors or [`Volume::into_files`] for its files |
//! | open it another way: for writing, one format only, the hidden volume protected | [`OpenOptions`] |
//! | open one that is in no file | [`OpenOptions::open_store`], with a [`Store`] of my own, or a [`ReadOnlyStore`] around a function that reads |
//! | say where its password comes from | [`secrets::Sources`]; to be asked for it, [`secrets::Secrets`] |
//! | make a volume, or a hidden one inside another | a [`CreateRequest`](create::CreateRequest), then its [`plan`](create::CreateRequest::plan); with the secret at hand, [`VeraCryptOptions`](create::VeraCryptOptions) or [`BitLockerOptions`](create::BitLockerOptions) |
//! | see or change what opens a volume | [`protectors::list`], [`protectors::change`] |
//! | convert one where it lies: encrypt a file system, decrypt, another cipher or format | a [`conversion::ConversionRequest`]; [`plan`](conversion::plan()) says what it would do, and [`run`](conversion::Conversion::run) does it |
//! | go on with a conversion, pause one, see how far it is | [`Goal::Resume`](conversion::Goal::Resume), [`conversion::pause`](conversion::pause()), [`conversion::describe`] |
//! | back up, restore, check or repair a header | [`header`] |
//! | make a volume larger or smaller | [`resize`](resize::resize) |
//! | list the files in it, copy them out | [`LockedVolume::open_files`], [`inside`] |
//! | put files into it | [`LockedVolume::open_to_put`] |
//! | give up everything but the volume, before its files are looked at | [`LockedVolume::sandbox`] |
//! | have its decrypted bytes | [`Volume::copy_out`] |
//! | attach a volume: as a block device, a file, a socket | an [`AttachRequest`](session::AttachRequest) or a [`SessionPlan`](session::SessionPlan), then [`serve`](session::SessionPlan::serve) in this process or [`start`](session::SessionPlan::start) one of its own |
//! | know which ways there are to attach one here, and what each costs | [`session::choose`], [`session::CANDIDATES`] |
//! | know what is open, and what is known of a volume | [`session::OpenVolume`], [`session::VolumeStatus`], [`Volume::describe`] |
//! | close it, or several | [`session::close`], [`session::close_each`] |
//! | keep a volume under a name, with what opens it but its secret | [`favourites`] |
//! | know what this machine can do | [`Capabilities::look`] |
//! | know what encryption costs on a drive | [`drive_cost::known`]; [`drive_cost::Measurement`] finds out |
//! | destroy every key of a volume | [`erase`] |
//! | see how far any of that is, and stop it | [`Progress`]; a function of two numbers is one; [`pace`] puts it into lines |
//! | have a log of what is opened, tried, attached and closed | [`log_to`] |
//! | know why it went wrong, and what helps | [`Error`], by [`Explain`]: a [`Kind`], whose [`Fault`] it is, [`Advice`] |
//! | show what others wrote, such as a name in a volume; put facts into sentences of my own | [`shown`], [`told`] |
//! | name what only one format has: its ciphers, secrets, protectors | [`veracrypt`], [`bitlocker`] |
//! | see, set up, unlock or erase a drive that encrypts by itself, or make a virtual one | [`drive`] |
//!
//! What cannot be undone is a plan first: a value that says what will be done, and does it when it is run.
//!
//! ```
//! use keyway::create::CreateRequest;
//! use keyway::detect::What;
//! use keyway::{SecretBytes, Volume};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("secret.hc");
//! let password = SecretBytes::copy_of(b"a password of more than twenty characters");
//!
//! let mut wanted = CreateRequest::new(&path);
//! wanted.bytes = Some(1 << 20);
//! let plan = wanted.plan()?;
//! assert!(plan.loses.is_none());
//! plan.run(&password, &())?;
//!
//! // Without its secret nobody can tell it from noise.
//! assert!(matches!(Volume::detect(&path)?, What::Noise(_)));
//! let volume = Volume::open(&path, &password)?;
//! let mut sector = [0; 512];
//! volume.device.read_at(&mut sector, 0)?;
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here prints, asks on a terminal or ends the process. What goes wrong is an [`Error`]: data, which a front
//! puts into words.
#![forbid(unsafe_code)]

pub mod bitlocker;
mod capabilities;
mod confining;
pub mod conversion;
mod copy_out;
pub mod create;
mod description;
pub mod detect;
pub mod disk;
pub mod drive;
#[cfg_attr(not(feature = "lab"), path = "absent/drive_cost.rs")]
pub mod drive_cost;
pub mod encrypted;
mod erase;
pub mod error;
pub mod favourites;
pub mod header;
mod heard;
pub mod inside;
pub mod key_file;
#[cfg(feature = "lab")]
pub mod lab;
mod locked;
mod log_file;
mod logged_store;
pub mod medium;
mod own_process;
pub mod pace;

mod progress;
pub mod protectors;
pub mod resize;
mod sandbox;
mod searching;
mod secret_role;
pub mod secrets;
pub mod session;
mod settled;
pub mod shown;
pub mod spelled;
mod system_drive;
pub mod told;
#[cfg(feature = "lab")]
pub mod tour;
#[cfg_attr(not(feature = "tpm"), path = "absent/tpm.rs")]
pub mod tpm;
mod under_way;
pub mod unlock;
mod users_folder;
mod variant;
pub mod veracrypt;
mod volume;

pub use capabilities::{Capabilities, Capability};
pub use erase::{ErasePlan, Erased, erase};
pub use error::{Error, Misuse};
pub use heard::must_be_heard;
pub use keyway_engine::{Access, Device};
pub use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
pub use keyway_fs::files::{self, Files};
pub use keyway_secret::SecretBytes;
pub use keyway_store::{Caching, Operation, ReadOnlyStore, Store, StoreError};
pub use keyway_volume::{Info, Secrets as VeraCryptSecret};
pub use locked::LockedVolume;
pub use log_file::{log_to, log_verb, logged_to, lost_log};
pub use own_process::know_own_processes;
pub use progress::{KeySearch, Note, Progress, Stage};
pub use sandbox::Sandbox;
pub use unlock::Key;
pub use volume::{OpenOptions, Volume};
