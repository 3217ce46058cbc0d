//! What is told of a machine, for people.

use super::{Capabilities, Capability};
use keyway_error::Advice;
use keyway_fs::mkfs::FileSystem;
use keyway_store::size::words as bytes;

impl Capabilities {
    /// A line for each thing; `sentences` says how a front puts advice.
    pub fn rows(&self, sentences: impl Fn(&[Advice]) -> String) -> Vec<(&'static str, String)> {
        let d = self;
        let known = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), bytes);
        let or_none = |words: String| if words.is_empty() { "none".to_owned() } else { words };
        let part = |part: &Capability| match &part.reason {
            None => "yes".to_owned(),
            Some(why) if part.advice.is_empty() => format!("no: {why}"),
            Some(why) => format!("no: {why}; {}", sentences(&part.advice)),
        };
        let missing = FileSystem::ALL.iter().filter(|f| !d.filesystems.contains(&f.name()));
        let missing: Vec<_> = missing.map(|f| format!("{} (package {})", f.name(), f.package())).collect();
        let locked = d.memlock_bytes.map_or_else(|| "no limit".to_owned(), |n| format!("up to {}", bytes(n)));
        let udev = "yes, where udev hands the devices over; without root they end with their server";
        let user = match (d.confined, d.root) {
            (true, _) => "root without CAP_SYS_ADMIN, as in a container: it may mount nothing",
            (_, true) => "root",
            _ => "not root",
        };
        let mut rows = vec![
            ("user", user.to_owned()),
            ("processor", format!("{}, {} core(s)", d.processor, d.cores)),
            ("features", or_none(d.cpu_features.join(" "))),
            (
                "cipher kernels",
                format!("{}; {} would be chosen, the fastest", d.kernels.join(", "), d.kernel),
            ),
            (
                "memory",
                format!("{}, {} of it to be had", known(d.memory_bytes), known(d.memory_available_bytes)),
            ),
            ("Argon2id", part(&d.argon2id)),
            ("locked memory", locked),
            ("FUSE", part(&d.fuse)),
            ("fusermount3", if d.fusermount3 { "yes" } else { "no: install the package fuse3" }.to_owned()),
            ("loop device", part(&d.loop_device)),
            ("dm-crypt", part(&d.dm_crypt)),
            ("NBD server", part(&d.nbd)),
            ("vhost-user", part(&d.vhost_user)),
            ("NVMe/TCP", part(&d.nvme_tcp)),
            ("ublk", if d.ublk.usable && !d.root { udev.to_owned() } else { part(&d.ublk) }),
            ("sandbox", part(&d.sandbox)),
            ("files in a folder", or_none(d.attachment_with_folder.to_owned())),
            ("file systems made", or_none(d.filesystems.join(" "))),
            ("mounted", or_none(d.filesystems_mounted.join(" "))),
            ("read by ls, get", d.filesystems_read.join(" ")),
        ];
        if !missing.is_empty() {
            rows.push(("not made", missing.join(", ")));
        }
        rows
    }
}
