//! A volume whose file system we do not write ourselves: it is attached and mounted where nobody else gets, for as long as files are
//! put into it.

use crate::error::{Error, about};
use crate::locked::{Keys, LockedVolume};
use crate::progress::{Progress, Stage};
use crate::sandbox::Sandbox;
use crate::session::{
    AttachBy, AttachRequest, Attachment, Need, ServingProgram, SessionError, SessionSecrets, Wish, by_fuse,
    close, mount_inside, status,
};
use crate::shown::shown;
use crate::unlock::{UnlockArguments, VolumeFormat};
use keyway_attach::session::MountedInside;
use keyway_attach::{AttachError, mount, user_mount};
use keyway_engine::Access;
use keyway_error::Advice;
use keyway_fs::FileSystemKind;
use keyway_fs::files::MountedFiles;
use keyway_volume::{Format, Info};
use std::ops::ControlFlow;
use std::path::Path;

/// A volume that is open and mounted for us. It is closed when this is dropped.
pub(super) struct Mounted {
    /// The session's.
    id: String,
    /// Given up before it is unmounted.
    files: Option<MountedFiles>,
    inside: Option<MountedInside>,
}

/// Whether somebody who writes to such a file system can be had here.
pub(super) fn must_be_writable(filesystem: FileSystemKind) -> Result<(), SessionError> {
    let root = rustix::process::geteuid().is_root();
    let by_device = root && Need::LoopDevice.check(Wish::default()).is_ok();
    let kind = filesystem.mount_type();
    match if by_device { mount::can_mount(kind) } else { user_mount::can_mount(kind) } {
        false => Err(SessionError::NoWriter { filesystem, root }),
        // That program gets the volume's file over FUSE.
        true if !root => by_fuse(false).map(drop).map_err(|error| match error {
            SessionError::Lacks { lack, .. } => SessionError::NoFuseToWrite { filesystem, lack },
            other => other,
        }),
        true => Ok(()),
    }
}

impl Mounted {
    /// Has a process of its own serve the volume, of which this is known, and mounts what is in it.
    pub(super) fn new(
        volume: &LockedVolume<'_>,
        access: Access,
        (info, filesystem): (&Info, FileSystemKind),
        (key, protect): Keys,
        by: &ServingProgram,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        // From now on Ctrl-C is a question that is asked in between: nothing stays open.
        progress.stage(Stage::PuttingFiles);
        if progress.at(0, 0).is_break() {
            return Err(Error::Stopped);
        }
        let read_only = access == Access::ReadOnly;
        let arguments = found(&volume.arguments, info, protect.is_some());
        let loops = Need::LoopDevice.check(Wish::default()).is_ok();
        let way = if loops { AttachBy::Auto } else { AttachBy::Fuse };
        let mut request = AttachRequest::new(&volume.path, arguments, way);
        request.read_only = read_only;
        request.protect_hidden = protect.is_some() && !read_only;
        request.require_sandbox = volume.sandbox.as_ref().is_some_and(Sandbox::is_required);
        let plan = request.plan()?;
        if let Attachment::Nbd(_) = plan.way.attachment {
            // That has neither a device nor a file: what is missing is told.
            by_fuse(true)?;
        }
        let mut secrets = SessionSecrets::from(key);
        secrets.protect = protect.filter(|_| !read_only);
        let session = plan.start(&secrets, by)?;
        drop(secrets);
        let mut mounted = Self { id: session.state.id, files: None, inside: None };
        let inside = mount_inside(&mounted.id, filesystem.mount_type(), read_only)?;
        let inside = mounted.inside.insert(inside);
        let files = MountedFiles::open(&inside.place, filesystem)?;
        if files.is_read_only()? && !read_only {
            return Err(SessionError::OnlyRead(filesystem).into());
        }
        mounted.files = Some(files);
        Ok(mounted)
    }

    pub(super) fn files(&mut self) -> Result<&mut MountedFiles, Error> {
        self.files.as_mut().ok_or(Error::Stopped)
    }

    /// Closes it; what was to be done with it is told first, and why it failed.
    pub(super) fn end(mut self, volume: &Path, done: Result<ControlFlow<()>, Error>) -> Result<(), Error> {
        let flushed = self.files.take().map_or(Ok(()), |files| files.flush().map_err(about(volume)));
        // What the file system says of it is "Input/output error".
        let failed = done.as_ref().err().or(flushed.as_ref().err()).map(ToString::to_string);
        let now = failed.as_ref().and_then(|_| status(&self.id).ok());
        let hit = now.as_ref().is_some_and(|now| now.guard_hit);
        let unwritten = now.and_then(|now| now.first_failed_write);
        let unmounted = self.inside.take().map_or(Ok(()), MountedInside::end);
        let closed = close(std::mem::take(&mut self.id));
        if hit {
            return Err(Error::from(SessionError::HiddenHit).at(volume));
        }
        // It may have been told that everything is well: the kernel writes later.
        if let Some(spared) = closed.as_ref().ok().and_then(|closed| closed.spared) {
            return Err(Error::from(SessionError::OverMetadata(spared)).at(volume));
        }
        if let (Some(failed), Some(why)) = (failed, unwritten) {
            let (volume, reason) = (shown(volume), format!("{why} ({failed})"));
            return Err(AttachError::ClosedBadly { volume, reason }.into());
        }
        if done?.is_break() {
            return Err(Error::Stopped.leaving(Advice::SkipExistingGoesOn));
        }
        flushed?;
        Ok(unmounted.and(closed.map(drop))?)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.files = None;
        self.inside = None;
        if !self.id.is_empty()
            && let Err(e) = close(&self.id)
        {
            log::error!("put: session {} stays open: {}", shown(&self.id), e);
        }
    }
}

/// The arguments with what is known by now: only one key is derived the second time.
fn found(arguments: &UnlockArguments, info: &Info, protects: bool) -> UnlockArguments {
    let mut found = arguments.clone();
    match info {
        Info::VeraCrypt(info) if !protects => {
            found.hash = Some(info.hash);
            found.format = Some(match info.format {
                Format::VeraCrypt => VolumeFormat::VeraCrypt,
                Format::TrueCrypt => VolumeFormat::TrueCrypt,
            });
        }
        // The hidden volume may have been made otherwise.
        Info::VeraCrypt(_) | Info::BitLocker(_) => {}
    }
    found
}
