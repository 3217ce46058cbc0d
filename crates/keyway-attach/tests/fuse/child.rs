//! A process of its own for what has to be killed or asked: this very program, started again.

use crate::planted::Planted;
use crate::rig::device;
use keyway_attach::session::{self, AttachPlan, Attachment, MountPlan, NbdAddress, Sandbox};
use keyway_attach::{AttachError, LocalUsers};
use keyway_engine::Access;
use keyway_error::{Explain, Fault};
use keyway_store::{Caching, FileStore, OpenMode, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Holds the arguments, separated by newlines.
const VARIABLE: &str = "KEYWAY_TEST_CHILD";

/// `FILE fuse|loop|nbd|vhost-user [MOUNTPOINT]` prints the session's state when it is ready and serves until
/// it is closed or killed; `list`, `clean` and `status|record|end-recording|close WHAT` print JSON, too.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--exact", "child::run", "--nocapture", "--test-threads=1"]);
    command.env(VARIABLE, arguments.join("\n"));
    command
}

#[test]
#[ignore = "the process that other tests start"]
fn run() {
    let Ok(arguments) = std::env::var(VARIABLE) else { return };
    let arguments: Vec<&str> = arguments.lines().collect();
    // What the test harness prints does not end with a newline.
    println!();
    let done = match arguments.as_slice() {
        ["list"] => session::list().map(|all| all.iter().for_each(print)),
        ["clean"] => session::clean_stale().map(|all| all.iter().for_each(print)),
        ["status", what] => session::status(what).map(|status| print(&status)),
        ["record", what] => session::start_recording(what).map(|state| print(&state)),
        ["end-recording", what] => session::end_recording(what).map(|trace| {
            let records = trace.records.iter().map(|r| (format!("{:?}", r.action), r.offset, r.len));
            print(&records.collect::<Vec<_>>());
        }),
        ["close", what] => session::close(what).map(|closed| print(&closed.state)),
        [file, way, rest @ ..] => serve(Path::new(file), way, rest.first().map(PathBuf::from)),
        other => panic!("unknown arguments {other:?}"),
    };
    if let Err(e) = done {
        eprintln!("{e}");
        std::process::exit(if e.fault() == Fault::InUse { 6 } else { 1 });
    }
    std::process::exit(0);
}

/// Whether a process that serves a medium with an exploit in it is in its sandbox; all others are.
#[derive(Clone, Copy)]
pub(crate) enum Confined {
    Yes,
    No,
}

impl Confined {
    /// The way to serve it.
    pub(crate) const fn planted(self) -> &'static str {
        match self {
            Self::Yes => "planted",
            Self::No => "planted-free",
        }
    }
}

/// The warden of such a process: this program once more.
fn sandbox() -> Sandbox {
    let arguments = ["--ignored", "--exact", "child::warden", "--nocapture", "--test-threads=1"];
    Sandbox {
        program: std::env::current_exe().expect("a path"),
        name: "keyway-warden".into(),
        arguments: arguments.map(Into::into).to_vec(),
        required: false,
    }
}

#[test]
#[ignore = "the process that takes down what another one made"]
fn warden() {
    if std::env::var_os(VARIABLE).is_some() {
        session::warden().expect("somebody asks");
        std::process::exit(0);
    }
}

fn print(value: &impl serde::Serialize) {
    println!("{}", serde_json::to_string(value).expect("plain data"));
}

fn serve(file: &Path, way: &str, mount_point: Option<PathBuf>) -> Result<(), AttachError> {
    let plan = AttachPlan {
        users: LocalUsers::Own,
        credentials: None,
        cache: way == "cached",
        volume: file.to_owned(),
        attachment: match way {
            "fuse" | "planted" | "planted-free" => Attachment::Fuse { loop_device: false },
            "loop" | "cached" => Attachment::Fuse { loop_device: true },
            "nbd" => Attachment::Nbd(NbdAddress::Session),
            "vhost-user" => Attachment::VhostUser(None),
            other => panic!("unknown way {other}"),
        },
        mount: mount_point.map(|at| MountPlan {
            at,
            filesystem: None,
            options: String::new(),
            ends_it: true,
        }),
        close_when_idle: None,
        reasons: Vec::new(),
        sandbox: (way != Confined::No.planted()).then(sandbox),
        details: serde_json::Value::Null,
    };
    let busy = |e: StoreError| {
        assert_eq!(e.source.kind(), ErrorKind::ResourceBusy, "{e}");
        AttachError::AlreadyOpen { volume: file.to_owned(), mountpoint: None }
    };
    let store = FileStore::open(file, OpenMode::ReadWrite, Caching::Direct).map_err(busy)?;
    let device = match file.parent() {
        Some(folder) if way.starts_with("planted") => device(Planted::new(store, folder), Access::ReadWrite),
        _ => device(store, Access::ReadWrite),
    };
    session::run(device, plan, |state| {
        print(state);
        true
    })
}
