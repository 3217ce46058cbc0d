//! Volumes of other programs through the program itself, with nothing said about their format,
//! hash or cipher: `keyway cat` gives what TrueCrypt and VeraCrypt put in.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Keyway, Row, Table, require_tool, sha256_of, unpack_xz, volumes};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// `keyway cat` with the secrets of a row: the plain volume.
fn cat(keyway: &Keyway, folder: &Path, volume: &Path, row: &Row, password: &str) -> Vec<u8> {
    let password = keyway.secret("password", password);
    let mut arguments: Vec<OsString> =
        vec!["cat".into(), volume.into(), "--password-file".into(), password.into()];
    if let Some(pim) = row.number("pim").filter(|pim| *pim > 0) {
        arguments.extend(["--pim".into(), pim.to_string().into()]);
    }
    for keyfile in row.list("keyfiles") {
        arguments.extend(["--keyfile".into(), folder.join(keyfile).into()]);
    }
    keyway.ok(arguments)
}

#[test]
fn veracrypt_1_23_volumes_have_their_known_hashes() {
    let Some(folder) = volumes().map(|volumes| volumes.join("veracrypt-1.23")) else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let plain = cat(&keyway, &folder, &folder.join(row.get("file")), row, row.get("password"));
        assert_eq!(sha256_of(plain.as_slice()), row.get("sha256_data"), "{}", row.get("file"));
    }
}

/// Volumes whose derivation takes seconds are for the long run.
fn is_quick(file: &str) -> bool {
    file.starts_with("tc") || file.contains("-sha512-")
}

/// cryptsetup's suite kept only the headers of volumes whose mode Linux does not have.
fn has_data(file: &str) -> bool {
    let cascade_in_cbc = file.split_once("-cbc-").is_some_and(|(_, cipher)| {
        let cipher = cipher.trim_end_matches(".xz").trim_end_matches("-hidden");
        cipher.contains('-') || cipher == "blowfish"
    });
    !cascade_in_cbc
}

#[test]
fn every_truecrypt_and_veracrypt_generation_shows_its_file_system() {
    let Some(folder) = volumes().map(|volumes| volumes.join("tcrypt")) else { return };
    let Some(blkid) = require_tool("blkid") else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let all = std::env::var_os("KEYWAY_SLOW").is_some();
    for row in Table::read(&folder.join("INDEX.tsv")).rows() {
        let file = row.get("file");
        if !all && !is_quick(file) {
            continue;
        }
        let Some(volume) = unpack_xz(&folder.join(file)) else { return };
        // The UUIDs that the suite's own test looks for.
        for (password, uuid) in
            [(row.get("password"), "DEAD-BABE"), (row.get("hidden_password"), "CAFE-BABE")]
        {
            if uuid == "CAFE-BABE" && password.is_empty() {
                continue;
            }
            let plain = cat(&keyway, &folder, volume.path(), row, password);
            if !has_data(file) {
                continue;
            }
            let plain = keyway.secret("plain", plain);
            let found = Command::new(&blkid)
                .args(["--probe", "--match-tag", "UUID", "--output", "value"])
                .arg(plain)
                .output()
                .expect("blkid runs");
            assert_eq!(String::from_utf8_lossy(&found.stdout).trim(), uuid, "{file}");
        }
    }
}
