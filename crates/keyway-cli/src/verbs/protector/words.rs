//! What opens a volume, and what was changed of that, in words for people.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, pairs, table};
use crate::shown::shown;
use crate::words::told;
use keyway::protectors::{
    ChangedSecret, Listed, ListedSecret, Protection, ProtectorOutcome, RecoveryPassword, RemovedProtector,
    SetProtector, StillOpens,
};

pub(super) fn list(listed: &Listed, out: Output) -> Result<(), Failure> {
    match listed {
        Listed::BitLocker { warnings, .. } => warnings.iter().for_each(|warning| out.warn(warning)),
        Listed::VeraCrypt { key_protectors: [ListedSecret::Known { .. }], warnings } => {
            out.warnings(warnings)
        }
        _ => {}
    }
    out.result(listed, || match listed {
        Listed::BitLocker { key_protectors, auto_unlock_keys, .. } => {
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
        Listed::VeraCrypt { key_protectors: [ListedSecret::Known { secret, hash, .. }], .. } => {
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

fn pim(pim: Option<u32>) -> String {
    pim.map_or_else(|| "default".to_owned(), |pim| pim.to_string())
}

/// What is asked before protection is suspended.
pub(super) fn suspends(target: &VolumeArgs) -> String {
    format!(
        "Anybody who gets hold of {} will be able to read it until its protection is resumed.",
        target.volume.display()
    )
}

pub(super) fn tell(outcome: &ProtectorOutcome, out: Output) -> Result<(), Failure> {
    match outcome {
        ProtectorOutcome::Set(set) => set.warning.iter().for_each(|warning| out.warn(&told(warning))),
        ProtectorOutcome::Removed(removed) => match removed.opens {
            StillOpens::ClearKey => out.warn(
                "only the clear key of its suspended protection opens the volume now: add a protector, or anybody reads it",
            ),
            StillOpens::Tpm => out.warn(
                "only a TPM opens the volume now: if that machine fails, so does it; add a recovery password",
            ),
            _ => {}
        },
        _ => {}
    }
    out.result(outcome, || match outcome {
        ProtectorOutcome::Set(set) => set_words(set),
        ProtectorOutcome::Secret(changed) => changed_words(changed),
        ProtectorOutcome::Removed(RemovedProtector { volume, removed, .. }) => format!(
            "{} no longer opens by the protector {removed}.\nBackups of the volume's headers made before still open \
             with it: destroy them.",
            shown(volume)
        ),
        ProtectorOutcome::Protection(status) if status.id.is_some() => {
            let volume = shown(&status.volume);
            format!("{volume} opens without a secret now. `keyway protector resume` ends that.")
        }
        ProtectorOutcome::Protection(status) => format!(
            "{} needs a secret again. On a flash drive the key that lay open may survive in unused cells; where \
             that matters, move the data to a new volume.",
            shown(&status.volume)
        ),
        _ => String::new(),
    })
}

fn set_words(set: &SetProtector) -> String {
    let (volume, id) = (shown(&set.volume), set.id);
    let kind = match set.kind {
        Protection::Password => "the password",
        Protection::RecoveryPassword => "the recovery password",
        Protection::StartupKey => "the startup key",
        _ => "the protector",
    };
    let mut text = format!("{volume} opens by {kind} {id} from now on.");
    if let Some(pcrs) = &set.pcrs {
        let pcrs: Vec<String> = pcrs.iter().map(u32::to_string).collect();
        text = format!(
            "{volume} opens by this TPM {id} from now on (--tpm), as long as the machine starts up as it did (PCRs {}).",
            pcrs.join(",")
        );
    }
    if let Some(password) = &set.recovery_password {
        text.push_str(&format!("\nWrite it down and keep it apart from the drive:\n  {}", digits(password)));
    }
    if let Some(file) = &set.file {
        let what = if set.pcrs.is_some() { "The startup key" } else { "It" };
        text.push_str(&format!("\n{what} is in {}: keep it apart from the drive.", shown(file)));
    }
    if set.replaced {
        text.push_str(
            "\nBackups of the volume's headers made before still open with the old one: destroy them.",
        );
    }
    text
}

fn changed_words(changed: &ChangedSecret) -> String {
    let rows = [
        ("  key derivation", changed.hash.to_string()),
        ("  keyfiles", changed.keyfiles.to_string()),
        ("  PIM", pim(changed.pim)),
    ];
    format!(
        "{} opens like this from now on.\n{}Header backups made before still open with the \
         old one: make a new one with `keyway header backup` and destroy them.",
        shown(&changed.volume),
        pairs(&rows)
    )
}

pub(super) fn digits(password: &RecoveryPassword) -> String {
    String::from_utf8_lossy(&password.to_text()).into_owned()
}
