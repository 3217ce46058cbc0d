//! The files in a volume: what `ls`, `get` and `put` have in common.

use crate::failure::{Exit, Failure};
use crate::given::{Given, VolumeArgs};
use crate::output::Output;
use crate::volume;
use keyway_engine::Access;
use keyway_fs::files::{Files, FilesError};
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

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        use FilesError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Device(error) => error.into(),
            E::Host { doing, path, source } => Self::io(doing, &path, &source),
            E::NoFileSystem => told.kind(keyway_error::Kind::NoFilesystem),
            E::Unreadable(_) | E::CanNotWrite(_) | E::Unsupported(_) => {
                told.kind(keyway_error::Kind::Unsupported)
            }
            E::Unclean => told.kind(keyway_error::Kind::Unclean),
            E::Damaged(_) | E::Endless(_) => told.kind(keyway_error::Kind::DamagedFilesystem),
            E::NotFound(_) => told.kind(keyway_error::Kind::NotFound),
            E::NotAFolder(_) | E::IsAFolder(_) | E::IsALink(_) | E::NotAFile(_) => {
                told.kind(keyway_error::Kind::NotSuitable)
            }
            E::NotAPath(_) | E::BadName(_) => told.kind(keyway_error::Kind::Usage),
            E::Exists(_) | E::InTheWay(_) => told.kind(keyway_error::Kind::Exists),
            E::NoRoom { .. } => told.kind(keyway_error::Kind::NoSpace),
        }
    }
}

/// All that could not be done, after the rest was.
pub(crate) fn not_all(what: &str, document: serde_json::Value) -> Failure {
    Failure::new(Exit::Failed, what, "the warnings say which and why; the rest was copied")
        .kind(keyway_error::Kind::NotAllCopied)
        .with(document)
}
