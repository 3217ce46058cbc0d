//! libnbd's FUSE client: a second client of NBD, besides QEMU and fio, that makes a file of it.

use crate::{require_fuse, require_tool, wait_until};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A mounted client; unmounted when dropped.
pub struct NbdFuse {
    client: Child,
    folder: PathBuf,
    mounted: bool,
}

impl NbdFuse {
    /// Connects to the socket and mounts at `folder`, which is made where it is missing. `None`
    /// after a visible skip when the programs are not there.
    ///
    /// # Panics
    /// When it does not mount.
    pub fn mount(folder: &Path, socket: &Path) -> Option<Self> {
        let nbdfuse = require_tool("nbdfuse")?;
        // To unmount it, also for root.
        require_tool("fusermount3")?;
        if !require_fuse() {
            return None;
        }
        std::fs::create_dir_all(folder).expect("a mount point");
        // A server's socket has its name before anybody listens at it, and the client asks once.
        wait_until("the server listens", || UnixStream::connect(socket).is_ok());
        let client = Command::new(nbdfuse)
            .arg(folder)
            .arg("--unix")
            .arg(socket)
            .stdin(Stdio::null())
            // It aborts with some noise when its server is killed, which tests do.
            .stderr(Stdio::null())
            .spawn()
            .expect("nbdfuse starts");
        let mut mounted = Self { client, folder: folder.to_owned(), mounted: true };
        wait_until("nbdfuse mounts", || {
            assert!(matches!(mounted.client.try_wait(), Ok(None)), "nbdfuse ended before it mounted");
            mounted.file().exists()
        });
        Some(mounted)
    }

    /// Unmounts it; does nothing the second time.
    pub fn unmount(&mut self) {
        if !self.mounted {
            return;
        }
        self.mounted = false;
        let unmounted = Command::new("fusermount3").arg("-u").arg(&self.folder).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            let _ = Command::new("fusermount3").arg("-uz").arg(&self.folder).status();
            let _ = self.client.kill();
        }
        let _ = self.client.wait();
    }

    /// The volume as a file.
    pub fn file(&self) -> PathBuf {
        self.folder.join("nbd")
    }
}

impl Drop for NbdFuse {
    fn drop(&mut self) {
        self.unmount();
    }
}
