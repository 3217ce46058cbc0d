//! What shall open a new BitLocker volume: its options.

use keyway::create::ProtectorOptions;
use keyway::unlock::Family;
use std::path::PathBuf;

/// The formats that can be made.
pub(crate) const NEW_FORMATS: [(&str, Family, &str); 2] =
    [("veracrypt", Family::VeraCrypt, "VeraCrypt"), ("bitlocker", Family::BitLocker, "BitLocker")];

/// The options that only BitLocker volumes have.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "BitLocker")]
pub(crate) struct BitLockerArgs {
    /// Let programs that know no BitLocker see a small file system with a note in it
    #[arg(long)]
    pub(crate) to_go: bool,
    /// Write the recovery password to this new file instead of printing it
    #[arg(long, value_name = "FILE")]
    recovery_file: Option<PathBuf>,
    /// Make no recovery password
    #[arg(long, conflicts_with = "recovery_file")]
    no_recovery_password: bool,
    /// Set no password
    #[arg(long)]
    no_password: bool,
    /// Make a startup key and write its .BEK file into this folder
    #[arg(long, value_name = "FOLDER")]
    startup_key_out: Option<PathBuf>,
}

impl BitLockerArgs {
    /// What shall open the volume.
    pub(crate) fn protectors(&self) -> ProtectorOptions {
        let mut options = ProtectorOptions::default();
        (options.password, options.recovery_password) = (!self.no_password, !self.no_recovery_password);
        options.recovery_file.clone_from(&self.recovery_file);
        options.startup_key_folder.clone_from(&self.startup_key_out);
        options
    }
}
