//! The file of secrets that hosts prove to an NVMe/TCP controller.

use crate::nvme_tcp::{AuthSecret, Credentials, SecretFault};

impl Credentials {
    /// Reads the secret on the first line, as `nvme gen-dhchap-key` writes it; on the second, if there is one, what this
    /// side proves to a host that asks.
    ///
    /// # Errors
    /// A line is no such secret.
    pub fn parse(text: &[u8]) -> Result<Self, SecretFault> {
        let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let host = AuthSecret::parse(lines.next().unwrap_or_default())?;
        let controller = lines.next().map(AuthSecret::parse).transpose()?;
        Ok(Self { host, controller })
    }
}
