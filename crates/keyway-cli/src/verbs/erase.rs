//! `erase`: the end of a volume in an instant.

use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::shown::shown;
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
    dry: DryRunArgs,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let plan = keyway::erase(&volume)?;
    let question = format!(
        "Everything in {} will be lost for ever, whatever passwords anyone knows.",
        args.target.volume.display()
    );
    if !args.dry.go_on(&plan, Some(&question), out)? {
        return Ok(());
    }
    plan.run()?;
    out.result(&json!({"volume": args.target.volume, "erased": true}), || {
        format!(
            "{}: every key is destroyed. Backups of its headers would still open it: destroy them, too. On a \
             flash drive unused cells may keep an old header; only the drive's own secure erase reaches these.",
            shown(&args.target.volume)
        )
    })
}
