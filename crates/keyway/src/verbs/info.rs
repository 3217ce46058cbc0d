//! `info`: what a volume's header says.

use super::drive;
use crate::conversion;
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes, pairs};
use crate::volume::{self, Which};
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::{Format, VolumeError, fsprobe};
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
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    if let Some(document) = conversion::half_converted(&args.target.volume)? {
        return out.result(&document, || conversion::describe_in_words(&args.target.volume, &document));
    }
    let which = args.target.which();
    if !args.target.names_a_secret() && !args.ask {
        return match volume::family(&which)? {
            Family::BitLocker => locked_bitlocker(&which, out),
            Family::VeraCrypt if drive::is_drive(&args.target.volume) => {
                drive::show(&args.target.volume, out)
            }
            Family::VeraCrypt => outside(&args.target.volume, out),
        };
    }
    let secrets = args.target.given()?;
    let open = volume::open(&which, Access::ReadOnly, Caching::Buffered, &secrets, None)?;
    let mut document = serde_json::to_value(&open.info).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert("filesystem".to_owned(), json!(fsprobe::probe(&open.device)));
        object.insert("warnings".to_owned(), json!(open.warnings));
    }
    volume::warn(out, &open.warnings);
    out.result(&document, || words(&args.target.volume, &document))
}

/// Without a secret: BitLocker's metadata lies open but for its keys.
fn locked_bitlocker(which: &Which, out: Output) -> Result<(), Failure> {
    let path = &which.path;
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let seen = which.look_at_bitlocker(&store).map_err(|e| volume::about(path, e))?;
    let warnings: Vec<String> = seen.warnings.iter().map(ToString::to_string).collect();
    let mut document = serde_json::to_value(&seen.info).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert("warnings".to_owned(), json!(warnings));
    }
    warnings.iter().for_each(|warning| out.warn(warning));
    out.result(&document, || words(path, &document))
}

/// Without a secret: these formats show nothing but noise, and that is worth telling.
fn outside(path: &Path, out: Output) -> Result<(), Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let seen = keyway_volume::inspect(&store).map_err(|e| volume::about(path, e))?;
    if let Some(reason) = seen.not_a_volume {
        return Err(volume::about(path, VolumeError::NotAVolume(reason)));
    }
    let mut document = serde_json::to_value(&seen).unwrap_or(Value::Null);
    if let Some(object) = document.as_object_mut() {
        object.insert("format".to_owned(), Value::Null);
        object.insert("possible_formats".to_owned(), json!([Format::VeraCrypt, Format::TrueCrypt]));
    }
    out.result(&document, || {
        format!(
            "{}: {} of what looks like noise, as a VeraCrypt or TrueCrypt volume does.\n\
             Nothing in such a volume says more without its secret: use --ask or --password-file.",
            path.display(),
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
    format!("{}\n{}", path.display(), pairs(&rows))
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
