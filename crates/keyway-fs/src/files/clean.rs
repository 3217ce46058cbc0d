//! Whether a file system may be mounted to be written to.

use super::Files;
use super::error::FilesError;
use crate::allocation::{Allocation, AllocationError};
use crate::fields::number;
use crate::superblock::FileSystemKind;
use keyway_store::Store;
use std::io;
use std::sync::Arc;

/// ext's superblock (the kernel's *ext4 Data Structures and Algorithms*): where it is, its state and features.
const SUPERBLOCK: u64 = 1024;
const STATE: usize = 0x3a;
const INCOMPATIBLE: usize = 0x60;
/// It was unmounted; it has faults.
const UNMOUNTED: u64 = 1;
const FAULTY: u64 = 2;
/// The journal holds changes.
const RECOVER: u64 = 0x4;

/// Refuses a file system that was not unmounted in good order, and that mounting it would not mend: whoever mounts an ext4,
/// XFS or Btrfs replays its journal first, and NTFS's log is Windows' own.
///
/// # Errors
/// [`FilesError::Unclean`]; or the medium failed.
pub fn must_be_clean(store: &dyn Store, kind: FileSystemKind) -> Result<(), FilesError> {
    let unclean = |checker| Err(FilesError::Unclean { checker });
    match kind {
        FileSystemKind::Ntfs => match Allocation::read(store) {
            Err(AllocationError::Dirty(_)) => unclean(FilesError::CHKDSK),
            // Whoever mounts it says what else is wrong.
            _ => Ok(()),
        },
        FileSystemKind::Ext => {
            let mut sb = [0; 1024];
            store.read_at(&mut sb, SUPERBLOCK)?;
            let field = |found: Option<u64>| found.unwrap_or_default();
            let state = field(number::<2>(&sb, STATE));
            let replayed = field(number::<4>(&sb, INCOMPATIBLE)) & RECOVER != 0;
            match state & FAULTY != 0 || state & UNMOUNTED == 0 && !replayed {
                true => unclean(kind.repaired_by()),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The file that a Windows sleeps in, and how it begins while that is so (ntfs-3g's `ntfs_volume_check_hiberfile`).
const HIBERFIL: &str = "hiberfil.sys";
const HIBR: &[u8] = b"hibr";

/// Refuses an NTFS in which a Windows is hibernated: its log may well be in order, and whoever mounts it only reads.
///
/// # Errors
/// [`FilesError::Hibernated`]. What can't be read is for whoever mounts it to tell.
pub fn must_not_be_hibernated(store: Arc<dyn Store>) -> Result<(), FilesError> {
    let Ok(mut files) = Files::open(store, Some(FileSystemKind::Ntfs.mount_type())) else { return Ok(()) };
    let Ok(file) = files.find(&[HIBERFIL.into()]) else { return Ok(()) };
    let mut begins = false;
    // No more than its beginning is wanted.
    let _ = files.read(&file, |piece| {
        begins = piece.get(..HIBR.len()).is_some_and(|start| start.eq_ignore_ascii_case(HIBR));
        Err(io::ErrorKind::Interrupted.into())
    });
    if begins { Err(FilesError::Hibernated) } else { Ok(()) }
}
