//! The manual's pages (docs/man) and the shells' completions (docs/completions) are made of the command line's own words;
//! this holds them to it.

use crate::args::with_help_of;
use clap::builder::{PossibleValuesParser, StyledStr};
use clap::error::ErrorKind;
use clap::{Arg, Command, Id, ValueHint};
use clap_complete::Shell;
use keyway::create::{FileSystem, HashName};
use keyway::drive::{PasswordHash, Profile};
use keyway::lab::bench::BenchSubject;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Writes anew what is kept.
const WRITE: &str = "KEYWAY_WRITE_MANUAL";

fn command() -> Command {
    let mut whole = with_help_of(|_| true).name("keyway").bin_name("keyway").disable_help_subcommand(true);
    whole.build();
    offered(&whole).disable_help_subcommand(true).version(env!("CARGO_PKG_VERSION"))
}

/// The same without what only Keyway itself calls, and with the arguments that have no name as they are typed.
fn offered(command: &Command) -> Command {
    let is_made = |argument: &Arg| ["help", "version"].contains(&argument.get_id().as_str());
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set() && !is_made(argument));
    // A name with blanks is one word to bash only where it knows that files are meant.
    let hinted = |argument: Arg| match argument.get_value_hint() {
        ValueHint::AnyPath => argument.value_hint(ValueHint::FilePath),
        _ => argument,
    };
    let mut arguments: Vec<_> =
        shown.cloned().map(|argument| hinted(argument.hide_short_help(false))).collect();
    arguments.sort_by_key(|argument| argument.get_index());
    let is_there = |id: &Id| arguments.iter().any(|argument| argument.get_id() == id);
    let groups: Vec<_> =
        command.get_groups().filter(|group| group.get_args().all(is_there)).cloned().collect();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(offered);
    let text = |text: Option<&StyledStr>| text.cloned().unwrap_or_default();
    let named = Command::new(&*command.get_name().to_owned().leak())
        .about(text(command.get_about()))
        .after_help(text(command.get_after_help()))
        .subcommand_required(command.is_subcommand_required_set());
    let told = match command.get_long_about() {
        Some(long) => named.long_about(long.clone()),
        None => named,
    };
    let told = match command.get_after_long_help() {
        Some(long) => told.after_long_help(long.clone()),
        None => told,
    };
    told.args(arguments).groups(groups).subcommands(verbs)
}

/// The text files in a folder by their names.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let named = entries.map(|entry| (entry.file_name().into_string().expect("plain"), entry.path()));
    named.map(|(name, path)| (name, std::fs::read_to_string(path).expect("text"))).collect()
}

/// A page with what stands below the options under its own name, line by line as it is.
fn named(page: &str) -> String {
    let Some((above, below)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (text, rest) = below.split_once("\n.SH ").unwrap_or((below.trim_end(), ""));
    let rest = if rest.is_empty() { String::new() } else { format!(".SH {rest}") };
    let heading = if text.contains("Exit codes:") { "EXIT STATUS" } else { "EXAMPLES" };
    let text = text.strip_prefix("Examples:\n").unwrap_or(text).replace("\n.br\n", "\n");
    format!("{above}.SH {heading}\n.nf\n{text}\n.fi\n{rest}")
}

/// Holds a folder of docs to what was made, or writes it anew.
fn kept(folder: &str, made: &BTreeMap<String, String>) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(folder);
    if std::env::var_os(WRITE).is_some() {
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::create_dir_all(&kept).expect("made");
        made.iter().for_each(|(name, text)| std::fs::write(kept.join(name), text).expect("written"));
    }
    let there = files(&kept);
    assert!(there.keys().eq(made.keys()), "docs/{folder} has other files; {WRITE}=1 writes them anew");
    for (name, text) in made {
        assert!(
            there.get(name) == Some(text),
            "docs/{folder}/{name} is of another version; {WRITE}=1 writes it anew"
        );
    }
}

/// Every verb that is shown, with those below it, as the shell has them: `keyway drive set-up`.
fn verbs(command: &Command, before: &str, all: &mut Vec<String>) {
    let name = format!("{before}{}", command.get_name());
    for verb in command.get_subcommands() {
        verbs(verb, &format!("{name} "), all);
    }
    all.push(name);
}

#[test]
fn every_verb_has_a_page_of_the_manual() {
    let made = tempfile::tempdir().expect("a folder");
    clap_mangen::generate_to(command(), made.path()).expect("made");
    let pages: BTreeMap<_, _> =
        files(made.path()).into_iter().map(|(name, page)| (name, named(&page))).collect();
    kept("man", &pages);
    let mut all = Vec::new();
    verbs(&command(), "", &mut all);
    assert!(all.contains(&"keyway open".to_owned()) && !all.iter().any(|verb| verb.contains("serve-volume")));
    assert_eq!(pages.len(), all.len(), "{all:?}");
    for verb in all {
        let page = pages.get(&format!("{}.1", verb.replace(' ', "-"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH DESCRIPTION"), "{verb}");
    }
}

/// What is said for every option that takes a path.
const EACH_PATH: &str = r#"                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
"#;

/// The same, once.
const PATHS: &str = r#"_keyway_paths() {
    local IFS=$'\n'
    COMPREPLY=($(compgen -f "$1"))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt -o filenames
    fi
}

"#;

/// The verbs that take what is open.
const OF_OPEN: [&str; 2] = ["close", "status"];
/// The other verbs that take a favourite's name; the last as the second word.
const OF_FAVOURITES: [&str; 7] = ["open", "info", "cat", "ls", "get", "put", "favourite__subcmd__remove"];

/// What is open and the favourites' names, by the program's own word: names with quotes in them are not offered.
const OPEN_OF_BASH: &str = r#"_keyway_favourites() {
    keyway favourite list --json 2>/dev/null | sed -n 's/^ *"name": "\([^"\\]*\)",\{0,1\}$/\1/p'
}

_keyway_volumes() {
    _keyway_paths "$1"
    local IFS=$'\n'
    COMPREPLY+=($(compgen -W "$(_keyway_favourites)" -- "$1"))
}

_keyway_open() {
    local IFS=$'\n'
    local open="$(keyway status --json 2>/dev/null |
        sed -n 's/^ *"\(volume\|device\|mountpoint\)": "\([^"\\]*\)",\{0,1\}$/\2/p')"
    COMPREPLY=($(compgen -W "${open}" -- "$1") $(compgen -W "$(_keyway_favourites)" -- "$1"))
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt -o filenames 2>/dev/null
    fi
}

"#;

const OPEN_IN_BASH: &str = r#"            if [[ ${cur} != -* && ! ${prev} =~ ^--(log|progress|journal|partition)$ ]] ; then
                _keyway_open "${cur}"
                return 0
            fi
"#;

/// A favourite, or a file: the first word behind the verb.
const VOLUME_IN_BASH: &str = r#"            if [[ ${cur} != -* && ${prev} =~ ^(open|info|cat|ls|get|put)$ ]] ; then
                _keyway_volumes "${cur}"
                return 0
            fi
"#;

const FAVOURITE_IN_BASH: &str = r#"            if [[ ${cur} != -* ]] ; then
                COMPREPLY=($(compgen -W "$(_keyway_favourites)" -- "${cur}"))
                return 0
            fi
"#;

/// The same for zsh.
const OPEN_OF_ZSH: &str = r#"(( $+functions[_keyway_favourites] )) ||
_keyway_favourites() {
    local -a favourites
    favourites=(${(f)"$(keyway favourite list --json 2>/dev/null | sed -n 's/^ *"name": "\([^"\\]*\)",\{0,1\}$/\1/p')"})
    compadd -a favourites
}

(( $+functions[_keyway_volumes] )) ||
_keyway_volumes() {
    _keyway_favourites
    _files
}

(( $+functions[_keyway_open] )) ||
_keyway_open() {
    _keyway_favourites
    local -a open
    open=(${(f)"$(keyway status --json 2>/dev/null |
        sed -n 's/^ *"\(volume\|device\|mountpoint\)": "\([^"\\]*\)",\{0,1\}$/\2/p')"})
    compadd -f -a open
}

"#;

/// The same for fish: of favourites, and of what is open.
const FAVOURITES_OF_FISH: &str = r#"complete -c keyway -n "__fish_keyway_using_subcommand VERB" -a "(keyway favourite list --json 2>/dev/null | string replace -rf '^ *\"name\": \"([^\"\\\\]*)\",?$' '\$1')"
"#;

const OPEN_OF_FISH: &str = r#"complete -c keyway -n "__fish_keyway_using_subcommand VERB" -f -a "(keyway status --json 2>/dev/null | string replace -rf '^ *\"(?:volume|device|mountpoint)\": \"([^\"\\\\]*)\",?$' '\$1')"
"#;

/// What an option takes that reads its value itself: names from a list, which clap does not know to be one.
fn names_for(verb: &str, option: &str, value: &str) -> Vec<&'static str> {
    let of_new_volumes = ["create", "encrypt", "change"].contains(&verb);
    match (option, value) {
        ("cipher", _) => BenchSubject::all().into_iter().map(|one| &*one.to_string().leak()).collect(),
        ("kernel", _) => vec!["portable", "sse", "avx2", "avx512", "neon", "all"],
        ("buffer", _) => vec!["4K", "64K", "1M", "10M", "100M", "all"],
        // TrueCrypt's alone.
        ("hash" | "new-hash", "HASH") => {
            let all = HashName::ALL.into_iter().map(HashName::name);
            all.filter(|name| !of_new_volumes || !["ripemd160", "sha1"].contains(name)).collect()
        }
        ("hash" | "drive-hash", "HOW") => PasswordHash::ALL.map(PasswordHash::name).to_vec(),
        ("filesystem", _) => FileSystem::ALL.into_iter().map(FileSystem::name).chain(["none"]).collect(),
        ("profile", _) => Profile::ALL.map(Profile::name).to_vec(),
        _ => Vec::new(),
    }
}

/// Of an option of a verb.
fn named_values(verb: &Command, option: &Arg) -> Vec<&'static str> {
    let value = option.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
    names_for(verb.get_name(), option.get_long().unwrap_or_default(), &value.unwrap_or_default())
}

/// The same command line with these names where a shell looks for them.
fn with_names(verb: Command) -> Command {
    let this = verb.clone();
    verb.mut_args(|option| match named_values(&this, &option) {
        none if none.is_empty() => option,
        names => option.value_parser(PossibleValuesParser::new(names)),
    })
    .mut_subcommands(with_names)
}

/// Every name that is offered, behind the words it is offered behind.
fn offers(verb: &Command, above: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for option in verb.get_arguments() {
        let long = format!("--{}", option.get_long().unwrap_or_default());
        for name in named_values(verb, option) {
            all.push([above, &[long.clone(), name.to_owned()]].concat());
        }
    }
    for below in verb.get_subcommands() {
        all.extend(offers(below, &[above, &[below.get_name().to_owned()]].concat()));
    }
    all
}

#[test]
fn each_name_that_a_shell_offers_is_taken() {
    let all = offers(&command(), &["keyway".to_owned()]);
    for option in
        ["--cipher", "--kernel", "--hash", "--new-hash", "--drive-hash", "--filesystem", "--profile"]
    {
        assert!(all.iter().any(|words| words.contains(&option.to_owned())), "{option}");
    }
    let mut ours = with_help_of(|_| false);
    for words in all {
        let refused = ours.try_get_matches_from_mut(&words).err();
        let wrong =
            refused.filter(|e| matches!(e.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue));
        assert!(wrong.is_none(), "{words:?}: {wrong:?}");
    }
}

#[test]
fn the_shells_complete_verbs_and_options() {
    let made = tempfile::tempdir().expect("a folder");
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut with_names(command()), "keyway", made.path()).expect("made");
    }
    let bash = made.path().join("keyway.bash");
    let script = std::fs::read_to_string(&bash).expect("made");
    let mut once = script.replace(EACH_PATH, "                    _keyway_paths \"${cur}\"\n");
    assert!(once.len() < script.len() * 3 / 4, "each path is completed in other words");
    for verb in OF_OPEN {
        let begins = format!("        keyway__subcmd__{verb})\n");
        assert_eq!(once.matches(&begins).count(), 1, "{verb}");
        once = once.replace(&begins, &format!("{begins}{OPEN_IN_BASH}"));
    }
    for verb in OF_FAVOURITES {
        let begins = format!("        keyway__subcmd__{verb})\n");
        assert_eq!(once.matches(&begins).count(), 1, "{verb}");
        let first = if verb.contains("remove") { FAVOURITE_IN_BASH } else { VOLUME_IN_BASH };
        once = once.replace(&begins, &format!("{begins}{first}"));
    }
    std::fs::write(&bash, format!("{PATHS}{OPEN_OF_BASH}{once}")).expect("written");
    let zsh = made.path().join("_keyway");
    let mut script = std::fs::read_to_string(&zsh).expect("made");
    let of_close = "its loop device, its file, or the folder it is mounted on:_files'";
    for argument in [of_close, "A volume, its device or its mount point:_files'"] {
        assert_eq!(script.matches(argument).count(), 1, "{argument}");
        script = script.replace(argument, &argument.replace(":_files", ":_keyway_open"));
    }
    let volume = "':volume -- The volume'\\''s file or block device:_files'";
    assert!(script.matches(volume).count() >= OF_FAVOURITES.len() - 2, "a volume is named in other words");
    script = script.replace(volume, &volume.replace(":_files", ":_keyway_volumes"));
    let favourite = "':name -- Its name:_default'";
    assert_eq!(script.matches(favourite).count(), 1);
    script = script.replace(favourite, "':name -- Its name:_keyway_favourites'");
    let ends = "if [ \"$funcstack[1]\" = \"_keyway\" ]; then";
    assert_eq!(script.matches(ends).count(), 1);
    std::fs::write(&zsh, script.replace(ends, &format!("{OPEN_OF_ZSH}{ends}"))).expect("written");
    let fish = made.path().join("keyway.fish");
    let script = std::fs::read_to_string(&fish).expect("made");
    let open = OF_OPEN.map(|verb| OPEN_OF_FISH.replace("VERB", verb)).concat();
    let named = OF_OPEN.into_iter().chain(OF_FAVOURITES).map(|verb| verb.rsplit("__").next().unwrap_or(verb));
    let named: String = named
        .map(|verb| match verb {
            "remove" => "favourite; and __fish_seen_subcommand_from remove",
            verb => verb,
        })
        .map(|verb| FAVOURITES_OF_FISH.replace("VERB", verb))
        .collect();
    std::fs::write(&fish, format!("{}\n{open}{named}", script.trim_end())).expect("written");
    kept("completions", &files(made.path()));
    let named = tempfile::tempdir().expect("a folder");
    let bytes = |words: &str, at: usize| {
        let script = format!(
            "source '{}'; COMP_WORDS=(keyway {words}); COMP_CWORD={at}; \
             _keyway keyway \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            made.path().join("keyway.bash").display()
        );
        let mut bash = std::process::Command::new("bash");
        let said = bash.args(["-c", &script]).current_dir(named.path()).output().expect("bash");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        said.stdout
    };
    // Whatever bytes a name has.
    for name in [&b"b\xff.hc"[..], b"with a blank.hc"] {
        std::fs::write(named.path().join(OsStr::from_bytes(name)), "").expect("made");
        let begin = char::from(name[0]);
        assert_eq!(bytes(&format!("open v --keyfile {begin}"), 4), [name, b"\n"].concat());
    }
    let complete = |words: &str, at: usize| {
        let said = String::from_utf8(bytes(words, at)).expect("text");
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete("op", 1), ["open"]);
    assert_eq!(complete("header ch", 2), ["check"]);
    for (words, at, all) in [
        ("bench --cipher tw", 3, &["twofish", "twofish-serpent"][..]),
        ("bench --kernel avx", 3, &["avx2", "avx512"]),
        ("create v --hash sha", 4, &["sha512", "sha256"]),
        ("create v --filesystem ex", 4, &["ext4", "exfat"]),
        ("drive unlock d --hash sedutil-", 5, &["sedutil-sha512"]),
    ] {
        let (mut found, mut all) = (complete(words, at), all.to_vec());
        found.sort();
        all.sort_unstable();
        assert_eq!(found, all, "{words}");
    }
    // What is open, and what is converted; the program is asked.
    let asked = "keyway() { if [ $1 = favourite ]; then printf '%s\\n' '  \"name\": \"heap\",' ' \"volume\": \"/h\"'; else \
                 printf '%s\\n' '{' ' \"device\": null,' ' \"mountpoint\": \"/mnt/a b\",' \
                 ' \"volume\": \"/home/v.hc\"' ' \"format\": \"veracrypt\"' '}'; fi; }";
    for (words, at, all) in [
        ("close ''", 2, &["/mnt/a b", "/home/v.hc", "heap"][..]),
        ("open he", 2, &["heap"]),
        ("ls /nowhere/he", 2, &[""]),
        ("favourite remove h", 3, &["heap"]),
        ("close --if-open /h", 3, &["/home/v.hc"]),
        ("status /mnt", 2, &["/mnt/a b"]),
    ] {
        let script = format!(
            "{asked}; source '{}'; COMP_WORDS=(keyway {words}); COMP_CWORD={at}; \
             _keyway keyway \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            made.path().join("keyway.bash").display()
        );
        let said = std::process::Command::new("bash").args(["-c", &script]).output().expect("bash");
        let said = String::from_utf8(said.stdout).expect("text");
        assert_eq!(said.lines().collect::<Vec<_>>(), all, "{words}");
    }
    assert!(complete("close --i", 2).contains(&"--if-open".to_owned()));
    assert!(complete("open --read", 2).contains(&"--read-only".to_owned()));
    // What only Keyway itself calls is offered to nobody.
    assert!(complete("serve", 1).iter().all(|verb| verb == "serve"), "{:?}", complete("serve", 1));
}
