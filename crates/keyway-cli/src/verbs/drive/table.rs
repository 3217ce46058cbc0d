//! `drive mbr`, what a locked drive shows in place of its beginning, and `drive store`, the bytes that a drive keeps for its
//! host.

use super::args::{AdminArgs, ChangeArgs};
use crate::output::print_bytes;
use crate::progress::Progress;
use crate::verbs::*;
use keyway::drive::{ByteTable, Drive, DriveChange};
use std::fs::File;
use std::io::Write;

/// The MBR shadow: what a locked drive shows in place of its beginning, such as a program that unlocks it
#[derive(clap::Subcommand, Debug)]
pub(super) enum ShadowAction {
    /// Whether it is shown, and how large it can be
    Status(AdminArgs),
    /// Show it after every power cycle, until it is done
    Enable(ChangeArgs),
    /// Never show it
    Disable(ChangeArgs),
    /// It has done its work: show the drive itself until the next power cycle
    Done(ChangeArgs),
    /// Show it again now
    Undone(ChangeArgs),
    /// Write an image into it
    Write {
        #[command(flatten)]
        drive: ChangeArgs,
        /// The image
        file: PathBuf,
    },
    /// Read it into a new file
    Read {
        /// How much of it; all when left out
        #[arg(long, value_name = "SIZE", value_parser = size::parse)]
        length: Option<u64>,
        #[command(flatten)]
        drive: ChangeArgs,
        /// The new file
        file: PathBuf,
    },
}

/// The DataStore: bytes that a drive keeps for its host, beside its medium
#[derive(clap::Subcommand, Debug)]
pub(super) enum StoreAction {
    /// Print bytes of it
    Read {
        /// How many bytes; all when left out
        #[arg(long, value_name = "SIZE", value_parser = size::parse)]
        length: Option<u64>,
        #[command(flatten)]
        drive: AdminArgs,
        /// From which byte on
        #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "0")]
        offset: u64,
    },
    /// Write a file into it
    Write {
        #[command(flatten)]
        drive: ChangeArgs,
        /// From which byte on
        #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "0")]
        offset: u64,
        /// The file
        file: PathBuf,
    },
}

/// Runs `mbr`.
pub(super) fn shadow(action: &ShadowAction, out: Output) -> Result<(), Failure> {
    let (drive, change) = match action {
        ShadowAction::Status(drive) => return status(drive, out),
        ShadowAction::Enable(drive) => (drive, DriveChange::EnableShadow { enabled: true }),
        ShadowAction::Disable(drive) => (drive, DriveChange::EnableShadow { enabled: false }),
        ShadowAction::Done(drive) => (drive, DriveChange::FinishShadow { done: true }),
        ShadowAction::Undone(drive) => (drive, DriveChange::FinishShadow { done: false }),
        ShadowAction::Write { drive, file } => (drive, write(ByteTable::Shadow, 0, file)?),
        ShadowAction::Read { length, drive: ChangeArgs { admin, dry }, file } => {
            if !dry.go_on(&json!({"device": in_json(&admin.device), "file": in_json(file)}), None, out)? {
                return Ok(());
            }
            let image = read(admin, (ByteTable::Shadow, 0, *length), "reading the MBR shadow")?;
            let failed = |e| Failure::io("write", file, &e);
            let mut new = File::create_new(file).map_err(failed)?;
            new.write_all(&image).and_then(|()| new.sync_all()).map_err(failed)?;
            let document =
                json!({"device": in_json(&admin.device), "file": in_json(file), "bytes": image.len()});
            return out
                .result(&document, || format!("{} are in {}.", bytes(image.len() as u64), shown(file)));
        }
    };
    drive.wanted(change)?.run(out)
}

fn status(drive: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&drive.device)?.shadow(drive.who, &drive.secret.alone()?)?;
    let document = json!({"device": in_json(&drive.device), "enabled": told.enabled, "done": told.done, "bytes": told.bytes});
    out.result(&document, || {
        let yes = |yes: bool| (if yes { "yes" } else { "no" }).to_owned();
        let done = ("done for now", yes(told.done));
        pairs(&[("shown after power cycles", yes(told.enabled)), done, ("room", bytes(told.bytes))])
    })
}

/// Runs `store`.
pub(super) fn store(action: &StoreAction, out: Output) -> Result<(), Failure> {
    let (length, drive, offset) = match action {
        StoreAction::Write { drive, offset, file } => {
            return drive.wanted(write(ByteTable::DataStore, *offset, file)?)?.run(out);
        }
        StoreAction::Read { length, drive, offset } => (*length, drive, *offset),
    };
    let content = read(drive, (ByteTable::DataStore, offset, length), "reading the DataStore")?;
    if !out.json {
        return print_bytes(&content);
    }
    let hex: String = content.iter().map(|b| format!("{b:02x}")).collect();
    let document =
        json!({"device": in_json(&drive.device), "offset": offset, "bytes": content.len(), "hex": hex});
    out.result(&document, String::new)
}

fn write(table: ByteTable, offset: u64, file: &Path) -> Result<DriveChange, Failure> {
    let content = std::fs::read(file).map_err(|e| Failure::io("read", file, &e))?;
    Ok(DriveChange::WriteTable { table, offset, content })
}

fn read(drive: &AdminArgs, part: (ByteTable, u64, Option<u64>), label: &str) -> Result<Vec<u8>, Failure> {
    let progress = Progress::interruptible(label)?;
    Ok(Drive::open(&drive.device)?.read_table(part, drive.who, &drive.secret.alone()?, &progress)?)
}
