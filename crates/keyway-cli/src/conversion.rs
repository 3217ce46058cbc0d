//! What `encrypt`, `decrypt`, `resume`, `pause` and `status` have in common: the options of a conversion, and what a half
//! converted volume says of itself.

use crate::conversion_words::{self, Told, free_in_words};
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::session_words;
use crate::unlock_args::SandboxArgs;
use crate::words::said;
use keyway::conversion::{self, ConversionRequest, Description, Details, Online};
use keyway::session::{by_ourselves, mount_point};
use keyway::shown::shown;
use keyway::spelled as size;
use serde_json::json;
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
    /// Go on where sectors can't be read: they become zeros, and this file lists them
    #[arg(long, value_name = "LIST")]
    skip_unreadable: Option<PathBuf>,
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
    confined: SandboxArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
}

impl HowArgs {
    /// Has the conversion looked at, and carried out or, with `--dry-run`, shown.
    pub(crate) fn carry_out(&self, mut request: ConversionRequest, out: Output) -> Result<(), Failure> {
        (request.journal, request.skip_unreadable) = (self.journal.clone(), self.skip_unreadable.clone());
        (request.full_journal, request.limit) = (self.full_journal, self.limit);
        request.serving = Some(session_words::serving());
        request.sandbox = Some(keyway::Sandbox::new(self.confined.require_sandbox));
        if self.online {
            let mountpoint = self.mount.as_deref().map(mount_point).transpose()?;
            request.online = Some(Online::new(by_ourselves(mountpoint.is_some())?.attachment, mountpoint));
        }
        out.must_be_heard(request.told_once())?;
        let told = Told::new(&request, out);
        let conversion = conversion::plan(&request, &crate::asking::Terminal, &told)?;
        let unread = conversion.plan.unread_by_windows();
        unread.iter().for_each(|kind| out.warn(&said("conversion unread", &json!({"filesystem": kind}))));
        if !self.dry.go_on(&conversion.plan, conversion_words::question(&conversion.plan).as_deref(), out)? {
            return Ok(());
        }
        let outcome = conversion.run(&crate::asking::Terminal, &told)?;
        conversion_words::tell(&outcome, &request, out)
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

/// A file or device that is half converted, for people: how far it is, and all that is said of it without a secret.
pub(crate) fn words(path: &Path, found: &Description) -> String {
    let mut rows = vec![
        ("  Size:", bytes(found.size_bytes)),
        ("  Conversion Status:", found.conversion_status.clone()),
        ("  Percentage Encrypted:", format!("{:.1}%", found.percentage_encrypted)),
        ("  conversion", found.in_words()),
    ];
    if let Details::VeraCrypt { free_space, .. } | Details::BitLocker { free_space, .. } = found.details {
        rows.extend(free_space.map(|free| ("  free space", free_in_words(free))));
    }
    match (found.bytes_per_second, found.seconds_left) {
        // Nothing is known in the first moment.
        (Some(0), Some(_)) => {}
        (Some(speed), Some(left)) => rows.push(("  speed", format!("{}/s, {left} s left", bytes(speed)))),
        _ => rows.push(("  what to do", said("conversion go-on", &json!(found)))),
    }
    format!("{}\n{}", shown(path), pairs(&rows))
}
