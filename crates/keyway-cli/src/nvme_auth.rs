//! What hosts must prove before an NVMe/TCP controller serves them.

use crate::failure::Failure;
use crate::volume::about;
use keyway::session::SessionError;
use keyway_attach::nvme_tcp::Credentials;
use keyway_secret::SecretBytes;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file of secrets that is read, in bytes: two of the longest, with room.
const LIMIT: usize = 1024;

/// The secrets of NVMe's in-band authentication.
#[derive(clap::Args, Debug, Clone, Default)]
pub(crate) struct AuthArgs {
    /// Let in only hosts that prove to know a secret (DH-HMAC-CHAP), and listen on other addresses than loopback if
    /// told to. FILE has it on its first line, as `nvme gen-dhchap-key` writes it; on its second, if there is one, what
    /// this side proves to a host that asks. `-` is standard input. Nothing is encrypted on the way
    #[arg(long, value_name = "FILE", requires = "nvme_tcp")]
    nvme_secret: Option<PathBuf>,
}

impl AuthArgs {
    /// Whether there are any.
    pub(crate) const fn is_given(&self) -> bool {
        self.nvme_secret.is_some()
    }

    /// Whether they come from standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.nvme_secret.as_deref() == Some(Path::new("-"))
    }

    /// Reads them, as they are written; that they can be understood has been tried.
    pub(crate) fn read(&self) -> Result<Option<SecretBytes>, Failure> {
        let Some(path) = &self.nvme_secret else { return Ok(None) };
        let failed = |e| Failure::io("read", path, &e);
        let text = if self.is_stdin() {
            SecretBytes::read_from(io::stdin().lock(), LIMIT).map_err(failed)?
        } else {
            let file = File::open(path).map_err(|e| Failure::io("open", path, &e))?;
            SecretBytes::read_from(file, LIMIT).map_err(failed)?
        };
        let fault = |e| about(path, SessionError::HostSecret(e));
        Credentials::parse(&text).map_err(fault)?;
        Ok(Some(text))
    }

    /// The same, understood.
    pub(crate) fn credentials(&self) -> Result<Option<Arc<Credentials>>, Failure> {
        let parse = |text: SecretBytes| Credentials::parse(&text).map_err(SessionError::HostSecret);
        Ok(self.read()?.map(parse).transpose()?.map(Arc::new))
    }
}
