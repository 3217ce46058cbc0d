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
use keyway::conversion::{ConversionError, Found, JournalFile};
use keyway_convert::veracrypt::{Plan, ResumeSecrets};
use keyway_convert::{ConversionKind, cross_format};
use keyway_engine::Access;
use keyway_fs::FileSystem;
use keyway_store::{Caching, FileStore};
use std::path::{Path, PathBuf};

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
    let path = &args.volume;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    let before =
        keyway::conversion::is_under_way(&volume::store(path, Access::ReadOnly, Caching::Buffered)?)?;
    keyway::conversion::refuse_if_used(path)?;
    let store = keyway::conversion::claim_to_resume(path)?;
    // Looked for again, now that nobody else can write to it.
    let now = keyway::conversion::is_under_way(&store)?;
    if before && !now {
        return Err(ConversionError::EndedMeanwhile(path.to_owned()).into());
    }
    let (own, new) = (args.secret.source(), args.new.source());
    let Some(found) = keyway_convert::find(&store)? else {
        if let Some(found) = cross_format::find(&store)? {
            let what = (path.as_path(), store, found);
            return conversion_between::resume(what, (&own, &new), &args.keys, &args.how, out);
        }
        if new.is_given() {
            return Err(Failure::usage(
                "only a re-encryption has a new secret beside the old one",
                "leave the --new-… options out",
            ));
        }
        return conversion_bitlocker::resume((path, store), &own, &args.keys, &args.how, out);
    };
    if args.keys.is_given() {
        return Err(Failure::usage(
            "only a BitLocker volume has a recovery password, a startup key or a TPM",
            "give the volume's password or keyfiles",
        ));
    }
    let found = Found::VeraCrypt(Box::new(found));
    let journal = found.journal(path, args.how.journal.as_deref())?;
    let Found::VeraCrypt(found) = found else { return Ok(()) };
    let found = *found;
    let way = args.how.in_use.way(out)?;
    one_stdin([&own, &new])?;
    let old = own.read(&name_of(path))?;
    let other = new.is_given().then(|| new.read(&name_of(path))).transpose()?;
    if other.is_some() && found.marker.kind != ConversionKind::Reencryption {
        return Err(Failure::usage(
            "only a re-encryption has a new secret beside the old one",
            "leave the --new-… options out",
        ));
    }
    refuse_if_grown(path, &found, &store)?;
    let secrets = ResumeSecrets { old: &old, new: other.as_ref() };
    let in_front = found.in_front;
    let file = journal.as_ref().map(JournalFile::store);
    // The marker and the file are anybody's until the headers open.
    let plan = Plan::resume(found, &store, file, &secrets).map_err(|e| about(path, e))?;
    let journal = journal.map(JournalFile::for_writing).transpose()?;
    conversion::carry_out(path, &plan, (store, journal), Some(in_front), (args.how.limit, way), out)
}

/// Where the marker is not in front the conversion begins anew, and what it needs lies behind the file
/// system as that was. Whoever has used it since may have made it larger.
fn refuse_if_grown(path: &Path, found: &keyway_convert::Found, store: &FileStore) -> Result<(), Failure> {
    if found.in_front || found.marker.kind != ConversionKind::Encryption {
        return Ok(());
    }
    match FileSystem::find(store)? {
        Some(now) if now.bytes > found.marker.moved => Err(Failure::new(
            Exit::Failed,
            format!("the file system on {} is larger than when its encryption was begun", path.display()),
            format!(
                "nothing of it is encrypted yet; make it smaller again, to {} bytes at most, and resume",
                found.marker.moved
            ),
        )
        .kind(keyway_error::Kind::NoRoom)),
        _ => Ok(()),
    }
}
