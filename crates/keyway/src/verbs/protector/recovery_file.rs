//! Files that protectors leave: a recovery password in words, a startup key.

use crate::failure::Failure;
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{Guid, RecoveryPassword, StartupKey};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A new file that is removed again unless it is kept.
pub(super) struct NewFile {
    path: PathBuf,
    kept: bool,
}

impl NewFile {
    /// Writes it, for its owner alone, and puts it on the medium.
    fn write(path: PathBuf, bytes: &[&[u8]]) -> Result<Self, Failure> {
        let failed = |e: std::io::Error| Failure::io("write", &path, &e);
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let written = bytes.iter().try_for_each(|part| file.write_all(part)).and_then(|()| file.sync_all());
        let result = written.map_err(failed);
        let new = Self { path, kept: false };
        result.map(|()| new)
    }

    /// A recovery password with the words that Windows saves beside it.
    pub(super) fn recovery(path: &Path, id: Guid, password: &RecoveryPassword) -> Result<Self, Failure> {
        let id = id.to_string().to_uppercase();
        let before = format!(
            "BitLocker Drive Encryption recovery key\r\n\r\n\
             To verify that this is the correct recovery key, compare the start of the following identifier with \
             the identifier value displayed on your PC.\r\n\r\nIdentifier:\r\n\r\n\t{id}\r\n\r\n\
             If the above identifier matches the one displayed by your PC, then use the following key to unlock \
             your drive.\r\n\r\nRecovery Key:\r\n\r\n\t"
        );
        Self::write(path.to_owned(), &[before.as_bytes(), &password.to_text(), b"\r\n"])
    }

    /// A startup key, under the name that Windows looks for.
    pub(super) fn startup_key(folder: &Path, key: &StartupKey) -> Result<Self, Failure> {
        let file: SecretBytes = key.to_bytes();
        Self::write(folder.join(key.file_name()), &[&file])
    }

    /// The file stays.
    pub(super) fn keep(mut self) -> PathBuf {
        self.kept = true;
        if let Some(folder) = self.path.parent().filter(|f| !f.as_os_str().is_empty()) {
            // Its name is on the medium once its folder is; it can be made again, so no error.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        std::mem::take(&mut self.path)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.kept {
            // The error that brought us here matters more than this one.
            let _ = std::fs::remove_file(&self.path);
        }
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
        drop(NewFile::recovery(&path, id, &password).expect("written"));
        assert!(!path.exists());
        NewFile::recovery(&path, id, &password).expect("written").keep();
        let text = std::fs::read(&path).expect("kept");
        assert!(text.windows(55).any(|w| password.to_text().same_as(w)));
        assert!(NewFile::recovery(&path, id, &password).is_err());
        assert_eq!(std::fs::read(&path).expect("untouched"), text);
    }
}
