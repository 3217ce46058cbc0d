//! What reaches the files in a volume that is open and mounted nowhere.

use crate::told::facts;
use keyway_attach::mount::can_mount;
use keyway_attach::session::SessionState;
use serde::Serialize;
use serde_json::{Value, json};

/// File systems whose files are read without mounting them, by the type that mounts them.
const READABLE: [&str; 4] = ["ext4", "ntfs", "exfat", "vfat"];

/// What reaches the files in a volume that is open and mounted nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NextStep {
    /// It can be mounted as it is.
    Mount,
    /// It has no block device, and its files are read in a folder without one. Root has one, and writes to them.
    Folder,
    /// The same where nothing here mounts it: root has no more of it.
    FolderAlone,
    /// It has no block device: root opens it with one.
    MountAsRoot,
    /// It has a block device that nothing here mounts, and its files are read in a folder without one where that is asked for.
    Files,
}

impl NextStep {
    /// What a front says of an open volume and of what is next; `given` are the options that opened it.
    pub fn facts(state: &SessionState, given: &str, foreground: bool) -> Value {
        let protected = state.details.get("hidden_protected") == Some(&Value::Bool(true));
        let more = json!({"next": Self::of(state), "given": given, "foreground": foreground, "protected": protected});
        facts(state, more)
    }

    /// The step; none where it is mounted, holds nothing that is known, or is served to others.
    pub fn of(state: &SessionState) -> Option<Self> {
        let filesystem = state.filesystem.as_deref().filter(|_| state.mountpoint.is_none())?;
        if state.device.is_none() && state.file.is_none() {
            return None;
        }
        let is_root = rustix::process::geteuid().is_root();
        Self::to(filesystem, can_mount(filesystem), (state.device.is_some(), is_root))
    }

    fn to(filesystem: &str, is_mounted_here: bool, (has_device, is_root): (bool, bool)) -> Option<Self> {
        let is_read = READABLE.contains(&filesystem);
        // Root has no more of it who gets no block device.
        match is_mounted_here && (has_device || !is_root) {
            true if has_device => Some(Self::Mount),
            true if is_read => Some(Self::Folder),
            true => Some(Self::MountAsRoot),
            false if !is_read => None,
            false if has_device => Some(Self::Files),
            false => Some(Self::FolderAlone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_without_a_block_device_is_not_sent_to_root() {
        let (user, root) = (false, true);
        for (filesystem, by_user, by_root) in
            [("ext4", NextStep::Folder, Some(NextStep::FolderAlone)), ("btrfs", NextStep::MountAsRoot, None)]
        {
            assert_eq!(NextStep::to(filesystem, true, (false, user)), Some(by_user), "{filesystem}");
            assert_eq!(NextStep::to(filesystem, true, (false, root)), by_root, "{filesystem}");
            assert_eq!(NextStep::to(filesystem, true, (true, root)), Some(NextStep::Mount), "{filesystem}");
        }
    }
}
