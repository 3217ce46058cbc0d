//! Where a drive's passwords come from, and what it is told for them.

use super::error::DriveError;
use super::handle::Drive;
use crate::error::Error;
use crate::secrets::{PasswordSource, Question, SecretRole, Secrets, Subject, Wanted};
use crate::shown::name_of;
use keyway_secret::SecretBytes;
use keyway_sed::Authority;
use keyway_sed::password::{PIN_MAX, PasswordHash};
use keyway_sed::transport::Identity;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Longest file that a PSID is looked for in, in bytes.
const PSID_FILE_LIMIT: usize = 256;

/// Where a drive's passwords come from.
pub struct DriveSecrets<'a> {
    /// The password of whoever acts; when a drive is set up, the new one that unlocks it from day to day.
    pub own: PasswordSource,
    /// A password to be set; when a drive is set up without a recovery sheet, its owner's.
    pub new: PasswordSource,
    /// The secret on the drive's label.
    pub psid: Option<PsidSource>,
    /// How passwords become what a drive is told.
    pub hash: PasswordHash,
    /// Who is asked for what was not named.
    pub ask: &'a dyn Secrets,
    /// What stands on a recovery sheet, before and behind the owner's secret: a front's words.
    pub sheet: &'a dyn Fn(&SheetFacts<'_>) -> [String; 2],
}

/// The characters of a label's secret, or a file that holds them; `-` is standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PsidSource(pub OsString);

/// What a recovery sheet is about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SheetFacts<'a> {
    /// The drive's device or file.
    pub device: &'a Path,
    /// Its model, serial number and firmware.
    pub identity: &'a Identity,
    /// How passwords become what it is told.
    pub hash: PasswordHash,
    /// It belongs to its user alone: the owner can erase it, and not unlock it.
    pub single_user: bool,
}

impl<'a> DriveSecrets<'a> {
    /// Nothing was named: everything is asked for.
    pub fn asked(ask: &'a dyn Secrets) -> Self {
        let (own, new) = Default::default();
        Self { own, new, psid: None, hash: PasswordHash::default(), ask, sheet: &|_| Default::default() }
    }

    /// What the drive is told for somebody's password; for nobody's in particular where `who` is none.
    pub(super) fn pin(&self, drive: &Drive, who: Option<Authority>) -> Result<SecretBytes, Error> {
        self.derived(&self.own, Wanted::Password, drive, who)
    }

    /// The same for a password to be set.
    pub(super) fn new_pin(&self, drive: &Drive, whose: Authority) -> Result<SecretBytes, Error> {
        self.derived(&self.new, Wanted::NewPassword, drive, Some(whose))
    }

    pub(super) fn derived(
        &self,
        from: &PasswordSource,
        wanted: Wanted,
        drive: &Drive,
        who: Option<Authority>,
    ) -> Result<SecretBytes, Error> {
        let subject = match who {
            Some(who) => Subject::Drive(drive.path.clone(), who),
            // A drive counts wrong passwords: nobody is asked for another without knowing.
            None => Subject::Named(name_of(&drive.path)),
        };
        // A drive has no keyfiles.
        let role = if std::ptr::eq(from, &self.new) { SecretRole::NewOfDrive } else { SecretRole::Drive };
        let from = PasswordSource { role, ..from.clone() };
        let password = from.read(wanted, &subject, self.ask)?.password;
        self.hashed(&password, drive)
    }

    pub(super) fn hashed(&self, password: &[u8], drive: &Drive) -> Result<SecretBytes, Error> {
        Ok(self.hash.derive(password, &drive.identity().serial_field).map_err(DriveError::from)?)
    }

    /// Looks whether what was named is there, and can be what it is named as: before anybody is asked anything.
    ///
    /// # Errors
    /// It isn't, or can't be.
    pub fn check(&self) -> Result<(), Error> {
        self.own.check()?;
        self.new.check()?;
        match &self.psid {
            // That gives what it has once.
            Some(psid) if psid.0 != "-" => psid.read().map(drop),
            _ => Ok(()),
        }
    }

    /// The label's secret.
    pub(super) fn psid(&self, drive: &Drive) -> Result<SecretBytes, Error> {
        if let Some(psid) = &self.psid {
            return psid.read();
        }
        let subject = Subject::Volume(drive.path.clone());
        let asked = self.ask.answer(&Question::new(Wanted::Psid, &subject))?;
        bare(&asked.ok_or(DriveError::NoPsid)?)
    }
}

impl PsidSource {
    fn read(&self) -> Result<SecretBytes, Error> {
        let file = match &self.0 {
            dash if dash == OsStr::new("-") => PathBuf::from("/proc/self/fd/0"),
            path if Path::new(path).is_file() => PathBuf::from(path),
            // No label has these characters.
            path if path.as_bytes().iter().any(|byte| matches!(byte, b'.' | b'/')) => PathBuf::from(path),
            text => return bare(text.as_bytes()),
        };
        let open = File::open(&file).map_err(|e| Error::system("open", &file, e))?;
        let text = SecretBytes::read_from(open, PSID_FILE_LIMIT);
        bare(&text.map_err(|e| Error::system("read", &file, e))?)
    }
}

impl<'a> From<&'a SecretBytes> for DriveSecrets<'a> {
    /// This password wherever one is asked for.
    fn from(password: &'a SecretBytes) -> Self {
        Self::asked(password)
    }
}

/// Without what people write it in groups with.
fn bare(text: &[u8]) -> Result<SecretBytes, Error> {
    let mut bare = SecretBytes::zeroed(text.len());
    let mut len = 0;
    for byte in text.iter().filter(|b| !b.is_ascii_whitespace() && **b != b'-') {
        if let Some(place) = bare.get_mut(len) {
            *place = *byte;
            len += 1;
        }
    }
    bare.truncate(len);
    if len == PIN_MAX { Ok(bare) } else { Err(DriveError::PsidLength(len).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_psid_is_read_in_groups_and_has_a_length() {
        let label = bare(b"ABCD EFGH-1234 ABCD EFGH-1234 ABCDEFGH\n").expect("a label");
        assert_eq!(&label[..], b"ABCDEFGH1234ABCDEFGH1234ABCDEFGH");
        for wrong in [&[b'x'; 33][..], &[b'x'; 31], b"123", b" "] {
            assert!(matches!(bare(wrong), Err(Error::Drive(DriveError::PsidLength(_)))));
        }
        let given = |text: &str| PsidSource(text.into()).read();
        assert!(matches!(given("ABCD-EFGH"), Err(Error::Drive(DriveError::PsidLength(8)))));
        for file in ["nofile.txt", "/nowhere/psid"] {
            assert!(matches!(given(file), Err(Error::System { .. })), "{file}");
        }
    }
}
