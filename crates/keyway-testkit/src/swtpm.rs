//! A TPM 2.0 in software: `swtpm` on a socket, to be restarted (a new start of the machine) or
//! replaced (a cleared TPM).

use crate::needs::require_tool;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running emulator. It ends when this is dropped.
pub struct Swtpm {
    program: PathBuf,
    folder: tempfile::TempDir,
    /// Counts starts, so that no two share a socket.
    start: u32,
    process: Child,
}

impl Swtpm {
    /// Starts a TPM that never saw an owner. `None` after a visible skip where `swtpm` is missing.
    ///
    /// # Panics
    /// When it does not start, or is missing where `KEYWAY_REQUIRE_ALL=1` is set.
    pub fn start() -> Option<Self> {
        let program = require_tool("swtpm")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let process = launch(&program, folder.path(), 0);
        Some(Self { program, folder, start: 0, process })
    }

    /// Its address as `keyway --tpm` and `keyway_tpm::Address` take it.
    pub fn address(&self) -> String {
        format!("swtpm:path={}", socket(self.folder.path(), self.start).display())
    }

    /// Turns it off and on: measurements begin anew, what was made permanent stays.
    pub fn restart(&mut self) {
        self.stop();
        self.start += 1;
        self.process = launch(&self.program, self.folder.path(), self.start);
    }

    /// Turns it off, forgets everything it ever knew, turns it on: the TPM of another machine.
    pub fn replace(&mut self) {
        self.stop();
        let state = self.folder.path().join("state");
        std::fs::remove_dir_all(&state).expect("its state can be removed");
        self.start += 1;
        self.process = launch(&self.program, self.folder.path(), self.start);
    }

    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Swtpm {
    fn drop(&mut self) {
        self.stop();
    }
}

fn socket(folder: &Path, start: u32) -> PathBuf {
    folder.join(format!("tpm{start}.sock"))
}

fn launch(program: &Path, folder: &Path, start: u32) -> Child {
    let state = folder.join("state");
    std::fs::create_dir_all(&state).expect("a folder for its state");
    let socket = socket(folder, start);
    let mut process = Command::new(program)
        .args(["socket", "--tpm2", "--flags", "not-need-init,startup-clear", "--tpmstate"])
        .arg(format!("dir={}", state.display()))
        .arg("--server")
        .arg(format!("type=unixio,path={}", socket.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("swtpm starts");
    let started = Instant::now();
    while !socket.exists() {
        assert!(process.try_wait().expect("its state").is_none(), "swtpm ended at once");
        assert!(started.elapsed() < Duration::from_secs(30), "swtpm made no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
    process
}
