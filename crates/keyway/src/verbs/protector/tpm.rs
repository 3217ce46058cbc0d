//! Adding a protector with a TPM to a BitLocker volume.

use super::bitlocker::in_force;
use super::{AddArgs, Kind};
use crate::failure::Failure;
use crate::key_file::NewFile;
use crate::output::Output;
use crate::tpm_in::NewTpmArgs;
use crate::verbs::name_of;
use keyway_store::FileStore;
use keyway_volume::bitlocker::tpm::{TpmProtection, protect, usual_pcrs};
use keyway_volume::bitlocker::{ChangeError, Entry, Nonce, OpenedKeys, Value, codes::role};
use serde_json::json;

/// Whether the kind has a PIN, and whether it has a startup key; `None` for one without a TPM.
pub(super) fn asks(kind: Kind) -> Option<(bool, bool)> {
    match kind {
        Kind::Tpm => Some((false, false)),
        Kind::TpmStartupKey => Some((false, true)),
        Kind::TpmPin => Some((true, false)),
        Kind::TpmPinStartupKey => Some((true, true)),
        Kind::Password | Kind::RecoveryPassword | Kind::StartupKey => None,
    }
}

/// Where it ended.
enum Stopped {
    /// Nothing was written.
    Make(Failure),
    /// Something may have been.
    Write(ChangeError),
}

impl From<ChangeError> for Stopped {
    fn from(error: ChangeError) -> Self {
        Self::Write(error)
    }
}

/// Adds it to an unlocked volume. The TPM is asked for the key once before the volume is written
/// to, and the startup key's file is written before the protector is.
pub(super) fn add(
    args: &AddArgs,
    (wants_pin, wants_startup_key): (bool, bool),
    store: &FileStore,
    keys: &mut OpenedKeys,
    out: Output,
) -> Result<(), Failure> {
    let NewTpmArgs { pcrs, .. } = args.new_tpm;
    let with_tpm = |p: &keyway_volume::bitlocker::Protector| p.protection.needs_tpm();
    if let Some(other) = keys.metadata.block().dataset.entries.protectors().find(|p| with_tpm(p)) {
        // Windows allows one of the four kinds per volume.
        return Err(ChangeError::HasOne(other.protection).into());
    }
    let pin = if wants_pin { Some(args.new_tpm.new_pin(&name_of(&args.target.volume))?) } else { None };
    let mut tpm = args.new_tpm.open()?;
    let pcrs = pcrs.unwrap_or_else(usual_pcrs);
    let wanted = TpmProtection { pcrs, pin: pin.as_ref(), startup_key: wants_startup_key, name: None };
    let (mut file, mut made_one) = (None, None);
    let result = keys.add_made(store, |maker| -> Result<Entry, Stopped> {
        let time = maker.time;
        let next_nonce = || Nonce { time: time.0, counter: maker.dataset.take_nonce() };
        let mut made =
            protect(&mut tpm, maker.master, &wanted, next_nonce).map_err(|e| Stopped::Make(e.into()))?;
        if let (Some(key), Some(folder)) = (&made.startup_key, &args.to) {
            let mut new = NewFile::claim_startup_key(folder, key).map_err(Stopped::Make)?;
            new.write_startup_key(key).map_err(Stopped::Make)?;
            file = Some(new);
        }
        made.protector.changed = time;
        made_one = Some((made.protector.id, made.protector.protection));
        Ok(Entry::new(role::PROTECTOR, Value::Protector(made.protector)))
    });
    let (id, kind) = match (result, made_one) {
        (Ok(id), made) => (id, made.map(|(_, kind)| kind)),
        (Err(Stopped::Write(e)), Some((id, kind))) => (in_force(Err(e), id, out)?, Some(kind)),
        (Err(Stopped::Write(e)), None) => return Err(e.into()),
        (Err(Stopped::Make(e)), _) => return Err(e),
    };
    let file = file.map(NewFile::keep);
    let registers: Vec<u32> = pcrs.iter().collect();
    let document =
        json!({"volume": args.target.volume, "id": id, "kind": kind, "file": file, "pcrs": registers});
    out.result(&document, || {
        let mut text = format!(
            "{} opens by this TPM {id} from now on (--tpm), as long as the machine starts up as it did (PCRs {pcrs}).",
            args.target.volume.display()
        );
        if let Some(path) = &file {
            text.push_str(&format!("\nThe startup key is in {}: keep it apart from the drive.", path.display()));
        }
        text
    })
}
