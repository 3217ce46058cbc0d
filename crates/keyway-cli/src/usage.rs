//! Wrong words on the command line, told as every other failure is: what clap found out, in sentences of the catalogue.

use crate::args::{Cli, with_help_of};
use crate::failure::Failure;
use crate::words::{said, sentence};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, CommandFactory, Error};
use keyway::shown::line;
use keyway_attach::path_text::value as in_json;
use keyway_error::Advice;
use serde_json::{Map, Value, json};
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::num::ParseIntError;
use std::path::Path;

/// The words of the command line, `help VERB` as the option that says the same.
pub(crate) fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// What is wrong with these words, and what would be right.
pub(crate) fn failure(error: &Error, words: &[OsString]) -> Failure {
    let (kind, facts) = (format!("{:?}", error.kind()), facts(error, words));
    let message = match said(&format!("usage {kind}"), &facts) {
        none if none.is_empty() => first_paragraph(&error.render().to_string()),
        message => message,
    };
    let hint = match said(&format!("usage help {kind}"), &facts) {
        none if none.is_empty() => said("usage help", &facts),
        hint => hint,
    };
    Failure::usage(message, hint)
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
    let (verb, verbs) = verb_of(words);
    let (word, arg) =
        (text(ContextKind::InvalidSubcommand), text(ContextKind::InvalidArg).map(|arg| bare(&arg)));
    let others = all(ContextKind::PriorArg).iter().map(|other| bare(other)).collect::<Vec<_>>();
    let missing = all(ContextKind::InvalidArg)
        .iter()
        .map(|one| trimmed(&one.replace(['<', '>'], "")).replace('|', " or "))
        .collect::<Vec<_>>();
    let value = text(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    let why = error.source().map(|why| match why.downcast_ref::<ParseIntError>() {
        Some(_) => "write a whole number, and none that is too large".to_owned(),
        None => line(&why.to_string()),
    });
    // The verbs that only Keyway itself calls are not offered to anybody.
    let like = all(ContextKind::SuggestedSubcommand).into_iter().find(|verb| verbs.contains(verb));
    let like = like.or_else(|| text(ContextKind::SuggestedArg)).or_else(|| text(ContextKind::SuggestedValue));
    // Only of verbs is it known what others call them.
    let called = word.as_ref().map(|word| said(&format!("verb {}", word.to_lowercase()), &Value::Null));
    let nearest = called.filter(|own| !own.is_empty()).or(like);
    let usage = text(ContextKind::Usage).map(|usage| usage.trim_start_matches("Usage: ").to_owned());
    let mut facts = Map::new();
    // As it was given: its bytes need not be text.
    let given =
        words.iter().find(|given| word.as_ref() == Some(&line(&given.to_string_lossy()))).map(Path::new);
    facts.insert("exists".to_owned(), given.is_some_and(Path::exists).into());
    facts.insert(
        "told".to_owned(),
        why.iter().any(|why| value.iter().any(|value| why.contains(&**value))).into(),
    );
    facts.insert("extra".to_owned(), arg.as_ref().is_some_and(|arg| !arg.starts_with('-')).into());
    facts.insert("twice".to_owned(), (!others.is_empty() && others.first() == arg.as_ref()).into());
    let valid = all(ContextKind::ValidValue);
    let more = json!({"verb": verb, "verbs": verbs, "word": given.map(in_json), "arg": arg, "value": value, "why": why, "valid": valid,
        "nearest": nearest, "missing": missing, "others": others.join(" and "), "usage": usage});
    facts.extend(more.as_object().cloned().unwrap_or_default());
    facts.into()
}

/// The verb that was named, as far as it is one, and the verbs that it has.
pub(crate) fn verb_of(words: &[OsString]) -> (String, Vec<String>) {
    let (mut verb, mut at) = ("keyway".to_owned(), Cli::command());
    for word in words.iter().skip(1).filter(|word| !word.to_string_lossy().starts_with('-')) {
        let Some(inner) = at.find_subcommand(word).cloned() else { break };
        verb = format!("{verb} {}", inner.get_name());
        at = inner;
    }
    let shown = at.get_subcommands().filter(|verb| !verb.is_hide_set());
    (verb, shown.map(|verb| verb.get_name().to_owned()).collect())
}

/// A failure with the option or argument named whose path is wrong.
pub(crate) fn named(mut failure: Failure, words: &[OsString]) -> Failure {
    if let Some(argument) = failure.path.as_deref().and_then(|path| naming(path, words)) {
        let (bare, named) = (sentence(&Advice::CheckPath), json!({ "argument": argument }));
        failure.hint = failure.hint.replacen(&bare, &said("check path", &named), 1);
    }
    failure
}

/// The option or argument that names a path, or something in that folder.
fn naming(path: &Path, words: &[OsString]) -> Option<String> {
    let mut command = with_help_of(|verb| words.iter().any(|word| word == verb));
    let all = command.try_get_matches_from_mut(words).ok()?;
    let mut given = &all;
    while let Some((verb, inner)) = given.subcommand() {
        (command, given) = (command.find_subcommand(verb)?.clone(), inner);
    }
    let names = |word: &OsStr| word == path || Path::new(word).parent() == Some(path);
    let named = |arg: &&Arg| given.get_raw(arg.get_id().as_str()).is_some_and(|mut all| all.any(names));
    command.get_arguments().find(named).map(|arg| bare(&arg.to_string()))
}

/// An option without what stands for its value; a word's name without its brackets.
fn bare(arg: &str) -> String {
    trimmed(arg.split([' ', '=']).next().unwrap_or(arg)).to_owned()
}

fn trimmed(arg: &str) -> &str {
    match arg.trim_end_matches("...").strip_prefix(['<', '[']) {
        Some(inner) => inner.trim_end_matches(['>', ']']),
        None => arg.trim_end_matches("..."),
    }
}

/// What is wrong, in one line: the words that are missing stand in the lines below the first.
fn first_paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    line(lines.join(" ").trim_start_matches("error: "))
}

#[cfg(test)]
#[path = "../tests/inner/usage.rs"]
mod tests;
