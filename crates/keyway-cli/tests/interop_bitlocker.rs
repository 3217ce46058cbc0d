//! The volumes that Windows encrypted through the program itself: every kind of secret, and every
//! kind of wrong one.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{Keyway, Row, Table, sha256_of, unpack_xz, volumes};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

fn folder() -> Option<PathBuf> {
    Some(volumes()?.join("bitlocker"))
}

fn rows(folder: &Path) -> Vec<Row> {
    Table::read(&folder.join("INDEX.tsv")).rows().to_vec()
}

/// The options of each secret that opens a volume; none for a clear key.
fn options(keyway: &Keyway, folder: &Path, row: &Row) -> Vec<Vec<OsString>> {
    let mut options: Vec<Vec<OsString>> = Vec::new();
    if !row.get("password").is_empty() {
        let file = keyway.secret("password", row.get("password"));
        options.push(vec!["--password-file".into(), file.into()]);
    }
    if !row.get("startup_key_file").is_empty() {
        options.push(vec!["--startup-key".into(), folder.join(row.get("startup_key_file")).into()]);
        options.push(vec!["--startup-key".into(), folder.into()]);
    }
    if row.get("clear_key") == "yes" {
        options.push(vec![]);
    }
    for column in ["recovery_password", "recovery_password_2"] {
        if !row.get(column).is_empty() {
            options.push(vec!["--recovery-password".into(), row.get(column).into()]);
        }
    }
    options
}

#[test]
fn cat_gives_what_windows_put_in() {
    let Some(folder) = folder() else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    // One secret of each volume here, every one in the long run; the crate below has tried them all.
    let most = if std::env::var_os("KEYWAY_SLOW").is_some() { usize::MAX } else { 1 };
    for row in rows(&folder) {
        let name = row.get("file");
        let expected = row.get("sha256_of_decrypted_volume");
        if expected.is_empty() {
            continue;
        }
        let Some(volume) = unpack_xz(&folder.join(name)) else { return };
        for options in options(&keyway, &folder, &row).into_iter().take(most) {
            let first = ["cat".into(), OsString::from(volume.path())];
            let plain = keyway.ok(first.into_iter().chain(options.clone()));
            assert_eq!(sha256_of(plain.as_slice()), expected, "{name} {options:?}");
        }
    }
}

fn volume(name: &str) -> Option<NamedTempFile> {
    unpack_xz(&folder()?.join(name))
}

#[test]
fn each_wrong_secret_has_its_code_and_its_word() {
    let (Some(folder), Some(volume)) = (folder(), volume("bitlk-aes-xts-128-two-recovery.img.xz")) else {
        return;
    };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let wrong = keyway.secret("wrong", "Anaconda");
    let not_a_key = keyway.secret("not-a-key.BEK", "no key");
    let right = "478401-067859-043868-000935-121330-337425-718509-484979";
    let saved: Vec<u8> = format!("\u{feff}Identifier\r\n\r\nRecovery Key:\r\n\r\n\t{right}\r\n")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let saved = keyway.secret("BitLocker Recovery Key.TXT", saved);
    let error = |options: &[&str]| {
        let first = ["cat", "--json", "--length", "512"].map(OsString::from);
        let rest = options.iter().map(OsString::from).chain([volume.path().into()]);
        let done = keyway.run(first.into_iter().chain(rest));
        let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let kind = said["error"]["kind"].as_str().unwrap_or_default().to_owned();
        let message = said["error"]["message"].as_str().unwrap_or_default().to_owned();
        (done.status.code().unwrap_or_default(), kind, message)
    };
    let path = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let cases: [(&[&str], i32, &str, &str); 8] = [
        (&["--password-file", &path(&wrong)], 3, "wrong-secret", "password is wrong"),
        (
            &["--recovery-password", &right.replace("043868", "043869")],
            3,
            "mistyped-recovery-password",
            "group 3 of the recovery password is mistyped",
        ),
        (&["--recovery-password", &right[..40]], 3, "mistyped-recovery-password", "48 digits"),
        (
            &["--recovery-password", "235818-357951-253979-013365-241120-245575-342914-591910"],
            3,
            "wrong-recovery-password",
            "e7e48bae-ff13-4f14-8222-971d469fae0d or b7adc334-fe6d-4ae4-b5c4-1c1d0dbc335b",
        ),
        (&["--startup-key", &path(&folder)], 3, "no-such-protector", "password, recovery-password"),
        (&["--startup-key", &path(&not_a_key)], 3, "startup-key", "no startup key"),
        (&[], 2, "no-secret", "password, recovery-password"),
        (&["--keyfile", &path(&wrong)], 2, "usage", "no keyfiles"),
    ];
    for (options, code, kind, words) in cases {
        let (found, found_kind, message) = error(options);
        assert_eq!((found, found_kind.as_str()), (code, kind), "{options:?}: {message}");
        assert!(message.contains(words), "{options:?}: {message}");
    }
    let right = right.replace('-', " ");
    for text in [right, path(&saved)] {
        assert_eq!(error(&["--recovery-password", &text]).0, 0, "{text}");
    }
}

#[test]
fn info_tells_what_is_known_with_and_without_a_secret() {
    let Some(volume) = volume("bitlk-aes-xts-128.img.xz") else { return };
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let password = keyway.secret("password", "anaconda");
    let info = |options: &[&std::ffi::OsStr]| -> serde_json::Value {
        let first = [OsString::from("info"), "--json".into(), volume.path().into()];
        let printed = keyway.ok(first.into_iter().chain(options.iter().map(|o| o.to_os_string())));
        serde_json::from_slice(&printed).expect("JSON")
    };
    let locked = info(&[]);
    let open = info(&["--password-file".as_ref(), password.as_os_str()]);
    for document in [&locked, &open] {
        assert_eq!(document["format"], "bitlocker");
        assert_eq!(document["cipher"], "aes-xts-128");
        assert_eq!(document["mode"], "xts");
        assert_eq!(document["sector_bytes"], 512);
        assert_eq!(document["data_bytes"], 104_857_600);
        assert_eq!(document["conversion_status"], "Fully Encrypted");
        assert_eq!(document["key_protectors"][0]["kind"], "password");
        assert_eq!(document["key_protectors"][1]["id"], "64311dea-4587-4029-924a-ba299647998e");
    }
    assert!(locked["opened_by"].is_null());
    assert_eq!(open["opened_by"], "3e55195c-8811-4d9b-97b4-2b9e5f8f5384");
    assert_eq!(open["filesystem"]["uuid"], "68844E71844E41B4");
}
