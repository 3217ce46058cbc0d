//! `resize`: a volume gets larger or smaller, with everything in it.

use super::{resize_bitlocker, resize_inside};
use crate::conversion;
use crate::failure::{Exit, Failure};
use crate::given::{Given, VolumeArgs};
use crate::output::{Output, bytes};
use crate::progress;
use crate::shown::shown;
use crate::volume::{self, about};
use keyway::session::SessionSecrets;
use keyway_engine::{Access, Device, Layout};
use keyway_fs::FileSystem;
use keyway_store::{Caching, Store};
use keyway_volume::veracrypt::{
    self, BACKUP_GROUP_BYTES, HEADERS_BYTES, ResizeError, Resized, UnlockRequest,
};
use serde_json::json;
use std::path::Path;

/// Bytes that a file system's tools count by.
pub(super) const PAGE: u64 = 4096;
/// Bytes behind a file system that are not worth making it larger.
pub(super) const SLACK: u64 = 64 << 10;

/// Make a volume larger or smaller, with everything in it
///
/// A file gets the size that is named; a volume on a device fills it, as far as nothing smaller is
/// named: make the partition larger before, or smaller afterwards. The volume must not be open. An ext4 or NTFS
/// file system in it gets larger and smaller with it, by its own tool; others must fit. Losing power loses nothing
/// but while that tool works: make a backup first.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway resize secret.hc --size 20G
  $ sudo keyway resize /dev/sdb1 --password-file pw.txt --yes")]
pub(crate) struct Args {
    /// The new size of the file, or of what the volume uses of a device, headers included
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    size: Option<u64>,
    /// Do not overwrite what is new with noise: faster, and shows what of it is unused
    #[arg(long)]
    pub(super) quick: bool,
    /// Leave the file system inside as large as it is
    #[arg(long)]
    pub(super) keep_filesystem: bool,
    #[command(flatten)]
    pub(super) target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    let which = args.target.which();
    keyway::conversion::refuse_if_begun(path)?;
    keyway::conversion::refuse_if_used(path)?;
    let before = volume::store(path, Access::ReadOnly, Caching::Buffered)?.size();
    let is_file = path.is_file();
    let wanted = match args.size {
        Some(size) => size,
        None if is_file => {
            return Err(Failure::usage(
                "which size shall it get?",
                "name it with --size, for instance --size 20G",
            ));
        }
        None => before,
    };
    let own = SessionSecrets::from(args.target.given()?);
    let secrets = match &own.key {
        Given::VeraCrypt(secrets) => secrets,
        Given::BitLocker(secrets) => {
            return resize_bitlocker::run(args, &which, (&own, secrets), (before, wanted), out);
        }
    };
    let request = which.request(secrets, None, None);
    // Whatever can be refused is refused before the file system inside is touched.
    let (old, fs) = look(path, &request, Some(wanted))?;
    let new = wanted.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES);
    // The tools take whole pages.
    let inside = new / PAGE * PAGE;
    let follows = fs.filter(|fs| fs.kind.can_shrink() && !args.keep_filesystem);
    if let Some(fs) = fs.filter(|fs| fs.bytes > new && follows.is_none()) {
        return Err(would_not_fit(path, &fs, new));
    }
    if let Some(question) = question(path, (old, new), fs, follows) {
        out.confirm(&question)?;
    }
    let mut shrunk = None;
    if let Some(fs) = follows.filter(|fs| fs.bytes > new) {
        conversion::announce(out, &format!("making the {} file system smaller", fs.kind));
        shrunk = Some(fs);
        resize_inside::resize(&which, &own, &fs, inside).map_err(too_small)?;
        let (_, now) = look(path, &request, None)?;
        if now.is_none_or(|now| now.bytes > new) {
            return Err(not_small_enough(path, &fs));
        }
    }
    // As long as the headers are the old ones the file may have its old size again.
    let mut untouched = true;
    let mut change = || -> Result<Resized, Failure> {
        if is_file && wanted > before {
            keyway::conversion::set_len(path, wanted)?;
        }
        let store = volume::store(path, Access::ReadWrite, Caching::Direct)?;
        let bar = progress::Progress::interruptible("resize")?;
        let done = veracrypt::resize(&store, &request, wanted, !args.quick, &bar);
        bar.done();
        untouched = !matches!(done, Err(ResizeError::Store(_)));
        done.map_err(|e| about(path, e))
    };
    let done = match change() {
        Ok(done) => done,
        Err(mut failure) => {
            if is_file
                && untouched
                && wanted > before
                && let Err(e) = keyway::conversion::set_len(path, before)
            {
                failure = failure.also(&format!("the file is larger than it was: {e}"));
            }
            return Err(match shrunk {
                Some(fs) => failure.also(&resize_inside::undo(&which, &own, &fs)),
                None => failure,
            });
        }
    };
    if is_file && wanted < before {
        keyway::conversion::set_len(path, wanted)?;
    }
    let mut grown = Ok(());
    if let Some(fs) =
        follows.filter(|fs| inside > fs.bytes + SLACK && done.data_bytes > done.data_bytes_before)
    {
        conversion::announce(out, &format!("making the {} file system larger", fs.kind));
        grown = resize_inside::resize(&which, &own, &fs, inside);
    }
    if let Err(e) = &grown {
        out.warn(&format!("the file system inside did not get larger: {}; {}", e.message, e.hint));
    }
    let now = match fs {
        Some(_) => look(path, &request, None)?.1,
        None => None,
    };
    let document = json!({
        "volume": path,
        "size_bytes": if is_file { wanted } else { before },
        "data_bytes_before": done.data_bytes_before,
        "data_bytes": done.data_bytes,
        "filled": done.filled,
        "filesystem": now.map(|fs| fs.kind.name()),
        "filesystem_bytes": now.map(|fs| fs.bytes),
    });
    out.result(&document, || {
        let inside = match now {
            Some(fs) if fs.bytes + SLACK < inside => format!(
                "\nIts {} file system has {}: open the volume to make it larger with its own tool.",
                fs.kind,
                bytes(fs.bytes)
            ),
            Some(fs) => format!("\nIts {} file system has {}.", fs.kind, bytes(fs.bytes)),
            None => String::new(),
        };
        let (from, to) = (bytes(done.data_bytes_before), bytes(done.data_bytes));
        format!(
            "{} has room for {to} now, and had for {from}. Backups of its headers are of the old size.{inside}",
            path.display()
        )
    })
}

/// What to do where a file system's own tool has refused to make it that small.
pub(super) fn too_small(failure: Failure) -> Failure {
    if failure.kind != keyway_error::Kind::NoRoom {
        return failure;
    }
    failure.hint("name a larger size with --size, or make room in it: open the volume and delete something")
}

/// A file system whose tool has not done what it was to.
pub(super) fn not_small_enough(path: &Path, fs: &FileSystem) -> Failure {
    Failure::new(
        Exit::Failed,
        format!("the {} file system in {} did not get small enough", fs.kind, path.display()),
        "the volume has the size that it had; look at the file system with its own tools",
    )
}

/// A file system that its tools can't make small enough, or are not to.
pub(super) fn would_not_fit(path: &Path, fs: &FileSystem, most: u64) -> Failure {
    Failure::usage(
        format!(
            "the {} file system in {} has {}, and would not fit",
            fs.kind,
            path.display(),
            bytes(fs.bytes)
        ),
        format!("open the volume, make its file system {most} bytes or smaller with its own tool, close it"),
    )
    .kind(keyway_error::Kind::NoRoom)
    .with(json!({"filesystem_bytes": fs.bytes, "most_bytes": most}))
}

/// What is to be asked before; nothing where nothing can be lost.
fn question(
    path: &Path,
    (old, new): (u64, u64),
    fs: Option<FileSystem>,
    follows: Option<FileSystem>,
) -> Option<String> {
    let path = shown(path);
    if new < old {
        let inside = match (fs, follows.filter(|fs| fs.bytes > new)) {
            (_, Some(fs)) => format!(
                " Its {} file system is made {} smaller before that, with its own tools.",
                fs.kind,
                bytes(fs.bytes - new)
            ),
            (Some(_), None) => String::new(),
            (None, _) => " No file system is known in it: what lies behind the new end is lost.".to_owned(),
        };
        let hidden = match follows.filter(|fs| fs.bytes > new) {
            Some(_) => " A hidden volume in it will be lost.",
            None => " A hidden volume in it is lost if it reaches behind the new end.",
        };
        return Some(format!(
            "{path} gets {} smaller.{inside}{hidden} Make a backup first.",
            bytes(old - new)
        ));
    }
    let fs = follows.filter(|fs| new > fs.bytes + SLACK)?;
    Some(format!(
        "The {} file system in {path} gets larger too, with its own tools. Make a backup first. A hidden volume in it \
         may be damaged by that: if there is one, say no, and add --keep-filesystem.",
        fs.kind
    ))
}

/// Bytes of the data area, and the file system that lies open in it; refuses a size that it can't get.
fn look(
    path: &Path,
    request: &UnlockRequest<'_>,
    wanted: Option<u64>,
) -> Result<(u64, Option<FileSystem>), Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let opened = veracrypt::unlock(&store, request).map_err(|e| about(path, e))?;
    if let Some(bytes) = wanted {
        opened.may_fill(bytes).map_err(|e| about(path, e))?;
    }
    let data_bytes = opened.info.data_bytes;
    Ok((data_bytes, file_system(Box::new(store), opened.layout)?))
}

/// The file system that is in a volume.
pub(super) fn file_system(store: Box<dyn Store>, layout: Layout) -> Result<Option<FileSystem>, Failure> {
    let device = Device::new(store, layout, Access::ReadOnly)?;
    Ok(FileSystem::find(&device)?)
}
