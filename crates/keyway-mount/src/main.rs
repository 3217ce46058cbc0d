//! `mount.keyway`: what mount(8) calls for the type `keyway`. Its options become those of `keyway open`, which does the work.
#![forbid(unsafe_code)]

mod asking;
mod options;
mod request;

use request::Request;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// mount(8): wrong usage or no permission, something is missing here, and a mount that failed.
const USAGE: u8 = 1;
const SYSTEM: u8 = 2;
const FAILED: u8 = 32;

fn main() -> ExitCode {
    let request = match Request::parse(env::args_os().skip(1)) {
        Ok(request) => request,
        Err(wrong) => return end(USAGE, &wrong),
    };
    let program = program();
    let mut open = Command::new(&program);
    open.arg("open").args(&request.arguments);
    let asked = if request.asks { asking::answer(&request.source) } else { Ok(Some(Stdio::null())) };
    match asked {
        Ok(Some(answer)) => {
            open.stdin(answer);
            if request.asks {
                open.args(["--password-file", "-"]);
            }
        }
        // Somebody sits there: the program asks.
        Ok(None) => {}
        Err(wrong) => return end(FAILED, &wrong),
    }
    open.arg("--").arg(&request.source).arg(&request.folder);
    if !request.is_verbose {
        open.stdout(Stdio::null());
    }
    match open.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        // It has said why.
        Ok(_) => ExitCode::from(FAILED),
        Err(e) => end(SYSTEM, &format!("{} can't be run: {e}", program.display())),
    }
}

fn end(code: u8, why: &str) -> ExitCode {
    eprintln!("mount.keyway: {why}");
    ExitCode::from(code)
}

/// The program that was installed together with this one, else one by that name where programs are.
fn program() -> PathBuf {
    let own = env::current_exe().unwrap_or_default();
    let folder = own.parent().unwrap_or(Path::new("/"));
    let beside = [folder.join("keyway"), folder.join("../bin/keyway")];
    beside.into_iter().find(|path| path.is_file()).unwrap_or_else(|| OsString::from("keyway").into())
}
