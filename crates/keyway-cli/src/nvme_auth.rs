//! What hosts must prove before an NVMe/TCP controller serves them.

use crate::failure::Failure;
use keyway::session::read_host_secrets;
use keyway_secret::SecretBytes;
use std::path::{Path, PathBuf};

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
        Ok(self.nvme_secret.as_deref().map(read_host_secrets).transpose()?)
    }
}
