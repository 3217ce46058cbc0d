//! What the tests of the command line share: a folder, the program, its answers.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod image;
pub(crate) mod in_use;
pub(crate) mod interrupted;
pub(crate) mod nobody;
pub(crate) mod transcript;
mod typed;
pub(crate) mod virtual_drive;
pub(crate) mod with_files;

use keyway_testkit::{Keyway, require_tool};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[allow(unused_imports, reason = "each test file uses its own part")]
pub(crate) use typed::Typed;

/// The password of every volume here.
pub(crate) const PASSWORD: &str = "twenty-characters-and-more";

/// Runs another program, which must succeed.
pub(crate) fn checked(command: &mut Command) {
    let done = command.output().expect("it runs");
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
}

/// Another program that first has whoever runs it asked to end, by each of these signals: in a folder that comes first in
/// this PATH.
pub(crate) fn interrupting(cli: &Cli, program: &str, signals: &str) -> Option<std::ffi::OsString> {
    use std::os::unix::fs::PermissionsExt;
    let tool = require_tool(program)?;
    let folder = cli.path("tools");
    std::fs::create_dir_all(&folder).expect("created");
    let own = folder.join(program);
    let kill = format!("for each in {signals}; do kill -s $each $PPID; done");
    std::fs::write(&own, format!("#!/bin/sh\n{kill}\nexec {} \"$@\"\n", tool.display())).expect("written");
    std::fs::set_permissions(&own, PermissionsExt::from_mode(0o755)).expect("set");
    let path = std::env::var_os("PATH").unwrap_or_default();
    Some(std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).expect("a path"))
}

/// The program in a folder of its own.
pub(crate) struct Cli {
    pub(crate) keyway: Keyway,
}

impl Cli {
    pub(crate) fn new() -> Self {
        Self { keyway: Keyway::new(env!("CARGO_BIN_EXE_keyway")) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.keyway.path(name)
    }

    /// A new file of that size with a file system that `mkfs` makes.
    pub(crate) fn make(&self, name: &str, size: u64, mkfs: &str, arguments: &[&str]) -> Option<()> {
        let program = require_tool(mkfs)?;
        let path = self.path(name);
        std::fs::File::create(&path).expect("created").set_len(size).expect("sized");
        checked(Command::new(program).args(arguments).arg(&path));
        Some(())
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        self.keyway.command(words)
    }

    /// Runs it; "PATH" stands for the volume's file, "PW" for the password's.
    pub(crate) fn run(&self, words: &str) -> Output {
        self.command(self.words(words)).output().expect("keyway starts")
    }

    pub(crate) fn words(&self, words: &str) -> Vec<String> {
        let folder = self.keyway.folder().display().to_string();
        words.split_whitespace().map(|word| word.replace('@', &format!("{folder}/"))).collect()
    }

    /// Runs it and checks how it ends.
    pub(crate) fn ends(&self, code: i32, words: &str) -> Output {
        let done = self.run(words);
        assert_eq!(
            done.status.code(),
            Some(code),
            "keyway {words}\n{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
        done
    }

    /// Runs it; its one JSON document.
    pub(crate) fn json(&self, code: i32, words: &str) -> Value {
        let done = self.ends(code, &format!("{words} --json"));
        serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|e| panic!("{words}: {e}: {:?}", String::from_utf8_lossy(&done.stdout)))
    }

    /// Runs it: it is refused as wrong usage, as that kind of failure, and `says` stands in what is wrong or in what to do.
    #[track_caller]
    pub(crate) fn refused(&self, kind: &str, says: &str, words: &str) {
        self.fails(2, kind, says, words);
    }

    /// Runs it: it fails with that code, as that kind of failure, and `says` stands in what is wrong or in what to do.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, kind: &str, says: &str, words: &str) {
        let error = &self.json(code, words)["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let told = format!("{}\n{}", text("message"), text("hint"));
        assert!(
            error["kind"] == kind && told.contains(says),
            "keyway {words}: not {kind}, {says:?}: {error}"
        );
    }

    /// With the drive that the journal `@away/journal` is on not mounted, each state of the volume's file, its marker
    /// in front or not, is refused by those words, and keeps every byte. The drive is back afterwards.
    pub(crate) fn asks_for_its_journal(&self, name: &str, states: [&[u8]; 2], words: &[String]) {
        let (folder, drive) = (self.path("away"), self.path("drive"));
        std::fs::rename(&folder, &drive).expect("unmounted");
        std::fs::create_dir(&folder).expect("the folder it is mounted on");
        for (words, state) in words.iter().flat_map(|words| states.map(|state| (words, state))) {
            std::fs::write(self.path(name), state).expect("written");
            let refused = &self.json(1, words)["error"];
            assert_eq!(refused["kind"], "no-journal", "{words}: {refused}");
            let said = format!("{} {}", refused["message"], refused["hint"]);
            let journal = folder.join("journal").display().to_string();
            assert!(said.contains(&journal) && said.contains("mount the drive"), "{words}: {said}");
            assert!(std::fs::read(self.path(name)).expect("read") == state, "{words}: it was touched");
        }
        std::fs::remove_dir(&folder).expect("nothing was made there");
        std::fs::rename(&drive, &folder).expect("mounted");
    }

    /// Writes the password's file and makes a volume that opens quickly.
    pub(crate) fn volume(&self, name: &str) {
        self.keyway.secret("pw", PASSWORD);
        self.ends(0, &format!("create @{name} --size 1M --quick --password-file @pw --pim 1"));
    }

    /// All of a volume's plain bytes.
    pub(crate) fn plain(&self, name: &str) -> Vec<u8> {
        self.ends(0, &format!("cat @{name} --password-file @pw --pim 1")).stdout
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        let _ = self.run("close --all");
    }
}

/// The error's two lines: what is wrong, what to do.
pub(crate) fn two_lines(done: &Output) -> (String, String) {
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    // On a busy machine the search for a key may take so long that it is told.
    let before = ["warning:", "looking for the key"];
    let mut lines = text.lines().skip_while(|line| before.iter().any(|words| line.contains(words)));
    (lines.next().unwrap_or_default().to_owned(), lines.next().unwrap_or_default().to_owned())
}

/// Whether FUSE can be tried here.
pub(crate) fn has_fuse() -> bool {
    let has = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !has {
        keyway_testkit::skip("/dev/fuse can't be used here");
    }
    has
}

/// Damages a run of bytes of a file.
pub(crate) fn damage(path: &Path, range: std::ops::Range<usize>) {
    let mut bytes = std::fs::read(path).expect("the file");
    for byte in &mut bytes[range] {
        *byte ^= 0x5a;
    }
    std::fs::write(path, bytes).expect("the file");
}

/// Bytes of the ext4 on that file.
pub(crate) fn ext4_bytes(path: &Path) -> u64 {
    let image = std::fs::read(path).expect("read");
    let field = |at: usize| u64::from(u32::from_le_bytes(*image[1024 + at..].first_chunk().expect("there")));
    field(4) << (10 + field(0x18))
}
