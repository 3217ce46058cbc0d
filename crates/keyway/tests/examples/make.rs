//! The examples that make volumes, and that none of them needs more than this crate.

use crate::{PASSWORD, example, printed};
use keyway_testkit::require_tool;
use serde_json::Value;

#[test]
fn the_examples_name_no_crate_below() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(!text.contains("keyway_"), "{}", path.display());
    }
}

#[test]
fn a_container_has_the_cipher_hash_and_file_system_of_ones_choice() {
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    let here = tempfile::tempdir().expect("a folder");
    let [volume, password] = ["secret.hc", "password.txt"].map(|name| here.path().join(name));
    std::fs::write(&password, PASSWORD).expect("written");
    let mut making = example("create_container");
    making.arg(&volume).arg("2").arg(&password).args(["serpent", "sha256", "fat"]);
    let said = printed(&mut making);
    assert!(said.starts_with(&format!("{}: serpent, ", volume.display())), "{said}");
}

#[test]
fn a_bitlocker_volume_gets_a_recovery_password_and_another_password() {
    let here = tempfile::tempdir().expect("a folder");
    let names = ["stick.img", "password.txt", "new.txt", "recovery.txt"];
    let [volume, password, new, recovery] = names.map(|name| here.path().join(name));
    std::fs::write(&password, PASSWORD).expect("written");
    std::fs::write(&new, "another password").expect("written");
    let said = printed(example("protectors").arg(&volume).arg("64").args([&password, &new, &recovery]));
    let lines: Vec<&str> = said.lines().collect();
    let [plan, list, opened] = lines.as_slice() else { panic!("{said}") };
    let json = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    assert_eq!(json(plan)["kind"], "recovery-password");
    let kinds = json(list)["key_protectors"].as_array().expect("protectors").len();
    assert_eq!((kinds, opened.ends_with("bytes, opened by its recovery password")), (2, true), "{said}");
    assert!(std::fs::read_to_string(&recovery).expect("written").len() > 48);
}
