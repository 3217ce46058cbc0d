//! `drive range`: parts of a drive that lock apart.

use super::act::{AdminArgs, Mode};
use crate::failure::Failure;
use crate::output::{Output, bytes, table};
use crate::size;
use clap::Subcommand;
use keyway::drive::{Drive, DriveChange};

/// List, place and remove ranges: parts of a drive that lock apart
#[derive(Subcommand, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive range list /dev/nvme0n1 --password-file admin.txt
  $ sudo keyway drive range set /dev/nvme0n1 1 --start 1G --length 100G --yes")]
pub(super) enum Action {
    /// Where the ranges are, what state they are in, and who may unlock them
    List(AdminArgs),
    /// Put a range somewhere, and have it lock at every power cycle. What was there can't be read any more
    Set {
        /// Where it begins, such as 1G
        #[arg(long, value_name = "SIZE", value_parser = size::parse)]
        start: u64,
        /// How long it is, such as 100G
        #[arg(long, value_name = "SIZE", value_parser = size::parse)]
        length: u64,
        #[command(flatten)]
        one: OneArgs,
    },
    /// Have a range lock at every power cycle
    Enable(OneArgs),
    /// Have a range never lock
    Disable(OneArgs),
    /// Take a range away: its blocks are the global range's again, and what was there can't be read any more
    Remove(OneArgs),
}

#[derive(clap::Args, Debug)]
pub(super) struct OneArgs {
    #[command(flatten)]
    admin: AdminArgs,
    /// The range's number; 0 is everything that no other covers
    range: u16,
}

/// Runs the verb.
pub(super) fn run(action: &Action, mode: Mode) -> Result<(), Failure> {
    let (OneArgs { admin, range }, start_bytes, length_bytes) = match action {
        Action::List(admin) => return list(admin, mode.out),
        Action::Set { start, length, one } => (one, *start, *length),
        Action::Enable(one) | Action::Disable(one) | Action::Remove(one) => (one, 0, 0),
    };
    let range = *range;
    let change = match action {
        Action::Enable(_) => DriveChange::EnableRange { range, locks: true },
        Action::Disable(_) => DriveChange::EnableRange { range, locks: false },
        Action::Remove(_) => DriveChange::RemoveRange { range },
        _ => DriveChange::PlaceRange { range, start_bytes, length_bytes },
    };
    admin.act(change, mode)
}

fn list(admin: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&admin.device)?.ranges(admin.who, &admin.secrets()?)?;
    out.result(&told, || {
        let rows = told.ranges.iter().map(|r| {
            let (start, length) = match r.range {
                0 => ("-".to_owned(), "the rest".to_owned()),
                _ => (bytes(r.start_bytes), bytes(r.length_bytes)),
            };
            vec![r.range.to_string(), start, length, r.state.to_owned(), r.unlocked_by.join(", ")]
        });
        let table = table(&["range", "start", "length", "state", "unlocked by"], usize::MAX, rows);
        let more = (usize::from(told.max_ranges) + 1).saturating_sub(told.ranges.len());
        format!("{table}{more} more can be set up.\n")
    })
}
