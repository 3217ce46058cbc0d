//! A system bus of a test's own, with the real dbus-daemon and the real polkitd, and a helper that the bus starts: in a mount
//! namespace, so that nothing that is mounted is seen anywhere else, and with a `/run` of its own.

use crate::{own_mounts, require_root, require_tool, skip, wait_until, workspace_root};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Where distributions have polkit's daemon.
const POLKITD: [&str; 3] =
    ["/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd", "/usr/libexec/polkit-1/polkitd"];

/// The bus, and what is on it. All of it ends when this is dropped.
pub struct SystemBus {
    folder: TempDir,
    /// Has the mount namespace, and does nothing.
    keeper: Child,
    daemons: Vec<Child>,
}

impl SystemBus {
    /// Starts a bus that starts the helper when it is asked for, and a polkitd that lets these users (by name) do these actions
    /// without a question and nobody anything else. `None` after a visible skip.
    ///
    /// # Panics
    /// When something is there and does not start.
    pub fn start(helper: &Path, allowed: &[(&str, &str)]) -> Option<Self> {
        if !require_root() {
            return None;
        }
        for tool in ["dbus-daemon", "dbus-send", "nsenter", "setpriv", "unshare"] {
            require_tool(tool)?;
        }
        let Some(polkitd) = POLKITD.into_iter().find(|path| Path::new(path).is_file()) else {
            skip("polkitd is not installed (./scripts/test installs it where it may)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("keyway-bus-").tempdir().expect("a temporary folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        write_down(folder.path(), helper, allowed);
        let keeper = keep_namespace(folder.path());
        let mut bus = Self { folder, keeper, daemons: Vec::new() };
        let config = bus.folder.path().join("bus.conf");
        let daemon = bus
            .inside("dbus-daemon")
            .arg("--nofork")
            .arg("--config-file")
            .arg(config)
            .stderr(Stdio::null())
            .spawn();
        bus.daemons.push(daemon.expect("dbus-daemon starts"));
        let socket = bus.socket();
        wait_until("the bus listens", || UnixStream::connect(&socket).is_ok());
        let polkit =
            bus.inside(polkitd).arg("--no-debug").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        bus.daemons.push(polkit.expect("polkitd starts"));
        wait_until("polkit is on the bus", || bus.has("org.freedesktop.PolicyKit1"));
        Some(bus)
    }

    /// A program as root, where the bus is.
    pub fn inside(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.keeper.id())).arg("--").arg(program);
        command.env("DBUS_SYSTEM_BUS_ADDRESS", self.address()).current_dir("/").stdin(Stdio::null());
        command
    }

    /// A program as the user of that number, where the bus is.
    pub fn as_user(&self, user: u32, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.inside("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
        command.arg(program);
        command
    }

    /// A folder of that user's own.
    ///
    /// # Panics
    /// When it can't be made.
    pub fn folder_of(&self, user: u32) -> PathBuf {
        let folder = self.folder.path().join(format!("user-{user}"));
        let _ = fs::create_dir(&folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("ours");
        std::os::unix::fs::chown(&folder, Some(user), Some(user)).expect("we are root");
        folder
    }

    /// What is at a path there.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        let root = PathBuf::from(format!("/proc/{}/root", self.keeper.id()));
        root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The table of mounts there.
    ///
    /// # Panics
    /// When it can't be read.
    pub fn mounts(&self) -> String {
        fs::read_to_string(format!("/proc/{}/mounts", self.keeper.id())).expect("the namespace is there")
    }

    /// Whether somebody has that name on the bus.
    pub fn has(&self, name: &str) -> bool {
        let done = self.ask_bus("NameHasOwner", name);
        String::from_utf8_lossy(&done.stdout).contains("boolean true")
    }

    /// The process that has that name on the bus.
    pub fn process_of(&self, name: &str) -> Option<u32> {
        let done = self.ask_bus("GetConnectionUnixProcessID", name);
        String::from_utf8_lossy(&done.stdout).split_whitespace().last()?.parse().ok()
    }

    fn ask_bus(&self, member: &str, name: &str) -> Output {
        let words = ["--system", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus"];
        let mut ask = self.inside("dbus-send");
        ask.args(words).arg(format!("org.freedesktop.DBus.{member}")).arg(format!("string:{name}"));
        ask.output().expect("dbus-send starts")
    }

    /// Where clients find the bus: `DBUS_SYSTEM_BUS_ADDRESS`.
    pub fn address(&self) -> String {
        format!("unix:path={}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("bus")
    }
}

impl Drop for SystemBus {
    fn drop(&mut self) {
        // The bus ends last: who has lost it clears up.
        let helper =
            self.process_of("org.keyway.Mount1").and_then(|pid| rustix::process::Pid::from_raw(pid as i32));
        for child in self.daemons.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(helper) = helper {
            wait_until("the helper ends with its bus", || {
                rustix::process::test_kill_process(helper).is_err()
            });
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// The configuration of both daemons.
fn write_down(folder: &Path, helper: &Path, allowed: &[(&str, &str)]) {
    let data = workspace_root().join("crates/keyway-mountd/data");
    for below in ["actions", "rules", "services", "run"] {
        fs::create_dir(folder.join(below)).expect("made");
    }
    fs::copy(data.join("org.keyway.policy"), folder.join("actions/org.keyway.policy")).expect("the policy");
    let service = fs::read_to_string(data.join("org.keyway.Mount1.service")).expect("the service");
    let service: Vec<_> =
        service
            .lines()
            .filter(|line| !line.starts_with("SystemdService="))
            .map(|line| {
                if line.starts_with("Exec=") { format!("Exec={}", helper.display()) } else { line.to_owned() }
            })
            .collect();
    fs::write(folder.join("services/org.keyway.Mount1.service"), service.join("\n") + "\n").expect("room");
    let rules: String = allowed
        .iter()
        .map(|(user, action)| {
            format!("if (subject.user == '{user}' && action.id == '{action}') return polkit.Result.YES;\n")
        })
        .collect();
    let rules =
        format!("polkit.addRule(function(action, subject) {{\n{rules}return polkit.Result.NO;\n}});\n");
    fs::write(folder.join("rules/00-test.rules"), rules).expect("room");
    let config = format!(
        "<busconfig><type>system</type><auth>EXTERNAL</auth>\
         <listen>unix:path={at}/bus</listen><servicedir>{at}/services</servicedir>\
         <policy context='default'><allow user='*'/><deny own='*'/><deny send_type='method_call'/>\
         <allow send_type='signal'/><allow send_requested_reply='true' send_type='method_return'/>\
         <allow send_requested_reply='true' send_type='error'/><allow receive_type='method_call'/>\
         <allow receive_type='method_return'/><allow receive_type='error'/><allow receive_type='signal'/>\
         <allow send_destination='org.freedesktop.DBus'/></policy>\
         <policy context='default'><allow send_destination='org.freedesktop.PolicyKit1'/></policy>\
         <policy user='polkitd'><allow own='org.freedesktop.PolicyKit1'/></policy>\
         <policy user='root'><allow own='org.freedesktop.PolicyKit1'/></policy>\
         <include>{data}/org.keyway.Mount1.conf</include></busconfig>",
        at = folder.display(),
        data = data.display()
    );
    fs::write(folder.join("bus.conf"), config).expect("room");
}

/// A process that does nothing, in a mount namespace with the test's policy and an empty `/run`.
fn keep_namespace(folder: &Path) -> Child {
    let script = "mount --bind $F/actions /usr/share/polkit-1/actions
        mount --bind $F/rules /etc/polkit-1/rules.d
        mount -t tmpfs -o mode=755 none /run
        mount -t tmpfs -o mode=755 none $F/run
        mknod -m 666 $F/run/fuse c 10 229; mount --bind $F/run/fuse /dev/fuse
        echo ready; exec sleep infinity";
    let mut keeper = own_mounts(Path::new("unshare"), &[], folder)
        .args(["sh", "-euc", script])
        .env("F", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare starts");
    let mut line = String::new();
    let said = keeper.stdout.take().expect("it is piped");
    BufReader::new(said).read_line(&mut line).expect("it speaks");
    assert_eq!(line.trim(), "ready", "a mount namespace with the policy");
    keeper
}
