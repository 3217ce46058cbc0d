//! `mount.keyway`: what mount(8) calls for the type `keyway`. Its options become those of `keyway open`, which does the work.
//! systemd calls it as well, for volumes that come up at start-up.
#![forbid(unsafe_code)]

mod asking;
mod at_boot;
mod options;
mod request;

use asking::Answer;
use request::Request;
use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// mount(8): wrong usage or no permission, something is missing here, and a mount that failed.
const USAGE: u8 = 1;
const SYSTEM: u8 = 2;
const FAILED: u8 = 32;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let request = match &words[..] {
        [word, folders @ ..] if word == "--units" => return at_boot::write_units(folders),
        [word, name] if word == "--favourite" => at_boot::favourite(name),
        _ => Request::parse(words),
    };
    let request = match request {
        Ok(request) => request,
        Err(wrong) => return end(USAGE, &wrong),
    };
    let program = program();
    let mut open = Command::new(&program);
    open.arg("open").args(&request.arguments);
    let mut asked = None;
    match request.asks.then(|| asking::answer(&request.source)).transpose() {
        Ok(None) => drop(open.stdin(Stdio::null())),
        Ok(Some(Answer::Asked(mut asking))) => {
            open.stdin(asking.stdout.take().map_or_else(Stdio::null, Stdio::from));
            open.args(["--password-file", "-"]);
            asked = Some(asking);
        }
        // Somebody sits there: the program asks.
        Ok(Some(Answer::Terminal)) => {}
        Err(wrong) => return end(FAILED, &wrong),
    }
    open.arg("--").arg(&request.source).args(&request.folder);
    if !request.is_verbose {
        open.stdout(Stdio::null());
    }
    let begun = open.stderr(Stdio::piped()).spawn();
    let told = begun.and_then(|mut opening| {
        let said = opening.stderr.take().map(|from| said(from, request.is_of_mount)).unwrap_or_default();
        opening.wait().map(|status| (status.success(), said))
    });
    match told {
        Ok((true, _)) => ExitCode::SUCCESS,
        Ok((false, said)) => match asked.as_mut().and_then(asking::unanswered) {
            // Of an empty password it says something else.
            Some(unanswered) => end(FAILED, &unanswered),
            None => {
                eprint!("{said}");
                request.lack.iter().for_each(|lack| eprintln!("mount.keyway: {lack}"));
                ExitCode::from(FAILED)
            }
        },
        Err(e) => end(SYSTEM, &format!("{} can't be run: {e}", program.display())),
    }
}

/// Hands on what the program says, where mount(8) asked by the names that its options have there. Why it failed is kept, and told by whoever knows
/// whether it is the reason.
fn said(from: impl Read, is_of_mount: bool) -> String {
    let (mut lines, mut kept) = (BufReader::new(from), String::new());
    let mut line = Vec::new();
    while let Ok(1..) = lines.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).into_owned();
        let text = if is_of_mount { options::in_fstab(&text) } else { text };
        line.clear();
        let is_error = text.starts_with("keyway: ") && !text.starts_with("keyway: warning: ");
        if is_error || !kept.is_empty() {
            kept.push_str(&text);
        } else {
            eprint!("{text}");
        }
    }
    kept
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
