//! Where results go: words or one JSON document to standard output, all else to standard error.

use crate::failure::{Exit, Failure, STANDARD_OUTPUT};
use crate::{prompt, words};
use keyway::inside::NotDone;
#[cfg(feature = "lab")]
pub(crate) use keyway::lab::told::tables;
use keyway::session::Notice;
use keyway::shown::{self, for_locale, line, lines};
use keyway::told::{broken, with_warnings, wrapped};
pub(crate) use keyway::told::{pairs, table};
pub(crate) use keyway_store::size::words as bytes;
use serde::Serialize;
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is told of keys that may be swapped out.
pub(crate) const NOT_LOCKED: &str =
    "keys could not be locked in memory and may be swapped out: raise `ulimit -l`";

/// How a verb answers and asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON document instead of words.
    pub(crate) json: bool,
    /// Questions whether to go on are answered already.
    pub(crate) yes: bool,
    /// More is told than most people want to know.
    pub(crate) verbose: bool,
}

impl Output {
    /// Prints the result: the document with `--json`, else the words.
    pub(crate) fn result(
        self,
        document: &impl Serialize,
        words: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.told(document, words, None::<fn() -> String>)
    }

    /// The same; where it holds a secret that is told this once, a reader that went away is a failure, and `left` says what helps.
    pub(crate) fn told(
        self,
        document: &impl Serialize,
        words: impl FnOnce() -> String,
        left: Option<impl FnOnce() -> String>,
    ) -> Result<(), Failure> {
        let text = if self.json { document_text(document) } else { for_people(&words()) };
        let done = |failure: Failure| failure.also(&words::said("untold answer", &json!({})));
        let Some(left) = left else { return print(&text).map_err(done) };
        print_line(&text).map_err(|failure| untold(failure, left()))
    }

    /// Refuses to make a secret that is told once where nobody would read it; `once` says whether nothing else opens it.
    pub(crate) fn must_be_heard(self, once: Option<bool>) -> Result<(), Failure> {
        let Some(only) = once else { return Ok(()) };
        let heard = raw_stdout().and_then(|to| keyway::must_be_heard(to, only).map_err(not_written));
        heard.map_err(|failure| untold(failure, words::said("untold before", &serde_json::Value::Null)))
    }

    /// Words for people while the work goes on; nothing with `--json`.
    pub(crate) fn say(self, words: &str) -> Result<(), Failure> {
        if self.json { Ok(()) } else { print(&for_people(words)) }
    }

    /// A warning to standard error.
    pub(crate) fn warn(self, words: &str) {
        warn(words);
    }

    /// What long work begins, to standard error, for people who read logs; nothing with `--json`.
    pub(crate) fn announce(self, words: &str) {
        if !self.json {
            note(words);
        }
    }

    /// The warnings of a result that were not given on the way to it, and that memory could not be locked.
    pub(crate) fn warnings(self, warnings: &[String]) {
        let not_locked = (!keyway_secret::all_locked()).then_some(NOT_LOCKED);
        warnings.iter().map(String::as_str).chain(not_locked).for_each(warn_once);
    }

    /// A warning of what was not done in a volume, by a path that somebody else wrote.
    pub(crate) fn not_done(self, one: &NotDone) {
        self.warn(&format!("{}: {}", shown::shown(&one.path), one.reason));
    }

    /// Asks before data is lost; fails unless the answer is yes.
    pub(crate) fn confirm(self, what: &str) -> Result<(), Failure> {
        if self.yes || !is_news(what) {
            return Ok(());
        }
        if !prompt::is_possible() {
            return Err(Failure::usage(
                format!("nothing was done, because there is no terminal to ask this on: {what}"),
                "add --yes if that is what you want",
            ));
        }
        clear();
        if prompt::confirm(what, columns())? {
            return Ok(());
        }
        let hint = "type the whole word `yes` to go on, or add --yes";
        Err(Failure::new(Exit::Failed, "nothing was done", hint).kind(keyway_error::Kind::Declined))
    }

    /// Reports a failure: two lines on standard error, with `--json` the document as well; nothing where whoever read
    /// what was asked for has gone.
    pub(crate) fn failure(self, failure: &Failure) {
        if failure.exit == Exit::ReaderGone || failure.message.is_empty() {
            return;
        }
        complain("keyway: ", &failure.message);
        if !failure.hint.is_empty() {
            complain("        ", &failure.hint);
        }
        if self.json {
            let _ = print(&document_text(&error_document(failure)));
        }
    }
}

/// Whether a bar stands in the terminal's line.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// Draws a bar over the one that stands in the terminal's line.
pub(crate) fn draw(bar: &str) {
    DRAWN.store(true, Ordering::Relaxed);
    let mut err = io::stderr().lock();
    let bar = for_locale(bar.to_owned()).chars().take(columns().saturating_sub(1)).collect::<String>();
    let _ = write!(err, "\r{bar}\x1b[K").and_then(|()| err.flush());
}

/// Takes the bar away that stands in the terminal's line: something else will.
pub(crate) fn clear() {
    if DRAWN.swap(false, Ordering::Relaxed) {
        let _ = write!(io::stderr().lock(), "\r\x1b[K");
    }
}

/// A sentence to standard error, in a terminal's lines, and in one where a program reads it.
fn complain(mark: &str, words: &str) {
    let on_terminal = io::stderr().is_terminal();
    let words = if on_terminal { for_locale(line(words)) } else { line(words) };
    clear();
    let width = if on_terminal { columns() } else { usize::MAX };
    let _ = writeln!(io::stderr().lock(), "{}", wrapped(mark, &words, width));
}

/// Sentences as they stand on the terminal, or in one line each where there is none.
fn for_people(words: &str) -> String {
    match io::stdout().is_terminal() {
        true => broken(&for_locale(lines(words)), columns()),
        false => lines(words),
    }
}

/// How wide the terminal is.
pub(crate) fn columns() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}

/// Whether remarks and progress are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Has remarks and progress left out.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// What goes on, to standard error.
pub(crate) fn note(words: &str) {
    if !QUIET.load(Ordering::Relaxed) && is_news(words) {
        complain("keyway: ", words);
    }
}

/// A warning to standard error; the JSON document has it, too. There is no other way to give one.
pub(crate) fn warn(words: &str) {
    if is_news(words) {
        WARNED.lock().into_iter().for_each(|mut all| all.push(line(words)));
        complain("keyway: warning: ", words);
    }
}

/// A warning of what work came upon, which may have been given where a secret was typed.
pub(crate) fn warn_once(words: &str) {
    if !WARNED.lock().is_ok_and(|all| all.contains(&line(words))) {
        warn(words);
    }
}

/// What was warned of until now.
static WARNED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What was said and asked, and whether that goes for what is tried once more.
static SAID: Mutex<(bool, Vec<String>)> = Mutex::new((false, Vec::new()));

/// A verb is run once more: what it has said stands, and what was agreed to is agreed to.
pub(crate) fn be_brief() {
    SAID.lock().into_iter().for_each(|mut said| said.0 = true);
}

fn is_news(words: &str) -> bool {
    let Ok(mut said) = SAID.lock() else { return true };
    let is_known = said.0 && said.1.iter().any(|before| before == words);
    said.1.push(words.to_owned());
    !is_known
}

/// What a serving process noticed, to standard error.
pub(crate) fn notice(notice: &Notice) {
    let words = notice.to_string();
    if notice.is_warning() { warn(&words) } else { complain("keyway: ", &words) }
}

/// The document that `--json` prints for a failure.
pub(crate) fn error_document(failure: &Failure) -> serde_json::Value {
    let error = json!({
        "kind": failure.kind.word(),
        "message": failure.message,
        "hint": failure.hint,
        "code": failure.exit as u8,
        "advice": failure.advice,
        "path": failure.path.as_deref().map(keyway_attach::path_text::value),
    });
    let mut document = failure.detail.as_object().cloned().unwrap_or_default();
    document.insert("error".to_owned(), error);
    document.into()
}

fn document_text(document: &impl Serialize) -> String {
    let warned = WARNED.lock().map(|all| all.clone()).unwrap_or_default();
    let text = with_warnings(document, &warned)
        .map_or_else(|| serde_json::to_string_pretty(document), |all| serde_json::to_string_pretty(&all))
        .unwrap_or_else(|e| json!({"error": {"kind": "failed", "message": e.to_string()}}).to_string());
    shown::json(&text)
}

/// Not `std::io::stdout`: that one looks for line ends in what it is given, and takes it where nothing else does.
pub(crate) fn raw_stdout() -> Result<File, Failure> {
    clear();
    if !keyway_sys::has_output() {
        let failure = not_written(io::Error::other("it is not open for writing"));
        return Err(failure.hint(words::said("output closed", &serde_json::Value::Null)));
    }
    io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(not_written)
}

/// Writes a text that ends with a line end. It tells what was done: a reader that went away undoes nothing.
fn print(text: &str) -> Result<(), Failure> {
    print_line(text).or_else(unless_gone)
}

/// Writes help, in a terminal's colours.
pub(crate) fn print_help(help: &clap::Error) -> Result<(), Failure> {
    raw_stdout().and_then(|_| help.print().map_err(not_written)).or_else(unless_gone)
}

fn unless_gone(failure: Failure) -> Result<(), Failure> {
    if failure.exit == Exit::ReaderGone { Ok(()) } else { Err(failure) }
}

fn print_line(text: &str) -> Result<(), Failure> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print_bytes(format!("{text}{end}").as_bytes())
}

fn not_written(e: io::Error) -> Failure {
    Failure::io("write to", Path::new(STANDARD_OUTPUT), &e)
}

/// A recovery password that can't be told.
fn untold(failure: Failure, hint: String) -> Failure {
    let message = format!("the recovery password can't be told: {}", failure.message);
    Failure { exit: Exit::Failed, message, ..failure }.hint(hint)
}

/// Writes bytes that were asked for, as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    raw_stdout()?.write_all(bytes).map_err(not_written)
}

#[cfg(test)]
#[path = "../tests/inner/output.rs"]
mod tests;
