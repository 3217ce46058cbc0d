//! The exit code of each kind of failure, and that nothing is lost by one.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, damage};
use keyway_testkit::{Rng, copy_program, is_root, require_tool, wait_until};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What narrowed the search may be what is wrong.
#[test]
fn what_narrowed_the_search_is_named() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("other", "another one");
    for option in ["--hash sha256", "--format truecrypt", "--header primary"] {
        let (name, _) = option.split_once(' ').expect("a value");
        let words = format!("cat @v --length 1 --password-file @other --pim 1 {option}");
        cli.fails(3, "wrong-secret", &format!("the search was narrowed by {name}: leave it out"), &words);
    }
}

#[test]
fn a_wrong_secret_is_3() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("wrong", "twenty-characters-and-less");
    for verb in ["cat", "info", "protector list", "header check"] {
        cli.fails(
            3,
            "wrong-secret",
            "check the password, --keyfile and --pim",
            &format!("{verb} @v --password-file @wrong --pim 1 --hash sha512"),
        );
    }
    let error = &cli.json(3, "open @v --password-file @wrong --pim 1 --hash sha512")["error"];
    assert_eq!((error["code"].as_u64(), error["kind"].as_str()), (Some(3), Some("wrong-secret")), "{error}");
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "open @v --password-file @pw --pim 2 --hash sha512",
    );
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        "protector change @v --password-file @wrong --new-password-file @pw --pim 1 --hash sha512",
    );
    assert_eq!(cli.plain("v").len(), (1 << 20) - 262_144);
}

#[test]
fn what_is_no_volume_is_4() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("empty", "");
    cli.keyway.secret("zeros", [0; 400_000]);
    cli.keyway.secret("text", "It was a dark and stormy night. ".repeat(20_000));
    cli.keyway.secret("short", "sixteen bytes ..");
    for file in ["empty", "zeros", "text", "short"] {
        for verb in ["cat", "info", "open", "header check"] {
            cli.fails(
                4,
                "not-a-volume",
                "name the file or device that holds the volume",
                &format!("{verb} @{file} --password-file @pw --pim 1"),
            );
        }
        for verb in ["info", "status"] {
            cli.fails(
                4,
                "not-a-volume",
                "name the file or device that holds the volume",
                &format!("{verb} @{file}"),
            );
        }
        assert_eq!(cli.json(4, &format!("info @{file}"))["error"]["code"], 4);
        // What is for BitLocker's volumes alone says that of another volume, and of none that it is none.
        for words in [
            "protector add V recovery-password",
            "protector remove V password",
            "protector recovery V",
            "protector suspend V --yes",
            "protector resume V",
            "protector change V --id password",
            "header repair V",
            "cat V --startup-key @pw",
        ] {
            let words = words.replace('V', &format!("@{file}"));
            cli.fails(4, "not-a-volume", "name the file or device that holds the volume", &words);
        }
    }
}

#[test]
fn a_truncated_or_damaged_volume_is_told() {
    let cli = Cli::new();
    cli.volume("v");
    let whole = std::fs::read(cli.path("v")).expect("the volume");
    std::fs::write(cli.path("cut"), &whole[..300_000]).expect("a file");
    // The header opens, and says more bytes than there are.
    let error = &cli.json(4, "cat @cut --password-file @pw --pim 1 --hash sha512")["error"];
    assert_eq!(error["kind"], "damaged", "{error}");
    // What it says helps: made as long as it was, a copy gives what is left.
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("truncate -s 1048576")), "{error}");
    let longer = std::fs::OpenOptions::new().write(true).open(cli.path("cut")).expect("the file");
    longer.set_len(1 << 20).expect("sized");
    assert_eq!(cli.plain("cut")[..300_000 - 131_072], cli.plain("v")[..300_000 - 131_072]);
    damage(&cli.path("v"), 0..512);
    let done = cli.ends(0, "cat @v --password-file @pw --pim 1");
    assert!(String::from_utf8_lossy(&done.stderr).contains("backup header"));
    assert_eq!(done.stdout, {
        std::fs::write(cli.path("v"), &whole).expect("a file");
        cli.plain("v")
    });
}

/// As resize2fs does with an image file, before it gets its old size again.
#[test]
fn what_is_cut_for_a_moment_is_looked_at_again() {
    let cli = Cli::new();
    cli.keyway.secret("d", Rng::new(3).bytes(2 << 20));
    let (file, done) = (cli.path("d"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = std::fs::File::options().write(true).open(&file).expect("opens");
            while !done.load(Ordering::Relaxed) {
                for size in [1 << 20, 2 << 20] {
                    file.set_len(size).expect("sized");
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        let looks = (0..150).map(|_| [cli.run("status @d"), cli.run("info @d")]);
        let failed = looks.flatten().find(|look| look.status.code() != Some(0));
        done.store(true, Ordering::Relaxed);
        assert!(failed.is_none(), "{failed:?}");
    });
}

#[test]
fn what_is_not_there_is_1_and_a_folder_is_4() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for verb in ["cat", "info", "open", "status", "header check", "protector list"] {
        assert_eq!(cli.json(1, &format!("{verb} @nothing"))["error"]["kind"], "not-found", "{verb}");
    }
    cli.fails(4, "not-suitable", "name a volume's file or a block device", "info @");
    cli.volume("v");
    cli.fails(1, "not-found", "check the path given as --password-file", "cat @v --password-file @nothing");
    // Nothing lies in a file, which is right where it is named itself.
    cli.fails(1, "not-suitable", "check the path given as TO", "get @v /pw @pw/x --password-file @pw");
    cli.fails(
        1,
        "keyfile",
        "check the path given as --keyfile; an empty file is no keyfile",
        "cat @v --password-file @pw --keyfile @nothing --hash sha512 --pim 1",
    );
    // As with a port that is in use.
    let _server = std::os::unix::net::UnixListener::bind(cli.path("sock")).expect("a socket");
    for way in ["--nbd unix:@sock", "--vhost-user @sock"] {
        let words = format!("serve @v {way} --password-file @pw --pim 1 --hash sha512");
        cli.fails(6, "busy", "choose another path", &words);
    }
    cli.fails(1, "not-open", "`keyway status` lists what is", "close @v");
    cli.ends(0, "close @v --if-open");
    // Where that is asked for it has a code of its own.
    cli.fails(7, "not-open", "`keyway status` lists what is", "close @v --exit-code");
    assert_eq!(cli.json(7, "status @v --exit-code")["lock_status"], "Locked");
    let plain = cli.ends(7, "status @v --exit-code");
    assert!(plain.stderr.is_empty() && !plain.stdout.is_empty());
    assert_eq!(cli.json(0, "status @v")["lock_status"], "Locked");
    cli.refused("usage", "", "status --exit-code");
    assert_eq!(cli.json(1, "close @v")["error"]["kind"], "not-open");
}

#[test]
fn what_is_not_permitted_is_5() {
    let cli = Cli::new();
    cli.volume("v");
    std::fs::set_permissions(cli.path("v"), std::fs::Permissions::from_mode(0o000)).expect("its mode");
    let words = cli.words("info @v --json");
    let done = if is_root() {
        // Root may read everything; nobody may not.
        let Some(setpriv) = require_tool("setpriv") else { return };
        std::fs::set_permissions(cli.keyway.folder(), std::fs::Permissions::from_mode(0o755))
            .expect("its mode");
        let program = cli.path("keyway");
        copy_program(env!("CARGO_BIN_EXE_keyway"), &program);
        let mut command = Command::new(setpriv);
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(words);
        command.output().expect("setpriv starts")
    } else {
        cli.command(words).output().expect("keyway starts")
    };
    assert_eq!(done.status.code(), Some(5), "{}", String::from_utf8_lossy(&done.stderr));
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(document["error"]["kind"], "not-permitted");
}

#[test]
fn wrong_usage_offers_no_hidden_verb() {
    let cli = Cli::new();
    for words in ["", "serve-volum", "ublk-owne"] {
        let done = cli.ends(2, &format!("{words} --json"));
        let told = [done.stdout, done.stderr].concat();
        let told = String::from_utf8_lossy(&told).replace(words, "");
        assert!(!told.contains("serve-volume") && !told.contains("owner"), "{told}");
    }
}

#[test]
fn a_report_that_can_not_be_written_ends_the_tour_before_it_begins() {
    let cli = Cli::new();
    let document = cli.json(1, "demo --report @nowhere/report.html");
    assert_eq!(document["error"]["kind"], "not-found");
    assert!(document["error"]["hint"].as_str().expect("advice").contains("--report"), "{document}");
}

#[test]
fn wrong_usage_is_2() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("none", "\n");
    cli.keyway.secret("long", "x".repeat(129));
    // No password, and nobody to ask.
    cli.refused("usage", "use --password-file FILE (`-` is standard input)", "cat @v");
    cli.refused("usage", "write the password into it, or name another file", "cat @v --password-file @none");
    cli.refused(
        "usage",
        "check that the file holds the password and nothing else",
        "cat @v --password-file @long",
    );
    cli.refused(
        "usage",
        "--password-file does not go with --password-fd",
        "cat @v --password-file @pw --password-fd 3",
    );
    cli.refused("usage", "open it before: keyway … --password-fd 3 3<FILE", "cat @v --password-fd 77");
    cli.refused("usage", "tells the volume's size", "cat @v --offset 2M --password-file @pw --pim 1");
    cli.refused("usage", "is not a size: write a number with K, M, G or T, such as", "cat @v --offset ten");
    cli.refused("usage", "--format can't be \"luks\": there are", "cat @v --format luks");
    cli.refused(
        "usage",
        "give one of them with --…password-fd N or in a file",
        "open @v --protect-hidden --password-file - --protect-password-file -",
    );
    cli.refused(
        "usage",
        "--attach can't be \"tape\": there are auto, fuse",
        "open @v --attach tape --password-file @pw",
    );
    cli.refused(
        "usage",
        "leave out --attach dm-crypt, or the --protect-… options",
        "open @v --attach dm-crypt --protect-hidden --password-file @pw",
    );
    cli.refused(
        "usage",
        "leave out --attach, or the mount point",
        "open @v @ --attach vhost-user --password-file @pw",
    );
    cli.refused(
        "usage",
        "use a loopback address, or --tls-certificates FOLDER",
        "serve @v --nbd tcp:0.0.0.0:10809 --password-file @pw",
    );
    cli.refused("usage", "--nbd ADDRESS or --vhost-user PATH", "serve @v --password-file @pw");
    cli.refused("usage", "will be overwritten", "header restore @v --password-file @pw --pim 1");
    cli.refused("usage", "--cipher: there is no cipher called \"rot13\"", "bench --cipher rot13");
    // How long it would take is of no use to whoever hears that it can't be.
    for (code, words, says) in [
        (2, "veracrypt:eas", "no cipher called"),
        (2, "bitlocker:eas", "BitLocker's ciphers are"),
        (2, "hardware", "only a modelled drive"),
        (2, "veracrypt:aes --drive model:no-such-drive", "no-such-drive"),
        (1, "veracrypt:aes --drive @nowhere", "No such file"),
        (1, "veracrypt:aes --with @nowhere", "No such file"),
        (1, "veracrypt:aes --drive @v --destroy-data --yes", "bytes"),
    ] {
        let refused = cli.ends(code, &format!("lab compare --with {words}")).stderr;
        let told = String::from_utf8_lossy(&refused).into_owned();
        assert!(told.contains(says) && !told.contains("this takes"), "{told}");
    }
    cli.refused("usage", "--buffer can't be \"100\": a buffer is a", "bench --buffer 100");
    cli.refused("usage", "VOLUME or DEVICE or MOUNTPOINT is missing", "close");
}

#[test]
fn creating_loses_nothing() {
    let cli = Cli::new();
    cli.volume("v");
    let before = std::fs::read(cli.path("v")).expect("the volume");
    let with = "--password-file @pw --pim 1";
    assert_eq!(cli.json(1, &format!("create @v --size 1M {with}"))["error"]["kind"], "exists");
    cli.fails(
        1,
        "exists",
        "choose another name, or replace it with --force; for a hidden volume",
        &format!("create @v --size 1M --yes {with}"),
    );
    cli.refused(
        "usage",
        "add --size SIZE, such as --size 512M or --size 10G",
        &format!("create @new {with}"),
    );
    cli.refused("usage", "a volume needs at least", &format!("create @new --size 1K {with}"));
    cli.refused(
        "usage",
        "`keyway bench` compares them",
        &format!("create @new --size 1M --cipher rot13 {with}"),
    );
    cli.refused(
        "usage",
        "take sha512, sha256, whirlpool, streebog, blake2s or",
        &format!("create @new --size 1M --hash ripemd160 {with}"),
    );
    cli.refused(
        "usage",
        "--filesystem: there is no",
        &format!("create @new --size 1M --filesystem minix {with}"),
    );
    cli.refused(
        "usage",
        "add --hidden SIZE, or leave them out",
        &format!("create @new --size 1M --hidden-password-file @pw {with}"),
    );
    cli.refused("usage", "use --password-file FILE (`-` is standard input)", "create @new --size 1M");
    if require_tool("mkfs.exfat").is_some() {
        // Before anyone is asked for a password.
        cli.refused(
            "usage",
            "exfat takes a label of at most 11 characters, and this one has 12",
            "create @new --size 1M --filesystem exfat --label Photographs2",
        );
    }
    assert_eq!(cli.json(1, &format!("create @new --size 900T {with}"))["error"]["kind"], "no-space");
    // Its program refuses what nobody could foresee: what was half made is gone.
    cli.fails(
        1,
        "filesystem",
        "take another file system, or a larger volume",
        &format!("create @new --size 1M --filesystem fat --label a*b {with}"),
    );
    assert!(!cli.path("new").exists());
    assert_eq!(std::fs::read(cli.path("v")).expect("the volume"), before);
    // A folder is no file to be replaced.
    std::fs::create_dir(cli.path("folder")).expect("made");
    for more in ["", "--force --yes", "--hidden 256K"] {
        let words = format!("create @folder --size 1M {more} {with}");
        cli.fails(4, "not-suitable", "name a volume's file or a block device", &words);
    }
    cli.refused(
        "usage",
        "v will be replaced; everything in it will be lost. There now: noise, as an encrypted volume is.",
        &format!("create @v --size 1M --quick --force {with}"),
    );
    assert_eq!(std::fs::read(cli.path("v")).expect("the volume"), before);
    cli.ends(0, &format!("create @v --size 1M --quick --force --yes {with}"));
    assert_ne!(std::fs::read(cli.path("v")).expect("the volume"), before);
}

#[test]
fn hidden_volumes_ask_before_they_overwrite() {
    let cli = Cli::new();
    cli.volume("v");
    cli.keyway.secret("hpw", "another-twenty-characters");
    let with = "--hidden 256K --password-file @pw --pim 1 --hidden-password-file @hpw --hidden-pim 1";
    let before = std::fs::read(cli.path("v")).expect("the volume");
    cli.refused(
        "usage",
        "It is refused where files of the outer volume lie there",
        &format!("create @v {with}"),
    );
    assert_eq!(std::fs::read(cli.path("v")).expect("the volume"), before);
    let made = cli.json(0, &format!("create @v {with} --yes"));
    assert_eq!(
        (made["hidden"].as_bool(), made["data_bytes"].as_u64().is_some()),
        (Some(true), true),
        "{made}"
    );
    assert_eq!(cli.json(0, "info @v --password-file @hpw --pim 1 --hash sha512")["hidden"], true);
    assert_eq!(cli.json(0, "info @v --password-file @pw --pim 1 --hash sha512")["hidden"], false);
    // Both at once; and the outer volume's secret is checked where it is given.
    let both = with.replace("256K", "512K");
    cli.ends(0, &format!("create @both --size 2M --quick {both}"));
    assert_eq!(cli.json(0, "info @both --password-file @hpw --pim 1 --hash sha512")["hidden"], true);
    cli.keyway.secret("wrong", "twenty-characters-and-less");
    cli.keyway.secret("other", "a hidden volume's other secret");
    cli.fails(3, "wrong-secret", "check the password, --keyfile and --pim", "create @v --yes --hidden 256K --password-file @wrong --pim 1 --hidden-password-file @other --hidden-pim 1");
}

#[test]
fn an_interrupted_create_leaves_nothing() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let mut child = cli
        .command(cli.words("create @v --size 1G --password-file @pw --pim 1 --json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("keyway starts");
    // The headers' noise is the first that is written; then the data area is filled.
    let mut filled = || {
        let mut inside = [0; 64];
        let read =
            std::fs::File::open(cli.path("v")).and_then(|file| file.read_exact_at(&mut inside, 1 << 20));
        assert!(child.try_wait().expect("its state").is_none(), "it ended by itself; is the disk full?");
        read.is_ok() && inside != [0; 64]
    };
    wait_until("it is in the middle of it", &mut filled);
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it lives");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(document["error"]["kind"], "interrupted");
    assert!(!cli.path("v").exists());
    // Nothing is filled, and the key takes seconds.
    let words = cli.words("create @w --size 1M --quick --hash argon2id --password-file @pw --json");
    let mut child = cli.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    wait_until("its file is made", || cli.path("w").exists());
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it lives");
    assert_eq!(child.wait().expect("it ends").code(), Some(1), "it was not heard");
    assert!(!cli.path("w").exists());
}

#[test]
fn what_would_wait_for_ever_is_refused() {
    let cli = Cli::new();
    rustix::fs::mknodat(rustix::fs::CWD, cli.path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .expect("a pipe");
    std::fs::create_dir(cli.path("folder")).expect("made");
    let _socket = std::os::unix::net::UnixListener::bind(cli.path("socket")).expect("a socket");
    cli.keyway.secret("pw", PASSWORD);
    // Whatever looks for a volume says the same.
    for verb in [
        "info V",
        "open V",
        "cat V",
        "ls V",
        "get V a",
        "put V @pw",
        "header check V",
        "header backup V @new",
        "header restore V @pw --yes",
        "header repair V",
        "status V",
        "erase V --yes",
        "resize V --size 1M",
        "protector list V",
        "protector change V",
        "protector recovery V",
        "serve V --nbd unix:@s",
        "encrypt V --yes",
        "encrypt V --reencrypt --yes",
        "decrypt V --yes",
        "resume V",
        "pause V",
    ] {
        for (name, what) in [
            ("@pipe", "a pipe"),
            ("@folder", "a folder"),
            ("@socket", "a socket"),
            ("/dev/null", "a character device"),
        ] {
            let words = format!("{} --password-file @pw", verb.replace('V', name));
            let words = match verb {
                "status V" | "pause V" => verb.replace('V', name),
                _ => words,
            };
            cli.fails(4, "not-suitable", &format!("is {what}, not a volume"), &words);
        }
    }
    for words in ["--size 1M --force", "--size 1M --force --dry-run", "--size 1M", "--hidden 256K --yes"] {
        let words = format!("create @pipe {words} --password-file @pw");
        cli.fails(4, "not-suitable", "is a pipe, not a volume", &words);
    }
}

#[test]
fn a_file_system_is_told_as_what_it_is() {
    let cli = Cli::new();
    if cli.make("plain", 8 << 20, "mkfs.ext4", &["-q", "-F"]).is_none() {
        return;
    }
    let status = cli.json(0, "status @plain");
    for (field, said) in [
        ("conversion_status", "Fully Decrypted"),
        ("encryption_method", "None"),
        ("protection_status", "Protection Off"),
        ("lock_status", "Unlocked"),
    ] {
        assert_eq!(status[field], said, "{field}");
    }
    assert_eq!(status["percentage_encrypted"], 0.0);
}

#[test]
fn what_somebody_else_uses_is_not_made_larger_either() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    if cli.make("used", 8 << 20, "mkfs.ext4", &["-q", "-F"]).is_none() {
        return;
    }
    let other = std::fs::File::open(cli.path("used")).expect("the file");
    other.lock().expect("locked");
    let before = std::fs::read(cli.path("used")).expect("the file");
    for grow in ["", " --grow"] {
        cli.fails(
            6,
            "busy",
            "ends, or end it",
            &format!("encrypt @used --password-file @pw --pim 1 --yes{grow}"),
        );
        assert!(std::fs::read(cli.path("used")).expect("the file") == before, "changed{grow}");
    }
}
