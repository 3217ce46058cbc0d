//! What another process of this program is at, by the words that it was started with, and what helps where it has a medium that
//! somebody wants.

use keyway_error::Advice;
use keyway_store::DRIVE_NQN;
use std::net::SocketAddr;
use std::path::Path;

/// Has an error that names a process of this program say what helps against just that one. A program calls it when it starts.
pub fn know_own_processes() {
    keyway_store::advise_by(advice);
}

/// What helps where that process of ours has what is at `path`.
fn advice(pid: u32, path: &Path) -> Advice {
    match &*verb_of(pid) {
        "serve-volume" => Advice::CloseNamed { volume: path.to_owned() },
        "encrypt" | "decrypt" | "reencrypt" | "convert" | "resume" => {
            Advice::AskStatusOrPause { path: path.to_owned() }
        }
        "drive" => switched_on(pid),
        "lab" | "resize" | "serve" => Advice::WaitForProcess { pid },
        _ => Advice::CloseVolume { path: path.to_owned(), pid },
    }
}

/// Whether it gives a volume another size.
pub(crate) fn resizes(pid: u32) -> bool {
    verb_of(pid) == "resize"
}

/// Whether it serves a volume.
pub(crate) fn serves(pid: u32) -> bool {
    matches!(&*verb_of(pid), "serve-volume" | "open" | "serve")
}

/// The verb that a process of ours is at: its first word, nothing where that is an option.
fn verb_of(pid: u32) -> String {
    words_of(pid).into_iter().nth(1).unwrap_or_default()
}

fn words_of(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// What is done about a virtual drive that a process of ours has switched on: as its own words say where it is served.
fn switched_on(pid: u32) -> Advice {
    let words = words_of(pid);
    if words.get(2).map(String::as_str) != Some("emulate") {
        return Advice::WaitForProcess { pid };
    }
    let given = |option: &str| {
        let mut following = words.iter().skip_while(|word| *word != option).skip(1);
        let joined = || words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        following.next().map(String::as_str).or_else(joined).unwrap_or_default().to_owned()
    };
    // Which port the system has chosen, the process alone has said.
    let address: Option<SocketAddr> =
        given("--nvme-tcp").parse().ok().filter(|at: &SocketAddr| at.port() != 0);
    let (host, port, nqn) = match address {
        Some(at) => {
            let nqn = Some(given("--nqn")).filter(|nqn| !nqn.is_empty());
            let nqn = nqn.unwrap_or_else(|| DRIVE_NQN.to_owned());
            (at.ip().to_string(), at.port().to_string(), nqn)
        }
        // A socket has neither.
        None => (given("--vhost-user-scsi"), String::new(), String::new()),
    };
    Advice::ConnectToDrive { pid, host, port, nqn }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_known_by_its_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let volume = Path::new("/v.hc");
        let tells = |words: &str| {
            // What a shell is given as its first word is a script of that name.
            let verb = words.split(' ').next().unwrap_or_default();
            std::fs::write(folder.path().join(verb), "read line\n").expect("written");
            let mut command = Command::new("/bin/sh");
            command.arg0("keyway").args(words.split(' ')).current_dir(folder.path());
            let mut child = command.stdin(Stdio::piped()).spawn().expect("a shell");
            // It is there a moment before its words are.
            let line = format!("/proc/{}/cmdline", child.id());
            while std::fs::read(&line).expect("it runs").is_empty() {
                std::thread::yield_now();
            }
            let told = (advice(child.id(), volume), resizes(child.id()));
            drop(child.stdin.take());
            child.wait().expect("it ends");
            told
        };
        let (told, resizes) = tells("resize v.hc --size 1G");
        assert!(resizes && matches!(told, Advice::WaitForProcess { .. }), "{told:?}");
        let (told, resizes) = tells("encrypt v.hc");
        assert!(!resizes && told == Advice::AskStatusOrPause { path: volume.to_owned() }, "{told:?}");
        let (told, _) = tells("drive emulate d --nvme-tcp=127.0.0.1:4420");
        assert!(matches!(&told, Advice::ConnectToDrive { port, .. } if port == "4420"), "{told:?}");
        assert!(matches!(tells("open v.hc").0, Advice::CloseVolume { .. }));
        assert!(!serves(std::process::id()));
    }
}
