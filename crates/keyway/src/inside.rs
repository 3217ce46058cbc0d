//! The files in a volume: what `ls`, `get` and `put` have in common.

use crate::failure::{Exit, Failure};
use crate::given::{Given, VolumeArgs};
use crate::output::Output;
use crate::volume;
use keyway_engine::Access;
use keyway_files::{Files, FilesError};
use keyway_store::Caching;
use keyway_volume::{Secrets, fsprobe};
use std::ffi::OsStr;
use std::sync::Arc;

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
    let kind = fsprobe::probe(&open.device).map(|found| found.kind);
    Files::open(Arc::new(open.device), kind).map_err(|e| volume::about(&target.volume, e))
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        use FilesError as E;
        let told = Self::told(error.exit_code(), &error.to_string());
        match error {
            E::Device(error) => error.into(),
            E::Host { doing, path, source } => Self::io(doing, &path, &source),
            E::NoFileSystem => told.kind("no-filesystem"),
            E::Unreadable(_) | E::CanNotWrite(_) | E::Unsupported(_) => told.kind("unsupported"),
            E::Unclean => told.kind("unclean"),
            E::Damaged(_) | E::Endless(_) => told.kind("damaged-filesystem"),
            E::NotFound(_) => told.kind("not-found"),
            E::NotAFolder(_) | E::IsAFolder(_) | E::IsALink(_) | E::NotAFile(_) => told.kind("not-suitable"),
            E::NotAPath(_) | E::BadName(_) => told.kind("usage"),
            E::Exists(_) | E::InTheWay(_) => told.kind("exists"),
            E::NoRoom { .. } => told.kind("no-space"),
        }
    }
}

/// A name for a terminal: what would steer it is shown instead of done.
pub(crate) fn shown(name: &OsStr) -> String {
    let steers = |c: &char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let text = name.to_string_lossy();
    text.chars().map(|c| if steers(&c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// All that could not be done, after the rest was.
pub(crate) fn not_all(what: &str, document: serde_json::Value) -> Failure {
    Failure::new(Exit::Failed, what, "the warnings say which and why; the rest was copied")
        .kind("not-all-copied")
        .with(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_steer_terminals() {
        assert_eq!(shown(OsStr::new("a\u{1b}[2Jb\n")), "a\\u{1b}[2Jb\\n");
        assert_eq!(shown(OsStr::new("gpj.\u{202e}exe")), "gpj.\\u{202e}exe");
        assert_eq!(shown(OsStr::new("größe.txt")), "größe.txt");
    }
}
