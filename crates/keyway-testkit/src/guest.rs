//! The guest that judges us: a stock Debian kernel with real dm-crypt under plain emulation.
//!
//! `scripts/guest` builds, caches and boots it; this is its Rust face. A job is a folder that the
//! guest sees as `/job`: it runs `/job/run.sh` as root and everything written there is back here
//! afterwards.

use crate::{require_tool, skip, workspace_root};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A guest to be booted once.
#[derive(Default)]
pub struct Guest {
    arguments: Vec<String>,
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

    /// Ends the guest after that time.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Self {
        self.with("--timeout", &limit.as_secs().to_string())
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
            .arg("run")
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
