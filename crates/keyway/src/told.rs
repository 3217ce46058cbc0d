//! Data for people: a front's sentences, which stand in a catalogue, a line each, with facts in them; a document as rows, and
//! how rows and sentences stand below each other.
//!
//! A line of a catalogue is `WORD[CONDITION]… = SENTENCE`. A condition names a fact that must be so, or `FACT=VALUE`; in the
//! sentence `{FACT}` stands for one, `{FACT:HOW}` for one as `size`, `time`, `path`, `shell` or a format's `name`, or with so many decimal places.

use crate::shown::{for_shell, line, shown};
use keyway_store::size::words as bytes;
use serde::Serialize;
use serde_json::{Map, Number, Value, json};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

/// A document with what its reader was warned of, beside what it has of its own; nothing where there is nothing to add.
pub fn with_warnings(document: &impl Serialize, warned: &[String]) -> Option<Value> {
    if warned.is_empty() {
        return None;
    }
    let mut document = serde_json::to_value(document).ok()?;
    let all = document.as_object_mut()?.entry("warnings").or_insert_with(|| json!([])).as_array_mut()?;
    for one in warned.iter().map(|one| json!(one)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    Some(document)
}

/// The first sentence of a catalogue for a word whose conditions fit the facts, with the facts in it; nothing where none fits.
pub fn said_in(catalogue: &str, word: &str, facts: &Value) -> String {
    let fits = |key: &str| {
        let mut parts = key.strip_prefix(word)?.split('[');
        let holds = |fact: &str| match fact.trim_end_matches(']').split_once('=') {
            Some((name, value)) => facts.get(name).is_some_and(|fact| text(fact) == value),
            None => facts.get(fact.trim_end_matches(']')).is_some_and(is_so),
        };
        (parts.next() == Some("") && parts.all(holds)).then_some(())
    };
    let mut lines = catalogue.lines().filter_map(|line| line.split_once(" = "));
    let Some((_, sentence)) = lines.find(|(key, _)| fits(key).is_some()) else { return String::new() };
    let sentence = sentence.replace("\\n", "\n");
    let mut parts = sentence.split('{');
    let mut said = parts.next().unwrap_or_default().to_owned();
    for (name, rest) in parts.filter_map(|part| part.split_once('}')) {
        let (name, how) = name.split_once(':').unwrap_or((name, ""));
        said.extend(facts.get(name).map(|fact| formatted(fact, how)));
        said.push_str(rest);
    }
    said
}

/// Advice in which each option that `owner` has a command for stands behind that: who reads it did something else. What stands
/// in a command already stays as it is, and so does what follows a command in the same sentence.
pub fn qualified(advice: &str, owner: impl Fn(&str) -> Option<String>) -> String {
    let (mut said, mut follows) = (String::new(), false);
    for (at, part) in advice.split('`').enumerate() {
        said.push_str(if at > 0 { "`" } else { "" });
        if at % 2 == 1 {
            said.push_str(part);
            follows |= part.starts_with("keyway ") || part.starts_with("sudo ");
            continue;
        }
        let mut in_command = false;
        for (at, word) in part.split(' ').enumerate() {
            said.push_str(if at > 0 { " " } else { "" });
            let bare = word.trim_start_matches('(');
            said.push_str(word.get(..word.len() - bare.len()).unwrap_or_default());
            let end = bare.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(bare.len());
            let option = bare.get(..end).filter(|option| option.starts_with("--") && !in_command && !follows);
            if let Some(command) = option.and_then(&owner) {
                said.push_str(&command);
                said.push(' ');
            }
            said.push_str(bare);
            follows &= !bare.ends_with([';', ',', '.', ':']);
            in_command = (in_command || bare == "keyway") && !bare.ends_with([';', ',', '.', ')', ':']);
        }
    }
    said
}

/// Advice whose commands have a volume's or device's own name where a name stands for it, the number of its partition where
/// that was named, and for the `…` behind a volume the options that it is opened by.
pub fn naming(advice: &str, path: &OsStr, partition: Option<&OsStr>, options: &str) -> String {
    let (mut in_command, mut ours, mut named) = (false, false, false);
    let mut said = String::new();
    for (at, word) in advice.split(' ').enumerate() {
        let program = word.trim_start_matches(['`', '(']);
        let begins = matches!(program, "keyway" | "mount");
        in_command |= begins;
        ours = (ours || program == "keyway") && program != "mount";
        let bare = word.trim_end_matches(['`', ',', ';', ')']);
        if in_command && named && bare == "…" {
            said.push_str(options);
            said.push_str(word.get(bare.len()..).unwrap_or_default());
        } else {
            let is_name = in_command && ["VOLUME", "DEVICE"].contains(&bare);
            named = (named && !begins) || is_name;
            let number = partition.filter(|_| ours && bare == "VOLUME");
            let number =
                number.map(|number| format!(" --partition {}", for_shell(number))).unwrap_or_default();
            said.push_str(if at > 0 { " " } else { "" });
            match is_name {
                true => said.push_str(&word.replacen(bare, &(for_shell(path) + &number), 1)),
                false => said.push_str(word),
            }
        }
        in_command &= bare.len() == word.len();
    }
    said
}

/// What a value says when it is serialised, and more.
pub fn facts(of: &impl Serialize, more: Value) -> Value {
    let mut all = serde_json::to_value(of).ok().and_then(|of| of.as_object().cloned()).unwrap_or_default();
    all.extend(more.as_object().cloned().unwrap_or_default());
    all.into()
}

/// A plan's fields in the order in which it has them, and the fields in those. `plan FIELD` in the catalogue says one in words, as
/// `NAME: VALUE`, or by a `-` that it goes without saying; its facts are the field's own, or its `value` beside the plan's others.
pub fn rows(plan: &impl Serialize, catalogue: &str) -> Vec<(String, String)> {
    // A value has its fields sorted, its text as they are written.
    let text = serde_json::to_string_pretty(plan).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split_once('"'));
    let (mut fields, mut rows) = (json!(plan), Vec::new());
    // What it was begun from is half something else by now.
    if fields.get("goes_on") == Some(&Value::Bool(true))
        && let Some(from) = fields.get_mut("from").and_then(Value::as_object_mut)
    {
        from.insert("goes_on".to_owned(), Value::Bool(true));
    }
    let value = |name: &str| fields.get(name).unwrap_or(&Value::Null);
    names.for_each(|(name, _)| row(&mut rows, catalogue, (name, value(name)), &fields));
    rows
}

/// What plans have lists of numbers of.
const NUMBERS: [&str; 3] = ["ranges", "repaired", "pcrs"];

/// Whether a list of numbers is a path that is no text: bytes, and some that are no letter of ASCII.
fn is_path(name: &str, value: &Value) -> bool {
    if NUMBERS.contains(&name) {
        return false;
    }
    let byte = |one: &Value| one.as_u64().and_then(|one| u8::try_from(one).ok());
    let all = || value.as_array().into_iter().flatten().map(byte);
    all().all(|byte| byte.is_some()) && all().flatten().any(|byte| !byte.is_ascii())
}

fn row(rows: &mut Vec<(String, String)>, catalogue: &str, (name, value): (&str, &Value), beside: &Value) {
    let readable = is_path(name, value).then(|| json!(formatted(value, "path")));
    let value = readable.as_ref().unwrap_or(value);
    let in_words = |value: &Value| {
        let facts = if value.is_object() { value.clone() } else { facts(beside, json!({ "value": value })) };
        said_in(catalogue, &format!("plan {name}"), &facts)
    };
    let said = match value {
        Value::Null => return,
        Value::Array(all) if all.is_empty() => return,
        Value::Array(all) => all.iter().map(in_words).reduce(|all, one| match one.split_once(": ") {
            Some((_, more)) => format!("{all}, {more}"),
            None => all,
        }),
        one => Some(in_words(one)),
    };
    let label = name.trim_end_matches("_bytes").replace('_', " ");
    let word = match (said.unwrap_or_default().split_once(": "), value) {
        (Some((label, value)), _) => return rows.push((format!("  {label}"), value.to_owned())),
        _ if in_words(value) == "-" => return,
        (None, Value::Object(fields)) => {
            let inner = fields.iter();
            return inner.for_each(|(inner, value)| {
                row(rows, catalogue, (&format!("{name}_{inner}"), value), &Value::Null)
            });
        }
        (None, Value::Array(all)) if all.iter().any(|one| one.is_object() || one.is_array()) => {
            return all.iter().for_each(|one| row(rows, catalogue, (name, one), beside));
        }
        (None, Value::Number(number)) if name.ends_with("bytes") => size(number),
        (None, other) => text_or_yes(other),
    };
    rows.push((format!("  {label}"), word));
}

/// A description's fields, sorted; those in one stand in its line, and sizes to the byte.
pub fn described(document: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (key, value) in document.as_object().into_iter().flatten() {
        let label = format!("  {}", key.replace('_', " "));
        let word = match value {
            Value::Null => continue,
            Value::Array(list) if list.is_empty() || key == "warnings" => continue,
            Value::Array(list) if list.iter().all(Value::is_object) => {
                let labels = std::iter::once(label).chain(std::iter::repeat(String::new()));
                rows.extend(labels.zip(list.iter().map(one_line)));
                continue;
            }
            Value::Number(n) if key.ends_with("_bytes") && n.as_u64() >= Some(10_000) => {
                format!("{n} ({})", size(n))
            }
            Value::Object(_) => one_line(value),
            other => text_or_yes(other),
        };
        rows.push((label, word));
    }
    rows
}

/// The texts and numbers in an object.
fn one_line(object: &Value) -> String {
    let fields = object.as_object().into_iter().flat_map(|fields| fields.values());
    let told = fields.filter(|value| value.is_string() || value.is_number()).map(text);
    told.collect::<Vec<_>>().join("  ")
}

/// Facts in one line, each with its name; what is not so is left out.
pub fn briefly(facts: &Map<String, Value>) -> String {
    let one = |(key, value): (&String, &Value)| {
        let name = key.replace('_', " ");
        match value {
            Value::Bool(true) => Some(name),
            Value::Number(n) => Some(format!("{name} {n}")),
            Value::String(text) if !text.is_empty() => Some(format!("{name} {text}")),
            Value::Array(list) => {
                let names: Vec<&str> = list.iter().filter_map(|item| item.get("name")?.as_str()).collect();
                Some(format!("{name}: {}", names.join(", ")))
            }
            _ => None,
        }
    };
    facts.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

fn is_so(fact: &Value) -> bool {
    match fact {
        Value::Null | Value::Bool(false) => false,
        Value::Array(all) => !all.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

fn formatted(fact: &Value, how: &str) -> String {
    match (fact, how) {
        (Value::Number(n), "size") => size(n),
        (Value::Bool(_), "yes") => text_or_yes(fact),
        (Value::Number(n), "time") => duration(n.as_u64().unwrap_or_default()),
        (Value::Number(n), places) if !places.is_empty() => {
            let places = places.trim_start_matches('.').parse().unwrap_or(0);
            format!("{:.places$}", n.as_f64().unwrap_or_default())
        }
        (Value::String(path), "path") => shown(path),
        (Value::String(path), "shell") => for_shell(path),
        (Value::String(format), "name") => match &**format {
            "veracrypt" => "VeraCrypt".to_owned(),
            "truecrypt" => "TrueCrypt".to_owned(),
            "bitlocker" => "BitLocker".to_owned(),
            other => other.to_owned(),
        },
        // The kernel's name for it is nobody else's.
        (Value::String(name), "fs") if name == "vfat" => "FAT".to_owned(),
        // A path that is no text.
        (Value::Array(path), "path" | "shell") => {
            let bytes = path.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
            let path = OsString::from_vec(bytes.collect());
            if how == "shell" { for_shell(path) } else { shown(path) }
        }
        _ => text(fact),
    }
}

/// A time for people.
pub fn duration(seconds: u64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        0..120 => format!("{seconds} seconds"),
        120..7200 => format!("{} minutes", seconds / 60),
        _ => format!("{} hours", seconds / 3600),
    }
}

fn size(number: &Number) -> String {
    number.as_u64().map_or_else(|| number.to_string(), bytes)
}

fn text(fact: &Value) -> String {
    match fact {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text_or_yes).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn text_or_yes(fact: &Value) -> String {
    match fact {
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        other => text(other),
    }
}

/// A text in lines of so many columns, those below the first a little further in.
pub fn wrapped(mark: &str, text: &str, width: usize) -> String {
    let (mut all, mut column) = (mark.to_owned(), mark.chars().count());
    for (at, word) in text.split(' ').enumerate() {
        let wide = word.chars().count();
        if at > 0 && column.saturating_add(wide) >= width {
            all.push_str("\n        ");
            column = 8;
        } else if at > 0 {
            all.push(' ');
            column += 1;
        }
        all.push_str(word);
        column += wide;
    }
    all
}

/// Sentences in a terminal's lines. Rows of tables stay as they are, and so does a line with a command that somebody may copy.
pub fn broken(text: &str, width: usize) -> String {
    let stays =
        |line: &str| ["  ", ": keyway ", ": sudo keyway "].iter().any(|part| line.trim_end().contains(part));
    let lines = text.split('\n').map(|line| {
        if stays(line) { line.to_owned() } else { wrapped("", line, width).replace("\n        ", "\n") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A table without borders; the columns from `numbers_from` on are aligned right.
pub fn table(header: &[&str], numbers_from: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut all = vec![header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()];
    all.extend(rows.into_iter().map(|row| row.iter().map(|cell| line(cell)).collect()));
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for row in &all {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column >= numbers_from { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// `label  value` lines, the labels padded to one width.
pub fn pairs<L: AsRef<str>>(rows: &[(L, String)]) -> String {
    let width = rows.iter().map(|(l, _)| line(l.as_ref()).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (label, value) in rows {
        let (label, value) = (line(label.as_ref()), line(value));
        let pad = width.saturating_sub(label.chars().count());
        text.push_str(&format!("{label}{:pad$}  {value}\n", ""));
    }
    text
}
