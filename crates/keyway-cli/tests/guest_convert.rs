//! cryptsetup and dm-crypt of a stock kernel open what was converted in place, its kernel mounts what is
//! inside, and the file systems' own checkers find nothing wrong.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{Guest, NtfsMount, Rng, require_tool, sha256_of, skip};
use std::path::Path;
use std::process::Command;

/// A converted volume: how it came about, and what the guest is told of it.
struct Made {
    name: &'static str,
    filesystem: &'static str,
    mebibytes: u64,
    /// What is done to the file system, one after the other; the image and the secret are put in.
    verbs: &'static [&'static str],
    /// What cryptsetup takes it for, and its cipher there.
    judged_as: &'static str,
}

const VOLUMES: [Made; 11] = [
    made("encrypted", "ext4", 24, &["encrypt IMAGE SECRET --cipher aes"], "tcrypt aes"),
    // cryptsetup names a cascade from the innermost cipher on.
    made(
        "cascade",
        "ext4",
        24,
        &["encrypt IMAGE SECRET --cipher aes-twofish-serpent"],
        "tcrypt serpent-twofish-aes",
    ),
    made(
        "again",
        "ext4",
        24,
        &["encrypt IMAGE SECRET", "encrypt IMAGE --reencrypt SECRET --cipher serpent"],
        "tcrypt serpent",
    ),
    made(
        "used-trimmed",
        "ext4",
        200,
        &["encrypt IMAGE SECRET --used-space-only --free-space trim"],
        "tcrypt aes",
    ),
    made("used-ntfs", "ntfs3", 80, &["encrypt IMAGE SECRET --used-space-only"], "tcrypt aes"),
    made("back", "ext4", 24, &["encrypt IMAGE SECRET", "decrypt IMAGE SECRET"], "plain -"),
    made("bitlocker", "ext4", 80, &["encrypt IMAGE --format bitlocker OWN"], "bitlk -"),
    made(
        "bitlocker-ntfs",
        "ntfs3",
        80,
        &["encrypt IMAGE --format bitlocker OWN --used-space-only --cipher aes-cbc-128"],
        "bitlk -",
    ),
    made(
        "bitlocker-again",
        "ext4",
        80,
        &[
            "encrypt IMAGE --format bitlocker OWN --cipher aes-cbc-256",
            "encrypt IMAGE --reencrypt OWN --cipher aes-xts-256",
        ],
        "bitlk -",
    ),
    made(
        "to-bitlocker",
        "ext4",
        80,
        &["encrypt IMAGE SECRET", "encrypt IMAGE --reencrypt --format bitlocker SECRET SAME"],
        "bitlk -",
    ),
    made(
        "to-veracrypt",
        "ext4",
        80,
        &[
            "encrypt IMAGE --format bitlocker OWN --cipher aes-cbc-128",
            "encrypt IMAGE --reencrypt --format veracrypt OWN SAME --new-pim 1 --cipher serpent",
        ],
        "tcrypt serpent",
    ),
];

const fn made(
    name: &'static str,
    filesystem: &'static str,
    mebibytes: u64,
    verbs: &'static [&'static str],
    judged_as: &'static str,
) -> Made {
    Made { name, filesystem, mebibytes, verbs, judged_as }
}

/// A file system with a file in it; `None` where this machine can't make it.
fn file_system(made: &Made, path: &Path, content: &Path) -> Option<()> {
    let ext4 = made.filesystem == "ext4";
    let mkfs = require_tool(if ext4 { "mkfs.ext4" } else { "mkfs.ntfs" })?;
    std::fs::File::create(path).expect("created").set_len(made.mebibytes << 20).expect("sized");
    let mut command = Command::new(mkfs);
    match ext4 {
        true => command.args(["-q", "-F", "-d"]).arg(content),
        false => command.args(["-q", "-F", "-f"]),
    };
    let done = command.arg(path).output().expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    if !ext4 {
        std::fs::copy(content.join("big"), NtfsMount::open(path)?.path("big")).expect("copied");
    }
    Some(())
}

#[test]
fn the_kernel_opens_what_was_converted() {
    let cli = Cli::new();
    let folder = cli.path("job");
    let content = cli.path("content");
    for folder in [&folder, &content] {
        std::fs::create_dir_all(folder).expect("made");
    }
    let big = Rng::new(11).bytes(5 << 20);
    std::fs::write(content.join("big"), &big).expect("written");
    std::fs::write(folder.join("password"), PASSWORD).expect("written");
    std::fs::write(folder.join("run.sh"), include_str!("guest_convert.sh")).expect("written");
    let mut wanted = 0;
    for volume in &VOLUMES {
        let image = format!("job/converted-{}", volume.name);
        let Some(()) = file_system(volume, &cli.path(&image), &content) else { continue };
        for verb in volume.verbs {
            let words = verb
                .replace("IMAGE", &format!("@{image}"))
                .replace("SECRET", "--password-file @job/password --pim 1 --yes")
                .replace("SAME", "--new-password-file @job/password")
                .replace("OWN", "--password-file @job/password --yes");
            cli.ends(0, &words);
        }
        let how = format!("{} {}\n", volume.judged_as, volume.filesystem);
        std::fs::write(folder.join(format!("how-{}", volume.name)), how).expect("written");
        wanted += 1;
    }
    let Some(run) = Guest::new().run(&folder) else { return };
    assert_eq!(run.code, Some(0), "{}", run.output);
    let results = std::fs::read_to_string(folder.join("results.tsv")).expect("results");
    let hash = sha256_of(&big[..]);
    let mut judged = 0;
    for line in results.lines() {
        let [name, verdict, sum] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!((verdict, sum), ("clean", hash.as_str()), "{name}: {}", run.output);
        judged += 1;
    }
    if judged == 0 {
        skip("the guest judged nothing");
    }
    assert_eq!(judged, wanted, "{results}");
    eprintln!("{judged} volumes judged");
}
