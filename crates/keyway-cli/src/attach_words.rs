//! The ways to attach in words: why one was chosen, what another lacks.

use crate::failure::{Exit, Failure};
use crate::output::Output;
use keyway::session::{
    AttachChoice, AttachError, Attachment, Candidate, Choice, Lack, NbdAddress, Need, Wish, choose,
};
use keyway_attach::session::waiting;
use keyway_attach::{dmcrypt, ublk};
use std::path::Path;

/// A way to attach as a word.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttachArg {
    /// The best this machine offers
    Auto,
    /// A file, and as root a loop device on it
    Fuse,
    /// A socket for network block device clients
    Nbd,
    /// A socket for virtual machines (vhost-user-blk)
    VhostUser,
    /// A block device of the kernel's ublk driver; root's outlives its server, users need udev's help
    Ublk,
    /// A block device of the kernel's own: the key goes to dm-crypt, which does the work (needs root)
    DmCrypt,
}

impl AttachArg {
    /// The way to attach, and the one to take where the kernel refuses the volume.
    pub(crate) fn way(
        self,
        volume: &Path,
        wish: Wish,
        cache: bool,
        out: Output,
    ) -> Result<(AttachChoice, Option<AttachChoice>), Failure> {
        let Wish { mount, protect_hidden } = wish;
        if mount && matches!(self, Self::Nbd | Self::VhostUser) {
            return Err(Failure::usage(
                "a mount point needs a block device, which --attach nbd and vhost-user do not make",
                "leave out --attach, or the mount point",
            ));
        }
        let attachment = match self {
            Self::Auto | Self::Fuse if cache => cached(mount)?,
            _ if cache => {
                return Err(Failure::usage(
                    "--cache is for the loop device on a FUSE file, which this --attach does not make",
                    "leave out --attach, or --cache",
                ));
            }
            Self::Nbd => Attachment::Nbd(NbdAddress::Session),
            Self::VhostUser => Attachment::VhostUser(None),
            Self::DmCrypt if protect_hidden => {
                return Err(Failure::usage(
                    "the kernel would not protect the hidden volume: dm-crypt writes whatever it is given",
                    "leave out --attach dm-crypt, or the --protect-… options",
                ));
            }
            Self::DmCrypt => {
                dmcrypt::available().map_err(AttachError::from)?;
                Attachment::DmCrypt
            }
            Self::Ublk => {
                ublk::available().map_err(AttachError::from)?;
                if mount && !rustix::process::geteuid().is_root() {
                    return Err(Failure::new(
                        Exit::NotPermitted,
                        "only root may mount a block device",
                        "run it as root (sudo), or leave the mount point out and use the device",
                    ));
                }
                Attachment::Ublk
            }
            Self::Fuse => by_fuse(mount)?,
            Self::Auto if waiting(volume)?.is_some() => {
                let why = "its block device waits for a server since the last one was killed";
                return Ok((AttachChoice::because(Attachment::Ublk, why), None));
            }
            Self::Auto => return best(wish, out),
        };
        Ok((attachment.into(), None))
    }
}

/// A loop device that goes through the page cache, or why there can be none.
fn cached(mount: bool) -> Result<Attachment, Failure> {
    let way = by_fuse(mount)?;
    let lacks = |why| format!("--cache needs a loop device: {why}");
    Need::LoopDevice.check(Wish::default()).map_err(|why| {
        Failure::new(Exit::NotPermitted, lacks(why), "run it as root (sudo), or leave out --cache")
    })?;
    Ok(way)
}

/// What speaks for a way.
fn merit(candidate: &Candidate) -> &'static str {
    match candidate.attachment {
        Attachment::DmCrypt => "the kernel has this volume's cipher, and does all the work without a detour",
        Attachment::Ublk => "a block device of the kernel's that outlives the process that serves it",
        Attachment::Fuse { loop_device: true } => "a block device that every kernel can have",
        Attachment::Fuse { loop_device: false } => "a file, because loop devices and mounts need root",
        _ => "without FUSE a socket is what is left",
    }
}

/// Why `doctor` says that `open` would take it.
pub(crate) fn because(candidate: &Candidate) -> &'static str {
    match candidate.attachment {
        Attachment::DmCrypt => {
            "the kernel decrypts by itself; what it has no cipher for, and hidden volumes under protection, go by FUSE"
        }
        Attachment::Ublk => {
            "the kernel's driver gives a block device that outlives the process that serves it"
        }
        Attachment::Fuse { loop_device: true } => {
            "FUSE works and this user may make loop devices, so file systems can be mounted"
        }
        Attachment::Fuse { loop_device: false } => {
            "FUSE works; the volume appears as a file, because loop devices and mounts need root"
        }
        _ => "without FUSE a socket for NBD clients is what is left",
    }
}

/// Why a block device by the kernel was passed over; nothing of the others, whose lack the chosen one's merit tells.
fn lacks((candidate, lack): &(&Candidate, Lack)) -> Option<String> {
    match (&candidate.attachment, lack.need) {
        (_, Need::NothingProtected) => Some("dm-crypt would not protect the hidden volume".to_owned()),
        (_, Need::OutlivesServer) => {
            Some("without root a ublk device ends with the process that serves it".to_owned())
        }
        (Attachment::DmCrypt | Attachment::Ublk, _) => {
            Some(format!("{} can't be had: {lack}", candidate.name))
        }
        _ => None,
    }
}

/// The best way that this machine offers, and the one to take where the kernel refuses the volume.
fn best(wish: Wish, out: Output) -> Result<(AttachChoice, Option<AttachChoice>), Failure> {
    let choice = choose(wish, |_| true).map_err(|lack| missing(&lack, wish))?;
    let why = |candidate: &Candidate| {
        let nbd = matches!(candidate.attachment, Attachment::Nbd(_));
        let told = choice.passed_over.iter().rev();
        let told =
            told.filter(|(other, _)| !nbd || other.attachment == Attachment::DmCrypt).filter_map(lacks);
        let words: Vec<String> = std::iter::once(merit(candidate).to_owned()).chain(told).collect();
        AttachChoice::because(candidate.attachment.clone(), words.join("; "))
    };
    let Some(other) = choice.otherwise else {
        warn_of_a_socket(&choice, wish, out);
        return Ok(match choice.candidate.depends_on_volume {
            // There is nothing else that could be mounted.
            true => (choice.candidate.attachment.clone().into(), None),
            false => (why(choice.candidate), None),
        });
    };
    let first = AttachChoice::because(choice.candidate.attachment.clone(), merit(choice.candidate));
    Ok((first, Some(why(other))))
}

/// A way in which every request passes through a process of ours.
pub(crate) fn ours(mount: bool, out: Output) -> Result<Attachment, Failure> {
    let wish = Wish { mount, protect_hidden: false };
    let passes = |way: &Attachment| matches!(way, Attachment::Fuse { .. } | Attachment::Nbd(_));
    let choice = choose(wish, passes).map_err(|lack| missing(&lack, wish))?;
    warn_of_a_socket(&choice, wish, out);
    Ok(choice.candidate.attachment.clone())
}

/// FUSE, with a loop device where this user may have one.
pub(crate) fn by_fuse(mount: bool) -> Result<Attachment, Failure> {
    let wish = Wish { mount, protect_hidden: false };
    let choice = choose(wish, |way| matches!(way, Attachment::Fuse { .. }));
    Ok(choice.map_err(|lack| missing(&lack, wish))?.candidate.attachment.clone())
}

fn warn_of_a_socket(choice: &Choice, wish: Wish, out: Output) {
    if let (Attachment::Nbd(_), Some((_, lack))) = (&choice.candidate.attachment, choice.passed_over.last()) {
        out.warn(&format!("{}; serving NBD on a socket instead", missing(lack, wish).message));
    }
}

/// What is missing, and what to do about it.
fn missing(lack: &Lack, wish: Wish) -> Failure {
    let (message, hint) = match lack.need {
        Need::LoopDevice if wish.mount => (
            format!("mounting needs a loop device: {lack}"),
            "run it as root (sudo), or leave the mount point out and use the file that appears",
        ),
        _ => (
            format!("FUSE can't be used here: {lack}"),
            "`keyway doctor` tells more; --attach nbd works without it",
        ),
    };
    Failure::new(Exit::NotPermitted, message, hint)
}
