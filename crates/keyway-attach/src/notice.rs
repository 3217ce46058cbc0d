//! Notices of a serving process, for a front to show or to log.

use crate::AttachError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Something that was noticed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Notice {
    /// Requests that come by a FUSE queue can't be answered any more: this process ends at once.
    #[error("a FUSE queue failed, and this process ends: {0}")]
    FuseQueueFailed(#[source] io::Error),
    /// A thread that served FUSE's requests ended.
    #[error("a FUSE thread ended: {0}")]
    FuseThreadEnded(#[source] io::Error),
    /// A ublk device's queue can't be served: this process ends at once.
    #[error("a queue of {} can't be served: {source}", device.display())]
    UblkQueueFailed {
        /// The device.
        device: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// A virtual machine spoke nonsense, and was left.
    #[error("a virtual machine's connection ended: {0}")]
    MachineLeft(String),
    /// A user of this machine tried to connect who may not; told once of each.
    #[error("{} of this machine tried to connect{}, and was refused", named(*user), at(*address))]
    Refused {
        /// Who, where that is known.
        user: Option<u32>,
        /// Where to, if it is a port.
        address: Option<SocketAddr>,
    },
    /// This kernel's loop devices don't tell discards from zeroing: none are passed on.
    #[error("this kernel's loop devices can't tell discards from zeroing, so none are passed on")]
    NoDiscards,
    /// The helper on the system bus did not mount what is in the volume, which is a file for that reason.
    #[error(
        "{} was to be mounted, and keyway-mountd did not mount it: {why}. It is open as a file instead; once it is closed, \
         `keyway ls` and `keyway get` reach its files where it is FAT, exFAT, NTFS or ext, and \
         `sudo keyway open VOLUME FOLDER` mounts it",
        volume.display()
    )]
    NotMounted {
        /// The volume.
        volume: PathBuf,
        /// The helper's reason.
        why: String,
    },
    /// What the helper mounted was not left in order, and is only read.
    #[error(
        "the {0} in it was not unmounted in good order, so it is mounted for reading only: check it first"
    )]
    Unclean(String),
    /// The volume's file was deleted while it was open: what is in it goes now.
    #[error("{} was deleted while it was open, and what is in it goes now", .0.display())]
    Deleted(PathBuf),
    /// The folder was taken away by which other processes find the session: a logout does that.
    #[error("{}: its session's folder was taken away, so that nobody could close it any more, and it is closed now", .0.display())]
    Vanished(PathBuf),
    /// A volume's server had been killed, and what it left was cleared away by whoever came next.
    #[error(
        "{} was served by a process that had been killed; what it left was cleared away. What had been flushed is safe; check \
         what was written last",
        .0.display()
    )]
    Killed(PathBuf),
    /// Somebody else is at work on this user's sessions.
    #[error("waiting: {0}")]
    Waiting(#[source] AttachError),
}

impl Notice {
    /// Whether its user should do something about it, or know it at least.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. }
                | Self::NoDiscards
                | Self::NotMounted { .. }
                | Self::Unclean(_)
                | Self::Deleted(_)
                | Self::Vanished(_)
                | Self::Killed(_)
        )
    }
}

fn named(user: Option<u32>) -> String {
    user.map_or_else(|| "somebody unknown".to_owned(), |user| format!("user {user}"))
}

fn at(address: Option<SocketAddr>) -> String {
    address.map_or_else(String::new, |at| format!(" to {at}"))
}

static LISTENER: OnceLock<fn(&Notice)> = OnceLock::new();

/// Has this function called with everything that is noticed in this process from now on; the first one stays.
pub fn on_notice(listener: fn(&Notice)) {
    let _ = LISTENER.set(listener);
}

pub(crate) fn tell(notice: &Notice) {
    if let Some(listener) = LISTENER.get() {
        listener(notice);
    }
}
