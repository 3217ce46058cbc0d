//! What a medium may hold is hostile text: names, labels, descriptions, paths. Whatever a verb says of it, nothing
//! of it reaches the terminal that the terminal would act upon, and none of it begins a line.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{PATIENCE, require_tool};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Clears the screen, begins a line of its own, in C0 and in C1, and turns the order of what follows round.
const HOSTILE: &str = "a\u{1b}[2J\r\nkeyway: FORGED\u{9b}2J\u{7f}\u{202e}\u{2066}\u{7}";
const SECRET: &[&str] = &["--password-file", "PW", "--pim", "1"];

/// The program, a folder with such a name, and how often something was said that had to be made fit.
struct Scene {
    cli: Cli,
    folder: PathBuf,
    told: usize,
}

impl Scene {
    fn new() -> Self {
        let cli = Cli::new();
        cli.keyway.secret("pw", PASSWORD);
        let folder = cli.path(HOSTILE);
        std::fs::create_dir(&folder).expect("Linux takes such names");
        Self { cli, folder, told: 0 }
    }

    /// Runs it with words of which `PW` is the password's file and `/x` lies in the folder.
    fn command(&self, words: &[&str]) -> Command {
        let word = |word: &&str| match (*word, word.strip_prefix('/')) {
            ("PW", _) => self.cli.path("pw").into_os_string(),
            (_, Some(name)) if word.len() > 1 && !name.starts_with('/') => self.folder.join(name).into(),
            (word, _) => OsString::from(word.replacen("//", "/", 1)),
        };
        self.cli.command(words.iter().map(word).collect::<Vec<_>>())
    }

    /// Runs it in words and in JSON, and looks at all that it says.
    fn says(&mut self, code: i32, words: &[&str]) {
        for json in [&["--json"][..], &[]] {
            let all: Vec<&str> = words.iter().chain(json).copied().collect();
            let done = self.command(&all).output().expect("keyway starts");
            self.look(&all, &done, Some(code));
        }
    }

    fn look(&mut self, words: &[&str], done: &Output, code: Option<i32>) {
        let said = [done.stdout.clone(), done.stderr.clone()].concat();
        let text = String::from_utf8(said).unwrap_or_else(|e| panic!("{words:?}: no text: {e}"));
        if code.is_some() {
            assert_eq!(done.status.code(), code, "{words:?}: {text}");
        }
        for c in text.chars() {
            let bad = match u32::from(c) {
                0x0a => false,
                0x00..0x20 | 0x7f..=0x9f => true,
                0x061c | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x2069 => true,
                _ => false,
            };
            assert!(!bad, "{words:?} lets {c:?} through: {text:?}");
        }
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("keyway: FORGED")),
            "{words:?}: {text}"
        );
        self.told += usize::from(text.contains("FORGED"));
    }

    fn did_tell(&self, least: usize) {
        assert!(self.told >= least, "only {} answers had anything of it", self.told);
    }
}

#[test]
fn a_bitlocker_description_and_paths_are_shown() {
    let mut scene = Scene::new();
    let pw = &SECRET[..2];
    let with = |words: &[&'static str]| [words, pw].concat();
    let made: Vec<&str> =
        [&["create", "/b", "--format", "bitlocker", "--size", "64M", "--quick", "--label", HOSTILE], pw]
            .concat();
    let done = scene.command(&made).output().expect("keyway starts");
    scene.look(&made, &done, Some(0));
    scene.says(0, &["info", "/b"]);
    scene.says(0, &with(&["info", "/b"]));
    scene.says(0, &["status", "/b"]);
    scene.says(0, &["protector", "list", "/b"]);
    scene.says(0, &with(&["header", "check", "/b"]));
    scene.says(2, &with(&["resume", "/b"]));
    scene.says(2, &["pause", "/b"]);
    scene.says(1, &["info", "/missing"]);
    scene.says(2, &["info", "/b", "/b", HOSTILE]);
    scene.did_tell(10);
}

/// ext4's own label, and names in it. Made without a mount, and encrypted where it lies.
#[test]
fn names_in_a_volume_are_shown() {
    let mut scene = Scene::new();
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    let content = scene.cli.path("content");
    let inner = content.join(HOSTILE);
    std::fs::create_dir_all(&inner).expect("made");
    std::fs::write(inner.join(format!("file {HOSTILE}")), b"content").expect("written");
    std::fs::write(content.join(OsStr::from_bytes(b"no \xff\xc3 text \x1b")), b"content").expect("written");
    std::os::unix::fs::symlink("x", inner.join(format!("link {HOSTILE}"))).expect("made");
    let image = scene.folder.join("v");
    std::fs::File::create(&image).expect("created").set_len(24 << 20).expect("sized");
    let made =
        Command::new(mkfs).args(["-q", "-F", "-L", "a\u{1b}[2J\rb", "-d"]).arg(&content).arg(&image).output();
    assert!(made.expect("it runs").status.success());
    let with = |words: &[&'static str]| [words, SECRET].concat();
    let done = scene.command(&with(&["encrypt", "/v", "--yes"])).output().expect("keyway starts");
    scene.look(&["encrypt"], &done, Some(0));
    scene.says(0, &with(&["ls", "/v", "--recursive"]));
    scene.says(0, &with(&["ls", "/v"]));
    scene.says(1, &with(&["ls", "/v", "//missing"]));
    scene.says(0, &with(&["info", "/v"]));
    // Once into each of two folders: what is there is in the way.
    for (n, json) in [&["--json"][..], &[]].into_iter().enumerate() {
        let to = scene.folder.join(format!("out {n}"));
        let words = [&["get", "/v", "//"][..], SECRET, json].concat();
        let done = scene.command(&words).arg(&to).output().expect("keyway starts");
        scene.look(&words, &done, Some(0));
        assert!(to.join(HOSTILE).join(format!("file {HOSTILE}")).is_file(), "names come out as they are");
        let again = scene.command(&words).arg(&to).output().expect("keyway starts");
        scene.look(&words, &again, Some(2));
    }
    std::fs::write(scene.folder.join("new"), b"x").expect("written");
    // Mounted for it, or refused where nothing writes to it.
    for _ in 0..2 {
        let done = scene.command(&with(&["put", "/v", "/new"])).output().expect("keyway starts");
        scene.look(&["put"], &done, None);
    }
    scene.did_tell(8);
}

/// FAT's and NTFS's names can be anything to whom writes their bytes.
#[test]
fn names_of_windows_file_systems_are_shown() {
    let mut scene = Scene::new();
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let with = |words: &[&'static str]| [words, SECRET].concat();
    let made = with(&["create", "/f", "--size", "12M", "--quick", "--filesystem", "fat"]);
    let done = scene.command(&made).output().expect("keyway starts");
    scene.look(&made, &done, Some(0));
    std::fs::write(scene.cli.path("letter"), b"x").expect("written");
    let put = |scene: &Scene, name: &str| {
        let mut command = scene.command(&["put", "/f"]);
        command.arg(scene.cli.path("letter")).arg(name);
        let words: Vec<OsString> = with(&[])
            .iter()
            .map(|w| if *w == "PW" { scene.cli.path("pw").into() } else { w.into() })
            .collect();
        command.args(words).output().expect("keyway starts")
    };
    // No such name is written; those that turn writing round are names like others.
    let refused = put(&scene, "/a\u{1b}[2J\nb");
    scene.look(&["put"], &refused, Some(2));
    let taken = put(&scene, "/exe.\u{202e}FORGED\u{2066}txt");
    scene.look(&["put"], &taken, Some(0));
    scene.says(0, &with(&["ls", "/f"]));
    scene.did_tell(2);
}

/// The journal's path stands in the marker of a half-converted volume, and is whatever its owner wrote.
#[test]
fn a_journals_path_is_shown() {
    let mut scene = Scene::new();
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    for format in ["veracrypt", "bitlocker"] {
        let name = format!("/{format}");
        let image = scene.folder.join(format);
        std::fs::File::create(&image).expect("created").set_len(64 << 20).expect("sized");
        let made = Command::new(&mkfs).args(["-q", "-F"]).arg(&image).output();
        assert!(made.expect("it runs").status.success());
        let secret = if format == "bitlocker" { &SECRET[..2] } else { SECRET };
        let journal = format!("/journal {HOSTILE}");
        let begin = ["encrypt", &name, "--format", format, "--yes", "--limit", "2", "--journal", &journal];
        let begin = [&begin[..], secret].concat();
        let mut child =
            scene.command(&begin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        wait_until_it_moves(&scene, &name, &mut child);
        scene.says(0, &["status", &name]);
        let pause = ["pause", &name];
        let done = scene.command(&pause).output().expect("keyway starts");
        scene.look(&pause, &done, Some(0));
        let ended = child.wait_with_output().expect("it ends");
        scene.look(&begin, &ended, Some(1));
        // With its journal named, without, and without a journal: told in words that differ by the format.
        let resume = [&["resume", &name][..], secret].concat();
        let with = [&resume[..], &["--journal", &journal]].concat();
        let path = scene.folder.join(journal.trim_start_matches('/'));
        let away = scene.cli.path("away");
        let mut look = |words: &[&str]| {
            for json in [&["--json"][..], &[]] {
                let words = [words, json].concat();
                let done = scene.command(&words).output().expect("keyway starts");
                scene.look(&words, &done, None);
            }
        };
        look(&["info", &name]);
        look(&["status", &name]);
        look(&["info", &name, "--journal", &journal]);
        if path.exists() {
            std::fs::rename(&path, &away).expect("renamed");
            look(&["info", &name]);
            look(&["status", &name]);
            look(&resume);
            look(&with);
            std::fs::rename(&away, &path).expect("renamed");
            let done = scene.command(&with).output().expect("keyway starts");
            scene.look(&with, &done, Some(0));
        }
    }
    scene.did_tell(20);
}

fn wait_until_it_moves(scene: &Scene, name: &str, child: &mut std::process::Child) {
    let began = Instant::now();
    loop {
        let status = scene.command(&["status", name, "--json"]).output().expect("keyway starts");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["done_bytes"].as_u64() > Some(0)
            && document["conversion_status"] == "Encryption in Progress"
        {
            return;
        }
        assert!(child.try_wait().expect("a child").is_none(), "it ended: {document}");
        assert!(began.elapsed() < PATIENCE, "it does not get going: {document}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The document means what was there, however it is written.
#[test]
fn json_says_what_was_there() {
    let scene = Scene::new();
    let words: Vec<&str> =
        ["create", "/x", "--size", "1M", "--quick"].into_iter().chain(SECRET.iter().copied()).collect();
    assert!(scene.command(&words).output().expect("keyway starts").status.success());
    let done = scene.command(&["info", "/missing", "--json"]).output().expect("keyway starts");
    let document: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let path: &Path = &scene.folder.join("missing");
    let message = document["error"]["message"].as_str().expect("a text");
    assert!(message.contains(path.to_str().expect("a text")), "{document}");
    assert!(OsString::from_vec(done.stdout).to_string_lossy().contains("\\u202e"));
}

/// Linux' names are bytes. Messages show those that are no text, documents have them all, and every verb finds the file.
#[test]
fn names_that_are_no_text_are_told_byte_by_byte() {
    let cli = Cli::new();
    let folder = cli.keyway.folder().join(OsStr::from_bytes(b"N\xfe"));
    std::fs::create_dir(&folder).expect("Linux takes such names");
    let at = |name: &[u8]| folder.join(OsStr::from_bytes(name)).into_os_string();
    let (volume, pw) = (at(b"b\xff.hc"), at(b"pw\xff"));
    std::fs::write(&pw, PASSWORD).expect("written");
    let opens = [OsString::from("--password-file"), pw, "--pim".into(), "1".into()];
    let run = |code: i32, words: &[&OsStr], opened: bool| {
        let mut command = cli.command(words);
        command.args(if opened { &opens[..] } else { &[] });
        let done = command.output().expect("keyway starts");
        let said = [done.stdout.clone(), done.stderr].concat();
        let said = String::from_utf8(said).expect("all that is said is text");
        assert_eq!(done.status.code(), Some(code), "{words:?}: {said}");
        // But for a socket's path, which a session's state has as text.
        let loses = said.contains('\u{fffd}') && words.first() != Some(&OsStr::new("serve"));
        assert!(!loses, "{words:?} loses bytes: {said}");
        (said, serde_json::from_slice::<Value>(&done.stdout).unwrap_or_default())
    };
    let word = OsStr::new;
    let bytes = |path: &OsStr| Value::from(path.as_bytes().to_vec());
    let create = ["create", "--size", "4M", "--quick", "--filesystem", "none"].map(word);
    run(0, &[&create[..], &[&volume]].concat(), true);
    let (said, _) = run(1, &[&create[..], &[&volume]].concat(), true);
    assert!(said.contains("b\\xff.hc exists already"), "{said}");
    let (_, told) = run(1, &[&create[..], &[&volume, word("--json")]].concat(), true);
    assert_eq!(told["error"]["path"], bytes(&volume), "{told}");
    let (said, _) = run(4, &[word("ls"), &volume], true);
    assert!(said.contains("b\\xff.hc"), "{said}");
    run(0, &[word("header"), word("backup"), &volume, &at(b"h\xff")], true);
    let (_, told) = run(0, &[word("open"), &volume, word("--attach"), word("nbd"), word("--json")], true);
    assert_eq!(told["attachment"], "nbd");
    // What helps is a command that a shell takes.
    let (said, _) = run(6, &[word("open"), &volume], true);
    assert!(said.contains("close it first: keyway close $'") && said.contains("b\\xff.hc'"), "{said}");
    let (_, told) = run(6, &[word("open"), &volume, word("--json")], true);
    assert_eq!(told["error"]["advice"][0]["volume"], bytes(&volume), "{told}");
    let (said, _) = run(0, &[word("status")], false);
    assert!(said.contains("b\\xff.hc"), "{said}");
    let (_, told) = run(0, &[word("status"), word("--json")], false);
    assert_eq!(told["volumes"][0]["volume"], bytes(&volume), "{told}");
    run(0, &[word("close"), &volume], false);
    let socket = [b"unix:".as_slice(), at(b"s\xff").as_bytes()].concat();
    let serve = [word("serve"), &volume, word("--background"), word("--nbd"), OsStr::from_bytes(&socket)];
    run(0, &serve, true);
    assert!(Path::new(&at(b"s\xff")).exists());
    let (_, told) = run(0, &[word("status"), word("--json")], false);
    assert_eq!(told["volumes"][0]["socket"], bytes(&at(b"s\xff")), "{told}");
    let (said, _) = run(0, &[word("status")], false);
    assert!(said.contains("s\\xff"), "{said}");
    run(0, &[word("close"), &at(b"s\xff")], false);
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let (fat, file) = (at(b"f\xff"), at(b"letter\xff"));
    std::fs::write(&file, b"x").expect("written");
    run(
        0,
        &["create", "--size", "12M", "--quick", "--filesystem", "fat"]
            .map(word)
            .into_iter()
            .chain([&*fat])
            .collect::<Vec<_>>(),
        true,
    );
    let (_, told) = run(0, &[word("put"), &fat, &file, word("/x.txt"), word("--json")], true);
    assert_eq!([&told["volume"], &told["file"]], [&bytes(&fat), &bytes(&file)]);
    let out = at(b"out\xff");
    let (_, told) = run(0, &[word("get"), &fat, word("/*.txt"), &out, word("--json")], true);
    assert_eq!(told["to"], bytes(&out));
    assert_eq!(std::fs::read(Path::new(&out).join("x.txt")).expect("copied"), b"x");
}
