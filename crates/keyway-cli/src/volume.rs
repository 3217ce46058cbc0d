//! From words to an unlocked volume: what `cat`, `info`, `open` and the others have in common.

use crate::failure::Failure;
use crate::given::Family;
use crate::narrow::{FormatArg, NarrowArgs};
use crate::output::Output;
use crate::searching::SearchBar;
use crate::session_words::NOT_LOCKED;
use keyway::session::{AttachChoice, SessionPlan};
use keyway::unlock::{KeyRef, UnlockArguments};
use keyway::{OpenOptions, Volume, medium};
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::{HashName, HeaderChoice, Secrets};
use std::path::{Path, PathBuf};

/// Which volume, and what it is looked for as.
#[derive(Debug, Clone)]
pub(crate) struct Which {
    /// Its file or device.
    pub(crate) path: PathBuf,
    /// Only this format.
    pub(crate) format: Option<FormatArg>,
    /// Only this hash.
    pub(crate) hash: Option<HashName>,
    /// Which header.
    pub(crate) header: HeaderChoice,
    /// It is an encrypted system.
    pub(crate) system: bool,
    /// It is a partition of one, whose header lies in this drive or file.
    pub(crate) system_header: Option<PathBuf>,
}

impl Which {
    /// From the command line.
    pub(crate) fn new(path: &Path, narrow: &NarrowArgs) -> Self {
        Self {
            path: path.to_owned(),
            format: narrow.format(),
            hash: narrow.hash(),
            header: narrow.header(),
            system: narrow.system(),
            system_header: narrow.system_header().map(Path::to_owned),
        }
    }

    /// A plan to have it served.
    pub(crate) fn to_serve(&self, way: impl Into<AttachChoice>) -> Result<SessionPlan, Failure> {
        Ok(SessionPlan::new(&self.path, self.arguments(), way)?)
    }

    /// The same for the library.
    pub(crate) fn arguments(&self) -> UnlockArguments {
        let mut arguments = UnlockArguments::new();
        arguments.format = self.format.map(FormatArg::format);
        arguments.hash = self.hash;
        arguments.header = self.header;
        arguments.system = self.system;
        arguments.system_header.clone_from(&self.system_header);
        arguments
    }
}

/// Unlocks a volume and puts its layout over the store.
pub(crate) fn open<'a>(
    which: &Which,
    access: Access,
    caching: Caching,
    key: impl Into<KeyRef<'a>>,
    protect: Option<&Secrets>,
) -> Result<Volume, Failure> {
    let bar = SearchBar::new();
    let options = OpenOptions::new().arguments(which.arguments()).access(access).caching(caching);
    Ok(options.protect_hidden(protect).progress(&bar).open_with(&which.path, key)?)
}

/// Looks at what somebody else may be at work on, and again where it got shorter meanwhile: resize2fs, which makes room for
/// an encryption, cuts an image file for a moment.
pub(crate) fn look<T>(look: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
    const MORE_LOOKS: usize = 9;
    for _ in 0..MORE_LOOKS {
        match look() {
            Err(failure) if failure.is_shorter() => {}
            seen => return seen,
        }
    }
    look()
}

/// Which formats' code is to look at a volume: the one that was named, else what its first sector
/// says.
pub(crate) fn family(which: &Which) -> Result<Family, Failure> {
    Ok(keyway::detect::family(&which.path, &which.arguments())?)
}

/// Tells the warnings of unlocking, and that memory could not be locked.
pub(crate) fn warn(out: Output, warnings: &[String]) {
    for warning in warnings {
        out.warn(warning);
    }
    if !keyway_secret::all_locked() {
        out.warn(NOT_LOCKED);
    }
}

/// An error of a format's code in words that name the volume.
pub(crate) fn about(path: &Path, error: impl Into<Failure>) -> Failure {
    error.into().about(path)
}

/// The volume must be there and readable before anyone is asked for a password.
pub(crate) fn must_exist(path: &Path) -> Result<(), Failure> {
    Ok(medium::must_exist(path)?)
}

/// So must be the right to write to it.
pub(crate) fn must_be_writable(path: &Path) -> Result<(), Failure> {
    Ok(medium::must_be_writable(path)?)
}
