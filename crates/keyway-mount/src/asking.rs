//! Who is asked for a password: whoever sits at the terminal, else whoever systemd finds.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::{Command, Stdio};

/// Asks on the console, in a desktop's dialog, or at the boot screen (systemd-ask-password(1)).
const ASK: &str = "systemd-ask-password";

/// Where the password comes from; `None` is the terminal, where the program asks by itself.
///
/// It goes from one program to the other and never passes through this one.
pub(crate) fn answer(source: &OsStr) -> Result<Option<Stdio>, String> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let shown: String = source.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
    let name = Path::new(&shown)
        .file_name()
        .map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let asked = Command::new(ASK)
        .arg(format!("--id=keyway:{shown}"))
        .args(["--icon=drive-harddisk", "--timeout=0", "--"])
        .arg(format!("Password of {name}:"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    match asked {
        Ok(mut asking) => Ok(asking.stdout.take().map(Stdio::from)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(format!(
            "no option says what opens {shown} (keyfile=, password-file=, …), and nobody can be asked: there is neither a terminal nor {ASK}"
        )),
        Err(e) => Err(format!("{ASK} can't be run: {e}")),
    }
}
