//! `info`: what a volume's header says.

use super::drive;
use crate::conversion::{self, JournalArgs};
use crate::verbs::*;
use keyway::conversion::describe;
use keyway::detect::{What, detect};
use keyway::disk::{Disk, listed};
use keyway::medium::{look_again, must_exist};
use keyway::told;
use keyway::{Caching, LockedVolume};

/// Tell what a volume's header says, or what is seen from outside
///
/// What only the decrypted header says is told with a secret.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Ask for the password on the terminal
    #[arg(long)]
    ask: bool,
    #[command(flatten)]
    journal: JournalArgs,
    #[command(flatten)]
    target: VolumeArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    must_exist(path)?;
    if let Some(found) = look_again(|| describe(path, args.journal.path()))? {
        return out.result(&found, || conversion::words(path, &found));
    }
    let asks = args.ask || args.target.sources()?.is_given();
    if !asks
        && !keyway::drive::is_drive(path)
        && let Some(disk) = listed(path, &args.target.arguments())?
    {
        let document = facts(&disk, json!({ "format": null }));
        return out.result(&document, || disk_words(path, &disk, disk.hides(&args.target.arguments())));
    }
    let volume = args.target.locked()?;
    if !asks {
        return look_again(|| match volume.family() {
            Ok(Family::VeraCrypt) if keyway::drive::is_drive(path) => drive::show(path, out),
            // A virtual drive's file is no volume.
            Err(_) if path.is_file() && keyway::drive::is_drive(path) => drive::show(path, out),
            family => family.map_err(Failure::from).and_then(|_| outside(&volume, out)),
        });
    }
    let open = volume.within(keyway::Sandbox::default()).open(Access::ReadOnly, Caching::Buffered)?;
    out.warnings(&open.warnings);
    let document = open.describe();
    out.result(&document, || words(path, &document))
}

/// What can be seen without a secret.
fn outside(volume: &LockedVolume<'_>, out: Output) -> Result<(), Failure> {
    let path = &*volume.path;
    let what = detect(path, &volume.arguments, volume.progress)?;
    what.warnings(path).iter().for_each(|warning| out.warn(warning));
    let document = what.describe(path);
    match what {
        What::BitLocker(_) => out.result(&document, || words(path, &document)),
        // The other formats show nothing but noise, and that is worth telling.
        What::Noise(seen) => match &seen.not_a_volume {
            Some(reason) => Err(volume.not_a_volume(*reason).into()),
            None => {
                let facts = json!({"path": in_json(path), "store_bytes": seen.store_bytes});
                out.result(&document, || said("info noise", &facts))
            }
        },
        // Somebody began that just now: what is there is looked at again.
        _ => Ok(volume.family().map(drop)?),
    }
}

fn words(path: &Path, document: &Value) -> String {
    format!("{}\n{}", shown(path), pairs(&told::described(document)))
}

/// A disk's partitions, and what they hold.
fn disk_words(path: &Path, disk: &Disk, hides: bool) -> String {
    let rows = disk.partitions.iter().map(|one| {
        let (begins, size) = (bytes(one.offset_bytes), bytes(one.size_bytes));
        let holds = said("disk holds", &facts(one, Value::Null));
        vec![one.number.to_string(), begins, size, holds, one.name.as_ref().unwrap_or(&one.purpose).clone()]
    });
    let rows = table(&["partition", "begins at", "size", "holds", "name or type"], 5, rows);
    let facts = facts(disk, json!({"path": in_json(path), "table": disk.table_name(), "hides": hides}));
    format!("{}\n{rows}{}", said("disk table", &facts), said("disk search", &facts))
}
