//! Opening a volume that Windows made by a TPM's protector that was added to it, through the program.
#![allow(clippy::panic, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod cli_support;
mod tpm_support;

use cli_support::Cli;
use keyway_testkit::Swtpm;
use keyway_tpm::{Pcrs, Tpm};
use sha2::{Digest, Sha256};
use tpm_support::{Asks, add_protector, windows};

const PIN: &str = "87654321";

fn hash(cli: &Cli, arguments: &[&str]) -> String {
    let data = cli.keyway.ok(arguments);
    Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fails(cli: &Cli, code: i32, kind: &str, arguments: &[&str]) -> String {
    let done = cli.keyway.run(arguments.iter().chain(&["--json"]));
    let document: serde_json::Value =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {done:?}"));
    assert_eq!((done.status.code(), &document["error"]["kind"]), (Some(code), &kind.into()), "{document}");
    document.to_string()
}

#[test]
fn a_tpm_alone_opens_it() {
    let (Some(volume), Some(mut swtpm)) = (windows(), Swtpm::start()) else { return };
    let cli = Cli::new();
    let path = volume.file.path().to_str().expect("text");
    let tpm = format!("--tpm={}", swtpm.address());
    fails(&cli, 3, "no-such-protector", &["info", path, &tpm]);
    let asks = Asks { pcrs: Pcrs::SECURE_BOOT, pin: None, startup_key: None };
    add_protector(&volume, &swtpm, asks);
    assert_eq!(hash(&cli, &["cat", path, &tpm]), volume.sha256);
    let info: serde_json::Value =
        serde_json::from_slice(&cli.keyway.ok(["info", path, &tpm, "--json"])).expect("JSON");
    let kinds: Vec<_> =
        info["key_protectors"].as_array().expect("a list").iter().map(|p| p["kind"].clone()).collect();
    assert_eq!(kinds, ["password", "recovery-password", "tpm"], "{info}");

    Tpm::open(&swtpm.address().parse().expect("address"))
        .expect("a TPM")
        .pcr_extend(7, &[1; 32])
        .expect("extends");
    let told = fails(&cli, 5, "measurements-changed", &["info", path, &tpm]);
    assert!(told.contains("PCRs 7, 11"), "{told}");
    swtpm.replace();
    let tpm = format!("--tpm={}", swtpm.address());
    fails(&cli, 5, "other-tpm", &["info", path, &tpm]);
    fails(&cli, 5, "no-tpm", &["info", path, "--tpm=swtpm:path=/nowhere"]);
    cli.refused("usage", "swtpm:path=SOCKET", &format!("info {path} --tpm=nonsense"));
}

#[test]
fn tpm_pin_and_startup_key_open_it() {
    let (Some(volume), Some(swtpm)) = (windows(), Swtpm::start()) else { return };
    let cli = Cli::new();
    let path = volume.file.path().to_str().expect("text");
    let startup_key = Some(cli.keyway.folder());
    add_protector(&volume, &swtpm, Asks { pcrs: Pcrs::SECURE_BOOT, pin: Some(PIN), startup_key });
    let tpm = format!("--tpm={}", swtpm.address());
    let folder = cli.keyway.folder().to_str().expect("text");
    let (right, wrong) = (cli.keyway.secret("pin", PIN), cli.keyway.secret("wrong", "87654320"));
    let (right, wrong) = (right.to_str().expect("text"), wrong.to_str().expect("text"));

    let all = ["cat", path, &tpm, "--startup-key", folder, "--pin-file", right];
    assert_eq!(hash(&cli, &all), volume.sha256);
    fails(&cli, 2, "no-secret", &["info", path, &tpm, "--startup-key", folder]);
    fails(&cli, 2, "no-secret", &["info", path, &tpm, "--pin-file", right]);
    let told =
        fails(&cli, 3, "wrong-pin", &["info", path, &tpm, "--startup-key", folder, "--pin-file", wrong]);
    assert!(told.contains("more tries"), "{told}");

    // The variable names the TPM where the option does not; the address is no secret.
    let mut command =
        cli.keyway.command(["info", path, "--tpm", "--startup-key", folder, "--pin-file", right]);
    let done = command.env("KEYWAY_TPM", swtpm.address()).output().expect("starts");
    assert!(done.status.success(), "{done:?}");

    for _ in 0..8 {
        cli.keyway.run(["info", path, &tpm, "--startup-key", folder, "--pin-file", wrong]);
    }
    fails(&cli, 5, "tpm-locked", &["info", path, &tpm, "--startup-key", folder, "--pin-file", right]);
}

#[test]
fn a_protector_is_added_used_and_removed() {
    let (Some(volume), Some(mut swtpm)) = (windows(), Swtpm::start()) else { return };
    let cli = Cli::new();
    let path = volume.file.path().to_str().expect("text");
    let (password, pin) = (cli.keyway.secret("password", "anaconda"), cli.keyway.secret("pin", PIN));
    let (password, pin) = (password.to_str().expect("text"), pin.to_str().expect("text"));
    let short = cli.keyway.secret("short", "123");
    let folder = cli.path("usb");
    std::fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("text");
    let new_tpm = format!("--new-tpm={}", swtpm.address());
    let add = |kind: &'static str| ["protector", "add", path, kind, "--password-file", password];
    let adding = |kind, more: &[&str]| -> Vec<String> {
        add(kind).iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    let refused = |code, kind, words: Vec<String>| {
        fails(&cli, code, kind, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };

    // What can't be: nothing is written, to the volume or the folder.
    let before = std::fs::read(path).expect("the volume");
    let short = short.to_str().expect("text");
    refused(2, "pin", adding("tpm-pin", &[&new_tpm, "--new-pin-file", short]));
    refused(5, "no-tpm", adding("tpm", &["--new-tpm=/nowhere/tpm0"]));
    refused(2, "usage", adding("tpm-startup-key", &[&new_tpm]));
    refused(2, "usage", adding("password", &["--pcrs", "7"]));
    assert_eq!(std::fs::read_dir(folder).expect("the folder").count(), 0);
    assert!(before == std::fs::read(path).expect("the volume"), "the volume was written to");

    let words = adding(
        "tpm-pin-startup-key",
        &[&new_tpm, "--new-pin-file", pin, "--to", folder, "--pcrs=11", "--json"],
    );
    let added: serde_json::Value = serde_json::from_slice(&cli.keyway.ok(&words)).expect("JSON");
    assert_eq!((&added["kind"], &added["pcrs"]), (&"tpm-pin-startup-key".into(), &serde_json::json!([11])));
    let id = added["id"].as_str().expect("an identifier");
    assert!(added["file"].as_str().is_some_and(|file| file.contains(&id.to_uppercase())), "{added}");
    refused(2, "exists", adding("tpm", &[&new_tpm]));

    swtpm.restart();
    let tpm = format!("--tpm={}", swtpm.address());
    let opening = ["--startup-key", folder, "--pin-file", pin];
    assert_eq!(hash(&cli, &[&["cat", path, &tpm], &opening[..]].concat()), volume.sha256);
    cli.keyway.ok([&["protector", "remove", path, id, &tpm], &opening[..]].concat());
    fails(&cli, 3, "no-such-protector", &[&["info", path, &tpm], &opening[..]].concat());
    assert_eq!(hash(&cli, &["cat", path, "--password-file", password]), volume.sha256);
}

/// A PIN is changed in its protector's place, and what opened a volume is told.
#[test]
fn a_pin_is_changed_in_its_place() {
    let (Some(volume), Some(swtpm)) = (windows(), Swtpm::start()) else { return };
    let cli = Cli::new();
    let path = volume.file.path().to_str().expect("text");
    let file = |name: &str, secret: &str| cli.keyway.secret(name, secret).to_str().expect("text").to_owned();
    let (password, pin, next) = (file("password", "anaconda"), file("pin", PIN), file("next", "13579135"));
    let (tpm, new_tpm) = (format!("--tpm={}", swtpm.address()), format!("--new-tpm={}", swtpm.address()));

    // No TPM opens it yet: what --tpm means, and what names the one that seals.
    let told = fails(&cli, 2, "usage", &["protector", "add", path, "tpm-pin", &tpm, "--new-pin-file", &pin]);
    assert!(told.contains("no TPM opens") && told.contains("--new-tpm=ADDRESS"), "{told}");

    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&cli.keyway.ok(words.iter().chain(&["--json"]))).expect("JSON")
    };
    let add = ["protector", "add", path, "tpm-pin", "--password-file", &password, &new_tpm];
    let added = json(&[&add[..], &["--new-pin-file", &pin, "--pcrs=11"]].concat());
    let change = ["protector", "change", path, &tpm, "--pin-file", &pin, "--new-pin-file", &next];
    let changed = json(&change);
    assert_eq!(
        (&changed["id"], &changed["kind"], &changed["pcrs"]),
        (&added["id"], &"tpm-pin".into(), &serde_json::json!([11]))
    );
    let info = json(&["info", path, &tpm, "--pin-file", &next]);
    assert_eq!(info["opened_by"], added["id"]);
    json(&["open", path, "--attach", "nbd", &tpm, "--pin-file", &next]);
    assert_eq!(json(&["status", path])["opened_by"], added["id"], "through the serving process, too");
    cli.keyway.ok(["close", path]);
    let kinds = info["key_protectors"].as_array().expect("a list").iter().map(|p| p["kind"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["password", "recovery-password", "tpm-pin"], "{info}");
    fails(&cli, 3, "wrong-pin", &["info", path, &tpm, "--pin-file", &pin]);
    assert_eq!(hash(&cli, &["cat", path, &tpm, "--pin-file", &next]), volume.sha256);

    // A PIN is no password, and a password has none.
    let id = added["id"].as_str().expect("an identifier");
    let secret = ["--password-file", &password];
    let words = ["protector", "change", path, "--id", id, "--new-password-file", &next];
    fails(&cli, 2, "usage", &[&words[..], &secret].concat());
    let listed = json(&["protector", "list", path]);
    let own = listed["key_protectors"].as_array().expect("a list").iter().find(|p| p["kind"] == "password");
    let own = own.and_then(|p| p["id"].as_str()).expect("its password");
    let words = ["protector", "change", path, "--id", own, "--new-pin-file", &next];
    let told = fails(&cli, 2, "usage", &[&words[..], &secret].concat());
    assert!(told.contains("has no TPM"), "{told}");
}
