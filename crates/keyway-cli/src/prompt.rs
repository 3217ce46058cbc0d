//! A question on the terminal whose answer is not shown and goes straight into locked memory.

use crate::failure::{Exit, Failure};
use keyway::secrets::{CONTROL_C, LINE_LIMIT, Typed};
use keyway::shown::{line, lines};
use keyway::told::broken;
use keyway_secret::SecretBytes;
use keyway_sys::SignalsAtPrompt;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

/// What stands in the last line of a question.
const YES: &str = "Type `yes` to go on: ";

/// A terminal that does otherwise than before, until it is dropped.
struct Quiet {
    terminal: File,
    before: Termios,
    /// What would end this process waits until the terminal is as it was: it is let go of after that.
    held: SignalsAtPrompt,
}

impl Quiet {
    fn open(change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&terminal)?;
        let (mut quiet, held) = (before.clone(), SignalsAtPrompt::hold()?);
        change(&mut quiet);
        // Signals come as bytes too, so that an interrupt cannot leave the terminal so.
        quiet.local_modes.remove(LocalModes::ISIG);
        tcsetattr(&terminal, OptionalActions::Flush, &quiet)?;
        Ok(Self { terminal, before, held })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// Whether anybody can be asked, who reads along at least. A session of its own has no terminal, whatever its streams are.
pub(crate) fn is_possible() -> bool {
    (io::stdin().is_terminal() || io::stderr().is_terminal()) && File::open("/dev/tty").is_ok()
}

/// Asks for a password.
pub(crate) fn password(question: &str) -> Result<SecretBytes, Failure> {
    let tty = Path::new("/dev/tty");
    let mut quiet = Quiet::open(hidden).map_err(|e| Failure::io("ask on", tty, &e))?;
    write_line(&mut quiet.terminal, &line(question))?;
    let typed =
        Typed::read(&mut quiet.held.keys(&quiet.terminal)).map_err(|e| Failure::io("read", tty, &e))?;
    write_line(&mut quiet.terminal, "\n")?;
    match typed {
        Typed::Line(line) => Ok(line),
        Typed::Interrupted => Err(interrupted()),
        Typed::TooLong => Err(Failure::usage(
            format!("a typed password can't be longer than {LINE_LIMIT} bytes"),
            "use --password-file FILE",
        )),
    }
}

/// Each key comes as it is typed, and none is shown.
fn hidden(terminal: &mut Termios) {
    terminal.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
    terminal.special_codes[SpecialCodeIndex::VMIN] = 1;
    terminal.special_codes[SpecialCodeIndex::VTIME] = 0;
}

/// All that is asked is asked before anything is done.
fn interrupted() -> Failure {
    Failure::new(Exit::Failed, "interrupted: nothing was changed", "").kind(keyway_error::Kind::Interrupted)
}

/// Asks whether to go on, in lines of so many columns; only `yes` does.
pub(crate) fn confirm(question: &str, columns: usize) -> Result<bool, Failure> {
    let tty = Path::new("/dev/tty");
    // A line ends with Ctrl-C as well.
    let as_key = |terminal: &mut Termios| terminal.special_codes[SpecialCodeIndex::VEOL] = CONTROL_C;
    let mut asked = Quiet::open(as_key).map_err(|e| Failure::io("ask on", tty, &e))?;
    let question = broken(&lines(question), columns);
    let fits = question.lines().last().is_none_or(|last| last.chars().count() + YES.len() < columns);
    write_line(&mut asked.terminal, &format!("{question}{}{YES}", if fits { " " } else { "\n" }))?;
    let mut answer = [0; LINE_LIMIT];
    let read = asked.held.keys(&asked.terminal).read(&mut answer);
    let length = read.map_err(|e| Failure::io("read", tty, &e))?;
    match answer.get(..length).unwrap_or_default() {
        [.., CONTROL_C] => {
            write_line(&mut asked.terminal, "\n")?;
            Err(interrupted())
        }
        answer => Ok(answer.trim_ascii() == b"yes"),
    }
}

fn write_line(terminal: &mut File, text: &str) -> Result<(), Failure> {
    terminal
        .write_all(text.as_bytes())
        .and_then(|()| terminal.flush())
        .map_err(|e| Failure::io("write to", Path::new("/dev/tty"), &e))
}
