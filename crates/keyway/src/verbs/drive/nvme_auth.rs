//! What hosts must prove before an NVMe/TCP controller serves them.

use crate::failure::{Exit, Failure};
use keyway_attach::nvme_tcp::{AuthSecret, Credentials};
use keyway_secret::SecretBytes;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// Longest file of secrets that is read, in bytes: two of the longest, with room.
const LIMIT: usize = 1024;

/// The secrets of NVMe's in-band authentication.
#[derive(clap::Args, Debug, Clone, Default)]
pub(super) struct AuthArgs {
    /// Let in only hosts that prove to know a secret (DH-HMAC-CHAP), and listen on other addresses than loopback if
    /// told to. FILE has it on its first line, as `nvme gen-dhchap-key` writes it; on its second, if there is one, what
    /// this side proves to a host that asks. Nothing is encrypted on the way
    #[arg(long, value_name = "FILE", requires = "nvme_tcp")]
    nvme_secret: Option<PathBuf>,
}

impl AuthArgs {
    /// Reads them.
    pub(super) fn read(&self) -> Result<Option<Arc<Credentials>>, Failure> {
        let Some(path) = &self.nvme_secret else { return Ok(None) };
        let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
        let text = SecretBytes::read_from(file, LIMIT).map_err(|e| Failure::io("read", path, &e))?;
        let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let parse = |line| {
            let fault = |e: keyway_attach::nvme_tcp::SecretFault| {
                Failure::told(Exit::Usage as u8, &format!("{}: {e}", path.display()))
            };
            AuthSecret::parse(line).map_err(fault)
        };
        let host = parse(lines.next().unwrap_or_default())?;
        let controller = lines.next().map(parse).transpose()?;
        Ok(Some(Arc::new(Credentials { host, controller })))
    }
}
