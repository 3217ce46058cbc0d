//! `info`: what a volume's header says.

use super::drive;
use crate::conversion::{self, JournalArgs};
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes, pairs};
use crate::searching::SearchBar;
use crate::shown::shown;
use crate::volume::{self, Which};
use keyway::detect::{What, detect};
use keyway_engine::Access;
use keyway_fs::Superblock;
use keyway_store::Caching;
use keyway_volume::bitlocker::Seen;
use keyway_volume::{Format, Inspection, VolumeError};
use serde_json::{Value, json};
use std::path::Path;

/// Tell everything a volume's header says; without a secret, what can be seen from outside
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway info secret.hc
  $ keyway info secret.hc --password-file pw.txt --json
  $ keyway info /dev/sdb1 --ask")]
pub(crate) struct Args {
    /// Ask for the password on the terminal
    #[arg(long)]
    ask: bool,
    #[command(flatten)]
    journal: JournalArgs,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    let half = || conversion::half_converted(&args.target.volume, args.journal.path());
    if let Some(document) = volume::look(half)? {
        return out.result(&document, || conversion::describe_in_words(&args.target.volume, &document));
    }
    let which = args.target.which();
    if !args.target.names_a_secret() && !args.ask {
        return volume::look(|| match volume::family(&which)? {
            Family::VeraCrypt if keyway::drive::is_drive(&args.target.volume) => {
                drive::show(&args.target.volume, out)
            }
            Family::BitLocker | Family::VeraCrypt => outside(&which, out),
        });
    }
    let secrets = args.target.given()?;
    let open = volume::open(&which, Access::ReadOnly, Caching::Buffered, &secrets, None)?;
    let mut document = serde_json::to_value(&open.info).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert(
            "filesystem".to_owned(),
            json!(
                Superblock::read(&open.device)
                    .ok()
                    .flatten()
                    .map(|found| json!({"type": found.type_name(), "uuid": found.uuid}))
            ),
        );
        object.insert("warnings".to_owned(), json!(open.warnings));
    }
    volume::warn(out, &open.warnings);
    out.result(&document, || words(&args.target.volume, &document))
}

/// What can be seen without a secret.
fn outside(which: &Which, out: Output) -> Result<(), Failure> {
    match detect(&which.path, &which.arguments(), &SearchBar::new())? {
        What::BitLocker(seen) => locked_bitlocker(&which.path, &seen, out),
        What::Noise(seen) => noise(&which.path, &seen, out),
        // Somebody began that just now: what is there is looked at again.
        _ => volume::family(which).map(drop),
    }
}

/// BitLocker's metadata lies open but for its keys.
fn locked_bitlocker(path: &Path, seen: &Seen, out: Output) -> Result<(), Failure> {
    let warnings: Vec<String> = seen.warnings.iter().map(ToString::to_string).collect();
    let mut document = serde_json::to_value(&seen.info).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert("warnings".to_owned(), json!(warnings));
    }
    warnings.iter().for_each(|warning| out.warn(warning));
    out.result(&document, || words(path, &document))
}

/// The other formats show nothing but noise, and that is worth telling.
fn noise(path: &Path, seen: &Inspection, out: Output) -> Result<(), Failure> {
    if let Some(reason) = &seen.not_a_volume {
        return Err(volume::about(path, VolumeError::NotAVolume(*reason)));
    }
    let mut document = serde_json::to_value(seen).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert("format".to_owned(), Value::Null);
        object.insert("possible_formats".to_owned(), json!([Format::VeraCrypt, Format::TrueCrypt]));
    }
    out.result(&document, || {
        format!(
            "{}: {} of what looks like noise, as a VeraCrypt or TrueCrypt volume does.\n\
             Nothing in such a volume says more without its secret: use --ask or --password-file.",
            shown(path),
            bytes(seen.store_bytes),
        )
    })
}

/// Every field of the document, a line each.
fn words(path: &Path, document: &Value) -> String {
    let mut rows = Vec::new();
    for (key, value) in document.as_object().into_iter().flatten() {
        let label = format!("  {}", key.replace('_', " "));
        let text = match value {
            Value::Null => continue,
            Value::Array(list) if list.is_empty() || key == "warnings" => continue,
            Value::Array(list) if list.iter().all(Value::is_object) => {
                for (i, item) in list.iter().enumerate() {
                    rows.push((if i == 0 { label.clone() } else { String::new() }, one_line(item)));
                }
                continue;
            }
            Value::String(text) => text.clone(),
            Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
            Value::Number(n) if key.ends_with("_bytes") => match n.as_u64() {
                Some(n) if n >= 10_000 => format!("{n} ({})", bytes(n)),
                _ => n.to_string(),
            },
            Value::Object(_) => one_line(value),
            other => other.to_string(),
        };
        rows.push((label, text));
    }
    format!("{}\n{}", shown(path), pairs(&rows))
}

/// The texts and numbers in an object.
fn one_line(object: &Value) -> String {
    let fields = object.as_object().into_iter().flat_map(|fields| fields.values());
    let words = fields.filter_map(|value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    });
    words.collect::<Vec<_>>().join("  ")
}
