//! Favourites: a volume under a name, opened as it was added, without its secret in any file.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, checked};
use keyway_testkit::{require_root, require_tool};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_favourite_is_opened_closed_and_read_by_its_name() {
    let cli = Cli::new();
    cli.volume("v.hc");
    let none = cli.ends(0, "favourite list");
    assert!(text(&none.stdout).contains("There is no favourite"));
    // In the folder that the volume is in: its path is found from anywhere afterwards.
    let mut add =
        cli.command(["favourite", "add", "v.hc", "--read-only", "--keyfile", "key", "--pim", "1", "--json"]);
    fs::write(cli.path("key"), "a keyfile").expect("written");
    let added = add.current_dir(cli.keyway.folder()).output().expect("keyway starts");
    let added: serde_json::Value = serde_json::from_slice(&added.stdout).expect("a document");
    let key = format!("--keyfile={}", cli.path("key").display());
    assert_eq!(added["name"], "v");
    assert_eq!(added["volume"], cli.path("v.hc").display().to_string());
    let mut options: Vec<_> = added["options"].as_array().expect("a list").clone();
    options.sort_by_key(ToString::to_string);
    assert_eq!(options, [key.as_str(), "--pim=1", "--read-only"]);
    // The volume has no keyfile.
    cli.fails(3, "wrong-secret", "", "open v --password-file @pw --hash sha512");
    cli.fails(1, "exists", "--force", "favourite add @v.hc --pim 1");
    cli.ends(0, "favourite add @v.hc --pim 2 --read-only --attach nbd --force");
    // What is given goes before what was kept.
    cli.ends(0, "cat v --password-file @pw --pim 1 --length 512");
    cli.ends(0, "favourite add @v.hc --pim 1 --read-only --attach nbd --force");
    let opened = cli.json(0, "open v --password-file @pw");
    assert_eq!((&opened["read_only"], &opened["attachment"]), (&true.into(), &"nbd".into()), "{opened}");
    assert_eq!(cli.json(0, "status v")["lock_status"], "Unlocked");
    cli.ends(0, "close v");
    // What a verb does not take of it is left out.
    assert_eq!(cli.ends(0, "cat v --password-file @pw --length 512").stdout.len(), 512);
    assert_eq!(cli.json(0, "info v --password-file @pw")["format"], "veracrypt");
    let listed = cli.json(0, "favourite list");
    assert_eq!(listed["favourites"].as_array().map(Vec::len), Some(1), "{listed}");
    let told = text(&cli.ends(0, "favourite list").stdout);
    assert!(told.contains("--attach=nbd") && told.contains("you"), "{told}");
    // A file of that name is meant as a file.
    let mut info = cli.command(["info", "v", "--json"]);
    fs::write(cli.path("v"), [0; 4096]).expect("written");
    let found = info.current_dir(cli.keyway.folder()).output().expect("keyway starts");
    assert_eq!(found.status.code(), Some(4), "{}", text(&found.stdout));
    // What is not there is kept, for its drive may be away, and told.
    let away = text(&cli.ends(0, "favourite add @away.hc").stderr);
    assert!(away.contains("away.hc is not there now"), "{away}");
    let key = text(&cli.ends(0, "favourite add @v.hc --name there --keyfile @no-key --force").stderr);
    assert!(key.contains("no-key (--keyfile) is not there now: where its drive"), "{key}");
    assert!(text(&cli.ends(0, "favourite add @v.hc --name there --force").stderr).is_empty());
    cli.ends(0, "favourite remove v");
    cli.fails(1, "not-found", "favourite list", "favourite remove v");
    assert!(cli.path("v.hc").exists());
}

/// What has a favourite's name in the folder goes before it: that is told when it is kept, and where it was the wrong one.
#[test]
fn what_several_add_at_once_is_all_kept() {
    let cli = Cli::new();
    let names: Vec<String> = (0..12).map(|number| format!("together{number}")).collect();
    let adding = names.iter().map(|name| {
        let mut add = cli.command(["favourite", "add", "--name", name]);
        add.arg(cli.path(name)).stdout(std::process::Stdio::null()).spawn().expect("keyway starts")
    });
    for mut child in adding.collect::<Vec<_>>() {
        assert!(child.wait().expect("it ends").success());
    }
    let list = cli.json(0, "favourite list");
    assert_eq!(list["favourites"].as_array().map(Vec::len), Some(names.len()), "{list}");
}

#[test]
fn what_hides_a_favourite_is_told() {
    let cli = Cli::new();
    cli.volume("v.hc");
    fs::create_dir(cli.path("pics")).expect("a folder");
    let here = |words: &str| {
        let mut command = cli.command(cli.words(words));
        command.current_dir(cli.keyway.folder()).output().expect("keyway starts")
    };
    let added = here("favourite add v.hc --pim 1 --name pics");
    assert!(text(&added.stdout).contains("goes before it here"), "{}", text(&added.stdout));
    let named = format!("name that one's volume, {}", cli.path("v.hc").display());
    for verb in ["open", "ls", "info"] {
        let done = here(&format!("{verb} pics"));
        assert_eq!(done.status.code(), Some(4), "{verb}");
        assert!(text(&done.stderr).contains(&named), "{verb}: {}", text(&done.stderr));
    }
    // Nobody else takes a favourite, and elsewhere nothing is in its way.
    assert!(!text(&here("erase pics").stderr).contains("favourite"));
    cli.ends(0, "cat pics --password-file @pw --length 512");
    let other = here("favourite add v.hc --pim 1 --name other");
    assert!(text(&other.stdout).contains("other is kept: keyway open other"), "{}", text(&other.stdout));
}

#[test]
fn no_secret_is_kept_and_only_its_owner_reads_what_is() {
    let cli = Cli::new();
    cli.volume("v.hc");
    let digits = ["111111"; 8].join("-");
    for secret in [&*format!("--recovery-password {digits}"), "--password-fd 3", "--password-file -"] {
        cli.refused("usage", "can't be kept", &format!("favourite add @v.hc {secret}"));
    }
    for name in ["", ".x", "a/b", "a b", "-x", &"x".repeat(65)] {
        let done =
            cli.command(["favourite", "add", "v.hc", &format!("--name={name}")]).output().expect("it starts");
        assert_eq!(done.status.code(), Some(2), "{name}: {}", text(&done.stderr));
    }
    let file = cli.path(".config/keyway/favourites.toml");
    assert!(!file.exists(), "nothing is kept of what is refused");
    assert_eq!(cli.json(0, "favourite add @v.hc --dry-run")["plan"]["name"], "v");
    assert!(!file.exists(), "nor by --dry-run");
    cli.ends(0, "favourite add @v.hc --password-file @pw --name box");
    assert_eq!(fs::metadata(&file).expect("kept").permissions().mode() & 0o777, 0o600);
    let kept = fs::read_to_string(&file).expect("text");
    assert!(kept.contains("[box]") && !kept.contains(PASSWORD), "{kept}");
    cli.ends(0, "cat box --pim 1 --length 512");
    // Who keeps the file elsewhere goes on doing so.
    fs::rename(&file, cli.path("elsewhere")).expect("moved");
    std::os::unix::fs::symlink(cli.path("elsewhere"), &file).expect("linked");
    cli.ends(0, "favourite remove box");
    assert!(file.symlink_metadata().expect("there").is_symlink());
    assert!(!fs::read_to_string(cli.path("elsewhere")).expect("text").contains("box"));
}

#[test]
fn a_file_that_somebody_edited_is_told_with_the_line() {
    let cli = Cli::new();
    cli.volume("v.hc");
    cli.ends(0, "favourite add @v.hc");
    let file = cli.path(".config/keyway/favourites.toml");
    let before = "[v]\nvolume = \"/v.hc\"\n\n[w]\nvolumes = \"/w.hc\"\n";
    fs::write(&file, before).expect("written");
    cli.refused("usage", "line 5", "favourite list");
    cli.refused("usage", "correct", "favourite add @v.hc --force");
    assert_eq!(fs::read_to_string(&file).expect("text"), before, "what somebody wrote is not lost");
    // Its owner's service would not know of it.
    fs::write(&file, "[v]\nvolume = \"/v.hc\"\nat_boot = true\n").expect("written");
    cli.refused("usage", "/etc/keyway/favourites.toml", "favourite list");
    // What has nothing to do with it goes on.
    cli.ends(0, "cat @v.hc --password-file @pw --pim 1 --length 512");
}

#[test]
fn all_users_have_those_of_the_machine() {
    let (Some(()), Some(unshare)) = (require_root().then_some(()), require_tool("unshare")) else { return };
    let cli = Cli::new();
    cli.volume("v.hc");
    let script = "set -eux; mount -t tmpfs none /etc
        $K favourite add v.hc --pim 1 --for-all; test \"$(stat -c %a /etc/keyway/favourites.toml)\" = 644
        $K favourite list | grep 'all users'; $K cat v --password-file pw --length 512 | wc -c | grep 512
        $K favourite add v.hc --pim 1 --for-all --at-boot --force | grep 'the machine starts'; $K favourite list --json | grep -E '\"at_boot\": ?true'
        head -c 64 /dev/urandom > /etc/k; chmod 644 /etc/k; ! $K favourite add v.hc --for-all --at-boot --name n --foreground || false
        $K favourite add \"../$(basename \"$PWD\")/v.hc\" /nowhere/at --for-all --at-boot --name n --keyfile /etc/k --dry-run 2> /etc/said; grep 'sudo mkdir -p /nowhere/at' /etc/said
        grep 'others than root may read /etc/k (--keyfile)' /etc/said; ! grep 'v.hc is not there' /etc/said || false; test ! -e /nowhere
        chmod 600 /etc/k; $K favourite add v.hc --for-all --at-boot --name n --keyfile /etc/k --keyfile credential:none --password-file /etc/no --dry-run 2> /etc/said
        grep 'there is no credential none (--keyfile)' /etc/said
        ! grep /etc/k /etc/said || false; grep '/etc/no (--password-file) is not there now, and without it' /etc/said; ! grep -e '[[]n]' /etc/keyway/favourites.toml || false
        $K favourite add v.hc --pim 1 --for-all --force; grep 'at_boot = true' /etc/keyway/favourites.toml
        $K favourite add v.hc --pim 2; $K favourite list | grep -c pim | grep 1; $K favourite list | grep 'pim=2 .*you'
        $K favourite remove v; $K favourite list | grep 'pim=1'; ! $K favourite remove v; $K favourite remove v --for-all";
    let mut command = keyway_testkit::own_mounts(&unshare, &[], &cli.path(""));
    command.args(["sh", "-c", script]).current_dir(cli.keyway.folder());
    checked(command.env("K", env!("CARGO_BIN_EXE_keyway")).env("XDG_CONFIG_HOME", cli.path(".config")));
}

#[test]
fn what_may_be_a_favourite_is_said_where_favourites_cant_be_read() {
    let cli = Cli::new();
    cli.volume("v.hc");
    cli.ends(0, "favourite add @v.hc --name stick");
    let planned = cli.json(0, "favourite remove stick --dry-run");
    assert_eq!((&planned["dry_run"], &planned["plan"]["name"]), (&true.into(), &"stick".into()), "{planned}");
    assert_eq!(cli.json(0, "favourite list")["favourites"].as_array().map(Vec::len), Some(1));
    cli.fails(1, "not-found", "favourite list", "favourite remove other --dry-run");
    let file = cli.path(".config/keyway/favourites.toml");
    fs::write(&file, "[stick\n").expect("written");
    cli.fails(1, "not-found", "favourites.toml, line 1", "open stick");
    let mut homeless = cli.command(["open", "stick", "--json"]);
    let told = homeless.env_remove("HOME").env_remove("XDG_CONFIG_HOME").output().expect("keyway starts");
    assert!(text(&told.stdout).contains("neither HOME nor XDG_CONFIG_HOME"), "{}", text(&told.stdout));
    // What is no name of one is none that can't be read.
    let mut full = cli.command(cli.words("cat @v.hc --password-file @pw --pim 1"));
    let full = full.env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    let told = full.stdout(fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there"));
    let told = text(&told.output().expect("keyway starts").stderr);
    assert!(told.contains("standard output") && !told.contains("favourite"), "{told}");
}
