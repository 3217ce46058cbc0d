//! `resume`: goes on with a conversion that was paused or interrupted.

use crate::conversion::HowArgs;
use crate::failure::Failure;
use crate::given::KeyArgs;
use crate::output::Output;
use crate::secrets_in::{NewArgs, SecretArgs};
use keyway::conversion::{Goal, Request};
use std::path::PathBuf;

/// Go on with a conversion that was paused, or interrupted by whatever it was
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway resume /dev/sdb1
  $ keyway resume secret.hc --password-file old.txt --new-password-file new.txt
  $ keyway resume secret.hc --password-file old.txt --recovery-password key.txt
  $ sudo keyway resume /dev/sdb1 --journal /mnt/other/journal",
    mut_arg("journal", |journal| journal.help("The file with the conversion's journal, where it is not beside the volume \
    (VOLUME.keyway-journal); of a BitLocker volume that was paused, a new file for it")))]
pub(crate) struct Args {
    /// The file or block device that is half converted
    volume: PathBuf,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    new: NewArgs,
    #[command(flatten)]
    keys: KeyArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut request = Request::new(&args.volume, Goal::Resume);
    request.sources = args.keys.sources(&args.secret.source())?;
    request.new = args.new.source().named();
    args.how.carry_out(request, out)
}
