//! Volumes in which something is.
#![allow(clippy::expect_used, reason = "helpers of tests fail as tests do")]

use keyway_engine::{Access, Device};
use keyway_store::MemStore;
use keyway_volume::veracrypt::{UnlockRequest, unlock};
use std::sync::Arc;

/// Puts what an NTFS file system begins with into a volume: what is in it shows whose it is.
pub(crate) fn fill(store: &Arc<MemStore>, request: &UnlockRequest<'_>) {
    let unlocked = unlock(store, request).expect("opens");
    let device = Device::new(Box::new(store.clone()), unlocked.layout, Access::ReadWrite).expect("fits");
    let mut sector = [0; 512];
    sector[..11].copy_from_slice(b"\xebR\x90NTFS    ");
    device.write_at(&sector, 0).expect("written");
}
