//! `--dry-run`: every verb that writes says what it would do, and does nothing.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod cli_support;

use cli_support::Cli;
use keyway_testkit::require_tool;
use serde_json::Value;
use std::collections::BTreeMap;

const WITH: &str = "--password-file @pw --pim 1";

/// All that lies in the folder.
fn files(cli: &Cli) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(cli.path(".")).expect("the folder").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files
        .map(|entry| {
            let content = std::fs::read(entry.path()).expect("read");
            (entry.file_name().to_string_lossy().into_owned(), content)
        })
        .collect()
}

/// The plan of these words; nothing in the folder is another than before, and nobody is asked.
fn plan(cli: &Cli, words: &str) -> Value {
    let before = files(cli);
    let document = cli.json(0, &format!("{words} --dry-run"));
    assert_eq!(document["dry_run"], true, "{words}: {document}");
    let told = String::from_utf8(cli.ends(0, &format!("{words} --dry-run")).stdout).expect("text");
    assert!(told.starts_with("Nothing was done. This would be:\n"), "{words}: {told}");
    assert!(files(cli) == before, "{words}: something was changed");
    // Its lines are words, the second column under itself, and no codes.
    let rows = told.lines().skip(1).filter_map(|line| line.strip_prefix("  "));
    let columns =
        rows.map(|row| row.find("  ").map(|gap| gap + row[gap..].len() - row[gap..].trim_start().len()));
    let columns: Vec<_> = columns.collect();
    assert!(columns.windows(2).all(|two| two[0] == two[1]), "{words}: {told}");
    for code in
        ["_", "veracrypt", "file-system", "outer-end", "reencryption", "hidden-volume", " bytes before"]
    {
        let rows = told.lines().filter(|line| line.starts_with("  ") && !line.contains('/'));
        assert!(rows.clone().all(|row| !row.contains(code)), "{words}: {code}: {told}");
    }
    document["plan"].clone()
}

#[test]
fn headers_and_keys_stay_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.volume("v");
    let erase = plan(&cli, &format!("erase @v {WITH}"));
    assert_eq!((&erase["format"], erase["volume"].is_string()), (&"veracrypt".into(), true), "{erase}");
    cli.ends(3, "erase @v --password-file @pw --pim 2 --hash sha512 --dry-run");
    let backup = plan(&cli, &format!("header backup @v @h {WITH}"));
    assert_eq!(backup["hidden"], false, "{backup}");
    cli.ends(0, &format!("header backup @v @h {WITH}"));
    let restore = plan(&cli, &format!("header restore @v @h {WITH}"));
    assert!(restore["file"].as_str().is_some_and(|file| file.ends_with("/h")), "{restore}");
    assert_eq!(
        (&restore["secret_tried"], restore["restores"].as_array().map(Vec::len)),
        (&true.into(), Some(2))
    );
    assert_eq!(restore["restores"][0], "primary", "{restore}");
    let unknown = plan(&cli, "header restore @v @h");
    assert_eq!((&unknown["secret_tried"], &unknown["restores"]), (&false.into(), &Value::Null), "{unknown}");
    // As long as a backup, and none.
    cli.keyway.secret("noise", keyway_testkit::Rng::new(3).bytes(131_072));
    cli.ends(3, &format!("header restore @v @noise {WITH} --hash sha512 --dry-run"));
    let told = |words: &str| String::from_utf8(cli.ends(0, words).stdout).expect("text");
    let known = told(&format!("header restore @v @h {WITH} --dry-run"));
    assert!(
        known.contains("the primary header, its copy at the end") && known.contains("opens what"),
        "{known}"
    );
    let unknown = told("header restore @v @h --dry-run");
    assert!(unknown.contains("not tried, since none was given"), "{unknown}");
    let (by_file, by_copy) =
        ("/v will be overwritten by that in /", "/v will be overwritten by its copy at the end.");
    for (file, says) in [("@h", by_file), ("", by_copy)] {
        let told = told(&format!("header restore @v {file} {WITH} --dry-run"));
        assert!(told.contains(says), "{told}");
    }
}

#[test]
fn no_volume_is_made_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    // Nobody is asked for a password.
    let new = plan(&cli, "create @v --size 1M --cipher serpent --quick");
    assert_eq!((&new["size_bytes"], &new["cipher"]), (&(1 << 20).into(), &"serpent".into()), "{new}");
    assert_eq!((&new["loses"], &new["filled"]), (&Value::Null, &false.into()), "{new}");
    let bitlocker = plan(&cli, "create @v --size 80M --format bitlocker --recovery-file @key.txt");
    assert_eq!(bitlocker["protectors"]["password"], true, "{bitlocker}");
    cli.refused(
        "usage",
        "BitLocker has no cipher",
        "create @v --format bitlocker --cipher serpent --dry-run",
    );
    cli.ends(0, &format!("create @v --size 1M --quick {WITH}"));
    assert_eq!(plan(&cli, "create @v --hidden 256K")["loses"], "outer-end");
    let over = plan(&cli, "create @v --size 2M --force");
    assert_eq!(
        (&over["loses"], &over["there"]),
        (&"file".into(), &"noise, as an encrypted volume is".into())
    );
    if cli.make("plain", 8 << 20, "mkfs.ext4", &["-q", "-F", "-L", "PHOTOS"]).is_some() {
        let words = "create @plain --size 2M --force --dry-run";
        let told = String::from_utf8(cli.ends(0, words).stdout).expect("text");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("There now: the ext4 file system \"PHOTOS\" of 8 MiB."), "{told}");
    }
    let exists = cli.json(1, "create @v --size 2M --dry-run");
    assert_eq!(exists["error"]["kind"], "exists", "{exists}");
}

#[test]
fn what_would_be_refused_is_not_planned() {
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    std::os::unix::fs::symlink(cli.path("nothing"), cli.path("link")).expect("a link");
    std::fs::write(cli.path("zero"), vec![0; 1 << 20]).expect("room");
    for dry in ["--dry-run", ""] {
        for words in ["--size 10M --force", "--size 10M"] {
            let words = format!("create /dev/null {words} {dry} --yes {WITH}");
            cli.fails(4, "not-suitable", "name a volume's file or a block device", &words);
        }
        for force in ["", "--force --yes"] {
            let words = format!("create @link --size 1M {force} {dry} {WITH}");
            // No option has it replaced: none is named.
            cli.fails(1, "not-suitable", "name what it points to", &words);
        }
        cli.fails(4, "not-a-volume", "only zeros", &format!("open @zero {dry} {WITH}"));
        let nbd = format!("serve @zero --nbd unix:/tmp/never --background {dry} {WITH}");
        cli.fails(4, "not-a-volume", "only zeros", &nbd);
    }
    assert!(!cli.path("nothing").exists());
}

#[test]
fn protectors_stay_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.volume("v");
    let change = plan(&cli, &format!("protector change @v {WITH} --new-pim 2"));
    assert_eq!((&change["new_password"], &change["new_pim"]), (&false.into(), &2.into()), "{change}");
    let with = "--password-file @pw";
    cli.ends(0, &format!("create @b --size 80M --quick --format bitlocker --no-recovery-password {with}"));
    let listed = cli.json(0, "protector list @b");
    let id = listed["key_protectors"][0]["id"].as_str().expect("an identifier").to_owned();
    let add = plan(&cli, &format!("protector add @b recovery-password --to @rec.txt {with}"));
    assert_eq!((&add["action"], &add["kind"]), (&"add".into(), &"recovery-password".into()), "{add}");
    // What would be refused is.
    for (words, kind) in [
        (format!("protector remove @b {id} {with} --dry-run"), "last-protector"),
        (format!("protector add @b password {with} --dry-run"), "exists"),
    ] {
        assert_eq!(cli.json(2, &words)["error"]["kind"], kind, "{words}");
    }
    let last = plan(&cli, &format!("protector remove @b {id} --last {with}"));
    assert_eq!((&last["last"], &last["kind"]), (&true.into(), &"password".into()), "{last}");
    let short = plan(&cli, &format!("protector remove @b {} --last {with}", &id[..4]));
    assert_eq!(short, last, "its beginning names it");
    let other = if id.starts_with("0000") { "1111" } else { "0000" };
    cli.refused("no-such-protector", "begins with", &format!("protector remove @b {other} {with}"));
    cli.refused("usage", "is not a GUID", &format!("protector remove @b {} {with}", &id[..3]));
    assert_eq!(plan(&cli, &format!("protector suspend @b {with}"))["action"], "suspend");
    let not = cli.json(1, "protector resume @b --dry-run");
    assert_eq!(not["error"]["kind"], "not-suspended", "{not}");
    let replace = plan(&cli, &format!("protector change @b {with}"));
    assert_eq!(replace["id"].as_str(), Some(&*id), "{replace}");
}

#[test]
fn a_volume_keeps_its_size_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.volume("v");
    let larger = plan(&cli, &format!("resize @v --size 2M {WITH}"));
    assert_eq!((&larger["size_bytes"], &larger["filled"]), (&(2 << 20).into(), &true.into()), "{larger}");
    assert_eq!(larger["data_bytes"], (2 << 20) - (256 << 10), "{larger}");
    let smaller = plan(&cli, &format!("resize @v --size 512K --quick {WITH}"));
    assert_eq!(smaller["hidden_volume"], "lost-behind-the-end", "{smaller}");
    cli.refused("usage", "take 999936 instead", &format!("resize @v --size 1000001 {WITH} --dry-run"));
    cli.ends(3, "resize @v --size 2M --password-file @pw --pim 2 --hash sha512 --dry-run");
    if require_tool("mkfs.fat").is_some() {
        cli.ends(0, &format!("create @f --size 12M --quick --filesystem fat {WITH}"));
        let words = format!("resize @f --size 4M --dry-run {WITH}");
        cli.fails(2, "no-room", "copy the files into a new volume", &words);
        let refused = cli.json(2, &words);
        assert!(refused["most_bytes"].is_number() && refused["error"]["path"].is_string(), "{refused}");
    }
    let done = cli.json(0, &format!("resize @v --size 2M --quick {WITH}"));
    assert_eq!((&done["format"], &done["filled"]), (&"veracrypt".into(), &false.into()), "{done}");
    // Nothing is new in a smaller one.
    alike(
        &cli,
        &format!("resize @v --size 1M {WITH}"),
        &["size_bytes", "data_bytes", "data_bytes_before", "filled"],
    );
}

/// What the plan says of these is what was done then.
fn alike(cli: &Cli, words: &str, of: &[&str]) {
    let planned = plan(cli, words);
    let done = cli.json(0, &format!("{words} --yes"));
    for what in of {
        assert!(!planned[what].is_null(), "{words}: {what}: {planned}");
        assert_eq!(planned[what], done[what], "{words}: {what}: {planned} {done}");
    }
}

#[test]
fn a_new_volume_has_the_room_that_its_plan_says() {
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    cli.keyway.secret("other", "what is hidden in it");
    let hidden = "--hidden-password-file @other --hidden-pim 1";
    for words in [
        format!("create @v --size 1M --quick {WITH}"),
        format!("create @v --hidden 256K --quick {hidden} {WITH} --hash sha512"),
        format!("create @both --size 2M --hidden 512K --quick {hidden} {WITH}"),
        "create @b --size 70M --format bitlocker --no-recovery-password --quick --password-file @pw"
            .to_owned(),
    ] {
        alike(&cli, &words, &["data_bytes", "cipher", "hash"]);
    }
}

#[test]
fn a_conversion_is_looked_at_and_nothing_else() {
    let cli = Cli::new();
    cli.keyway.secret("pw", cli_support::PASSWORD);
    let Some(()) = cli.make("d", 80 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    // Nobody is asked for a secret.
    let encrypt = plan(&cli, "encrypt @d");
    assert_eq!(
        (&encrypt["from"]["filesystem"], &encrypt["to"]["format"]),
        (&"ext4".into(), &"veracrypt".into())
    );
    assert_eq!(encrypt["space"]["from"], "smaller-file-system", "{encrypt}");
    let larger = plan(&cli, "encrypt @d --grow --format bitlocker --cipher aes-xts-256 --journal @j");
    assert_eq!(
        (&larger["to"]["cipher"], &larger["journal"]["place"]),
        (&"aes-xts-256".into(), &"file".into())
    );
    // Windows unlocks an ext4 and reads none: said before anybody agrees to it.
    for (format, warned) in [("bitlocker", true), ("veracrypt", false)] {
        let said = cli.ends(0, &format!("encrypt @d --grow --format {format} --dry-run")).stderr;
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(said.contains("Windows will unlock it, and reads no ext4"), warned, "{format}: {said}");
    }
    let used = plan(&cli, "encrypt @d --grow --used-space-only --free-space trim");
    assert!(used["moved_bytes"].as_u64() < encrypt["moved_bytes"].as_u64(), "{used}");
    assert_eq!((&used["free_space"], &used["space"]["from"]), (&"trim".into(), &"larger-file".into()));
    cli.ends(2, "encrypt @d --reencrypt --grow --dry-run");
    cli.ends(0, &format!("encrypt @d --grow --yes {WITH}"));
    let decrypt = plan(&cli, "decrypt @d");
    assert_eq!(decrypt["lost"], serde_json::json!(["secrecy", "hidden-volume"]), "{decrypt}");
    assert_eq!(plan(&cli, "encrypt @d --reencrypt --cipher serpent")["to"]["cipher"], "serpent");
    let other = plan(&cli, "encrypt @d --reencrypt --format bitlocker --new-password-file @pw");
    assert_eq!(
        (&other["from"]["format"], &other["to"]["format"]),
        (&"veracrypt".into(), &"bitlocker".into())
    );
    // What is in it shows when it is opened, which needs a secret that was named.
    assert_eq!(
        (&other["from"]["cipher"], &other["keeps"]),
        (&Value::Null, &serde_json::json!([])),
        "{other}"
    );
    for (secret, warned) in [(WITH, true), ("", false)] {
        let words = format!("encrypt @d --reencrypt --format bitlocker --new-password-file @pw {secret}");
        let done = cli.ends(0, &format!("{words} --dry-run"));
        let (told, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert_eq!(said.contains("Windows will unlock it, and reads no ext4"), warned, "{secret}: {said}");
        assert_eq!(told.contains("VeraCrypt volume, aes, sha512"), warned, "{secret}: {told}");
    }
    let told = cli.ends(0, "encrypt @d --reencrypt --cipher serpent --dry-run").stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("its cipher and key derivation are found with what opens it"), "{told}");
    let keys = plan(&cli, "encrypt @d --reencrypt --cipher serpent");
    assert_eq!((&keys["to"]["hash"], &keys["keeps"]), (&Value::Null, &serde_json::json!(["hash"])), "{keys}");
    cli.ends(2, "resume @d --dry-run");
}

/// What would be refused is, before anyone is asked for a password.
#[test]
fn names_that_are_taken_are_refused() {
    let cli = Cli::new();
    cli.volume("v");
    let taken = |words: &str| assert_eq!(cli.json(1, words)["error"]["kind"], "exists", "{words}");
    taken("header backup @v @pw --dry-run");
    taken("create @b --size 80M --format bitlocker --recovery-file @v --dry-run");
    cli.ends(0, "create @b --size 80M --quick --format bitlocker --password-file @pw");
    taken("protector add @b recovery-password --to @v --password-file @pw --dry-run");
}

#[test]
fn nothing_is_attached_closed_or_put_in_where_only_a_plan_is_wanted() {
    let cli = Cli::new();
    cli.volume("v");
    let open = plan(&cli, "open @v --attach nbd --read-only");
    assert_eq!((&open["way"]["attachment"]["nbd"], &open["read_only"]), (&"session".into(), &true.into()));
    let told = String::from_utf8(cli.ends(0, "open @v --attach nbd --dry-run").stdout).expect("text");
    assert!(told.contains("attached by  NBD, on a socket of the session's own"), "{told}");
    let missing = "--password-file @missing --dry-run";
    for words in ["open @v", "serve @v --nbd unix:@socket"] {
        cli.fails(1, "not-found", "check the path given as --password-file", &format!("{words} {missing}"));
    }
    let serve = plan(&cli, "serve @v --nbd unix:@socket");
    let socket = serve["way"]["attachment"]["nbd"]["unix"].as_str().map(str::to_owned);
    assert!(socket.is_some_and(|path| path.ends_with("/socket")), "{serve}");
    assert_eq!(plan(&cli, "close --all")["close"], serde_json::json!([]));
    assert_eq!(cli.json(1, "close @v --dry-run")["error"]["kind"], "not-open");
    if require_tool("mkfs.fat").is_none() {
        return;
    }
    cli.ends(0, &format!("create @f --size 12M --quick --filesystem fat {WITH}"));
    std::fs::write(cli.path("note"), b"a note").expect("written");
    let put = plan(&cli, &format!("put @f @note {WITH}"));
    assert_eq!((&put["path"], &put["bytes"]), (&"/note".into(), &6.into()), "{put}");
    assert_eq!(cli.json(0, &format!("ls @f {WITH}"))["entries"], serde_json::json!([]));
}
