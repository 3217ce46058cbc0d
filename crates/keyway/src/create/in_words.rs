//! What is told of a new volume, for people: a name and a value in each row.

use super::created::{Created, CreatedDetails};
use crate::shown::shown;
use keyway_store::size::words;
use std::path::Path;

impl Created {
    /// What it is like, and what its keeper must keep. Its recovery password is among it, where it is in no file.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = match &self.details {
            CreatedDetails::BitLocker { method, usable_bytes, .. } => {
                vec![
                    ("  encryption method", method.windows_name().to_owned()),
                    ("  room", words(*usable_bytes)),
                ]
            }
            CreatedDetails::VeraCrypt { .. } => vec![
                ("  cipher", format!("{} in XTS mode", self.cipher)),
                ("  key derivation", self.hash.to_string()),
                ("  room", words(self.data_bytes)),
            ],
        };
        rows.push(("  file system", self.filesystem.unwrap_or("none yet").to_owned()));
        match &self.details {
            CreatedDetails::BitLocker {
                recovery_password,
                recovery_password_id: id,
                recovery_file,
                startup_key,
                ..
            } => {
                rows.extend(id.map(|id| ("  recovery password's identifier", id.to_string())));
                let digits = recovery_password.as_ref().map(|password| password.to_text());
                let digits = digits.as_ref().map(|digits| String::from_utf8_lossy(digits));
                rows.extend(key_rows(digits.as_deref(), recovery_file.as_deref(), startup_key.as_deref()));
            }
            CreatedDetails::VeraCrypt { pim, .. } => {
                rows.extend(pim.map(|pim| ("  PIM", format!("{pim}; you need it to open the volume"))));
            }
        }
        rows
    }
}

/// What a new volume's keeper is told of its keys: the recovery password or the file it is in, and the startup key's file.
pub fn key_rows(
    password: Option<&str>,
    file: Option<&Path>,
    startup_key: Option<&Path>,
) -> impl Iterator<Item = (&'static str, String)> {
    let advice = password.map(|_| "write it down, and keep it apart from the drive".to_owned());
    let password = password.map(str::to_owned);
    let file = file.map(|file| format!("in {}; keep it elsewhere", shown(file)));
    let startup_key = startup_key.map(|file| format!("in {}", shown(file)));
    let password = [("  recovery password", password), ("", advice)];
    let files = [("  recovery password", file), ("  startup key", startup_key)];
    [password, files].into_iter().flatten().filter_map(|(name, value)| Some((name, value?)))
}
