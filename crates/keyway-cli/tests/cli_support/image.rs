//! An image with a file system to be converted.

use super::{Cli, PASSWORD, checked};
use keyway_testkit::{Rng, require_tool};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const OTHER: &str = "another-twenty-characters-and-more";

/// An image of so many mebibytes with a file system that holds a file of 6 MiB.
pub(crate) struct Image {
    pub(crate) cli: Cli,
    pub(crate) big: Vec<u8>,
}

impl Image {
    /// No image yet.
    pub(crate) fn new() -> Self {
        let cli = Cli::new();
        cli.keyway.secret("pw", PASSWORD);
        cli.keyway.secret("pw2", OTHER);
        Self { cli, big: Rng::new(7).bytes(6 << 20) }
    }

    /// With ext4, made from a folder without mounting.
    pub(crate) fn ext4(&self, name: &str) -> Option<()> {
        let folder = self.cli.path("content");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join("big"), &self.big).expect("written");
        self.cli.make(name, 32 << 20, "mkfs.ext4", &["-q", "-F", "-d", folder.to_str().expect("text")])
    }

    /// The ext4 on that file is clean and has its content.
    pub(crate) fn ext4_is_whole(&self, name: &str) {
        let path = self.cli.path(name);
        checked(Command::new(require_tool("e2fsck").expect("with mkfs.ext4")).args(["-f", "-n"]).arg(&path));
        let out = self.cli.path("dumped");
        let dump = format!("dump /big {}", out.display());
        checked(Command::new(require_tool("debugfs").expect("with it")).args(["-R", &dump]).arg(&path));
        assert!(std::fs::read(out).expect("dumped") == self.big, "the file is another");
    }

    /// What is in a volume, to a file.
    pub(crate) fn decrypted(&self, name: &str, secret: &str, to: &str) {
        let done = self.cli.ends(0, &format!("cat @{name} {secret}"));
        std::fs::write(self.cli.path(to), done.stdout).expect("written");
    }

    /// A verb that runs beside the test.
    pub(crate) fn start(&self, words: &str) -> Child {
        let mut command = self.cli.command(self.cli.words(words));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("keyway starts")
    }
}

/// What opens a volume.
pub(crate) const SECRET: &str = "--password-file @pw --pim 1";
/// That, and a new one.
pub(crate) const BOTH: &str = "--password-file @pw --pim 1 --new-password-file @pw2 --new-pim 1";
/// The new one.
pub(crate) const NEW: &str = "--password-file @pw2 --pim 1";

/// Where a test's file is, in words for the command line.
pub(crate) fn path(cli: &Cli, name: &str) -> String {
    cli.path(name).display().to_string()
}

/// Bytes that a file takes of its disk.
pub(crate) fn allocated(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(&path.metadata().expect("there")) * 512
}
