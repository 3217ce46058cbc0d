//! What a process gives up before it works on what others wrote: it has nothing then that would be worth taking over but that
//! volume.

use crate::error::Error;
use keyway_attach::AttachError;
use keyway_error::Advice;
use keyway_sys::sandbox::{Role, enter_role, missing_layers};
use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// That this process gives everything up but the open volume, and standard input and output: paths, sockets, other
/// programs. What is to be used later is opened before.
///
/// It holds for the whole process and for good, so nothing but a front may ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    required: bool,
    left: Vec<PathBuf>,
    reads: bool,
}

impl Sandbox {
    /// As much as the kernel offers; all of it, or an error, where it is `required`.
    pub const fn new(required: bool) -> Self {
        Self { required, left: Vec::new(), reads: false }
    }

    /// Files can still be made in that folder, if there is one.
    #[must_use]
    pub fn copying_to(self, folder: Option<&Path>) -> Self {
        Self { left: folder.into_iter().map(Path::to_owned).collect(), reads: false, ..self }
    }

    /// These files, and what is in these folders, can still be read.
    #[must_use]
    pub fn copying_from(self, paths: &[PathBuf]) -> Self {
        Self { left: paths.to_vec(), reads: true, ..self }
    }

    /// Whether all of it is required.
    pub(crate) const fn is_required(&self) -> bool {
        self.required
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
        let open = |path: &PathBuf| {
            let flags = rustix::fs::OFlags::PATH;
            let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
            opened.map_err(|e| Error::system("open", path, e))
        };
        let left = self.left.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Prepared { left, reads: self.reads, entered: AtomicBool::new(false) })
    }
}

/// A sandbox that can be entered.
pub(crate) struct Prepared {
    left: Vec<File>,
    reads: bool,
    entered: AtomicBool,
}

impl Prepared {
    /// Enters it, unless that was done.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        if self.entered.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // A key may be derived in it.
        keyway_volume::look_ahead();
        let left: Vec<_> = self.left.iter().map(AsFd::as_fd).collect();
        let role = match (left.is_empty(), self.reads) {
            (true, _) => Role::Volume,
            (false, true) => Role::CopyIn,
            (false, false) => Role::CopyOut,
        };
        enter_role(role, &left).map_err(|e| AttachError::io("enter the sandbox", e).into())
    }
}
