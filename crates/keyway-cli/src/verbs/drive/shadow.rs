//! `drive mbr`: what a locked drive shows in place of its beginning.

use super::range::AdminArgs;
use super::target::Target;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use crate::progress::Progress;
use crate::shown::shown;
use crate::verbs::name_of;
use clap::Subcommand;
use keyway_sed::host::shadow::ByteTable;
use keyway_sed::host::{HostError, Session};
use keyway_volume::{Progress as _, Stage};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The MBR shadow: what a locked drive shows in place of its beginning, such as a program that unlocks it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive mbr write /dev/nvme0n1 unlocker.img --password-file admin.txt --yes
  $ sudo keyway drive mbr enable /dev/nvme0n1 --password-file admin.txt")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Whether it is shown, and how large it can be
    Status(DriveArgs),
    /// Show it after every power cycle, until it is done
    Enable(DriveArgs),
    /// Never show it
    Disable(DriveArgs),
    /// It has done its work: show the drive itself until the next power cycle
    Done(DriveArgs),
    /// Show it again now
    Undone(DriveArgs),
    /// Write an image into it
    Write(WriteArgs),
    /// Read it into a new file
    Read(ReadArgs),
}

#[derive(clap::Args, Debug)]
struct DriveArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct WriteArgs {
    #[command(flatten)]
    drive: DriveArgs,
    /// The image
    file: PathBuf,
}

#[derive(clap::Args, Debug)]
struct ReadArgs {
    /// How much of it; all when left out
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    length: Option<u64>,
    #[command(flatten)]
    drive: DriveArgs,
    /// The new file
    file: PathBuf,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Status(drive) => status(drive, out),
        Action::Enable(drive) => change(drive, out, |session| session.enable_shadow(true)),
        Action::Disable(drive) => change(drive, out, |session| session.enable_shadow(false)),
        Action::Done(drive) => change(drive, out, |session| session.shadow_done(true)),
        Action::Undone(drive) => change(drive, out, |session| session.shadow_done(false)),
        Action::Write(args) => write(args, out),
        Action::Read(args) => read(args, out),
    }
}

fn with<T>(
    args: &DriveArgs,
    what: impl FnOnce(&mut Session<'_>) -> Result<T, HostError>,
) -> Result<T, Failure> {
    let mut target = Target::open(&args.device, args.admin.secret.hash.hash)?;
    target.must_be_set_up()?;
    if target.host.discovery().locking().is_some_and(|l| l.mbr_shadowing_not_supported) {
        return Err(target.failure(&HostError::Unsupported("MBR shadow")));
    }
    let who = format!("{} on {}", args.admin.who, name_of(&args.device));
    let pin = args.admin.secret.pin(&who, &target.serial())?;
    target.locking(args.admin.who, &pin, what)
}

fn status(args: &DriveArgs, out: Output) -> Result<(), Failure> {
    let (shadow, len) =
        with(args, |session| Ok((session.shadow()?, session.table_bytes(ByteTable::Shadow)?)))?;
    let document =
        json!({"device": args.device, "enabled": shadow.enabled, "done": shadow.done, "bytes": len});
    out.result(&document, || {
        let yes = |yes: bool| (if yes { "yes" } else { "no" }).to_owned();
        pairs(&[
            ("shown after power cycles", yes(shadow.enabled)),
            ("done for now", yes(shadow.done)),
            ("room", bytes(len)),
        ])
    })
}

fn change(
    args: &DriveArgs,
    out: Output,
    what: impl FnOnce(&mut Session<'_>) -> Result<(), HostError>,
) -> Result<(), Failure> {
    let shadow = with(args, |session| {
        what(session)?;
        session.shadow()
    })?;
    let document = json!({"device": args.device, "enabled": shadow.enabled, "done": shadow.done});
    out.result(&document, || {
        match (shadow.enabled, shadow.done) {
            (false, _) => "The MBR shadow is not shown.",
            (true, true) => "The MBR shadow is shown after the next power cycle.",
            (true, false) => "The MBR shadow is shown.",
        }
        .to_owned()
    })
}

fn write(args: &WriteArgs, out: Output) -> Result<(), Failure> {
    let image = std::fs::read(&args.file).map_err(|e| Failure::io("read", &args.file, &e))?;
    let total = image.len() as u64;
    out.confirm(&format!(
        "What is in the MBR shadow of {} now will be overwritten.",
        args.drive.device.display()
    ))?;
    let progress = Progress::interruptible("writing the MBR shadow")?;
    with(&args.drive, |session| {
        if total > session.table_bytes(ByteTable::Shadow)? {
            return Err(HostError::Asked(
                "the image is larger than the MBR shadow; `keyway drive mbr status` tells its size",
            ));
        }
        session.write_table(ByteTable::Shadow, 0, &image, |done| {
            let _ = progress.at(Stage::Fill, done, total);
        })
    })?;
    progress.done();
    out.result(&json!({"device": args.drive.device, "bytes": total}), || {
        format!("{} are in the MBR shadow; `keyway drive mbr enable` shows it.", bytes(total))
    })
}

fn read(args: &ReadArgs, out: Output) -> Result<(), Failure> {
    let progress = Progress::interruptible("reading the MBR shadow")?;
    let image = with(&args.drive, |session| {
        let room = session.table_bytes(ByteTable::Shadow)?;
        let total = args.length.unwrap_or(room).min(room).min(LARGEST_SHADOW);
        let mut image = vec![0u8; total as usize];
        session.read_table(ByteTable::Shadow, 0, &mut image, |done| {
            let _ = progress.at(Stage::Fill, done, total);
        })?;
        Ok(image)
    })?;
    progress.done();
    new_file(&args.file, &image)?;
    let document = json!({"device": args.drive.device, "file": args.file, "bytes": image.len()});
    out.result(&document, || format!("{} are in {}.", bytes(image.len() as u64), shown(&args.file)))
}

/// Most bytes of a shadow that are read: Opal asks for 128 MiB, drives have little more.
const LARGEST_SHADOW: u64 = 1 << 30;

fn new_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    use std::io::Write;
    let failed = |e: std::io::Error| Failure::io("write", path, &e);
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
}
