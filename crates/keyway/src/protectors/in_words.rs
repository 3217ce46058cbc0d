//! What is told of what opens a volume, for people.

use super::{ListedProtectors, ListedSecret};
use crate::told::table;

/// A line for each protector.
pub fn listed(listed: &ListedProtectors) -> String {
    match listed {
        ListedProtectors::BitLocker { key_protectors, auto_unlock_keys, .. } => {
            let rows = key_protectors.iter().map(|p| {
                let note = match p.usable {
                    false => "can't be used here".to_owned(),
                    true => p.name.clone().unwrap_or_default(),
                };
                vec![p.id.to_string(), p.kind.name().to_owned(), p.changed.to_string(), note]
            });
            let others = match auto_unlock_keys {
                0 => String::new(),
                n => format!("It also holds the keys of {n} other drives, which it unlocks in Windows.\n"),
            };
            table(&["id", "kind", "changed", ""], 4, rows) + &others
        }
        ListedProtectors::VeraCrypt {
            key_protectors: [ListedSecret::Known { secret, hash, .. }], ..
        } => {
            let row = ["0", secret.kind, &secret.keyfiles.to_string(), &pim(secret.pim), hash.name()];
            table(&["id", "kind", "keyfiles", "PIM", "hash"], 5, [row.map(str::to_owned).to_vec()])
        }
        _ => {
            "A VeraCrypt or TrueCrypt volume has one: a password, keyfiles, or both, with an optional PIM.\n\
              Which of these it is can't be seen from outside."
                .to_owned()
        }
    }
}

/// A PIM in words.
pub fn pim(pim: Option<u32>) -> String {
    pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string())
}
