//! `erase`: the end of a volume in an instant.

use crate::failure::Failure;
use crate::given::{Family, VolumeArgs};
use crate::output::Output;
use crate::system_drive::SystemDrive;
use crate::volume;
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::bitlocker;
use keyway_volume::veracrypt;
use serde_json::json;

/// Destroy every key of a volume, so that nobody can open it again
///
/// A BitLocker volume needs no secret for that. A VeraCrypt or TrueCrypt volume does: without one it
/// can't be told from any other file.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway erase /dev/sdb1
  $ keyway erase secret.hc --password-file pw.txt --yes")]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    volume::must_be_writable(&args.target.volume)?;
    let which = args.target.which();
    let warning = || {
        out.confirm(&format!(
            "Everything in {} will be lost for ever, whatever passwords anyone knows.",
            args.target.volume.display()
        ))
    };
    let about = |failure: Failure| volume::about(&args.target.volume, failure);
    match volume::family(&which)? {
        Family::BitLocker => {
            warning()?;
            let store = volume::store(&args.target.volume, Access::ReadWrite, Caching::Direct)?;
            let metadata = bitlocker::Metadata::read(&store).map_err(|e| about(e.into()))?;
            bitlocker::erase(&store, &metadata).map_err(|e| about(e.into()))?;
        }
        Family::VeraCrypt => {
            let secrets = args.target.veracrypt_secrets()?;
            let store = volume::store(&args.target.volume, Access::ReadWrite, Caching::Direct)?;
            let drive = SystemDrive::of(&which)?;
            let request = which.request(&secrets, None, drive.as_ref());
            let headers = veracrypt::Headers::find(&store, &request).map_err(|e| about(e.into()))?;
            warning()?;
            headers.erase(&store).map_err(|e| about(e.into()))?;
        }
    }
    out.result(&json!({"volume": args.target.volume, "erased": true}), || {
        format!(
            "{}: every key is destroyed. Backups of its headers would still open it: destroy them, too. On a \
             flash drive unused cells may keep an old header; only the drive's own secure erase reaches these.",
            args.target.volume.display()
        )
    })
}
