//! `resize` of a BitLocker volume: what its metadata says, where that lies, and the file system inside.
//!
//! Metadata behind the file system goes with the end of the volume; within NTFS it moves where the file system
//! is to end before it. Each step leaves a whole volume, so the same command goes on after whatever stopped it.

use super::resize::{Args, PAGE, SLACK, file_system, not_small_enough, too_small, would_not_fit};
use super::resize_inside;
use crate::conversion;
use crate::failure::Failure;
use crate::output::{Output, bytes};
use crate::progress;
use crate::shown::shown;
use crate::volume::{self, Which, about};
use keyway::session::SessionSecrets;
use keyway_convert::bitlocker as convert;
use keyway_engine::Access;
use keyway_fs::FileSystem;
use keyway_store::{Caching, Store};
use keyway_volume::bitlocker::{
    CreateError, Places, Resizable, SMALLEST_VOLUME, Secret, UnlockRequest, unlock,
};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// What a volume becomes.
struct Plan {
    old: u64,
    new: u64,
    fs: Option<FileSystem>,
    /// Bytes that a file system may have in it then.
    room: u64,
    metadata: Metadata,
}

/// What becomes of the metadata.
enum Metadata {
    /// It stays where it is.
    Stays,
    /// It lies behind the file system, and does so at the new end.
    AtTheEnd(Places),
    /// It lies within the file system, which is to end before it.
    Within,
}

impl Plan {
    fn of(store: &Arc<dyn Store>, volume: &Resizable, new: u64) -> Result<Self, Failure> {
        let old = volume.bytes();
        if new < SMALLEST_VOLUME {
            return Err(CreateError::TooSmall { size: new, least: SMALLEST_VOLUME }.into());
        }
        let fs = file_system(Box::new(Arc::clone(store)), volume.layout(store.size())?)?;
        if let Some(fs) = fs.filter(|fs| fs.bytes > old) {
            return Err(Failure::usage(
                format!("the {} file system in it reaches behind what is encrypted", fs.kind),
                "decrypt it and encrypt it again",
            )
            .kind(keyway_error::Kind::Unsupported));
        }
        let (taken, there) = (volume.taken(), Places::at_the_end(old, volume.boot_bytes()));
        let behind = match fs {
            Some(fs) => taken.iter().all(|range| range.start >= fs.bytes),
            None => taken.iter().all(|range| range.start >= there.start),
        };
        let places = Places::at_the_end(new, volume.boot_bytes());
        let there = taken.iter().zip(places.copies).all(|(range, at)| range.start == at);
        let metadata = if behind && !there {
            volume.may_have(new, Some(&places))?;
            Metadata::AtTheEnd(places)
        } else if taken.iter().any(|range| range.end > new) {
            convert::place_below(store, volume, new)?;
            Metadata::Within
        } else {
            volume.may_have(new, None)?;
            Metadata::Stays
        };
        Ok(Self { old, new, fs, room: if behind { places.start } else { new }, metadata })
    }

    /// What is to be asked before; nothing where nothing can be lost.
    fn question(&self, path: &Path, follows: Option<FileSystem>) -> Option<String> {
        let path = shown(path);
        if self.new < self.old {
            let inside = match (self.fs, follows.filter(|fs| fs.bytes > self.room)) {
                (_, Some(fs)) => format!(
                    " Its {} file system is made {} smaller before that, with its own tools.",
                    fs.kind,
                    bytes(fs.bytes - self.room)
                ),
                (Some(_), None) => String::new(),
                (None, _) => {
                    " No file system is known in it: what lies behind the new end is lost.".to_owned()
                }
            };
            return Some(format!(
                "{path} gets {} smaller.{inside} Make a backup first.",
                bytes(self.old - self.new)
            ));
        }
        let fs = follows.filter(|fs| self.room > fs.bytes + SLACK)?;
        Some(format!(
            "The {} file system in {path} gets larger too, with its own tools. Make a backup first.",
            fs.kind
        ))
    }
}

fn open(
    path: &Path,
    secrets: &[Secret],
    access: Access,
) -> Result<(Arc<dyn Store>, Resizable, bool), Failure> {
    let store: Arc<dyn Store> = match access {
        Access::ReadOnly => Arc::new(volume::store(path, access, Caching::Buffered)?),
        Access::ReadWrite => Arc::new(keyway::conversion::claim(path)?),
    };
    let unlocked = unlock(&store, &UnlockRequest::new(secrets)).map_err(|e| about(path, e))?;
    let used_only = unlocked.info.used_space_only;
    let volume = Resizable::of(unlocked).map_err(|e| about(path, e))?;
    Ok((store, volume, used_only))
}

/// Runs it, on a volume that nobody converts or uses: its file or device has `before` bytes, and `wanted` are wished.
pub(super) fn run(
    args: &Args,
    which: &Which,
    (own, secrets): (&SessionSecrets, &[Secret]),
    (before, wanted): (u64, u64),
    out: Output,
) -> Result<(), Failure> {
    let path = &args.target.volume;
    let is_file = path.is_file();
    let (store, volume, used_only) = open(path, secrets, Access::ReadOnly)?;
    let plan = Plan::of(&store, &volume, wanted).map_err(|e| about(path, e))?;
    drop((store, volume));
    if !is_file && wanted > before {
        return Err(Failure::usage(
            format!("{} has {}", path.display(), bytes(before)),
            "make the partition larger before",
        ));
    }
    // The tools take whole pages.
    let inside = plan.room / PAGE * PAGE;
    let follows = plan.fs.filter(|fs| fs.kind.can_shrink() && !args.keep_filesystem);
    if let Some(fs) = plan.fs.filter(|fs| fs.bytes > plan.room && follows.is_none()) {
        return Err(would_not_fit(path, &fs, plan.room));
    }
    if let Some(question) = plan.question(path, follows) {
        out.confirm(&question)?;
    }
    if is_file && wanted > before {
        keyway::conversion::set_len(path, wanted)?;
    }
    if matches!(plan.metadata, Metadata::Within) {
        let (store, mut volume, _) = open(path, secrets, Access::ReadWrite)?;
        convert::relocate_below(&store, &mut volume, wanted).map_err(|e| about(path, e))?;
    }
    if follows.is_some() {
        // What can't be mended, its own tool refuses, and says why.
        let (store, volume, _) = open(path, secrets, Access::ReadWrite)?;
        convert::mend(&store, &volume).unwrap_or_default();
    }
    let shrunk = follows.filter(|fs| fs.bytes > plan.room);
    if let Some(fs) = shrunk {
        conversion::announce(out, &format!("making the {} file system smaller", fs.kind));
        resize_inside::resize(which, own, &fs, inside).map_err(too_small)?;
    }
    let (store, mut volume, _) = open(path, secrets, Access::ReadWrite)?;
    let mut filled = false;
    let mut change = || -> Result<(), Failure> {
        let layout = volume.layout(store.size())?;
        let now = file_system(Box::new(Arc::clone(&store)), layout)?;
        if let Some(fs) = shrunk.filter(|_| now.is_none_or(|now| now.bytes > plan.room)) {
            return Err(not_small_enough(path, &fs));
        }
        let set = |volume: &mut Resizable| volume.set_bytes(&store, wanted).map_err(|e| about(path, e));
        if wanted > plan.old {
            if !args.quick && !used_only {
                let bar = progress::Progress::interruptible("resize")?;
                filled = volume.fill(&store, wanted, &bar).map_err(|e| about(path, e))?;
                bar.done();
            }
            set(&mut volume)?;
        }
        if let Metadata::AtTheEnd(places) = &plan.metadata {
            volume.relocate(&store, places).map_err(|e| about(path, e))?;
        }
        if wanted < plan.old {
            set(&mut volume)?;
        }
        Ok(())
    };
    let changed = change();
    drop((store, volume));
    if let Err(failure) = changed {
        return Err(failure.also(&format!(
            "the volume opens, with its old size or the new one, and nothing in it is lost; `keyway resize {} --size \
             {wanted}` goes on",
            path.display()
        )));
    }
    if is_file && wanted < before {
        keyway::conversion::set_len(path, wanted)?;
    }
    let grows = follows.filter(|fs| wanted >= plan.old && inside > fs.bytes + SLACK);
    if let Some(fs) = grows {
        conversion::announce(out, &format!("making the {} file system larger", fs.kind));
        if let Err(e) = resize_inside::resize(which, own, &fs, inside) {
            out.warn(&format!("the file system inside did not get larger: {}; {}", e.message, e.hint));
        }
    }
    let (store, volume, _) = open(path, secrets, Access::ReadOnly)?;
    let fs = file_system(Box::new(Arc::clone(&store)), volume.layout(store.size())?)?;
    let document = json!({
        "volume": path,
        "format": "bitlocker",
        "size_bytes": if is_file { wanted } else { before },
        "data_bytes_before": plan.old,
        "data_bytes": volume.bytes(),
        "filled": filled,
        "metadata_moved": !matches!(plan.metadata, Metadata::Stays),
        "filesystem": fs.map(|fs| fs.kind.name()),
        "filesystem_bytes": fs.map(|fs| fs.bytes),
    });
    out.result(&document, || {
        let inside = match fs {
            Some(fs) => format!("\nIts {} file system has {}.", fs.kind, bytes(fs.bytes)),
            None => String::new(),
        };
        let partition = match !is_file && wanted < before {
            true => {
                "\nMake the partition as small as that now: what lies behind it is not the volume's any more."
            }
            false => "",
        };
        format!(
            "{} has {} now, and had {}. Backups of its metadata are of the old size.{inside}{partition}",
            shown(path),
            bytes(volume.bytes()),
            bytes(plan.old)
        )
    })
}
