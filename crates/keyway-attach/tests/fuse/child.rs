//! A process of its own for what has to be killed or asked: this very program, started again.

use crate::rig::device;
use keyway_attach::session::{self, AttachPlan, Attachment, MountPlan, NbdAddress};
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
            "fuse" => Attachment::Fuse { loop_device: false },
            "loop" | "cached" => Attachment::Fuse { loop_device: true },
            "nbd" => Attachment::Nbd(NbdAddress::Session),
            "vhost-user" => Attachment::VhostUser(None),
            other => panic!("unknown way {other}"),
        },
        mount: mount_point.map(|at| MountPlan { at, filesystem: None }),
        reasons: Vec::new(),
        details: serde_json::Value::Null,
    };
    let busy = |e: StoreError| {
        assert_eq!(e.source.kind(), ErrorKind::ResourceBusy, "{e}");
        AttachError::AlreadyOpen { volume: file.display().to_string() }
    };
    let store = FileStore::open(file, OpenMode::ReadWrite, Caching::Direct).map_err(busy)?;
    session::run(device(store, Access::ReadWrite), plan, print)
}
