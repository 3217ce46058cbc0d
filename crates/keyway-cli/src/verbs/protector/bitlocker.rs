//! The protectors of a BitLocker volume.

use super::{AddArgs, ChangeArgs, Kind, RecoveryArgs, RemoveArgs};
use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::output::{Output, table};
use crate::searching::SearchBar;
use crate::secrets_in::{NewArgs, one_stdin};
use crate::shown::shown;
use crate::verbs::name_of;
use crate::volume;
use crate::words;
use keyway::key_file::NewFile;
use keyway::protectors::{
    Added, Guid, LastProtector, Left, NewSecret, NewTpmProtector, Protection, Protectors,
};
use keyway::{Error, LockedVolume};
use keyway_engine::Access;
use keyway_store::Caching;
use keyway_volume::bitlocker::{self, ChangeError, ProtectorInfo};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn list(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let store = volume::store(&args.volume, Access::ReadOnly, Caching::Buffered)?;
    let seen = bitlocker::look(&store).map_err(|e| volume::about(&args.volume, e))?;
    seen.warnings.iter().for_each(|warning| out.warn(&warning.to_string()));
    let protectors = &seen.info.key_protectors;
    out.result(&json!({"key_protectors": protectors, "auto_unlock_keys": seen.info.auto_unlock_keys}), || {
        let row = |p: &ProtectorInfo| {
            let note = match (p.usable, &p.name) {
                (false, _) => "can't be used here".to_owned(),
                (true, name) => name.clone().unwrap_or_default(),
            };
            vec![p.id.to_string(), p.kind.name().to_owned(), p.changed.to_string(), note]
        };
        let mut text = table(&["id", "kind", "changed", ""], 4, protectors.iter().map(row));
        if seen.info.auto_unlock_keys > 0 {
            text.push_str(&format!(
                "It also holds the keys of {} other drives, which it unlocks in Windows.\n",
                seen.info.auto_unlock_keys
            ));
        }
        text
    })
}

/// Opens a volume whose protectors are looked at or changed, and tells what its owner should know.
fn open<'a>(volume: &'a LockedVolume<'a>, access: Access, out: Output) -> Result<Protectors<'a>, Failure> {
    let opened = Protectors::open(volume, access)?;
    volume::warn(out, &opened.warnings);
    Ok(opened)
}

/// A password to be set; asks on the terminal where none was named.
fn new_password(path: &Path, new: &NewArgs) -> Result<NewSecret, Failure> {
    let source = new.source();
    if !source.keyfiles.is_empty() || source.pim.is_some() {
        return Err(Failure::usage("a BitLocker volume has no keyfiles and no PIM", "give a password"));
    }
    Ok(NewSecret::Password(source.read_new(&name_of(path))?.password))
}

pub(super) fn add(args: &AddArgs, out: Output) -> Result<(), Failure> {
    one_stdin([&args.target.source(), &args.new.source(), &args.new_tpm.pin_source()])?;
    let tpm = asks(args.kind);
    if tpm.is_none() && args.new_tpm.is_given() {
        return Err(Failure::usage(
            "--new-tpm, --pcrs, --new-pin-file and --new-pin-fd are for protectors with a TPM",
            "leave them out, or add one of the kinds tpm, tpm-pin, tpm-startup-key, tpm-pin-startup-key",
        ));
    }
    let wants_startup_key = tpm.map_or(args.kind == Kind::StartupKey, |(_, startup_key)| startup_key);
    if wants_startup_key && args.to.is_none() {
        return Err(Failure::usage(
            "a startup key needs a folder to be written to",
            "name one on another drive: --to FOLDER",
        ));
    }
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let mut protectors = open(&volume, Access::ReadWrite, out)?;
    let new = match args.kind {
        Kind::Password => new_password(&args.target.volume, &args.new)?,
        Kind::RecoveryPassword => NewSecret::recovery()?,
        Kind::StartupKey => NewSecret::startup_key()?,
        Kind::Tpm | Kind::TpmPin | Kind::TpmStartupKey | Kind::TpmPinStartupKey => {
            return add_tpm(args, tpm.unwrap_or_default(), &mut protectors, out);
        }
    };
    put(&args.target.volume, &mut protectors, &new, None, args.to.as_deref(), out)
}

/// Whether the kind has a PIN, and whether it has a startup key; `None` for one without a TPM.
fn asks(kind: Kind) -> Option<(bool, bool)> {
    match kind {
        Kind::Tpm => Some((false, false)),
        Kind::TpmStartupKey => Some((false, true)),
        Kind::TpmPin => Some((true, false)),
        Kind::TpmPinStartupKey => Some((true, true)),
        Kind::Password | Kind::RecoveryPassword | Kind::StartupKey => None,
    }
}

fn add_tpm(
    args: &AddArgs,
    (pin, startup_key): (bool, bool),
    protectors: &mut Protectors<'_>,
    out: Output,
) -> Result<(), Failure> {
    let mut new = NewTpmProtector::default();
    new.source = args.new_tpm.source()?;
    new.pin = pin;
    new.startup_key = args.to.clone().filter(|_| startup_key);
    let (Added { id, kind, file, warning, .. }, pcrs) = protectors.add_tpm(&new)?;
    warning.iter().for_each(|warning| out.warn(&words::told(warning)));
    let registers: Vec<u32> = pcrs.iter().collect();
    let document =
        json!({"volume": args.target.volume, "id": id, "kind": kind, "file": file, "pcrs": registers});
    out.result(&document, || {
        let mut text = format!(
            "{} opens by this TPM {id} from now on (--tpm), as long as the machine starts up as it did (PCRs {pcrs}).",
            shown(&args.target.volume)
        );
        if let Some(path) = &file {
            text.push_str(&format!("\nThe startup key is in {}: keep it apart from the drive.", shown(path)));
        }
        text
    })
}

pub(super) fn change(args: &ChangeArgs, out: Output) -> Result<(), Failure> {
    if args.new_hash.is_some() || args.new_no_keyfiles {
        return Err(Failure::usage(
            "a BitLocker volume has no keyfiles and only one key derivation",
            "give a new password, or name another protector with --id",
        ));
    }
    one_stdin([&args.target.source(), &args.new.source()])?;
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let mut protectors = open(&volume, Access::ReadWrite, out)?;
    let Some((id, kind)) = protectors.find(args.id) else {
        return Err(match args.id {
            Some(id) => volume::about(&args.target.volume, ChangeError::NoSuchProtector(id)),
            None => Failure::usage(
                format!("{} has no password to change", args.target.volume.display()),
                "name the protector with --id; `keyway protector list` tells which it has",
            ),
        });
    };
    let new = match kind {
        Protection::Password => new_password(&args.target.volume, &args.new)?,
        Protection::RecoveryPassword => NewSecret::recovery()?,
        Protection::StartupKey if args.to.is_none() => {
            return Err(Failure::usage("a startup key needs a folder to be written to", "add --to FOLDER"));
        }
        Protection::StartupKey => NewSecret::startup_key()?,
        other => {
            return Err(Failure::usage(
                format!("a protector of the kind {} can't be changed", other.name()),
                "add another one, then remove this one",
            ));
        }
    };
    put(&args.target.volume, &mut protectors, &new, Some(id), args.to.as_deref(), out)
}

/// Adds a protector, or puts it in the place of another one, and tells what opens the volume now.
fn put(
    path: &Path,
    protectors: &mut Protectors<'_>,
    new: &NewSecret,
    replaces: Option<Guid>,
    to: Option<&Path>,
    out: Output,
) -> Result<(), Failure> {
    let Added { id, kind, file, warning, .. } = protectors.put(new, replaces, to)?;
    warning.iter().for_each(|warning| out.warn(&words::told(warning)));
    let mut document = json!({"volume": path, "id": id, "kind": kind, "file": file});
    let mut text = format!("{} opens by {} {id} from now on.", shown(path), words(kind));
    match (new, &file) {
        (NewSecret::Recovery(recovery), None) => {
            let digits = recovery.to_text();
            let digits = String::from_utf8_lossy(&digits);
            if let Some(fields) = document.as_object_mut() {
                fields.insert("recovery_password".to_owned(), json!(digits));
            }
            text.push_str(&format!("\nWrite it down and keep it apart from the drive:\n  {digits}"));
        }
        (_, Some(path)) => {
            text.push_str(&format!("\nIt is in {}: keep it apart from the drive.", shown(path)))
        }
        (_, None) => {}
    }
    if replaces.is_some() {
        text.push_str(
            "\nBackups of the volume's headers made before still open with the old one: destroy them.",
        );
    }
    out.result(&document, || text)
}

fn words(kind: Protection) -> &'static str {
    match kind {
        Protection::Password => "the password",
        Protection::RecoveryPassword => "the recovery password",
        Protection::StartupKey => "the startup key",
        _ => "the protector",
    }
}

pub(super) fn remove(args: &RemoveArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let mut protectors = open(&volume, Access::ReadWrite, out)?;
    let left = match protectors.remove(args.id, LastProtector::Keep) {
        // Scripts say --yes to everything: what nobody can undo has a word of its own, and is asked nevertheless.
        Err(e) if args.last && is_last(&e) => {
            out.confirm(&format!("{e}."))?;
            protectors.remove(args.id, LastProtector::Remove)?
        }
        other => other?,
    };
    match left {
        Left::ClearKey => out.warn(
            "only the clear key of its suspended protection opens the volume now: add a protector, or anybody reads it",
        ),
        Left::Tpm => out.warn(
            "only a TPM opens the volume now: if that machine fails, so does it; add a recovery password",
        ),
        _ => {}
    }
    out.result(&json!({"volume": args.target.volume, "removed": args.id}), || {
        format!(
            "{} no longer opens by the protector {}.\nBackups of the volume's headers made before still open \
             with it: destroy them.",
            shown(&args.target.volume),
            args.id
        )
    })
}

fn is_last(error: &Error) -> bool {
    match error {
        Error::At { error, .. } => is_last(error),
        other => {
            matches!(other, Error::Protectors(ChangeError::LastProtector(_) | ChangeError::LastSecret(_)))
        }
    }
}

pub(super) fn recovery(args: &RecoveryArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let found = open(&volume, Access::ReadOnly, out)?.recovery_passwords(args.id);
    let Some((first, password)) = found.first() else {
        return Err(Failure::new(
            Exit::Failed,
            format!("{} has no such recovery password", args.target.volume.display()),
            "add one: keyway protector add VOLUME recovery-password",
        )
        .kind(keyway_error::Kind::NoSuchProtector));
    };
    if let Some(path) = &args.to {
        if found.len() > 1 {
            return Err(Failure::usage(
                format!("{} has {} recovery passwords", args.target.volume.display(), found.len()),
                "name one of them with --id; `keyway protector list` shows them",
            ));
        }
        let mut file = NewFile::claim(path.clone())?;
        file.write_recovery(*first, password)?;
        let file = file.keep();
        return out.result(&json!({"volume": args.target.volume, "id": first, "file": file}), || {
            format!("The recovery password is in {}: keep it apart from the drive.", shown(file))
        });
    }
    let digits: Vec<(Guid, String)> =
        found.iter().map(|(id, p)| (*id, String::from_utf8_lossy(&p.to_text()).into_owned())).collect();
    let list: Vec<Value> =
        digits.iter().map(|(id, digits)| json!({"id": id, "recovery_password": digits})).collect();
    out.result(&json!({"recovery_passwords": list}), || {
        table(&["id", "recovery password"], 2, digits.iter().map(|(id, d)| vec![id.to_string(), d.clone()]))
    })
}

pub(super) fn suspend(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    out.confirm(&format!(
        "Anybody who gets hold of {} will be able to read it until its protection is resumed.",
        args.volume.display()
    ))?;
    let bar = SearchBar::new();
    let volume = args.locked(&bar)?;
    let id = open(&volume, Access::ReadWrite, out)?.suspend()?;
    out.result(&json!({"volume": args.volume, "protection_status": "Protection Off", "id": id}), || {
        format!("{} opens without a secret now. `keyway protector resume` ends that.", shown(&args.volume))
    })
}

/// Needs no secret: the volume is open to everybody.
pub(super) fn resume(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.locked(&bar)?;
    let mut protectors = Protectors::open_suspended(&volume)?;
    volume::warn(out, &protectors.warnings);
    protectors.resume()?;
    out.result(&json!({"volume": args.volume, "protection_status": "Protection On"}), || {
        format!(
            "{} needs a secret again. On a flash drive the key that lay open may survive in unused cells; where \
             that matters, move the data to a new volume.",
            shown(&args.volume)
        )
    })
}
