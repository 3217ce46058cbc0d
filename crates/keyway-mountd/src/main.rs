//! `keyway-mountd`: what the system bus starts, and what that starts for each request.
#![forbid(unsafe_code)]

use keyway_mountd::{service, worker};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => service::serve().map_err(|e| e.to_string()),
        [worker::WORD, rest @ ..] => worker::work(rest).map_err(|e| e.to_string()),
        _ => Err("it takes no arguments: the system bus starts it".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("keyway-mountd: {why}");
            ExitCode::FAILURE
        }
    }
}
