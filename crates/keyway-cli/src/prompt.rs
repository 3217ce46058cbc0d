//! A question on the terminal whose answer is not shown and goes straight into locked memory.

use crate::failure::{Exit, Failure};
use keyway::shown::{line, lines};
use keyway::told::broken;
use keyway_secret::SecretBytes;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// What the keys Ctrl and C give.
const CONTROL_C: u8 = 0x03;

/// What stands in the last line of a question.
const YES: &str = " Type `yes` to go on: ";

/// Longest line the prompt takes, in bytes.
const LINE_LIMIT: usize = 1024;

/// A terminal that does otherwise than before, until it is dropped.
struct Quiet {
    terminal: File,
    before: Termios,
}

impl Quiet {
    fn open(change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&terminal)?;
        let mut quiet = before.clone();
        change(&mut quiet);
        // Signals come as bytes too, so that an interrupt cannot leave the terminal so.
        quiet.local_modes.remove(LocalModes::ISIG);
        tcsetattr(&terminal, OptionalActions::Flush, &quiet)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// What typing led to.
enum Typed {
    Line(SecretBytes),
    Interrupted,
    TooLong,
}

/// Asks for a password.
pub(crate) fn password(question: &str) -> Result<SecretBytes, Failure> {
    let tty = Path::new("/dev/tty");
    let mut quiet = Quiet::open(hidden).map_err(|e| Failure::io("ask on", tty, &e))?;
    write_line(&mut quiet.terminal, &line(question))?;
    let mut keys = quiet.terminal.try_clone().map_err(|e| Failure::io("read", tty, &e))?;
    let typed = read_line(&mut keys).map_err(|e| Failure::io("read", tty, &e))?;
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
    let question = broken(&lines(question), columns.saturating_sub(YES.len()));
    write_line(&mut asked.terminal, &format!("{question}{YES}"))?;
    let mut answer = [0; LINE_LIMIT];
    let length = asked.terminal.read(&mut answer).map_err(|e| Failure::io("read", tty, &e))?;
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

/// Collects keys up to the end of the line; Backspace, Ctrl-U, Ctrl-C and Ctrl-D do as usual.
fn read_line(keys: &mut impl Read) -> io::Result<Typed> {
    let mut line = SecretBytes::zeroed(LINE_LIMIT);
    let mut key = SecretBytes::zeroed(1);
    let mut len = 0;
    loop {
        match keys.read(&mut key) {
            Ok(0) => break,
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        }
        match key.first().copied().unwrap_or(0) {
            b'\n' | b'\r' => break,
            CONTROL_C => return Ok(Typed::Interrupted),
            0x04 => break,
            0x08 | 0x7f => {
                // One character back: over UTF-8's continuation bytes to its first byte.
                while len > 0 {
                    len -= 1;
                    if line.get(len).is_none_or(|b| b & 0xc0 != 0x80) {
                        break;
                    }
                }
            }
            0x15 => len = 0,
            byte => match line.get_mut(len) {
                Some(place) => {
                    *place = byte;
                    len += 1;
                }
                None => return Ok(Typed::TooLong),
            },
        }
    }
    line.truncate(len);
    Ok(Typed::Line(line))
}

#[cfg(test)]
#[path = "../tests/inner/prompt.rs"]
mod tests;
