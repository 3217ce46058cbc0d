//! `status`: what is open, how, and how much went through it.

use crate::attach_words::with_reasons;
use crate::conversion::{self, JournalArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::status_words;
use keyway::medium::{look_again, must_exist};
use keyway::session::{OpenVolume, VolumeStatus, WaitingVolume};
use serde_json::{Value, json};
use std::path::Path;

/// Tell what is open, or everything about one volume
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway status
  $ keyway status secret.hc --json")]
pub(crate) struct Args {
    /// A volume, its device or its mount point; all open ones when left out
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT")]
    which: Option<String>,
    #[command(flatten)]
    journal: JournalArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.which {
        Some(name) => look_again(|| one(name, args.journal.path(), out)),
        None => all(out),
    }
}

fn all(out: Output) -> Result<(), Failure> {
    keyway::conversion::clean_stale();
    let volumes: Vec<VolumeStatus> = OpenVolume::all()?.into_iter().map(VolumeStatus::from).collect();
    let waiting = WaitingVolume::named(None)?;
    let documents: Vec<Value> = volumes.iter().map(document).collect();
    let document = json!({ "volumes": documents, "waiting": waiting });
    out.result(&document, || status_words::all(&volumes, &waiting))
}

fn one(name: &str, journal: Option<&Path>, out: Output) -> Result<(), Failure> {
    let path = Path::new(name);
    let status = match OpenVolume::find(name)? {
        Some(open) => {
            let converting_now = open.state.details.get("converting").is_some();
            let volume = &open.state.volume;
            let half = if converting_now { conversion::half_converted(volume, journal)? } else { None };
            if let Some(document) = half {
                return converting(volume, document, Some(&open), out);
            }
            VolumeStatus::from(open)
        }
        None => {
            must_exist(path)?;
            if let Some(document) = conversion::half_converted(path, journal)? {
                return converting(path, document, None, out);
            }
            let waiting = WaitingVolume::named(Some(name))?.into_iter().next();
            let mut status = VolumeStatus::locked(waiting.as_ref().map_or(path, |waiting| &waiting.volume))?;
            status.waiting = waiting;
            status
        }
    };
    out.result(&document(&status), || status_words::one(path, &status))
}

fn document(status: &VolumeStatus) -> Value {
    let reasons = status.session.as_ref().map(|open| &*open.state.reasons);
    with_reasons(status.document(), reasons)
}

/// A volume that is half converted: the fields of all volumes, and how far it is.
fn converting(
    path: &Path,
    mut document: Value,
    open: Option<&OpenVolume>,
    out: Output,
) -> Result<(), Failure> {
    if let Some(object) = document.as_object_mut() {
        // What is known of a BitLocker volume is there already.
        object.entry("encryption_method").or_insert(Value::Null);
        object.entry("protection_status").or_insert(json!("Unknown"));
        object.entry("key_protectors").or_insert(json!([]));
        object.insert("lock_status".to_owned(), json!(if open.is_some() { "Unlocked" } else { "Locked" }));
        object.extend(open.map(OpenVolume::in_use).unwrap_or_default());
    }
    out.result(&document, || {
        let attention = open.map(status_words::attention).unwrap_or_default();
        [vec![conversion::describe_in_words(path, &document)], attention].concat().join("\n")
    })
}
