//! The files in a volume: what `ls`, `get` and `put` have in common.

use crate::failure::{Exit, Failure};
use crate::given::{Given, VolumeArgs};
use crate::output::Output;
use crate::volume;
use keyway_engine::Access;
use keyway_fs::files::Files;
use keyway_store::Caching;
use keyway_volume::Secrets;

/// Unlocks a volume and looks at the file system in it.
pub(crate) fn open(
    target: &VolumeArgs,
    access: Access,
    given: Given,
    protect: Option<&Secrets>,
    out: Output,
) -> Result<Files, Failure> {
    let open = volume::open(&target.which(), access, Caching::Buffered, &given, protect)?;
    drop(given);
    volume::warn(out, &open.warnings);
    open.into_files().map_err(|e| volume::about(&target.volume, e))
}

/// All that could not be done, after the rest was.
pub(crate) fn not_all(what: &str, document: serde_json::Value) -> Failure {
    Failure::new(Exit::Failed, what, "the warnings say which and why; the rest was copied")
        .kind(keyway_error::Kind::NotAllCopied)
        .with(document)
}
