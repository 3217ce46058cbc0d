//! Conversions in place: a file system becomes an encrypted volume, a volume becomes a file system again, gets another
//! cipher, or another format.
//!
//! A [`ConversionRequest`] says what shall become of a file or device. [`plan`] looks at it, refuses what can't be, and answers with
//! a [`Conversion`]: its [`ConversionPlan`] says what will be done, and can be shown or serialised; [`Conversion::run`] does it,
//! tells a [`Progress`](crate::Progress) how far it is, and ends with an [`ConversionOutcome`].
//!
//! Losing power at any moment loses nothing: what was interrupted is [`Found`] on the medium, and goes on with
//! [`Goal::Resume`].
//!
//! ```
//! use keyway::conversion::{Goal, NewVolume, ConversionRequest, ConversionState, plan};
//! use keyway::create::{NewPlace, VeraCryptOptions};
//! use keyway::{SecretBytes, VeraCryptSecret};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("secret.hc");
//! let password = SecretBytes::copy_of(b"a password of more than twenty characters");
//! let secret =
//!     VeraCryptSecret { password: SecretBytes::copy_of(&password), keyfiles: vec![], pim: Some(1) };
//! VeraCryptOptions::default().create(&NewPlace::file(&path, 1 << 20, false)?, &secret, &())?;
//!
//! let mut new = NewVolume::default();
//! new.cipher = Some("serpent".to_owned());
//! let mut request = ConversionRequest::new(&path, Goal::Reencrypt(new));
//! request.sources.password.pim = Some(1);
//! let conversion = plan(&request, &password, &())?;
//! println!("{}", serde_json::to_string_pretty(&conversion.plan)?);
//! let outcome = conversion.run(&password, &|done: u64, total: u64| {
//!     println!("{done} of {total} bytes");
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(outcome.state, ConversionState::Done);
//! # Ok(())
//! # }
//! ```

mod bitlocker;
mod claim;
mod confined;
mod cross_format;
mod ending;
mod examined;
mod free_room;
mod in_use;
mod job;
mod lost_sectors;
mod outcome;
mod pause;
mod plan;
mod request;
mod resume;
mod run;
mod space;
mod veracrypt;

pub use crate::under_way::{
    ConversionError, ConversionRefusal, Description, Details, Found, Running, UnderWay, all_under_way,
    clean_stale, describe, is_paused_volume, percentage, resume_with, running,
};
pub use claim::{claim, refuse_if_begun, refuse_if_used, set_len};
pub use keyway_convert::{ConversionKind, ConvertError, FreeSpace};
pub use keyway_fs::{FileSystemKind, FoundFileSystem};
pub use outcome::{ConversionOutcome, ConversionState, EncryptedSpace, Lost, Made, NewKeys, Work};
pub use pause::{Paused, PausedVolume, pause};
pub use plan::{Contents, ConversionLoss, ConversionPlan, HeaderSpace, JournalPlace, Kept};
pub use request::{ConversionRequest, Goal, NewVolume, Online};
pub use run::{Conversion, plan};
