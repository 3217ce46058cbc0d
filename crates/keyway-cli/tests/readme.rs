//! The README's commands, run as they stand there, on a terminal; where it shows what they print, that is what they print.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use cli_support::transcript::{Page, Shown, Terminal, commands, compare, is_like};
use keyway_testkit::{leave_out, require_root, require_tool, unpack_xz, volumes, wait_until, workspace_root};
use std::os::unix::fs::symlink;
use std::process::Stdio;

const PASSWORD: &str = "a password that is long enough";
const HIDDEN: &str = "another one, for what is hidden";

/// Commands that other steps of `.ci/run` are, or that change the machine.
const RUN_ELSEWHERE: [&str; 3] = [
    "cargo run --release -- demo",
    "./scripts/test",
    "cargo build --release -p keyway-cli -p keyway-mount -p keyway-mountd && sudo scripts/install",
];

/// What the README's reader has, and what it is here. Names of folders and devices become names in the test's folder.
const NAMES: [&str; 5] = ["/dev/sdb1", "/dev/sdb2", "/dev/sdb3", "/mnt/secret", "/mnt/usb"];

/// What is different each time: a device's number, a session's, a file system's.
const VARIES: [&str; 3] =
    ["/dev/loop4", "/run/keyway/e2c16b0d/mnt/volume", "456b06f7-7a1d-4bbd-af9c-d8d04f007428"];

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
    let terminal = Terminal {
        cli: &reader.cli,
        names: &NAMES,
        answers: &|question| if question.contains("hidden") { HIDDEN } else { PASSWORD }.to_owned(),
    };
    for Shown { command, output, .. } in all {
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
        let (ended, shown) = terminal.run(&script, &command);
        assert!(ended, "{command}\n{}", shown.join("\n"));
        if !output.is_empty() {
            compare(
                &Page { name: "the README", varies: &VARIES, columns: true, figures: false },
                &command,
                &output,
                &shown,
            );
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

#[test]
fn a_block_says_why_it_is_not_run_and_a_command_goes_on_behind_a_backslash() {
    let all = commands(
        "```sh not run: it takes a TPM\nkeyway open \\\n  v  # now\n```\n\n```console\n$ true\nso\n```\n",
    );
    let [first, second] = &*all else { panic!("two commands") };
    assert_eq!((&*first.command, first.not_run.as_deref()), ("keyway open v", Some("it takes a TPM")));
    assert_eq!((&*second.command, &*second.output, &second.not_run), ("true", &["so".to_owned()][..], &None));
}
