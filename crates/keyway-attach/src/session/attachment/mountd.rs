//! A file in a FUSE file system, of which the helper on the system bus mounts what is in it.
//!
//! Where it does not, the file is what there is: as without the helper.

use super::attached::Attached;
use super::fuse::Fuse;
use crate::AttachError;
use crate::mountd::{Helper, NotMounted};
use crate::notice::{Notice, tell};
use crate::session::claim::Claim;
use crate::session::plan::{AttachPlan, Attachment};
use crate::session::reason::Reason;
use crate::session::serving::Serving;
use crate::session::warden::Action;
use keyway_sys::sandbox::Role;
use std::fs::File;
use std::os::fd::AsFd;

pub(super) struct Mountd {
    file: Fuse,
    helper: Option<Helper>,
}

impl Mountd {
    pub(super) const fn new() -> Self {
        Self { file: Fuse::new(false), helper: None }
    }

    fn mount(&mut self, on: &mut Serving) -> Result<(), NotMounted> {
        let Some(path) = &on.state.file else { return Ok(()) };
        let read_only = on.served.is_read_only();
        let file = File::options().read(true).write(!read_only).open(path)?;
        let (helper, mounted) = Helper::mount(file.as_fd(), on.served.sector_bytes(), read_only)?;
        if mounted.unclean {
            tell(&Notice::Unclean(mounted.filesystem.clone()));
        }
        on.state.mountpoint = Some(mounted.folder);
        on.state.filesystem = Some(mounted.filesystem);
        on.state.read_only |= mounted.read_only;
        self.helper = Some(helper);
        Ok(())
    }
}

impl Attached for Mountd {
    fn role(&self) -> Option<Role> {
        self.file.role()
    }

    fn serve(
        &mut self,
        on: &mut Serving,
        plan: &AttachPlan,
        claim: Option<&Claim>,
    ) -> Result<(), AttachError> {
        self.file.serve(on, plan, claim)?;
        if let Err(NotMounted { why, nothing_there }) = self.mount(on) {
            let way = Attachment::Fuse { loop_device: false }.name();
            on.state.attachment = way.to_owned();
            on.state.reasons =
                vec![Reason::Best { way: way.to_owned() }, Reason::Refused { why: why.clone() }];
            // A volume that is to get its file system yet is what its user expects.
            if !nothing_there {
                tell(&Notice::NotMounted { volume: plan.volume.clone(), why });
            }
        }
        Ok(())
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        if let Some(helper) = &mut self.helper {
            // Any other failure ends with the connection, and what is mounted goes with that.
            if let Err(busy @ AttachError::Busy { .. }) = helper.unmount() {
                // Who it is, whoever has paths can see.
                return on.perform(Action::Drain).and(Err(busy));
            }
            self.helper = None;
            on.state.mountpoint = None;
        }
        self.file.tear_down(on)
    }
}
