//! The guest that judges us: a stock Debian kernel with real dm-crypt under plain emulation.
//!
//! `scripts/guest` builds, caches and boots it; this is its Rust face. A job is a folder that the
//! guest sees as `/job`: it runs `/job/run.sh` as root and everything written there is back here
//! afterwards.

use crate::{require_tool, skip, workspace_root};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ends a guest that hangs. It takes half a minute to a few where the machine has nothing else to do, and everything in
/// it is emulated, so that a busy or slow machine may need many times that.
const LIMIT_SECONDS: &str = "3600";

/// A guest to be booted once.
#[derive(Default)]
pub struct Guest {
    arguments: Vec<String>,
}

/// What a guest has to do: a folder with its script, and what goes in and comes out.
pub struct Job {
    folder: PathBuf,
}

impl Job {
    /// Makes the folder, and its `run.sh` of these lines.
    ///
    /// # Panics
    /// When it can't be made.
    pub fn new(folder: PathBuf, script: &str) -> Self {
        std::fs::create_dir(&folder).expect("the job's folder");
        let job = Self { folder };
        job.put("run.sh", script);
        job
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Leaves a file for the guest.
    ///
    /// # Panics
    /// When there is no room.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.join(name), content).expect("the job's file");
    }

    /// Leaves the program for the guest, which has it as `/tmp/keyway` and as `/job/keyway`: without what only a debugger
    /// reads, which is three quarters of it and would all go through the emulator.
    ///
    /// # Panics
    /// When there is no room.
    pub fn program(&self, built: &str) {
        let at = self.folder.join("keyway");
        let done = Command::new("strip").arg("-o").arg(&at).arg(built).status();
        if !done.is_ok_and(|status| status.success()) {
            std::fs::copy(built, at).expect("the program");
        }
    }

    /// A file that the guest left.
    ///
    /// # Panics
    /// When it did not.
    pub fn take(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap_or_else(|e| panic!("the guest's {name}: {e}"))
    }

    /// What the guest noted in `said.tsv`: a name, a tab, a value in each line.
    ///
    /// # Panics
    /// When it noted nothing.
    pub fn said(&self) -> HashMap<String, String> {
        let text = String::from_utf8(self.take("said.tsv")).expect("text");
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

/// What a boot left.
pub struct GuestRun {
    /// The job script's exit code; `None` when the guest never reported one.
    pub code: Option<i32>,
    /// Everything the job script printed.
    pub output: String,
}

impl Guest {
    /// A guest with no disks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a virtio disk: a raw file of the host, or an NBD address such as
    /// `nbd+unix:///?socket=/path`. The first is `/dev/vda`, the next `/dev/vdb`.
    #[must_use]
    pub fn disk(self, source: &str) -> Self {
        self.with("--disk", source)
    }

    /// As [`Guest::disk`], a raw file seen as a disk of sectors of that many bytes.
    #[must_use]
    pub fn disk_of_sectors(self, source: &str, sector_bytes: u32) -> Self {
        self.with("--disk", &format!("{source},sector={sector_bytes}"))
    }

    /// One more argument for QEMU.
    #[must_use]
    pub fn qemu(self, argument: &str) -> Self {
        self.with("--qemu", argument)
    }

    fn with(mut self, option: &str, value: &str) -> Self {
        self.arguments.extend([option.into(), value.into()]);
        self
    }

    /// Boots, runs `run.sh` of the folder and powers off. `None` after a visible skip where the
    /// machine can't have a guest.
    ///
    /// # Panics
    /// When there is no `run.sh`.
    pub fn run(&self, job: &Path) -> Option<GuestRun> {
        for tool in ["qemu-system-x86_64", "apt-get", "dpkg-deb", "busybox"] {
            require_tool(tool)?;
        }
        assert!(job.join("run.sh").is_file(), "{} has no run.sh", job.display());
        let script = || Command::new(workspace_root().join("scripts/guest"));
        let built = script().arg("build").stdin(Stdio::null()).output().expect("scripts/guest runs");
        if !built.status.success() {
            let why = String::from_utf8_lossy(&built.stderr);
            skip(&format!("no guest can be made: {}", why.lines().last().unwrap_or_default()));
            return None;
        }
        let done = script()
            .args(["run", "--timeout", LIMIT_SECONDS])
            .args(&self.arguments)
            .arg(job)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .expect("scripts/guest runs");
        let output = String::from_utf8_lossy(&done.stdout).into_owned();
        // The script's own failures are 125 and 124, as env(1) and timeout(1) have them.
        let code = done.status.code().filter(|code| !matches!(code, 124 | 125));
        Some(GuestRun { code, output })
    }
}
