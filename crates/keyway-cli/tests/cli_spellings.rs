//! Words as other programs spell them are understood, and what they name a password by is told what to do instead.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD};
use keyway_testkit::require_tool;

#[test]
fn ciphers_formats_and_file_systems_are_known_by_their_other_names() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    let make = "create @v --size 1M --quick --password-file @pw --pim 1";
    // VeraCrypt's own spelling and option: what is outermost stands first.
    cli.ends(0, &format!("{make} --format VeraCrypt --encryption AES(Twofish(Serpent))"));
    let info = cli.json(0, "info @v --password-file @pw --pim 1 --hash SHA512");
    assert_eq!(info["cipher"], "aes-twofish-serpent");
    let plan = |words: &str| {
        let words = format!("create @bl --size 64M --password-file @pw --dry-run --format {words}");
        cli.json(0, &words)["plan"].clone()
    };
    assert_eq!(plan("BitLocker --cipher XTS-AES-256")["cipher"], "aes-xts-256");
    if require_tool("mkfs.fat").is_some() {
        for name in ["vfat", "FAT32", "Fat"] {
            let plan = plan(&format!("veracrypt --filesystem {name}"));
            assert!(plan["filesystem"].to_string().to_lowercase().contains("fat"), "{name}: {plan}");
        }
    }
}

#[test]
fn a_password_is_no_argument() {
    let cli = Cli::new();
    for words in ["create @v --size 1M --password hunter2", "open @v --password=hunter2"] {
        cli.refused("usage", "--password-file FILE", words);
        let done = cli.ends(2, words);
        let told = [done.stdout, done.stderr].concat();
        assert!(!String::from_utf8_lossy(&told).contains("hunter2"), "{words}");
    }
    assert!(!cli.path("v").exists());
}

#[test]
fn who_names_no_cipher_is_told_which_there_are() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.refused("usage", "aes-twofish-serpent", "create @v --size 1M --cipher rot13 --password-file @pw");
}
