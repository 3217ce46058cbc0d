//! What a document shows of a terminal, run on one: its blocks, the commands in them, what was shown, and whether that is the same.

use super::Cli;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// A command of a document, and the lines that stand under it.
pub(crate) struct Shown {
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
    /// Why it is not run, where its block says so: "```sh not run: it takes a TPM".
    pub(crate) not_run: Option<String>,
    /// Its figures are measured, and others each time: "```console figures".
    pub(crate) figures: bool,
}

/// The commands of all blocks of a page, in their order. Of a block without a language, nothing is a command.
pub(crate) fn commands(page: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut block = None;
    let mut goes_on = false;
    for line in page.lines() {
        let (language, reason) = match (line.strip_prefix("```"), &block) {
            (Some(_), Some(_)) => {
                block = None;
                continue;
            }
            (Some(opened), None) => {
                let (language, reason) = opened.split_once(" not run: ").unwrap_or((opened, ""));
                assert!(
                    ["", "sh", "console", "console figures"].contains(&language),
                    "a block of {language:?} that nobody runs"
                );
                block = Some((language.to_owned(), reason.to_owned()));
                continue;
            }
            (None, Some(block)) => block,
            (None, None) => continue,
        };
        let command = match language.trim_end_matches(" figures") {
            "sh" => Some(line),
            "console" => line.strip_prefix("$ "),
            _ => continue,
        };
        match (command, found.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.command.truncate(last.command.len() - 1);
                last.command.push_str(line.trim_start());
            }
            (Some(command), _) => found.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
                figures: language.ends_with(" figures"),
                not_run: Some(reason.clone()).filter(|reason| !reason.is_empty()),
            }),
            (None, Some(last)) => last.output.push(line.to_owned()),
            (None, None) => panic!("no command comes before {line:?}"),
        }
        goes_on = found.last().is_some_and(|last| last.output.is_empty() && last.command.ends_with('\\'));
    }
    for shown in &mut found {
        while shown.output.last().is_some_and(String::is_empty) {
            shown.output.pop();
        }
        if let Some((command, _comment)) = shown.command.split_once(" #") {
            shown.command = command.trim_end().to_owned();
        }
    }
    found.retain(|shown| !shown.command.is_empty());
    found
}

/// Whether `line` is what `pattern` says, whose `…` stand for anything.
pub(crate) fn is_like(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What a terminal shows in the end: without colours, and of a line that was written over, what stands there.
fn as_seen(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' && rest.peek() == Some(&'[') {
            rest.next();
            while rest.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        } else {
            plain.push(c);
        }
    }
    let lines = plain.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or_default().trim_end());
    lines.map(str::to_owned).collect()
}

/// Somebody who reads the page at a terminal, in a folder of their own.
pub(crate) struct Terminal<'a> {
    pub(crate) cli: &'a Cli,
    /// Devices and folders of the page that are in the test's folder here.
    pub(crate) names: &'a [&'a str],
    /// What is answered to a question for a password.
    pub(crate) answers: &'a dyn Fn(&str) -> String,
}

impl Terminal<'_> {
    fn folder(&self) -> String {
        self.cli.keyway.folder().display().to_string()
    }

    /// As root, `sudo` is nothing; the rest of the words stay what they are.
    fn here(&self, command: &str) -> String {
        let command = command.strip_prefix("sudo ").unwrap_or(command);
        let folder = self.folder();
        self.names
            .iter()
            .fold(command.to_owned(), |words, name| words.replace(name, &format!("{folder}{name}")))
    }

    /// Runs it on a terminal, answering what it asks; what was shown, and whether it ended well.
    pub(crate) fn run(&self, script: &Path, command: &str) -> (bool, Vec<String>) {
        let environment = self.cli.command([""; 0]);
        let set = environment.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let path = format!("{}/bin:{}", self.folder(), std::env::var("PATH").expect("a path"));
        // Wide: names of folders are longer here than on the page, and shall break no line elsewhere.
        let command_here = format!("stty cols 400; {}", self.here(command));
        let mut child = Command::new(script)
            .args(["--quiet", "--return", "--command", &command_here, "/dev/null"])
            .envs(set)
            .env("PATH", path)
            .current_dir(self.cli.keyway.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script starts");
        let mut keyboard = child.stdin.take().expect("piped");
        let mut screen = child.stdout.take().expect("piped");
        let (mut shown, mut byte, mut last) = (Vec::new(), [0], String::new());
        while screen.read(&mut byte).expect("the screen") == 1 {
            shown.push(byte[0]);
            if byte != *b" " {
                continue;
            }
            let text = String::from_utf8_lossy(&shown);
            let question = text.lines().last().unwrap_or_default();
            let answer = match question {
                _ if question.ends_with("Type `yes` to go on: ") => "yes".to_owned(),
                "The same again: " => last,
                _ if !question.ends_with(": ") || !question.contains("assword of ") => continue,
                _ => (self.answers)(question),
            };
            keyboard.write_all(format!("{answer}\r").as_bytes()).expect("the keyboard");
            last = answer;
        }
        let ended = child.wait().expect("it ends").success();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let there = self
            .names
            .iter()
            .fold(shown, |shown, name| shown.replace(&format!("{}{name}", self.folder()), name));
        (ended, as_seen(&there.replace(&self.folder(), "/home/ada")))
    }
}

/// A page that is held to what is shown.
pub(crate) struct Page<'a> {
    pub(crate) name: &'a str,
    /// What is different each time.
    pub(crate) varies: &'a [&'a str],
    /// Whether columns are as wide as on the page: names are longer here.
    pub(crate) columns: bool,
    /// Whether figures are others each time.
    pub(crate) figures: bool,
}

impl Page<'_> {
    fn seen(&self, line: &str) -> String {
        if self.columns {
            return line.to_owned();
        }
        let begins = line.len() - line.trim_start().len();
        let figure = |word: &str| {
            word.chars().any(|c| c.is_ascii_digit()) && !word.contains(|c: char| c.is_alphabetic())
        };
        let word = |word| if self.figures && figure(word) { "0" } else { word };
        let words: Vec<&str> = line.split_whitespace().map(word).collect();
        format!("{}{}", &line[..begins], words.join(" "))
    }
}

/// The lines that are shown are those that are told; `…` stands for anything: as a line of
/// its own, for all lines up to the next that is told.
pub(crate) fn compare(page: &Page<'_>, command: &str, told: &[String], shown: &[String]) {
    let all = |lines: &[String]| format!("{command}\n{}", lines.join("\n"));
    // On a slow or busy machine the search for a key is announced, in as many lines as it takes.
    let mut announced = false;
    let mut shown_lines = shown.iter().filter(|line| {
        announced =
            line.starts_with("keyway: looking for the key") || (announced && line.starts_with("        "));
        !announced
    });
    let mut left_out = false;
    for line in told {
        if line.trim() == "…" {
            left_out = true;
            continue;
        }
        let pattern = page.varies.iter().fold(line.clone(), |line, varies| line.replace(varies, "…"));
        let pattern = page.seen(pattern.trim_end());
        let is = shown_lines.find(|is| !left_out || is_like(&pattern, &page.seen(is)));
        left_out = false;
        assert!(
            is.is_some_and(|is| is_like(&pattern, &page.seen(is))),
            "{} says\n  {line}\nand this is shown\n  {}\nof\n{}",
            page.name,
            is.map_or("(nothing)", String::as_str),
            all(shown)
        );
    }
    if left_out {
        return;
    }
    let more: Vec<&String> = shown_lines.filter(|line| !line.is_empty()).collect();
    assert!(more.is_empty(), "{} doesn't show {more:?} of\n{}", page.name, all(shown));
}
