//! What a test needs from the machine, and what happens where it is missing.

use std::path::{Path, PathBuf};

/// Reports that a test can't run here: a line `SKIP: ...` on standard error.
///
/// # Panics
/// When `KEYWAY_REQUIRE_ALL=1` is set: there, what is missing is a failure.
pub fn skip(reason: &str) {
    assert!(!required(), "KEYWAY_REQUIRE_ALL is set and {reason}");
    leave_out(reason);
}

/// Reports what is left out because of the kernel, the processor or the disk, which can't be installed as a tool can,
/// or because it takes long and nobody asked for it: visible like [`skip`], and a failure nowhere.
pub fn leave_out(reason: &str) {
    // Past the test harness's capture: a skip that nobody sees is a check that nobody has.
    use std::io::Write;
    // In one piece, since other tests write at the same time.
    let _ = std::io::stderr().write_all(format!("SKIP: {reason}\n").as_bytes());
}

fn required() -> bool {
    std::env::var_os("KEYWAY_REQUIRE_ALL").is_some_and(|value| value == "1")
}

/// The folder that holds the workspace's `Cargo.toml`.
pub fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().and_then(Path::parent).expect("this crate lies two folders below the workspace")
}

/// The folder of volumes that other programs made: `KEYWAY_VOLUMES`, else `../shared/volumes`
/// beside the workspace. `None` after a visible skip.
///
/// # Panics
/// When it is missing and `KEYWAY_REQUIRE_ALL=1` is set.
pub fn volumes() -> Option<PathBuf> {
    let folder = match std::env::var_os("KEYWAY_VOLUMES") {
        Some(named) => workspace_root().join(named),
        None => workspace_root().join("../shared/volumes"),
    };
    if folder.join("tcrypt/INDEX.tsv").is_file() {
        return Some(folder);
    }
    skip(&format!(
        "there are no foreign volumes at {} (name their folder in KEYWAY_VOLUMES)",
        folder.display()
    ));
    None
}

/// The path of a program that a test runs, or `None` after a visible skip.
///
/// # Panics
/// When it is missing and `KEYWAY_REQUIRE_ALL=1` is set.
pub fn require_tool(name: &str) -> Option<PathBuf> {
    // mkfs and losetup live in the sbin folders, which a user's PATH often leaves out.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        skip(&format!("the program {name} is not installed (./scripts/test installs it where it may)"));
    }
    found
}

/// Whether this user can mount FUSE file systems; says so visibly when not.
///
/// # Panics
/// When not and `KEYWAY_REQUIRE_ALL=1` is set.
pub fn require_fuse() -> bool {
    if let Err(e) = std::fs::File::options().read(true).write(true).open("/dev/fuse") {
        skip(&format!("this user can't use /dev/fuse: {e}"));
        return false;
    }
    is_root() || require_tool("fusermount3").is_some()
}

/// Whether this process is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this process is root; says so visibly when it is not.
///
/// # Panics
/// When it is not and `KEYWAY_REQUIRE_ALL=1` is set.
pub fn require_root() -> bool {
    if !is_root() {
        skip("this check needs root");
    }
    is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_root_holds_the_workspace() {
        assert!(workspace_root().join("crates/keyway-testkit/Cargo.toml").is_file());
    }

    #[test]
    fn a_shell_is_found() {
        assert!(require_tool("sh").is_some_and(|path| path.ends_with("sh")));
    }
}
