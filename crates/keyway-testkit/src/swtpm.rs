//! A TPM 2.0 in software: `swtpm` on a socket, to be restarted (a new start of the machine) or
//! replaced (a cleared TPM).

use crate::{require_tool, wait_until};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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

    /// Turns it off and on again as the chip of a guest, which is started with these arguments for
    /// QEMU; [`Swtpm::restart`] gives it back to the host.
    ///
    /// # Panics
    /// When it does not start.
    pub fn give_to_guest(&mut self) -> Vec<String> {
        self.stop();
        self.start += 1;
        let socket = socket(self.folder.path(), self.start);
        let options = ["--ctrl".to_owned(), format!("type=unixio,path={}", socket.display())];
        self.process = spawn(&self.program, self.folder.path(), &socket, options);
        let chip = format!("socket,id=chip,path={}", socket.display());
        ["-chardev", &chip, "-tpmdev", "emulator,id=tpm,chardev=chip", "-device", "tpm-tis,tpmdev=tpm"]
            .map(str::to_owned)
            .into()
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
    let socket = socket(folder, start);
    let options = [
        "--flags".to_owned(),
        "not-need-init,startup-clear".to_owned(),
        "--server".to_owned(),
        format!("type=unixio,path={}", socket.display()),
    ];
    spawn(program, folder, &socket, options)
}

/// Whether somebody listens on the socket. Its file is there a moment before, and a connection to find
/// out would be swtpm's first client.
fn listens(socket: &Path) -> bool {
    // `SO_ACCEPTCON` of `linux/net.h`, among the flags of `/proc/net/unix`.
    const LISTENING: &str = "00010000";
    let sockets = std::fs::read_to_string("/proc/net/unix").expect("the system's list of sockets");
    let path = socket.to_str().expect("a path in UTF-8");
    sockets.lines().any(|line| line.ends_with(path) && line.split_whitespace().nth(3) == Some(LISTENING))
}

fn spawn(program: &Path, folder: &Path, socket: &Path, options: impl IntoIterator<Item = String>) -> Child {
    let state = folder.join("state");
    std::fs::create_dir_all(&state).expect("a folder for its state");
    let mut process = Command::new(program)
        .args(["socket", "--tpm2", "--tpmstate", &format!("dir={}", state.display())])
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("swtpm starts");
    wait_until("swtpm makes its socket", || {
        assert!(process.try_wait().expect("its state").is_none(), "swtpm ended at once");
        listens(socket)
    });
    process
}
