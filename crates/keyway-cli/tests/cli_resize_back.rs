//! `resize`: what has grown goes back to where it was, with everything in it, however full it is. A few shapes; many
//! with `KEYWAY_SLOW=1`.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked};
use keyway_testkit::{Rng, require_fuse, require_tool};
use std::process::Command;

const MIB: u64 = 1 << 20;

/// A file system as it is made, and what may be in it.
struct Case {
    mkfs: &'static str,
    arguments: &'static [&'static str],
    checker: &'static str,
    check: &'static [&'static str],
    /// Bytes of its file.
    bytes: u64,
    /// Percent of it that files take, in ext4.
    full: u64,
}

const EXT: Case = Case {
    mkfs: "mkfs.ext4",
    arguments: &["-q", "-F", "-d", "in"],
    checker: "e2fsck",
    check: &["-f", "-n"],
    bytes: 100 * MIB,
    full: 70,
};

const NTFS: Case = Case {
    mkfs: "mkfs.ntfs",
    arguments: &["-q", "-F", "-Q"],
    checker: "ntfsresize",
    check: &["--info", "--force", "--bad-sectors", "--no-progress-bar"],
    bytes: 100 * MIB,
    full: 0,
};

const EXFAT: Case = Case {
    mkfs: "mkfs.exfat",
    arguments: &[],
    checker: "fsck.exfat",
    check: &["-n"],
    bytes: 100_000_256,
    full: 0,
};

const FAT: Case = Case {
    mkfs: "mkfs.fat",
    arguments: &["-F", "32"],
    checker: "fsck.fat",
    check: &["-n"],
    bytes: 131_072 * 801,
    full: 0,
};

fn is_slow() -> bool {
    std::env::var_os("KEYWAY_SLOW").is_some_and(|value| value == "1")
}

const FORMATS: [(&str, &str); 2] =
    [("veracrypt", "--password-file @pw --pim 1"), ("bitlocker", "--password-file @pw")];

/// Makes it, encrypts it with room behind it, has it grow to each of these sizes, and go back.
fn there_and_back(case: &Case, (format, secret): (&str, &str), steps: &[u64]) {
    let (Some(mkfs), Some(checker), true) =
        (require_tool(case.mkfs), require_tool(case.checker), require_fuse())
    else {
        return;
    };
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    std::fs::create_dir(cli.path("in")).expect("created");
    let content = Rng::new(case.bytes).bytes((case.bytes / 100 * case.full) as usize);
    for (n, piece) in content.chunks(4 << 20).enumerate() {
        std::fs::write(cli.path(&format!("in/{n}")), piece).expect("written");
    }
    let v = cli.path("v");
    std::fs::File::create(&v).and_then(|f| f.set_len(case.bytes)).expect("created");
    checked(Command::new(mkfs).args(case.arguments).arg(&v).current_dir(cli.path(".")));
    let recovery = if format == "bitlocker" { "--no-recovery-password" } else { "" };
    cli.ends(0, &format!("encrypt @v --format {format} {recovery} --grow --yes {secret}"));
    let len = || v.metadata().expect("there").len();
    let was = len();
    let data = |bytes: u64| {
        let done = cli.json(0, &format!("resize @v --size {bytes} --quick --yes {secret}"));
        assert_eq!(len(), bytes, "{done}");
        done["data_bytes"].as_u64().expect("a number")
    };
    for step in steps {
        data(*step);
    }
    let back = data(was);
    assert!(was - back <= 256 << 10, "{was} {back}");
    let plain = cli.path("plain");
    std::fs::write(&plain, cli.ends(0, &format!("cat @v {secret}")).stdout).expect("written");
    checked(Command::new(checker).args(case.check).arg(&plain));
    for (n, piece) in content.chunks(4 << 20).enumerate() {
        cli.ends(0, &format!("get @v /{n} @got {secret} --json"));
        assert!(std::fs::read(cli.path("got")).expect("copied") == piece, "file {n} is another one");
        std::fs::remove_file(cli.path("got")).expect("removed");
    }
    eprintln!("{} {:?}, {}% full, as {format}, by {steps:?}", case.mkfs, case.arguments, case.full);
}

/// `resize2fs` estimates what it needs, and asks for far more than that where blocks are small.
#[test]
fn a_full_ext4_goes_back_to_where_it_was() {
    for format in FORMATS {
        there_and_back(&EXT, format, &[200 * MIB]);
    }
    there_and_back(&Case { full: 84, ..EXT }, FORMATS[0], &[600 * MIB]);
}

#[test]
fn other_file_systems_go_back_to_where_they_were() {
    for (case, steps) in [(NTFS, [160 * MIB, 301 * MIB]), (EXFAT, [102 * MIB, 500 * MIB])] {
        there_and_back(&case, FORMATS[1], &steps);
    }
    there_and_back(&FAT, FORMATS[0], &[102 * MIB, 1000 * MIB]);
}

/// By both of its headers: nothing tells of it, so what may be its backup header goes where it has to be.
#[test]
fn a_hidden_volume_is_there_when_its_outer_one_is_back() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("hidden", "another secret");
    let (outer, hidden) = (FORMATS[0].1, "--password-file @hidden --pim 1");
    cli.ends(0, &format!("create @v --size 16M --quick {outer}"));
    let its = "--hidden-password-file @hidden --hidden-pim 1";
    cli.ends(0, &format!("create @v --hidden 4M --quick --yes {outer} {its}"));
    let content = |header| cli.ends(0, &format!("cat @v --header {header} {hidden}")).stdout;
    let was = content("backup");
    for mebibytes in [17, 40, 16] {
        cli.ends(0, &format!("resize @v --size {mebibytes}M --quick --yes {outer}"));
        assert!(content("primary") == was && content("backup") == was, "{mebibytes} MiB");
    }
}

/// Each by each.
#[test]
fn many_shapes_go_back_to_where_they_were() {
    if !is_slow() {
        return;
    }
    let features: [&[&str]; 7] = [
        &[],
        &["-b", "4096"],
        &["-b", "1024", "-m", "0"],
        &["-O", "^resize_inode"],
        &["-O", "^flex_bg,^64bit"],
        &["-O", "sparse_super2,^resize_inode"],
        &["-O", "^has_journal,^extents,^64bit"],
    ];
    for bytes in [64 * MIB + 4096, 100_000_256] {
        for feature in features {
            for full in [0, 50, 83] {
                for (format, larger) in [(FORMATS[0], bytes + bytes / 100), (FORMATS[1], bytes * 8)] {
                    let steps = [(bytes + 9 * MIB) / 4096 * 4096, (larger + 12 * MIB) / 4096 * 4096];
                    let arguments: &'static [&'static str] =
                        Box::leak([EXT.arguments, feature].concat().into_boxed_slice());
                    there_and_back(&Case { bytes, full, arguments, ..EXT }, format, &steps);
                }
            }
        }
        for case in [NTFS, EXFAT, FAT] {
            for format in FORMATS {
                let steps = [bytes / 4096 * 4096 + 9 * MIB, bytes / 4096 * 4096 * 9];
                let bytes = bytes / 4096 * 4096;
                there_and_back(&Case { bytes, ..case }, format, &steps);
            }
        }
    }
}
