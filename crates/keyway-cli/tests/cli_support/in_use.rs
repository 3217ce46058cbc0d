//! A volume that is read and written while it is converted, as its user would.

use super::Cli;
use keyway_testkit::Rng;
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Instant;

/// Starts a conversion whose volume stays in use; its process, and where the file of its plain content is.
pub(crate) fn start(cli: &Cli, words: &str) -> Option<(Child, PathBuf)> {
    let mut command = cli.command(cli.words(words));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("keyway starts");
    // It says where the volume is, and stays.
    let said = child.stdout.take().expect("piped");
    let document = serde_json::Deserializer::from_reader(said).into_iter::<Value>().next();
    let document = document.expect("says something").expect("says it in JSON");
    let Some(file) = document["file"].as_str() else {
        let _ = child.kill();
        let _ = child.wait();
        assert!(document["socket"].is_string(), "{words}: {document}");
        keyway_testkit::skip("no FUSE here");
        return None;
    };
    Some((child, file.into()))
}

/// Writes to the volume `d` while it is converted, and reads everything back, until that is through or, where it is
/// not to go to the end, begun; then closes it. What it said of itself last; `content` is what must be in it, or zeros
/// where that is not known yet.
pub(crate) fn written_while_converted(
    cli: &Cli,
    words: &str,
    to_the_end: bool,
    content: &mut [u8],
    rng: &mut Rng,
) -> Option<Value> {
    let (mut child, file) = start(cli, words)?;
    let file = std::fs::File::options().read(true).write(true).open(file).expect("opens");
    if content.iter().all(|byte| *byte == 0) {
        file.read_exact_at(content, 0).expect("read");
    }
    let began = Instant::now();
    let mut status = Value::Null;
    for round in 0.. {
        let at = rng.below((content.len() - 8192) as u64);
        let len = 1 + rng.below(8000) as usize;
        let bytes = rng.bytes(len);
        let range = at as usize..at as usize + bytes.len();
        file.write_all_at(&bytes, at).expect("written");
        content[range.clone()].copy_from_slice(&bytes);
        let mut found = vec![0; range.len() + 4096];
        let from = at.min((content.len() - found.len()) as u64);
        file.read_exact_at(&mut found, from).expect("read");
        assert!(found == content[from as usize..][..found.len()], "{words}: bytes at {from} are others");
        if round % 50 == 0 {
            file.sync_all().expect("flushed");
            status = serde_json::from_slice(&cli.run("status @d --json").stdout).unwrap_or_default();
            assert_eq!(status["lock_status"], "Unlocked", "{words}: {status}");
            let percent = status["percentage_done"].as_f64().unwrap_or(100.0);
            if percent == 100.0 || percent > 5.0 && !to_the_end {
                break;
            }
        }
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "{words}: {status}");
    }
    drop(file);
    if to_the_end {
        // What is told of the volume that came of it, once the last of the conversion is cleared away.
        status = cli.json(0, "status @d");
        while !status["encryption_method"].is_string() {
            assert!(began.elapsed() < keyway_testkit::PATIENCE, "{words}: {status}");
            status = cli.json(0, "status @d");
        }
    }
    cli.ends(0, "close @d");
    // Whoever reads nothing but the code is told that it can't be opened like this.
    let code = if to_the_end { 0 } else { 1 };
    assert_eq!(child.wait().expect("ends").code(), Some(code), "{words}");
    Some(status)
}
