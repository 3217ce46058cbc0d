//! `decrypt`: an encrypted volume becomes the plain file system that is in it.

use super::drive;
use crate::conversion::HowArgs;
use crate::verbs::*;
use keyway::conversion::{ConversionRequest, Goal};

/// Decrypt a volume in place
///
/// What is in it lies open on the device afterwards.
/// The volume must not be open. Losing power, or Ctrl-C, at any moment loses nothing: `keyway resume`
/// goes on. A hidden volume is lost. A BitLocker volume can be paused and used in between.
#[derive(clap::Args, Debug)]
#[command(mut_arg("partition", |arg| arg.hide(true)), mut_arg("system", |arg| arg.hide(true)))]
#[command(mut_arg("system_header", |arg| arg.hide(true)))]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    hardware: drive::HardwareArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    if args.hardware.wanted() {
        return drive::decrypt(path, &args.hardware, args.target.source(), (args.how.dry, out));
    }
    let mut request = ConversionRequest::new(path, Goal::Decrypt);
    request.arguments = args.target.arguments();
    request.sources = args.target.sources()?;
    args.how.carry_out(request, out)
}
