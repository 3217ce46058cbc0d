//! A file in a FUSE file system, and a loop device on it.

use super::attached::Attached;
use crate::fuse::{FuseMount, Options, Transport};
use crate::notice::{Notice, tell};
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::{Serving, keep_first};
use crate::{AttachError, loopdev};
use std::sync::Arc;

/// Set to `dev` to do without io_uring, where it causes trouble.
const TRANSPORT_VARIABLE: &str = "KEYWAY_FUSE";

pub(super) struct Fuse {
    /// Whether a loop device is put on the file, also where nothing is mounted.
    loop_device: bool,
    mount: Option<FuseMount>,
}

impl Fuse {
    pub(super) const fn new(loop_device: bool) -> Self {
        Self { loop_device, mount: None }
    }
}

impl Attached for Fuse {
    fn serve(&mut self, on: &mut Serving, plan: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        // Memory that we need must not wait for pages that only we can write out. Needs root;
        // without root there is no loop device whose pages could wait.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let transport =
            (std::env::var_os(TRANSPORT_VARIABLE).is_some_and(|v| v == "dev")).then_some(Transport::Device);
        let at = on.folder.mount_point();
        let options = Options { transport, cached: plan.cache };
        let fuse = FuseMount::serve(Arc::clone(on.served.device()?), &at, options, Arc::clone(&on.gone))?;
        let file = fuse.file();
        on.state.transport = fuse.transport().to_string();
        on.state.file = Some(file.clone());
        self.mount = Some(fuse);
        if self.loop_device || plan.mount.is_some() {
            let (sector_bytes, read_only) = (on.served.sector_bytes(), on.served.is_read_only());
            let device = loopdev::attach(&file, sector_bytes, read_only)?;
            if on.served.device()?.passes_discards()
                && self.mount.as_ref().is_some_and(|fuse| !fuse.pass_discards(&device))
            {
                tell(&Notice::NoDiscards);
            }
            let device = match plan.cache {
                false => device,
                true => {
                    let below = on.state.cache.insert(device);
                    loopdev::cache(below, sector_bytes, read_only)?
                }
            };
            on.mount(device, plan.mount.as_ref())?;
        }
        Ok(())
    }

    /// Found out only below the other loop device, it would come when that one is gone already.
    fn drain(&self, on: &Serving) -> Result<(), AttachError> {
        on.state.cache.as_deref().map_or(Ok(()), loopdev::refuse_while_open)
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        let mut first = Ok(());
        if let Some(device) = &on.state.device {
            keep_first(&mut first, loopdev::detach(device))?;
            on.state.device = None;
        }
        if let Some(below) = &on.state.cache {
            keep_first(&mut first, loopdev::detach(below))?;
            on.state.cache = None;
        }
        if let Some(mount) = &mut self.mount {
            keep_first(&mut first, mount.unmount())?;
            self.mount = None;
        }
        first
    }
}
