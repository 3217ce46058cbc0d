//! The ways to attach in words: why one was chosen, what another lacks.

use keyway::session::in_words::{lacking, worth_telling};
use keyway::session::{AttachBy, Reason};
use keyway::told::{facts, said_in};
use serde_json::{Value, json};

/// The ways to attach as words.
pub(crate) const WAYS: [(&str, AttachBy, &str); 7] = [
    ("auto", AttachBy::Auto, "The best this machine offers"),
    ("fuse", AttachBy::Fuse, "A file, and as root a loop device on it"),
    ("files", AttachBy::Files, "The files inside in a folder, for reading, without the kernel's drivers"),
    ("nbd", AttachBy::Nbd, "A socket for network block device clients"),
    ("vhost-user", AttachBy::VhostUser, "A socket for virtual machines (vhost-user-blk)"),
    (
        "ublk",
        AttachBy::Ublk,
        "A block device of the kernel's ublk driver; root's outlives its server, users need udev's help",
    ),
    (
        "dm-crypt",
        AttachBy::DmCrypt,
        "A block device of the kernel's own: the key goes to dm-crypt, which does the work (needs root)",
    ),
];

/// What speaks for a way, by its name, and why `doctor` says that `open` would take it; and what speaks against others.
const MERITS: &str = include_str!("../words/ways.txt");

pub(crate) fn because(way: &str, root: bool) -> String {
    said_in(MERITS, &format!("doctor {way}"), &json!({ "root": root }))
}

/// Why a volume is attached as it is, a sentence for each reason that is worth one.
pub(crate) fn reasons(reasons: &[Reason]) -> Vec<String> {
    let root = json!({ "root": rustix::process::geteuid().is_root() });
    let told = worth_telling(reasons).into_iter();
    let words = told.map(|(word, reason)| said_in(MERITS, word, &facts(reason, root.clone())));
    words.filter(|words| !words.is_empty()).collect()
}

/// A document with the reasons as `why`: one text, or null.
pub(crate) fn with_reasons(mut document: Value, of: Option<&[Reason]>) -> Value {
    if let (Some(fields), Some(of)) = (document.as_object_mut(), of) {
        let words = reasons(of);
        fields.insert("why".to_owned(), json!((!words.is_empty()).then(|| words.join("; "))));
    }
    document
}

/// Says that a socket is all there is, where nobody asked for one.
pub(crate) fn only_a_socket(attachment: &str, reasons: &[Reason]) -> Option<String> {
    let why = lacking(reasons).filter(|_| attachment == "nbd")?;
    Some(format!("FUSE can't be used here: {why}; serving NBD on a socket instead"))
}

#[cfg(test)]
#[path = "../tests/inner/attach_words.rs"]
mod tests;
