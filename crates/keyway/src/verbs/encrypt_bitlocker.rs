//! `encrypt --format bitlocker`: the file system on a device becomes a BitLocker volume.

use super::create_bitlocker::{KeyFiles, description, method, protector_id};
use super::encrypt::{Args, enlarge, file_system};
use crate::conversion;
use crate::conversion_bitlocker::{Target, carry_out};
use crate::failure::Failure;
use crate::output::{Output, bytes};
use crate::volume::{self, about};
use keyway_convert::ConvertError;
use keyway_convert::bitlocker::{self as convert, Plan, Wish};
use keyway_convert::room::{FileSystem, Kind};
use keyway_engine::Access;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{self, InPlace, Protection, SMALLEST_VOLUME};
use serde_json::{Map, json};
use std::path::Path;
use std::sync::Arc;

/// Runs it.
pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let (path, options) = (&args.device, &args.bitlocker);
    let own = args.secret.source();
    if args.reencrypt || args.new.source().is_given() {
        return Err(Failure::usage(
            "a BitLocker volume's re-encryption is not built",
            "leave --reencrypt and the --new-… options out",
        ));
    }
    if args.hash.is_some() || options.to_go {
        return Err(Failure::usage(
            "a BitLocker volume has no choice of a hash, and none that is made in place has the To Go layout",
            "leave --hash and --to-go out",
        ));
    }
    options.check(&own, path)?;
    let method = method(args.cipher.as_deref())?;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    conversion::refuse_if_begun(path)?;
    conversion::refuse_if_used(path)?;
    let fs = file_system(path)?;
    let room = Room::of(path, &fs, args)?;
    fs.kind.check(path).map_err(|e| about(path, e))?;
    out.confirm(&format!(
        "Everything on {} will be encrypted in place{}. Make a backup first.",
        path.display(),
        room.in_words(&fs)
    ))?;
    let protectors = options.new_protectors(&own, path)?;
    let mut files = KeyFiles::claim(options, &protectors)?;
    room.make(path, &fs, out)?;
    let file_system_bytes = file_system(path)?.bytes.next_multiple_of(4096);
    let store: Arc<dyn Store> = Arc::new(volume::store(path, Access::ReadWrite, Caching::Direct)?);
    let wish = Wish {
        volume: InPlace {
            protectors: &protectors,
            method,
            used_space_only: args.used_space_only,
            description: &description(path, None),
        },
        file_system_bytes: file_system_bytes.min(store.size()),
        journal: conversion::journal_beside(path, &args.how)?,
    };
    let plan = Plan::encryption(&store, &wish).map_err(|e| about(path, e))?;
    // Before anything is changed: nobody shall have a volume whose keys could not be kept.
    files.write(&protectors, plan.block())?;
    let startup_key = files.keep();
    let recovery = protectors.recovery.as_ref().filter(|_| options.recovery_file.is_none());
    let mut more = Map::new();
    more.insert("cipher".to_owned(), json!(method));
    more.insert("used_space_only".to_owned(), json!(args.used_space_only));
    let id = protector_id(plan.block(), Protection::RecoveryPassword);
    more.insert("recovery_password_id".to_owned(), json!(id));
    // The one place where it leaves locked memory: it is to be shown.
    let shown = recovery.map(|password| String::from_utf8_lossy(&password.to_text()).into_owned());
    more.insert("recovery_password".to_owned(), json!(shown));
    more.insert("recovery_file".to_owned(), json!(options.recovery_file));
    more.insert("startup_key".to_owned(), json!(startup_key));
    carry_out(&Target { path, how: &args.how, more }, &plan, &store, out)
}

/// Where the room for the metadata comes from.
enum Room {
    /// Free clusters, or bytes behind the file system.
    Enough,
    /// The file system is made that small.
    Shrink(u64),
    /// The file is made that large.
    Grow(u64),
}

impl Room {
    fn of(path: &Path, fs: &FileSystem, args: &Args) -> Result<Self, Failure> {
        let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
        let size = store.size();
        if size < SMALLEST_VOLUME {
            return Err(about(path, bitlocker::CreateError::TooSmall { size, least: SMALLEST_VOLUME }));
        }
        if fs.kind == Kind::Xfs {
            return Err(about(
                path,
                ConvertError::Unsupported("XFS keeps its superblock where the conversion needs a few bytes"),
            ));
        }
        let map = convert::map(&store).map_err(|e| about(path, e))?;
        let needed = fs.bytes.next_multiple_of(4096);
        let room = convert::room(size);
        if map.is_some_and(|map| map.can_reserve()) || needed <= room {
            return Ok(Self::Enough);
        }
        if args.grow && path.is_file() {
            let missing = (needed - room).next_multiple_of(4096);
            return Ok(Self::Grow(size.next_multiple_of(4096) + missing + 4096));
        }
        if fs.kind.can_shrink() {
            return Ok(Self::Shrink(room));
        }
        let failure = about(path, ConvertError::NoRoom { missing: needed - room });
        let hint = if path.is_file() {
            "add --grow to make the file larger"
        } else {
            "make the partition larger by that much"
        };
        Err(failure.hint(format!("{} can't be made smaller while it is not mounted; {hint}", fs.kind)))
    }

    fn in_words(&self, fs: &FileSystem) -> String {
        match self {
            Self::Enough => String::new(),
            Self::Shrink(to) => format!(
                ", and its {} file system is made {} smaller before that, with its own tools",
                fs.kind,
                bytes(fs.bytes.saturating_sub(*to))
            ),
            Self::Grow(to) => format!(", and its file grows to {}", bytes(*to)),
        }
    }

    fn make(&self, path: &Path, fs: &FileSystem, out: Output) -> Result<(), Failure> {
        match self {
            Self::Enough => Ok(()),
            Self::Grow(to) => enlarge(path, *to),
            Self::Shrink(to) => {
                conversion::announce(out, &format!("making the {} file system smaller", fs.kind));
                let before = path.metadata().map_err(|e| Failure::io("look at", path, &e))?;
                fs.kind.resize(path, *to).map_err(|e| about(path, e))?;
                // resize2fs cuts a file where its file system ends.
                if before.is_file() { enlarge(path, before.len()) } else { Ok(()) }
            }
        }
    }
}
