//! `decrypt`: an encrypted volume becomes the plain file system that is in it.

use super::drive;
use crate::conversion::{self, HowArgs};
use crate::conversion_bitlocker;
use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::Output;
use crate::volume::{self, about};
use keyway::medium::is_slow_to_scatter;
use keyway_convert::veracrypt;
use keyway_volume::veracrypt::unlock;

/// Decrypt a volume in place: what is in it lies open on the device afterwards
///
/// The volume must not be open. Losing power, or Ctrl-C, at any moment loses nothing: `keyway resume`
/// goes on. A hidden volume is lost. A BitLocker volume can be paused and used in between.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway decrypt /dev/sdb1
  $ keyway decrypt secret.hc --password-file pw.txt --yes
  $ sudo keyway decrypt --hardware /dev/nvme0n1 --password-file owner.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    hardware: drive::HardwareArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    if args.hardware.wanted() {
        return drive::decrypt(path, &args.hardware, &args.target.source(), out);
    }
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    keyway::conversion::refuse_if_begun(path)?;
    keyway::conversion::refuse_if_used(path)?;
    let which = args.target.which();
    if volume::family(&which)? == Family::BitLocker {
        return conversion_bitlocker::decrypt(&args.target, &args.how, out);
    }
    let way = args.how.in_use.way(out)?;
    out.confirm(&format!(
        "Everything in {} will lie open on it. Make a backup first. A hidden volume in it will be lost.",
        path.display()
    ))?;
    let secrets = args.target.veracrypt_secrets()?;
    let store = keyway::conversion::claim(path)?;
    let opened = unlock(&store, &which.request(&secrets, None, None)).map_err(|e| about(path, e))?;
    keyway::conversion::allocate(path)?;
    let file = conversion::journal_beside(path, &args.how)?;
    let plan = veracrypt::decryption(&store, &opened, file).map_err(|e| about(path, e))?;
    let whole = args.how.full_journal || is_slow_to_scatter(path);
    let plan = if whole { plan.kept_whole() } else { plan };
    drop(opened);
    let journal = conversion::new_journal(&plan)?;
    conversion::carry_out(path, &plan, (store, journal), None, (args.how.limit, way), out)
}
