//! The protectors of a BitLocker volume.

use super::{AddArgs, ChangeArgs, Kind, RecoveryArgs, RemoveArgs, tpm};
use crate::failure::{Exit, Failure};
use crate::given::VolumeArgs;
use crate::key_file::NewFile;
use crate::output::{Output, table};
use crate::secrets_in::{NewArgs, one_stdin};
use crate::verbs::name_of;
use crate::volume;
use keyway_engine::Access;
use keyway_secret::SecretBytes;
use keyway_store::{Caching, FileStore};
use keyway_volume::bitlocker::{
    self, ChangeError, Guid, LastProtector, NewProtector, OpenedKeys, Protection, ProtectorInfo,
    RecoveryPassword, RewriteError, Secret, StartupKey,
};
use serde_json::{Value, json};
use std::path::Path;

/// A volume whose protectors are to be changed.
struct Volume<'a> {
    path: &'a Path,
    store: FileStore,
    keys: OpenedKeys,
}

impl<'a> Volume<'a> {
    fn open(target: &'a VolumeArgs, access: Access, out: Output) -> Result<Self, Failure> {
        if access == Access::ReadWrite {
            volume::must_be_writable(&target.volume)?;
        }
        Self::unlock(&target.volume, &target.bitlocker_secrets()?, access, out)
    }

    fn unlock(path: &'a Path, secrets: &[Secret], access: Access, out: Output) -> Result<Self, Failure> {
        let caching = if access == Access::ReadWrite { Caching::Direct } else { Caching::Buffered };
        let store = volume::store(path, access, caching)?;
        let opened = bitlocker::unlock(&store, &bitlocker::UnlockRequest::new(secrets))
            .map_err(|e| volume::about(path, e))?;
        let warnings: Vec<String> = opened.warnings.iter().map(ToString::to_string).collect();
        volume::warn(out, &warnings);
        Ok(Self { path, store, keys: opened.opened })
    }

    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut OpenedKeys, &FileStore) -> Result<T, ChangeError>,
    ) -> Result<T, Failure> {
        change(&mut self.keys, &self.store).map_err(|e| volume::about(self.path, e))
    }
}

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

/// A new secret, with the file it is in, if it is in one.
enum New {
    Password(SecretBytes),
    Recovery(RecoveryPassword),
    Startup(StartupKey),
}

impl New {
    fn password(path: &Path, new: &NewArgs) -> Result<Self, Failure> {
        let source = new.source();
        if !source.keyfiles.is_empty() || source.pim.is_some() {
            return Err(Failure::usage("a BitLocker volume has no keyfiles and no PIM", "give a password"));
        }
        Ok(Self::Password(source.read_new(&name_of(path))?.password))
    }

    fn recovery() -> Result<Self, Failure> {
        RecoveryPassword::random().map(Self::Recovery).map_err(no_random)
    }

    fn startup_key() -> Result<Self, Failure> {
        StartupKey::random().map(Self::Startup).map_err(no_random)
    }

    fn protector(&self) -> NewProtector<'_> {
        match self {
            Self::Password(password) => NewProtector::Password(password),
            Self::Recovery(recovery) => NewProtector::RecoveryPassword(recovery),
            Self::Startup(key) => NewProtector::StartupKey(key),
        }
    }
}

fn no_random(e: getrandom::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the system gave no random numbers: {e}"), "")
}

pub(super) fn add(args: &AddArgs, out: Output) -> Result<(), Failure> {
    one_stdin([&args.target.source(), &args.new.source(), &args.new_tpm.pin_source()])?;
    let tpm = tpm::asks(args.kind);
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
    let mut volume = Volume::open(&args.target, Access::ReadWrite, out)?;
    let new = match args.kind {
        Kind::Password => New::password(&args.target.volume, &args.new)?,
        Kind::RecoveryPassword => New::recovery()?,
        Kind::StartupKey => New::startup_key()?,
        Kind::Tpm | Kind::TpmPin | Kind::TpmStartupKey | Kind::TpmPinStartupKey => {
            return tpm::add(args, tpm.unwrap_or_default(), &volume.store, &mut volume.keys, out);
        }
    };
    put(&mut volume, &new, None, args.to.as_deref(), out)
}

pub(super) fn change(args: &ChangeArgs, out: Output) -> Result<(), Failure> {
    if args.new_hash.is_some() || args.new_no_keyfiles {
        return Err(Failure::usage(
            "a BitLocker volume has no keyfiles and only one key derivation",
            "give a new password, or name another protector with --id",
        ));
    }
    one_stdin([&args.target.source(), &args.new.source()])?;
    let mut volume = Volume::open(&args.target, Access::ReadWrite, out)?;
    let entries = &volume.keys.metadata.block().dataset.entries;
    let wanted = |p: &&bitlocker::Protector| match args.id {
        Some(id) => p.id == id,
        None => p.protection == Protection::Password,
    };
    let Some((id, kind)) = entries.protectors().find(wanted).map(|p| (p.id, p.protection)) else {
        return Err(match args.id {
            Some(id) => volume::about(&args.target.volume, ChangeError::NoSuchProtector(id)),
            None => Failure::usage(
                format!("{} has no password to change", args.target.volume.display()),
                "name the protector with --id; `keyway protector list` tells which it has",
            ),
        });
    };
    let new = match kind {
        Protection::Password => New::password(&args.target.volume, &args.new)?,
        Protection::RecoveryPassword => New::recovery()?,
        Protection::StartupKey if args.to.is_none() => {
            return Err(Failure::usage("a startup key needs a folder to be written to", "add --to FOLDER"));
        }
        Protection::StartupKey => New::startup_key()?,
        other => {
            return Err(Failure::usage(
                format!("a protector of the kind {} can't be changed", other.name()),
                "add another one, then remove this one",
            ));
        }
    };
    put(&mut volume, &new, Some(id), args.to.as_deref(), out)
}

/// Adds a protector, or puts it in the place of another one. Its file, if it has one, is written
/// first: a protector whose secret nobody has would be worse than a file that opens nothing.
fn put(
    volume: &mut Volume<'_>,
    new: &New,
    replaces: Option<Guid>,
    to: Option<&Path>,
    out: Output,
) -> Result<(), Failure> {
    let id = match replaces {
        Some(id) => id,
        None => Guid::random().map_err(no_random)?,
    };
    let file = match (new, to) {
        (New::Startup(key), Some(folder)) => {
            let mut file = NewFile::claim_startup_key(folder, key)?;
            file.write_startup_key(key)?;
            Some(file)
        }
        (New::Recovery(recovery), Some(path)) => Some(recovery_file(path, id, recovery)?),
        _ => None,
    };
    let new_id = if let New::Startup(key) = new { key.id } else { id };
    let result = match replaces {
        Some(id) => volume.keys.replace_protector(&volume.store, id, &new.protector()),
        None => volume.keys.add_protector(&volume.store, id, &new.protector()),
    };
    let id = in_force(result, new_id, out).map_err(|e| volume::about(volume.path, e))?;
    let file = file.map(NewFile::keep);
    let kind = new.protector().protection();
    let mut document = json!({"volume": volume.path, "id": id, "kind": kind, "file": file});
    let mut text = format!("{} opens by {} {id} from now on.", volume.path.display(), words(kind));
    match (new, &file) {
        (New::Recovery(recovery), None) => {
            let digits = recovery.to_text();
            let digits = String::from_utf8_lossy(&digits);
            if let Some(fields) = document.as_object_mut() {
                fields.insert("recovery_password".to_owned(), json!(digits));
            }
            text.push_str(&format!("\nWrite it down and keep it apart from the drive:\n  {digits}"));
        }
        (_, Some(path)) => {
            text.push_str(&format!("\nIt is in {}: keep it apart from the drive.", path.display()))
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

fn recovery_file(path: &Path, id: Guid, password: &RecoveryPassword) -> Result<NewFile, Failure> {
    let mut file = NewFile::claim(path.to_owned())?;
    file.write_recovery(id, password)?;
    Ok(file)
}

/// A new secret that some copy of the metadata has is in force, even where another copy could not be
/// written: its owner must get it, with a warning.
pub(super) fn in_force(
    result: Result<Guid, ChangeError>,
    id: Guid,
    out: Output,
) -> Result<Guid, ChangeError> {
    match result {
        Err(ChangeError::Write(e @ RewriteError::Partly(_))) => {
            out.warn(&e.to_string());
            Ok(id)
        }
        other => other,
    }
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
    let mut volume = Volume::open(&args.target, Access::ReadWrite, out)?;
    let result = volume.keys.remove_protector(&volume.store, args.id, LastProtector::Keep);
    match result {
        Err(e @ ChangeError::LastProtector(_)) => {
            out.confirm(&format!("{}: {e}.", args.target.volume.display()))?;
            volume.change(|keys, store| keys.remove_protector(store, args.id, LastProtector::Remove))?;
        }
        other => other.map_err(|e| volume::about(&args.target.volume, e))?,
    }
    out.result(&json!({"volume": args.target.volume, "removed": args.id}), || {
        format!(
            "{} no longer opens by the protector {}.\nBackups of the volume's headers made before still open \
             with it: destroy them.",
            args.target.volume.display(),
            args.id
        )
    })
}

pub(super) fn recovery(args: &RecoveryArgs, out: Output) -> Result<(), Failure> {
    let volume = Volume::open(&args.target, Access::ReadOnly, out)?;
    let entries = &volume.keys.metadata.block().dataset.entries;
    let ids: Vec<Guid> = entries
        .protectors()
        .filter(|p| p.protection == Protection::RecoveryPassword && args.id.is_none_or(|id| id == p.id))
        .map(|p| p.id)
        .collect();
    let found: Vec<_> =
        ids.into_iter().filter_map(|id| Some((id, volume.keys.recovery_password(id)?))).collect();
    let Some((first, password)) = found.first() else {
        return Err(Failure::new(
            Exit::Failed,
            format!("{} has no such recovery password", args.target.volume.display()),
            "add one: keyway protector add VOLUME recovery-password",
        )
        .kind("no-such-protector"));
    };
    if let Some(path) = &args.to {
        if found.len() > 1 {
            return Err(Failure::usage(
                format!("{} has {} recovery passwords", args.target.volume.display(), found.len()),
                "name one of them with --id; `keyway protector list` shows them",
            ));
        }
        let file = recovery_file(path, *first, password)?.keep();
        return out.result(&json!({"volume": args.target.volume, "id": first, "file": file}), || {
            format!("The recovery password is in {}: keep it apart from the drive.", file.display())
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
    let mut volume = Volume::open(args, Access::ReadWrite, out)?;
    let id = volume.change(|keys, store| keys.suspend(store))?;
    out.result(&json!({"volume": args.volume, "protection_status": "Protection Off", "id": id}), || {
        format!("{} opens without a secret now. `keyway protector resume` ends that.", args.volume.display())
    })
}

/// Needs no secret: the volume is open to everybody.
pub(super) fn resume(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    volume::must_be_writable(&args.volume)?;
    let mut volume = match Volume::unlock(&args.volume, &[], Access::ReadWrite, out) {
        Err(failure) if failure.kind == "no-secret" => {
            return Err(volume::about(&args.volume, ChangeError::NotSuspended));
        }
        other => other?,
    };
    volume.change(|keys, store| keys.resume(store))?;
    out.result(&json!({"volume": args.volume, "protection_status": "Protection On"}), || {
        format!(
            "{} needs a secret again. On a flash drive the key that lay open may survive in unused cells; where \
             that matters, move the data to a new volume.",
            args.volume.display()
        )
    })
}
