//! `lab compare` with other programs as sides: attached by their own commands, measured in turn with ours, taken down again
//! whatever they do; and with several drives.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::{require_fuse, require_root, require_tool, shell_script, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Seconds matter here, not figures.
const SHORT: &str = "--workload quick --quick --seconds 0.04 --size 16M";

/// A comparison with one entrant, whose command is a script.
fn compare<'a>(cli: &'a Cli, name: &str, script: &str, more: &'a [&'a str]) -> Command {
    shell_script(cli.path(name), script);
    let mut command = cli.command(["lab", "compare", "--drive"]);
    command.arg(cli.path("disk")).args(SHORT.split(' ')).args(["--json", "--destroy-data", "--yes"]);
    command.arg("--entrant").arg(format!("{name}={}", cli.path(name).display())).args(more);
    if !more.contains(&"--minutes") {
        command.args(["--minutes", "0.01"]);
    }
    command.env("TMPDIR", cli.path("private"));
    command
}

/// What it says, with this exit code; nothing of it may be left.
fn told(cli: &Cli, mut command: Command, code: i32) -> Value {
    for folder in ["disk", "private"] {
        std::fs::create_dir_all(cli.path(folder)).expect("a folder");
    }
    let done = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(code), "{said}");
    for folder in ["disk", "private"] {
        let left: Vec<_> = std::fs::read_dir(cli.path(folder)).expect("there").flatten().collect();
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("a list");
    let private = cli.path("private").display().to_string();
    assert!(!mounts.contains(&private), "{mounts}");
    let ours = |stat: &String| stat.contains(&private);
    wait_until("what was started is gone", || !command_lines().iter().any(ours));
    serde_json::from_slice(&done.stdout).expect("one JSON document")
}

/// The words of everything that runs.
fn command_lines() -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let words = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    all.filter_map(words).map(|words| String::from_utf8_lossy(&words).into_owned()).collect()
}

fn rows(document: &Value, target: &str) -> Vec<Value> {
    let rows = document["cells"].as_array().expect("cells");
    rows.iter().filter(|row| row["target"] == target && row["primary"] == true).cloned().collect()
}

/// LUKS as QEMU has it, served by its NBD server, made a file by libnbd: three other programs.
const LUKS: &str = r#"
set -e
secret="--object secret,id=s,data=a-password"
qemu-img create -q -f luks $secret -o key-secret=s,iter-time=10,hash-alg=sha512,preallocation=full "$DRIVE" 56M
qemu-nbd -t -k "$FOLDER/socket" $secret \
  --image-opts driver=luks,key-secret=s,file.driver=file,file.filename="$DRIVE" &
while ! test -S "$FOLDER/socket"; do sleep 0.05; done
mkdir "$FOLDER/mounted"
nbdfuse "$FOLDER/mounted" --unix "$FOLDER/socket" &
while ! test -e "$FOLDER/mounted/nbd"; do sleep 0.05; done
echo "it is attached now"
echo "$FOLDER/mounted/nbd"
wait
"#;

#[test]
fn another_programs_encryption_is_measured_in_turn_with_ours() {
    let tools = ["qemu-img", "qemu-nbd", "nbdfuse", "fusermount3"];
    if !require_fuse() || tools.iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    let document = told(&cli, compare(&cli, "luks", LUKS, &["--with", "veracrypt:aes"]), 0);
    let (theirs, ours) = (rows(&document, "luks"), rows(&document, "veracrypt:aes"));
    assert_eq!(theirs.len(), 6, "{}", document["cells"]);
    for (their, our) in theirs.iter().zip(&ours) {
        assert_eq!((&their["cell"], &their["turns"]), (&our["cell"], &our["turns"]));
        assert_eq!(their["baseline"], "bare");
        assert!(their["value"].as_f64() > Some(0.0), "{their}");
        // It goes another way than ours: that takes nothing of its cost apart.
        assert!(their["path_cost"].is_null() && their["cipher_cost"].is_null(), "{their}");
        assert!(our["path_cost"].is_number(), "{our}");
    }
    assert_eq!(document["circumstances"]["others"][0]["name"], "luks");
    assert!(!document["notes"].to_string().contains("luks"), "it was taken down: {}", document["notes"]);
}

/// The drive's own file, each request of which takes a fiftieth of a second longer.
const DELAYED: &str = r#"
nbdkit -f -U "$FOLDER/socket" --filter=delay file "$DRIVE" rdelay=20ms wdelay=20ms &
while ! test -S "$FOLDER/socket"; do sleep 0.05; done
mkdir "$FOLDER/mounted"
nbdfuse "$FOLDER/mounted" --unix "$FOLDER/socket" &
while ! test -e "$FOLDER/mounted/nbd"; do sleep 0.05; done
echo "$FOLDER/mounted/nbd"
wait
"#;

#[test]
fn one_that_sleeps_costs_and_the_drive_itself_is_never_told_to_differ() {
    if !require_fuse() || ["nbdkit", "nbdfuse"].iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    shell_script(cli.path("same"), "echo \"$DRIVE\"\n");
    let same = format!("same={}", cli.path("same").display());
    // A busy machine says "undecided", and gets more time; no other word may be wrong, however busy it is.
    let is_told = ["0.6", "2", "6"].into_iter().any(|minutes| {
        let more = ["--entrant", &same, "--minutes", minutes, "--reads-only"];
        let document = told(&cli, compare(&cli, "delayed", DELAYED, &more), 0);
        for row in rows(&document, "same") {
            let word = row["verdict"].as_str().expect("a word");
            assert!(["equal", "undecided"].contains(&word), "the same file: {row}");
        }
        let rows = rows(&document, "delayed");
        let row = rows.iter().find(|row| row["cell"] == "RND4K Q1T1 read").expect("a row");
        assert!(row["verdict"] == "costs" || row["verdict"] == "undecided", "{row}");
        row["verdict"] == "costs"
    });
    assert!(is_told, "six minutes are enough for a fiftieth of a second");
}

#[test]
fn one_that_does_not_attach_says_why_and_leaves_nothing() {
    let cli = Cli::new();
    for (name, script, said) in [
        ("refuses", "echo 'no such key' >&2\nexit 3\n", "refuses ended with exit status: 3: no such key"),
        ("silent", "true\n", "silent named no file or device"),
        ("wrong", "echo /nowhere/at/all\n", "wrong named \"/nowhere/at/all\", which is not there"),
        ("killed", "kill -9 $$\n", "killed ended with exit status: 137"),
        (
            "small",
            "head -c 4096 /dev/zero >\"$FOLDER/small\"\necho \"$FOLDER/small\"\n",
            "small can't be used: ",
        ),
        ("null", "echo /dev/null\n", "null can't be used: "),
    ] {
        let told = told(&cli, compare(&cli, name, script, &["--with", "veracrypt:aes"]), 1);
        assert_eq!(told["error"]["kind"], "failed", "{told}");
        let message = told["error"]["message"].as_str().expect("a message");
        assert!(message.starts_with(said), "{message}");
    }
}

/// The drive's file by way of a server that ends after two seconds.
const VANISHING: &str = r#"
mkdir "$FOLDER/mounted"
nbdfuse "$FOLDER/mounted" --command nbdkit -s file "$DRIVE" &
while ! test -e "$FOLDER/mounted/nbd"; do sleep 0.05; done
(sleep 2; kill -9 $!) &
echo "$FOLDER/mounted/nbd"
wait
"#;

#[test]
fn one_that_vanishes_is_named_and_what_was_measured_is_told() {
    if !require_fuse() || ["nbdkit", "nbdfuse"].iter().any(|tool| require_tool(tool).is_none()) {
        return;
    }
    let cli = Cli::new();
    let mut command = compare(&cli, "vanishing", VANISHING, &["--with", "veracrypt:aes", "--runs", "1000"]);
    command.args(["--path", "in-process"]);
    let began = Instant::now();
    let told = told(&cli, command, 1);
    assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
    let message = told["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("vanishing can't be used: "), "{message}");
    assert!(told["missing"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
}

/// The drive's file by way of a server that stops answering after so many seconds, and lives on.
fn hanging(seconds: u32) -> String {
    let stop = match seconds {
        0 => "kill -STOP $!".to_owned(),
        _ => format!("(sleep {seconds}; kill -STOP $!) &"),
    };
    VANISHING.replace("(sleep 2; kill -9 $!) &", &stop)
}

/// It is given up, whether it hangs while it is looked at or while it is measured; what was measured is told, and nothing is
/// left of it.
fn gives_up(seconds: u32) -> Option<Value> {
    if !require_fuse() || ["nbdkit", "nbdfuse"].iter().any(|tool| require_tool(tool).is_none()) {
        return None;
    }
    let cli = Cli::new();
    let more = ["--with", "veracrypt:aes", "--runs", "1000", "--path", "in-process"];
    let began = Instant::now();
    let told = told(&cli, compare(&cli, "hanging", &hanging(seconds), &more), 1);
    assert!(began.elapsed() < Duration::from_secs(180), "{:?}", began.elapsed());
    let message = told["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("hanging did not finish what it was given within 3"), "{message}");
    assert!(message.contains(" s, and was given up"), "{message}");
    Some(told)
}

#[test]
fn one_that_hangs_is_given_up() {
    let Some(told) = gives_up(2) else { return };
    assert!(told["missing"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
}

#[test]
fn one_that_hangs_from_the_beginning_is_given_up() {
    gives_up(0);
}

#[test]
fn a_loop_device_is_detached_by_its_own_command() {
    if !require_root() || require_tool("losetup").is_none() {
        return;
    }
    let cli = Cli::new();
    let script = "losetup --find --show --direct-io=on \"$DRIVE\"\n";
    let detach = format!("loop=echo $DEVICE >{}; losetup -d $DEVICE", cli.path("device").display());
    let document = told(&cli, compare(&cli, "loop", script, &["--detach", &detach]), 0);
    assert_eq!(rows(&document, "loop").len(), 6, "{}", document["cells"]);
    let device = std::fs::read_to_string(cli.path("device")).expect("what was detached");
    let device = Path::new("/sys/block").join(device.trim().trim_start_matches("/dev/"));
    assert!(!device.join("loop").exists(), "{device:?}");
    // What does not work is told.
    let document =
        told(&cli, compare(&cli, "same", "echo $DRIVE\n", &["--detach", "same=echo no >&2; exit 4"]), 0);
    let note = document["notes"][0].as_str().expect("a note");
    assert_eq!(note, "same was not detached: its command ended with exit status: 4: no.");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_touched() {
    let cli = Cli::new();
    std::fs::create_dir(cli.path("disk")).expect("a folder");
    let refused = |words: &[&str], kind: &str| {
        let words = ["lab", "compare", "--json"].iter().chain(words);
        let done = cli.command(words).current_dir(cli.path("disk")).output().expect("it runs");
        let told: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!((told["error"]["kind"].as_str(), done.status.code()), (Some(kind), Some(2)), "{told}");
        told["error"]["message"].as_str().expect("a message").to_owned()
    };
    let message = refused(&["--entrant", "a=true"], "would-destroy");
    assert!(message.contains("what \"a\" attaches"), "{message}");
    refused(&["--entrant", "a=true", "--destroy-data"], "usage");
    refused(&["--entrant", "a=true", "--drive", "model:samsung-990-pro", "--destroy-data"], "usage");
    refused(&["--entrant", "a=true", "--detach", "b=true", "--destroy-data"], "usage");
    refused(&["--entrant", "a"], "usage");
    refused(&["--entrant", "plain=true"], "usage");
    refused(&["--detach", "a=true", "--with", "veracrypt:aes"], "usage");
    refused(&[], "usage");
    assert_eq!(std::fs::read_dir(cli.path("disk")).expect("there").count(), 0);
}

#[test]
fn several_drives_are_measured_one_after_the_other() {
    let cli = Cli::new();
    let words = format!(
        "lab compare --with veracrypt:aes --drive model:samsung-990-pro --drive model:crucial-m500 --reads-only --minutes 0.02 {SHORT}"
    );
    let found = cli.json(0, &format!("{words} --save @both.json --html @both.html"));
    let drives = found["drives"].as_array().expect("a list");
    let names: Vec<&str> = drives.iter().filter_map(|one| one["drive"].as_str()).collect();
    assert!(names.len() == 2 && names[0].contains("990") && names[1].contains("M500"), "{names:?}");
    for drive in drives {
        assert!(!rows(drive, "veracrypt:aes").is_empty());
    }
    let page = std::fs::read_to_string(cli.path("both.html")).expect("the page");
    assert!(page.contains("Machines beside each other"));
    // Words have an answer for each, and what was kept can be drawn and gone on with.
    let told = String::from_utf8_lossy(&cli.run(&words).stdout).into_owned();
    assert_eq!(told.matches("Drive: model of").count(), 2, "{told}");
    assert_eq!(cli.json(0, "lab report @both.json --html @again.html")["documents"], 2);
    let resumed = cli.json(0, &format!("{words} --resume @both.json"));
    assert_eq!(resumed["drives"].as_array().map(Vec::len), Some(2));
    let one = words.replace("--drive model:samsung-990-pro", "");
    assert_eq!(cli.json(2, &format!("{one} --resume @both.json"))["error"]["kind"], "usage");
}
