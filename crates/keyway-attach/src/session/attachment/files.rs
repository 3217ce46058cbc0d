//! The files of the volume's file system in a folder, read by us.

use super::attached::Attached;
use crate::files::FilesMount;
use crate::mount::option_of_drivers;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::session::warden::Action;
use crate::{AttachError, fuse};
use keyway_sys::sandbox::Role;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Files {
    mount: Option<FilesMount>,
}

impl Attached for Files {
    fn role(&self) -> Option<Role> {
        Some(Role::Fuse)
    }

    /// What is in the file system is looked at by who has no paths any more.
    fn is_attached_when_prepared(&self) -> bool {
        true
    }

    fn prepare(&mut self, on: &mut Serving, plan: &AttachPlan) -> Result<(), AttachError> {
        let at = match &plan.mount {
            Some(wanted) => wanted.at.canonicalize(),
            None => Ok(on.folder.mount_point()),
        };
        let at = at.map_err(|e| AttachError::io("find the folder for the files", e))?;
        let options = plan.mount.as_ref().map_or("", |wanted| &*wanted.options);
        if let Some(option) = option_of_drivers(options) {
            let source =
                std::io::Error::other(format!("without the kernel's driver there is no option {option}"));
            return Err(AttachError::Mount { found: "files".into(), at, source });
        }
        on.state.transport = fuse::Transport::Device.to_string();
        on.state.read_only = true;
        // Whoever finds us killed knows what is ours.
        on.state.mountpoint = Some(at.clone());
        on.state.write(&on.folder.state())?;
        self.mount = Some(FilesMount::new(&at, on.state.sandbox.is_some(), Arc::clone(&on.gone))?);
        Ok(())
    }

    fn serve(&mut self, on: &mut Serving, _: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        if let Some(mount) = &self.mount {
            on.state.filesystem = Some(mount.show(on.served.device()?)?.to_owned());
        }
        Ok(())
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        let Some(mount) = &mut self.mount else { return Ok(()) };
        // Where nothing was shown, nobody shall wait for it.
        mount.show_nothing();
        let released = on.perform(Action::UnmountFuse);
        if released.is_ok() {
            mount.join();
            on.state.mountpoint = None;
        }
        if !matches!(released, Err(AttachError::Busy { .. })) {
            self.mount = None;
        }
        released
    }
}
