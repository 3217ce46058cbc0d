//! `keyway drive`: ranges, users, and what else a virtual drive keeps beside its data.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::virtual_drive::{ADMIN, USER, made, set_up};

#[test]
fn ranges() {
    let cli = set_up();
    let set = |words: &str| format!("drive range set @drive {words} {ADMIN}");
    cli.refused("usage", "add --yes if that is what you want", &set("1 --start 1M --length 4M"));
    cli.ends(0, &set("1 --start 1M --length 4M --yes"));
    cli.fails(1, "not-now", "it overlaps another range", &set("2 --start 2M --length 4M --yes"));
    cli.fails(1, "not-now", "tells the block size", &set("2 --start 1000 --length 4M --yes"));
    cli.refused("usage", "name another", &set("0 --start 1M --length 4M --yes"));
    cli.refused("usage", "use `keyway drive range remove", &set("2 --start 1M --length 0 --yes"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"].as_array().map(Vec::len), Some(2));
    let range = &list["ranges"][1];
    assert_eq!((&range["start_bytes"], &range["length_bytes"]), (&(1 << 20).into(), &(4 << 20).into()));
    assert_eq!((&range["state"], &range["locks_on_power_cycle"]), (&"locked".into(), &true.into()));
    let text = cli.ends(0, &format!("drive range list @drive {ADMIN}")).stdout;
    assert!(String::from_utf8_lossy(&text).contains("4 MiB"));
    // A range is named, since the rest of the drive stays as it was.
    let told = |words: &str| {
        String::from_utf8_lossy(&cli.ends(0, &format!("drive {words} {ADMIN}")).stdout).into_owned()
    };
    assert!(
        told("unlock @drive --range 0 --range 1").contains(", range 0, 1: unlocked for reading and writing")
    );
    assert!(told("unlock @drive").contains(" is unlocked for reading and writing, as "));
    cli.ends(0, &format!("drive range disable @drive 1 {ADMIN}"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"][1]["state"], "never locks");
    cli.fails(1, "not-now", "range enable", &format!("drive lock @drive --range 1 {ADMIN}"));
    cli.ends(0, &format!("drive range enable @drive 1 {ADMIN}"));
    cli.refused("usage", "Everything in range 1 of", &format!("drive erase @drive --range 1 {ADMIN}"));
    cli.ends(0, &format!("drive erase @drive --range 1 {ADMIN} --yes"));
    cli.ends(0, &format!("drive range remove @drive 1 {ADMIN} --yes"));
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(list["ranges"].as_array().map(Vec::len), Some(1));
    cli.refused("usage", "name another", &format!("drive range remove @drive 0 {ADMIN} --yes"));
    // A drive takes every word for a range that was never placed, and there is nothing that it could lock.
    for words in [
        "lock @drive --range 0 --range 3 --as admin1",
        "unlock @drive --range 3",
        "erase @drive --range 3 --yes",
        "range enable @drive 3",
    ] {
        let words = format!("drive {words} {ADMIN}");
        cli.fails(1, "not-now", "N --start SIZE --length SIZE", &words);
    }
    // Drives call this not allowed.
    for words in
        ["lock @drive --range 99 --as admin1", "erase @drive --range 99 --yes", "range enable @drive 99"]
    {
        let words = format!("drive {words} {ADMIN}");
        cli.refused("usage", "has no range 99: besides range 0 it has 8", &words);
    }
    // A drive leaves what a user may not see out of its answer.
    let others = format!("drive erase @drive --as user1 {USER} --yes");
    cli.fails(5, "not-allowed", "user 1 may not do that", &others);
}

#[test]
fn users() {
    let cli = set_up();
    let list = cli.json(0, &format!("drive user list @drive {ADMIN}"));
    assert_eq!((&list["users"][0]["user"], &list["users"][0]["enabled"]), (&"user1".into(), &true.into()));
    assert_eq!(list["users"][1]["enabled"], false);
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.ends(0, &format!("drive user enable @drive user2 {ADMIN} --new-password-file @new"));
    cli.ends(0, "drive unlock @drive --as user2 --password-file @new");
    cli.ends(0, &format!("drive user forbid @drive user2 {ADMIN}"));
    cli.fails(
        5,
        "not-allowed",
        "the right belongs to an administrator",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.ends(0, &format!("drive user allow @drive user2 {ADMIN}"));
    cli.ends(0, "drive unlock @drive --as user2 --password-file @new");
    cli.ends(0, &format!("drive user disable @drive user2 {ADMIN}"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive unlock @drive --as user2 --password-file @new",
    );
    cli.refused("usage", "name one: user1, user2 …", &format!("drive user allow @drive admin1 {ADMIN}"));
    // Passwords: one's own, another's by the administrator, the owner's.
    cli.ends(0, &format!("drive user password @drive user1 {USER} --new-password-file @new"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        &format!("drive unlock @drive --as user1 {USER}"),
    );
    cli.ends(0, "drive unlock @drive --as user1 --password-file @new");
    cli.ends(0, &format!("drive user password @drive user1 --as admin1 {ADMIN} --new-password-file @pw"));
    cli.ends(0, &format!("drive unlock @drive --as user1 {USER}"));
    // The owner's is the first administrator's as well: every later verb takes the new one.
    let change = format!("drive user password @drive owner {ADMIN} --new-password-file @new");
    assert_eq!(cli.json(0, &change)["administrator"], true);
    cli.ends(0, "drive user list @drive --password-file @new");
    // Done once more, as after an answer that was lost, it goes on where it was.
    assert_eq!(cli.json(0, &change)["administrator"], true);
    cli.fails(3, "wrong-secret", "the password is mistyped", &format!("drive revert @drive {ADMIN} --yes"));
    cli.refused(
        "usage",
        "change the owner's password as sid, the others' as admin1",
        &format!("drive user password @drive sid --as admin1 {ADMIN} --new-password-file @new"),
    );
    cli.ends(0, "drive revert @drive --password-file @new --yes");
}

#[test]
fn a_range_of_a_users_own() {
    let cli = made();
    cli.keyway.secret("owner", "owner's password");
    let done = cli.json(0, &format!("drive setup @drive {USER} --admin-password-file @admin --single-user"));
    assert_eq!(done["single_user"], true);
    cli.ends(0, &format!("drive unlock @drive {USER}"));
    cli.fails(
        5,
        "not-allowed",
        "--as user1 for range 0",
        &format!("drive unlock @drive --as admin1 {ADMIN}"),
    );
    // The owner may erase it, and another moves in.
    cli.refused("usage", "Everything outside of other ranges of", &format!("drive erase @drive {ADMIN}"));
    let erased = cli.ends(0, &format!("drive erase @drive {ADMIN} --yes"));
    assert!(String::from_utf8_lossy(&erased.stdout).contains("move-in"));
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        &format!("drive unlock @drive --as user1 {USER}"),
    );
    cli.ends(0, "drive user move-in @drive --new-password-file @new");
    cli.fails(
        3,
        "wrong-secret",
        "the password is mistyped",
        "drive user move-in @drive --new-password-file @pw",
    );
    cli.ends(0, "drive unlock @drive --as user1 --password-file @new");

    // Ranges are given away later, too.
    let cli = set_up();
    cli.ends(0, &format!("drive range set @drive 1 --start 1M --length 4M --yes {ADMIN}"));
    let alone = format!("drive user alone @drive --range 1 {ADMIN} --new-password-file @new");
    cli.refused("usage", "will be empty and no range will lock, but those that are", &alone);
    assert_eq!(cli.json(0, &format!("{alone} --yes"))["users"][0], "user2");
    cli.fails(
        5,
        "not-allowed",
        "--as user2 for range 1",
        &format!("drive unlock @drive --range 1 --as admin1 {ADMIN}"),
    );
    cli.ends(0, "drive unlock @drive --range 1 --as user2 --password-file @new");
    let list = cli.json(0, &format!("drive range list @drive {ADMIN}"));
    assert_eq!(
        (&list["ranges"][0]["state"], &list["ranges"][1]["state"]),
        (&"never locks".into(), &"locked".into())
    );
    // Each run is a power cycle, so it is locked, and can't be taken from its user.
    let kept = cli.json(1, &format!("drive user alone @drive {ADMIN} --yes"));
    assert!(kept["next"].as_str().is_some_and(|next| next.contains("unlock it first")), "{kept}");
}

#[test]
fn the_shadow_and_the_store() {
    let cli = set_up();
    let image = cli.keyway.secret("image", (0..100_000u32).map(|n| (n / 7) as u8).collect::<Vec<_>>());
    let status = cli.json(0, &format!("drive mbr status @drive {ADMIN}"));
    assert_eq!((&status["enabled"], &status["bytes"]), (&false.into(), &(128 << 20).into()));
    cli.refused("usage", "What is in the MBR shadow of", &format!("drive mbr write @drive @image {ADMIN}"));
    cli.ends(0, &format!("drive mbr write @drive @image {ADMIN} --yes"));
    cli.ends(0, &format!("drive mbr read @drive @back --length 100000 {ADMIN}"));
    assert!(std::fs::read(cli.path("back")).expect("read") == std::fs::read(&image).expect("read"));
    cli.fails(
        1,
        "exists",
        "choose another name, or move the old one away",
        &format!("drive mbr read @drive @back --length 4K {ADMIN}"),
    );
    assert_eq!(cli.json(0, &format!("drive mbr enable @drive {ADMIN}"))["enabled"], true);
    let unlocked = cli.ends(0, &format!("drive unlock @drive {USER}"));
    let warned = cli.json(0, &format!("drive unlock @drive {USER}"))["warnings"].to_string();
    assert!(warned.contains("it locks again now"), "a program that reads JSON is warned, too: {warned}");
    let told = String::from_utf8_lossy(&unlocked.stderr);
    // A file has power only while a command runs, and whoever unlocks one is told.
    assert!(told.contains("it locks again now") && told.contains("--nvme-tcp 127.0.0.1:0"), "{told}");
    assert!(!told.contains("covers the drive's beginning"), "user 1 may lift the shadow: {told}");
    assert_eq!(cli.json(0, &format!("drive mbr done @drive {ADMIN}"))["done"], true);
    assert_eq!(cli.json(0, &format!("drive mbr undone @drive {ADMIN}"))["done"], false);
    assert_eq!(cli.json(0, &format!("drive mbr disable @drive {ADMIN}"))["enabled"], false);
    let large = std::fs::File::create_new(cli.path("large")).expect("a file");
    large.set_len((128 << 20) + 1).expect("room");
    cli.fails(
        1,
        "not-now",
        &format!("`keyway drive mbr status {}` tells its size", cli.path("drive").display()),
        &format!("drive mbr write @drive @large {ADMIN} --yes"),
    );

    cli.keyway.secret("notes", "notes for the host");
    cli.refused(
        "usage",
        "there now will be overwritten",
        &format!("drive store write @drive @notes --offset 1K {ADMIN}"),
    );
    cli.ends(0, &format!("drive store write @drive @notes --offset 1K {ADMIN} --yes"));
    let read = cli.ends(0, &format!("drive store read @drive --offset 1K --length 18 {ADMIN}"));
    assert_eq!(read.stdout, b"notes for the host");
    let read = cli.json(0, &format!("drive store read @drive --offset 1K --length 5 {ADMIN}"));
    assert_eq!(read["hex"], "6e6f746573");
    cli.fails(
        1,
        "not-now",
        "write or read less of it",
        &format!("drive store write @drive @notes --offset 10M {ADMIN} --yes"),
    );
    cli.fails(
        1,
        "not-now",
        "write or read less of it",
        &format!("drive store read @drive --offset 11M {ADMIN}"),
    );
}
