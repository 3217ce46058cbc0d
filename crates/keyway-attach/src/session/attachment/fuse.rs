//! A file in a FUSE file system, and a loop device on it.

use super::attached::Attached;
use crate::AttachError;
use crate::fuse::{FuseMount, Options, Transport};
use crate::notice::{Notice, tell};
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::{Serving, keep_first};
use crate::session::warden::{Action, Step};
use keyway_sys::sandbox::Role;
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
    fn role(&self) -> Option<Role> {
        Some(Role::Fuse)
    }

    fn serve(&mut self, on: &mut Serving, plan: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        // Memory that we need must not wait for pages that only we can write out. Needs root;
        // without root there is no loop device whose pages could wait.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let transport =
            (std::env::var_os(TRANSPORT_VARIABLE).is_some_and(|v| v == "dev")).then_some(Transport::Device);
        let at = on.folder.mount_point();
        let options = Options { transport, cached: plan.cache, confined: on.state.sandbox.is_some() };
        let fuse = FuseMount::serve(Arc::clone(on.served.device()?), &at, options, Arc::clone(&on.gone))?;
        let file = fuse.file();
        on.state.transport = fuse.transport().to_string();
        on.state.file = Some(file.clone());
        self.mount = Some(fuse);
        if self.loop_device || plan.mount.is_some() {
            let (sector_bytes, read_only) = (on.served.sector_bytes(), on.served.is_read_only());
            let discards = on.served.device()?.passes_discards();
            let device = on.make(Step::Loop { file, sector_bytes, read_only, discards })?;
            if discards {
                let learns = || {
                    let step = Step::ForgoZeroing { device: device.clone(), sector_bytes };
                    on.take(step).is_ok_and(|learned| learned.is_some())
                };
                if !self.mount.as_ref().is_some_and(|fuse| fuse.pass_discards(learns)) {
                    tell(&Notice::NoDiscards);
                }
            }
            let device = match plan.cache {
                false => device,
                true => {
                    let below = on.state.cache.insert(device).clone();
                    on.make(Step::Cache { below, sector_bytes, read_only })?
                }
            };
            on.mount(device, plan.mount.as_ref())?;
        }
        Ok(())
    }

    /// Whether something below the loop device is in use: found out later, it would come when that one is gone already.
    fn drain(&self, on: &Serving) -> Result<(), AttachError> {
        on.state.device.as_ref().map_or(Ok(()), |_| on.perform(Action::Drain))
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        let mut first = Ok(());
        if on.state.device.is_some() {
            keep_first(&mut first, on.perform(Action::DetachDevice))?;
            on.state.device = None;
        }
        if on.state.cache.is_some() {
            keep_first(&mut first, on.perform(Action::DetachCache))?;
            on.state.cache = None;
        }
        if let Some(mount) = &mut self.mount {
            let released = on.perform(Action::UnmountFuse);
            if released.is_ok() {
                mount.join();
            }
            keep_first(&mut first, released)?;
            self.mount = None;
        }
        first
    }
}
