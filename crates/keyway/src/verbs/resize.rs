//! `resize`: a VeraCrypt volume gets larger or smaller, with everything in it.

use crate::conversion;
use crate::failure::{Exit, Failure};
use crate::given::{Family, VolumeArgs};
use crate::output::{Output, bytes};
use crate::progress;
use crate::volume::{self, about};
use keyway_convert::room::{self, FileSystem};
use keyway_engine::{Access, Device};
use keyway_store::{Caching, Store};
use keyway_volume::veracrypt::{self, BACKUP_GROUP_BYTES, HEADERS_BYTES, ResizeError, Unlocked};
use serde_json::json;
use std::fs::OpenOptions;
use std::path::Path;

/// Make a VeraCrypt volume larger or smaller, with everything in it
///
/// A file gets the size that is named; a volume on a device fills it, as far as nothing smaller is
/// named: make the partition larger before, or smaller afterwards. The volume must not be open. The file
/// system inside is made larger afterwards, or smaller before, by its own tool on the open volume (resize2fs,
/// ntfsresize); a volume never gets smaller than the file system in it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway resize secret.hc --size 20G
  $ sudo keyway resize /dev/sdb1 --password-file pw.txt --yes")]
pub(crate) struct Args {
    #[command(flatten)]
    target: VolumeArgs,
    /// The new size of the file, or of what the volume uses of a device, headers included
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    size: Option<u64>,
    /// Do not overwrite what is new with noise: faster, and shows what of it is unused
    #[arg(long)]
    quick: bool,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.target.volume;
    volume::must_exist(path)?;
    volume::must_be_writable(path)?;
    let which = args.target.which();
    if volume::family(&which)? == Family::BitLocker {
        return Err(Failure::new(
            Exit::NotPermitted,
            "changing the size of a BitLocker volume is not built yet",
            "make a new one of that size and copy",
        )
        .kind("unsupported"));
    }
    conversion::refuse_if_begun(path)?;
    conversion::refuse_if_used(path)?;
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
    let secrets = args.target.veracrypt_secrets()?;
    let request = which.request(&secrets, None, None);
    let (old, fs) = {
        let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
        let opened = veracrypt::unlock(&store, &request).map_err(|e| about(path, e))?;
        (opened.info.data_bytes, file_system(path, opened)?)
    };
    let new = wanted.saturating_sub(HEADERS_BYTES + BACKUP_GROUP_BYTES);
    if new < old {
        if let Some(fs) = fs.filter(|fs| fs.bytes > new) {
            return Err(Failure::usage(
                format!("the {} file system in {} has {}, and would not fit", fs.kind, path.display(), bytes(fs.bytes)),
                format!("open the volume, make its file system {new} bytes or smaller (resize2fs, ntfsresize), close it"),
            )
            .kind("no-room")
            .with(json!({"filesystem_bytes": fs.bytes, "most_bytes": new})));
        }
        let loses = if fs.is_some() {
            ""
        } else {
            " No file system is known in it: what lies behind the new end is lost."
        };
        out.confirm(&format!(
            "{} gets {} smaller.{loses} A hidden volume in it will be lost. Make a backup first.",
            path.display(),
            bytes(old - new)
        ))?;
    }
    if is_file && wanted > before {
        set_len(path, wanted)?;
    }
    let store = volume::store(path, Access::ReadWrite, Caching::Direct)?;
    let bar = progress::Progress::interruptible("resize")?;
    let done = veracrypt::resize(&store, &request, wanted, !args.quick, &bar);
    bar.done();
    drop(store);
    let done = match done {
        Ok(done) => done,
        Err(e) => {
            // As long as the headers are the old ones the file may have its old size again.
            let untouched = !matches!(e, ResizeError::Store(_));
            if is_file && untouched && wanted > before {
                set_len(path, before)?;
            }
            return Err(about(path, e));
        }
    };
    if is_file && wanted < before {
        set_len(path, wanted)?;
    }
    let document = json!({
        "volume": path,
        "size_bytes": if is_file { wanted } else { before },
        "data_bytes_before": done.data_bytes_before,
        "data_bytes": done.data_bytes,
        "filled": done.filled,
    });
    out.result(&document, || {
        let next = match fs {
            Some(fs) if done.data_bytes > done.data_bytes_before => format!(
                "\nIts {} file system still has {}: open the volume and make it larger with its own tool.",
                fs.kind,
                bytes(fs.bytes)
            ),
            _ => String::new(),
        };
        let (from, to) = (bytes(done.data_bytes_before), bytes(done.data_bytes));
        format!(
            "{} has room for {to} now, and had for {from}. Backups of its headers are of the old size.{next}",
            path.display()
        )
    })
}

/// The file system that lies open in the volume.
fn file_system(path: &Path, opened: Unlocked) -> Result<Option<FileSystem>, Failure> {
    let store = volume::store(path, Access::ReadOnly, Caching::Buffered)?;
    let device = Device::new(Box::new(store), opened.layout, Access::ReadOnly)?;
    let mut head = vec![0; room::HEAD.min(usize::try_from(device.size()).unwrap_or(room::HEAD))];
    device.read_at(&mut head, 0)?;
    Ok(room::of(&head, device.size()))
}

fn set_len(path: &Path, to: u64) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).open(path);
    let sized = file.and_then(|file| file.set_len(to).and_then(|()| file.sync_all()));
    sized.map_err(|e| Failure::io("change the size of", path, &e))
}
