//! What is wanted of an attachment, and the plan that comes of it: all that can be refused is refused before anybody is
//! asked for a secret.

use super::error::{Purpose, SessionError};
use super::in_use::{must_be_writable, naming_the_open_one, refuse_if_open, refuse_if_taken};
use super::mount_point::{may_mount_on, mount_point_to_be};
use super::plan::{AttachChoice, SessionPlan};
use crate::detect::plain_and_mounted;
use crate::error::{Error, Misuse};
use crate::key_file::must_be_new;
use crate::medium;
use crate::unlock::UnlockArguments;
use keyway_attach::mount::{check_options, option_of_drivers};
use keyway_attach::nbd::Certificates;
use keyway_attach::session::{
    Attachment, Lack, LackReason, NbdAddress, Need, Reason, Wish, choose, clean_stale_before,
    folder_for_sessions, require_sandbox, runtime_folder, waiting,
};
use keyway_attach::{AttachError, LocalUsers, dmcrypt, ublk};
use keyway_engine::Access;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

/// The way to attach a volume.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AttachBy {
    /// The best that this machine offers.
    #[default]
    Auto,
    /// A file, and for root a loop device on it.
    Fuse,
    /// The files of its file system in a folder, read by us: for reading only.
    Files,
    /// A socket for NBD clients, in the session's own folder.
    Nbd,
    /// A socket for virtual machines, in the session's own folder.
    VhostUser,
    /// A block device of the kernel's ublk driver.
    Ublk,
    /// The kernel's dm-crypt.
    DmCrypt,
    /// A server at this address.
    To(Attachment),
}

/// What is wanted of an attachment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AttachRequest {
    /// The volume's file or device.
    pub volume: PathBuf,
    /// What it is looked for as.
    pub arguments: UnlockArguments,
    /// The way.
    pub by: AttachBy,
    /// Where the file system inside is mounted.
    pub mount: Option<PathBuf>,
    /// With these further options, as `mount -o` takes them.
    pub mount_options: String,
    /// No writes.
    pub read_only: bool,
    /// Discards reach the medium.
    pub discards: bool,
    /// The loop device goes through the page cache.
    pub cache: bool,
    /// It closes by itself when nobody has used it for so long.
    pub close_when_idle: Option<Duration>,
    /// A hidden volume is protected.
    pub protect_hidden: bool,
    /// Which users of this machine may connect to a port at which nobody must prove anything.
    pub users: LocalUsers,
    /// Hosts must prove that they know a secret (NVMe/TCP).
    pub hosts_prove: bool,
    /// The process that serves lacks no layer of its sandbox.
    pub require_sandbox: bool,
}

impl AttachRequest {
    /// The volume, for reading and writing.
    pub fn new(volume: impl Into<PathBuf>, arguments: UnlockArguments, by: AttachBy) -> Self {
        Self {
            volume: volume.into(),
            arguments,
            by,
            mount: None,
            mount_options: String::new(),
            read_only: false,
            discards: false,
            cache: false,
            close_when_idle: None,
            protect_hidden: false,
            users: LocalUsers::Own,
            hosts_prove: false,
            require_sandbox: false,
        }
    }

    /// How the volume would be attached.
    ///
    /// # Errors
    /// It isn't there, may not be written, is in use, or can't be had in this way here.
    pub fn plan(&self) -> Result<SessionPlan, Error> {
        let open_port = match &self.by {
            AttachBy::To(attachment) => attachment.unproven_port(self.hosts_prove),
            _ => None,
        };
        if self.users == LocalUsers::Any && open_port.is_none() {
            return Err(Misuse::NoUnprovenPort.into());
        }
        let read_only = self.read_only || self.shows_files();
        check_options(&self.mount_options)?;
        if option_of_drivers(&self.mount_options).is_some() && self.shows_files() {
            return Err(Misuse::MountOptionsOfFiles.into());
        }
        self.look(read_only)?;
        if self.cache && self.protect_hidden {
            return Err(Misuse::CacheWithHidden.into());
        }
        if read_only && self.protect_hidden {
            return Err(match self.read_only {
                true => Misuse::NothingToProtect.into(),
                false => SessionError::OnlyReadUnprotected.into(),
            });
        }
        let (way, otherwise) = self.way()?;
        // Who is connected over a network, or as a virtual machine, has it as a disk, and asks nothing of it for hours.
        if self.close_when_idle.is_some() && !way.attachment.tells_users() {
            return Err(Misuse::IdleClients.into());
        }
        let mount = self.mount.as_deref().map(mount_point_to_be).transpose()?;
        if way.attachment == Attachment::Files {
            mount.as_deref().map_or(Ok(()), may_mount_on)?;
        }
        if self.discards && self.protect_hidden {
            return Err(Misuse::DiscardsAroundHidden.into());
        }
        let mut plan = SessionPlan::new(&self.volume, self.arguments.clone(), way)?;
        if let Attachment::Nbd(NbdAddress::Tls { certificates, .. }) = &plan.way.attachment {
            Certificates::from_folder(certificates).map_err(AttachError::from)?;
        }
        if let Attachment::VhostUser(Some(socket)) | Attachment::Nbd(NbdAddress::Unix(socket)) =
            &plan.way.attachment
        {
            let there = socket.symlink_metadata().is_ok_and(|about| about.file_type().is_socket());
            if there { Ok(()) } else { must_be_new(socket) }?;
        }
        if let Some(at) = open_port.filter(|at| !at.ip().is_loopback()) {
            let by_nvme = matches!(plan.way.attachment, Attachment::NvmeTcp(_));
            return Err(Misuse::Unproven { address: at.ip(), by_nvme }.into());
        }
        if self.require_sandbox {
            require_sandbox(&plan.way.attachment)?;
        }
        (plan.otherwise, plan.mount, plan.read_only) = (otherwise, mount, read_only);
        (plan.discards, plan.cache, plan.users) = (self.discards, self.cache, self.users);
        plan.close_when_idle = self.close_when_idle;
        plan.require_sandbox = self.require_sandbox;
        plan.mount_options.clone_from(&self.mount_options);
        Ok(plan)
    }

    /// Whether the volume is there, and free.
    fn look(&self, read_only: bool) -> Result<(), Error> {
        medium::must_exist(&self.volume)?;
        if !read_only {
            let could_be_read = |e| match e {
                Error::Session(e) => e.into(),
                e => Error::CanOnlyBeRead(Box::new(e)),
            };
            must_be_writable(&self.volume).map_err(could_be_read)?;
        }
        let access = if read_only { Access::ReadOnly } else { Access::ReadWrite };
        // Its session needs one: said before anybody types a password.
        folder_for_sessions()?;
        let free = if let AttachBy::To(_) = self.by {
            refuse_if_open(&self.volume, access)
        } else {
            // Its block device may wait for a server: it gets one.
            clean_stale_before(&self.volume)?;
            refuse_if_taken(&self.volume, access)
        };
        free.map_err(|refused| match plain_and_mounted(&self.volume, &self.arguments) {
            Some(plain) => plain,
            None => naming_the_open_one(&self.volume, self.arguments.partition, refused),
        })
    }

    fn wish(&self) -> Wish {
        Wish { mount: self.mount.is_some(), protect_hidden: self.protect_hidden }
    }

    /// Whether its files will be shown, and nothing be written.
    fn shows_files(&self) -> bool {
        let shown = || {
            choose(self.wish(), |_| true).is_ok_and(|choice| choice.candidate.attachment == Attachment::Files)
        };
        self.by == AttachBy::Files
            || self.by == AttachBy::Auto && !self.cache && self.mount.is_some() && shown()
    }

    /// The way, and the one to take where the kernel refuses the volume.
    fn way(&self) -> Result<(AttachChoice, Option<AttachChoice>), Error> {
        let wish = self.wish();
        if wish.mount && matches!(self.by, AttachBy::Nbd | AttachBy::VhostUser) {
            return Err(Misuse::MountNeedsDevice.into());
        }
        if self.cache {
            if !matches!(self.by, AttachBy::Auto | AttachBy::Fuse) {
                return Err(Misuse::CacheNeedsLoop.into());
            }
            let way = by_fuse(wish.mount)?;
            Need::LoopDevice.check(Wish::default()).map_err(lacking(Purpose::Cache))?;
            return Ok((way.into(), None));
        }
        let attachment = match &self.by {
            AttachBy::Nbd => Attachment::Nbd(NbdAddress::Session),
            AttachBy::VhostUser => Attachment::VhostUser(None),
            AttachBy::To(attachment) => attachment.clone(),
            AttachBy::Files => {
                Need::Fuse.check(wish).map_err(lacking(Purpose::File))?;
                Attachment::Files
            }
            AttachBy::Fuse => by_fuse(wish.mount)?,
            AttachBy::DmCrypt if wish.protect_hidden => {
                return Err(Misuse::KernelProtectsNothing.into());
            }
            AttachBy::DmCrypt => {
                dmcrypt::available().map_err(AttachError::from)?;
                Attachment::DmCrypt
            }
            AttachBy::Ublk => {
                ublk::available().map_err(AttachError::from)?;
                if wish.mount && !rustix::process::geteuid().is_root() {
                    return Err(SessionError::MountNeedsRoot.into());
                }
                Attachment::Ublk
            }
            AttachBy::Auto if waiting(&self.volume)?.is_some() => {
                return Ok((
                    AttachChoice { attachment: Attachment::Ublk, reasons: vec![Reason::Waits] },
                    None,
                ));
            }
            AttachBy::Auto => return Ok(best(wish)?),
        };
        Ok((attachment.into(), None))
    }
}

/// The best way that this machine offers, and the one to take where the kernel refuses the volume.
fn best(wish: Wish) -> Result<(AttachChoice, Option<AttachChoice>), SessionError> {
    let choice = choose(wish, |_| true).map_err(|lack| match lack.reason {
        LackReason::Wish if wish.mount && wish.protect_hidden => SessionError::OnlyReadUnprotected,
        _ => lacking(Purpose::of(wish))(lack),
    })?;
    let way = |candidate: &keyway_attach::session::Candidate| AttachChoice {
        attachment: candidate.attachment.clone(),
        reasons: choice.reasons(candidate),
    };
    Ok(match choice.otherwise {
        Some(other) => {
            let mut first = way(choice.candidate);
            first.reasons.truncate(1);
            (first, Some(way(other)))
        }
        // There is nothing else that could be mounted.
        None if choice.candidate.depends_on_volume => (choice.candidate.attachment.clone().into(), None),
        None => (way(choice.candidate), None),
    })
}

/// FUSE, with a loop device where this user may have one.
///
/// # Errors
/// What is missing.
pub fn by_fuse(mount: bool) -> Result<Attachment, SessionError> {
    Ok(chosen(mount, |way| matches!(way, Attachment::Fuse { .. }))?.attachment)
}

/// FUSE for a tool that works on what is in the volume. It is tried out: its device may open where nobody may mount.
///
/// # Errors
/// What is missing.
pub(crate) fn fuse_for_a_tool() -> Result<Attachment, SessionError> {
    let way = by_fuse(false).map_err(|error| match error {
        SessionError::Lacks { lack, .. } => lacking(Purpose::Tool)(lack),
        other => other,
    })?;
    runtime_folder().and_then(|at| keyway_attach::fuse::try_out(&at)).map_err(|error| {
        let reason = LackReason::Kernel(error.to_string());
        lacking(Purpose::Tool)(Lack { need: Need::Fuse, reason })
    })?;
    Ok(way)
}

/// A way in which every request passes through a process of ours: FUSE, or where that can't be had, NBD.
///
/// # Errors
/// What is missing.
pub fn by_ourselves(mount: bool) -> Result<AttachChoice, SessionError> {
    chosen(mount, |way| matches!(way, Attachment::Fuse { .. } | Attachment::Nbd(_)))
}

fn chosen(mount: bool, allowed: impl Fn(&Attachment) -> bool) -> Result<AttachChoice, SessionError> {
    let wish = Wish { mount, protect_hidden: false };
    let choice = choose(wish, allowed).map_err(lacking(Purpose::of(wish)))?;
    Ok(AttachChoice {
        attachment: choice.candidate.attachment.clone(),
        reasons: choice.reasons(choice.candidate),
    })
}

fn lacking(purpose: Purpose) -> impl Fn(Lack) -> SessionError {
    move |lack| SessionError::Lacks { purpose, lack }
}
