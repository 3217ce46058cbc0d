//! A disk that fails on demand: nbdkit's error filter, made a file by libnbd's FUSE client.

use crate::{NbdFuse, require_tool};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What a failing disk fails at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

impl Fault {
    const BOTH: [Self; 2] = [Self::Reads, Self::Writes];

    /// As nbdkit-error-filter(1) calls it.
    fn parameter(self) -> &'static str {
        match self {
            Self::Reads => "error-pread",
            Self::Writes => "error-pwrite",
        }
    }
}

/// A file that shows an image and answers EIO while it is told to.
pub struct FailingDisk {
    // Before the server that it is a client of.
    client: NbdFuse,
    server: Child,
    folder: PathBuf,
}

impl FailingDisk {
    /// Serves `image` with sockets and mount point in `folder`, which is made. `None` after a
    /// visible skip when the programs are not there.
    ///
    /// # Panics
    /// When it can't be served.
    pub fn on(image: &Path, folder: &Path) -> Option<Self> {
        let nbdkit = require_tool("nbdkit")?;
        std::fs::create_dir(folder).expect("a folder");
        let socket = folder.join("socket");
        let mut command = Command::new(nbdkit);
        command.args(["--foreground", "--exit-with-parent", "--filter=error", "--unix"]).arg(&socket);
        command.arg("file").arg(image);
        for fault in Fault::BOTH {
            let (name, trigger) = (fault.parameter(), folder.join(fault.parameter()));
            command.arg(format!("{name}=EIO")).arg(format!("{name}-rate=100%"));
            command.arg(format!("{name}-file={}", trigger.display()));
        }
        let mut server = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("nbdkit starts");
        match NbdFuse::mount(&folder.join("mnt"), &socket) {
            Some(client) => Some(Self { client, server, folder: folder.to_owned() }),
            None => {
                let _ = server.kill();
                let _ = server.wait();
                None
            }
        }
    }

    /// The disk as a file.
    pub fn file(&self) -> PathBuf {
        self.client.file()
    }

    /// From now on it fails.
    ///
    /// # Panics
    /// When it can't be told.
    pub fn fail(&self, fault: Fault) {
        File::create(self.folder.join(fault.parameter())).expect("the trigger's file");
    }

    /// It works again.
    pub fn mend(&self) {
        for fault in Fault::BOTH {
            let _ = std::fs::remove_file(self.folder.join(fault.parameter()));
        }
    }

    /// It is gone, as if it had been pulled out; what it had said was flushed is in the image.
    ///
    /// # Panics
    /// When it can't be killed.
    pub fn pull_out(&mut self) {
        self.server.kill().expect("nbdkit was there");
        self.server.wait().expect("nbdkit ends");
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
        self.mend();
        // The client asks the server once more when it is unmounted.
        self.client.unmount();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
