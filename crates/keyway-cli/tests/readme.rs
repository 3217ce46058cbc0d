//! The README's commands, run as they stand there, on a terminal; where it shows what they print, that is what they print.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::{leave_out, require_root, require_tool, unpack_xz, volumes, wait_until, workspace_root};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

const PASSWORD: &str = "a password that is long enough";
const HIDDEN: &str = "another one, for what is hidden";

/// Commands that other steps of `.ci/run` are, or that change the machine.
const RUN_ELSEWHERE: [&str; 3] = [
    "cargo run --release -- demo",
    "./scripts/test",
    "cargo build --release -p keyway-cli -p keyway-mount && sudo scripts/install",
];

/// What the README's reader has, and what it is here. Names of folders and devices become names in the test's folder.
const NAMES: [&str; 5] = ["/dev/sdb1", "/dev/sdb2", "/dev/sdb3", "/mnt/secret", "/mnt/usb"];

/// What is different each time: a device's number, a session's, a file system's.
const VARIES: [&str; 3] =
    ["/dev/loop4", "/run/keyway/e2c16b0d/mnt/volume", "456b06f7-7a1d-4bbd-af9c-d8d04f007428"];

/// A command of the README, and the lines that stand under it.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The commands of all its blocks, in their order.
fn commands(readme: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut block = None;
    for line in readme.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(_), Some(_)) => block = None,
            (Some(language), None) => block = Some(language),
            (None, None) => {}
            (None, Some("sh")) => found.push(Shown { command: line.to_owned(), output: Vec::new() }),
            (None, Some("console")) => match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown { command: command.to_owned(), output: Vec::new() }),
                None => found.last_mut().expect("a command comes first").output.push(line.to_owned()),
            },
            (None, Some(other)) => panic!("a block of {other:?} that nobody runs"),
        }
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
fn is_like(pattern: &str, line: &str) -> bool {
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

struct Reader {
    cli: Cli,
}

impl Reader {
    /// With what the README supposes that its reader has: a stick and two partitions, a paper with a recovery password.
    fn new() -> Option<Self> {
        let cli = Cli::new();
        for folder in ["dev", "mnt/secret", "mnt/usb"] {
            std::fs::create_dir_all(cli.path(folder)).expect("made");
        }
        cli.keyway.secret("pw", PASSWORD);
        cli.ends(
            0,
            "create @dev/sdb1 --size 100M --format bitlocker --filesystem ntfs --password-file @pw \
             --recovery-file @told.txt",
        );
        let told = std::fs::read_to_string(cli.path("told.txt")).expect("it was told");
        let digits = |word: &&str| word.len() == 55 && word.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let recovery = told.split_whitespace().find(digits).expect("a recovery password");
        cli.keyway.secret("paper.txt", recovery);
        cli.make("dev/sdb2", 64 << 20, "mkfs.ext4", &["-q"])?;
        cli.make("dev/sdb3", 64 << 20, "mkfs.ntfs", &["-F", "-Q", "-q"])?;
        cli.ends(0, "create @usb.hc --size 16M --quick --filesystem fat --password-file @pw");
        std::fs::write(cli.path("report.pdf"), "a report").expect("written");
        // Without the foreign volumes only this one is missing.
        if let Some(folder) = volumes() {
            let image = unpack_xz(&folder.join("bitlocker/bitlk-aes-xts-128.img.xz"))?;
            std::fs::copy(image.path(), cli.path("usb.img")).expect("copied");
        }
        // `keyway` as the README's reader calls it.
        std::fs::create_dir(cli.path("bin")).expect("made");
        symlink(env!("CARGO_BIN_EXE_keyway"), cli.path("bin/keyway")).expect("linked");
        Some(Self { cli })
    }

    fn folder(&self) -> String {
        self.cli.keyway.folder().display().to_string()
    }

    /// As root, `sudo` is nothing; the rest of the words stay what they are.
    fn here(&self, command: &str) -> String {
        let command = command.strip_prefix("sudo ").unwrap_or(command);
        let folder = self.folder();
        NAMES.iter().fold(command.to_owned(), |words, name| words.replace(name, &format!("{folder}{name}")))
    }

    /// Runs it on a terminal, answering what it asks; what was shown, and whether it ended well.
    fn run(&self, script: &Path, command: &str) -> (bool, Vec<String>) {
        let environment = self.cli.command([""; 0]);
        let set = environment.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let path = format!("{}/bin:{}", self.folder(), std::env::var("PATH").expect("a path"));
        let mut child = Command::new(script)
            .args(["--quiet", "--return", "--command", command, "/dev/null"])
            .envs(set)
            .env("PATH", path)
            .current_dir(self.cli.keyway.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script starts");
        let mut keyboard = child.stdin.take().expect("piped");
        let mut screen = child.stdout.take().expect("piped");
        let (mut shown, mut byte, mut last) = (Vec::new(), [0], "");
        while screen.read(&mut byte).expect("the screen") == 1 {
            shown.push(byte[0]);
            if byte != *b" " {
                continue;
            }
            let text = String::from_utf8_lossy(&shown);
            let question = text.lines().last().unwrap_or_default();
            let answer = match question {
                _ if question.ends_with("Type `yes` to go on: ") => "yes",
                "The same again: " => last,
                _ if !question.ends_with(": ") || !question.contains("assword of ") => continue,
                _ if question.contains("hidden") => HIDDEN,
                _ => PASSWORD,
            };
            last = answer;
            keyboard.write_all(format!("{answer}\r").as_bytes()).expect("the keyboard");
        }
        let ended = child.wait().expect("it ends").success();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let there =
            NAMES.iter().fold(shown, |shown, name| shown.replace(&format!("{}{name}", self.folder()), name));
        (ended, as_seen(&there.replace(&self.folder(), "/home/ada")))
    }

    /// What has happened in the reader's life between two commands.
    fn prepare(&self, command: &str) {
        match command {
            // Of what `open` mounted in the command before.
            "sudo keyway close secret.hc" => {
                let letters = self.cli.path("mnt/secret/letters");
                std::fs::create_dir(&letters).expect("made");
                std::fs::write(letters.join("first"), "Dear Charles,").expect("written");
            }
            // A conversion that was stopped half-way.
            "keyway status /dev/sdb2" => {
                self.cli.make("dev/sdb2", 64 << 20, "mkfs.ext4", &["-q", "-F"]).expect("made before");
                let words = "encrypt @dev/sdb2 --limit 4M --yes --password-file @pw";
                let mut converting = self.cli.command(self.cli.words(words));
                let mut converting =
                    converting.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
                wait_until("the conversion is under way", || {
                    self.cli.run("pause @dev/sdb2").status.success()
                });
                assert!(!converting.wait().expect("it ends").success(), "it was paused");
            }
            _ => {}
        }
    }

    /// What the reader does next, and does not write down.
    fn tidy(&self, command: &str) {
        if command.contains("keyway open ") && !command.starts_with("sudo keyway open secret.hc") {
            self.cli.ends(0, "close --all");
        }
        if command.starts_with("keyway get ") {
            let first = std::fs::read(self.cli.path("letters/first")).expect("it was copied");
            assert_eq!(first, b"Dear Charles,");
        }
    }
}

/// The lines that are shown are those that are told, except for what varies.
fn compare(command: &str, told: &[String], shown: &[String]) {
    let all = |lines: &[String]| format!("{command}\n{}", lines.join("\n"));
    // On a slow or busy machine the search for a key is announced, in as many lines as it takes.
    let mut announced = false;
    let mut shown_lines = shown.iter().filter(|line| {
        announced =
            line.starts_with("keyway: looking for the key") || (announced && line.starts_with("        "));
        !announced
    });
    for line in told {
        if line.trim() == "…" {
            return;
        }
        let pattern = VARIES.iter().fold(line.clone(), |line, varies| line.replace(varies, "…"));
        let is = shown_lines.next();
        assert!(
            is.is_some_and(|is| is_like(pattern.trim_end(), is)),
            "the README says\n  {line}\nand this is shown\n  {}\nof\n{}",
            is.map_or("(nothing)", String::as_str),
            all(shown)
        );
    }
    let more: Vec<&String> = shown_lines.filter(|line| !line.is_empty()).collect();
    assert!(more.is_empty(), "the README doesn't show {more:?} of\n{}", all(shown));
}

#[test]
fn what_the_readme_shows_is_what_happens() {
    if !require_root() {
        return;
    }
    let Some(script) = require_tool("script") else { return };
    if ["mkfs.ext4", "mkfs.ntfs", "mkfs.fat"].iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let Some(reader) = Reader::new() else { return };
    let readme = std::fs::read_to_string(workspace_root().join("README.md")).expect("the README");
    let all = commands(&readme);
    for elsewhere in RUN_ELSEWHERE {
        assert!(
            all.iter().any(|shown| shown.command == elsewhere),
            "the README has no `{elsewhere}` any more"
        );
    }
    let mut long = 0;
    for Shown { command, output } in all {
        if RUN_ELSEWHERE.contains(&command.as_str()) {
            continue;
        }
        if command.ends_with(" usb.img") && !reader.cli.path("usb.img").exists() {
            continue;
        }
        if command.starts_with("keyway lab ") && std::env::var_os("KEYWAY_SLOW").is_none() {
            long += 1;
            continue;
        }
        reader.prepare(&command);
        let (ended, shown) = reader.run(&script, &reader.here(&command));
        assert!(ended, "{command}\n{}", shown.join("\n"));
        if !output.is_empty() {
            compare(&command, &output, &shown);
        }
        reader.tidy(&command);
    }
    if long > 0 {
        leave_out(&format!("{long} of the README's commands measure for minutes (KEYWAY_SLOW=1 has them)"));
    }
}

#[test]
fn an_ellipsis_stands_for_anything_and_nothing_else_does() {
    assert!(is_like("a device …", "a device /dev/loop7") && is_like("… is open (…).", "x is open (1 MiB)."));
    assert!(
        !is_like("a device …", "a file /x") && !is_like("exactly", "exactly so") && !is_like("a…b", "a c")
    );
}
