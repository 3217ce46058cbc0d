//! Wrong words on the command line, told as every other failure is: what clap found out, in sentences of the catalogue.

use crate::args::{Cli, with_help_of};
use crate::failure::Failure;
use crate::words::{said, sentence};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgMatches, Command, CommandFactory, Error};
use keyway::favourites;
use keyway::shown::line;
use keyway::spelled::{bare, first_paragraph, is_near, path_in, put_again, trimmed, typed_again};
use keyway::told::{naming, qualified};
use keyway_attach::path_text::value as in_json;
use keyway_error::Advice;
use serde_json::{Value, json};
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::num::ParseIntError;
use std::path::Path;

/// The words of the command line, `help VERB` as the option that says the same.
pub(crate) fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    let verb = words.len() - past_options(words.get(1..).unwrap_or_default()).len();
    if words.get(verb).is_some_and(|word| word == "help") {
        words.remove(verb);
        words.push("--help".into());
    }
    favourite(&words).unwrap_or(words)
}

/// Verbs that take a favourite's name for a volume.
const BY_NAME: [&str; 8] = ["open", "close", "status", "info", "ls", "get", "put", "cat"];

/// The words with the first of a favourite's name replaced by what the favourite is, as far as the verb takes that. What is there
/// as a file is meant as a file.
fn favourite(words: &[OsString]) -> Option<Vec<OsString>> {
    let after = past_options(words.get(1..)?);
    let verb = BY_NAME.into_iter().find(|verb| after.first().is_some_and(|word| word == verb))?;
    let all = favourites::all().ok().filter(|all| !all.is_empty())?;
    let named = |word: &OsString| all.iter().find(|one| *word == *one.name && !Path::new(word).exists());
    let (at, kept) = words
        .iter()
        .enumerate()
        .skip(words.len() - after.len() + 1)
        .find_map(|(at, word)| Some((at, named(word)?.clone())))?;
    let (command, given) = (Cli::command(), |word: &OsString| word.to_string_lossy().into_owned());
    // What is given now goes before what was kept.
    let is_given = |option: &str| words.iter().any(|word| favourites::option_name(&given(word)) == option);
    let takes = |option: &str| command.find_subcommand(verb).is_some_and(|verb| has(verb, option));
    let another = words.get(at + 1).is_some_and(|word| !given(word).starts_with('-'));
    let instead = kept.words(verb == "open" && !another, |option| takes(option) && !is_given(option));
    let mut words = words.to_vec();
    words.splice(at..=at, instead);
    Some(words)
}

/// What is wrong with these words, and what would be right.
pub(crate) fn failure(error: &Error, words: &[OsString]) -> Failure {
    let (kind, facts) = (format!("{:?}", error.kind()), facts(error, words));
    let told = |what: String| Some(said(&what, &facts)).filter(|said| !said.is_empty());
    let message = told(format!("usage {kind}"));
    let hint = told(format!("usage help {kind}")).unwrap_or_else(|| said("usage help", &facts));
    let message = message.unwrap_or_else(|| first_paragraph(&error.render().to_string()));
    Failure::usage(message, with_verbs(&hint, words))
}

/// What clap knows of it. A shell may have found the words on somebody's medium: nothing in them steers the terminal.
fn facts(error: &Error, words: &[OsString]) -> Value {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(line(text)),
        ContextValue::Strings(all) => all.first().map(|text| line(text)),
        ContextValue::StyledStr(text) => text.to_string().lines().next().map(line),
        _ => None,
    };
    let all = |kind| match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.iter().map(|one| line(one)).collect(),
        Some(ContextValue::String(one)) => vec![line(one)],
        _ => Vec::new(),
    };
    let (verb, at) = command_of(words);
    let verbs = verbs_of(&at);
    let word = text(ContextKind::InvalidSubcommand);
    let arg = text(ContextKind::InvalidArg).map(|arg| bare(&arg));
    let others = all(ContextKind::PriorArg).iter().map(|other| bare(other)).collect::<Vec<_>>();
    let missing = all(ContextKind::InvalidArg)
        .iter()
        .map(|one| trimmed(&one.replace(['<', '>'], "")).replace('|', " or "))
        .collect::<Vec<_>>();
    let value = text(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    let why = error.source().map(|why| match why.downcast_ref::<ParseIntError>() {
        None if !why.to_string().contains(" is not in ") => line(&why.to_string()),
        _ => "write a whole number, and none that is too large".to_owned(),
    });
    // What is only a little alike may mean quite another thing: who asks for `restore` is not shown `erase`.
    let like = word.iter().find_map(|word| verbs.iter().find(|verb| is_near(word, verb)).cloned());
    let option = text(ContextKind::SuggestedArg).filter(|like| arg.iter().any(|arg| is_near(arg, like)));
    let like = like.or(option).or_else(|| text(ContextKind::SuggestedValue));
    // Only of our first verbs is it known what others call them.
    let called = word.as_ref().filter(|_| verb == "keyway");
    let called = called.map(|word| said(&format!("verb {}", word.to_lowercase()), &Value::Null));
    let nearest = called.filter(|own| !own.is_empty()).or(like);
    let usage = text(ContextKind::Usage).map(|usage| usage.trim_start_matches("Usage: ").to_owned());
    // As it was given: its bytes need not be text.
    let given =
        words.iter().find(|given| word.as_ref() == Some(&line(&given.to_string_lossy()))).map(Path::new);
    let mut all_words = words.iter().map(|word| line(&word.to_string_lossy()));
    let whole = arg.as_ref().and_then(|arg| all_words.find(|word| word.starts_with(&**arg)));
    let positive = whole.as_ref().and_then(|word| word.strip_prefix('-'));
    let positive = positive.filter(|number| number.starts_with(|first: char| first.is_ascii_digit()));
    let next = words.iter().skip_while(|word| arg.as_ref().is_none_or(|arg| *word != &**arg)).nth(1);
    let told = why.iter().any(|why| value.iter().any(|value| why.contains(&**value)));
    json!({"verb": verb, "verbs": verbs, "word": given.map(in_json), "value": value, "why": why, "told": told,
        "valid": all(ContextKind::ValidValue), "nearest": nearest, "missing": missing, "others": others.join(" and "),
        "names": words.iter().any(|word| word == "--"), "twice": !others.is_empty() && others.first() == arg.as_ref(), "usage": usage,
        "exists": given.is_some_and(Path::exists), "extra": arg.as_ref().is_some_and(|arg| !arg.starts_with('-')),
        "misplaced": arg.as_ref().is_some_and(|arg| has(&at, arg)), "arg": arg, "opens": has(&at, "--password-file"),
        "positive": positive, "file": whole.as_deref().is_some_and(is_like_a_file), "whole": whole,
        "protects": has(&at, "--protect-hidden"), "next": next.map(|word| line(&word.to_string_lossy()))})
}

/// Whether a word that begins with a dash is meant as a name.
fn is_like_a_file(word: &str) -> bool {
    word.starts_with('-') && !word.contains('=') && (word.contains(['.', '/']) || Path::new(word).exists())
}

/// The verb that was named, as far as it is one.
pub(crate) fn command_of(words: &[OsString]) -> (String, Command) {
    let (mut verb, mut at) = ("keyway".to_owned(), Cli::command());
    let mut rest = past_options(words.get(1..).unwrap_or_default());
    while let Some((word, after)) = rest.split_first() {
        let Some(inner) = at.find_subcommand(word).cloned() else { break };
        verb = format!("{verb} {}", inner.get_name());
        (at, rest) = (inner, past_options(after));
    }
    (verb, at)
}

/// From the first word on that is no option of every verb, nor such an option's value.
fn past_options(mut words: &[OsString]) -> &[OsString] {
    let all = Cli::command();
    let valued = |word: &str| {
        let mut named = all
            .get_arguments()
            .filter(|arg| arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long)));
        named.any(|arg| arg.get_action().takes_values())
    };
    while let [word, after @ ..] = words {
        match word.to_string_lossy() {
            word if valued(&word) => words = after.get(1..).unwrap_or_default(),
            word if word.starts_with('-') => words = after,
            _ => break,
        }
    }
    words
}

/// The verbs that it has, but for those that only Keyway itself calls.
fn verbs_of(at: &Command) -> Vec<String> {
    let shown = at.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown.map(|verb| verb.get_name().to_owned()).collect()
}

fn has(command: &Command, option: &str) -> bool {
    let named = |name| command.get_arguments().any(|arg| arg.get_long() == Some(name));
    option.strip_prefix("--").is_some_and(named)
}

/// Advice in which an option that this verb lacks stands behind one that has it.
fn with_verbs(advice: &str, words: &[OsString]) -> String {
    placed(advice, &Cli::command(), &command_of(words).1)
}

fn placed(advice: &str, root: &Command, at: &Command) -> String {
    let mut verbs: Vec<_> =
        root.find_subcommand("open").map(|open| ("keyway open".to_owned(), open)).into_iter().collect();
    below("keyway", root, &mut verbs);
    let owner = |option: &str| {
        let mut all = verbs.iter().filter(|(_, verb)| has(verb, option)).map(|(name, _)| name);
        // A new secret is that verb's business; others have it beside theirs.
        let is_new = |name: &&String| option.starts_with("--new-") && name.ends_with(" change");
        let owner = all.clone().find(is_new).or_else(|| all.next())?;
        (!has(at, option) && !has(root, option)).then(|| owner.clone())
    };
    qualified(advice, owner)
}

/// The verbs that are shown, each behind those that it stands below: first all of one floor, then what is below them.
fn below<'a>(above: &str, at: &'a Command, all: &mut Vec<(String, &'a Command)>) {
    let shown = || at.get_subcommands().filter(|verb| !verb.is_hide_set());
    let name = |verb: &Command| format!("{above} {}", verb.get_name());
    all.extend(shown().map(|verb| (name(verb), verb)));
    shown().for_each(|verb| below(&name(verb), verb, all));
}

/// A failure with the option or argument named whose path is wrong, and the verbs that have the options which help.
pub(crate) fn named(mut failure: Failure, words: &[OsString]) -> Failure {
    if let Some(argument) = failure.path.as_deref().and_then(|path| option_naming(path, words)) {
        let (bare, named) = (sentence(&Advice::CheckPath), json!({ "argument": argument }));
        failure.hint = failure.hint.replacen(&bare, &said("check path", &named), 1);
    }
    let by_name = volume_of(words).filter(|_| BY_NAME.contains(&command_of(words).1.get_name()));
    let named = failure.path.as_deref().filter(|path| by_name.as_deref() == Some(path.as_os_str()));
    if let Some(facts) = named.and_then(favourites::missed) {
        failure = failure.also(&said("favourites missed", &facts));
    }
    failure.hint = filled(&with_verbs(&failure.hint, words), words);
    failure
}

/// Advice whose commands name the volume or device that this command line names.
fn filled(advice: &str, words: &[OsString]) -> String {
    let (partition, given) = (given_as("partition", words), parsed(words).map(|(_, given)| given));
    let typed = |id: &str| Some(given.as_ref()?.try_get_raw(id).ok()??.map(OsString::from).collect());
    let Some(volume) = volume_of(words) else { return advice.to_owned() };
    naming(advice, &volume, partition.as_deref(), &typed_again(&typed)).replace("FILE...", &put_again(&typed))
}

/// The volume or device that this command line names; what `create` makes is one where it is there already.
pub(crate) fn volume_of(words: &[OsString]) -> Option<OsString> {
    let named = ["volume", "device", "which"].into_iter().find_map(|id| given_as(id, words));
    named.or_else(|| given_as("path", words).filter(|path| Path::new(path).exists()))
}

fn given_as(id: &str, words: &[OsString]) -> Option<OsString> {
    Some(parsed(words)?.1.try_get_raw(id).ok()??.next()?.to_owned())
}

/// The verb of a command line that is right, and what it was given.
fn parsed(words: &[OsString]) -> Option<(Command, ArgMatches)> {
    let mut command = with_help_of(|verb| words.iter().any(|word| word == verb));
    let mut given = command.try_get_matches_from_mut(words).ok()?;
    while let Some((verb, inner)) = given.remove_subcommand() {
        (command, given) = (command.find_subcommand(verb)?.clone(), inner);
    }
    Some((command, given))
}

/// The option or argument that names a path, or something in that folder.
fn option_naming(path: &Path, words: &[OsString]) -> Option<String> {
    let (command, given) = parsed(words)?;
    let find = |names: &dyn Fn(&OsStr) -> bool| {
        let named = |arg: &&Arg| given.get_raw(arg.get_id().as_str()).is_some_and(|mut all| all.any(names));
        command.get_arguments().find(named).map(|arg| {
            // The last of several words has a name of its own.
            let last =
                given.get_raw(arg.get_id().as_str()).filter(|all| all.len() > 1).and_then(Iterator::last);
            let name = arg.to_string();
            if name.contains("[TO]") && last.is_some_and(names) { "TO".to_owned() } else { bare(&name) }
        })
    };
    let within = |word: &OsStr| path_in(word).parent() == Some(path);
    // Nothing lies in a file: whatever is named there is the wrong one.
    let first = path.is_file().then(|| find(&within)).flatten();
    first.or_else(|| find(&|word| path_in(word) == path)).or_else(|| find(&within))
}

#[cfg(test)]
#[path = "../tests/inner/usage.rs"]
mod tests;
