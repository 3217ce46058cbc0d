//! The built program as a test runs it: apart from the user's own sessions, with secrets in files.

use crate::wait_until;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program, with a temporary folder of its own for volumes, secrets and sessions.
pub struct Keyway {
    binary: PathBuf,
    folder: TempDir,
}

/// A container in the temporary folder, of no file system, with a password and a small PIM.
pub struct Volume<'a> {
    keyway: &'a Keyway,
    path: PathBuf,
    secret: Vec<OsString>,
}

/// A volume that `keyway open` opened. Closed when dropped, if it still is open.
pub struct Open<'a> {
    keyway: &'a Keyway,
    volume: PathBuf,
    answer: serde_json::Value,
    closed: bool,
}

impl Keyway {
    /// The program at `binary`: `env!("CARGO_BIN_EXE_keyway")`.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new(binary: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("keyway-test-").tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("run")).expect("a folder for sessions");
        Self { binary: binary.into(), folder }
    }

    /// The temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where this program keeps its sessions, unless it runs as root.
    pub fn runtime_folder(&self) -> PathBuf {
        self.folder().join("run")
    }

    /// A path in the temporary folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// A file in the temporary folder that holds exactly these bytes, for `--password-file`.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn secret(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("the secret's file can be written");
        path
    }

    /// The program, not yet started: no terminal, its own runtime folder.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("XDG_RUNTIME_DIR", self.runtime_folder()).stdin(Stdio::null());
        // Root's sessions lie elsewhere, together, where tests would clear away each other's remains.
        command.env("KEYWAY_RUNTIME_DIR", self.runtime_folder().join("sessions"));
        // Nor does a test see whoever runs it.
        command.env("XDG_CONFIG_HOME", self.folder().join(".config"));
        command.env("XDG_STATE_HOME", self.folder().join(".state"));
        command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.command(arguments).output().expect("keyway starts")
    }

    /// Runs it; what it printed.
    ///
    /// # Panics
    /// When its exit code is not 0.
    pub fn ok<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
        Self::must(&mut self.command(arguments))
    }

    fn must(command: &mut Command) -> Vec<u8> {
        let done = command.output().expect("keyway starts");
        assert!(
            done.status.success(),
            "{command:?} ended with {}:\n{}",
            done.status,
            String::from_utf8_lossy(&done.stderr)
        );
        done.stdout
    }

    /// Makes a container of that size ("9M").
    ///
    /// # Panics
    /// When `keyway create` fails.
    pub fn volume(&self, size: &str) -> Volume<'_> {
        let path = self.path("volume");
        let password = self.secret("password", Volume::PASSWORD);
        let secret: Vec<OsString> =
            vec!["--password-file".into(), password.into(), "--pim".into(), "1".into()];
        let create = ["create", "--quick", "--filesystem", "none", "--size", size].map(OsString::from);
        self.ok(create.iter().chain(&secret).chain([&path.clone().into_os_string()]));
        Volume { keyway: self, path, secret }
    }

    /// `keyway open VOLUME` with these further arguments.
    ///
    /// # Panics
    /// When it fails or prints no JSON.
    pub fn open<S: AsRef<OsStr>>(&self, volume: &Path, arguments: impl IntoIterator<Item = S>) -> Open<'_> {
        self.attach("open", volume, arguments, None)
    }

    /// `keyway VERB VOLUME` with these further arguments: `open`, or `serve` with `--background`; and with this
    /// variable in its environment.
    ///
    /// # Panics
    /// When it fails or prints no JSON.
    pub fn attach<S: AsRef<OsStr>>(
        &self,
        verb: &str,
        volume: &Path,
        arguments: impl IntoIterator<Item = S>,
        variable: Option<(&str, &str)>,
    ) -> Open<'_> {
        let first = [OsStr::new(verb).to_owned(), volume.as_os_str().to_owned(), "--json".into()];
        let rest = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        let mut command = self.command(first.into_iter().chain(rest));
        command.envs(variable);
        let printed = Self::must(&mut command);
        let answer = serde_json::from_slice(&printed)
            .unwrap_or_else(|e| panic!("{verb} --json printed {:?}: {e}", String::from_utf8_lossy(&printed)));
        Open { keyway: self, volume: volume.to_owned(), answer, closed: false }
    }
}

impl<'a> Volume<'a> {
    /// The password, of the 20 characters and more that a small PIM asks for.
    pub const PASSWORD: &'static str = "a-disk-is-a-disk-is-a-disk";

    /// The program that made it.
    pub fn keyway(&self) -> &'a Keyway {
        self.keyway
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The arguments that open it: the password's file and the PIM.
    pub fn secret(&self) -> &[OsString] {
        &self.secret
    }

    /// The same volume at another place: a device, a copy.
    #[must_use]
    pub fn at(&self, path: &Path) -> Self {
        Self { keyway: self.keyway, path: path.to_owned(), secret: self.secret.clone() }
    }

    /// `keyway open --attach ATTACH`.
    ///
    /// # Panics
    /// When it fails.
    pub fn open(&self, attach: &str) -> Open<'a> {
        let attach = [OsString::from("--attach"), attach.into()];
        self.keyway.open(&self.path, attach.iter().chain(&self.secret))
    }

    /// `keyway open --attach fuse --cache`: a loop device that goes through the page cache, by this transport where
    /// one is named (`KEYWAY_FUSE`). For root.
    ///
    /// # Panics
    /// When it fails.
    pub fn open_cached(&self, transport: Option<&str>) -> Open<'a> {
        let words = ["--attach", "fuse", "--cache"].map(OsString::from);
        let variable = transport.map(|name| ("KEYWAY_FUSE", name));
        self.keyway.attach("open", &self.path, words.iter().chain(&self.secret), variable)
    }

    /// All of its plain bytes, by `keyway cat`.
    ///
    /// # Panics
    /// When it fails.
    pub fn plain(&self) -> Vec<u8> {
        let cat = [OsString::from("cat"), self.path.clone().into()];
        self.keyway.ok(cat.iter().chain(&self.secret))
    }
}

impl Open<'_> {
    /// What `open --json` printed.
    pub fn answer(&self) -> &serde_json::Value {
        &self.answer
    }

    /// A path that `open --json` printed.
    ///
    /// # Panics
    /// When it is null or missing.
    pub fn path(&self, key: &str) -> PathBuf {
        let value = self.answer.get(key).and_then(serde_json::Value::as_str);
        value.unwrap_or_else(|| panic!("open --json says no {key}: {}", self.answer)).into()
    }

    /// The session's own folder, below which its mount and sockets lie.
    ///
    /// # Panics
    /// When `open --json` named neither a file nor a socket.
    pub fn session_folder(&self) -> PathBuf {
        let is_nbd = self.answer.get("file").is_none_or(serde_json::Value::is_null);
        // ID/nbd, or ID/mnt/volume.
        let (inside, levels) = if is_nbd { (self.path("socket"), 1) } else { (self.path("file"), 2) };
        inside.ancestors().nth(levels).expect("a session lies in a folder").to_owned()
    }

    /// The serving process.
    ///
    /// # Panics
    /// When `open --json` did not say.
    pub fn pid(&self) -> u32 {
        let pid = self.answer.get("pid").and_then(serde_json::Value::as_u64).unwrap_or(0);
        assert!(pid > 1, "open --json says no pid: {}", self.answer);
        pid as u32
    }

    /// `keyway close`.
    ///
    /// # Panics
    /// When it fails.
    pub fn close(mut self) {
        self.closed = true;
        self.keyway.ok([OsStr::new("close"), self.volume.as_os_str()]);
    }

    /// Ends the serving process as a crash would (SIGKILL) and waits until it is gone.
    ///
    /// # Panics
    /// When it does not go.
    pub fn kill(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid() as i32).expect("a pid is not 0");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it was alive");
        wait_until("the process is gone after SIGKILL", || is_gone(self.pid()));
    }
}

/// Whether the process has ended; a zombie that nobody waits for counts.
fn is_gone(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.closed {
            let _ = self.keyway.run([OsStr::new("close"), self.volume.as_os_str()]);
        }
    }
}
