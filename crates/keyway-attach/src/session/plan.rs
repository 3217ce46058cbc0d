//! The order that a serving process is given.

use super::reason::Reason;
use super::sandbox::Sandbox;
use crate::mount::MountPlan;
use crate::nvme_tcp::Credentials;
use crate::{LocalUsers, path_text};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a volume shall reach the user.
#[derive(Debug, Clone)]
pub struct AttachPlan {
    /// The volume's file or block device. Its canonical path names the session.
    pub volume: PathBuf,
    /// The way.
    pub attachment: Attachment,
    /// What hosts must prove before an NVMe/TCP controller serves them; without it, it listens on loopback alone.
    pub credentials: Option<Arc<Credentials>>,
    /// Which users of this machine may connect to a TCP port where nobody must prove anything.
    pub users: LocalUsers,
    /// The loop device of [`Attachment::Fuse`] goes through the page cache of another one.
    pub cache: bool,
    /// Where the file system inside shall be mounted, if anywhere. Needs root and a block device, but for
    /// [`Attachment::Files`].
    pub mount: Option<MountPlan>,
    /// How the process is confined as soon as it is attached, if it is.
    pub sandbox: Option<Sandbox>,
    /// It closes by itself when nothing was asked of it for so long, and nobody uses it.
    pub close_when_idle: Option<Duration>,
    /// Why it is attached this way, where nobody asked for it.
    pub reasons: Vec<Reason>,
    /// What the format says about the volume, kept in the state file as it is for `status`.
    /// Never holds a secret.
    pub details: serde_json::Value,
}

/// The way to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attachment {
    /// A file in a FUSE file system.
    Fuse {
        /// Whether a loop device is put on the file (needs root).
        loop_device: bool,
    },
    /// The files of its file system in a folder, read by us and for reading only; without a mount point in the session's
    /// own.
    Files,
    /// A file in a FUSE file system, of which the helper on the system bus mounts what is in it, where it does.
    Mountd,
    /// A server for network block device clients.
    Nbd(NbdAddress),
    /// A disk for virtual machines, on a unix socket; `None`: in the session's own folder.
    VhostUser(#[serde(with = "path_text")] Option<PathBuf>),
    /// An NVMe/TCP controller.
    NvmeTcp(SocketAddr),
    /// The kernel's dm-crypt; for [`hand_over`](super::hand_over) alone.
    DmCrypt,
    /// A block device of the kernel's ublk driver; one whose server was killed is taken over.
    Ublk,
}

impl Attachment {
    /// The port at which nobody must prove anything; `hosts_prove` says that NVMe/TCP's hosts must.
    pub const fn unproven_port(&self, hosts_prove: bool) -> Option<SocketAddr> {
        match self {
            Self::Nbd(NbdAddress::Tcp(at)) => Some(*at),
            Self::NvmeTcp(at) if !hosts_prove => Some(*at),
            _ => None,
        }
    }

    /// Whether it is known that somebody has what is served open, though nothing is asked of it.
    pub const fn tells_users(&self) -> bool {
        !matches!(self, Self::Nbd(_) | Self::VhostUser(_) | Self::NvmeTcp(_))
    }

    /// What a session's state calls it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fuse { .. } => "fuse",
            Self::Files => "files",
            Self::Mountd => "mountd",
            Self::Nbd(_) => "nbd",
            Self::VhostUser(_) => "vhost-user",
            Self::NvmeTcp(_) => "nvme-tcp",
            Self::DmCrypt => "dm-crypt",
            Self::Ublk => "ublk",
        }
    }
}

/// Where NBD clients connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NbdAddress {
    /// A unix socket in the session's own folder.
    Session,
    /// A unix socket at this path.
    Unix(#[serde(with = "path_text")] PathBuf),
    /// A TCP port, without TLS on a loopback address only.
    Tcp(SocketAddr),
    /// One of the others, with TLS.
    Tls {
        /// Where.
        at: Box<Self>,
        /// The folder of certificates.
        #[serde(with = "path_text")]
        certificates: PathBuf,
    },
}
