//! Passwords that are right but for how they were written or typed: told after a failure, and found when asked for.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::{Cli, Typed};
use std::fs;

/// One hash and a small PIM, so that a wrong password takes no time.
const QUICK: &str = "--pim 1 --hash sha512";

/// A volume of each format that opens with a password.
fn volumes(cli: &Cli, password: &str) {
    cli.keyway.secret("right", password);
    let create = "create --quick --filesystem none --password-file @right";
    cli.ends(0, &format!("{create} @vc --size 1M {QUICK}"));
    cli.ends(0, &format!("{create} @bde --size 64M --format bitlocker --no-recovery-password"));
}

/// What standard error says of a password file's bytes, and the exit code.
fn said(cli: &Cli, verb: &str, bytes: &[u8]) -> (Option<i32>, String) {
    fs::write(cli.path("given"), bytes).expect("written");
    let done = cli.run(&format!("{verb} --password-file @given"));
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The password that is right, what is given for it, what is said of that, and what was tried when it opened.
fn slips() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let long = "Zoé-zahlt-7-Yen-im-Dezember";
    let told = |text: &str| text.as_bytes().to_vec();
    let latin = long.chars().map(|c| c as u8).collect();
    vec![
        (long, told("Zoé-zahlt-7-Yen-im-Dezember\r\n"), "end of a line", "without the line end"),
        (long, told("Zoé-zahlt-7-Yen-im-Dezember\n\n"), "end of a line", "without the line end"),
        (long, told("  Zoé-zahlt-7-Yen-im-Dezember \n"), "with a blank", "without the blanks"),
        (
            long,
            told("\u{feff}Zoé-zahlt-7-Yen-im-Dezember\n"),
            "byte-order mark",
            "without the byte-order mark",
        ),
        (long, utf16("\u{feff}Zoé-zahlt-7-Yen-im-Dezember\r\n"), "in UTF-16", "is in UTF-16"),
        (long, latin, "not in UTF-8", "is in Latin-1"),
        (long, told("Zoe\u{301}-zahlt-7-Yen-im-Dezember\n"), "accents are apart", "(NFC)"),
        (long, told("zOÉ-ZAHLT-7-yEN-IM-dEZEMBER\n"), "Caps Lock was on", "Caps Lock"),
        (long, told("zoé-zahlt-7-Yen-im-Dezember\n"), "", "first letter"),
        // The same keys on another keyboard.
        ("Zebra-zoo-why-not-10-things", told("Yebraßyooßwhzßnotß10ßthings\n"), "", "as on a QWERTZ one"),
        ("Yebraßyooßwhzßnotß10ßthings", told("Zebra-zoo-why-not-10-things\n"), "", "as on a QWERTY one"),
        ("Zebra-zoo-why-not-10-things", told("Webrq)woo)zhy)not)&à)things\n"), "", "as on an AZERTY one"),
    ]
}

#[test]
fn a_slip_is_told_and_found_in_both_formats() {
    let cli = Cli::new();
    let mut made = "";
    for (right, given, told, found) in slips() {
        if made != right {
            for name in ["vc", "bde"] {
                let _ = fs::remove_file(cli.path(name));
            }
            volumes(&cli, right);
            made = right;
        }
        for (verb, wrong) in [(format!("info @vc {QUICK}"), 3), ("cat @bde --length 1".to_owned(), 3)] {
            let (code, says) = said(&cli, &verb, &given);
            // No BitLocker password is anything but text.
            let text = std::str::from_utf8(&given).is_ok();
            let wrong = if !text && verb.starts_with("cat") { 2 } else { wrong };
            assert_eq!(code, Some(wrong), "{verb} {found}: {says}");
            assert!(says.contains(told) && says.contains("--try-variants"), "{verb} {found}: {says}");
            let (code, says) = said(&cli, &format!("{verb} --try-variants"), &given);
            assert_eq!(code, Some(0), "{verb} {found}: {says}");
            assert!(says.contains("other spellings") && says.contains(found), "{verb} {found}: {says}");
            for part in ["zahlt", "Dezember", "DEZEMBER", "things", "zoo", "woo"] {
                assert!(!says.contains(part), "{says}");
            }
        }
    }
}

#[test]
fn nothing_is_tried_unasked_or_beside_what_is_right() {
    let cli = Cli::new();
    volumes(&cli, "twenty-characters-and-more");
    let (code, says) =
        said(&cli, &format!("info @vc {QUICK} --try-variants"), b"twenty-characters-and-more\n");
    assert!(code == Some(0) && !says.contains("spellings"), "{says}");
    let (code, says) =
        said(&cli, &format!("info @vc {QUICK} --try-variants"), b"none-of-these-it-is-at-all\r\n");
    assert_eq!(code, Some(3), "{says}");
    assert!(says.contains("none of") && !says.contains("--try-variants"), "{says}");
    // What changes the volume takes the spelling that was found.
    fs::write(cli.path("given"), b"TWENTY-CHARACTERS-AND-MORE\r\n").expect("written");
    fs::write(cli.path("new"), b"another-password-of-twenty").expect("written");
    let change =
        format!("protector change @vc {QUICK} --password-file @given --new-password-file @new --new-pim 1");
    cli.fails(3, "wrong-secret", "Caps Lock", &change);
    fs::write(cli.path("given"), b"twenty-characters-and-more\r\n").expect("written");
    cli.ends(0, &format!("{change} --try-variants"));
    cli.ends(0, &format!("info @vc {QUICK} --password-file @new"));
    fs::write(cli.path("given"), b"another-password-of-twenty\r\n").expect("written");
    let again = "encrypt @vc --reencrypt --cipher serpent --pim 1 --password-file @given --yes";
    cli.fails(3, "wrong-secret", "end of a line", again);
    cli.ends(0, &format!("{again} --try-variants"));
    let info = cli.json(0, &format!("info @vc {QUICK} --password-file @new"));
    assert_eq!(info["cipher"], "serpent", "{info}");
    // A new password is taken as it is.
    cli.refused("usage", "--reencrypt is missing", "encrypt @vc --try-variants --password-file @given");
}

#[test]
fn what_is_typed_is_seen_and_tried_as_well() {
    let cli = Cli::new();
    volumes(&cli, "Zebra-zoo-why-not-10-things");
    for (typed, wrong, found) in [
        ("zEBRA-ZOO-WHY-NOT-10-THINGS", "Caps Lock was on", "Caps Lock"),
        ("Yebraßyooßwhzßnotß10ßthings", "keyboard layouts", "as on a QWERTZ one"),
        (" Zebra-zoo-why-not-10-things", "with a blank", "without the blanks"),
    ] {
        for (verb, told, code) in [("", wrong, 3), ("--try-variants", found, 0)] {
            let Some(mut screen) = Typed::new(&cli, &format!("cat @vc --length 1 {QUICK} {verb}")) else {
                return;
            };
            for _ in 0..code.max(1) {
                screen.answer("Password of vc: ", &format!("{typed}\r"));
            }
            let (ended, shown) = screen.end();
            assert_eq!(ended, Some(code), "{shown}");
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(told), "{told}: {shown}");
        }
    }
}
