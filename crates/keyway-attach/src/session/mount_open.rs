//! Mounts the file system of a volume that is open already.

use super::state::SessionState;
use super::{alive, not_open};
use crate::AttachError;
use crate::mount::{self, MountPlan};
use crate::user_mount::UserMount;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What is mounted in a session's own folder, where nobody else gets.
pub struct MountedInside {
    /// Where this process reaches it.
    pub place: PathBuf,
    /// The program that shows it, where that is not the kernel.
    program: Option<UserMount>,
}

impl MountedInside {
    /// Ends the program that shows it, if there is one. The kernel's goes when the volume is closed.
    ///
    /// # Errors
    /// It can't write the last of it, or does not end.
    pub fn end(self) -> Result<(), AttachError> {
        self.program.map_or(Ok(()), UserMount::end)
    }
}

/// Mounts what is in an open volume, and nowhere mounted, in the session's own folder: its block device, which closing it
/// unmounts, or, for who has none, its file, by a program that is its file system.
///
/// # Errors
/// As [`mount_open`]; or nothing here mounts it.
pub fn mount_inside(
    what: impl AsRef<Path>,
    filesystem: &str,
    read_only: bool,
) -> Result<MountedInside, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    let at = folder.inside();
    let made = std::fs::DirBuilder::new().mode(0o700).create(&at);
    made.map_err(|e| AttachError::on("make", &at, e))?;
    let read_only = read_only || state.read_only;
    let file = match (&state.device, &state.file) {
        (None, Some(file)) => file,
        _ => {
            let options = if read_only { unreplayed(filesystem) } else { "noexec" };
            mount_open(&state.id, &at, options, read_only)?;
            return Ok(MountedInside { place: at, program: None });
        }
    };
    let program = UserMount::start(file, &at, filesystem, read_only)?;
    Ok(MountedInside { place: program.place(), program: Some(program) })
}

/// The options that have the kernel show a file system as it lies there, with no journal replayed.
fn unreplayed(filesystem: &str) -> &'static str {
    match filesystem {
        "ext4" => "noexec,noload",
        "xfs" => "noexec,norecovery",
        _ => "noexec",
    }
}

/// Mounts what is in an open volume on a folder, for root; closing it unmounts that.
///
/// # Errors
/// [`AttachError::NotOpen`]; it has no block device, or is mounted already; or there is nothing that can be mounted.
pub fn mount_open(
    what: impl AsRef<Path>,
    at: &Path,
    options: &str,
    read_only: bool,
) -> Result<SessionState, AttachError> {
    let (folder, state) = alive(what.as_ref())?.ok_or_else(|| not_open(what.as_ref()))?;
    let already =
        || AttachError::AlreadyOpen { volume: state.volume.clone(), mountpoint: state.mountpoint.clone() };
    let device = state.device.as_deref().filter(|_| state.mountpoint.is_none()).ok_or_else(already)?;
    let fail = |e: io::Error| AttachError::io(format!("mount it on {}", at.display()), e);
    let at = at.canonicalize().map_err(fail)?;
    // What somebody has unmounted by hand.
    match std::fs::remove_file(folder.later_mount()) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(fail(e)),
        _ => {}
    }
    let wanted = MountPlan { at: at.clone(), filesystem: None, options: options.to_owned(), ends_it: false };
    let filesystem = mount::mount(device, &wanted, read_only || state.read_only)?;
    if let Err(e) = std::os::unix::fs::symlink(&at, folder.later_mount()) {
        mount::unmount(&at)?;
        return Err(if e.kind() == io::ErrorKind::AlreadyExists { already() } else { fail(e) });
    }
    Ok(SessionState { mountpoint: Some(at), filesystem: Some(filesystem), ..state })
}

/// The same, on a folder that was made for it, which goes with the session.
///
/// # Errors
/// As [`mount_open`].
pub fn mount_open_on_new(
    what: impl AsRef<Path>,
    at: &Path,
    options: &str,
    read_only: bool,
) -> Result<SessionState, AttachError> {
    let mounted = mount_open(what, at, options, read_only);
    // Where that can't be kept in mind, or it is not empty, the folder stays.
    if let Ok(state) = &mounted {
        let _ = alive(Path::new(&state.id))?.map(|(folder, _)| folder.keep_made(at));
    } else {
        let _ = std::fs::remove_dir(at);
    }
    mounted
}
