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
    for cipher in ["rot13", "aes-serpnt", "twofish-aes"] {
        let words = format!("create @v --size 1M --cipher {cipher} --password-file @pw");
        cli.refused("usage", "kuznyechik-serpent-camellia", &words);
    }
}

#[test]
fn what_veracrypt_calls_an_option_is_answered_with_ours() {
    let cli = Cli::new();
    for (words, helps) in [
        ("open @v --protect-hidden=yes", "write --protect-hidden alone"),
        ("open @v --protect-hidden=no", "leave it out"),
        ("put @v FILE --hidden-password-file @h", "did you mean --protect-password-file FILE?"),
        ("put @v FILE --hidden-pim 1", "did you mean --protect-pim N?"),
        ("put @v FILE --hidden-password x", "use --protect-password-file FILE"),
        ("put @v FILE --hidden", "--protect-hidden keeps it whole"),
        ("open @v --hidden-keyfile @k", "did you mean --protect-keyfile PATH?"),
        ("get @v FILE --hidden-password-file @h", "did you mean --password-file FILE?"),
        ("cat @v --hidden-password x", "use --password-file FILE"),
        ("get @v FILE --protect-password-file @h", "this verb only reads"),
        ("create @v --hidden 1M --protect-password-file @h", "did you mean --hidden-password-file FILE,"),
        ("create @v --hidden 1M --hidden-password x", "use --hidden-password-file FILE"),
        ("open @v --stdin", "--password-file -"),
        ("open @v --non-interactive", "--password-file FILE"),
        ("open @v --type=hidden", "found out by its secret"),
        ("create @v --size 1M --type=hidden", "--hidden SIZE"),
        ("open @v -C", "keyway protector change"),
        ("open @v --protection-keyfiles k", "--protect-keyfile PATH"),
        ("protector change @v --new-keyfiles k", "--new-keyfile PATH"),
        ("open @v --keyfiles k", "--keyfile PATH"),
        ("open @v --backup-headers", "keyway header backup"),
        ("backup-headers @v", "keyway header backup"),
        ("open @v --fs-options=umask=077", "--mount-options LIST"),
        ("open @v --filesystem=none", "leave it out"),
        ("open --auto-mount=favorites", "keyway favourite add"),
        ("ls @v --ro", "keyway open --read-only"),
        ("get @v -r", "leave it out"),
        ("open @v --recovery-key k", "--recovery-password DIGITS-OR-FILE"),
        ("open @v --mountpoint=/mnt", "keyway open VOLUME FOLDER"),
        ("drive range set @v --range 1", "keyway drive range set"),
        ("resume @v --hash sha512", "leave it out"),
        ("repair @v", "keyway header repair"),
        ("bitlkOpen @v", "keyway open"),
        ("isLuks @v", "keyway info"),
        ("open @v --new-password x", "keyway protector change --new-password-file FILE"),
    ] {
        cli.refused("usage", helps, words);
    }
    for words in [
        "protector change @v --new-password hunter2",
        "open @v --protection-password hunter2",
        "create @v --size 1M --hidden-password=hunter2",
        "open @v -p hunter2",
        "open @v --passphrase hunter2",
    ] {
        cli.refused("usage", "a password is never an argument", words);
        cli.refused("usage", "password-file FILE", words);
        let done = cli.ends(2, words);
        assert!(!String::from_utf8_lossy(&done.stderr).contains("hunter2"), "{words}");
    }
}

#[test]
fn what_means_the_same_is_understood() {
    let cli = Cli::new();
    cli.volume("v");
    for words in ["--ro --pim 1", "--readonly --veracrypt-pim 1", "-r --pim 1"] {
        let plan =
            &cli.json(0, &format!("open @v {words} --password-file @pw --attach nbd --dry-run"))["plan"];
        assert_eq!(plan["read_only"], true, "{plan}");
    }
    cli.ends(0, "cat @v --length 512 --password-file @pw --veracrypt-pim 1 --hash sha512");
}

#[test]
fn keyfiles_are_named_as_veracrypt_names_them() {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    std::fs::write(cli.path("one"), "1").expect("a keyfile");
    std::fs::write(cli.path("two"), "2").expect("a keyfile");
    let with = "--password-file @pw --pim 1";
    cli.ends(0, &format!("create @v --size 1M --quick {with} --keyfile @one,@two"));
    let open = format!("cat @v --length 512 --hash sha512 {with}");
    cli.ends(0, &format!("{open} --keyfile @one --keyfile @two"));
    cli.ends(3, &format!("{open} --keyfile="));
    cli.fails(1, "keyfile", "two,none", &format!("{open} --keyfile @two,none"));
    // None at all.
    cli.ends(0, &format!("create @w --size 1M --quick {with} --keyfile="));
    cli.ends(0, &format!("cat @w --length 512 --hash sha512 {with}"));
}
