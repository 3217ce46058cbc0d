//! Adds a protector with a TPM to a BitLocker volume.

use super::bitlocker::{Added, Protectors, in_force};
use super::tpm::NewTpmProtector;
use crate::error::Error;
use crate::key_file::NewKeyFile;
use crate::secrets::Subject;
use crate::tpm::Pcrs;
use keyway_volume::bitlocker::tpm::{TpmProtection, pcrs_of, protect, usual_pcrs};
use keyway_volume::bitlocker::{ChangeError, Entry, Nonce, ProtectorMaker, Value, codes::role};

/// Where it ended.
enum Stopped {
    /// Nothing was written.
    Make(Error),
    /// Something may have been.
    Write(ChangeError),
}

impl From<ChangeError> for Stopped {
    fn from(error: ChangeError) -> Self {
        Self::Write(error)
    }
}

impl Protectors<'_> {
    /// Adds a protector with a TPM, or puts it in the place of another, and tells which measurements it is bound to. The TPM is asked for the key once before
    /// the volume is written to, and the startup key's file is written before the protector is.
    pub(super) fn add_tpm(&mut self, new: &NewTpmProtector) -> Result<(Added, Pcrs), Error> {
        let subject = Subject::Volume(self.volume.path.clone());
        let pin = new.pin.then(|| new.source.new_pin(&subject, self.volume.secrets)).transpose()?;
        let mut tpm = new.source.open()?;
        // In the place of another it is bound to what that was bound to.
        let entries = &self.keys.metadata.block().dataset.entries;
        let old = entries.protectors().find(|p| new.replaces == Some(p.id)).and_then(pcrs_of);
        let pcrs = new.source.pcrs.or(old).unwrap_or_else(usual_pcrs);
        let startup_key = new.startup_key.is_some();
        let wanted = TpmProtection { pcrs, pin: pin.as_ref(), startup_key, name: None };
        let (mut file, mut made_one) = (None, None);
        let make = |maker: &mut ProtectorMaker<'_>| -> Result<Entry, Stopped> {
            let time = maker.time;
            let next_nonce = || Nonce { time: time.0, counter: maker.dataset.take_nonce() };
            let mut made =
                protect(&mut tpm, maker.master, &wanted, next_nonce).map_err(|e| Stopped::Make(e.into()))?;
            if let (Some(key), Some(folder)) = (&made.startup_key, &new.startup_key) {
                let mut new = NewKeyFile::claim_startup_key(folder, key).map_err(Stopped::Make)?;
                new.write_startup_key(key).map_err(Stopped::Make)?;
                file = Some(new);
            }
            made.protector.changed = time;
            // A startup key's file carries the identifier, and is a new one.
            if let Some(id) = new.replaces.filter(|_| made.startup_key.is_none()) {
                made.protector.id = id;
            }
            made_one = Some((made.protector.id, made.protector.protection));
            Ok(Entry::new(role::PROTECTOR, Value::Protector(made.protector)))
        };
        let result = match new.replaces {
            Some(id) => self.keys.replace_made(&self.store, id, make),
            None => self.keys.add_made(&self.store, make),
        };
        let result = match result {
            Err(Stopped::Make(e)) => return Err(e),
            Err(Stopped::Write(e)) => Err(e),
            Ok(id) => Ok(id),
        };
        let Some((id, kind)) = made_one else {
            return Err(result.err().unwrap_or(ChangeError::NotSuspended).into());
        };
        let (id, warning) = in_force(result, id)?;
        Ok((Added { id, kind, file: file.map(NewKeyFile::keep), warning }, pcrs))
    }
}
