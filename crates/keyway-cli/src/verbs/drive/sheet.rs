//! What stands on a recovery sheet.

use keyway::drive::{PasswordHash, SheetFacts};
use keyway::shown::shown;

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
