//! Why a conversion can't be begun, found or gone on with, in words for people.

use crate::failure::Failure;
use crate::shown::shown;
use keyway::conversion::ConversionError;
use keyway_error::{Explain, Kind};

impl From<ConversionError> for Failure {
    fn from(error: ConversionError) -> Self {
        use ConversionError as E;
        let failure = Self::meant(&error.explain(), error.to_string());
        match &error {
            E::UnderWay(path) => failure.hint(format!("go on with `keyway resume {}`", path.display())),
            E::NotUnderWay(_) => failure.hint("begin one with `keyway encrypt` or `keyway decrypt`"),
            E::Running { path, .. } => failure.hint(format!(
                "`keyway status {0}` tells how far it is, `keyway pause {0}` stops it",
                path.display()
            )),
            E::EndedMeanwhile(path) => {
                failure.hint(format!("`keyway info {}` tells what it is now", path.display()))
            }
            E::NewJournal { .. } if failure.kind == Kind::NoSpace => {
                failure.hint("free some space there, or put it on another drive: --journal FILE")
            }
            E::NewJournal { .. } if failure.kind == Kind::Exists => failure.hint(
                "no conversion of this volume needs it, perhaps another one's does: remove it, or name another with --journal",
            ),
            E::AnotherJournal { .. } => failure
                .hint("name the file that the conversion was begun with: --journal FILE; nothing was changed"),
            E::JournalElsewhere { made_as, .. } => failure.hint(format!(
                "say where that is: --journal FILE (when the conversion began it was {}); nothing was changed",
                shown(made_as)
            )),
            E::JournalMissing { made_as, .. } => failure.hint(format!(
                "mount the drive it is on, or say where it is: --journal FILE (when the conversion began it was {}); \
                 nothing was changed",
                shown(made_as)
            )),
            E::NoJournalFile(_) => failure.hint(
                "name the journal's own file, not a link to it: --journal FILE; nothing was changed",
            ),
            E::Holes { .. } => {
                failure.hint("it has holes, and converted it will have fewer or none: free some space")
            }
            _ => failure,
        }
    }
}
