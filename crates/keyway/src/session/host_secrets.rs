//! What hosts must prove before an NVMe/TCP controller serves them.

use super::error::SessionError;
use crate::error::Error;
use keyway_attach::nvme_tcp::Credentials;
use keyway_secret::SecretBytes;
use std::fs::File;
use std::io;
use std::path::Path;

/// Longest file of secrets that is read, in bytes: two of the longest, with room.
const LIMIT: usize = 1024;

/// Reads what hosts must prove, as it is written in a file (`-` is standard input), and tries whether it can be
/// understood.
///
/// # Errors
/// It can't be read, or is no such secret.
pub fn read_host_secrets(path: &Path) -> Result<SecretBytes, Error> {
    let failed = |e| Error::system("read", path, e);
    let text = if path == Path::new("-") {
        SecretBytes::read_from(io::stdin().lock(), LIMIT).map_err(failed)?
    } else {
        let file = File::open(path).map_err(|e| Error::system("open", path, e))?;
        SecretBytes::read_from(file, LIMIT).map_err(failed)?
    };
    Credentials::parse(&text).map_err(|e| Error::from(SessionError::HostSecret(e)).at(path))?;
    Ok(text)
}
