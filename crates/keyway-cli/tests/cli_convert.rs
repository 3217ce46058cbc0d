//! `encrypt`, `decrypt`, `pause`, `resume`: whole conversions of real file systems, ended by SIGKILL
//! again and again; afterwards the file systems' own checkers find nothing wrong.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::image::{BOTH, Image, NEW, SECRET, allocated, path};
use cli_support::{Cli, PASSWORD, checked, ext4_bytes};
use keyway_testkit::{Rng, require_root, require_tool, sha256_of_file};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_file_system_becomes_a_volume_gets_new_keys_and_becomes_a_file_system_again() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    let done = cli.json(0, &format!("encrypt @d {SECRET} --yes"));
    assert_eq!((done["state"].as_str(), done["conversion"].as_str()), (Some("done"), Some("encryption")));
    image.decrypted("d", SECRET, "plain");
    image.ext4_is_whole("plain");
    assert_eq!(cli.json(0, "header check @d --password-file @pw --pim 1")["copies"], Value::Null);

    cli.ends(0, &format!("encrypt @d --reencrypt --cipher serpent-aes {BOTH} --yes"));
    cli.fails(
        3,
        "wrong-secret",
        "check the password, --keyfile and --pim",
        &format!("info @d {SECRET} --hash sha512"),
    );
    assert_eq!(cli.json(0, &format!("info @d {NEW}"))["cipher"], "serpent-aes");
    image.decrypted("d", NEW, "plain2");
    assert_eq!(sha256_of_file(&cli.path("plain")), sha256_of_file(&cli.path("plain2")));

    let told = cli.ends(0, &format!("decrypt @d {NEW} --yes"));
    let told = String::from_utf8(told.stderr).expect("text");
    // It was made smaller for the headers, and the command that is named makes it larger again.
    let path = cli.path("d").display().to_string();
    let grows = format!("`e2fsck -f {path} && resize2fs {path}`");
    assert!(told.contains(&format!("before {path} does")) && told.contains(&grows), "{told}");
    image.ext4_is_whole("d");
    assert!(!cli.path("d.keyway-journal").exists());
}

#[test]
fn other_file_systems_come_through_whole() {
    let image = Image::new();
    let cli = &image.cli;
    type Words = &'static [&'static str];
    let kinds: [(&str, Words, &str, Words, &str); 4] = [
        ("mkfs.ntfs", &["-q", "-F"], "ntfsresize", &["--info", "--force", "--no-progress-bar"], ""),
        ("mkfs.exfat", &[], "fsck.exfat", &["-n"], "--grow"),
        ("mkfs.fat", &[], "fsck.fat", &["-n"], "--grow"),
        ("mkfs.btrfs", &["-q"], "btrfs", &["check", "--readonly"], "--grow"),
    ];
    for (mkfs, arguments, checker, check, option) in kinds {
        let size = if mkfs == "mkfs.btrfs" { 120 } else { 40 };
        let Some(()) = cli.make("d", size << 20, mkfs, arguments) else { continue };
        let Some(checker) = require_tool(checker) else { continue };
        let check = |name: &str| checked(Command::new(&checker).args(check).arg(cli.path(name)));
        check("d");
        if !option.is_empty() {
            let refused = cli.json(2, &format!("encrypt @d {SECRET} --yes"));
            assert!(refused["missing_bytes"].as_u64().is_some_and(|n| n > 393_216), "{refused}");
        }
        let done = cli.ends(0, &format!("encrypt @d {SECRET} {option} --yes"));
        let (told, opens) = (String::from_utf8_lossy(&done.stdout), cli.path("d"));
        let opens = format!("Open it with: keyway open {} --pim 1\n", opens.display());
        assert!(told.contains(&opens), "{told}");
        image.decrypted("d", SECRET, "plain");
        check("plain");
        cli.ends(0, &format!("decrypt @d {SECRET} --yes"));
        check("d");
    }
}

#[test]
fn used_space_only_takes_as_long_as_what_is_used() {
    let image = Image::new();
    let cli = &image.cli;
    type Words = &'static [&'static str];
    let kinds: [(&str, Words, &str, Words, &str); 4] = [
        ("mkfs.ext4", &["-q", "-F", "-N", "512", "-J", "size=4"], "e2fsck", &["-f", "-n"], ""),
        ("mkfs.ntfs", &["-q", "-F", "-f"], "ntfsresize", &["--info", "--force", "--no-progress-bar"], ""),
        ("mkfs.exfat", &[], "fsck.exfat", &["-n"], "--grow"),
        ("mkfs.fat", &["-F", "32"], "fsck.fat", &["-n"], "--grow"),
    ];
    for (n, (mkfs, arguments, checker, check, option)) in kinds.into_iter().enumerate() {
        let Some(()) = cli.make("d", 400 << 20, mkfs, arguments) else { continue };
        let Some(checker) = require_tool(checker) else { continue };
        let free = ["trim", "leave", "trim", "fill"][n];
        let words = format!("encrypt @d {SECRET} {option} --used-space-only --free-space {free} --yes");
        let done = cli.json(0, &words);
        assert_eq!((&done["used_space_only"], &done["free_space"]), (&Value::Bool(true), &Value::from(free)));
        let (written, held) = (done["total_bytes"].as_u64().expect("bytes"), allocated(&cli.path("d")));
        if free == "fill" {
            assert!(written > 390 << 20 && held > 390 << 20, "{mkfs}: {written} bytes, {held} on the disk");
        } else {
            assert!(written < 60 << 20 && held < 80 << 20, "{mkfs}: {written} bytes, {held} on the disk");
        }
        image.decrypted("d", SECRET, "plain");
        checked(Command::new(&checker).args(check).arg(cli.path("plain")));
    }
}

/// Kills it at random moments until it is through; how often it was killed.
fn killed(image: &Image, name: &str, begin: &str, resume: &str, rng: &mut Rng) -> u64 {
    let (mut kills, mut words) = (0, begin.to_owned());
    loop {
        let mut child = image.start(&words);
        // Later each time: however slow the machine is, it gets further than the last one.
        let until = Instant::now() + Duration::from_millis(20 + rng.below(220) + 20 * kills);
        let status = loop {
            if let Some(status) = child.try_wait().expect("waits") {
                break Some(status);
            }
            if Instant::now() > until {
                child.kill().expect("SIGKILL");
                child.wait().expect("waits");
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        if let Some(status) = status {
            // Killed before anything was found to resume: it begins again.
            assert!(status.success(), "{words} ended with {status} after {kills} kills");
            return kills;
        }
        kills += 1;
        let tail = std::fs::read(image.cli.path(name)).expect("read");
        let is_under_way = |page: &[u8]| page.windows(15).any(|w| w == b"KEYWAY-CONVERTS");
        let under_way = is_under_way(&tail[..4096]) || is_under_way(&tail[tail.len() - 4096..]);
        words = if under_way { resume.to_owned() } else { begin.to_owned() };
        // A journal whose conversion never began.
        if !under_way {
            let _ = std::fs::remove_file(image.cli.path(&format!("{name}.keyway-journal")));
            if image.cli.run(&format!("info @{name} {SECRET}")).status.success()
                == begin.starts_with("encrypt @d -")
            {
                // It was through when it was killed.
                return kills;
            }
        }
    }
}

#[test]
fn killing_it_at_any_moment_loses_nothing() {
    let wanted = if std::env::var_os("KEYWAY_SLOW").is_some() { 1000 } else { 12 };
    let image = Image::new();
    let (mut kills, mut rounds, mut rng) = (0, 0, Rng::new(std::process::id().into()));
    while kills < wanted {
        let Some(()) = image.ext4("d") else { return };
        let used = ["", "--used-space-only", "--used-space-only --free-space trim"][rounds % 3];
        // Made small enough before, so that nothing but the conversion is killed.
        let resize = require_tool("resize2fs").expect("with mkfs.ext4");
        checked(Command::new(resize).arg(image.cli.path("d")).arg("28M"));
        std::fs::File::options()
            .write(true)
            .open(image.cli.path("d"))
            .expect("opens")
            .set_len(32 << 20)
            .expect("sized");
        let slow = if rounds % 2 == 0 { "--limit 60" } else { "--limit 60 --full-journal" };
        kills += killed(
            &image,
            "d",
            &format!("encrypt @d {SECRET} --yes {slow} {used}"),
            &format!("resume @d {SECRET} {slow}"),
            &mut rng,
        );
        image.decrypted("d", SECRET, "plain");
        image.ext4_is_whole("plain");
        kills += killed(
            &image,
            "d",
            &format!("decrypt @d {SECRET} --yes {slow}"),
            &format!("resume @d {SECRET} {slow}"),
            &mut rng,
        );
        image.ext4_is_whole("d");
        rounds += 1;
    }
    eprintln!("{kills} kills in {rounds} rounds");
}

/// What was encrypted has noise in its free space afterwards, and is no volume for that.
#[test]
fn what_was_decrypted_is_the_file_system_that_it_shows() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    for (mkfs, filesystem, format, pim) in [
        ("mkfs.ntfs", "ntfs", "veracrypt", " --pim 1"),
        ("mkfs.ntfs", "ntfs", "bitlocker", ""),
        ("mkfs.fat", "fat", "veracrypt", " --pim 1"),
    ] {
        if require_tool(mkfs).is_none() {
            continue;
        }
        let opens = format!("--password-file @pw{pim}");
        let size = "--size 66M --force --yes --no-recovery-password";
        let size = if format == "bitlocker" { size } else { "--size 66M --force --yes" };
        cli.ends(0, &format!("create @d {size} --format {format} --filesystem {filesystem} {opens}"));
        cli.ends(0, &format!("decrypt @d {opens} --yes"));
        let name = if filesystem == "ntfs" { "an NTFS file system" } else { "a FAT file system" };
        for words in ["info @d", "ls @d", "open @d", "cat @d"] {
            cli.fails(4, "not-a-volume", name, &format!("{words} --password-file @pw"));
        }
        cli.fails(4, "not-a-volume", name, "info @d");
        assert_eq!(cli.json(0, "status @d")["conversion_status"], "Fully Decrypted");
    }
}

#[test]
fn a_paused_volume_says_what_it_is_and_what_to_do() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    let mut child = image.start(&format!("encrypt @d {SECRET} --yes --limit 1"));
    let began = Instant::now();
    let running = loop {
        let status = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["conversion_status"] == "Encryption in Progress"
            && document["bytes_per_second"].as_u64() > Some(0)
        {
            break document;
        }
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(running["seconds_left"].as_u64().is_some(), "{running}");
    cli.fails(6, "busy", "is being converted by process", &format!("resume @d {SECRET}"));
    for words in [format!("encrypt @d {SECRET} --yes"), format!("decrypt @d {SECRET} --yes")] {
        cli.fails(6, "busy", "is being converted by process", &words);
    }
    let paused = cli.json(0, "pause @d");
    assert_eq!(child.wait().expect("ends").code(), Some(1));
    assert_eq!(paused["conversion_status"], "Encryption Paused");
    cli.fails(1, "paused", "is paused already", "pause @d");
    cli.fails(1, "paused", "keyway resume", "pause @d");
    let percentage = paused["percentage_encrypted"].as_f64().expect("a number");
    assert!(percentage > 0.0 && percentage < 100.0, "{paused}");
    assert_eq!(cli.json(0, "info @d")["conversion"], "encryption");
    for words in [format!("open @d {SECRET}"), format!("cat @d {SECRET}"), "erase @d --yes".to_owned()] {
        let refused = cli.json(1, &words);
        assert_eq!(refused["error"]["kind"], "converting", "{words}: {refused}");
        assert!(refused["error"]["hint"].as_str().is_some_and(|hint| hint.contains("keyway resume")));
    }
    for words in ["encrypt @d --yes", "decrypt @d --yes", "resize @d --size 1G --yes", "erase @d --yes"] {
        cli.fails(1, "converting", "go on with `keyway resume", &format!("{words} {SECRET}"));
    }
    // The PIM is not kept: who types the command without it waits long for nothing.
    let status = String::from_utf8_lossy(&cli.run("status @d").stdout).into_owned();
    let pim = "any --pim and --keyfile";
    assert!(status.contains(pim), "{status}");
    cli.fails(1, "converting", pim, &format!("open @d {SECRET}"));
    assert!(paused["journal_file"].is_null(), "{paused}");
    cli.refused("usage", "leave out --journal", &format!("resume @d {SECRET} --journal @nope"));
    // That it is a volume is known: nobody is sent to look for another file.
    let wrong = &cli.json(3, &format!("resume @d {NEW}"))["error"];
    assert!(
        wrong["hint"].as_str().is_some_and(|hint| hint.contains("they are those that it was begun with")),
        "{wrong}"
    );
    assert!(
        !wrong.to_string().contains("right file") && !wrong.to_string().contains("not a VeraCrypt"),
        "{wrong}"
    );
    let wrong = &cli.json(3, &format!("resume @d {SECRET} --pim 3").replacen("--pim 1", "", 1))["error"];
    assert!(
        wrong["hint"].as_str().is_some_and(|hint| hint.contains("they are those that it was begun with")),
        "{wrong}"
    );
    cli.ends(0, &format!("resume @d {SECRET}"));
    cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
    image.decrypted("d", SECRET, "plain");
    image.ext4_is_whole("plain");
}

/// The journal is on another drive, and that is not mounted when somebody goes on.
#[test]
fn a_journal_that_is_out_of_reach_is_asked_for() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    // Small enough before, so that only the conversion changes it.
    checked(Command::new(require_tool("resize2fs").expect("with it")).arg(cli.path("d")).arg("28M"));
    let file = std::fs::File::options().write(true).open(cli.path("d")).expect("opens");
    file.set_len(32 << 20).expect("sized");
    let before = std::fs::read(cli.path("d")).expect("read");
    std::fs::create_dir(cli.path("away")).expect("made");
    let mut child = image.start(&format!("encrypt @d {SECRET} --yes --limit 1 --journal @away/journal"));
    let began = Instant::now();
    loop {
        let status = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["bytes_per_second"].as_u64() > Some(0) {
            break;
        }
        assert!(child.try_wait().expect("known").is_none(), "it has ended: {document}");
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
        std::thread::sleep(Duration::from_millis(20));
    }
    cli.ends(0, "pause @d");
    child.wait().expect("ends");
    let half = std::fs::read(cli.path("d")).expect("read");
    // As it was found if the power had failed before the marker was in front: the last page alone tells of it.
    let (mut not_begun, page) = (before, half.len() - 4096);
    not_begun[page..].copy_from_slice(&half[page..]);
    let resume = format!("resume @d {SECRET} --journal @away/journal");
    cli.asks_for_its_journal("d", [&half, &not_begun], std::slice::from_ref(&resume));
    std::fs::write(cli.path("d"), &half).expect("written");
    cli.ends(0, &resume);
    assert!(!cli.path("away/journal").exists());
    image.decrypted("d", SECRET, "plain");
    image.ext4_is_whole("plain");
}

/// What is printed at a pause is all that has to be typed to go on, but for the password.
#[test]
fn what_goes_on_with_a_paused_conversion_is_told_in_full() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    std::fs::create_dir(cli.path("away")).expect("made");
    std::fs::write(cli.path("key"), "a keyfile").expect("written");
    let secret = format!("{SECRET} --keyfile @key");
    let words = cli.words(&format!("encrypt @d {secret} --yes --limit 1 --journal @away/journal"));
    let child = cli.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let began = Instant::now();
    let status = || serde_json::from_slice(&cli.run("status @d --json --journal @away/journal").stdout);
    while status().map_or(true, |now: Value| now["done_bytes"].as_u64().is_none_or(|done| done < 4 << 20)) {
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going");
        std::thread::sleep(Duration::from_millis(20));
    }
    let next = format!("keyway resume {} --journal {}", path(cli, "d"), path(cli, "away/journal"));
    let paused = cli.json(0, "pause @d");
    assert_eq!(paused["resume_with"], next, "{paused}");
    assert_eq!(paused["resume_needs"], serde_json::json!(["--pim", "--keyfile"]), "{paused}");
    let said = child.wait_with_output().expect("it ends").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let in_full = format!("go on with `{next} --pim 1 --keyfile {}`", path(cli, "key"));
    assert!(said.contains(&in_full), "{said}");
    // Whoever leaves it out reads where it was.
    cli.fails(
        1,
        "no-journal",
        &format!("--journal {}, where it was", path(cli, "away/journal")),
        &format!("resume @d {secret}"),
    );
    let status = cli.json(0, "status @d --journal @away/journal");
    assert_eq!(status["resume_with"], next, "{status}");
    // Which command tells that, has it as well.
    let all = String::from_utf8_lossy(&cli.run("status").stdout).into_owned();
    let tells = format!("`keyway status {} --journal {}` tells", path(cli, "d"), path(cli, "away/journal"));
    assert!(all.split_whitespace().collect::<Vec<_>>().join(" ").contains(&tells), "{all}");
    let done = cli.json(0, &format!("resume @d {secret} --journal @away/journal"));
    // What was done before took none of this run's time, and is not this run's work.
    let number = |name: &str| done[name].as_f64().expect("a number");
    let now = number("converted_bytes");
    assert!(now > 0.0 && now <= number("total_bytes") - (4 << 20) as f64, "{done}");
    let most = (number("total_bytes") - (4 << 20) as f64) / number("seconds");
    assert!(number("bytes_per_second") <= most + 1.0, "{done}");
}

#[test]
fn what_is_not_built_or_can_not_be_is_refused() {
    let image = Image::new();
    let Some(()) = image.ext4("d") else { return };
    let cli = &image.cli;
    let before = sha256_of_file(&cli.path("d"));
    // A BitLocker volume has no PIM.
    cli.refused(
        "usage",
        "leave --keyfile and --pim out",
        &format!("encrypt @d --format bitlocker {SECRET} --yes"),
    );
    cli.refused("usage", "add --yes if that is what you want", &format!("encrypt @d {SECRET}"));
    cli.refused(
        "usage",
        "`keyway bench` compares them",
        &format!("encrypt @d {SECRET} --cipher rot13 --yes"),
    );
    cli.refused(
        "usage",
        "--used-space-only is missing",
        &format!("encrypt @d {SECRET} --free-space fill --yes"),
    );
    for free in ["fill", "trim"] {
        cli.refused(
            "usage",
            "leave --free-space out, or --online",
            &format!("encrypt @d {SECRET} --used-space-only --free-space {free} --online --yes"),
        );
    }
    cli.refused("usage", "/d` tells what it is", "pause @d");
    cli.refused("usage", "begin one with `keyway encrypt ", &format!("resume @d {SECRET}"));
    cli.fails(
        4,
        "not-a-volume",
        "name the file or device that holds the volume; of a BitLocker volume",
        &format!("decrypt @d {SECRET} --yes"),
    );
    std::fs::write(cli.path("noise"), Rng::new(1).bytes(4 << 20)).expect("written");
    cli.fails(
        4,
        "not-a-volume",
        "/noise`; for new keys of a volume add",
        &format!("encrypt @noise {SECRET} --yes"),
    );
    assert_eq!(sha256_of_file(&cli.path("d")), before, "something was changed");
    // What is refused when the file system is small already makes it as large again.
    std::fs::write(cli.path("journal"), "somebody's").expect("written");
    cli.fails(
        1,
        "exists",
        "no conversion of this volume needs it: if it is an old journal, remove it,",
        &format!("encrypt @d --journal @journal {SECRET} --yes"),
    );
    image.ext4_is_whole("d");
    let small = ext4_bytes(&cli.path("d"));
    assert_eq!(small, 32 << 20, "the file system stayed smaller");
    if require_root() {
        let losetup = require_tool("losetup").expect("util-linux");
        let made =
            Command::new(&losetup).args(["--find", "--show"]).arg(cli.path("d")).output().expect("runs");
        let device = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        if made.status.success() {
            cli.fails(6, "busy", &format!("losetup -d {device}"), &format!("encrypt @d {SECRET} --yes"));
            checked(Command::new(&losetup).arg("--detach").arg(Path::new(&device)));
        }
    }
    // Damaged file systems are not touched.
    let mut bytes = std::fs::read(cli.path("d")).expect("read");
    bytes[4096..65_536].fill(0xee);
    std::fs::write(cli.path("d"), bytes).expect("written");
    assert_eq!(cli.json(1, &format!("encrypt @d {SECRET} --yes"))["error"]["kind"], "damaged-filesystem");
}
