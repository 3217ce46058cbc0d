//! The sentences that stand in the catalogues under words/: what a person reads of what was done, for each step that an error
//! names, and for what a drive's failure may come from.

use keyway::drive::{Cause, PasswordHash};
use keyway::told::said_in;
use keyway_error::{Advice, Explain};
use serde_json::{Value, json};
use std::str::FromStr;

pub(crate) const TOLD: &str = include_str!("../words/told.txt");
const ADVICE: &str = include_str!("../words/advice.txt");
const CAUSES: &str = include_str!("../words/causes.txt");

/// What was done, is asked or is to be known, in words.
pub(crate) fn said(word: &str, facts: &Value) -> String {
    said_in(TOLD, word, facts)
}

/// The steps in one line, each sentence after a "; ".
pub(crate) fn sentences(steps: &[Advice]) -> String {
    let all: Vec<String> = steps.iter().map(sentence).collect();
    all.join("; ")
}

/// What happened and what helps, in one line.
pub(crate) fn told(error: &dyn Explain) -> String {
    match sentences(&error.advice()) {
        advice if advice.is_empty() => error.to_string(),
        advice => format!("{error}; {advice}"),
    }
}

/// A value of the command line; what is wrong with it comes with what helps.
pub(crate) fn parsed<T: FromStr<Err: Explain>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| told(&error))
}

/// One step in words.
pub(crate) fn sentence(step: &Advice) -> String {
    said_in(ADVICE, step.word(), &serde_json::to_value(step).unwrap_or_default())
}

/// What a drive's failure may come from.
pub(crate) fn cause(cause: &Cause) -> String {
    let fields = match cause {
        Cause::HashedOtherwise { hash } => {
            json!({"hash": hash.words(), "others": hash.others().map(PasswordHash::name).join(" or ")})
        }
        Cause::NotEnabled { user } => json!({ "user": user }),
        _ => Value::Null,
    };
    said_in(CAUSES, cause.word(), &fields)
}

#[cfg(test)]
#[path = "../tests/inner/words.rs"]
mod tests;
