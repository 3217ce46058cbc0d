//! `protector list` and `protector recovery`: what opens a volume now.

use super::args::RecoveryArgs;
use crate::verbs::*;
use keyway::protectors::{self, ListedProtectors, ListedSecret, Protectors, RecoveryPassword};

/// Tells what opens a volume.
pub(super) fn list(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let listed = protectors::list(&args.locked()?)?;
    match &listed {
        ListedProtectors::BitLocker { warnings, .. } => warnings.iter().for_each(|warning| out.warn(warning)),
        ListedProtectors::VeraCrypt { key_protectors: [ListedSecret::Known { .. }], warnings } => {
            out.warnings(warnings)
        }
        _ => {}
    }
    out.result(&listed, || match &listed {
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
    })
}

/// A PIM in words.
pub(super) fn pim(pim: Option<u32>) -> String {
    pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string())
}

/// Tells or saves a volume's recovery passwords.
pub(super) fn recovery(args: &RecoveryArgs, out: Output) -> Result<(), Failure> {
    let volume = args.target.locked()?;
    let opened = Protectors::look(&volume)?;
    out.warnings(&opened.warnings);
    if let Some(path) = &args.to {
        let saved = opened.save_recovery_password(args.id, path)?;
        return out.result(&saved, || said("protector saved", &facts(&saved, Value::Null)));
    }
    let digits = |password: &RecoveryPassword| String::from_utf8_lossy(&password.to_text()).into_owned();
    let found = opened.recovery_passwords(args.id)?;
    let all = found.iter().map(|(id, password)| json!({"id": id, "recovery_password": digits(password)}));
    out.result(&json!({"recovery_passwords": all.collect::<Vec<_>>()}), || {
        let rows = found.iter().map(|(id, password)| vec![id.to_string(), digits(password)]);
        table(&["id", "recovery password"], 2, rows)
    })
}
