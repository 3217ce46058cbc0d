//! What a person gives to open a volume of either family: VeraCrypt's one secret, or BitLocker's
//! keys, of which it has several kinds.

use crate::asking::Terminal;
use crate::failure::Failure;
use crate::narrow::NarrowArgs;
use crate::searching::SearchBar;
use crate::secrets_in::{SecretArgs, SecretSource};
use crate::tpm_in::TpmArgs;
use crate::volume::Which;
use keyway::LockedVolume;
use keyway::secrets::Sources;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use keyway::unlock::Family;

/// The options of secrets that only BitLocker volumes have.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "BitLocker")]
pub(crate) struct KeyArgs {
    /// The recovery password: its 48 digits, or a file that holds it; `-` is standard input
    #[arg(long, value_name = "TEXT-OR-FILE")]
    recovery_password: Option<OsString>,
    /// The startup key's file, or a folder in which the volume's one is looked for
    #[arg(long, value_name = "FILE.BEK")]
    startup_key: Option<PathBuf>,
    #[command(flatten)]
    tpm: TpmArgs,
}

/// A volume, what opens it, and what it is looked for as: what nearly every verb takes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct VolumeArgs {
    /// The volume's file or block device
    pub(crate) volume: PathBuf,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    #[command(flatten)]
    narrow: NarrowArgs,
}

impl VolumeArgs {
    /// Which volume is meant.
    pub(crate) fn which(&self) -> Which {
        Which::new(&self.volume, &self.narrow)
    }

    /// The same for the library, which asks on the terminal for what wasn't named.
    pub(crate) fn locked<'a>(&self, bar: &'a SearchBar) -> Result<LockedVolume<'a>, Failure> {
        let mut volume = LockedVolume::new(&self.volume, &Terminal);
        volume.arguments = self.which().arguments();
        volume.sources = self.keys.sources(&self.source())?;
        volume.progress = bar;
        Ok(volume)
    }

    /// Where its password and keyfiles come from.
    pub(crate) fn source(&self) -> SecretSource {
        self.secret.source()
    }

    /// Whether anything that opens it was named.
    pub(crate) fn names_a_secret(&self) -> bool {
        self.source().is_given() || self.keys.is_given()
    }
}

impl KeyArgs {
    /// Whether any was named.
    pub(crate) fn is_given(&self) -> bool {
        self.recovery_password.is_some() || self.startup_key.is_some() || self.tpm.is_given()
    }

    /// What the options name, for the library.
    pub(crate) fn sources(&self, source: &SecretSource) -> Result<Sources, Failure> {
        let mut sources = Sources::new();
        sources.password = source.named();
        sources.recovery_password.clone_from(&self.recovery_password);
        sources.startup_key.clone_from(&self.startup_key);
        sources.tpm = self.tpm.source()?;
        Ok(sources)
    }
}
