//! Who is asked for a password: whoever sits at the terminal, else whoever systemd finds.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Asks on the console, in a desktop's dialog, or at the boot screen (systemd-ask-password(1)).
const ASK: &str = "systemd-ask-password";

/// Here it leaves its questions. Where nobody has made it, no agent looks for them.
const QUESTIONS: &str = "/run/systemd/ask-password";

/// So many seconds it waits for an answer, as systemd does for a mount.
const PATIENCE: u32 = 90;

/// Who is asked.
pub(crate) enum Answer {
    /// Somebody at the terminal, by the program itself.
    Terminal,
    /// Somebody whom systemd finds. What they answer comes from that process.
    Asked(Child),
}

/// Where the password comes from.
///
/// It goes from one program to the other and never passes through this one.
pub(crate) fn answer(source: &OsStr) -> Result<Answer, String> {
    if io::stdin().is_terminal() {
        return Ok(Answer::Terminal);
    }
    let shown: String = source.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
    let name = Path::new(&shown)
        .file_name()
        .map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let nobody = |why: &str| {
        let options = "keyfile=, password-file=, …";
        Err(format!("no option says what opens {shown} ({options}), and nobody can be asked: {why}"))
    };
    if !Path::new(QUESTIONS).is_dir() {
        return nobody(&format!(
            "there is no terminal, and {QUESTIONS} is missing, where systemd's agents look"
        ));
    }
    let asked = Command::new(ASK)
        .arg(format!("--id=keyway:{shown}"))
        .arg(format!("--timeout={PATIENCE}"))
        .args(["--icon=drive-harddisk", "--"])
        .arg(format!("Password of {name}:"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    match asked {
        Ok(asking) => Ok(Answer::Asked(asking)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            nobody(&format!("there is neither a terminal nor {ASK}"))
        }
        Err(e) => Err(format!("{ASK} can't be run: {e}")),
    }
}

/// Why nobody has answered, where nobody has.
pub(crate) fn unanswered(asked: &mut Child) -> Option<String> {
    let ended = asked.wait().ok()?;
    (!ended.success()).then(|| {
        format!("nobody has answered {ASK} within {PATIENCE} s, or it was refused: no password was given")
    })
}
