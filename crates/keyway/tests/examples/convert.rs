//! The example that encrypts a file system and decrypts it again: it says what it will do and has done, and the file
//! system is the same afterwards.

use crate::{PASSWORD, example, printed};
use keyway_testkit::require_tool;
use serde_json::Value;
use std::process::Command;

#[test]
fn a_file_system_is_encrypted_and_decrypted_by_the_example() {
    let Some(mkfs) = require_tool("mkfs.ext4") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let [image, password] = ["disk.img", "password.txt"].map(|name| folder.path().join(name));
    std::fs::write(&password, PASSWORD).expect("room");
    std::fs::write(&image, vec![0; 8 << 20]).expect("room");
    let made = Command::new(mkfs).args(["-q", "-F"]).arg(&image).status().expect("it runs");
    assert!(made.success());
    let before = std::fs::read(&image).expect("made");

    let mut converting = example("convert");
    converting.args([&image, &password]).env("KEYWAY_RUNTIME_DIR", folder.path().join("run"));
    let said = printed(&mut converting);
    let documents: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [plan, encrypted, back, decrypted] = documents.as_slice() else { panic!("{said}") };
    assert_eq!((&plan["conversion"], &plan["space"]["from"]), (&"encryption".into(), &"larger-file".into()));
    assert_eq!((&back["conversion"], &back["to"]["contents"]), (&"decryption".into(), &"file-system".into()));
    for outcome in [encrypted, decrypted] {
        assert_eq!(outcome["state"], "done", "{outcome}");
        assert!(outcome["total_bytes"].as_u64() >= Some(8 << 20), "{outcome}");
    }
    let after = std::fs::read(&image).expect("there");
    assert!(after.get(..before.len()) == Some(&before[..]), "the file system is another");
    assert!(!folder.path().join("disk.img.keyway-journal").exists());
}
