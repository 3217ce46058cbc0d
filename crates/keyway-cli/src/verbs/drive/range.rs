//! `drive range`: parts of a drive that lock apart.

use super::args::{AdminArgs, ChangeArgs};
use crate::verbs::*;
use keyway::drive::{Drive, DriveChange};

/// List, place and remove ranges: parts of a drive that lock apart
#[derive(clap::Subcommand, Debug)]
pub(super) enum Action {
    /// Where the ranges are, what state they are in, and who may unlock them
    List(AdminArgs),
    /// Put a range somewhere, and have it lock at every power cycle. What was there can't be read any more
    #[command(override_usage = "keyway drive range set DEVICE RANGE --start SIZE --length SIZE [OPTIONS]")]
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
    admin: ChangeArgs,
    /// The range's number; 0 is everything that no other covers
    range: u16,
}

pub(super) fn run(action: &Action, out: Output) -> Result<(), Failure> {
    let (OneArgs { admin, range }, change): (_, fn(u16) -> DriveChange) = match action {
        Action::List(admin) => return list(admin, out),
        Action::Set { start, length, one: OneArgs { admin, range } } => {
            let (range, start_bytes, length_bytes) = (*range, *start, *length);
            return admin.wanted(DriveChange::PlaceRange { range, start_bytes, length_bytes })?.run(out);
        }
        Action::Enable(one) => (one, |range| DriveChange::EnableRange { range, locks: true }),
        Action::Disable(one) => (one, |range| DriveChange::EnableRange { range, locks: false }),
        Action::Remove(one) => (one, |range| DriveChange::RemoveRange { range }),
    };
    admin.wanted(change(*range))?.run(out)
}

fn list(admin: &AdminArgs, out: Output) -> Result<(), Failure> {
    let told = Drive::open(&admin.device)?.ranges(admin.who, &admin.secret.alone()?)?;
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
