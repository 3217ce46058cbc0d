//! From the factory's state to a locked drive in one go, and back where that fails.

use super::change::SetUp;
use super::error::DriveError;
use super::handle::Drive;
use super::secret::{DriveSecrets, SheetFacts};
use crate::error::Error;
use crate::key_file::NewKeyFile;
use crate::secrets::Wanted;
use keyway_secret::SecretBytes;
use keyway_sed::Authority;
use keyway_sed::host::ranges::Lock;
use keyway_sed::host::setup::FirstSetup;
use std::path::Path;
use std::time::{Duration, Instant};

/// Letters and digits that nobody mistakes for one another on paper (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Groups of the owner's secret, and characters of each: 125 bits, and with its dashes no longer than a drive's
/// table holds if it is not hashed.
const GROUPS: (usize, usize) = (5, 5);

impl Drive {
    /// Sets it up; how long that took the drive.
    pub(super) fn set_up(&mut self, setup: &SetUp, secrets: &DriveSecrets<'_>) -> Result<Duration, Error> {
        let user = secrets.derived(&secrets.own, Wanted::NewPassword, self, None)?;
        let (owner, sheet) = match &setup.recovery_sheet {
            Some(path) => {
                let secret = owners_secret()?;
                let sheet = self.write_sheet(path, setup.single_user, &secret, secrets)?;
                (secrets.hashed(&secret, self)?, Some(sheet))
            }
            None => (secrets.new_pin(self, Authority::Sid)?, None),
        };
        let lock = if setup.leave_unlocked { Lock::Unlocked } else { Lock::Locked };
        let first = FirstSetup { lock, single_user: setup.single_user };
        let begun = Instant::now();
        if let Err(error) = self.with(|host| host.set_up(&owner, &user, first)) {
            // Undone, keeping the data. Where that fails, too, the owner's secret must not be lost.
            if self.host.take_back(&owner, &user).is_ok() {
                return Err(error.into());
            }
            sheet.map(NewKeyFile::keep);
            return Err(DriveError::HalfSetUp(Box::new(error)).into());
        }
        let took = begun.elapsed();
        sheet.map(NewKeyFile::keep);
        Ok(took)
    }

    /// Writes the recovery sheet: it is on the medium then, and removed again unless it is kept.
    fn write_sheet(
        &self,
        path: &Path,
        single_user: bool,
        secret: &SecretBytes,
        secrets: &DriveSecrets<'_>,
    ) -> Result<NewKeyFile, Error> {
        let (device, identity) = (self.path.as_path(), self.identity());
        let facts = SheetFacts { device, identity, hash: secrets.hash, single_user };
        let [before, after] = (secrets.sheet)(&facts);
        let mut sheet = NewKeyFile::claim(path.to_owned())?;
        sheet.write(&[before.as_bytes(), secret, after.as_bytes()])?;
        Ok(sheet)
    }
}

/// A new secret for a drive's owner, in groups: `X4T0M-…`.
fn owners_secret() -> Result<SecretBytes, Error> {
    let (groups, each) = GROUPS;
    let mut random = SecretBytes::zeroed(groups * each);
    getrandom::fill(&mut random)?;
    let mut text = SecretBytes::zeroed(groups * each + groups - 1);
    let mut letters = random.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32)));
    for (i, place) in text.iter_mut().enumerate() {
        *place = if i % (each + 1) == each { b'-' } else { letters.next().copied().unwrap_or(b'0') };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (owners_secret().expect("random"), owners_secret().expect("random"));
        assert_eq!(one.len(), 29);
        assert!(!one.same_as(&other));
        let text = std::str::from_utf8(&one).expect("ASCII").to_owned();
        assert!(text.split('-').all(|group| group.len() == 5), "{text}");
        assert!(text.bytes().all(|b| b == b'-' || ALPHABET.contains(&b)), "{text}");
        assert!(one.len() <= keyway_sed::password::PIN_MAX);
    }
}
