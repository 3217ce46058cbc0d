//! A volume as a block device of the kernel's ublk driver, `/dev/ublkbN`, served by this process over io_uring.
//!
//! The device outlives its server. When that is killed, requests wait; whoever opens the volume anew takes the
//! device over ([`UblkVolume::recover`]), and gets all of them that were not answered, first those that the dead
//! one had. What had been flushed is on the medium, what had been written and answered is there as far as the
//! medium's cache in this machine is: a process's death takes nothing from that.
//!
//! Without root there are devices, too, where udev hands the nodes out (`docs/reference/attachments.md`). The kernel doesn't let
//! these outlive their server: when that is killed, they fail, and `clear` deletes what is left.

mod control;
mod orphan;
mod queue;

pub use crate::UblkError;
pub(crate) use control::CLEAN_UP;
pub use control::{available, outlives_its_server, owner};
pub use orphan::{Waiting, waiting};
pub(crate) use orphan::{clear, not_handed_over};

use crate::notice::{Notice, tell};
use crate::on_panic::AbortOnPanic;
use crate::retry::{retry, wait_until};
use crate::{AttachError, Stop, loopdev};
use control::{control, is_ours, path_of, tag};
use keyway_engine::Device;
use keyway_error::Advice;
use keyway_sys::{NewUblk, UblkControl, UblkDevice, UblkParameters, ublk_character};
use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a session's state calls this attachment.
pub(crate) const ATTACHMENT: &str = "ublk";
/// Requests at once in a queue: as deep as a fast drive wants it.
const QUEUE_DEPTH: u16 = 64;
/// Queues at most; the driver has no use for more than there are CPUs.
const MOST_QUEUES: usize = 16;
/// The largest request, in bytes: this much stays in a core's own cache from the medium through the cipher to the
/// kernel.
const MAX_IO: u32 = 256 << 10;
/// How long udev may take to make a device's node, on a machine that is busy.
const NODE: Duration = Duration::from_secs(30);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);
/// How long it may take to hand one to its owner.
const HAND_OVER: Duration = Duration::from_secs(20);
/// Where the driver's devices are, by the names of their servers' sides.
const DEVICES: &str = "/sys/class/ublk-char";
/// Devices that there can be: `UBLK_MINORS` is more, and nobody has so many.
const MOST_DEVICES: u32 = 1 << 16;

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
        Self::made(device, tag(volume), outlives_its_server(), gone, intend)
    }

    /// One that nobody takes over: it ends with this process, however that ends.
    ///
    /// # Errors
    /// Those of [`UblkVolume::new`].
    pub fn for_now(device: &Arc<Device>, gone: &Arc<Stop>) -> Result<Self, AttachError> {
        Self::made(device, 0, false, gone, |_| Ok(()))
    }

    fn made(
        device: &Arc<Device>,
        tag: u64,
        outlives: bool,
        gone: &Arc<Stop>,
        intend: impl FnMut(&Path) -> Result<(), AttachError>,
    ) -> Result<Self, AttachError> {
        let mut control = control()?;
        let doing = |e| AttachError::io("make a ublk device", e);
        let added = Self::add(&mut control, tag, outlives, intend)?;
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
        tag: u64,
        outlives: bool,
        mut intend: impl FnMut(&Path) -> Result<(), AttachError>,
    ) -> Result<UblkDevice, AttachError> {
        let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut new = NewUblk {
            id: 0,
            queues: cpus.min(MOST_QUEUES) as u16,
            queue_depth: QUEUE_DEPTH,
            max_io_bytes: MAX_IO,
            tag,
            unprivileged: !outlives_its_server(),
            outlives,
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
        let is_busy = |e: &io::Error| e.kind() == io::ErrorKind::ResourceBusy;
        retry(CLEAN_UP, Duration::from_millis(20), is_busy, || control.begin_recovery(&found.info))
            .map_err(doing)?;
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
                let _alone = AbortOnPanic;
                if let Err(e) = queue::serve(&character, number, &info, &device, ready) {
                    // With one queue dead its requests would wait for ever, ours among them. When all of this
                    // process is gone, the kernel lets another one take them over.
                    tell(&Notice::UblkQueueFailed { device: path_of(info.id), source: e });
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
        if !wait_until(NODE, LOOK, || self.device.exists()) {
            return Err(AttachError::Missing {
                what: self.device.display().to_string(),
                advice: Advice::RunUdev,
            });
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

/// Waits until udev has handed a node to this user.
fn wait_for_hand_over(node: &Path) -> Result<(), AttachError> {
    if wait_until(HAND_OVER, LOOK, || is_ours(node)) {
        return Ok(());
    }
    Err(UblkError::NotHandedOver { node: node.display().to_string() }.into())
}

/// Opens the side of the device that its server has; there is one at a time.
fn open_character(id: u32) -> Result<File, AttachError> {
    let path = ublk_character(id);
    // udev has not made it yet, or looks at it.
    let udev = |e: &io::Error| matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::ResourceBusy);
    retry(NODE, LOOK, udev, || OpenOptions::new().read(true).write(true).open(&path))
        .map_err(|e| AttachError::io(format!("open {path}"), e))
}
