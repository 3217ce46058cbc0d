//! A [`Store`] is positioned I/O and nothing else: a file, a block device, memory, or one of these behind a fault
//! injector. It knows no format and no key.
//!
//! [`FileStore`] and whom it keeps away are Linux's; the rest is the same on every system.
//!
//! Offsets and lengths are bytes. An implementation accepts any offset and length inside
//! `0..size()`; requests aligned to [`Store::sector_bytes`] in aligned memory are the fast ones.
//! [`AlignedBuf`] is such memory.
//!
//! Durability: `write_at` may stay in a cache; after `flush` returns `Ok`, everything written
//! before it was called is on the medium.
#![forbid(unsafe_code)]

mod aligned;
#[cfg(target_os = "linux")]
mod claim;
#[cfg(target_os = "linux")]
mod direct;
mod error;
mod fault;
#[cfg(target_os = "linux")]
mod file;
#[cfg(target_os = "linux")]
mod held;
#[cfg(target_os = "linux")]
mod in_use;
mod log_buckets;
mod memory;
mod mode;
mod noise;
#[cfg(target_os = "linux")]
mod own_locks;
mod pass_on;
mod queue;
mod read_only;
pub mod size;
mod text;

pub use aligned::AlignedBuf;
#[cfg(target_os = "linux")]
pub use claim::{Elsewhere, must_hold_sectors, patiently, refuse_if_claimed};
#[cfg(target_os = "linux")]
pub use direct::DirectFile;
pub use error::{Medium, Operation, StoreError};
pub use fault::{FaultPlan, FaultStore};
#[cfg(target_os = "linux")]
pub use file::FileStore;
#[cfg(target_os = "linux")]
pub use held::{Held, hand_on};
#[cfg(target_os = "linux")]
pub use in_use::{DRIVE_NQN, InUse, advise_by, close_as};
pub use log_buckets::LogBuckets;
pub use memory::MemStore;
pub use mode::{Caching, OpenMode};
pub use noise::SplitMix64;
pub use queue::{Action, Completion, Queue, Request};
pub use read_only::ReadOnlyStore;
pub use text::is_no_text;

/// Positioned I/O. Implementations are shared between threads.
pub trait Store: Send + Sync {
    /// Fills `buf` from `offset`, or fails; never short.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<(), StoreError>;

    /// Writes all of `buf` at `offset`, or fails. After an error any part of the range may hold
    /// old or new bytes, at the granularity of a sector.
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<(), StoreError>;

    /// Puts everything written before this call on the medium.
    fn flush(&self) -> Result<(), StoreError>;

    /// Tells the medium that the bytes are no longer needed; what they read as afterwards is
    /// undefined. A store that can't do it does nothing and says `Ok`; each says so itself, since one that stands on
    /// another and forgot to hand it on would drop it unseen.
    fn discard(&self, offset: u64, len: u64) -> Result<(), StoreError>;

    /// Length in bytes.
    fn size(&self) -> u64;

    /// The smallest unit the medium writes in one piece: 512 or 4096 bytes.
    fn sector_bytes(&self) -> u32;

    /// Whether writes are refused.
    fn is_read_only(&self) -> bool;

    /// Whether this store keeps other processes from writing to the same medium while it is open.
    fn is_claimed(&self) -> bool {
        false
    }

    /// The file itself, for a caller who has the system move many requests at once instead of waiting
    /// for each in `read_at` and `write_at`. `None` where the system would not do it without waiting,
    /// or where this store does more than move bytes.
    #[cfg(target_os = "linux")]
    fn queueable(&self) -> Option<DirectFile<'_>> {
        None
    }
}

impl<S: Store + ?Sized> Store for std::sync::Arc<S> {
    pass_on! { [as_ref()] read_at write_at flush discard size sector_bytes is_read_only is_claimed queueable }
}
