//! The ways to the user, behind one trait with one lifetime. A new one is a folder of the crate's that serves, a file
//! here that implements [`Attached`] with it, and a line in [`of`].

mod attached;
#[cfg(feature = "dm-crypt")]
mod dm_crypt;
mod fuse;
mod nbd;
#[cfg(feature = "nvme-tcp")]
mod nvme_tcp;
mod server_thread;
#[cfg(feature = "ublk")]
mod ublk;
#[cfg(feature = "vhost-user")]
mod vhost_user;

pub(super) use attached::Attached;

use super::plan::Attachment;
use crate::AttachError;
use keyway_error::Advice;

/// The way that is planned.
///
/// # Errors
/// [`AttachError::Missing`] where the program was built without it.
pub(super) fn of(attachment: &Attachment) -> Result<Box<dyn Attached>, AttachError> {
    Ok(match attachment {
        Attachment::Fuse { loop_device } => Box::new(fuse::Fuse::new(*loop_device)),
        Attachment::Nbd(address) => Box::new(nbd::Nbd::new(address.clone())),
        #[cfg(feature = "vhost-user")]
        Attachment::VhostUser(path) => Box::new(vhost_user::VhostUser::new(path.clone())),
        #[cfg(feature = "nvme-tcp")]
        Attachment::NvmeTcp(address) => Box::new(nvme_tcp::NvmeTcp::new(*address)),
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
