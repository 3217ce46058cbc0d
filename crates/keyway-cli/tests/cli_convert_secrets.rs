//! What opens a volume while it is converted and afterwards: PIM, keyfiles and both passwords, as the pause tells them.
#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests fails as a test does")]

mod cli_support;

use cli_support::{Cli, PASSWORD, Typed};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const OTHER: &str = "another-twenty-characters-and-more";

fn new() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("pw2", OTHER);
    cli.keyway.secret("key", "bytes of a keyfile");
    std::fs::create_dir(cli.path("away")).expect("made");
    cli
}

/// Begins a conversion, pauses it in the middle, and gives the command that is told to go on with it.
fn paused(cli: &Cli, words: &str) -> String {
    let words = cli.words(&format!("{words} --yes --limit 1 --journal @away/journal"));
    let child = cli.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let began = Instant::now();
    while cli.run("pause @d").status.code() != Some(0) {
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going");
        std::thread::sleep(Duration::from_millis(50));
    }
    let said = child.wait_with_output().expect("it ends").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    let told = said.split_once("go on with `keyway ").and_then(|(_, rest)| rest.split_once('`'));
    told.unwrap_or_else(|| panic!("nothing is told: {said}")).0.to_owned()
}

/// As `protector change` does: what isn't named stays.
#[test]
fn a_new_password_leaves_pim_and_keyfiles_as_they_are() {
    let cli = new();
    cli.ends(0, "create @d --size 6M --quick --password-file @pw --pim 1 --keyfile @key --filesystem none");
    let opens = |secret: &str| cli.ends(0, &format!("cat @d {secret} --hash sha512")).stdout;
    let old = "--password-file @pw --pim 1 --keyfile @key";
    let before = opens(old);
    // What is named without `--new-` is the old one's, but for the hash: whoever means the old one's hears it.
    let wrong = "encrypt @d --reencrypt --hash sha256 --password-file @pw --pim 1 --yes";
    cli.fails(3, "wrong-secret", "--hash is the new volume's", wrong);
    let next = paused(&cli, &format!("encrypt @d --reencrypt {old} --new-password-file @pw2"));
    for told in [" --journal ", " --pim 1", " --keyfile ", " --new-password-file "] {
        assert!(next.contains(told), "{told}: {next}");
    }
    let done = cli.ends(0, &format!("{next} --password-file @pw"));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains("--pim 1") && said.contains("--keyfile"), "{said}");
    let now = "--password-file @pw2 --pim 1 --keyfile @key";
    assert!(opens(now) == before, "the content is another");
    // Another PIM alone: the password stays, and nobody is asked for one.
    cli.ends(0, &format!("encrypt @d --reencrypt {now} --new-pim 2 --yes"));
    assert!(opens("--password-file @pw2 --pim 2 --keyfile @key") == before, "the content is another");
}

/// Cipher and key derivation are what was named, else what they were; and both are told, now and before.
#[test]
fn what_is_not_named_stays_as_it_was() {
    let cli = new();
    let secret = "--password-file @pw --pim 1";
    cli.ends(0, &format!("create @d --size 2M --quick --cipher serpent --hash blake2s {secret}"));
    let text = |document: &Value, field: &str| document[field].as_str().unwrap_or_default().to_owned();
    let now = || {
        let info = cli.json(0, &format!("info @d {secret}"));
        [text(&info, "cipher"), text(&info, "hash")]
    };
    assert_eq!(now(), ["serpent", "blake2s"]);
    let asks = |path: &str, words: &str| {
        let error = &cli.json(2, &format!("encrypt @{path} --reencrypt {words}"))["error"];
        text(error, "message")
    };
    for (named, keeps) in [
        ("", "in place, with the cipher and the key derivation that it has."),
        ("--cipher twofish", "in place, with twofish and the key derivation that it has."),
        ("--hash sha256", "in place, with sha256 and the cipher that it has."),
        ("--cipher twofish --hash sha256", "in place, with twofish and sha256."),
    ] {
        let asked = asks("d", &format!("{named} {secret}"));
        assert!(asked.contains(keeps), "{named}: {asked}");
    }
    let done = cli.json(0, &format!("encrypt @d --reencrypt --cipher twofish {secret} --yes"));
    let told = ["cipher", "hash", "cipher_before", "hash_before"].map(|field| text(&done, field));
    assert_eq!(told, ["twofish", "blake2s", "serpent", "blake2s"]);
    assert_eq!(now(), ["twofish", "blake2s"]);
    let done = cli.ends(0, &format!("encrypt @d --reencrypt --hash sha256 {secret} --yes"));
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(told.contains("twofish, as before") && told.contains("sha256; it was blake2s"), "{told}");
    assert_eq!(now(), ["twofish", "sha256"]);
    cli.ends(0, &format!("encrypt @d --reencrypt {secret} --yes"));
    assert_eq!(now(), ["twofish", "sha256"]);

    let made = "--size 64M --format bitlocker --cipher aes-xts-256 --no-recovery-password";
    cli.ends(0, &format!("create @b --quick --filesystem none {made} --password-file @pw"));
    let done = cli.json(0, "encrypt @b --reencrypt --password-file @pw --yes");
    assert_eq!(["cipher", "cipher_before"].map(|field| text(&done, field)), ["aes-xts-256"; 2]);
    assert_eq!(text(&cli.json(0, "info @b"), "cipher"), "aes-xts-256");
    // What it was says nothing of a volume of the other format, whose defaults are told.
    let asked =
        asks("b", "--format veracrypt --grow --password-file @pw --new-password-file @pw --new-pim 1");
    assert!(asked.contains("becomes a VeraCrypt volume in place, with aes and sha512,"), "{asked}");
}

/// A BitLocker volume has no PIM: its password is asked for by that name, and the old one's by its own.
#[test]
fn a_volume_with_a_pim_that_becomes_a_bitlocker_volume_goes_on_as_it_is_told() {
    let cli = new();
    let begin = |cli: &Cli| {
        if cli.path("d").exists() {
            std::fs::remove_file(cli.path("d")).expect("removed");
        }
        cli.ends(
            0,
            "create @d --size 72M --quick --password-file @pw --pim 1 --keyfile @key --filesystem none",
        );
        paused(
            cli,
            "encrypt @d --reencrypt --format bitlocker --no-recovery-password --password-file @pw --pim 1 --keyfile @key \
             --new-password-file @pw2",
        )
    };
    let next = begin(&cli);
    for told in [" --journal ", " --pim 1", " --keyfile "] {
        assert!(next.contains(told), "{told}: {next}");
    }
    // Nobody is there to be asked: what is missing is named.
    cli.fails(2, "usage", "--new-password-file", &format!("{next} --password-file @pw"));
    if let Some(mut typed) = Typed::new(&cli, &next) {
        typed.answer(
            "Password of the VeraCrypt volume that d was (Enter for none): ",
            &format!("{PASSWORD}\r"),
        );
        typed.answer("Password of the BitLocker volume that d becomes: ", &format!("{OTHER}\r"));
        let (code, shown) = typed.end();
        assert_eq!(code, Some(0), "{shown}");
        cli.ends(0, "cat @d --password-file @pw2 --length 4096");
    }
    let next = begin(&cli);
    cli.ends(0, &format!("{next} --password-file @pw --new-password-file @pw2"));
    cli.ends(0, "cat @d --password-file @pw2 --length 4096");
}

/// What is plainly no volume is told before anybody is asked for its secret, whatever shall become of it.
#[test]
fn who_has_no_volume_is_asked_for_no_secret() {
    let cli = new();
    std::fs::File::create(cli.path("d")).and_then(|file| file.set_len(72 << 20)).expect("a file of zeros");
    for words in ["encrypt @d --reencrypt --format bitlocker", "encrypt @d --reencrypt", "decrypt @d"] {
        // Nothing is typed: a question would end with another word.
        cli.fails(4, "not-a-volume", "only zeros", &format!("{words} --yes --journal @away/journal"));
    }
    let recovery = "encrypt @d --reencrypt --format bitlocker --recovery-password - --yes";
    cli.fails(4, "not-a-volume", "only zeros", recovery);
    assert_eq!(std::fs::read_dir(cli.path("away")).expect("there").count(), 0);
}
