//! What `encrypt`, `decrypt`, `resume`, `pause` and `status` have in common: the options of a conversion, and what a half
//! converted volume says of itself.

use crate::attach_words;
use crate::conversion_words::{self, Told, free_in_words};
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::shown::shown;
use crate::size;
use crate::verbs::open;
use keyway::conversion::{self, FreeSpace, Online, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How a conversion is carried out.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Conversion")]
pub(crate) struct HowArgs {
    /// Keep the journal in this new file instead of on the volume; on another drive it makes the conversion faster
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Write everything to the journal before it is written to its place, for a drive that may damage more than 64 KiB in a
    /// row when its power fails; slower by a third. A conversion goes on as it was begun
    #[arg(long)]
    full_journal: bool,
    /// Convert so many megabytes a second at most, or so many KiB, MiB or GiB: 20, 512K, 20M, 1G
    #[arg(long, value_name = "MB/S", value_parser = size::rate)]
    limit: Option<u64>,
    /// Attach the volume and stay here to serve it: it can be read and written while it is converted
    #[arg(long)]
    online: bool,
    /// Mount the file system inside on this folder meanwhile (needs root)
    #[arg(long, value_name = "FOLDER", requires = "online")]
    mount: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

impl HowArgs {
    /// Has the conversion looked at, and carried out or, with `--dry-run`, shown.
    pub(crate) fn carry_out(&self, mut request: Request, out: Output) -> Result<(), Failure> {
        request.journal.clone_from(&self.journal);
        (request.full_journal, request.limit) = (self.full_journal, self.limit);
        if self.online {
            let mountpoint = self.mount.as_deref().map(open::folder).transpose()?;
            let attachment = attach_words::ours(mountpoint.is_some(), out)?;
            request.online = Some(Online::new(attachment, mountpoint));
        }
        let conversion = conversion::plan(&request, &crate::asking::Terminal)?;
        let question = conversion_words::question(&conversion.plan);
        if !self.dry.go_on(&conversion.plan, question.as_deref(), out)? {
            return Ok(());
        }
        let outcome = {
            let told = Told::new(&request.path, out);
            conversion.run(&crate::asking::Terminal, &told)?
        };
        conversion_words::tell(&outcome, out)
    }
}

/// Where the journal is that is to be read.
#[derive(clap::Args, Debug)]
pub(crate) struct JournalArgs {
    /// The file with the journal of the conversion, where it is not beside the volume (VOLUME.keyway-journal)
    #[arg(long = "journal", value_name = "FILE")]
    journal: Option<PathBuf>,
}

impl JournalArgs {
    pub(crate) fn path(&self) -> Option<&Path> {
        self.journal.as_deref()
    }
}

/// A file or device that is half converted: how far it is, and all that is said of it without a secret.
pub(crate) fn half_converted(path: &Path, named: Option<&Path>) -> Result<Option<Value>, Failure> {
    Ok(conversion::describe(path, named)?.map(|description| document(path, &description)))
}

/// The description as a document, with what goes on with it.
pub(crate) fn document(path: &Path, description: &impl Serialize) -> Value {
    let mut document = json!(description);
    if let Some(object) = document.as_object_mut() {
        object.insert("resume_with".to_owned(), json!(format!("keyway resume {}", path.display())));
    }
    document
}

/// The same for people.
pub(crate) fn describe_in_words(path: &Path, document: &Value) -> String {
    let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| document.get(key).and_then(Value::as_f64);
    let mut rows = vec![
        ("  Size:", bytes(document.get("size_bytes").and_then(Value::as_u64).unwrap_or_default())),
        ("  Conversion Status:", text("conversion_status")),
        ("  Percentage Encrypted:", format!("{:.1}%", number("percentage_encrypted").unwrap_or_default())),
        (
            "  conversion",
            format!("{}, {:.1} % done", text("conversion"), number("percentage_done").unwrap_or_default()),
        ),
    ];
    let free = document.get("free_space").and_then(|free| FreeSpace::deserialize(free).ok());
    rows.extend(free.map(|free| ("  free space", free_in_words(free).to_owned())));
    if let (Some(speed), Some(left)) = (number("bytes_per_second"), number("seconds_left")) {
        // Nothing is known in the first moment.
        if speed > 0.0 {
            rows.push(("  speed", format!("{}/s, {left} s left", bytes(speed as u64))));
        }
    } else {
        rows.push(("  what to do", format!("{}; nothing is lost", text("resume_with"))));
    }
    format!("{}\n{}", shown(path), pairs(&rows))
}
