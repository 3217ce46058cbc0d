//! `encrypt --format bitlocker`: the file system on a device becomes a BitLocker volume.

use super::encrypt::{Args, file_system};
use super::encrypt_room::{Room, end_of};
use crate::conversion;
use crate::conversion_bitlocker::{Target, carry_out, new_journal};
use crate::failure::Failure;
use crate::output::Output;
use crate::volume::{self, about};
use keyway::create::{KeyFiles, description, method, protector_id};
use keyway_convert::ConvertError;
use keyway_convert::FreeSpace;
use keyway_convert::bitlocker::{self as convert, Plan, Wish};
use keyway_engine::Access;
use keyway_fs::{FileSystem, FileSystemKind};
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, InPlace, Protection, SMALLEST_VOLUME};
use serde_json::{Map, json};
use std::path::Path;
use std::sync::Arc;

/// Runs it, on what nobody converts or uses.
pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let (path, options) = (&args.device, &args.bitlocker);
    let own = args.secret.source();
    if args.new.source().is_given() || args.keys.is_given() {
        return Err(Failure::usage(
            "there is no volume yet that anything could open",
            "leave --new-…, --recovery-password, --startup-key and --tpm out; --recovery-file and \
             --startup-key-out say where new ones go",
        ));
    }
    if args.hash.is_some() || options.to_go {
        return Err(Failure::usage(
            "a BitLocker volume has no choice of a hash, and none that is made in place has the To Go layout",
            "leave --hash and --to-go out",
        ));
    }
    options.check_in_place(&own, path)?;
    let method = method(args.cipher.as_deref())?;
    if args.how.in_use.online {
        can_be_used(args)?;
    }
    let way = args.how.in_use.way(out)?;
    let fs = file_system(path)?;
    let room = room_for(path, &fs, args)?;
    fs.kind.check(path).map_err(|e| about(path, e))?;
    out.confirm(&format!(
        "Everything on {} will be encrypted in place{}. Make a backup first.",
        path.display(),
        room.in_words(&fs)
    ))?;
    let protectors = options.new_protectors(&own, path)?;
    let mut files =
        KeyFiles::claim(options.recovery_file.as_deref(), options.startup_key_out.as_deref(), &protectors)?;
    let file = conversion::journal_beside(path, &args.how)?;
    let free = FreeSpace::from(args.free_space);
    let planned = |store: &dyn Store| {
        let wish = Wish {
            volume: InPlace {
                protectors: &protectors,
                method,
                used_space_only: args.used_space_only,
                description: &description(path, None),
            },
            file_system_bytes: room.end(&fs).min(store.size()),
            journal: file.clone(),
            in_use: args.how.in_use.online,
        };
        let plan =
            Plan::encryption(store, &wish).and_then(|plan| plan.of_free(free)).map_err(|e| about(path, e))?;
        let plan = if args.how.full_journal { plan.kept_whole() } else { plan };
        if args.how.in_use.online { plan.for_use().map_err(|e| about(path, e)) } else { Ok(plan) }
    };
    let (plan, store, journal) = room.around(
        (path, &fs),
        !args.used_space_only || free == FreeSpace::Fill,
        out,
        |store| planned(store).map(drop),
        |store, ()| {
            // A plan holds what it has read, and the file system may have become smaller since the first.
            let plan = planned(&store)?;
            // Before anything is changed: nobody shall have a volume whose keys could not be kept.
            files.write(&protectors, plan.block())?;
            let journal = new_journal(&plan, &args.how)?;
            Ok((plan, Arc::new(store) as Arc<dyn Store>, journal))
        },
    )?;
    let startup_key = files.keep();
    let recovery = protectors.recovery.as_ref().filter(|_| options.recovery_file.is_none());
    let mut more = Map::new();
    more.insert("cipher".to_owned(), json!(method));
    more.insert("used_space_only".to_owned(), json!(args.used_space_only));
    more.insert("free_space".to_owned(), json!(args.used_space_only.then_some(free)));
    let id = protector_id(plan.block(), Protection::RecoveryPassword);
    more.insert("recovery_password_id".to_owned(), json!(id));
    // The one place where it leaves locked memory: it is to be shown.
    let shown = recovery.map(|password| String::from_utf8_lossy(&password.to_text()).into_owned());
    more.insert("recovery_password".to_owned(), json!(shown));
    more.insert("recovery_file".to_owned(), json!(options.recovery_file));
    more.insert("startup_key".to_owned(), json!(startup_key));
    carry_out(Target { path, how: &args.how, way, more }, &plan, (&store, journal), out)
}

/// What a volume that is in use while it is encrypted can't have.
fn can_be_used(args: &Args) -> Result<(), Failure> {
    args.check_free_space()?;
    if args.bitlocker.recovery_file.is_none() && !args.bitlocker.no_recovery_password {
        return Err(Failure::usage(
            "with --online the answer is told to whoever uses the volume, and a recovery password is not for them",
            "add --recovery-file FILE, or --no-recovery-password",
        ));
    }
    Ok(())
}

/// Where the room for the metadata comes from: free clusters, or bytes behind the file system.
fn room_for(path: &Path, fs: &FileSystem, args: &Args) -> Result<Room, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let size = store.size();
    if size < SMALLEST_VOLUME {
        return Err(about(path, bitlocker::CreateError::TooSmall { size, least: SMALLEST_VOLUME }));
    }
    if fs.kind == FileSystemKind::Xfs {
        return Err(about(
            path,
            ConvertError::Unsupported(
                "XFS keeps its superblock where the conversion needs a few bytes",
                None,
            ),
        ));
    }
    let (needed, most) = (end_of(fs), convert::room(size));
    if needed <= most || convert::has_room_within(&store).map_err(|e| about(path, e))? {
        return Ok(Room::Enough);
    }
    Room::elsewhere(path, fs, most, args.grow, || {
        let missing = (needed - most).next_multiple_of(4096);
        size.next_multiple_of(4096) + missing + 4096
    })
}
