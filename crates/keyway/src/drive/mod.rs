//! Drives that encrypt by themselves (TCG Opal and its relatives): what they are, and what one does with them.
//!
//! [`Drive::open`] asks a device, or a virtual drive's file, what it is: [`Drive::info`]; [`list`] asks all of this
//! machine's. What changes a drive is a [`DriveChange`]. [`Drive::plan`] refuses what can be refused before anybody is
//! asked for a secret, and gives a [`DrivePlan`] that can be looked at and printed. [`Drive::carry_out`] does it, with
//! secrets from [`DriveSecrets`]. What only reads, as somebody whom the drive knows, has a method each:
//! [`Drive::ranges`], [`Drive::users`], [`Drive::shadow`], [`Drive::read_table`].
//!
//! ```
//! # #[cfg(feature = "virtual-drive")] {
//! use keyway::SecretBytes;
//! use keyway::drive::{Authority, Drive, DriveChange, DriveSecrets, LockState, Profile, VirtualDrive};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("try.drive");
//! // A virtual drive to try it on; on a real one: Drive::open("/dev/nvme0n1".as_ref()).
//! drop(VirtualDrive::create(&path, Profile::ALL[0], 1 << 20, 512)?);
//!
//! let mut drive = Drive::open(&path)?;
//! let plan = drive.plan(DriveChange::SetUp(Default::default()), None)?;
//! let password = SecretBytes::copy_of(b"a password");
//! drive.carry_out(plan, &DriveSecrets::from(&password), &())?;
//! assert_eq!(drive.state(), Some(LockState::Locked));
//!
//! let plan = drive.plan(DriveChange::Lock { ranges: vec![0] }, Some(Authority::User(1)))?;
//! assert!(!plan.loses_data);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod change;
mod contents;
#[cfg(feature = "virtual-drive")]
mod emulate;
pub(crate) mod error;
mod feature;
mod handle;
pub mod in_words;
mod info;
mod kernel;
mod no_drive;
mod outcome;
mod range_locks;
mod read;
mod run;
mod secret;
mod session;
mod setup;
mod unlock;

pub use change::{DriveChange, DriveNote, DrivePlan, SetUp};
pub use contents::DriveContents;
#[cfg(feature = "virtual-drive")]
pub use emulate::{Label, NvmeOptions, VirtualDrive, VirtualDriveInfo};
pub use error::DriveError;
pub use feature::FeatureInfo;
pub use handle::{Drive, is_drive};
pub use info::{BandInfo, Bands, DriveInfo, HARDWARE_ENCRYPTION, Limits, ListedDrive, LockState, list};
pub use keyway_attach::Stop;
pub use keyway_attach::nvme_tcp::{Credentials, NvmeError};
pub use keyway_sed::diagnosis::{Cause, Diagnosis, Situation};
pub use keyway_sed::discovery::Discovery;
pub use keyway_sed::host::HostError;
pub use keyway_sed::host::setup::USER;
pub use keyway_sed::host::shadow::ByteTable;
pub use keyway_sed::password::{PasswordError, PasswordHash};
pub use keyway_sed::transport::{Identity, Interface};
pub use keyway_sed::{Authority, NoAuthority};
#[cfg(feature = "virtual-drive")]
pub use keyway_virtual_drive::{DriveError as VirtualDriveError, Fault, NoFault, Profile};
pub use no_drive::NoDrive;
pub use outcome::{DriveOutcome, OutcomeFacts};
pub use range_locks::RangeLocks;
pub use read::{RangeInfo, Ranges, Shadow, Tries, UserInfo, Users};
pub use secret::{DriveSecrets, PsidSource, SheetFacts};
