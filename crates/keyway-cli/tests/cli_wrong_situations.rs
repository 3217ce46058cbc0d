//! Wrong situations: each is answered with what it is, with the step that helps, with its exit code and its kind, and at once where
//! no key has to be derived.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked, damage};
use keyway_testkit::{copy_program, require_root, require_tool};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

/// What is typed, the exit code, the kind in JSON, what the message must say, and what must stand in what helps. `WITH` is the
/// volume's secret.
type Situation = (&'static str, i32, &'static str, &'static str, &'static str);

const SITUATIONS: &[Situation] = &[
    // A wrong path.
    ("info @nothing", 1, "not-found", "No such file", "check the path"),
    ("info @folder", 4, "not-suitable", "folder is a folder, not a volume", "name a volume's file"),
    ("info @pipe", 4, "not-suitable", "pipe is a pipe, not a volume", "name a volume's file"),
    ("info @dangling", 1, "not-found", "No such file", "check the path"),
    (
        "info /dev/null",
        4,
        "not-suitable",
        "/dev/null is a character device, not a volume",
        "name a volume's file",
    ),
    ("close @nothing", 1, "not-open", "is not open", "`keyway status` lists"),
    ("close @v", 1, "not-open", "is not open", "`keyway status` lists"),
    (
        "get @f /nothing @out WITH",
        1,
        "not-found",
        "there is no /nothing in it",
        "`keyway ls @f --hash sha512 --password-file",
    ),
    (
        "ls @f /nothing WITH",
        1,
        "not-found",
        "there is no /nothing in it",
        "`keyway ls @f --hash sha512 --password-file",
    ),
    ("put @f @nothing WITH", 1, "not-found", "No such file", "check the path"),
    ("create @nofolder/n --size 1M WITH", 1, "not-found", "No such file", "check that path"),
    ("open @v @nofolder/deep WITH", 1, "not-found", "there is no folder", "mkdir -p"),
    ("info @v --log @nofolder/log", 1, "not-found", "could not log to", "check the path given as --log"),
    ("serve @v --nbd unix:@nofolder/s WITH", 1, "not-found", "No such file", "check the path given as --nbd"),
    ("doctor @folder", 4, "not-suitable", "folder is a folder, not a volume", "name a volume's file"),
    ("drive info @folder", 4, "not-suitable", "folder is a folder, not a volume", "name a volume's file"),
    (
        "drive revert @dr --psid @nofile.txt --yes",
        1,
        "not-found",
        "No such file",
        "check the path given as --psid",
    ),
    ("header restore @v @nothing WITH", 1, "not-found", "No such file", "check the path"),
    (
        "ls @f /ph/nope WITH",
        1,
        "not-found",
        "there is no /ph/nope in it",
        "`keyway ls @f --hash sha512 --password-file",
    ),
    (
        "ls @f /ph/nope/x WITH",
        1,
        "not-found",
        "there is no /ph/nope in it",
        "`keyway ls @f --hash sha512 --password-file",
    ),
    ("put @f @pw /ph WITH", 1, "exists", "/ph/pw exists already", "--force"),
    (
        "create @pw/n --size 1M WITH",
        1,
        "not-suitable",
        "Not a directory",
        "a file stands there and no folder: check",
    ),
    // A wrong file.
    ("info @empty", 4, "not-a-volume", "it is empty", "name the file or device that holds"),
    ("info @zeros", 4, "not-a-volume", "only zeros", "name the file or device that holds"),
    ("status @zeros", 4, "not-a-volume", "only zeros", "name the file or device that holds"),
    ("info @text", 4, "not-a-volume", "is not random", "name the file or device that holds"),
    ("info @text.gz", 4, "not-a-volume", "is a gzip file", "gzip -dc"),
    ("info @q.qcow2", 4, "not-a-volume", "is a qcow2 image", "qemu-img convert -O raw"),
    ("info @luks", 4, "not-a-volume", "is a LUKS2 volume", "sudo cryptsetup open"),
    ("info @e4", 4, "not-a-volume", "an ext file system, unencrypted", "name the file or device that holds"),
    ("ls @e4", 4, "not-a-volume", "an ext file system, unencrypted", "sudo mount @e4 FOLDER"),
    (
        "open @tiny WITH",
        4,
        "not-a-volume",
        "it has 1000 bytes, fewer than any volume",
        "name the file or device",
    ),
    ("open @disk WITH", 4, "not-a-volume", "none of its partitions looks encrypted", "`keyway info"),
    ("open @disk --partition 7 WITH", 2, "not-found", "has no partition 7", "`keyway info"),
    ("ls @v WITH", 4, "no-filesystem", "no file system in the volume", "without root it is a file"),
    ("encrypt @zeros --password-file @pw --yes", 4, "not-a-volume", "no file system on", "`keyway create "),
    (
        "header restore @b @pw --password-file @pw --yes",
        4,
        "not-a-backup",
        "is no backup",
        "`keyway header backup`",
    ),
    (
        "lab report @text --html @x.html",
        1,
        "not-a-document",
        "not a laboratory's document",
        "lab compare --save",
    ),
    // Damage.
    ("cat @cut WITH", 4, "damaged", "not the whole volume", "truncate -s 1048576"),
    ("cat @damaged WITH", 3, "wrong-secret", "no header opened", "check the password"),
    ("header check @bcopy", 4, "damaged", "not all in order", "keyway header repair"),
    // A wrong secret, or none.
    (
        "cat @v --password-file @wrong --pim 1 --hash sha512",
        3,
        "wrong-secret",
        "no header opened",
        "check the password",
    ),
    ("cat @v --password-file @pw --pim 2 --hash sha512", 3, "wrong-secret", "no header opened", "--pim"),
    ("cat @v WITH --keyfile @nothing", 1, "keyfile", "No such file", "an empty file is no keyfile"),
    ("cat @v WITH --keyfile @empty", 1, "keyfile", "it is empty", "an empty file is no keyfile"),
    (
        "cat @v --password-file @empty",
        2,
        "usage",
        "is empty: there is no password",
        "write the password into it",
    ),
    ("cat @v --password-file @long", 2, "usage", "129 bytes", "check that the file holds the password"),
    ("cat @b --password-file @wrong", 3, "wrong-secret", "the password is wrong", "recovery password"),
    (
        "cat @b --recovery-password MISTYPED",
        3,
        "mistyped-recovery-password",
        "group 8",
        "compare it with the paper",
    ),
    (
        "cat @b --recovery-password ANOTHER",
        3,
        "wrong-recovery-password",
        "not this volume's",
        "the paper that names it",
    ),
    ("cat @b --startup-key @nothing.BEK", 1, "not-found", "No such file", "check the path"),
    ("cat @b", 2, "no-secret", "needs a secret", "--recovery-password"),
    (
        "protector remove @b 11111111-1111-1111-1111-111111111111 --password-file @pw",
        2,
        "no-such-protector",
        "has no protector",
        "`keyway protector list ",
    ),
    (
        "drive revert @dr --psid 12345678123456781234567812345678 --yes",
        3,
        "wrong-secret",
        "is not the PSID",
        "read it from the label again",
    ),
    (
        "put @two @pw --password-file @wrong --pim 1 --hash sha512 --protect-password-file @pw --protect-pim 1",
        3,
        "is-hidden",
        "opens the hidden volume",
        "--protect-…",
    ),
    // Nobody to ask.
    (
        "put @two @pw WITH --protect-hidden",
        2,
        "usage",
        "hidden volume that is to be protected",
        "--protect-password-file FILE",
    ),
    ("protector change @v WITH", 2, "usage", "no new password", "--new-password-file FILE"),
    ("cat @v", 2, "usage", "no terminal to ask on", "--password-file FILE"),
    ("create @v --size 1M --force WITH", 2, "usage", "will be replaced", "add --yes"),
    ("erase @v WITH", 2, "usage", "will be lost for ever", "add --yes"),
    ("encrypt @e4 --password-file @pw", 2, "usage", "encrypted in place", "add --yes"),
    // Another format, another state.
    ("header repair @v", 2, "usage", "does not begin as a BitLocker volume", "`keyway header restore "),
    ("protector add @v password", 2, "usage", "not a BitLocker volume", "`keyway protector change "),
    ("resume @v", 2, "usage", "no conversion", "`keyway encrypt "),
    ("pause @v", 2, "usage", "not being converted", "`keyway status "),
    ("drive info @v", 4, "not-a-drive", "no drive that encrypts by itself", "a virtual drive's file"),
    (
        "drive unlock @dr --password-file @pw",
        1,
        "not-set-up",
        "locking is not in use",
        "keyway drive setup @dr --recovery-sheet FILE",
    ),
    ("drive setup @dr --password-file @pw", 2, "usage", "owner needs a secret", "--recovery-sheet FILE"),
    // Too large, too small, there already.
    ("create @v --size 1M WITH", 1, "exists", "exists already", "--force"),
    ("create @folder --size 1M WITH", 4, "not-suitable", "folder is a folder", "name a volume's file"),
    ("create @n --size 1K WITH", 2, "usage", "too few", "at least"),
    ("create @n --size 900T WITH", 1, "no-space", "needs 900 TiB, but only", "free some space"),
    ("create @n --size 900T WITH", 1, "no-space", "iB are free there", "a smaller size"),
    (
        "create @n --size 10M --format bitlocker --password-file @pw",
        2,
        "usage",
        "too few",
        "at least 67108864",
    ),
    ("header backup @v - WITH", 2, "usage", "standard output", "./-"),
    ("header backup @v @pw WITH", 1, "exists", "exists already", "choose another name"),
    ("resize @v --size 100K WITH --yes", 2, "usage", "the least is", "--size"),
    ("cat @v WITH --offset 2M", 2, "usage", "past the end", "ask for less"),
    // What this machine lacks.
    (
        "cat @b --tpm=swtpm:path=nothing",
        3,
        "no-such-protector",
        "no protector with a TPM",
        "keyway protector list",
    ),
    ("bench --kernel neon", 2, "usage", "no kernel called", "it has: portable"),
    (
        "serve @v --nbd tcp:0.0.0.0:10809 WITH",
        2,
        "usage",
        "not this machine's loopback",
        "--tls-certificates FOLDER",
    ),
    // Wrong words.
    (
        "create @n --size 1M --hash ripemd160 --dry-run --password-file @pw",
        2,
        "usage",
        "old volumes only",
        "sha512",
    ),
    (
        "create @n --size 1M --hash sha1 --dry-run --password-file @pw",
        2,
        "usage",
        "old volumes only",
        "sha512",
    ),
    ("encrypt @e4 --hash ripemd160 --dry-run --password-file @pw", 2, "usage", "old volumes only", "sha512"),
    ("put @f @pw --read-only WITH", 2, "usage", "has no option --read-only", "`keyway put --help`"),
    ("opne @v", 2, "usage", "no verb called", "did you mean `keyway open`?"),
    ("open @v --read-olny", 2, "usage", "has no option", "did you mean --read-only?"),
    ("create @n --size 1M --password x", 2, "usage", "never an argument", "--password-file FILE"),
    ("create @n --size 1M --cipher rot13 WITH", 2, "usage", "no cipher called", "`keyway bench`"),
    (
        "create @n --size 1M --filesystem minix WITH",
        2,
        "usage",
        "no file system called",
        "`keyway create --help`",
    ),
    ("create @n", 2, "usage", "needs a size", "--size 512M"),
    ("open @v --attach tape WITH", 2, "usage", "there are auto", "`keyway open --help`"),
    ("lab compare --with veracrypt:rot13", 2, "usage", "no cipher called", "write `plain`"),
    ("serve @v WITH", 2, "usage", "--nbd ADDRESS or --vhost-user PATH", "keyway serve VOLUME"),
];

/// Those in which a BitLocker key is derived.
const DERIVES: [&str; 3] = [
    "put @two @pw --password-file @wrong --pim 1 --hash sha512 --protect-password-file @pw --protect-pim 1",
    "cat @b --password-file @wrong",
    "cat @b --recovery-password ANOTHER",
];

const WITH: &str = "--password-file @pw --pim 1 --hash sha512";
/// Of a volume that Windows made; the other ends in another digit.
const ANOTHER: &str = "235818-357951-253979-013365-241120-245575-342914-591910";
const MISTYPED: &str = "235818-357951-253979-013365-241120-245575-342914-591911";

/// A folder in which all of that can go wrong.
fn world() -> Option<Cli> {
    let cli = Cli::new();
    cli.volume("v");
    cli.ends(0, "create @f --size 8M --quick --filesystem fat --password-file @pw --pim 1");
    cli.ends(0, "create @b --size 64M --format bitlocker --quick --filesystem fat --password-file @pw --recovery-file @paper");
    cli.ends(0, "drive emulate @dr --size 16M");
    cli.make("e4", 8 << 20, "mkfs.ext4", &["-q", "-F"])?;
    let (gzip, qemu, sfdisk) = (require_tool("gzip")?, require_tool("qemu-img")?, require_tool("sfdisk")?);
    cli.keyway.secret("wrong", "another-twenty-characters");
    cli.keyway.secret("empty", "");
    cli.keyway.secret("long", "x".repeat(129));
    cli.keyway.secret("zeros", [0; 400_000]);
    cli.keyway.secret("tiny", std::fs::read(cli.path("v")).expect("the volume").split_at(1000).0);
    cli.keyway.secret("text", "It was a dark and stormy night. ".repeat(20_000));
    let mut luks = vec![0; 400_000];
    luks[..8].copy_from_slice(b"LUKS\xba\xbe\0\x02");
    cli.keyway.secret("luks", luks);
    std::fs::create_dir(cli.path("folder")).expect("made");
    symlink("nowhere", cli.path("dangling")).expect("a link");
    cli.ends(0, &format!("put @f @folder /ph {WITH}"));
    cli.ends(0, &format!("put @f @pw /ph {WITH}"));
    cli.ends(
        0,
        &format!(
            "create @two --size 2M --hidden 500K --quick {WITH} --hidden-password-file @wrong --hidden-pim 1"
        ),
    );
    rustix::fs::mknodat(rustix::fs::CWD, cli.path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .expect("a pipe");
    checked(Command::new(gzip).arg("-k").arg(cli.path("text")));
    checked(Command::new(qemu).args(["create", "-q", "-f", "qcow2"]).arg(cli.path("q.qcow2")).arg("8M"));
    cli.keyway.secret("disk", vec![0; 3 << 20]);
    let table = format!(
        "printf 'start=2048,size=2048,type=7\\n' | '{}' -q '{}'",
        sfdisk.display(),
        cli.path("disk").display()
    );
    checked(Command::new("sh").args(["-c", &table]));
    let whole = std::fs::read(cli.path("v")).expect("the volume");
    std::fs::write(cli.path("cut"), &whole[..300_000]).expect("written");
    std::fs::write(cli.path("damaged"), &whole).expect("written");
    damage(&cli.path("damaged"), 0..131_072);
    damage(&cli.path("damaged"), whole.len() - 131_072..whole.len());
    std::fs::copy(cli.path("b"), cli.path("bcopy")).expect("copied");
    damage(&cli.path("bcopy"), 34_603_008..34_603_520);
    Some(cli)
}

/// Its answer in JSON, its exit code, and the seconds of processor time that it took.
fn answer(cli: &Cli, command: &str) -> (Value, Option<i32>, f64) {
    let words = command.replace("WITH", WITH).replace("MISTYPED", MISTYPED).replace("ANOTHER", ANOTHER);
    let keyway = cli.command(cli.words(&format!("{words} --json")));
    let times = cli.path("times");
    let script = format!("TIMEFORMAT='%U %S'; {{ time \"$@\" 2>&3; }} 3>&2 2>'{}'", times.display());
    let mut timed = Command::new("bash");
    timed
        .args(["-c", &script, "bash"])
        .arg(keyway.get_program())
        .args(keyway.get_args())
        .stdin(Stdio::null());
    timed.envs(keyway.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = timed.output().expect("bash starts");
    let document =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {done:?}"));
    let times = std::fs::read_to_string(times).expect("the times");
    let seconds = times.split_whitespace().map(|time| time.parse::<f64>().expect("seconds")).sum();
    (document, done.status.code(), seconds)
}

/// Seconds of processor time in which an answer comes that needs no key derived.
const AT_ONCE: f64 = 1.0;

/// What is not as the row has it.
fn differs(cli: &Cli, (command, code, kind, says, helps): &Situation) -> Option<String> {
    let (document, ended, mut seconds) = answer(cli, command);
    let slow = |seconds: f64| seconds >= AT_ONCE && !DERIVES.contains(command);
    // A busy machine makes work of waiting: the least of three tries is what it takes.
    for _ in 0..2 {
        if slow(seconds) {
            seconds = seconds.min(answer(cli, command).2);
        }
    }
    let error = &document["error"];
    let helps = helps.replace('@', &format!("{}/", cli.keyway.folder().display()));
    let has = |field: &str, part: &str| error[field].as_str().is_some_and(|text| text.contains(part));
    let right = ended == Some(*code)
        && error["code"] == *code
        && error["kind"] == *kind
        && has("message", says)
        && has("hint", &helps);
    (!right || slow(seconds)).then(|| format!("keyway {command}: {ended:?}, {seconds} s of work, {error}"))
}

#[test]
fn each_says_what_it_is_and_what_helps_at_once() {
    assert!(SITUATIONS.len() >= 60);
    let Some(cli) = world() else { return };
    let before = std::fs::read(cli.path("v")).expect("the volume");
    let wrong: Vec<String> = SITUATIONS.iter().filter_map(|situation| differs(&cli, situation)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SITUATIONS.len(), wrong.join("\n"));
    assert!(std::fs::read(cli.path("v")).expect("the volume") == before, "one of them changed the volume");
    assert!(!cli.path("n").exists(), "one of them left something half made");
}

#[test]
fn a_volume_that_is_open_is_busy_for_others_and_says_how_to_close_it() {
    let Some(cli) = world() else { return };
    cli.ends(0, &format!("open @f --attach nbd {WITH}"));
    for command in ["open @f WITH", "put @f @pw /pw WITH", "erase @f WITH", "resize @f --size 9M WITH --yes"]
    {
        let wrong = differs(&cli, &(command, 6, "already-open", "is already open", "keyway close"));
        assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    }
    cli.ends(0, "close @f");
}

#[test]
fn a_tool_that_is_missing_is_named_with_its_package() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    std::fs::create_dir(cli.path("nothing")).expect("made");
    for (filesystem, package) in
        [("ext4", "e2fsprogs"), ("ntfs", "ntfs-3g"), ("exfat", "exfatprogs"), ("fat", "dosfstools")]
    {
        let words = format!(
            "create @n --size 64M --quick --filesystem {filesystem} --password-file @pw --pim 1 --json"
        );
        let done =
            cli.command(cli.words(&words)).env("PATH", cli.path("nothing")).output().expect("keyway starts");
        let document: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        // A system's own folders are looked into whatever PATH says.
        if done.status.success() {
            std::fs::remove_file(cli.path("n")).expect("made");
            continue;
        }
        let hint = document["error"]["hint"].as_str().unwrap_or_default();
        assert!(
            done.status.code() == Some(5) && hint.contains(&format!("install the package {package}")),
            "{document}"
        );
        assert!(!cli.path("n").exists());
    }
}

#[test]
fn another_user_is_told_that_it_is_not_theirs() {
    if !require_root() {
        return;
    }
    let Some(setpriv) = require_tool("setpriv") else { return };
    let cli = Cli::new();
    cli.volume("v");
    std::fs::set_permissions(cli.path("v"), PermissionsExt::from_mode(0o600)).expect("its mode");
    std::fs::set_permissions(cli.keyway.folder(), PermissionsExt::from_mode(0o755)).expect("its mode");
    let program = cli.path("keyway");
    copy_program(env!("CARGO_BIN_EXE_keyway"), &program);
    for words in ["info @v", "open @v", "create @n --size 1M", "erase @v", "put @v @pw", "encrypt @v"] {
        let mut other = Command::new(&setpriv);
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        let own = "--password-file @v";
        let words = if words.starts_with("info") {
            words.to_owned()
        } else {
            format!("{words} {}", own.replace("@v", "/etc/hostname"))
        };
        let done = other
            .args(cli.words(&format!("{words} --json")))
            .env("HOME", "/nonexistent")
            .output()
            .expect("it starts");
        let document: Value =
            serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{words}: {e}: {done:?}"));
        let error = &document["error"];
        assert_eq!(
            (done.status.code(), error["kind"].as_str()),
            (Some(5), Some("not-permitted")),
            "{words}: {error}"
        );
        assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{words}: {error}");
    }
}
