//! `drive mbr`, what a locked drive shows in place of its beginning, and `drive store`, the bytes that a drive keeps for its
//! host.

use super::act::{AdminArgs, Mode};
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs, print_bytes};
use crate::progress::Progress;
use crate::shown::shown;
use clap::Subcommand;
use keyway::drive::{ByteTable, Drive, DriveChange};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The MBR shadow: what a locked drive shows in place of its beginning, such as a program that unlocks it
#[derive(Subcommand, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive mbr write /dev/nvme0n1 unlocker.img --password-file admin.txt --yes
  $ sudo keyway drive mbr enable /dev/nvme0n1 --password-file admin.txt")]
pub(super) enum ShadowAction {
    /// Whether it is shown, and how large it can be
    Status(AdminArgs),
    /// Show it after every power cycle, until it is done
    Enable(AdminArgs),
    /// Never show it
    Disable(AdminArgs),
    /// It has done its work: show the drive itself until the next power cycle
    Done(AdminArgs),
    /// Show it again now
    Undone(AdminArgs),
    /// Write an image into it
    Write {
        #[command(flatten)]
        drive: AdminArgs,
        /// The image
        file: PathBuf,
    },
    /// Read it into a new file
    Read {
        /// How much of it; all when left out
        #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
        length: Option<u64>,
        #[command(flatten)]
        drive: AdminArgs,
        /// The new file
        file: PathBuf,
    },
}

/// The DataStore: bytes that a drive keeps for its host, beside its medium
#[derive(Subcommand, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive store write /dev/nvme0n1 notes.txt --password-file admin.txt --yes
  $ sudo keyway drive store read /dev/nvme0n1 --length 4K --password-file admin.txt > notes.txt")]
pub(super) enum StoreAction {
    /// Print bytes of it
    Read {
        /// How many bytes; all when left out
        #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
        length: Option<u64>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Write a file into it
    Write {
        #[command(flatten)]
        place: PlaceArgs,
        /// The file
        file: PathBuf,
    },
}

#[derive(clap::Args, Debug)]
pub(super) struct PlaceArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// From which byte on
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse, default_value = "0")]
    offset: u64,
}

/// Runs `mbr`.
pub(super) fn shadow(action: &ShadowAction, mode: Mode) -> Result<(), Failure> {
    let (drive, change) = match action {
        ShadowAction::Status(drive) => return status(drive, mode.out),
        ShadowAction::Enable(drive) => (drive, DriveChange::EnableShadow { enabled: true }),
        ShadowAction::Disable(drive) => (drive, DriveChange::EnableShadow { enabled: false }),
        ShadowAction::Done(drive) => (drive, DriveChange::FinishShadow { done: true }),
        ShadowAction::Undone(drive) => (drive, DriveChange::FinishShadow { done: false }),
        ShadowAction::Write { drive, file } => (drive, write(ByteTable::Shadow, 0, file)?),
        ShadowAction::Read { length, drive, file } => {
            let plan = json!({"device": drive.device, "file": file});
            if !mode.dry.go_on(&plan, None, mode.out)? {
                return Ok(());
            }
            let image = read(drive, (ByteTable::Shadow, 0, *length), "reading the MBR shadow")?;
            let failed = |e| Failure::io("write", file, &e);
            let mut new = File::create_new(file).map_err(failed)?;
            new.write_all(&image).and_then(|()| new.sync_all()).map_err(failed)?;
            let document = json!({"device": drive.device, "file": file, "bytes": image.len()});
            return mode
                .out
                .result(&document, || format!("{} are in {}.", bytes(image.len() as u64), shown(file)));
        }
    };
    drive.act(change, mode)
}

fn status(drive: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&drive.device)?.shadow(drive.who, &drive.secrets()?)?;
    let document =
        json!({"device": drive.device, "enabled": told.enabled, "done": told.done, "bytes": told.bytes});
    out.result(&document, || {
        let yes = |yes: bool| (if yes { "yes" } else { "no" }).to_owned();
        let done = ("done for now", yes(told.done));
        pairs(&[("shown after power cycles", yes(told.enabled)), done, ("room", bytes(told.bytes))])
    })
}

/// Runs `store`.
pub(super) fn store(action: &StoreAction, mode: Mode) -> Result<(), Failure> {
    match action {
        StoreAction::Write { place: PlaceArgs { admin, offset }, file } => {
            admin.act(write(ByteTable::DataStore, *offset, file)?, mode)
        }
        StoreAction::Read { length, place: PlaceArgs { admin, offset } } => {
            let content = read(admin, (ByteTable::DataStore, *offset, *length), "reading the DataStore")?;
            if mode.out.json {
                let hex: String = content.iter().map(|b| format!("{b:02x}")).collect();
                let document =
                    json!({"device": admin.device, "offset": offset, "bytes": content.len(), "hex": hex});
                return mode.out.result(&document, String::new);
            }
            print_bytes(&content)
        }
    }
}

fn write(table: ByteTable, offset: u64, file: &Path) -> Result<DriveChange, Failure> {
    let content = std::fs::read(file).map_err(|e| Failure::io("read", file, &e))?;
    Ok(DriveChange::WriteTable { table, offset, content })
}

fn read(drive: &AdminArgs, part: (ByteTable, u64, Option<u64>), label: &str) -> Result<Vec<u8>, Failure> {
    let progress = Progress::interruptible(label)?;
    Ok(Drive::open(&drive.device)?.read_table(part, drive.who, &drive.secrets()?, &progress)?)
}
