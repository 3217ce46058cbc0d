//! A block device of the kernel's ublk driver, new or taken over from a server that was killed.

use super::attached::Attached;
use crate::AttachError;
use crate::session::claim::Claim;
use crate::session::folder::runtime_folder;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::session::stale::{clean_stale_in, dead_states, waiting_device, waiting_in};
use crate::session::state::SessionState;
use crate::ublk::{self, UblkError, UblkVolume};
use keyway_engine::Device;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Ublk {
    volume: Option<UblkVolume>,
}

impl Attached for Ublk {
    fn serve(&mut self, on: &mut Serving, plan: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        on.state.transport = ublk::ATTACHMENT.into();
        let engine = Arc::clone(on.served.device()?);
        let runtime = runtime_folder()?;
        let dead = waiting_in(&runtime, &on.state.volume);
        let found = dead.first().and_then(|(_, state)| Some((state, waiting_device(state, ublk::CLEAN_UP)?)));
        let Some((old, waiting)) = found else { return self.make(on, &engine, plan) };
        let protected = |details: &serde_json::Value| details["hidden_protected"] == true;
        let unprotected = dead.iter().any(|(_, old)| protected(&old.details)) && !protected(&plan.details);
        if (unprotected || !waiting.is_like(&engine)) && !waiting.is_in_use() {
            // Nobody has seen the old one who would see the new one.
            clean_stale_in(&runtime, None)?;
            // Unless somebody has opened it at this moment: then it still waits.
            if waiting_in(&runtime, &on.state.volume).is_empty() {
                return self.make(on, &engine, plan);
            }
        }
        if unprotected {
            return Err(UblkError::Unprotected(waiting.device().display().to_string()).into());
        }
        let taken_over = UblkVolume::recover(&waiting, &engine, &on.gone)?;
        let device = self.volume.insert(taken_over).device().to_owned();
        // What was mounted still is.
        let mounted = keyway_sys::mounts().unwrap_or_default();
        let still = |at: &PathBuf| mounted.iter().any(|mount| mount.at == *at && mount.source == device);
        let old_mount = old.mountpoint.clone().filter(still);
        let wanted = plan.mount.as_ref().filter(|wanted| {
            let at = wanted.at.canonicalize().ok();
            at.is_none_or(|at| old_mount.as_ref() != Some(&at))
        });
        on.state.mountpoint = old_mount;
        on.state.filesystem = old.filesystem.clone();
        on.mount(device, wanted)?;
        on.state.write(&on.folder.state())?;
        for (folder, _) in dead {
            folder.remove()?;
        }
        Ok(())
    }

    fn tear_down(&mut self, _: &mut Serving) -> Result<(), AttachError> {
        let Some(volume) = &mut self.volume else { return Ok(()) };
        match volume.remove() {
            Err(busy @ AttachError::Busy { .. }) => Err(busy),
            done => {
                self.volume = None;
                done
            }
        }
    }
}

impl Ublk {
    fn make(&mut self, on: &mut Serving, engine: &Arc<Device>, plan: &AttachPlan) -> Result<(), AttachError> {
        // Each try would leave another one.
        let theirs = |state: &SessionState| ublk::not_handed_over(state.device.as_ref()?);
        if let Some(node) = dead_states(&runtime_folder()?).iter().find_map(theirs) {
            return Err(UblkError::NotHandedOver { node: node.display().to_string() }.into());
        }
        let (state, path) = (&mut on.state, on.folder.state());
        let volume = state.volume.clone();
        let made = UblkVolume::new(engine, &volume, &on.gone, |device| {
            state.device = Some(device.to_owned());
            state.write(&path)
        })?;
        let device = self.volume.insert(made).device().to_owned();
        on.mount(device, plan.mount.as_ref())
    }
}
