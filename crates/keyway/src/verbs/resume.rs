//! `resume`: goes on with a conversion that was paused or interrupted.

use super::name_of;
use crate::conversion::{self, HowArgs};
use crate::conversion_between;
use crate::conversion_bitlocker;
use crate::failure::{Exit, Failure};
use crate::given::KeyArgs;
use crate::output::Output;
use crate::secrets_in::{NewArgs, SecretArgs, one_stdin};
use crate::volume::{self, about};
use keyway_convert::veracrypt::{Plan, ResumeSecrets};
use keyway_convert::{Found, Kind, room};
use keyway_engine::Access;
use keyway_store::{Caching, FileStore};
use std::path::{Path, PathBuf};

/// Go on with a conversion that was paused, or interrupted by whatever it was
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway resume /dev/sdb1
  $ keyway resume secret.hc --password-file old.txt --new-password-file new.txt
  $ keyway resume secret.hc --password-file old.txt --recovery-password key.txt")]
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
    let path = &args.volume;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    let Some(found) = conversion::find(path)? else {
        let (own, new) = (args.secret.source(), args.new.source());
        if conversion_between::find(path)?.is_some() {
            return conversion_between::resume(path, (&own, &new), &args.keys, &args.how, out);
        }
        if new.is_given() {
            return Err(Failure::usage(
                "only a re-encryption has a new secret beside the old one",
                "leave the --new-… options out",
            ));
        }
        return conversion_bitlocker::resume(path, &own, &args.keys, &args.how, out);
    };
    if args.keys.is_given() {
        return Err(Failure::usage(
            "only a BitLocker volume has a recovery password, a startup key or a TPM",
            "give the volume's password or keyfiles",
        ));
    }
    conversion::refuse_if_used(path)?;
    conversion::journal_must_be_there(&found.marker.journal)?;
    let way = args.how.in_use.way(out)?;
    let (own, new) = (args.secret.source(), args.new.source());
    one_stdin([&own, &new])?;
    let old = own.read(&name_of(path))?;
    let other = new.is_given().then(|| new.read(&name_of(path))).transpose()?;
    if other.is_some() && found.marker.kind != Kind::Reencryption {
        return Err(Failure::usage(
            "only a re-encryption has a new secret beside the old one",
            "leave the --new-… options out",
        ));
    }
    let store = volume::store(path, Access::ReadWrite, Caching::Direct)?;
    // Looked for again, now that nobody else can write to it.
    let found = keyway_convert::find(&store)?.unwrap_or(found);
    refuse_if_grown(path, &found, &store)?;
    let journal = conversion::old_journal(&found, Access::ReadWrite)?;
    let secrets = ResumeSecrets { old: &old, new: other.as_ref() };
    let in_front = found.in_front;
    let plan = Plan::resume(found, &store, journal.as_deref(), &secrets).map_err(|e| about(path, e))?;
    conversion::carry_out(path, &plan, (store, journal), Some(in_front), (args.how.limit, way), out)
}

/// Where the marker is not in front the conversion begins anew, and what it needs lies behind the file
/// system as that was. Whoever has used it since may have made it larger.
fn refuse_if_grown(path: &Path, found: &Found, store: &FileStore) -> Result<(), Failure> {
    if found.in_front || found.marker.kind != Kind::Encryption {
        return Ok(());
    }
    match room::find(store)? {
        Some(now) if now.bytes > found.marker.moved => Err(Failure::new(
            Exit::Failed,
            format!("the file system on {} is larger than when its encryption was begun", path.display()),
            format!(
                "nothing of it is encrypted yet; make it smaller again, to {} bytes at most, and resume",
                found.marker.moved
            ),
        )
        .kind("no-room")),
        _ => Ok(()),
    }
}
