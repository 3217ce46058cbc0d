//! `info`: what a volume's header says.

use super::drive;
use crate::conversion::{self, JournalArgs};
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes, pairs};
use crate::searching::SearchBar;
use crate::shown::shown;
use keyway::detect::{What, detect};
use keyway::medium::{look_again, must_exist};
use keyway::{Access, Caching, LockedVolume};
use keyway_volume::VolumeError;
use serde_json::Value;
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
    let path = &args.target.volume;
    must_exist(path)?;
    if let Some(document) = look_again(|| conversion::half_converted(path, args.journal.path()))? {
        return out.result(&document, || conversion::describe_in_words(path, &document));
    }
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    if !args.target.names_a_secret() && !args.ask {
        return look_again(|| match volume.family()? {
            Family::VeraCrypt if keyway::drive::is_drive(path) => drive::show(path, out),
            Family::BitLocker | Family::VeraCrypt => outside(&volume, out),
        });
    }
    let open = volume.open(Access::ReadOnly, Caching::Buffered)?;
    out.warnings(&open.warnings);
    let document = open.describe();
    out.result(&document, || words(path, &document))
}

/// What can be seen without a secret.
fn outside(volume: &LockedVolume<'_>, out: Output) -> Result<(), Failure> {
    let path = &*volume.path;
    let what = detect(path, &volume.arguments, volume.progress)?;
    what.warnings().iter().for_each(|warning| out.warn(warning));
    let document = what.describe();
    match what {
        What::BitLocker(_) => out.result(&document, || words(path, &document)),
        // The other formats show nothing but noise, and that is worth telling.
        What::Noise(seen) => match &seen.not_a_volume {
            Some(reason) => Err(Failure::from(VolumeError::NotAVolume(*reason)).about(path)),
            None => out.result(&document, || {
                format!(
                    "{}: {} of what looks like noise, as a VeraCrypt or TrueCrypt volume does.\n\
                     Nothing in such a volume says more without its secret: use --ask or --password-file.",
                    shown(path),
                    bytes(seen.store_bytes),
                )
            }),
        },
        // Somebody began that just now: what is there is looked at again.
        _ => Ok(volume.family().map(drop)?),
    }
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
