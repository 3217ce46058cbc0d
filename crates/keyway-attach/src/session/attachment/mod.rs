//! The ways to the user, behind one trait with one lifetime. A new one is a folder of the crate's that serves, a file
//! here that implements [`Attached`] with it, and a line in [`of`].

mod attached;
#[cfg(feature = "dm-crypt")]
mod dm_crypt;
mod files;
mod fuse;
#[cfg(feature = "mountd")]
mod mountd;
mod nbd;
#[cfg(feature = "nvme-tcp")]
mod nvme_tcp;
mod server;
#[cfg(feature = "ublk")]
mod ublk;
#[cfg(feature = "vhost-user")]
mod vhost_user;

pub(super) use attached::Attached;

use super::plan::Attachment;
use super::sandbox::SandboxState;
use crate::AttachError;
use keyway_error::Advice;
use server::Server;

/// The way that is planned.
///
/// # Errors
/// [`AttachError::Missing`] where the program was built without it.
pub(super) fn of(attachment: &Attachment) -> Result<Box<dyn Attached>, AttachError> {
    Ok(match attachment {
        Attachment::Fuse { loop_device } => Box::new(fuse::Fuse::new(*loop_device)),
        Attachment::Files => Box::new(files::Files::default()),
        #[cfg(feature = "mountd")]
        Attachment::Mountd => Box::new(mountd::Mountd::new()),
        Attachment::Nbd(address) => Box::new(Server::new(nbd::Nbd(address.clone()))),
        #[cfg(feature = "vhost-user")]
        Attachment::VhostUser(path) => Box::new(Server::new(vhost_user::VhostUser(path.clone()))),
        #[cfg(feature = "nvme-tcp")]
        Attachment::NvmeTcp(address) => Box::new(Server::new(nvme_tcp::NvmeTcp(*address))),
        #[cfg(feature = "dm-crypt")]
        Attachment::DmCrypt => Box::new(dm_crypt::DmCrypt),
        #[cfg(feature = "ublk")]
        Attachment::Ublk => Box::new(ublk::Ublk::default()),
        #[allow(unreachable_patterns, reason = "with all features there is none left")]
        other => {
            return Err(AttachError::Missing {
                what: format!("what serves by {}", other.name()),
                advice: Advice::AttachOtherwiseBuilt,
            });
        }
    })
}

/// The sandbox of the process that serves in that way.
///
/// # Errors
/// [`AttachError::Missing`] with what it lacks, where it is `required`.
pub(super) fn sandbox(attachment: &Attachment, required: bool) -> Result<Option<SandboxState>, AttachError> {
    let sandbox = SandboxState::of(of(attachment)?.role());
    let lacks = match &sandbox {
        // With dm-crypt no process of ours has a key.
        None if *attachment == Attachment::DmCrypt => None,
        None => Some(format!("a sandbox around what serves by {}", attachment.name())),
        Some(sandbox) => (!sandbox.missing.is_empty()).then(|| sandbox.missing.join(", ")),
    };
    match lacks.filter(|_| required) {
        Some(what) => Err(AttachError::Missing { what, advice: Advice::NewerKernelForSandbox }),
        None => Ok(sandbox),
    }
}

/// Refuses a way in which the process that serves would lack a layer of its sandbox, or all of it.
///
/// # Errors
/// [`AttachError::Missing`] with what it lacks.
pub fn require_sandbox(attachment: &Attachment) -> Result<(), AttachError> {
    sandbox(attachment, true).map(drop)
}
