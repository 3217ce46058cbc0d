//! What is asked and said before something is done to a drive, and what its recovery sheet says.

use crate::output::bytes;
use crate::shown::shown;
use keyway::drive::{ByteTable, DriveChange as Change, DriveNote, DrivePlan, PasswordHash, SheetFacts};

/// What is lost, for whoever has to say yes to it.
pub(super) fn loss(plan: &DrivePlan) -> Option<String> {
    let device = plan.device.display();
    plan.loses_data.then(|| match &plan.change {
        Change::EraseRange { range: 0 } => {
            format!("Everything outside of other ranges of {device} will be lost for ever.")
        }
        Change::EraseRange { range } => format!("Everything in range {range} of {device} will be lost for ever."),
        Change::PlaceRange { length_bytes, .. } => {
            format!("What is in these {} of {device} now can't be read any more.", bytes(*length_bytes))
        }
        Change::RemoveRange { range } => format!("What is in range {range} of {device} can't be read any more."),
        Change::GiveToUsers { .. } => format!(
            "Every user's password on {device} will be empty and no range will lock, but those that are given away now. \
             What is in the ranges stays."
        ),
        Change::WriteTable { table: ByteTable::Shadow, .. } => {
            format!("What is in the MBR shadow of {device} now will be overwritten.")
        }
        Change::WriteTable { .. } => {
            format!("What is in the DataStore of {device} there now will be overwritten.")
        }
        Change::Release => format!(
            "{device} will not be locked any more, and what is in ranges other than the global one is lost."
        ),
        _ => format!("Everything on {device} will be lost for ever."),
    })
}

/// What somebody should know before.
pub(super) fn note(note: &DriveNote) -> String {
    match note {
        DriveNote::Keeps(contents) => format!("on it is {contents}; that stays as it is"),
        _ => "this drive locks without encrypting: whoever takes its chips out can read them".to_owned(),
    }
}

/// What stands on a recovery sheet before and behind the owner's secret.
pub(super) fn sheet(facts: &SheetFacts<'_>) -> [String; 2] {
    let text =
        if facts.single_user { include_str!("sheet_single_user.txt") } else { include_str!("sheet.txt") };
    let hashed = match facts.hash {
        PasswordHash::Sedutil => String::new(),
        other => format!(" --hash {other}"),
    };
    let hash = format!("{} ({})", facts.hash, facts.hash.words());
    let filled = [
        ("MODEL", shown(&facts.identity.model)),
        ("SERIAL", shown(&facts.identity.serial)),
        ("FIRMWARE", shown(&facts.identity.firmware)),
        ("HASHING", hash),
        ("HASH", hashed),
        ("DEVICE", shown(facts.device)),
    ]
    .iter()
    .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value));
    let (before, after) = filled.split_once("<SECRET>").unwrap_or((&filled, ""));
    [before.to_owned(), after.to_owned()]
}
