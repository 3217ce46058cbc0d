//! The helper on a real bus, with the real polkitd, asked by ordinary users: what it mounts and for whom, what it refuses, and
//! what is left when somebody goes.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod bus_support;

use bus_support::{BIN, Client, DAEMON, NOBODY, bus, image};
use keyway_mountd::NAME;
use keyway_testkit::{SystemBus, wait_until};
use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::process::Command;

const EXT4: [&str; 4] = ["mkfs.ext4", "-q", "-E", "root_owner=65534:65534"];

/// Not a test: what [`Client`] starts.
#[test]
fn client() {
    bus_support::client();
}

/// The loop devices that are on that file.
fn loops(file: &Path) -> Vec<String> {
    let name = file.file_name().expect("a file").to_str().expect("plain").to_owned();
    let all = fs::read_dir("/sys/block").expect("sysfs").flatten();
    let backing = |at: &Path| fs::read_to_string(at.join("loop/backing_file")).unwrap_or_default();
    let on_it = all.filter(|entry| {
        let file_of = backing(&entry.path());
        // Another test's file may have that name: its folder is another one.
        file_of.contains(&name)
            && file_of.contains(file.parent().and_then(Path::parent).and_then(Path::to_str).expect("plain"))
    });
    on_it.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Nothing is mounted from that file, no loop device is on it, and the user's folder is empty.
#[track_caller]
fn nothing_is_left(bus: &SystemBus, user: &str, file: &Path) {
    assert!(!bus.mounts().contains("/run/media"), "{}", bus.mounts());
    assert_eq!(loops(file), [""; 0]);
    let folders = fs::read_dir(bus.at(format!("/run/media/{user}"))).into_iter().flatten();
    assert_eq!(folders.count(), 0, "a folder is left");
}

/// Waits until the helper has noticed that somebody is gone.
fn wait_until_unmounted(bus: &SystemBus, folder: &str, file: &Path) {
    wait_until("it is taken down", || {
        !bus.mounts().contains(folder) && loops(file).is_empty() && !bus.at(folder).exists()
    });
}

fn does(command: &mut Command) -> bool {
    command.output().expect("it starts").status.success()
}

#[test]
fn a_user_has_a_file_mounted_writes_and_unmounts() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &[&EXT4[..], &["-L", "My Stick"]].concat()) else {
        return;
    };
    let mut client = Client::start(&bus, NOBODY);
    let answer = client.asks(&format!("mount rw 512 {}", file.display()));
    assert!(answer.starts_with("ok /run/media/nobody/My Stick on /dev/loop"), "{answer}");
    assert!(answer.ends_with("ext4 rw clean"), "{answer}");
    let mounted = bus.mounts();
    let line = mounted.lines().find(|line| line.contains("/run/media/nobody/My\\040Stick")).expect("mounted");
    assert!(line.contains("nosuid") && line.contains("nodev") && line.contains(" rw,"), "{line}");
    let at = "/run/media/nobody/My Stick";
    assert!(does(bus.as_user(NOBODY, "sh").args(["-c", &format!("echo a letter > '{at}/letter'")])));
    assert!(client.asks("unmount /run/media/nobody/Other").starts_with("error NotMounted"));
    assert_eq!(client.asks(&format!("unmount {at}")), "ok");
    nothing_is_left(&bus, "nobody", &file);
    assert_eq!(client.mounts(&file), at);
    assert_eq!(fs::read_to_string(bus.at(at).join("letter")).expect("it is there"), "a letter\n");
    // In use it stays.
    let mut sleeps = bus
        .as_user(NOBODY, "sleep")
        .arg("1000")
        .current_dir("/")
        .stdin(fs::File::open(bus.at(at).join("letter")).expect("there"))
        .spawn()
        .expect("it starts");
    assert!(client.asks(&format!("unmount {at}")).starts_with("error Busy"));
    assert!(bus.at(at).join("letter").exists());
    sleeps.kill().expect("it is there");
    sleeps.wait().expect("it was there");
    assert_eq!(client.asks(&format!("unmount {at}")), "ok");
    nothing_is_left(&bus, "nobody", &file);
}

#[test]
fn each_wrong_descriptor_is_refused_by_a_name_of_its_own_and_leaves_nothing() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    let mut client = Client::start(&bus, NOBODY);
    let path = file.display();
    let cases = [
        (format!("path 512 {path}"), "NotOpened"),
        ("pipe 512".to_owned(), "NotAFileOrDevice"),
        ("socket 512".to_owned(), "NotAFileOrDevice"),
        ("ro 512 /".to_owned(), "NotAFileOrDevice"),
        ("ro 512 /dev/null".to_owned(), "NotAFileOrDevice"),
        ("memory 512".to_owned(), "Sealed"),
        (format!("wo 512 {path}"), "NotReadable"),
        (format!("mount rw 513 {path}"), "BadSectors"),
        ("ro 512 /etc/passwd".to_owned(), "NoFileSystem"),
    ];
    for (words, kind) in cases {
        let answer = client.asks(&words);
        assert!(answer.starts_with(&format!("error {kind}: ")), "{words}: {answer}");
        nothing_is_left(&bus, "nobody", &file);
    }
    // Opened for reading, it is mounted for reading.
    let answer = client.asks(&format!("ro 512 {path}"));
    assert!(answer.ends_with("ext4 ro clean"), "{answer}");
    assert!(bus.mounts().lines().any(|line| line.contains("/run/media/nobody") && line.contains(" ro,")));
}

#[test]
fn with_the_caller_goes_all_that_it_had_and_nothing_of_anybody_elses() {
    let Some(bus) = bus() else { return };
    let Some(one) = image(&bus, NOBODY, "one", 16, &[&EXT4[..], &["-L", "ONE"]].concat()) else { return };
    let Some(two) = image(&bus, NOBODY, "two", 16, &[&EXT4[..], &["-L", "TWO"]].concat()) else { return };
    let (mut goes, mut stays) = (Client::start(&bus, NOBODY), Client::start(&bus, NOBODY));
    let (at_one, at_two) = (goes.mounts(&one), stays.mounts(&two));
    // Somebody is in it: it goes all the same.
    let mut sleeps = bus
        .as_user(NOBODY, "sh")
        .args(["-c", &format!("cd {at_one}; exec sleep 1000")])
        .spawn()
        .expect("it starts");
    goes.kill();
    wait_until("it is unmounted", || !bus.mounts().contains(&at_one));
    sleeps.kill().expect("it is there");
    sleeps.wait().expect("it was there");
    wait_until_unmounted(&bus, &at_one, &one);
    assert!(bus.mounts().contains(&at_two) && loops(&two).len() == 1);
    assert_eq!(stays.asks(&format!("unmount {at_two}")), "ok");
    nothing_is_left(&bus, "nobody", &two);
}

/// What somebody else has mounted over a folder does not go with what is below it: not when that is unmounted, and not when
/// its caller is gone.
#[test]
fn what_else_is_mounted_over_it_stays() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    let mut client = Client::start(&bus, NOBODY);
    let at = client.mounts(&file);
    assert!(does(bus.inside("mount").args(["-t", "tmpfs", "theirs", &at])));
    let kept = || bus.mounts().lines().any(|line| line.starts_with(&format!("theirs {at} ")));
    let refused = client.asks(&format!("unmount {at}"));
    assert!(refused.contains("something else is mounted at") && kept(), "{refused}");
    client.kill();
    // The helper hears of it a moment later: one that is mounted after that was answered behind it.
    let Some(second) = image(&bus, NOBODY, "second", 16, &EXT4) else { return };
    let mut last = Client::start(&bus, NOBODY);
    let other = last.mounts(&second);
    assert_eq!(last.asks(&format!("unmount {other}")), "ok");
    assert!(kept(), "{}", bus.mounts());
    // Below it the volume is as it was, and its device goes with the last mount.
    assert!(does(bus.inside("umount").arg(&at)) && does(bus.inside("umount").arg(&at)), "{}", bus.mounts());
    wait_until("its device is gone", || loops(&file).is_empty());
}

#[test]
fn who_goes_at_whatever_moment_leaves_nothing() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    for pause in 0..8u64 {
        let mut client = Client::start(&bus, NOBODY);
        // It is on the bus when it has been answered once.
        client.asks("unmount /nowhere");
        client.says(&format!("mount rw 512 {}", file.display()));
        std::thread::sleep(std::time::Duration::from_millis(pause * pause));
        client.kill();
    }
    // What is heard later is answered later: this one comes behind all of them.
    let mut last = Client::start(&bus, NOBODY);
    wait_until("all of it is gone", || {
        !bus.mounts().contains("/run/media/nobody/") && loops(&file).is_empty()
    });
    last.asks("unmount /nowhere");
    let folders = || fs::read_dir(bus.at("/run/media/nobody")).into_iter().flatten().count();
    wait_until("no folder is left", || folders() == 0);
}

#[test]
fn two_users_do_not_reach_each_others_files() {
    let Some(bus) = bus() else { return };
    // Everybody may do everything in this one: what keeps the other out is where it is mounted.
    let Some(file) = image(&bus, NOBODY, "image", 16, &[&EXT4[..], &["-L", "MINE"]].concat()) else { return };
    let Some(theirs) = image(&bus, DAEMON, "image", 16, &[&EXT4[..], &["-L", "MINE"]].concat()) else {
        return;
    };
    let (mut client, mut other) = (Client::start(&bus, NOBODY), Client::start(&bus, DAEMON));
    let at = client.mounts(&file);
    assert!(does(bus.as_user(NOBODY, "chmod").args(["0777", &at])));
    assert!(does(bus.as_user(NOBODY, "ls").arg(&at)));
    assert!(
        !does(bus.as_user(DAEMON, "ls").arg(&at))
            && !does(bus.as_user(DAEMON, "touch").arg(format!("{at}/x")))
    );
    let refused = other.asks(&format!("unmount {at}"));
    assert!(refused.starts_with("error NotAuthorized: polkit does not allow org.keyway.change"), "{refused}");
    // The same label is no place of the other's.
    assert_eq!(other.mounts(&theirs), "/run/media/daemon/MINE");
    assert!(bus.mounts().contains(&at));
    // Nobody makes room for a link in the folder that root mounts in.
    for words in [["ln", "-s", "/etc"], ["mv", "-T", &at]] {
        assert!(!does(bus.as_user(NOBODY, words[0]).args(&words[1..]).arg("/run/media/nobody/link")));
    }
}

#[test]
fn a_no_of_polkits_is_told_in_words() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, BIN, "image", 16, &EXT4) else { return };
    let answer = Client::start(&bus, BIN).asks(&format!("mount rw 512 {}", file.display()));
    assert_eq!(answer, "error NotAuthorized: polkit does not allow org.keyway.mount");
    nothing_is_left(&bus, "bin", &file);
}

#[test]
fn hostile_labels_are_folders_of_that_user_and_a_taken_one_gets_a_number() {
    let Some(bus) = bus() else { return };
    let mut client = Client::start(&bus, NOBODY);
    let labels = [
        ("../../../etc", "_._.._.._etc"),
        ("two\nlines", "two_lines"),
        ("two\nlines", "two_lines1"),
        (".hidden", "_hidden"),
    ];
    for (i, (label, name)) in labels.into_iter().enumerate() {
        let words = [&EXT4[..], &["-L", label]].concat();
        let Some(file) = image(&bus, NOBODY, &format!("image{i}"), 8, &words) else { return };
        assert_eq!(client.mounts(&file), format!("/run/media/nobody/{name}"), "{label:?}");
    }
    let Some(file) = image(
        &bus,
        NOBODY,
        "none",
        8,
        &[&EXT4[..], &["-U", "01234567-89ab-cdef-0123-456789abcdef"]].concat(),
    ) else {
        return;
    };
    assert_eq!(client.mounts(&file), "/run/media/nobody/01234567-89ab-cdef-0123-456789abcdef");
}

#[test]
fn what_does_not_mount_leaves_nothing() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    // The superblock is well, what it stands for is not.
    let bytes = fs::File::options().write(true).open(&file).expect("ours");
    bytes.write_all_at(&[0xff; 64 << 10], 2048).expect("room");
    let mut client = Client::start(&bus, NOBODY);
    let answer = client.asks(&format!("mount rw 512 {}", file.display()));
    assert!(answer.starts_with("error Failed: could not mount the ext4 in it"), "{answer}");
    nothing_is_left(&bus, "nobody", &file);
    let Some(fat) = image(&bus, NOBODY, "fat", 16, &["mkfs.fat", "-F", "16", "-n", "STICK"]) else { return };
    let answer = client.asks(&format!("mount rw 512 {}", fat.display()));
    // Not every kernel has it.
    if answer.starts_with("error") {
        assert!(answer.starts_with("error NoDriver: this kernel has no driver for vfat"), "{answer}");
        nothing_is_left(&bus, "nobody", &fat);
    } else {
        assert!(
            does(bus.as_user(NOBODY, "touch").arg("/run/media/nobody/STICK/letter")),
            "it is this user's"
        );
    }
    let rare = client.asks(&format!("mount rw 512 {}", rare(&bus).display()));
    assert!(rare.starts_with("error NoFileSystem: SquashFS is mounted by root alone"), "{rare}");
}

/// The beginning of a file system whose driver is not for users.
fn rare(bus: &SystemBus) -> std::path::PathBuf {
    let path = bus.folder_of(NOBODY).join("rare");
    fs::write(&path, [&b"hsqs"[..], &[0; 8192]].concat()).expect("room");
    std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).expect("we are root");
    path
}

#[test]
fn what_was_not_left_in_order_is_only_read() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    let bytes = fs::File::options().write(true).open(&file).expect("ours");
    bytes.write_all_at(&[3, 0], 1024 + 0x3a).expect("room");
    let before = fs::read(&file).expect("ours");
    let mut client = Client::start(&bus, NOBODY);
    let answer = client.asks(&format!("mount rw 512 {}", file.display()));
    // ext4 may say that its checksum is wrong now: then it is not mounted at all.
    if answer.starts_with("ok") {
        assert!(answer.ends_with("ext4 ro unclean"), "{answer}");
        client.kill();
        wait_until("it is gone", || loops(&file).is_empty());
    }
    assert!(fs::read(&file).expect("ours") == before, "it was written to");
}

#[test]
fn ten_thousand_requests_get_an_answer_each_and_one_user_does_not_keep_another_waiting() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &EXT4) else { return };
    let Some(theirs) = image(&bus, DAEMON, "image", 16, &EXT4) else { return };
    let (mut client, mut other) = (Client::start(&bus, NOBODY), Client::start(&bus, DAEMON));
    let count = 10_000;
    client.says(&format!("flood {count} {}", file.display()));
    other.mounts(&theirs);
    let answer = client.answer();
    let of = |kind: &str| {
        let (_, rest) = answer.split_once(&format!("\"{kind}\": ")).unwrap_or(("", "0"));
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<usize>().expect("a number")
    };
    // A file is mounted once; what is asked for at once is bounded.
    assert_eq!((of("ok"), of("ok") + of("InUse") + of("TooMany")), (1, count), "{answer}");
    assert!(of("TooMany") >= count / 2, "{answer}");
    assert!(bus.has(NAME), "the helper is still there");
    client.kill();
    wait_until("all of it is gone", || !bus.mounts().contains("/run/media/nobody/"));
}

#[test]
fn a_helper_that_was_killed_remembers() {
    let Some(bus) = bus() else { return };
    let Some(one) = image(&bus, NOBODY, "one", 16, &[&EXT4[..], &["-L", "ONE"]].concat()) else { return };
    let Some(two) = image(&bus, NOBODY, "two", 16, &[&EXT4[..], &["-L", "TWO"]].concat()) else { return };
    let (mut stays, mut goes) = (Client::start(&bus, NOBODY), Client::start(&bus, NOBODY));
    let (at_one, at_two) = (stays.mounts(&one), goes.mounts(&two));
    let helper = bus.process_of(NAME).expect("it is there");
    assert!(does(Command::new("kill").args(["-KILL", &helper.to_string()])));
    wait_until("it is gone", || !bus.has(NAME));
    goes.kill();
    // The bus starts another one.
    assert!(stays.asks("unmount /nowhere").starts_with("error NotMounted"));
    wait_until_unmounted(&bus, &at_two, &two);
    assert!(bus.mounts().contains(&at_one), "who is still there keeps what he has");
    assert_eq!(stays.asks(&format!("unmount {at_one}")), "ok");
    nothing_is_left(&bus, "nobody", &one);
}

/// Whoever swaps the file behind its name swaps nothing: the descriptor is what counts.
#[test]
fn a_file_that_is_swapped_or_cut_behind_it_harms_nobody() {
    let Some(bus) = bus() else { return };
    let Some(file) = image(&bus, NOBODY, "image", 16, &[&EXT4[..], &["-L", "MINE"]].concat()) else { return };
    let mut client = Client::start(&bus, NOBODY);
    let at = client.mounts(&file);
    let aside = file.with_extension("aside");
    fs::rename(&file, &aside).expect("ours");
    symlink("/etc/passwd", &file).expect("ours");
    assert!(does(bus.as_user(NOBODY, "touch").arg(format!("{at}/letter"))));
    fs::File::options().write(true).open(&aside).expect("ours").set_len(4096).expect("cut");
    // Its user sees errors; the helper takes it down all the same.
    client.kill();
    wait_until("it is taken down", || !bus.mounts().contains(&at) && loops(&aside).is_empty());
    let mut other = Client::start(&bus, DAEMON);
    assert!(other.asks("unmount /nowhere").starts_with("error NotMounted"), "the helper is well");
}
