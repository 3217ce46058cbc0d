//! The program on a terminal, and somebody who types.

use super::Cli;
use keyway_testkit::require_tool;
use std::io::{Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The program on a terminal of its own, made by util-linux's `script`.
pub(crate) struct Typed {
    child: Child,
    screen: ChildStdout,
    shown: String,
}

impl Typed {
    pub(crate) fn new(cli: &Cli, words: &str) -> Option<Self> {
        Self::in_locale(cli, "C.UTF-8", words)
    }

    /// The same where text is in that locale's letters.
    pub(crate) fn in_locale(cli: &Cli, locale: &str, words: &str) -> Option<Self> {
        let script = require_tool("script")?;
        let line = format!("LC_ALL={locale} {} {}", env!("CARGO_BIN_EXE_keyway"), cli.words(words).join(" "));
        let mut child = Command::new(script)
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script starts");
        let screen = child.stdout.take().expect("piped");
        Some(Self { child, screen, shown: String::new() })
    }

    /// Waits until the screen shows `question`, then types.
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        let from = self.shown.len();
        while !self.shown[from..].contains(question) {
            let mut byte = [0];
            assert_eq!(self.screen.read(&mut byte).expect("the screen"), 1, "no {question}: {}", self.shown);
            self.shown.push(char::from(byte[0]));
        }
        let mut keyboard = self.child.stdin.as_ref().expect("piped");
        keyboard.write_all(keys.as_bytes()).expect("the keyboard");
    }

    /// The exit code and all that was shown of one that asks nothing; else its question, and it is ended.
    pub(crate) fn ends_unasked(mut self) -> Result<(Option<i32>, String), String> {
        let mut byte = [0];
        while self.screen.read(&mut byte).is_ok_and(|read| read == 1) {
            self.shown.push(char::from(byte[0]));
            let line = self.shown.rsplit('\n').next().unwrap_or_default();
            let asks = ["assword of ", "PIN of ", "PSID on "].iter().any(|words| line.contains(words));
            if line.ends_with(": ") && (asks || line.contains("to go on")) {
                let question = line.to_owned();
                drop(self.child.kill());
                drop(self.child.wait());
                return Err(question);
            }
        }
        Ok((self.child.wait().expect("it ends").code(), self.shown))
    }

    /// The exit code, and all that was shown.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        let _ = self.screen.read_to_end(&mut rest);
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().expect("it ends").code(), self.shown)
    }
}
