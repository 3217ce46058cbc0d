//! `drive erase`: a range's end in an instant, by a new media key.

use super::range::AdminArgs;
use super::target::Target;
use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use crate::verbs::name_of;
use keyway_sed::host::single_user::user_of;
use serde_json::json;
use std::path::PathBuf;

/// Destroy what is in a range at once: the drive makes a new media key for it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive erase /dev/nvme0n1
  $ keyway drive erase virtual.drive --range 1 --password-file admin.txt --yes")]
pub(crate) struct Args {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// Which range; 0, everything that no other covers, when left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    range: u16,
    #[command(flatten)]
    admin: AdminArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut target = Target::open(&args.device, args.admin.secret.hash.hash)?;
    target.must_be_set_up()?;
    target.must_be_unused()?;
    let where_ = if args.range == 0 {
        "Everything outside of other ranges".to_owned()
    } else {
        format!("Everything in range {}", args.range)
    };
    out.confirm(&format!("{where_} of {} will be lost for ever.", args.device.display()))?;
    let what = format!("{} on {}", args.admin.who, name_of(&args.device));
    let pin = args.admin.secret.pin(&what, &target.serial())?;
    let of_a_user = target.locking(args.admin.who, &pin, |session| session.erase(args.range))?;
    out.result(&json!({"device": args.device, "range": args.range, "erased": true}), || {
        let (device, range) = (shown(&args.device), args.range);
        let user = if of_a_user {
            format!(
                " It locks no more, and user{n}'s password is empty: `keyway drive user move-in {device} --range {range}` \
                 sets one.",
                n = user_of(range)
            )
        } else {
            String::new()
        };
        format!("{device}: range {range} has a new media key; what was in it is gone.{user}")
    })
}
