//! `encrypt --reencrypt --format …`: a volume of one format becomes a volume of the other, with the same content.

use super::encrypt::Args;
use super::encrypt_room::{Room, end_of};
use super::{name_of, resize_inside};
use crate::conversion;
use crate::conversion_between::{carry_out, read_twice, refuse_online};
use crate::failure::{Exit, Failure};
use crate::given::{Family, Given, bitlocker_secrets, veracrypt_secrets};
use crate::narrow::NarrowArgs;
use crate::output::Output;
use crate::secrets_in::SecretSource;
use crate::volume::{self, Which, about};
use keyway::conversion::JournalFile;
use keyway::create::{KeyFiles, description, method, protector_id};
use keyway::session::SessionSecrets;
use keyway_convert::ConvertError;
use keyway_convert::cross_format::{self, Plan};
use keyway_engine::Access;
use keyway_fs::FileSystem;
use keyway_store::{Caching, FileStore, Store};
use keyway_volume::HashName;
use keyway_volume::bitlocker::{self, InPlace, Protection, SMALLEST_VOLUME, Secret, UnlockRequest};
use keyway_volume::veracrypt::{Fill, NewVolume, unlock};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

/// Runs it on a volume of family `old` that nobody converts or uses.
pub(super) fn run(args: &Args, old: Family, out: Output) -> Result<(), Failure> {
    refuse_online(&args.how)?;
    let Some(file) = conversion::journal_beside(&args.device, &args.how)? else {
        return Err(Failure::usage(
            "from one format to the other a device's headers can't stay on it, so they are kept in a file meanwhile",
            "name a new file on another drive: --journal FILE; it must not get lost before the conversion is through",
        ));
    };
    match old {
        Family::VeraCrypt => to_bitlocker(args, file, out),
        Family::BitLocker => to_veracrypt(args, file, out),
    }
}

fn to_bitlocker(args: &Args, file: PathBuf, out: Output) -> Result<(), Failure> {
    let (path, options) = (&args.device, &args.bitlocker);
    if args.hash.is_some() || options.to_go || args.grow {
        return Err(Failure::usage(
            "a BitLocker volume has no choice of a hash, none that is made in place has the To Go layout, and there is \
             room enough for it where VeraCrypt's headers were",
            "leave --hash, --to-go and --grow out",
        ));
    }
    let (own, new, none) = (args.secret.source(), args.new.source(), SecretSource::default());
    let its_own = match () {
        () if new.is_given() => &new,
        () if options.no_password => &none,
        () => &own,
    };
    if !new.is_given() && !options.no_password && (!own.keyfiles.is_empty() || own.pim.is_some()) {
        return Err(Failure::usage(
            "a BitLocker volume has no keyfiles and no PIM, so it can't have the secret of this volume",
            "give its password with --new-password-file, or add --no-password",
        ));
    }
    options.check_in_place(its_own, path)?;
    read_twice(&own, its_own)?;
    let method = method(args.cipher.as_deref())?;
    let size = volume::store(path, Access::ReadOnly, Caching::Buffered)?.size();
    if size < SMALLEST_VOLUME {
        return Err(about(path, bitlocker::CreateError::TooSmall { size, least: SMALLEST_VOLUME }));
    }
    out.confirm(&format!(
        "{} becomes a BitLocker volume in place. Make a backup first. A hidden volume in it will be lost.",
        path.display()
    ))?;
    let which = Which::new(path, &NarrowArgs::default());
    let secrets = veracrypt_secrets(&which, &own, &args.keys)?;
    let store = keyway::conversion::claim(path)?;
    let opened = unlock(&store, &which.request(&secrets, None, None)).map_err(|e| about(path, e))?;
    let protectors = options.new_protectors(its_own, path)?;
    let mut files =
        KeyFiles::claim(options.recovery_file.as_deref(), options.startup_key_out.as_deref(), &protectors)?;
    let wish = InPlace {
        protectors: &protectors,
        method,
        used_space_only: false,
        description: &description(path, None),
    };
    let plan = Plan::to_bitlocker(&store, &opened, &wish, file).map_err(|e| about(path, e))?;
    drop((opened, secrets));
    keyway::conversion::allocate(path)?;
    // Before anything is changed: nobody shall have a volume whose keys could not be kept.
    let id = match plan.new_block() {
        Some(block) => {
            files.write(&protectors, block)?;
            protector_id(block, Protection::RecoveryPassword)
        }
        None => None,
    };
    let journal = new_journal(&plan)?;
    let startup_key = files.keep();
    let recovery = protectors.recovery.as_ref().filter(|_| options.recovery_file.is_none());
    // The one place where it leaves locked memory: it is to be shown.
    let shown = recovery.map(|password| String::from_utf8_lossy(&password.to_text()).into_owned());
    let more = Map::from_iter([
        ("cipher".to_owned(), json!(method)),
        ("recovery_password_id".to_owned(), json!(id)),
        ("recovery_password".to_owned(), json!(shown)),
        ("recovery_file".to_owned(), json!(options.recovery_file)),
        ("startup_key".to_owned(), json!(startup_key)),
    ]);
    drop(protectors);
    carry_out((path, args.how.limit), &plan, (&store, journal), more, out)
}

fn to_veracrypt(args: &Args, file: PathBuf, out: Output) -> Result<(), Failure> {
    let path = &args.device;
    if args.bitlocker.is_given() {
        return Err(Failure::usage(
            "a VeraCrypt volume has no recovery password, no startup key and no To Go layout",
            "leave --to-go, --no-password, --startup-key-out and the --recovery-file options out",
        ));
    }
    let cipher = args.veracrypt_cipher()?;
    let (own, new) = (args.secret.source(), args.new.source());
    let its_own = if new.is_given() { &new } else { &own };
    read_twice(&own, its_own)?;
    let which = Which::new(path, &NarrowArgs::default());
    let secrets = bitlocker_secrets(&which, &own, &args.keys)?;
    let (size, fs) = look(path, &secrets)?;
    let most = cross_format::room(size) / PAGE * PAGE;
    // Where no file system is known, everything is content.
    let needed = fs.as_ref().map_or(size, |fs| end_of(fs).min(size));
    let larger = || size.next_multiple_of(PAGE) + (needed - most).next_multiple_of(PAGE);
    let room = match &fs {
        _ if needed <= most => Room::Enough,
        Some(fs) => Room::elsewhere(path, fs, most, args.grow, larger)?,
        None if args.grow && path.is_file() => Room::Grow(larger()),
        None => return Err(about(path, ConvertError::NoRoom { missing: needed - most })),
    };
    let how = fs.as_ref().map(|fs| room.in_words(fs)).unwrap_or_default();
    out.confirm(&format!(
        "{} becomes a VeraCrypt volume in place{how}. Make a backup first.",
        path.display()
    ))?;
    // Before anything is changed: who mistypes it has the file system as it was.
    let its_secret = its_own.read_new(&name_of(path))?;
    let own = SessionSecrets::from(Given::BitLocker(secrets));
    if let (Room::Shrink(to), Some(fs)) = (&room, &fs) {
        conversion::announce(out, &format!("making the {} file system smaller", fs.kind));
        resize_inside::resize(&which, &own, fs, *to).map_err(|failure| room.refused(path, fs, failure))?;
    }
    let Given::BitLocker(secrets) = &own.key else { return Ok(()) };
    let wish = NewVolume {
        secrets: &its_secret,
        cipher,
        hash: args.hash.unwrap_or(HashName::Sha512),
        fill: Fill::Quick,
    };
    let begun = begin(path, (&room, fs.as_ref(), needed), secrets, &wish, file);
    let (store, plan, journal) = begun.map_err(|failure| match (&room, &fs) {
        // Nothing has come of it, and everything gets the size back that it had.
        (Room::Grow(_), _) => match keyway::conversion::set_len(path, size) {
            Ok(()) => failure.also("nothing was converted, and the file has the size again that it had"),
            Err(e) => failure.also(&format!("nothing was converted; the file is larger than it was: {e}")),
        },
        (Room::Shrink(_), Some(fs)) => failure.also(&resize_inside::undo(&which, &own, fs)),
        _ => failure,
    })?;
    drop(own);
    let more = Map::from_iter([("cipher".to_owned(), json!(cipher.to_string()))]);
    carry_out((path, args.how.limit), &plan, (&store, journal), more, out)
}

const PAGE: u64 = 4096;

/// Everything before the first write to the volume.
fn begin(
    path: &Path,
    (room, fs, needed): (&Room, Option<&FileSystem>, u64),
    secrets: &[Secret],
    wish: &NewVolume<'_>,
    file: PathBuf,
) -> Result<(FileStore, Plan, JournalFile), Failure> {
    let content = match (room, fs) {
        (Room::Shrink(to), Some(_)) => {
            let (_, now) = look(path, secrets)?;
            if now.is_none_or(|now| end_of(&now) > *to) {
                let what = format!("the file system in {} did not get small enough", path.display());
                return Err(Failure::new(Exit::Failed, what, "look at it with its own tools"));
            }
            *to
        }
        _ => needed,
    };
    if let Room::Grow(to) = room {
        keyway::conversion::set_len(path, *to)?;
    }
    let store = keyway::conversion::claim(path)?;
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(secrets)).map_err(|e| about(path, e))?;
    let plan = Plan::to_veracrypt(&store, unlocked, content, wish, file).map_err(|e| about(path, e))?;
    keyway::conversion::allocate(path)?;
    let journal = new_journal(&plan)?;
    Ok((store, plan, journal))
}

/// Bytes of a BitLocker volume, and the file system that is in it.
fn look(path: &Path, secrets: &[Secret]) -> Result<(u64, Option<FileSystem>), Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let size = store.size();
    let unlocked = bitlocker::unlock(&store, &UnlockRequest::new(secrets)).map_err(|e| about(path, e))?;
    let device = keyway_engine::Device::new(Box::new(store), unlocked.layout, Access::ReadOnly)?;
    Ok((size, FileSystem::find(&device)?))
}

/// Makes the file that the plan names.
fn new_journal(plan: &Plan) -> Result<JournalFile, Failure> {
    Ok(JournalFile::make(&plan.mark().file, plan.mark().place().file_bytes())?)
}
