//! `serve-volume` (hidden): the process that holds the keys and serves one volume until it is closed.

use crate::failure::{Exit, Failure};
use crate::given::Given;
use crate::nvme_auth;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::spawn::{self, Answer, ServeRequest, ServeSecrets};
use crate::volume;
use keyway::OpenOptions;
use keyway_attach::AttachError;
use keyway_attach::nvme_tcp::Credentials;
use keyway_attach::session::{self, AttachPlan, Attachment, SessionState};
use keyway_engine::{Access, Device, HandOver, LayerSecrets};
use keyway_store::Caching;
use keyway_volume::Info;
use serde_json::json;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Serve a volume as standard input asks
#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

/// Runs the verb. Errors go over the pipe; whoever started this prints them.
pub(crate) fn run(_: &Args, _: Output) -> Result<(), Failure> {
    // Only a process group's leader can't; then it has its own session already.
    let _ = rustix::process::setsid();
    let answer_to = io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(pipe_broke)?;
    let answered = AtomicBool::new(false);
    let served = spawn::receive().and_then(|(request, secrets)| {
        end_with_the_caller()?;
        serve(&request, secrets, |state, warnings| {
            let ready = Answer::Ready { state: Box::new(state.clone()), warnings: warnings.to_vec() };
            answered.store(true, Ordering::Release);
            answer(&answer_to, &ready);
            fall_silent();
        })
    });
    if let Err(failure) = &served
        && !answered.load(Ordering::Acquire)
    {
        answer(&answer_to, &Answer::from(failure));
        fall_silent();
    }
    served
}

/// Unlocks and serves in this process until the volume is closed.
pub(crate) fn serve(
    request: &ServeRequest,
    secrets: ServeSecrets,
    ready: impl FnOnce(&SessionState, &[String]),
) -> Result<(), Failure> {
    let access = if request.read_only { Access::ReadOnly } else { Access::ReadWrite };
    let by_kernel =
        request.attachment == Attachment::DmCrypt || request.chosen.as_ref().is_some_and(|c| c.kernel_first);
    let (which, protect) = (&request.which, secrets.protect.as_ref());
    let bar = SearchBar::new();
    let options = OpenOptions::new().arguments(which.arguments()).access(access).caching(Caching::Direct);
    let options = options.protect_hidden(protect).progress(&bar);
    let (open, keys) = if by_kernel {
        options.open_for_hand_over(&which.path, &secrets.own)?
    } else {
        (options.open_with(&which.path, &secrets.own)?, Vec::new())
    };
    drop(bar);
    if request.discards && open.info.is_hidden() {
        return Err(Failure::usage(
            "this is a hidden volume, and discards inside it would show everybody who sees the medium that it is there",
            "leave out --allow-discards",
        ));
    }
    let details = details(&open.info, &secrets, request.discards)?;
    let credentials = secrets.hosts.as_deref().map(nvme_auth::parse).transpose()?;
    drop(secrets);
    keyway_secret::wipe_stack();
    UNLOCKED.store(true, Ordering::Release);
    let mut warnings = open.warnings;
    if !keyway_secret::all_locked() {
        warnings
            .push("keys could not be locked in memory and may be swapped out: raise `ulimit -l`".to_owned());
    }
    let ready = |state: &SessionState| ready(state, &warnings);
    if by_kernel {
        return in_kernel(request, open.device, keys, details, ready);
    }
    let why = request.chosen.as_ref().map(|chosen| chosen.why.clone());
    ourselves(request, open.device, credentials, (why, details), ready)
}

/// Our engine decrypts.
fn ourselves(
    request: &ServeRequest,
    device: Device,
    credentials: Option<Arc<Credentials>>,
    (why, details): (Option<String>, serde_json::Value),
    ready: impl FnOnce(&SessionState),
) -> Result<(), Failure> {
    let device = if request.discards { device.allowing_discards() } else { device };
    let plan = AttachPlan { credentials, ..request.plan(request.attachment.clone(), why, details) };
    Ok(session::run(Arc::new(device), plan, ready)?)
}

/// The kernel decrypts. Where it can't, and nobody asked for it, we do.
fn in_kernel(
    request: &ServeRequest,
    device: Device,
    keys: Vec<LayerSecrets>,
    details: serde_json::Value,
    ready: impl FnOnce(&SessionState),
) -> Result<(), Failure> {
    let access = if device.is_read_only() { Access::ReadOnly } else { Access::ReadWrite };
    // The kernel claims a device for itself, so ours must be given up.
    let layout = device.into_layout();
    let (mut ready, mut spare) = (Some(ready), request.chosen.is_some().then(|| layout.clone()));
    let why = request.chosen.as_ref().map(|_| BY_KERNEL.to_owned());
    let volume = HandOver { layout, keys, access, discards: request.discards };
    let plan = request.plan(Attachment::DmCrypt, why, details.clone());
    let served = session::hand_over(volume, plan, |state| {
        // From now on nobody but the kernel has a key.
        spare = None;
        keyway_secret::wipe_stack();
        if let Some(ready) = ready.take() {
            ready(state);
        }
    });
    match (served, &request.chosen, spare, ready) {
        (Err(AttachError::DmCrypt(e)), Some(chosen), Some(layout), Some(ready)) => {
            let reason = e.to_string();
            let reason = reason.split("; ").next().unwrap_or_default();
            let store = volume::store(&request.which.path, access, Caching::Direct)?;
            let device = Device::new(Box::new(store), layout, access)?;
            ourselves(request, device, None, (Some(format!("{}; {reason}", chosen.why)), details), ready)
        }
        (served, ..) => Ok(served?),
    }
}

/// Why dm-crypt, when nobody asked for it.
const BY_KERNEL: &str = "the kernel has this volume's cipher, and does all the work without a detour";

/// What `status` tells later: the header's facts, and what kinds of secret opened it.
fn details(info: &Info, secrets: &ServeSecrets, discards: bool) -> Result<serde_json::Value, Failure> {
    let protectors = match (info, &secrets.own) {
        (Info::BitLocker(info), _) => json!(info.key_protectors),
        (Info::VeraCrypt(_), Given::VeraCrypt(own)) => json!([volume::protector_of(own)]),
        (Info::VeraCrypt(_), Given::BitLocker(_)) => json!([]),
    };
    let info = serde_json::to_value(info)
        .map_err(|e| Failure::new(Exit::Failed, format!("could not describe the volume: {e}"), ""))?;
    Ok(
        json!({"volume": info, "key_protectors": protectors, "hidden_protected": secrets.protect.is_some(), "discards": discards}),
    )
}

static UNLOCKED: AtomicBool = AtomicBool::new(false);

/// Ends this process if whoever asked goes away while the keys are still being derived.
fn end_with_the_caller() -> Result<(), Failure> {
    let mut input = io::stdin().as_fd().try_clone_to_owned().map(File::from).map_err(pipe_broke)?;
    std::thread::spawn(move || {
        let gone = matches!(input.read(&mut [0]), Ok(0));
        if gone && !UNLOCKED.load(Ordering::Acquire) {
            std::process::exit(Exit::Failed as i32);
        }
    });
    Ok(())
}

/// One line to whoever asked; they may have gone, and the volume is served all the same.
fn answer(mut to: &File, answer: &Answer) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let _ = to.write_all(&line);
    }
}

/// Lets go of the pipes and the terminal.
fn fall_silent() {
    if let Ok(null) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn pipe_broke(e: io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the pipe to the caller broke: {e}"), "try it again")
}
