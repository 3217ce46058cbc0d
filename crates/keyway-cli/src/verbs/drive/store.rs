//! `drive store`: the bytes that a drive keeps for its host, beside its medium.

use super::range::AdminArgs;
use crate::failure::Failure;
use crate::output::{Output, bytes};
use clap::Subcommand;
use keyway_sed::host::HostError;
use keyway_sed::host::shadow::ByteTable;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The DataStore: bytes that a drive keeps for its host, beside its medium
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive store write /dev/nvme0n1 notes.txt --password-file admin.txt --yes
  $ sudo keyway drive store read /dev/nvme0n1 --length 4K --password-file admin.txt > notes.txt")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Print bytes of it
    Read(ReadArgs),
    /// Write a file into it
    Write(WriteArgs),
}

#[derive(clap::Args, Debug)]
struct PlaceArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// From which byte on
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse, default_value = "0")]
    offset: u64,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct ReadArgs {
    /// How many bytes; all when left out
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    length: Option<u64>,
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(clap::Args, Debug)]
struct WriteArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// The file
    file: PathBuf,
}

/// Most bytes that are read at once.
const LARGEST: u64 = 1 << 30;

/// What is said where the table ends before.
const PAST_END: HostError = HostError::Asked("the DataStore ends before that; write or read less of it");

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Read(args) => read(args, out),
        Action::Write(args) => write(args, out),
    }
}

fn read(args: &ReadArgs, out: Output) -> Result<(), Failure> {
    let place = &args.place;
    let content = place.admin.with(&place.device, |session| {
        let room = session.table_bytes(ByteTable::DataStore)?.checked_sub(place.offset).ok_or(PAST_END)?;
        let len = args.length.unwrap_or(room).min(room).min(LARGEST);
        let mut content = vec![0u8; len as usize];
        session.read_table(ByteTable::DataStore, place.offset, &mut content, |_| {})?;
        Ok(content)
    })?;
    if out.json {
        let hex: String = content.iter().map(|b| format!("{b:02x}")).collect();
        let document =
            json!({"device": place.device, "offset": place.offset, "bytes": content.len(), "hex": hex});
        return out.result(&document, String::new);
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(&content).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write to", Path::new("standard output"), &e))
        }
        _ => Ok(()),
    }
}

fn write(args: &WriteArgs, out: Output) -> Result<(), Failure> {
    let place = &args.place;
    let content = std::fs::read(&args.file).map_err(|e| Failure::io("read", &args.file, &e))?;
    let len = content.len() as u64;
    out.confirm(&format!(
        "What is in the DataStore of {} there now will be overwritten.",
        place.device.display()
    ))?;
    place.admin.with(&place.device, |session| {
        let end = place.offset.checked_add(len).ok_or(PAST_END)?;
        if end > session.table_bytes(ByteTable::DataStore)? {
            return Err(PAST_END);
        }
        session.write_table(ByteTable::DataStore, place.offset, &content, |_| {})
    })?;
    let document = json!({"device": place.device, "offset": place.offset, "bytes": len});
    out.result(&document, || format!("{} are in the DataStore.", bytes(len)))
}
