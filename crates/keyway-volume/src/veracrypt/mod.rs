//! VeraCrypt and TrueCrypt volumes, which share one format.
//!
//! Sources of what is said here: the *VeraCrypt Volume Format Specification* and *Header Key
//! Derivation* chapters of VeraCrypt's documentation, TrueCrypt's of the same names (its last one
//! describes header versions 1 to 5), and `cryptsetup`'s documentation of its tcrypt extension.
//! Every constant is checked by volumes that those programs made.

mod area;
#[cfg(target_os = "linux")]
mod backup;
mod change;
mod change_error;
mod check;
mod create;
mod create_error;
mod create_header;
mod create_hidden;
#[cfg(target_os = "linux")]
mod create_target;
mod derive;
mod erase;
mod fresh;
mod header;
mod header_location;
mod outer_files;
mod params;
mod plain_sectors;
pub(crate) mod random;
mod resize;
mod restore;
mod sealed;
mod search;
mod search_pace;
mod suite;
mod trial;
mod unlock;

#[cfg(target_os = "linux")]
pub use backup::{BackedUp, header_backup};
pub use change::{Changed, change, change_opened};
pub use change_error::{ChangeError, HeaderWriteFault, SystemFault};
pub use check::{HeaderCheck, HeaderState, check};
pub use create::{
    Created, Fill, LARGEST_VOLUME, NewVolume, Note, SMALLEST_VOLUME, check_cipher, check_hash, check_size,
    create,
};
pub use create_error::LARGEST_PIM;
pub use create_error::{CreateError, NoOuter};
pub use create_hidden::{
    check_hidden, check_hidden_size, create_hidden, create_hidden_in, create_hidden_over,
    refuse_hidden_there, refuse_same_secret,
};
#[cfg(target_os = "linux")]
pub use create_target::{Existing, Space, Target, must_have_room};
pub use derive::derive_header_key;
pub use erase::Headers;
pub use fresh::{FreshHeaders, fresh_headers};
pub use header::{Flags, Header, HeaderFault, PLAIN_BYTES, SALT_BYTES};
pub use header_location::{BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, HeaderLocation};
pub use params::{Derivation, Format, HashName, UnknownHash};
pub use random::{Noise, RandomError};
pub(crate) use resize::noise_over;
pub use resize::{ResizeError, Resized, resize};
pub(crate) use restore::BACKUP_BYTES;
pub use restore::{KeysGuard, RestoreFrom, Restored, check_backup, header_restore, header_to_restore};
pub use sealed::SealedHeader;
pub use search_pace::{KeySearch, KeyWatch};
pub use suite::Suite;
pub use unlock::{HeaderChoice, OpenedHeader, SystemHeader, UnlockRequest, Unlocked, unlock};
