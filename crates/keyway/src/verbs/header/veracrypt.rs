//! The header of a VeraCrypt or TrueCrypt volume and its copy at the end.

use super::{BackupArgs, RestoreArgs};
use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, bytes, table};
use crate::secrets_in::one_stdin;
use crate::system_drive::SystemDrive;
use crate::verbs::name_of;
use crate::volume;
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::veracrypt::{self, HeaderState, KeysGuard, Place, RestoreFrom};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

pub(super) fn backup(args: &BackupArgs, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    let (own, inner) = (args.target.source(), args.inner.source());
    one_stdin([&own, &inner])?;
    let name = name_of(&args.target.volume);
    let secrets = own.read(&name)?;
    let hidden = if args.hidden || inner.is_given() {
        Some(inner.read(&format!("the hidden volume in {name}"))?)
    } else {
        None
    };
    let which = args.target.which();
    let store = volume::store(&args.target.volume, Access::ReadOnly, Caching::Buffered)?;
    let drive = SystemDrive::of(&which)?;
    let request = which.request(&secrets, None, drive.as_ref());
    let done = veracrypt::header_backup(&store, &request, hidden.as_ref(), &args.file)
        .map_err(|e| volume::about(&args.target.volume, e))?;
    let document =
        json!({"volume": args.target.volume, "file": args.file, "bytes": done.bytes, "hidden": done.hidden});
    out.result(&document, || {
        let what = if done.hidden { "the headers of the outer and the hidden volume" } else { "the header" };
        format!(
            "{} holds {what} ({}). It opens with the present secret, whatever is changed later: keep it safe.",
            args.file.display(),
            bytes(done.bytes)
        )
    })
}

pub(super) fn restore(args: &RestoreArgs, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.target.volume)?;
    volume::must_be_writable(&args.target.volume)?;
    if let Some(file) = &args.file {
        volume::must_exist(file)?;
    }
    out.confirm(&format!("The header of {} will be overwritten.", args.target.volume.display()))?;
    let secrets = args.target.source().read(&match &args.file {
        Some(file) => format!("{} at the time of the backup", name_of(file)),
        None => name_of(&args.target.volume),
    })?;
    let from = args.file.as_deref().map_or(RestoreFrom::Embedded, RestoreFrom::File);
    let guard = if args.force { KeysGuard::Any } else { KeysGuard::Same };
    let which = args.target.which();
    let store = volume::store(&args.target.volume, Access::ReadWrite, Caching::Direct)?;
    let drive = SystemDrive::of(&which)?;
    let request = which.request(&secrets, None, drive.as_ref());
    let done = veracrypt::header_restore(&store, from, &request, guard)
        .map_err(|e| volume::about(&args.target.volume, e))?;
    let document = json!({"volume": args.target.volume, "hidden": done.hidden, "restored": done.places});
    out.result(&document, || {
        let places: Vec<String> = done.places.iter().map(Place::to_string).collect();
        format!("{}: the {} was restored.", args.target.volume.display(), places.join(" and the "))
    })
}

#[derive(Serialize)]
struct CheckedHeader {
    place: Place,
    state: &'static str,
    reason: Option<String>,
}

/// Ends with exit code 4 where a copy is not in order, so that scripts need not read the answer.
pub(super) fn check(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    volume::must_exist(&args.volume)?;
    let secrets = args.source().read(&name_of(&args.volume))?;
    let which = args.which();
    let store = volume::store(&args.volume, Access::ReadOnly, Caching::Buffered)?;
    let drive = SystemDrive::of(&which)?;
    let checks = veracrypt::check(&store, &which.request(&secrets, None, drive.as_ref()))
        .map_err(|e| volume::about(&args.volume, e))?;
    let headers: Vec<CheckedHeader> = checks
        .iter()
        .map(|check| {
            let (state, reason) = match &check.state {
                HeaderState::Good => ("good", None),
                HeaderState::Differs => ("differs", Some("it describes another volume".to_owned())),
                HeaderState::DoesNotOpen => {
                    ("does-not-open", Some("it is damaged, or has another secret".to_owned()))
                }
                HeaderState::Unreadable(e) => ("unreadable", Some(e.to_string())),
                HeaderState::Absent => ("absent", Some("this volume keeps no copy there".to_owned())),
            };
            CheckedHeader { place: check.place, state, reason }
        })
        .collect();
    let good = headers.iter().all(|header| matches!(header.state, "good" | "absent"));
    if good {
        return out.result(&json!({"good": true, "headers": headers}), || words(&headers));
    }
    out.say(&words(&headers))?;
    Err(damaged(&args.volume, &headers))
}

fn damaged(path: &Path, headers: &[CheckedHeader]) -> Failure {
    let bad = headers.iter().find(|header| !matches!(header.state, "good" | "absent"));
    let place = bad.map(|header| header.place.to_string()).unwrap_or_default();
    let advice = match bad {
        Some(CheckedHeader { place: Place::Primary | Place::Hidden, .. }) => {
            format!("restore it from the copy at the end: keyway header restore {}", path.display())
        }
        _ => "write it anew: keyway header backup, then keyway header restore from that file".to_owned(),
    };
    Failure::new(Exit::NotAVolume, format!("{}: the {place} is not in order", path.display()), advice)
        .kind("damaged")
        .with(json!({"good": false, "headers": headers}))
}

fn words(headers: &[CheckedHeader]) -> String {
    let row = |header: &CheckedHeader| {
        vec![header.place.to_string(), header.state.to_owned(), header.reason.clone().unwrap_or_default()]
    };
    table(&["header", "state", ""], 3, headers.iter().map(row))
}
