//! A volume with a file system that is written to without a mount.

use super::{Cli, PASSWORD};
use keyway_testkit::require_tool;

/// What opens it.
pub(crate) const OPEN: &str = "--password-file @pw --pim 1";

/// A volume with a FAT file system, which `keyway create` makes.
pub(crate) fn fat(cli: &Cli) {
    with(cli, "fat");
}

/// The same with another one.
pub(crate) fn with(cli: &Cli, filesystem: &str) {
    cli.keyway.secret("pw", PASSWORD);
    cli.ends(0, &format!("create @volume --size 12M --quick --filesystem {filesystem} {OPEN}"));
}

/// The file systems that are written to, as far as this machine can make them.
pub(crate) fn written() -> Vec<&'static str> {
    let all = [("mkfs.fat", "fat"), ("mkfs.exfat", "exfat")];
    all.into_iter().filter(|(mkfs, _)| require_tool(mkfs).is_some()).map(|(_, name)| name).collect()
}
