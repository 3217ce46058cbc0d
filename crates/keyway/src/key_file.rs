//! Files that keys are written to: a recovery password in words, a startup key, a drive's recovery sheet.

use crate::error::{Error, Misuse};
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{Guid, RecoveryPassword, StartupKey};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A new file that is removed again unless it is kept.
pub struct NewKeyFile {
    path: PathBuf,
    file: File,
    kept: bool,
}

/// Refuses a name that is taken, before anyone types a password for what would go there.
pub(crate) fn must_be_new(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(_) => Err(Error::system("make", path, Errno::EXIST.into())),
        Err(_) => must_take_files(path),
    }
}

/// Refuses a new file among the devices: whoever names one that is none has mistyped it, and a file there is in memory.
pub(crate) fn must_be_no_missing_device(path: &Path) -> Result<(), Error> {
    let folder = std::path::absolute(path).ok().and_then(|path| path.parent()?.canonicalize().ok());
    let is_among_devices = |folder: &Path| folder.starts_with("/dev") && !folder.starts_with("/dev/shm");
    if folder.is_some_and(|folder| is_among_devices(&folder)) && !path.exists() {
        return Err(Error::system("open", path, Errno::NOENT.into()));
    }
    Ok(())
}

/// Refuses a new file in a folder that isn't there, and one among the devices.
pub(crate) fn must_have_folder(path: &Path) -> Result<(), Error> {
    must_be_no_missing_device(path)?;
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => must_be_folder(folder),
        None => Ok(()),
    }
}

/// Refuses a new file where this user can't make one.
pub(crate) fn must_take_files(path: &Path) -> Result<(), Error> {
    if path.as_os_str() == "-" {
        return Err(Misuse::NotStandardOutput.into());
    }
    must_have_folder(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let how = Access::WRITE_OK | Access::EXEC_OK;
    // As whoever makes it: a program may have more rights than who started it.
    accessat(CWD, folder, how, AtFlags::EACCESS).map_err(|e| Error::system("make", path, e.into()))
}

/// Refuses what is no folder, where something is to be put into one.
pub(crate) fn must_be_folder(folder: &Path) -> Result<(), Error> {
    let failed = |e| Error::system("open", folder, e);
    match folder.metadata().map_err(failed)?.is_dir() {
        true => Ok(()),
        false => Err(failed(Errno::NOTDIR.into())),
    }
}

/// The same, and one in which this user can't make any: before anyone types a password for what would go there.
pub(crate) fn must_take_files_in(folder: &Path) -> Result<(), Error> {
    must_be_folder(folder)?;
    let how = Access::WRITE_OK | Access::EXEC_OK;
    accessat(CWD, folder, how, AtFlags::EACCESS).map_err(|e| Error::system("write to", folder, e.into()))
}

impl NewKeyFile {
    /// Makes it, empty, for its owner alone.
    ///
    /// # Errors
    /// It exists, or can't be made.
    pub fn claim(path: PathBuf) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|e| Error::system("make", &path, e))?;
        Ok(Self { path, file, kept: false })
    }

    /// The file of a startup key, under the name that Windows looks for.
    ///
    /// # Errors
    /// As [`NewKeyFile::claim`].
    pub fn claim_startup_key(folder: &Path, key: &StartupKey) -> Result<Self, Error> {
        Self::claim(folder.join(key.file_name()))
    }

    /// Writes a recovery password with the words that Windows saves beside it.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write_recovery(&mut self, id: Guid, password: &RecoveryPassword) -> Result<(), Error> {
        let id = id.to_string().to_uppercase();
        let before = format!(
            "BitLocker Drive Encryption recovery key\r\n\r\n\
             To verify that this is the correct recovery key, compare the start of the following identifier with \
             the identifier value displayed on your PC.\r\n\r\nIdentifier:\r\n\r\n\t{id}\r\n\r\n\
             If the above identifier matches the one displayed by your PC, then use the following key to unlock \
             your drive.\r\n\r\nRecovery Key:\r\n\r\n\t"
        );
        self.write(&[before.as_bytes(), &password.to_text(), b"\r\n"])
    }

    /// Writes a startup key.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write_startup_key(&mut self, key: &StartupKey) -> Result<(), Error> {
        let bytes: SecretBytes = key.to_bytes();
        self.write(&[&bytes])
    }

    /// Writes, and puts the file and its name on the medium: what opens only with it comes after.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let written = parts.iter().try_for_each(|part| self.file.write_all(part));
        let written = written.and_then(|()| self.file.sync_all()).and_then(|()| sync_folder(&self.path));
        written.map_err(|e| Error::system("write", &self.path, e))
    }

    /// The file stays.
    pub fn keep(mut self) -> PathBuf {
        self.kept = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for NewKeyFile {
    fn drop(&mut self) {
        if !self.kept {
            // The error that brought us here matters more than this one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Puts a file's name on the medium. Some file systems (FAT on some kernels, FUSE) can't sync a
/// folder and say so; nothing more can be done there.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        // A folder may be written to and not read.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_gone_and_what_exists_stays() {
        let dir = tempfile::tempdir().expect("temp");
        let path = dir.path().join("recovery.txt");
        let password = RecoveryPassword::random().expect("random");
        let id = Guid::random().expect("random");
        let written = || {
            let mut file = NewKeyFile::claim(path.clone()).expect("made");
            file.write_recovery(id, &password).expect("written");
            file
        };
        drop(written());
        assert!(!path.exists());
        written().keep();
        let text = std::fs::read(&path).expect("kept");
        assert!(text.windows(55).any(|w| password.to_text().same_as(w)));
        assert!(NewKeyFile::claim(path.clone()).is_err());
        assert_eq!(std::fs::read(&path).expect("untouched"), text);
    }
}
