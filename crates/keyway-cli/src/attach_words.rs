//! The ways to attach in words: why one was chosen, what another lacks.

use crate::failure::Failure;
use crate::output::Output;
use keyway::session::{
    AttachBy, AttachChoice, Attachment, CANDIDATES, Candidate, Need, Reason, by_fuse as fuse, by_ourselves,
};
use serde_json::{Value, json};

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

impl From<AttachArg> for AttachBy {
    fn from(word: AttachArg) -> Self {
        match word {
            AttachArg::Auto => Self::Auto,
            AttachArg::Fuse => Self::Fuse,
            AttachArg::Nbd => Self::Nbd,
            AttachArg::VhostUser => Self::VhostUser,
            AttachArg::Ublk => Self::Ublk,
            AttachArg::DmCrypt => Self::DmCrypt,
        }
    }
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

/// Why a volume is attached as it is, a sentence for each reason that is worth one: of what better ways lack only the
/// kernel's, the chosen one's merit tells the others'.
pub(crate) fn reasons(reasons: &[Reason]) -> Vec<String> {
    let named = |way: &String| CANDIDATES.iter().find(|candidate| candidate.name == way);
    let socket = |way| matches!(named(way).map(|c| &c.attachment), Some(Attachment::Nbd(_)));
    let by_socket = reasons.iter().any(|reason| matches!(reason, Reason::Best { way } if socket(way)));
    let kernel = |way: &String| {
        named(way).is_some_and(|c| match c.attachment {
            Attachment::DmCrypt => true,
            Attachment::Ublk => !by_socket,
            _ => false,
        })
    };
    let words = |reason: &Reason| match reason {
        Reason::Best { way } => named(way).map(|candidate| merit(candidate).to_owned()),
        Reason::Lacks { way, .. } if !kernel(way) => None,
        Reason::Lacks { need: Need::NothingProtected, .. } => {
            Some("dm-crypt would not protect the hidden volume".to_owned())
        }
        Reason::Lacks { need: Need::OutlivesServer, .. } => {
            Some("without root a ublk device ends with the process that serves it".to_owned())
        }
        Reason::Lacks { way, why, .. } => Some(format!("{way} can't be had: {why}")),
        Reason::Waits => Some("its block device waits for a server since the last one was killed".to_owned()),
        Reason::Refused { why } => Some(why.clone()),
        _ => None,
    };
    reasons.iter().filter_map(words).collect()
}

/// A document with the reasons as `why`: one text, or null.
pub(crate) fn with_reasons(mut document: Value, of: Option<&[Reason]>) -> Value {
    if let (Some(fields), Some(of)) = (document.as_object_mut(), of) {
        let words = reasons(of);
        fields.insert("why".to_owned(), json!((!words.is_empty()).then(|| words.join("; "))));
    }
    document
}

/// A way in which every request passes through a process of ours.
pub(crate) fn ours(mount: bool, out: Output) -> Result<Attachment, Failure> {
    let way = by_ourselves(mount)?;
    warn_of_a_socket(&way, out);
    Ok(way.attachment)
}

/// FUSE, with a loop device where this user may have one.
pub(crate) fn by_fuse(mount: bool) -> Result<Attachment, Failure> {
    Ok(fuse(mount)?)
}

/// Says that a socket is all there is, where nobody asked for one.
pub(crate) fn warn_of_a_socket(way: &AttachChoice, out: Output) {
    // What the last candidate before it lacks.
    let lack = way.reasons.iter().find_map(|reason| match reason {
        Reason::Lacks { why, .. } => Some(why),
        _ => None,
    });
    if let (Attachment::Nbd(_), Some(why)) = (&way.attachment, lack) {
        out.warn(&format!("FUSE can't be used here: {why}; serving NBD on a socket instead"));
    }
}
