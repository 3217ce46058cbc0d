//! The metadata of a BitLocker volume: three copies, and the first sector that names them.

use super::{BackupArgs, RestoreArgs};
use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, bytes, table};
use crate::searching::Searched;
use crate::volume;
use keyway_convert::room;
use keyway_engine::Access;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, CopyState, HeaderBackup, UnlockRequest};
use serde_json::{Value, json};
use std::path::Path;

/// Needs no secret: the metadata lies open but for its keys.
pub(super) fn backup(args: &BackupArgs, out: Output) -> Result<(), Failure> {
    if args.hidden || args.inner.source().is_given() {
        return Err(Failure::usage("a BitLocker volume has no hidden one", "leave out --hidden"));
    }
    let store = volume::store(&args.target.volume, Access::ReadOnly, Caching::Buffered)?;
    let seen = bitlocker::look(&store).map_err(|e| volume::about(&args.target.volume, e))?;
    seen.warnings.iter().for_each(|warning| out.warn(&warning.to_string()));
    let written = HeaderBackup::take(&store, &seen.metadata)
        .and_then(|backup| backup.write(&args.file))
        .map_err(|e| volume::about(&args.target.volume, e))?;
    let document =
        json!({"volume": args.target.volume, "file": args.file, "bytes": written, "hidden": false});
    out.result(&document, || {
        format!(
            "{} holds the metadata and the first sector ({}). With it the volume opens with the present \
             protectors, whatever is changed later: keep it safe.",
            args.file.display(),
            bytes(written)
        )
    })
}

pub(super) fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    let Some(file) = &args.file else {
        return Err(Failure::usage(
            "a BitLocker volume's metadata is restored from a backup file",
            "name the file; from a copy on the volume itself: `keyway header repair`",
        ));
    };
    volume::must_be_writable(&args.target.volume)?;
    volume::must_exist(file)?;
    let backup = HeaderBackup::read(file)?;
    out.confirm(&format!("The metadata of {} will be overwritten.", args.target.volume.display()))?;
    let secrets = args.target.bitlocker_secrets()?;
    let store = volume::store(&args.target.volume, Access::ReadWrite, Caching::Direct)?;
    backup
        .restore(&store, &UnlockRequest::new(&secrets), args.force)
        .map_err(|e| volume::about(&args.target.volume, e))?;
    out.result(&json!({"volume": args.target.volume, "restored": ["first sector", 1, 2, 3]}), || {
        format!(
            "{}: the three copies of the metadata and the first sector were restored.",
            args.target.volume.display()
        )
    })
}

/// Ends with exit code 4 where a copy is not in order. A secret is not needed; with one it is found
/// out whether the copy that counts was last written by somebody who had the key.
pub(super) fn check(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let store = volume::store(&args.volume, Access::ReadOnly, Caching::Buffered)?;
    let about = |e| volume::about(&args.volume, e);
    let which = args.which();
    let (metadata, authentic) = if args.names_a_secret() {
        let secrets = args.bitlocker_secrets()?;
        let opened = bitlocker::unlock(&Searched::new(&store), &which.bitlocker_request(&secrets))
            .map_err(about)?
            .opened;
        let authentic = opened.metadata.block().is_authentic(&opened.master);
        (opened.metadata, Some(authentic))
    } else {
        (which.look_at_bitlocker(&store).map_err(about)?.metadata, None)
    };
    let first = metadata.first_sector_is_good();
    let states = metadata.states();
    let good = first && states.iter().all(|state| *state == CopyState::Good);
    let copies: Vec<Value> = metadata
        .copies
        .iter()
        .zip(&states)
        .map(|(copy, state)| json!({"offset": copy.offset, "state": state}))
        .collect();
    let document =
        json!({"good": good, "first_sector": first, "metadata_copies": copies, "authentic": authentic});
    let first_words = match metadata.lost_boot {
        Some(fault) => format!("lost: {fault}"),
        None if first => "good".to_owned(),
        None => "names other places than the metadata does".to_owned(),
    };
    let mut rows = vec![vec!["first sector".to_owned(), "0".to_owned(), first_words]];
    rows.extend(metadata.copies.iter().zip(&states).enumerate().map(|(i, (copy, state))| {
        vec![format!("copy {}", i + 1), copy.offset.to_string(), state.to_string()]
    }));
    let mut text = table(&["", "at byte", "state"], 3, rows);
    if authentic == Some(true) {
        text.push_str("The copy that counts is sealed with the volume's own key.\n");
    }
    if good {
        return out.result(&document, || text);
    }
    out.say(&text)?;
    let format = if metadata.lost_boot.is_some() { " --format bitlocker" } else { "" };
    Err(Failure::new(
        Exit::NotAVolume,
        format!(
            "{}: the first sector and the copies of the metadata are not all in order",
            args.volume.display()
        ),
        format!("write it anew from a good copy: keyway header repair {}{format}", args.volume.display()),
    )
    .kind("damaged")
    .with(document))
}

pub(super) fn repair(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    volume::must_be_writable(&args.volume)?;
    let secrets = args.bitlocker_secrets()?;
    let store = volume::store(&args.volume, Access::ReadWrite, Caching::Direct)?;
    let opened = bitlocker::unlock(&Searched::new(&store), &args.which().bitlocker_request(&secrets))
        .map_err(|e| volume::about(&args.volume, e))?
        .opened;
    let lost = opened.metadata.lost_boot.is_some();
    if lost {
        make_sure(&args.volume, &store, out)?;
    }
    let written = opened.repair(&store).map_err(|e| volume::about(&args.volume, e))?;
    let again = bitlocker::look(&store).map_err(|e| volume::about(&args.volume, e))?.metadata;
    let all_good = again.states().iter().all(|state| *state == CopyState::Good);
    if !again.first_sector_is_good() || !(all_good || lost) {
        return Err(Failure::new(
            Exit::Failed,
            format!("{}: what was written anew is damaged again", args.volume.display()),
            "copy the volume to another drive: this one is failing",
        ));
    }
    let document =
        json!({"volume": args.volume, "repaired": written.copies, "first_sector": written.first_sector});
    out.result(&document, || {
        let first = written.first_sector.then(|| "the first sector".to_owned());
        let copies = written.copies.iter().map(|number| format!("copy {number} of the metadata"));
        let told: Vec<String> = first.into_iter().chain(copies).collect();
        if told.is_empty() {
            return format!(
                "{}: the first sector and all copies of the metadata are in order.",
                args.volume.display()
            );
        }
        let mut text = format!("{}: written anew: {}.", args.volume.display(), told.join(", "));
        if !all_good {
            text.push_str(
                " Not all copies of the metadata are in order: see whether what is in the volume is right, and then \
                 repair it once more.",
            );
        }
        text
    })
}

/// A volume that was found by its metadata may be one that was there before: what is in front is written over only
/// where nothing speaks for it, and somebody has been asked.
fn make_sure(path: &Path, store: &dyn Store, out: Output) -> Result<(), Failure> {
    if let Some(found) = room::find(store).map_err(|e| volume::about(path, e))? {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "a file system ({}) begins where the first sector was: nothing was written",
                found.kind.name()
            ),
            "the metadata is what is left of a volume that was here before; what is in that can be read with \
             --format bitlocker",
        )
        .kind("has-a-file-system"));
    }
    out.confirm(&format!(
        "The first sector of {} will be overwritten. Do that only if it was a BitLocker volume, and nothing else since.",
        path.display()
    ))
}
