//! A volume as a block device of the kernel's ublk driver, `/dev/ublkbN`, served by this process over io_uring.
//!
//! The device outlives its server. When that is killed, requests wait; whoever opens the volume anew takes the
//! device over ([`UblkVolume::recover`]), and gets all of them that were not answered, first those that the dead
//! one had. What had been flushed is on the medium, what had been written and answered is there as far as the
//! medium's cache in this machine is: a process's death takes nothing from that.
//!
//! Without root there are devices, too, where udev hands the nodes out (`docs/attaching.md`). The kernel doesn't let
//! these outlive their server: when that is killed, they fail, and `clear` deletes what is left.

mod left;
mod queue;

pub use left::{Waiting, waiting};
pub(crate) use left::{clear, not_handed_over};

use crate::{AttachError, Stop, loopdev};
use keyway_engine::Device;
use keyway_sys::{NewUblk, UblkControl, UblkDevice, UblkParameters, ublk_character};
use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a session's state calls this attachment.
pub(crate) const ATTACHMENT: &str = "ublk";
/// Requests at once in a queue: as deep as a fast drive wants it.
const QUEUE_DEPTH: u16 = 64;
/// Queues at most; the driver has no use for more than there are CPUs.
const MOST_QUEUES: usize = 16;
/// The largest request, in bytes: this much stays in a core's own cache from the medium through the cipher to the
/// kernel.
const MAX_IO: u32 = 256 << 10;
/// How long the kernel may need to clean up after a dead server: it looks for requests that nobody answers
/// every 30 seconds (the block layer's default time-out), so one may be twice as old when it is found.
pub(crate) const CLEAN_UP: Duration = Duration::from_secs(90);
/// How long udev may take to make a device's node, on a machine that is busy.
const NODE: Duration = Duration::from_secs(30);
/// How long it may take to hand one to its owner.
const HAND_OVER: Duration = Duration::from_secs(20);
/// Where the driver's devices are, by the names of their servers' sides.
const DEVICES: &str = "/sys/class/ublk-char";
/// Devices that there can be: `UBLK_MINORS` is more, and nobody has so many.
const MOST_DEVICES: u32 = 1 << 16;

/// ublk can't be used.
#[derive(Debug, thiserror::Error)]
pub enum UblkError {
    /// There is no driver, or not for this user.
    #[error(
        "ublk can't be used: {0}; `keyway doctor` tells more, and the other ways to attach work without it"
    )]
    Missing(String),
    /// Nobody has handed this user the node of a device of its own.
    #[error(
        "{node} belongs to root and not to who made its device; a udev rule must hand it over, and docs/attaching.md has it"
    )]
    NotHandedOver {
        /// The node.
        node: String,
    },
    /// The volume is attached already, by a server that was killed.
    #[error(
        "{volume} is still {device}, whose server was killed; serve it again: keyway open {volume} --attach ublk, or give it up: keyway close {volume}"
    )]
    Waiting {
        /// The volume.
        volume: String,
        /// The block device.
        device: String,
    },
    /// Another volume than the one that was served.
    #[error(
        "{device} was {size} bytes in sectors of {sector_bytes} bytes, and this volume is not: it is not the one that was attached"
    )]
    Another {
        /// The block device.
        device: String,
        /// Its size.
        size: u64,
        /// Its sectors'.
        sector_bytes: u32,
    },
    /// A hidden volume was protected.
    #[error(
        "{0} protected a hidden volume, and would not any more; open it with --protect-hidden, or give it up with `keyway close`"
    )]
    Unprotected(String),
}

impl UblkError {
    /// The exit code that stands for this error.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Missing(_) | Self::NotHandedOver { .. } => 5,
            Self::Waiting { .. } => 6,
            Self::Another { .. } | Self::Unprotected(_) => 1,
        }
    }
}

/// Whether this kernel has the driver, and this user may use it; or what is missing.
///
/// # Errors
/// [`UblkError::Missing`].
pub fn available() -> Result<(), UblkError> {
    control().map(drop)
}

fn control() -> Result<UblkControl, UblkError> {
    UblkControl::open().map_err(|e| {
        UblkError::Missing(match e.kind() {
            io::ErrorKind::NotFound => format!(
                "{} is missing: the kernel has no ublk, or has not loaded it (modprobe ublk_drv)",
                keyway_sys::UBLK_CONTROL
            ),
            io::ErrorKind::Unsupported => {
                "the kernel's driver is too old; Linux 6.5 has what is needed".to_owned()
            }
            io::ErrorKind::PermissionDenied => format!(
                "only root may open {}: users can where udev rules hand it to them (docs/attaching.md has them)",
                keyway_sys::UBLK_CONTROL
            ),
            _ => format!("{}: {e}", keyway_sys::UBLK_CONTROL),
        })
    })
}

/// Whether this user's devices outlive their server.
pub fn outlives_its_server() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whose a device is that was made without root, as user and group: for udev, which asks for `name` ("ublkb0",
/// "ublkc0") when that appears. `None` for root's, and what is none.
pub fn owner(name: &str) -> Option<(u32, u32)> {
    let id = name.strip_prefix("ublkb").or_else(|| name.strip_prefix("ublkc"))?.parse().ok()?;
    let info = control().ok()?.look(id).ok()?;
    info.unprivileged.then_some(info.owner)
}

/// A volume as a block device. Dropped without [`UblkVolume::remove`], it stays for another server.
pub struct UblkVolume {
    info: UblkDevice,
    device: PathBuf,
    queues: Vec<JoinHandle<()>>,
}

impl UblkVolume {
    /// Makes a block device of `device`. `volume` is the path that names it; `gone` is requested when it can't be
    /// served any more. What it will be is told to `intend` before it is there: whoever finds this process killed
    /// in the middle must know what to look for. That may be more than one, where others make some, too.
    ///
    /// # Errors
    /// [`AttachError::Ublk`], or the kernel's reason; nothing is left then, but with
    /// [`UblkError::NotHandedOver`], when the device of a node that is not ours can't be deleted.
    pub fn new(
        device: &Arc<Device>,
        volume: &Path,
        gone: &Arc<Stop>,
        intend: impl FnMut(&Path) -> Result<(), AttachError>,
    ) -> Result<Self, AttachError> {
        let mut control = control()?;
        let doing = |e| AttachError::io("make a ublk device", e);
        let added = Self::add(&mut control, volume, intend)?;
        let parameters = UblkParameters {
            size: device.size(),
            sector_bytes: device.sector_bytes(),
            read_only: device.is_read_only(),
            discards: device.passes_discards(),
            max_io_bytes: added.max_io_bytes,
        };
        if added.unprivileged {
            wait_for_hand_over(Path::new(&ublk_character(added.id)))?;
        }
        let started = control.describe(&added, &parameters).map_err(doing).and_then(|()| {
            let served = Self::serve(&added, device, gone)?;
            control.start(&added).map_err(doing)?;
            served.wait_for_node()?;
            Ok(served)
        });
        if started.is_err() {
            // Its reason is the one to tell; queues end when the device does.
            let _ = control.stop(&added);
            let _ = control.delete(&added);
        }
        started
    }

    fn add(
        control: &mut UblkControl,
        volume: &Path,
        mut intend: impl FnMut(&Path) -> Result<(), AttachError>,
    ) -> Result<UblkDevice, AttachError> {
        let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut new = NewUblk {
            id: 0,
            queues: cpus.min(MOST_QUEUES) as u16,
            queue_depth: QUEUE_DEPTH,
            max_io_bytes: MAX_IO,
            tag: tag(volume),
            unprivileged: !outlives_its_server(),
        };
        for id in 0..MOST_DEVICES {
            if Path::new(DEVICES).join(format!("ublkc{id}")).exists() {
                continue;
            }
            intend(&path_of(id))?;
            new.id = id;
            match control.add(&new) {
                // Somebody was faster.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                done => return done.map_err(|e| AttachError::io("make a ublk device", e)),
            }
        }
        Err(AttachError::io("make a ublk device", io::Error::other("there are too many")))
    }

    /// Serves a device whose server died, as [`waiting`] found it.
    ///
    /// # Errors
    /// [`UblkError::Another`], or the kernel's reason; the device goes on waiting then.
    pub fn recover(found: &Waiting, device: &Arc<Device>, gone: &Arc<Stop>) -> Result<Self, AttachError> {
        let mut control = control()?;
        let doing = |e| AttachError::io(format!("take {} over", found.device.display()), e);
        if !found.fits(device) {
            return Err(UblkError::Another {
                device: found.device.display().to_string(),
                size: found.size,
                sector_bytes: found.sector_bytes,
            }
            .into());
        }
        let until = Instant::now() + CLEAN_UP;
        while let Err(e) = control.begin_recovery(&found.info) {
            if e.kind() != io::ErrorKind::ResourceBusy || Instant::now() > until {
                return Err(doing(e));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let served = Self::serve(&found.info, device, gone)?;
        control.end_recovery(&found.info).map_err(doing)?;
        Ok(served)
    }

    /// Starts the queues' threads, and returns when all of them wait for requests.
    fn serve(info: &UblkDevice, device: &Arc<Device>, gone: &Arc<Stop>) -> Result<Self, AttachError> {
        // Memory that we need must not wait for pages that only we can write out.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let character = Arc::new(open_character(info.id)?);
        let (ready, answers) = channel();
        let mut queues = Vec::new();
        for number in 0..info.queues {
            let (ready, info): (Sender<io::Result<()>>, _) = (ready.clone(), *info);
            let (character, device, gone) = (Arc::clone(&character), Arc::clone(device), Arc::clone(gone));
            let thread = std::thread::Builder::new().name("keyway-ublk".into()).spawn(move || {
                if let Err(e) = queue::serve(&character, number, &info, &device, ready) {
                    // With one queue dead its requests would wait for ever, ours among them. When all of this
                    // process is gone, the kernel lets another one take them over.
                    eprintln!("keyway: a queue of {} can't be served: {e}", path_of(info.id).display());
                    std::process::abort();
                }
                // Stopped, by us or by somebody else.
                drop((character, device));
                gone.request();
            });
            queues.push(thread.map_err(|e| AttachError::io("start a thread", e))?);
        }
        drop((ready, character));
        let mut waiting = 0;
        for answer in answers {
            answer.map_err(|e| AttachError::io("serve a queue of a ublk device", e))?;
            waiting += 1;
            if waiting == info.queues {
                break;
            }
        }
        if waiting < info.queues {
            return Err(AttachError::io("serve a ublk device", io::Error::other("a queue's thread ended")));
        }
        Ok(Self { info: *info, device: path_of(info.id), queues })
    }

    /// Waits for udev, where that makes the nodes.
    fn wait_for_node(&self) -> Result<(), AttachError> {
        let until = Instant::now() + NODE;
        while !self.device.exists() {
            if Instant::now() > until {
                return Err(AttachError::Missing {
                    what: self.device.display().to_string(),
                    hint: "udev or devtmpfs makes it; see that one of them is there",
                });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.info.unprivileged { wait_for_hand_over(&self.device) } else { Ok(()) }
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Writes out what the page cache holds for the device, and removes it. What can't be written out is told,
    /// with the device removed all the same.
    ///
    /// # Errors
    /// [`AttachError::Busy`] while it is mounted or open; nothing changes then.
    pub fn remove(&mut self) -> Result<(), AttachError> {
        let doing = |e| AttachError::io(format!("remove {}", self.device.display()), e);
        let mut control = control()?;
        let mut flushed = Ok(());
        match File::open(&self.device) {
            Ok(open) => {
                loopdev::refuse_while_used(&self.device)?;
                flushed = open
                    .sync_all()
                    .map_err(|e| AttachError::io(format!("flush {}", self.device.display()), e));
            }
            // Somebody else has stopped it.
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound) => {}
            Err(e) => return Err(doing(e)),
        }
        control.stop(&self.info).map_err(doing)?;
        for queue in self.queues.drain(..) {
            // One that panicked has said so on standard error.
            let _ = queue.join();
        }
        control.delete(&self.info).map_err(doing)?;
        flushed
    }
}

fn path_of(id: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ublkb{id}"))
}

/// The number of a block device of the driver's.
fn number(device: &Path) -> Option<u32> {
    device.file_name()?.to_str()?.strip_prefix("ublkb")?.parse().ok()
}

/// Waits until udev has handed a node to this user.
fn wait_for_hand_over(node: &Path) -> Result<(), AttachError> {
    let until = Instant::now() + HAND_OVER;
    while !left::is_ours(node) {
        if Instant::now() > until {
            return Err(UblkError::NotHandedOver { node: node.display().to_string() }.into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Opens the side of the device that its server has; there is one at a time.
fn open_character(id: u32) -> Result<File, AttachError> {
    let path = ublk_character(id);
    let until = Instant::now() + NODE;
    loop {
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => return Ok(file),
            // udev has not made it yet, or looks at it.
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::ResourceBusy)
                    && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(e) => return Err(AttachError::io(format!("open {path}"), e)),
        }
    }
}

/// By this the kernel's device is known as the volume's: FNV-1a of its path.
fn tag(volume: &Path) -> u64 {
    let bytes = volume.as_os_str().as_encoded_bytes();
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_volumes_apart() {
        // FNV-1a's own vectors.
        assert_eq!(tag(Path::new("")), 0xcbf2_9ce4_8422_2325);
        assert_eq!(tag(Path::new("a")), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(tag(Path::new("/dev/sdb1")), tag(Path::new("/dev/sdb2")));
    }
}
