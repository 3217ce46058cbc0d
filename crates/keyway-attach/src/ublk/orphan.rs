//! Devices whose server was killed: they wait for another one, or nobody can serve them.

use super::control::{control, is_ours, number, outlives_its_server, tag};
use crate::{AttachError, UblkError, loopdev};
use keyway_engine::Device;
use keyway_sys::{UblkDevice, UblkState, ublk_character};
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A device whose server died.
pub struct Waiting {
    pub(super) device: PathBuf,
    pub(super) info: UblkDevice,
    pub(super) size: u64,
    pub(super) sector_bytes: u32,
    read_only: bool,
    discards: bool,
}

impl Waiting {
    /// The block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Whether this can be served under it: what others have seen of it stays true.
    pub(super) fn fits(&self, device: &Device) -> bool {
        self.size == device.size()
            && self.sector_bytes == device.sector_bytes()
            && (self.read_only || !device.is_read_only())
    }

    /// Whether a new one would be no different.
    pub(crate) fn is_like(&self, device: &Device) -> bool {
        let discards = device.passes_discards() && !device.is_read_only();
        self.fits(device) && self.read_only == device.is_read_only() && self.discards == discards
    }
}

/// Looks at what a dead session left: `device` is the block device that its process `dead` had of `volume`. `None`
/// where it is gone, or somebody else's. The kernel gets so much `patience` to find out that its server is dead; it
/// waits for another one also before that.
pub fn waiting(device: &Path, volume: &Path, dead: u32, patience: Duration) -> Option<Waiting> {
    let (name, id) = (device.file_name()?.to_str()?, number(device)?);
    let mut control = control().ok()?;
    let until = Instant::now() + patience;
    let info = loop {
        let info = control.look(id).ok().filter(|info| info.tag == tag(volume) && !info.unprivileged)?;
        match info.state {
            UblkState::Quiesced => break info,
            UblkState::Live if !is_served(info.server, dead) => {
                if Instant::now() >= until {
                    break info;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return None,
        }
    };
    let says = |what: &str| {
        let text = std::fs::read_to_string(Path::new("/sys/block").join(name).join(what)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    Some(Waiting {
        device: device.to_owned(),
        info,
        size: says("size")?.checked_mul(512)?,
        sector_bytes: says("queue/logical_block_size")?.try_into().ok()?,
        read_only: says("ro")? != 0,
        discards: says("queue/discard_max_bytes")? != 0,
    })
}

impl Waiting {
    /// Whether somebody has use for it: it is mounted, open, or requests wait in it.
    pub(crate) fn is_in_use(&self) -> bool {
        let requests = self.device.file_name().and_then(|name| {
            std::fs::read_to_string(Path::new("/sys/block").join(name).join("inflight")).ok()
        });
        let requests = requests.unwrap_or_default();
        requests.split_ascii_whitespace().any(|n| n != "0")
            || loopdev::refuse_while_used(&self.device).is_err()
    }

    /// Gives it up: requests that wait fail, and it goes, mounted or not.
    pub(crate) fn give_up(&self) -> Result<(), AttachError> {
        let doing = |e| AttachError::io(format!("remove {}", self.device.display()), e);
        let mut control = control()?;
        control.stop(&self.info).map_err(doing)?;
        crate::mount::abandon(&self.device);
        control.delete(&self.info).map_err(doing)
    }
}

/// Deletes what a dead session left that nobody can take over: a device that was never shown to anybody, one that was
/// being removed, or one of a user without root. `device` is what its process `dead` had made of `volume`, or was
/// about to make: what is somebody else's is left alone.
///
/// # Errors
/// [`UblkError::NotHandedOver`] where the device's node is not this user's yet.
pub(crate) fn clear(device: &Path, volume: &Path, dead: u32) -> Result<(), AttachError> {
    let Some(id) = number(device) else { return Ok(()) };
    let Ok(mut control) = control() else { return Ok(()) };
    let info = match control.look(id) {
        Ok(info) => info,
        Err(_) => {
            let theirs = not_handed_over(device).map(|node| node.display().to_string());
            return theirs.map_or(Ok(()), |node| Err(UblkError::NotHandedOver { node }.into()));
        }
    };
    // Before it is shown to others it has no server that could be alive.
    let can_be_served = info.state != UblkState::Dead && !info.unprivileged;
    if info.tag != tag(volume) || can_be_served || is_served(info.server, dead) {
        return Ok(());
    }
    let doing = |e| AttachError::io(format!("remove {}", device.display()), e);
    control.stop(&info).map_err(doing)?;
    control.delete(&info).map_err(doing)
}

/// The node of a device's server, where there is one that udev has not handed to this user. A number that has become
/// root's, or another user's, since it was written down is not meant: nothing of ours is behind it.
pub(crate) fn not_handed_over(device: &Path) -> Option<PathBuf> {
    let id = number(device)?;
    let node = PathBuf::from(ublk_character(id));
    if outlives_its_server() || is_ours(&node) {
        return None;
    }
    // Udev hands a user's device to its maker, and what it has not got to yet is root's.
    let theirs = node.metadata().is_ok_and(|there| there.uid() == 0);
    (theirs && !is_roots(control().ok()?.look(id).map(drop))).then_some(node)
}

/// Whether the kernel's answer to a user without root, who asked for a device, means that it was made by root: such a
/// one is nobody else's business (EPERM). A user's is refused by the rights of its node (EACCES).
fn is_roots(answer: io::Result<()>) -> bool {
    answer.is_err_and(|e| e.raw_os_error() == Some(Errno::PERM.raw_os_error()))
}

/// Whether the process that the kernel calls a device's server is one, and not `dead`, whose number another process may
/// have by now.
fn is_served(server: i32, dead: u32) -> bool {
    u32::try_from(server) != Ok(dead) && is_alive(server)
}

/// Whether there is such a process; one that nobody has waited for is dead.
fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may hold anything.
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::super::control::CLEAN_UP;
    use super::*;

    #[test]
    fn what_is_no_device_of_ours_does_not_wait() {
        for device in ["/dev/loop0", "/dev/ublkb", "/dev/ublkb123456", "/"] {
            assert!(waiting(Path::new(device), Path::new("/volume"), 1, CLEAN_UP).is_none(), "{device}");
            assert!(clear(Path::new(device), Path::new("/volume"), 1).is_ok(), "{device}");
        }
    }

    /// This process has its number by now, whoever had it before.
    #[test]
    fn a_dead_server_stays_dead_when_its_number_is_anothers() {
        let number = std::process::id();
        let server = i32::try_from(number).expect("a process's number");
        assert!(is_served(server, number + 1));
        assert!(!is_served(server, number));
        // Before a device is started.
        assert!(!is_served(-1, number));
    }

    #[test]
    fn roots_devices_are_told_from_nodes_that_nobody_handed_over() {
        let refused = |errno: Errno| Err(io::Error::from_raw_os_error(errno.raw_os_error()));
        assert!(is_roots(refused(Errno::PERM)));
        assert!(!is_roots(refused(Errno::ACCESS)));
        assert!(!is_roots(Ok(())));
    }
}
