//! What a process gives up once a volume is open in it: from then on it works on what others wrote, and has nothing that
//! would be worth taking over but that volume.

use crate::error::Error;
use keyway_attach::AttachError;
use keyway_error::Advice;
use keyway_sys::sandbox::{Role, enter_role, missing_layers};
use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// That this process gives everything up but the open volume, and standard input and output: paths, sockets, other
/// programs. What is to be used later is opened before.
///
/// It holds for the whole process and for good, so nothing but a front may ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    required: bool,
    folder: Option<PathBuf>,
}

impl Sandbox {
    /// As much as the kernel offers; all of it, or an error, where it is `required`.
    pub const fn new(required: bool) -> Self {
        Self { required, folder: None }
    }

    /// Files can still be made in that folder, if there is one.
    #[must_use]
    pub fn copying_to(self, folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_owned), ..self }
    }

    /// The layers that this kernel lacks.
    pub fn missing() -> Vec<&'static str> {
        missing_layers().into_iter().map(|layer| layer.name()).collect()
    }

    /// Refuses where it is required and this kernel lacks a layer.
    ///
    /// # Errors
    /// [`AttachError::Missing`] with the layers.
    pub fn check(&self) -> Result<(), Error> {
        let missing = Self::missing();
        if !self.required || missing.is_empty() {
            return Ok(());
        }
        Err(AttachError::Missing { what: missing.join(", "), advice: Advice::NewerKernelForSandbox }.into())
    }

    /// What is needed for it later, while there are paths.
    pub(crate) fn prepare(&self) -> Result<Prepared, Error> {
        self.check()?;
        let open = |path: &Path| {
            let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY;
            let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
            opened.map_err(|e| Error::system("open", path, e))
        };
        Ok(Prepared { folder: self.folder.as_deref().map(open).transpose()? })
    }
}

/// A sandbox that can be entered.
pub(crate) struct Prepared {
    folder: Option<File>,
}

impl Prepared {
    /// Enters it.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        let folder = self.folder.as_ref().map(AsFd::as_fd);
        let role = if folder.is_some() { Role::CopyOut } else { Role::Volume };
        enter_role(role, folder).map_err(|e| AttachError::io("enter the sandbox", e).into())
    }
}
