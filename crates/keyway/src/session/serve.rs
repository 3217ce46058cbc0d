//! Unlocks a volume and serves it in this process: our engine decrypts, or the kernel does.

use super::Session;
use super::error::SessionError;
use super::in_use::refuse_if_taken;
use super::mount_point::make_mount_point;
use super::plan::{SessionPlan, SessionSecrets};
use crate::error::Error;
use crate::log_file;
use crate::medium;
use crate::progress::Progress;
use crate::protectors::SecretProtector;
use crate::shown::shown;
use crate::unlock::Key;
use crate::volume::OpenOptions;
use keyway_attach::AttachError;
use keyway_attach::mount::known_drivers;
use keyway_attach::nvme_tcp::Credentials;
use keyway_attach::path_text;
use keyway_attach::session::{self, AttachPlan, Attachment, Reason, Sandbox, SessionState};
use keyway_engine::{Access, Device, HandOver, LayerSecrets};
use keyway_error::{Explain, Fault};
use keyway_store::{Caching, Held};
use keyway_sys::is_folder;
use keyway_volume::Info;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl SessionPlan {
    /// Unlocks the volume and serves it in this process until it is closed, by [`close`](super::close) or by a signal
    /// (SIGTERM, SIGINT and others). `ready` is called once it serves. The secrets are wiped before that.
    ///
    /// A process calls this once, before it has started other threads.
    ///
    /// # Errors
    /// It can't be unlocked or attached, with nothing left behind; or the last flush failed.
    pub fn serve(
        &self,
        secrets: SessionSecrets,
        progress: impl Progress,
        ready: impl FnOnce(&Session),
    ) -> Result<(), Error> {
        let ready = |session: &Session| {
            ready(session);
            true
        };
        serve(self, secrets, progress, &AtomicBool::new(false), ready)
    }
}

/// How it can be reached, for the log.
fn reached(state: &SessionState) -> String {
    let places = [("device", &state.device), ("file", &state.file), ("mounted at", &state.mountpoint)];
    let places = places.into_iter().filter_map(|(what, at)| Some(format!("{what} {}", shown(at.as_ref()?))));
    let socket = state.socket.iter().map(|at| format!("socket {}", shown(at)));
    let all = [state.attachment.clone()].into_iter().chain(places).chain(socket);
    all.collect::<Vec<_>>().join(", ")
}

/// The same; `unlocked` becomes true when the keys are derived, and where `ready` says no, it is closed again.
pub(super) fn serve(
    plan: &SessionPlan,
    secrets: SessionSecrets,
    progress: impl Progress,
    unlocked: &AtomicBool,
    ready: impl FnOnce(&Session) -> bool,
) -> Result<(), Error> {
    known_drivers();
    if let Some(number) = plan.held {
        Held::take_over(number).map_err(SessionError::process("take the volume over"))?;
    }
    let sandbox = plan.sandbox()?;
    let by_kernel = plan.way.attachment == Attachment::DmCrypt;
    let options = OpenOptions::new().arguments(plan.arguments.clone()).access(plan.access());
    let options =
        options.caching(Caching::Direct).protect_hidden(secrets.protect.as_ref()).progress(&progress);
    let opened = match by_kernel {
        true => options.open_for_hand_over(&plan.volume, &secrets.key),
        false => options.open_with(&plan.volume, &secrets.key).map(|open| (open, Vec::new())),
    };
    // Somebody was faster since it was looked at: then it is open by now, and told as that.
    let (open, keys) = opened.map_err(|error| match error.explain().fault {
        Fault::InUse => refuse_if_taken(&plan.volume, plan.access()).err().unwrap_or(error),
        _ => error,
    })?;
    drop(progress);
    if plan.discards && open.info.is_hidden() {
        return Err(SessionError::DiscardsInHidden.into());
    }
    let mut details = details(&open.info, &secrets, plan.discards)?;
    details["partition"] = json!(plan.arguments.partition);
    details["whole_bytes"] = json!(open.whole_bytes);
    // Whoever takes the session down removes what was made for it.
    if let Some(at) = plan.mount.as_deref().filter(|at| !is_folder(at)) {
        make_mount_point(at)?;
        details[SessionState::MOUNTPOINT_MADE] = path_text::value(at);
    }
    let credentials = secrets.hosts.as_deref().map(Credentials::parse).transpose();
    let credentials = credentials.map_err(SessionError::from)?.map(Arc::new);
    drop(secrets);
    keyway_secret::wipe_stack();
    unlocked.store(true, Ordering::Release);
    let warnings = open.warnings;
    let device = open.device;
    let ready = |state: &SessionState| {
        log::info!("attach {}: {}", shown(&state.volume), reached(state));
        let (state, keys_locked) = (state.clone(), keyway_secret::all_locked());
        ready(&Session { state, warnings, keys_locked })
    };
    let served = if by_kernel {
        in_kernel(plan, device, keys, (details, sandbox), ready)
    } else {
        let attach = plan.attach(&plan.way, details, credentials, sandbox);
        ourselves(plan, attach, device, ready)
    };
    log_file::outcome("serve", &plan.volume, &served, |()| "ended".to_owned());
    served
}

/// Our engine decrypts.
fn ourselves(
    plan: &SessionPlan,
    attach: AttachPlan,
    device: Device,
    ready: impl FnOnce(&SessionState) -> bool,
) -> Result<(), Error> {
    let device = if plan.discards { device.allowing_discards() } else { device };
    Ok(session::run(Arc::new(device), attach, ready)?)
}

/// The kernel decrypts. Where it can't, and the plan has another way, we do.
fn in_kernel(
    plan: &SessionPlan,
    device: Device,
    keys: Vec<LayerSecrets>,
    (details, sandbox): (Value, Option<Sandbox>),
    ready: impl FnOnce(&SessionState) -> bool,
) -> Result<(), Error> {
    let access = if device.is_read_only() { Access::ReadOnly } else { Access::ReadWrite };
    // The kernel claims a device for itself, so ours must be given up.
    let layout = device.into_layout();
    let (mut ready, mut spare) = (Some(ready), plan.otherwise.is_some().then(|| layout.clone()));
    let volume = HandOver { layout, keys, access, discards: plan.discards };
    let attach = plan.attach(&plan.way, details.clone(), None, sandbox.clone());
    let served = session::hand_over(volume, attach, |state| {
        // From now on nobody but the kernel has a key.
        spare = None;
        keyway_secret::wipe_stack();
        ready.take().is_some_and(|ready| ready(state))
    });
    match (served, &plan.otherwise, spare, ready) {
        (Err(AttachError::DmCrypt(e)), Some(other), Some(layout), Some(ready)) => {
            let mut way = other.clone();
            way.reasons.push(Reason::Refused { why: e.to_string() });
            let store = medium::open(&plan.volume, access, Caching::Direct)?;
            let device = Device::new(Box::new(store), layout, access)?;
            ourselves(plan, plan.attach(&way, details, None, sandbox), device, ready)
        }
        (served, ..) => Ok(served?),
    }
}

/// What `status` tells later: the header's facts, and what kinds of secret opened it.
fn details(info: &Info, secrets: &SessionSecrets, discards: bool) -> Result<Value, AttachError> {
    let protectors = match (info, &secrets.key) {
        (Info::BitLocker(info), _) => json!(info.key_protectors),
        (Info::VeraCrypt(_), Key::VeraCrypt(own)) => json!([SecretProtector::from(own)]),
        (Info::VeraCrypt(_), Key::BitLocker(_)) => json!([]),
    };
    let info = serde_json::to_value(info).map_err(|e| AttachError::io("describe the volume", e))?;
    Ok(json!({
        "volume": info,
        "key_protectors": protectors,
        "hidden_protected": secrets.protect.is_some(),
        "discards": discards,
    }))
}
