//! `drive range`: parts of a drive that lock apart.

use super::secret::{SecretArgs, Who};
use super::target::Target;
use crate::failure::Failure;
use crate::output::{Output, bytes, table};
use crate::{size, verbs::name_of};
use clap::Subcommand;
use keyway_sed::explain::name_of as authority_name;
use keyway_sed::host::ranges::{Range, RangeLimits};
use keyway_sed::host::{HostError, Session};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Bytes of a logical block where a drive does not tell.
const USUAL_BLOCK: u64 = 512;

/// List, place and remove ranges: parts of a drive that lock apart
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ sudo keyway drive range list /dev/nvme0n1 --password-file admin.txt
  $ sudo keyway drive range set /dev/nvme0n1 1 --start 1G --length 100G --yes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Where the ranges are, what state they are in, and who may unlock them
    List(ListArgs),
    /// Put a range somewhere, and have it lock at every power cycle. What was there can't be read any more
    Set(SetArgs),
    /// Have a range lock at every power cycle
    Enable(OneArgs),
    /// Have a range never lock
    Disable(OneArgs),
    /// Take a range away: its blocks are the global range's again, and what was there can't be read any more
    Remove(OneArgs),
}

#[derive(clap::Args, Debug)]
struct ListArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct OneArgs {
    /// The drive's device, or a virtual drive's file
    device: PathBuf,
    /// The range's number; 0 is everything that no other covers
    range: u16,
    #[command(flatten)]
    admin: AdminArgs,
}

#[derive(clap::Args, Debug)]
struct SetArgs {
    /// Where it begins, such as 1G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    start: u64,
    /// How long it is, such as 100G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    length: u64,
    #[command(flatten)]
    one: OneArgs,
}

/// An administrator, and the secret.
#[derive(clap::Args, Debug)]
pub(super) struct AdminArgs {
    /// Whose password it is: admin1, user1 …
    #[arg(long = "as", value_name = "WHO", default_value = "admin1")]
    pub(super) who: Who,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
}

impl AdminArgs {
    /// Opens the drive and does something in a session of the administrator's.
    pub(super) fn with<T>(
        &self,
        device: &std::path::Path,
        what: impl FnOnce(&mut Session<'_>) -> Result<T, HostError>,
    ) -> Result<T, Failure> {
        let target = Target::open(device, self.secret.hash.hash)?;
        self.within(target, what)
    }

    /// The same with a drive that was opened before.
    fn within<T>(
        &self,
        mut target: Target,
        what: impl FnOnce(&mut Session<'_>) -> Result<T, HostError>,
    ) -> Result<T, Failure> {
        target.must_be_set_up()?;
        let what_for = format!("{} on {}", self.who, name_of(&target.path));
        let pin = self.secret.pin(&what_for, &target.serial())?;
        target.locking(self.who, &pin, what)
    }
}

impl OneArgs {
    /// The drive, which nothing uses: what is in the range will be another thing.
    fn unused(&self) -> Result<Target, Failure> {
        let target = Target::open(&self.device, self.admin.secret.hash.hash)?;
        target.must_be_set_up()?;
        target.must_be_unused()?;
        Ok(target)
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::List(args) => list(args, out),
        Action::Set(args) => set(args, out),
        Action::Enable(args) => enable(args, true, out),
        Action::Disable(args) => enable(args, false, out),
        Action::Remove(args) => remove(args, out),
    }
}

fn list(args: &ListArgs, out: Output) -> Result<(), Failure> {
    let (limits, ranges) = args.admin.with(&args.device, |session| {
        let limits = session.range_limits()?;
        let mut ranges = Vec::new();
        for number in 0..=limits.ranges {
            let range = session.range(number)?;
            // Ranges of no length are those that nobody has set up.
            if number > 0 && range.blocks == 0 {
                continue;
            }
            let unlockers = session.unlockers(number)?;
            ranges.push((range, unlockers.into_iter().map(authority_name).collect::<Vec<_>>()));
        }
        Ok((limits, ranges))
    })?;
    let block = limits.block_bytes.unwrap_or(USUAL_BLOCK);
    let documents: Vec<Value> = ranges
        .iter()
        .map(|(r, who)| {
            json!({"range": r.number, "start_bytes": r.start.saturating_mul(block),
                "length_bytes": r.blocks.saturating_mul(block), "start_block": r.start, "blocks": r.blocks,
                "read_lock_enabled": r.read_lock_enabled, "write_lock_enabled": r.write_lock_enabled,
                "read_locked": r.read_locked, "write_locked": r.write_locked,
                "locks_on_power_cycle": r.locks_on_power_cycle, "state": state(r), "unlocked_by": who})
        })
        .collect();
    let document = json!({"device": args.device, "block_bytes": block, "max_ranges": limits.ranges,
        "alignment_blocks": limits.alignment, "ranges": documents});
    out.result(&document, || {
        let rows = ranges.iter().map(|(r, who)| {
            let (start, length) = if r.number == 0 {
                ("-".to_owned(), "the rest".to_owned())
            } else {
                (bytes(r.start.saturating_mul(block)), bytes(r.blocks.saturating_mul(block)))
            };
            vec![r.number.to_string(), start, length, state(r).to_owned(), who.join(", ")]
        });
        let table = table(&["range", "start", "length", "state", "unlocked by"], usize::MAX, rows);
        format!(
            "{table}{} more can be set up.\n",
            usize::from(limits.ranges) + 1 - ranges.len().min(usize::from(limits.ranges) + 1)
        )
    })
}

/// What a range lets through now.
fn state(range: &Range) -> &'static str {
    if !range.read_lock_enabled && !range.write_lock_enabled {
        return "never locks";
    }
    match (range.read_lock_enabled && range.read_locked, range.write_lock_enabled && range.write_locked) {
        (false, false) => "unlocked",
        (false, true) => "read-only",
        (true, false) => "write-only",
        (true, true) => "locked",
    }
}

fn set(args: &SetArgs, out: Output) -> Result<(), Failure> {
    let SetArgs { one, start, length } = args;
    if one.range == 0 {
        return Err(Failure::usage(
            "range 0 is everything that no other covers: it has no place",
            "name another",
        ));
    }
    if *length == 0 {
        return Err(Failure::usage(
            "a range has a length",
            "use `keyway drive range remove` to take one away",
        ));
    }
    let target = one.unused()?;
    out.confirm(&format!(
        "What is in these {} of {} now can't be read any more.",
        bytes(*length),
        one.device.display()
    ))?;
    let placed = one.admin.within(target, |session| {
        let limits = session.range_limits()?;
        let place = blocks(&limits, *start, *length)?;
        session.place_range(one.range, place.0, place.1)?;
        session.enable_locking(one.range, true)?;
        Ok((place, limits.block_bytes.unwrap_or(USUAL_BLOCK)))
    });
    let ((first, blocks), block) = placed?;
    let document = json!({"device": one.device, "range": one.range, "start_block": first, "blocks": blocks,
        "block_bytes": block});
    out.result(&document, || {
        format!("Range {} has {} blocks of {block} bytes from block {first} on.", one.range, blocks)
    })
}

/// Bytes as whole blocks that fit the drive's alignment.
fn blocks(limits: &RangeLimits, start: u64, length: u64) -> Result<(u64, u64), HostError> {
    let block = limits.block_bytes.unwrap_or(USUAL_BLOCK);
    if !start.is_multiple_of(block) || !length.is_multiple_of(block) {
        return Err(HostError::Asked(
            "start and length must be whole blocks; `keyway drive info` tells the drive's block size",
        ));
    }
    let (start, blocks) = (start / block, length / block);
    if !limits.fits(start, blocks) {
        return Err(HostError::Asked(
            "start and length must keep to the drive's alignment; `keyway drive info` tells it",
        ));
    }
    Ok((start, blocks))
}

fn enable(args: &OneArgs, enable: bool, out: Output) -> Result<(), Failure> {
    args.admin.with(&args.device, |session| session.enable_locking(args.range, enable))?;
    let document = json!({"device": args.device, "range": args.range, "locks": enable});
    out.result(&document, || match enable {
        true => format!("Range {} locks at every power cycle.", args.range),
        false => format!("Range {} never locks.", args.range),
    })
}

fn remove(args: &OneArgs, out: Output) -> Result<(), Failure> {
    if args.range == 0 {
        return Err(Failure::usage("range 0 is everything that no other covers: it stays", "name another"));
    }
    let target = args.unused()?;
    out.confirm(&format!(
        "What is in range {} of {} can't be read any more.",
        args.range,
        args.device.display()
    ))?;
    args.admin.within(target, |session| {
        session.enable_locking(args.range, false)?;
        session.place_range(args.range, 0, 0)
    })?;
    let document = json!({"device": args.device, "range": args.range, "removed": true});
    out.result(&document, || format!("Range {} is gone.", args.range))
}
