//! `resume`: goes on with a conversion that was paused or interrupted.

use crate::conversion::HowArgs;
use crate::unlock_args::{NewArgs, SecretArgs};
use crate::verbs::*;
use keyway::conversion::{ConversionRequest, Goal};

/// Go on with a conversion that was paused or interrupted
#[derive(clap::Args, Debug)]
#[command(mut_arg("journal", |journal| journal.help("The file with the conversion's journal, where it is not beside the volume \
    (VOLUME.keyway-journal); of a BitLocker volume that was paused, a new file for it")))]
pub(crate) struct Args {
    /// The file or block device that is half converted
    volume: PathBuf,
    /// Try a wrong password in other spellings, too, as `open` does
    #[arg(long, help_heading = "Secret")]
    try_variants: bool,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    new: NewArgs,
    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut request = ConversionRequest::new(&args.volume, Goal::Resume);
    request.sources = args.keys.sources(args.secret.source())?.in_variants(args.try_variants);
    request.new = args.new.source();
    args.how.carry_out(request, out)
}
