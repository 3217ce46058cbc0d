//! `protector list` and `protector recovery`: what opens a volume now.

use super::args::RecoveryArgs;
use crate::verbs::*;
use keyway::protectors::{self, ListedProtectors, ListedSecret, Protectors, RecoveryPassword, in_words};

/// Tells what opens a volume.
pub(super) fn list(args: &VolumeArgs, out: Output) -> Result<(), Failure> {
    let listed = protectors::list(&args.locked()?.within(keyway::Sandbox::default()))?;
    match &listed {
        ListedProtectors::BitLocker { warnings, .. } => warnings.iter().for_each(|warning| out.warn(warning)),
        ListedProtectors::VeraCrypt { key_protectors: [ListedSecret::Known { .. }], warnings } => {
            out.warnings(warnings)
        }
        _ => {}
    }
    out.result(&listed, || in_words::listed(&listed))
}

/// Tells or saves a volume's recovery passwords.
pub(super) fn recovery(args: &RecoveryArgs, out: Output) -> Result<(), Failure> {
    let volume = args.target.locked()?;
    let opened = Protectors::look(&volume, args.id.as_ref(), args.to.as_deref())?;
    out.warnings(&opened.warnings);
    if let Some(path) = &args.to {
        let saved = opened.save_recovery_password(args.id.as_ref(), path)?;
        return out.result(&saved, || said("protector saved", &facts(&saved, Value::Null)));
    }
    let digits = |password: &RecoveryPassword| String::from_utf8_lossy(&password.to_text()).into_owned();
    let found = opened.recovery_passwords(args.id.as_ref())?;
    let all = found.iter().map(|(id, password)| json!({"id": id, "recovery_password": digits(password)}));
    out.result(&json!({"recovery_passwords": all.collect::<Vec<_>>()}), || {
        let rows = found.iter().map(|(id, password)| vec![id.to_string(), digits(password)]);
        table(&["id", "recovery password"], 2, rows)
    })
}
