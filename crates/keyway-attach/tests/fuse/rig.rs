//! Devices, mounts and serving processes for these tests.

use crate::child;
use keyway_attach::Stop;
use keyway_attach::fuse::{FuseMount, Options, Transport};
use keyway_attach::session::SessionState;
use keyway_cipher::{LayerKey, Mode, SectorCipher, Spec};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::Store;
use keyway_testkit::{is_root, leave_out, require_tool, skip};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// Every transport that a mount may end up with here.
pub(crate) const TRANSPORTS: [Transport; 2] = [Transport::Device, Transport::Rings];

/// Whether FUSE can be mounted here; says so visibly when not.
pub(crate) fn can_mount() -> bool {
    if let Err(e) = OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        skip(&format!("/dev/fuse can't be opened: {e}"));
        return false;
    }
    is_root() || require_tool("fusermount3").is_some()
}

/// All of `store` as a volume under a fixed key.
pub(crate) fn device(store: impl Store + 'static, access: Access) -> Arc<Device> {
    let spec = Spec { chain: "aes".parse().expect("a chain"), mode: Mode::Xts, unit_bytes: 512 };
    let cipher =
        SectorCipher::new(&spec, &[LayerKey { key: &[1; 32], tweak_key: &[2; 32] }]).expect("good keys");
    let mapping = Mapping::Encrypted { store_offset: 0, first_unit: 0, cipher: Arc::new(cipher) };
    let layout = Layout::new(512, vec![Segment { start: 0, len: store.size(), mapping }]).expect("whole");
    Arc::new(Device::new(Box::new(store), layout, access).expect("it fits"))
}

/// A device mounted from this process.
pub(crate) struct Mounted {
    // Unmounted before its folder goes.
    pub(crate) fuse: FuseMount,
    _folder: TempDir,
    pub(crate) gone: Arc<Stop>,
}

impl Mounted {
    /// Mounts over `transport`; `None` after a visible skip when the kernel does not offer it.
    pub(crate) fn new(device: Arc<Device>, transport: Transport) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = Arc::new(Stop::new().expect("an event"));
        let wanted = (transport == Transport::Device).then_some(transport);
        let options = Options { transport: wanted, ..Options::default() };
        let fuse =
            FuseMount::serve(device, folder.path(), options, Arc::clone(&gone)).expect("FUSE can be mounted");
        if fuse.transport() != transport {
            leave_out(&format!("this kernel does not offer {transport} (to us)"));
            return None;
        }
        Some(Self { fuse, _folder: folder, gone })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.fuse.file()
    }
}

/// A folder of sessions of its own, and the program that serves and closes them.
pub(crate) struct Sessions {
    folder: TempDir,
}

/// A serving process; killed when dropped.
pub(crate) struct Serving {
    pub(crate) process: Child,
    pub(crate) state: SessionState,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A new volume of `len` bytes in the sessions' folder.
    pub(crate) fn volume(&self, len: u64) -> PathBuf {
        let path = self.path().join("volume.img");
        std::fs::File::create(&path).and_then(|file| file.set_len(len)).expect("room");
        path.canonicalize().expect("it is there")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = child::command(arguments);
        command.env("KEYWAY_RUNTIME_DIR", self.path().join("run")).stdin(Stdio::null());
        command
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }

    /// Serves `volume` and waits until it is ready.
    pub(crate) fn serve(&self, volume: &Path, way: &str, mount_point: Option<&Path>) -> Serving {
        let mut arguments = vec![volume.to_str().expect("plain"), way];
        arguments.extend(mount_point.map(|at| at.to_str().expect("plain")));
        let mut process = self.command(&arguments).stdout(Stdio::piped()).spawn().expect("it starts");
        let out = process.stdout.take().expect("piped");
        let mut lines = BufReader::new(out).lines().map(|line| line.expect("readable"));
        let state =
            lines.find_map(|line| serde_json::from_str(&line).ok()).expect("it says that it is ready");
        Serving { process, state }
    }

    /// Fails when anything of any session is left: files, mounts or loop devices.
    pub(crate) fn assert_clean(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path().join("run"))
            .expect("the runtime folder stays")
            .map(|entry| entry.expect("readable").file_name())
            .filter(|name| name != "lock")
            .collect();
        assert!(left.is_empty(), "left in the runtime folder: {left:?}");
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("Linux");
        let own = self.path().to_str().expect("plain");
        assert!(!mounts.contains(own), "something is still mounted below {own}");
        for entry in std::fs::read_dir("/sys/block").into_iter().flatten().flatten() {
            let backing = std::fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
            assert!(!backing.starts_with(own), "{:?} is still on {backing}", entry.file_name());
        }
    }
}

impl Drop for Sessions {
    /// What a test that failed, or ended by killing, left behind.
    fn drop(&mut self) {
        let _ = self.command(&["clean"]).output();
    }
}

impl Serving {
    /// SIGKILL: no chance to tidy up.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
