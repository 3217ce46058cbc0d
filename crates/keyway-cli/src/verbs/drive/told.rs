//! What was done to a drive, in words.

use crate::output::bytes;
use crate::shown::shown;
use keyway::drive::{Authority, ByteTable, DriveChange as Change, DriveOutcome, OutcomeFacts};

/// What is not as it was wanted.
pub(super) fn warning(outcome: &DriveOutcome) -> Option<String> {
    let Change::Unlock { by_kernel, for_resume, .. } = outcome.plan.change else { return None };
    match outcome.facts {
        OutcomeFacts::Unlocked { covered: true, .. } => {
            let why =
                if by_kernel { "the kernel does not lift it" } else { "whoever unlocked may not lift it" };
            Some(format!(
                "the MBR shadow still covers the drive's beginning, and {why}: `keyway drive mbr done --as admin1` does"
            ))
        }
        OutcomeFacts::Unlocked { saved: false, .. } if for_resume => {
            Some("--for-resume does nothing for a virtual drive's file: no kernel knows it".to_owned())
        }
        _ => None,
    }
}

/// What someone should know who has set a drive up.
pub(super) fn set_up(outcome: &DriveOutcome) -> String {
    let Change::SetUp(setup) = &outcome.plan.change else { return String::new() };
    let now = if setup.leave_unlocked { "It is unlocked until it loses power." } else { "It is locked now." };
    let sheet = setup.recovery_sheet.as_ref().map_or_else(String::new, |path| {
        format!(
            "\nThe owner's secret is in {}: print it, write the PSID of the drive's label on it, and keep it away from the \
             drive.",
            shown(path)
        )
    });
    format!("{now}\nUnlock it with: keyway drive unlock {}{sheet}", shown(&outcome.plan.device))
}

/// What was done.
pub(super) fn outcome(outcome: &DriveOutcome) -> String {
    let plan = &outcome.plan;
    let device = shown(&plan.device);
    match (&plan.change, &outcome.facts) {
        (Change::SetUp(_), _) => format!("{device} is set up. {}", set_up(outcome)),
        (Change::Lock { .. }, _) => format!("{device} is locked."),
        (Change::Unlock { read_only, .. }, OutcomeFacts::Unlocked { by, .. }) => {
            let how = if *read_only { "for reading" } else { "for reading and writing" };
            format!("{device} is unlocked {how}, as {by}.")
        }
        (Change::PlaceRange { range, .. }, OutcomeFacts::Placed { start_block, blocks, block_bytes, .. }) => {
            format!("Range {range} has {blocks} blocks of {block_bytes} bytes from block {start_block} on.")
        }
        (Change::EnableRange { range, locks: true }, _) => {
            format!("Range {range} locks at every power cycle.")
        }
        (Change::EnableRange { range, .. }, _) => format!("Range {range} never locks."),
        (Change::RemoveRange { range }, _) => format!("Range {range} is gone."),
        (Change::EraseRange { range }, facts) => {
            let user = match facts {
                OutcomeFacts::Erased { user: Some(user) } => format!(
                    " It locks no more, and {user}'s password is empty: `keyway drive user move-in {device} --range {range}` \
                     sets one."
                ),
                _ => String::new(),
            };
            format!("{device}: range {range} has a new media key; what was in it is gone.{user}")
        }
        (Change::EnableUser { user, range }, _) => {
            format!("{user} has a password and may unlock range {range}.")
        }
        (Change::DisableUser { user }, _) => format!("{user} is not enabled any more."),
        (Change::AllowUser { user, range, allowed: true }, _) => format!("{user} may unlock range {range}."),
        (Change::AllowUser { user, range, .. }, _) => {
            format!("{user} may not unlock range {range} any more.")
        }
        (Change::SetPassword { whose }, _) => format!("{whose} has another password."),
        (Change::GiveToUsers { ranges }, _) if ranges.is_empty() => {
            format!("{device}: no range is a user's alone.")
        }
        (Change::GiveToUsers { ranges }, _) => {
            let users: Vec<String> =
                ranges.iter().map(|range| Authority::of_range(*range).to_string()).collect();
            format!("{device}: each given range is its user's alone now: {}.", users.join(", "))
        }
        (Change::MoveIn { range }, _) => {
            format!("Range {range} is {}'s, and locks at every power cycle.", Authority::of_range(*range))
        }
        (_, OutcomeFacts::Shadow(shadow)) => match (shadow.enabled, shadow.done) {
            (false, _) => "The MBR shadow is not shown.".to_owned(),
            (true, true) => "The MBR shadow is shown after the next power cycle.".to_owned(),
            (true, false) => "The MBR shadow is shown.".to_owned(),
        },
        (Change::WriteTable { table, content, .. }, _) => {
            let place = match table {
                ByteTable::Shadow => "MBR shadow; `keyway drive mbr enable` shows it",
                ByteTable::DataStore => "DataStore",
            };
            format!("{} are in the {place}.", bytes(content.len() as u64))
        }
        (Change::Revert { .. }, _) => {
            format!("{device} is in its factory state again; what was on it is gone.")
        }
        (Change::Release, _) => {
            format!("{device} does not lock any more and has no owner; its data are kept.")
        }
        (Change::BlockOwner { .. }, _) => {
            format!("{device}: nobody can become its owner until the next power cycle.")
        }
        _ => format!("{device}: every session is ended."),
    }
}
