//! The guide's commands, run as they stand there, page by page, on a terminal; where a page shows what they print, that is what
//! they print. So the pages can't go stale, and each is the hour of somebody who lived through it.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;
mod guide_support;

use cli_support::transcript::{Page, Shown, Terminal, commands, compare};
use guide_support::{PSID, World};
use keyway_testkit::{leave_out, require_fuse, require_root, require_tool, workspace_root};
use std::collections::BTreeMap;

/// What is different each time, as the pages have it: devices' numbers, processes, names of sessions and file systems.
const VARIES: [&str; 15] = [
    // A machine.
    "AMD EPYC, 2 core(s)",
    "aes sse4_1 ssse3 avx2 vaes vpclmulqdq sha_ni",
    "portable, sse, avx2; avx2 would be chosen, the fastest",
    "23.5 GiB, 21.8 GiB of it to be had",
    "ext4 exfat ntfs fat btrfs xfs",
    "fuse+loop: FUSE works and this user may make loop devices, so file systems can be mounted",
    "KWJVQUR3X94QHU",
    "H44D5NUN8Y8AA9KGUCK7KNBB9PDW7HJA",
    PSID,
    "/dev/loop4",
    "/run/keyway/e2c16b0d/mnt/volume",
    "13ce72ba-ab4e-49df-8d23-eb81804ffb06",
    "126401-706200-110869-563981-630377-638649-011275-167145",
    "4711",
    "2026-06-14T10:05:31Z",
];

/// What is said of each page that has blocks: how many of its commands are run, and how many are not, for a reason that stands there.
const COUNTED: [(&str, usize, usize); 9] = [
    ("encrypt-a-drive.md", 12, 2),
    ("from-veracrypt.md", 14, 0),
    ("in-scripts.md", 18, 2),
    ("self-encrypting-drives.md", 6, 10),
    ("tpm.md", 0, 4),
    ("virtual-machines.md", 6, 4),
    ("what-to-switch-on.md", 5, 2),
    ("when-it-wont-open.md", 10, 0),
    ("windows-stick.md", 16, 0),
];

fn page(name: &str) -> String {
    std::fs::read_to_string(workspace_root().join("docs/guide").join(name)).expect("the page")
}

/// Whether a page shows an error there: its first line, and below it what helps.
fn shows_an_error(told: &[String]) -> bool {
    let mut lines = told.iter().skip_while(|line| {
        !line.starts_with("keyway: ") || line.starts_with("keyway: warning") || line.contains(" is a disk; ")
    });
    lines.next().is_some() && lines.next().is_some_and(|line| line.starts_with("        "))
}

/// Lives through a page.
fn read(name: &str, world: &World) {
    let Some(script) = require_tool("script") else { return };
    let terminal =
        Terminal { cli: &world.cli, names: world.names, answers: &|question| world.answer(question) };
    for Shown { command, output, not_run, figures } in commands(&page(name)) {
        if not_run.is_some() {
            continue;
        }
        if !world.can_be_run(&command) {
            leave_out(&format!("{name}: `{command}` needs the foreign volumes"));
            continue;
        }
        world.prepare(&command);
        let (ended, mut shown) = terminal.run(&script, &world.shorter(&command));
        if !command.contains(" --pim ") {
            shown.iter_mut().for_each(|line| *line = line.replace(" --pim 7", ""));
        }
        assert_eq!(
            ended,
            command.contains(" || ") || !shows_an_error(&output),
            "{name}: {command}\n{}",
            shown.join("\n")
        );
        if !output.is_empty() {
            compare(&Page { name, varies: &VARIES, columns: false, figures }, &command, &output, &shown);
        }
        world.tidy(&command, &shown);
    }
}

/// Whether this machine can be the one of the pages.
fn can_read() -> bool {
    require_root()
        && require_fuse()
        && ["mkfs.ext4", "mkfs.ntfs", "mkfs.fat", "sfdisk", "jq"]
            .iter()
            .all(|tool| require_tool(tool).is_some())
}

#[test]
fn a_photographer_with_a_stick_from_windows() {
    if can_read() {
        read("windows-stick.md", &World::with_a_stick());
    }
}

#[test]
fn somebody_who_comes_from_veracrypt() {
    if can_read() {
        read("from-veracrypt.md", &World::with_containers());
    }
}

#[test]
fn an_administrator_who_scripts_it() {
    if can_read() {
        read("in-scripts.md", &World::with_letters());
    }
}

#[test]
fn somebody_who_wants_to_know_what_to_switch_on() {
    if can_read() {
        read("what-to-switch-on.md", &World::empty());
    }
}

#[test]
fn somebody_who_encrypts_a_drive() {
    if let Some(world) = can_read().then(World::with_drives).flatten() {
        read("encrypt-a-drive.md", &world);
    }
}

#[test]
fn somebody_whose_volumes_won_t_open() {
    if can_read() {
        read("when-it-wont-open.md", &World::with_damage());
    }
}

#[test]
fn somebody_with_a_virtual_machine() {
    if can_read() && ["nbdcopy", "nbdinfo"].iter().all(|tool| require_tool(tool).is_some()) {
        read("virtual-machines.md", &World::with_a_machine());
    }
}

#[test]
fn somebody_with_a_drive_that_encrypts_by_itself() {
    if can_read() {
        read("self-encrypting-drives.md", &World::empty());
    }
}

#[test]
fn every_command_of_the_guide_is_run_or_says_why_not() {
    let folder = std::fs::read_dir(workspace_root().join("docs/guide")).expect("the guide");
    let mut counted = BTreeMap::new();
    for entry in folder {
        let name = entry.expect("an entry").file_name().into_string().expect("plain");
        let all = commands(&page(&name));
        let not_run = all.iter().filter(|shown| shown.not_run.is_some()).count();
        if !all.is_empty() {
            counted.insert(name, (all.len() - not_run, not_run));
        }
    }
    let told = COUNTED.iter().map(|(name, run, not)| ((*name).to_owned(), (*run, *not))).collect();
    assert_eq!(counted, told, "the pages' commands (run, not run) are others than this test knows of");
}
