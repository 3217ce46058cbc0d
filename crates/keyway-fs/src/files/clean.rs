//! Whether a file system may be mounted to be written to.

use super::error::FilesError;
use crate::allocation::{Allocation, AllocationError};
use crate::fields::number;
use crate::superblock::FileSystemKind;
use keyway_store::Store;

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
                true => unclean("e2fsck"),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
