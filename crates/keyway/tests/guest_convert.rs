//! cryptsetup and dm-crypt of a stock kernel open what was converted in place, its kernel mounts what is
//! inside, and e2fsck finds nothing wrong.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::{Guest, Rng, require_tool, sha256_of, skip};
use std::process::Command;
use std::time::Duration;

#[test]
fn the_kernel_opens_what_was_converted() {
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
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
    let secret = "--password-file @job/password --pim 1 --yes";
    for (name, first, second) in [
        ("encrypted", "aes", None),
        ("cascade", "aes-twofish-serpent", None),
        ("again", "aes", Some("serpent")),
    ] {
        let image = format!("job/converted-{name}");
        let path = cli.path(&image);
        std::fs::File::create(&path).expect("created").set_len(24 << 20).expect("sized");
        let done =
            Command::new(&mkfs).args(["-q", "-F", "-d"]).args([&content, &path]).output().expect("runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        cli.ends(0, &format!("encrypt @{image} {secret} --cipher {first}"));
        if let Some(second) = second {
            cli.ends(0, &format!("encrypt @{image} --reencrypt {secret} --cipher {second}"));
        }
        // cryptsetup names a cascade from the innermost cipher on.
        let layers: Vec<&str> = second.unwrap_or(first).split('-').rev().collect();
        let cipher = layers.join("-");
        std::fs::write(folder.join(format!("cipher-{name}")), cipher).expect("written");
    }
    let Some(run) = Guest::new().timeout(Duration::from_secs(240)).run(&folder) else { return };
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
    assert_eq!(judged, 3, "{results}");
}
