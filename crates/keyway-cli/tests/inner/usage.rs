//! Wrong words are told in one voice, with the nearest right ones and a next step that exists.

use super::*;
use crate::args::with_help_of;
use std::os::unix::ffi::OsStrExt;

#[path = "manual.rs"]
mod manual;

/// What is said of these words, and what helps.
fn said_of(line: &str) -> (String, String) {
    let words = words(format!("keyway {line}").split_whitespace().map(OsString::from));
    let error = Cli::of(&words).map(drop).expect_err("wrong words");
    let Failure { message, hint, .. } = failure(&error, &words);
    (message, hint)
}

fn says(line: &str, message: &str, hint: &str) {
    assert_eq!(said_of(line), (message.to_owned(), hint.to_owned()), "{line}");
}

#[test]
fn no_verb_and_none_of_ours() {
    says("", "no verb was named", "`keyway --help` lists the verbs; `keyway demo` is the tour");
    says(
        "header",
        "keyway header needs a verb of its own: backup, restore, repair, check",
        "`keyway header --help` explains it",
    );
    let all = "`keyway --help` lists all verbs";
    says("opne v", "there is no verb called \"opne\"", &format!("did you mean `keyway open`? {all}"));
    says("Mount v", "there is no verb called \"Mount\"", &format!("did you mean `keyway open`? {all}"));
    says("xyzzy", "there is no verb called \"xyzzy\"", "`keyway --help` lists the verbs");
    let (message, hint) = said_of("header backpu v f");
    assert_eq!(message, "keyway header has no verb called \"backpu\"");
    assert!(hint.starts_with("did you mean `keyway header backup`?"), "{hint}");
    // No verb that only Keyway itself calls is offered to anybody.
    let (_, hint) = said_of("serve-volum");
    assert!(!hint.contains("serve-volume"), "{hint}");
}

#[test]
fn a_verb_is_meant_by_what_it_means_and_none_that_destroys_is_guessed() {
    let meant = |typed: &str, ours: &str| {
        let (message, hint) = said_of(&format!("{typed} v"));
        assert!(message.contains("no verb called"), "{typed}: {message}");
        assert!(hint.contains(&format!("`keyway {ours}`")), "{typed}: {hint}");
    };
    for (typed, ours) in [
        ("restore", "header restore"),
        ("backup", "header backup"),
        ("backup-headers", "header backup"),
        ("restore-headers", "header restore"),
        ("volume-properties", "info"),
        ("convert", "encrypt --reencrypt"),
        ("suspend", "protector suspend"),
        ("change-password", "protector change"),
        ("passwd", "protector change"),
        ("mount", "open"),
        ("umount", "close"),
        ("dismount", "close"),
        ("lock", "close"),
        ("list", "status"),
        ("list", "ls"),
        ("remove", "protector remove"),
        ("mkdir", "put"),
    ] {
        meant(typed, ours);
    }
    // What is deleted, moved or made inside is so where it is mounted.
    for typed in ["rm", "delete", "mv", "rename"] {
        let (_, hint) = said_of(&format!("{typed} v"));
        // Without root it is mounted for reading only.
        assert!(hint.contains("sudo keyway open VOLUME FOLDER"), "{typed}: {hint}");
    }
    for typed in ["restore", "rename", "release", "remove", "reverse", "describe", "descript"] {
        let (_, hint) = said_of(&format!("{typed} v"));
        assert!(
            ["erase", "decrypt", "create"].iter().all(|verb| !hint.contains(&format!("keyway {verb}`"))),
            "{typed}: {hint}"
        );
    }
    // A slip is one.
    meant("eraze", "erase");
    // What others call our verbs are not verbs of a verb.
    let (_, hint) = said_of("header list v");
    assert_eq!(hint, "`keyway header --help` lists the verbs");
}

#[test]
fn an_option_is_meant_by_what_it_means() {
    for line in ["open v --force", "cat v --force"] {
        let (message, hint) = said_of(line);
        assert!(message.contains("has no option --force"), "{line}: {message}");
        assert!(!hint.contains("did you mean"), "{line}: {hint}");
    }
    for (line, hint) in [
        ("open v -m headerbak", "did you mean --header backup?"),
        ("open v --fs-options=umask=077", "did you mean --mount-options LIST?"),
        ("open v -m ro", "did you mean --read-only?"),
        ("open v -o ro", "did you mean --read-only?"),
        ("open v -m x", "did you mean --mount-options LIST?"),
        ("ls v -o x", "did you mean keyway open --mount-options LIST?"),
        ("ls -l v", "leave it out: sizes and times are listed as it is"),
        ("ls -la v", "leave it out: sizes and times are listed as it is"),
        ("ls -a v", "leave it out: what has a dot in front is listed, too"),
        ("-l", "`keyway status` lists what is open"),
    ] {
        assert_eq!(said_of(line).1, hint, "{line}");
    }
    says(
        "--read-only open v mnt",
        "--read-only stands before the verb that it belongs to",
        "write it behind: keyway open … --read-only",
    );
    says(
        "create -- v --quick",
        "--quick stands behind --, and what stands there is a name",
        "write it before that: keyway create --quick … -- NAME",
    );
}

#[test]
fn no_verb_is_advised_an_option_that_it_lacks() {
    let catalogue = include_str!("../../words/advice.txt");
    let sentences =
        catalogue.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let sentences: Vec<(&str, &str)> = sentences.collect();
    let root = Cli::command();
    let mut verbs = Vec::new();
    below("keyway", &root, &mut verbs);
    for deep in ["keyway drive user enable", "keyway header repair", "keyway protector add", "keyway lab run"]
    {
        assert!(verbs.iter().any(|(name, _)| name == deep), "{deep}");
    }
    let ours = |option: &str| verbs.iter().any(|(_, verb)| has(verb, option));
    let mut named = 0;
    for (name, verb) in &verbs {
        for (word, sentence) in &sentences {
            let told = placed(sentence, &root, verb);
            for (at, _) in told.match_indices(" --") {
                let option =
                    told[at + 1..].split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or("");
                // It stands behind a verb, in quotes or in its clause.
                let before = &told[..at];
                let quoted = before.matches('`').count() % 2 == 1;
                let clause = before.rsplit([';', ',']).next().unwrap_or("");
                let placed = quoted || clause.contains("keyway ") || before.ends_with(": keyway");
                named += usize::from(ours(option));
                let lacks = ours(option) && !has(verb, option) && !has(&root, option) && !placed;
                assert!(!lacks, "{name} / {word}: {told}");
            }
        }
    }
    assert!(named > 1000, "{named} were found");
    let of = |verb: &str, sentence: &str| with_verbs(sentence, &["keyway".into(), verb.into()]);
    assert_eq!(of("put", "run it, or use --attach nbd"), "run it, or use keyway open --attach nbd");
    assert_eq!(of("open", "run it, or use --attach nbd"), "run it, or use --attach nbd");
    let command = "open it: keyway open v --attach nbd; (--attach files) does, too";
    assert_eq!(of("put", command), command.replace("(--", "(keyway open --"));
    let after = "go on with `keyway resume v` and any --attach";
    assert_eq!(of("put", after), after);
    assert_eq!(of("put", "`keyway ls` does, --attach too"), "`keyway ls` does, keyway open --attach too");
    assert_eq!(of("put", "`x --attach`, --no-such --yes"), "`x --attach`, --no-such --yes");
}

#[test]
fn a_volume_where_a_verb_belongs() {
    let volume = tempfile::Builder::new().prefix("a b").tempfile().expect("a file");
    let words = [OsString::from("keyway"), volume.path().into()];
    let error = Cli::of(&words).map(drop).expect_err("no verb");
    let hint = failure(&error, &words).hint;
    let (open, info) = (format!("`keyway open '{0}'`", volume.path().display()), "`keyway info '");
    assert!(hint.starts_with(&open) && hint.contains(info), "{hint}");
    // A name that is no text.
    let folder = tempfile::tempdir().expect("a folder");
    let volume = folder.path().join(OsStr::from_bytes(b"b\xff.hc"));
    std::fs::write(&volume, b"content").expect("written");
    let words = [OsString::from("keyway"), volume.into()];
    let error = Cli::of(&words).map(drop).expect_err("no verb");
    let Failure { message, hint, .. } = failure(&error, &words);
    assert!(message.contains("b\\xff.hc\""), "{message}");
    assert!(hint.starts_with("`keyway open $'") && hint.contains("xff.hc'` opens it"), "{hint}");
}

#[test]
fn options_and_values() {
    says(
        "open v --read-olny",
        "keyway open has no option --read-olny",
        "did you mean --read-only? `keyway open --help` lists all options",
    );
    says(
        "info v w",
        "\"w\" is one word too many",
        "it goes like this: keyway info [OPTIONS] <VOLUME>; quote names with spaces",
    );
    says("open", "VOLUME is missing", "it goes like this: keyway open <VOLUME> [MOUNTPOINT]");
    says(
        "open v --format bitloker",
        "--format can't be \"bitloker\": there are veracrypt, truecrypt, bitlocker",
        "did you mean \"bitlocker\"? `keyway open --help` explains them",
    );
    says(
        "cat v --offset ten",
        "--offset: \"ten\" is not a size: write a number with K, M, G or T, such as 512M or 10G",
        "`keyway cat --help` explains it",
    );
    says("cat v --offset", "--offset needs a value", "`keyway cat --help` explains it");
    says("cat v --offset 1 --offset 2", "--offset can be given only once", "leave all but one of them out");
    says(
        "open v --read-only --cache --allow-discards",
        "--read-only does not go with --allow-discards",
        "leave one of them out",
    );
    for (line, helps) in [
        ("--dismount v", "`keyway close`"),
        ("open v -k f", "--keyfile PATH"),
        ("open v --slot 3", "its own path"),
        ("create v --volume-type hidden", "--hidden SIZE"),
    ] {
        let (message, hint) = said_of(line);
        assert!(message.contains("has no option") && hint.contains(helps), "{line}: {message}: {hint}");
    }
    says(
        "open v --pim x",
        "--pim can't be \"x\": a PIM is a whole number from 0 to 2147468",
        "`keyway open --help` explains it",
    );
    says(
        "create v --password x",
        "a password is never an argument: there every program on this machine can read it",
        "use --password-file FILE or --password-fd N, or be asked for it",
    );
}

#[test]
fn what_begins_with_a_dash_and_is_no_option() {
    says(
        "create -dash.hc --size 1M",
        "-dash.hc begins as an option does",
        "for a file of this name write ./-dash.hc",
    );
    let counted =
        |number: &str| format!("numbers here are 0 or more: leave the dash out where {number} was meant");
    says("create v --size -5M", "\"-5M\" is less than nothing", &counted("5M"));
    says("cat v --offset -5", "\"-5\" is less than nothing", &counted("5"));
    says(
        "resize v --size -5M",
        "\"-5M\" is less than nothing",
        "a size says how large it is to be, not by how much: write 5M",
    );
    // What is close to an option is one.
    assert_eq!(said_of("open v --passwordfile=a.txt").0, "keyway open has no option --passwordfile");
}

/// A verb is the verb wherever the options stand that every verb has, and whatever their values.
#[test]
fn a_verb_is_found_behind_the_options_of_all() {
    for words in [
        "--progress line ls v",
        "--log ls --progress none -q ls v",
        "--progress=none ls v",
        "ls v --log open",
    ] {
        let words: Vec<OsString> =
            std::iter::once("keyway").chain(words.split(' ')).map(OsString::from).collect();
        assert_eq!(command_of(&words).0, "keyway ls", "{words:?}");
    }
}

#[test]
fn one_word_too_many_is_told_what_it_may_be() {
    says(
        "create 10M y7.hc",
        "\"y7.hc\" is one word too many",
        "a size is --size 10M; it goes like this: keyway create [OPTIONS] <PATH>",
    );
    says(
        "close a.hc b.hc",
        "\"b.hc\" is one word too many",
        "one volume at a time, or all that are open: keyway close --all",
    );
    // `add` and `remove` take a kind there.
    says(
        "protector change v password",
        "\"password\" is one word too many",
        "leave it out: it is the password that changes where --id names no other protector",
    );
    for line in ["protector change v startup-key", "protector recovery v 1234abcd"] {
        let (_, hint) = said_of(line);
        assert!(hint.starts_with("--id names"), "{line}: {hint}");
    }
    for (line, part) in [
        ("protector suspend v password", "all of a volume's protection is suspended"),
        ("protector resume v password", "all of a volume's protection is resumed"),
    ] {
        let (_, hint) = said_of(line);
        assert!(hint.starts_with(part), "{line}: {hint}");
    }
}

#[test]
fn a_command_in_advice_names_the_volume_that_was_named() {
    let words: Vec<OsString> = ["keyway", "ls", "my stick.img"].map(OsString::from).to_vec();
    let advice = "see `keyway protector list VOLUME`; keyway header restore VOLUME FILE; check the path given as VOLUME";
    let told = "see `keyway protector list 'my stick.img'`; keyway header restore 'my stick.img' FILE; check the path given as VOLUME";
    assert_eq!(filled(advice, &words), told);
    let mounts = filled(&with_verbs(&sentence(&Advice::MountVolume), &words), &words);
    let told = "mount the volume instead: sudo keyway open 'my stick.img' FOLDER (and --protect-hidden where it may be an outer one)";
    assert_eq!(mounts, told);
    let given = ["--format", "veracrypt", "--pim", "3", "--keyfile", "a key"].map(OsString::from);
    let words = [words, given.to_vec()].concat();
    let mounts = filled(&sentence(&Advice::MountVolume), &words);
    let with = "sudo keyway open 'my stick.img' FOLDER --format veracrypt --pim 3 --keyfile 'a key' (and";
    assert!(mounts.contains(with), "{mounts}");
    let put = ["keyway", "put", "v", "a b", "c", "--to", "/d e", "--force", "--pim", "3"].map(OsString::from);
    let again = filled(&sentence(&Advice::PutAsRoot { package: None }), &put);
    let told = "do the same as root: sudo keyway put v 'a b' c --to '/d e' --force --pim 3";
    assert_eq!(again, told);
    let words: Vec<OsString> = ["keyway", "create", "v"].map(OsString::from).to_vec();
    assert_eq!(filled(advice, &words), advice, "what is made is no volume yet");
}

#[test]
fn nothing_steers_the_terminal() {
    for line in [
        "\u{1b}[2J",
        "open v \u{1b}[2J x",
        "open v --\u{1b}[2J",
        "open v --format \u{1b}[2J",
        "cat v --offset \u{1b}[2J",
    ] {
        let (message, hint) = said_of(line);
        assert!(!format!("{message}{hint}").contains('\u{1b}'), "{line:?}: {message:?} {hint:?}");
    }
}

#[test]
fn what_others_call_our_verbs_are_verbs_of_ours() {
    let catalogue = include_str!("../../words/told.txt");
    let lines = catalogue.lines().filter_map(|line| line.strip_prefix("verb ")?.split_once(" = "));
    for (theirs, ours) in lines {
        assert!(with_help_of(|_| true).find_subcommand(theirs).is_none(), "{theirs} is one of ours");
        let help = format!("keyway {ours} --help");
        let shown = Cli::of(&help.split(' ').collect::<Vec<_>>()).map(drop).expect_err("help");
        assert!(!shown.use_stderr(), "{ours}: {shown}");
    }
}

#[test]
fn help_is_a_verb_as_elsewhere() {
    let of = |line: &str| words(line.split(' ').map(OsString::from));
    assert_eq!(of("keyway help"), of("keyway --help"));
    assert_eq!(of("keyway help lab run"), of("keyway lab run --help"));
    // Options that every verb has may stand in front of this one as well, and are not taken for it.
    assert_eq!(of("keyway --json help open"), of("keyway --json open --help"));
    assert_eq!(of("keyway -q --progress none help"), of("keyway -q --progress none --help"));
    assert_eq!(of("keyway --log help open v"), ["keyway", "--log", "help", "open", "v"]);
    assert_eq!(of("keyway open help"), ["keyway", "open", "help"]);
}

#[test]
fn missing_words_stand_in_one_line() {
    let text = "error: what:\n  <VOLUME>\n  --size\n\nUsage: …\n";
    assert_eq!(first_paragraph(text), "what: <VOLUME> --size");
}
