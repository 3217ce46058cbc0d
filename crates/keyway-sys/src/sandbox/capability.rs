//! Root's capabilities, given up.

use super::Role;
use rustix::io;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// What stays: without the one, memory that is locked would have a limit; without the other, a container could not
/// take the blocks that its file system keeps for root, and root's writes would fail where they did not before.
const KEPT: CapabilitySet = CapabilitySet::IPC_LOCK.union(CapabilitySet::SYS_RESOURCE);

/// What stays as well where files are read: root is asked to copy what lies in a user's own folder. Landlock knows which.
const READS: CapabilitySet = CapabilitySet::DAC_READ_SEARCH;

/// This thread has no other capability any more.
pub(super) fn drop_all(role: Role) -> io::Result<()> {
    let kept = if role == Role::CopyIn { KEPT | READS } else { KEPT };
    let has = capabilities(None)?;
    let (permitted, effective) = (has.permitted & kept, has.effective & kept);
    let left = CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() };
    if has != left { set_capabilities(None, left) } else { Ok(()) }
}
