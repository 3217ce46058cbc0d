//! All sentences a person reads (the catalogues, the help, the errors, the guide and the reference): the commands in them exist, with
//! options that exist; none says what another says in other words; their words are the plain ones.

use super::{ADVICE, CAUSES, TOLD};
use crate::args::{Cli, with_help_of};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use keyway::told::wrapped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const WAYS: &str = include_str!("../../words/ways.txt");

/// A narrow terminal: every sentence can be read on one.
const SENTENCE_COLUMNS: usize = 72;

/// Sentences that are nearly the same, and are both wanted: one says of which format it is, what is unchanged, or an option more.
const NEARLY_THE_SAME: &[(&str, &str)] = &[
    ("check-path", "check path[argument=PATH]"),
    ("read-system-log", "read-system-log-unchanged"),
    ("give-secret", "give-drive-password"),
    ("give-new-secret", "give-new-drive-password"),
    ("misuse NoPassword(Own)", "misuse NoPassword(Drive)"),
    ("factory-state", "drive is[state=factory]"),
    ("conversion done[kind=decryption]", "conversion decrypted"),
    ("variant qwerty-to-qwertz", "variant qwertz-to-qwerty"),
    ("variant qwerty-to-azerty", "variant azerty-to-qwerty"),
    ("variant qwertz-to-azerty", "variant azerty-to-qwertz"),
    ("files", "doctor files"),
    ("least-volume", "least-bitlocker"),
    ("name-header-backup", "name-metadata-backup"),
    ("resume-volume", "then-resume"),
    ("say-where-journal", "mount-journal"),
    ("protect-nothing", "leave-out-read-only"),
];

/// What the field's programs say, and what people say.
const PLAIN: &[(&str, &str)] = &[
    ("abort", "stop"),
    ("backend", "what it runs on"),
    ("bogus", "what is wrong with it"),
    ("corrupt", "damaged"),
    ("corrupted", "damaged"),
    ("credentials", "secret"),
    ("daemon", "process"),
    ("directories", "folders"),
    ("directory", "folder"),
    ("flag", "option"),
    ("flags", "options"),
    ("malformed", "what is wrong with it"),
    ("truncated", "cut off"),
    ("via", "by, over, through"),
    ("aborted", "stopped"),
    ("blob", "bytes"),
    ("deprecated", "old"),
    ("dismount", "unmount"),
    ("e.g.", "such as"),
    ("eof", "the end"),
    ("errno", "what the system said"),
    ("execute", "run"),
    ("failed to", "could not"),
    ("fatal", "what it is"),
    ("filesystem", "file system"),
    ("filesystems", "file systems"),
    ("i.e.", "that is"),
    ("illegal", "what is wrong with it"),
    ("inode", "file"),
    ("invalid", "what is wrong with it"),
    ("keyslot", "protector"),
    ("leverage", "use"),
    ("mountpoint", "mount point"),
    ("nonce", "number"),
    ("parameter", "option"),
    ("passphrase", "password"),
    ("please specify", "name"),
    ("specify", "name"),
    ("stderr", "standard error"),
    ("stdin", "standard input"),
    ("stdout", "standard output"),
    ("successfully", "it is done"),
    ("superblock", "the file system's beginning"),
    ("terminate", "end"),
    ("tty", "terminal"),
    ("unable to", "could not"),
    ("unsupported", "what it does not do"),
    ("utilise", "use"),
    ("vfat", "FAT"),
];

/// A catalogue's words and sentences.
fn entries(catalogue: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    catalogue.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
}

/// What is told, by where it stands.
fn catalogues() -> impl Iterator<Item = (String, &'static str)> {
    [("advice", ADVICE), ("causes", CAUSES), ("told", TOLD), ("ways", WAYS)]
        .into_iter()
        .flat_map(|(name, text)| entries(text).map(move |(word, said)| (format!("{name}.txt {word}"), said)))
        // What others call our verbs.
        .filter(|(place, _)| !place.starts_with("told.txt verb "))
}

/// The help of each verb, about itself and its options.
fn help(command: &Command, path: &str, all: &mut Vec<(String, String)>) {
    let path = format!("{path} {}", command.get_name());
    let mut add =
        |text: Option<String>, of: &str| all.extend(text.map(|text| (format!("{path} --help{of}"), text)));
    add(command.get_long_about().or(command.get_about()).map(ToString::to_string), "");
    add(command.get_after_long_help().map(ToString::to_string), "");
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let of = format!(", {}", arg.get_id());
        add(arg.get_help().map(ToString::to_string), &of);
        add(arg.get_long_help().map(ToString::to_string), &of);
    }
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        help(verb, &path, all);
    }
}

fn files(folder: &Path, extension: &str, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, all);
        } else if path.extension().is_some_and(|e| e == extension) {
            all.push(path);
        }
    }
}

/// All that is read: catalogues, help, documents, and what stands in the source of the command line and of the library.
fn texts() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = catalogues().map(|(place, said)| (place, said.to_owned())).collect();
    help(&with_help_of(|_| true), "", &mut all);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = vec![root.join("README.md")];
    for (folder, extension) in [
        ("docs/guide", "md"),
        ("docs/reference", "md"),
        ("crates/keyway-cli/src", "rs"),
        ("crates/keyway/src", "rs"),
        ("crates/keyway-volume/src", "rs"),
    ] {
        files(&root.join(folder), extension, &mut paths);
    }
    let read = |path: &PathBuf| {
        let named = path.strip_prefix(&root).expect("below it").display().to_string();
        (named, std::fs::read_to_string(path).expect("text"))
    };
    all.extend(paths.iter().map(read));
    all
}

/// The commands that a text names: in backquotes, and behind a colon up to where the sentence goes on.
fn commands(text: &str) -> Vec<String> {
    let begins = |span: &str| span.starts_with("keyway ") || span.starts_with("sudo keyway ");
    let mut found = Vec::new();
    for line in text.lines() {
        let spans = line.split('`').skip(1).step_by(2);
        found.extend(spans.filter(|span| begins(span)).map(str::to_owned));
        for (_, after) in
            line.match_indices(": ").map(|(at, _)| (at, &line[at + 2..])).filter(|(_, a)| begins(a))
        {
            let end = after.find([';', ',', '|', ')', '(', '`', '"', '\'', '\\', '<']).unwrap_or(after.len());
            let end = after.find(". ").unwrap_or(end).min(end);
            found.push(after[..end].trim_end_matches('.').to_owned());
        }
    }
    found
}

/// Why a command is none; what it leaves out for the reader to fill in is no reason.
fn refused(command: &str) -> Option<String> {
    let command = command.trim_start_matches("sudo ").replace("\\|", "|");
    let mut words: Vec<String> = Vec::new();
    for word in command.split_whitespace() {
        // What belongs to the shell, and what a document leaves out.
        if ["|", ">", "<", "&&", "||", "#", "/", "or"].contains(&word) {
            break;
        }
        let word = word.trim_matches(|c| c == '[' || c == ']' || c == '\'');
        let word = word.split('|').next().unwrap_or_default();
        if word != "…" && !word.ends_with("-…") {
            words.push(word.to_owned());
        }
    }
    // Any verb that there is.
    if words.iter().any(|word| word == "VERB") || command.starts_with("keyway … ") {
        return None;
    }
    let error = Cli::of(&words).err()?;
    let left_out = |word: &&String| word.contains(['{', '…', '[']) || word.chars().all(|c| !c.is_lowercase());
    match error.kind() {
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => None,
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if words.iter().any(|word| left_out(&word)) => {
            None
        }
        // "`keyway open --format` looks for it": the option's value is left out.
        ErrorKind::InvalidValue if words.last().is_some_and(|word| word.starts_with("--")) => None,
        _ => Some(error.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

#[test]
fn every_command_that_a_sentence_names_is_one() {
    let (mut found, mut wrong) = (0, Vec::new());
    for (place, text) in texts() {
        for command in commands(&text) {
            found += 1;
            wrong.extend(refused(&command).map(|why| format!("{place}: {command}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 400, "{found} commands were found");
}

/// Steps that speak of a verb as such, or of a volume whose name only the reader knows.
const OF_VERBS: &[&str] = &[
    "load-fuse",
    "join-group",
    "let-users-open",
    "install-fuse",
    "give-capability[to_open]",
    "restore-from-this",
    "name-header-backup",
    "name-metadata-backup",
    "open-container[container=bitlocker-backup]",
    "open-by-verb",
    "root-or-file",
    "root-or-device",
    "ask-doctor-or-nbd",
    "other-way-or-no-mount",
];

/// What is advised names the volume or drive that the command line named: it can be copied as it stands.
#[test]
fn a_command_that_is_advised_says_what_it_is_for() {
    let lacks = |command: &str| {
        let words: Vec<&str> = command.trim_start_matches("sudo ").split_whitespace().collect();
        let missing = Cli::of(&words).err().map(|error| error.get(ContextKind::InvalidArg).cloned());
        match missing.flatten() {
            Some(ContextValue::Strings(names)) => {
                names.iter().any(|name| ["<VOLUME>", "<DEVICE>"].contains(&&**name))
            }
            _ => false,
        }
    };
    assert!(lacks("sudo keyway header repair --yes") && !lacks("keyway header repair VOLUME"));
    let all = entries(ADVICE).flat_map(|(word, said)| commands(said).into_iter().map(move |one| (word, one)));
    let wrong: Vec<_> = all.filter(|(word, command)| lacks(command) && !OF_VERBS.contains(word)).collect();
    assert!(wrong.is_empty(), "write VOLUME or DEVICE, which is filled in: {wrong:#?}");
}

#[test]
fn a_command_that_is_none_is_found() {
    assert_eq!(commands("see `keyway frob x`; or: keyway ls V, then"), ["keyway frob x", "keyway ls V"]);
    for wrong in
        ["keyway frob x", "keyway open v --read-olny", "keyway cat v --format tape", "keyway ls a b c"]
    {
        assert!(refused(wrong).is_some(), "{wrong}");
    }
    for right in
        ["keyway open", "keyway cat {path} --offset N", "sudo keyway drive", "keyway open VOLUME --format"]
    {
        assert_eq!(refused(right), None, "{right}");
    }
}

#[test]
fn every_option_that_a_sentence_names_is_one() {
    fn options(command: &Command, all: &mut BTreeSet<String>) {
        let named = command.get_arguments().flat_map(|arg| {
            arg.get_long()
                .into_iter()
                .chain(arg.get_all_aliases().unwrap_or_default())
                .map(|long| format!("--{long}"))
        });
        all.extend(named);
        command.get_subcommands().for_each(|verb| options(verb, all));
    }
    // Of other programs, whose commands stand before them.
    const OTHERS: [&str; 5] = ["--assemble", "--scan", "--show", "--stop", "--verify"];
    let mut ours: BTreeSet<String> = OTHERS.iter().map(|option| (*option).to_owned()).collect();
    ours.extend(["--help", "--version"].map(str::to_owned));
    options(&with_help_of(|_| true), &mut ours);
    for (place, said) in catalogues() {
        for (at, _) in said.match_indices("--") {
            let option = &said[at..];
            let end = option[2..]
                .find(|c: char| !c.is_ascii_lowercase() && c != '-')
                .map_or(option.len(), |end| end + 2);
            // `--…password-fd`, and options by their beginning: `--hidden-…`.
            if end > 2 && !option[..end].ends_with('-') {
                assert!(ours.contains(&option[..end]), "{place}: {} is no option", &option[..end]);
            }
        }
    }
}

/// The words that carry a sentence's meaning.
fn meaning(said: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 22] = [
        "a", "an", "and", "are", "as", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or",
        "that", "the", "this", "to", "with", "be", "was",
    ];
    let lower = said.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '{' && c != '}');
    words.filter(|word| !word.is_empty() && !EMPTY.contains(word)).map(str::to_owned).collect()
}

#[test]
fn no_two_sentences_say_the_same() {
    let all: Vec<(String, BTreeSet<String>)> = entries(ADVICE)
        .chain(entries(CAUSES))
        // Several of clap's kinds of error are one to whoever typed it.
        .chain(entries(TOLD).filter(|(word, _)| {
            // A plan's fields are a table's rows.
            ["verb ", "usage ", "plan "].iter().all(|of| !word.starts_with(of))
        }))
        .chain(entries(WAYS))
        .map(|(word, said)| (word.to_owned(), meaning(said)))
        .filter(|(_, meaning)| meaning.len() > 1)
        .collect();
    let base = |word: &str| word.split('[').next().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for (at, (word, one)) in all.iter().enumerate() {
        for (other, two) in all.iter().skip(at + 1).filter(|(other, _)| base(other) != base(word)) {
            let (both, either) = (one.intersection(two).count(), one.union(two).count());
            if both * 100 >= either * 80 && !NEARLY_THE_SAME.contains(&(word.as_str(), other.as_str())) {
                found.push(format!("{word} / {other}"));
            }
        }
    }
    assert!(found.is_empty(), "these say the same:\n{}", found.join("\n"));
    let known: BTreeSet<&str> = all.iter().map(|(word, _)| word.as_str()).collect();
    for (one, other) in NEARLY_THE_SAME {
        assert!(known.contains(one) && known.contains(other), "{one} / {other} is allowed and not there");
    }
}

/// The errors and what helps, as docs/reference/errors.md has them.
fn errors() -> Vec<(String, String)> {
    let errors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/errors.md");
    let errors = std::fs::read_to_string(errors).expect("text");
    let spoken = errors.split("\n## Advice").next().expect("the errors");
    let cells = |row: &str| {
        let row = row.replace("\\|", "\u{1}");
        let mut cells =
            row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").map(|cell| cell.replace('\u{1}', "|"));
        Some((cells.next()?, cells.next()?))
    };
    spoken.lines().filter(|line| !line.starts_with("| Exit code")).filter_map(cells).collect()
}

/// A line that is too wide, unless it is one word, which nobody could break and copy.
fn too_wide(shown: &str) -> Option<&str> {
    shown.lines().find(|line| line.chars().count() > SENTENCE_COLUMNS && line.trim().contains(' '))
}

#[test]
fn every_sentence_keeps_within_its_columns() {
    let all = errors();
    assert!(all.len() > 400, "{} errors were read", all.len());
    let told = all.iter().flat_map(|(message, hint)| [("keyway: ", message), ("        ", hint)]);
    for (mark, text) in told {
        let shown = wrapped(mark, text, SENTENCE_COLUMNS);
        assert_eq!(too_wide(&shown), None, "{text}");
        assert!(shown.split_whitespace().eq(format!("{mark}{text}").split_whitespace()), "{shown}");
    }
    for (place, said) in catalogues() {
        let shown = wrapped("keyway: warning: ", &said.replace("\\n", " "), SENTENCE_COLUMNS);
        assert_eq!(too_wide(&shown), None, "{place}");
    }
}

#[test]
fn the_words_are_plain_ones() {
    let mut all: Vec<(String, String)> = catalogues().map(|(place, said)| (place, said.to_owned())).collect();
    help(&with_help_of(|_| true), "", &mut all);
    let errors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/errors.md");
    let errors = std::fs::read_to_string(errors).expect("text");
    let spoken = errors.split("\n## Advice").next().expect("the errors").to_owned();
    // A kind is a word for programs, and what other programs say is theirs.
    let ours = |line: &&str| {
        !line.starts_with("## ") && !line.contains("(os error ") && !line.contains("invalid type")
    };
    all.extend(spoken.lines().filter(ours).map(|line| ("errors.md".to_owned(), line.to_owned())));
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (place, text) in all {
        // What is a command's, an option's or a fact's is what it is.
        let spoken: String = text.split('`').step_by(2).collect();
        let spoken: Vec<String> = spoken
            .split_whitespace()
            .filter(|word| !word.contains(['{', '=', '/']) && !word.starts_with('-') && !word.contains("_"))
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '.').to_owned())
            .filter(|word| word.chars().any(char::is_lowercase))
            .map(|word| word.to_lowercase())
            .collect();
        let spoken = format!(" {} ", spoken.join(" "));
        for (jargon, plain) in PLAIN {
            if spoken.contains(&format!(" {jargon} ")) {
                found.entry(jargon).or_default().push(format!("{place} ({plain}): {text}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
