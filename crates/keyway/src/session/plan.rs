//! Which volume is to be served, and how: said before it is.

use super::program::ServingProgram;
use crate::error::Error;
use crate::unlock::{Key, UnlockArguments};
use keyway_attach::nvme_tcp::Credentials;
use keyway_attach::session::{AttachPlan, Attachment, MountPlan, NbdAddress, Reason, Sandbox};
use keyway_attach::{AttachError, LocalUsers, path_text};
use keyway_engine::Access;
use keyway_error::Advice;
use keyway_secret::SecretBytes;
use keyway_volume::Secrets as VeraCryptSecret;
use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Which volume is to be served, and how. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionPlan {
    /// The volume's file or device.
    #[serde(with = "path_text")]
    pub volume: PathBuf,
    /// What it is looked for as.
    pub arguments: UnlockArguments,
    /// The way to the user.
    pub way: AttachChoice,
    /// Another way, where the first turns out not to be one for this volume: the kernel says so after it is unlocked.
    pub otherwise: Option<AttachChoice>,
    /// Where the file system inside is mounted.
    #[serde(with = "path_text")]
    pub mount: Option<PathBuf>,
    /// With these further options, as `mount -o` takes them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mount_options: String,
    /// No writes.
    pub read_only: bool,
    /// Discards reach the medium.
    pub discards: bool,
    /// The loop device goes through the page cache.
    pub cache: bool,
    /// It closes by itself when nobody has used it for so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_when_idle: Option<Duration>,
    /// Which users of this machine may connect to a port.
    pub users: LocalUsers,
    /// Nothing is served where the kernel lacks a layer of the sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_sandbox: bool,
    /// The options that were given to open it, to be typed again.
    #[serde(skip)]
    pub given: String,
    /// By which number the process that serves finds what the one that starts it holds of the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<RawFd>,
    /// Who confines the process that serves; nobody does, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<ServingProgram>,
}

/// A way to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttachChoice {
    /// The way.
    pub attachment: Attachment,
    /// Why this one, where nobody asked for it; `status` tells it later.
    pub reasons: Vec<Reason>,
}

impl From<Attachment> for AttachChoice {
    fn from(attachment: Attachment) -> Self {
        Self { attachment, reasons: Vec::new() }
    }
}

/// What opens a volume that is to be served, and what its hosts must prove.
#[non_exhaustive]
pub struct SessionSecrets {
    /// The volume's key.
    pub key: Key,
    /// The hidden volume's that must not be damaged.
    pub protect: Option<VeraCryptSecret>,
    /// What hosts must prove that connect over NVMe/TCP, as it is written.
    pub hosts: Option<SecretBytes>,
}

impl From<Key> for SessionSecrets {
    fn from(key: Key) -> Self {
        Self { key, protect: None, hosts: None }
    }
}

impl SessionPlan {
    /// The volume, for reading and writing, reached in this way. Paths become absolute: whoever serves it may have
    /// another working folder.
    ///
    /// # Errors
    /// There is no working folder.
    pub fn new(
        volume: &Path,
        arguments: UnlockArguments,
        way: impl Into<AttachChoice>,
    ) -> Result<Self, Error> {
        let system_header = arguments.system_header.as_deref().map(absolute).transpose()?;
        let mut way = way.into();
        way.attachment = match way.attachment {
            Attachment::VhostUser(Some(path)) => Attachment::VhostUser(Some(absolute(&path)?)),
            Attachment::Nbd(address) => Attachment::Nbd(absolute_address(address)?),
            other => other,
        };
        Ok(Self {
            volume: absolute(volume)?,
            arguments: UnlockArguments { system_header, ..arguments },
            way,
            otherwise: None,
            mount: None,
            mount_options: String::new(),
            read_only: false,
            discards: false,
            cache: false,
            close_when_idle: None,
            users: LocalUsers::Own,
            require_sandbox: false,
            given: String::new(),
            held: None,
            program: None,
        })
    }

    /// The same, served by that program: confined, if it says how.
    #[must_use]
    pub fn served_by(self, program: &ServingProgram) -> Self {
        Self { program: Some(program.clone()), ..self }
    }

    /// How the process that serves is confined.
    ///
    /// # Errors
    /// It is not, and must be.
    pub(super) fn sandbox(&self) -> Result<Option<Sandbox>, AttachError> {
        match self.program.as_ref().and_then(|program| program.confining(self.require_sandbox)) {
            Some(sandbox) => Ok(Some(sandbox)),
            None if self.require_sandbox => Err(AttachError::Missing {
                what: "a program that confines the one that serves".into(),
                advice: Advice::NewerKernelForSandbox,
            }),
            None => Ok(None),
        }
    }

    pub(super) fn access(&self) -> Access {
        if self.read_only { Access::ReadOnly } else { Access::ReadWrite }
    }

    /// What the attachment is told.
    pub(super) fn attach(
        &self,
        way: &AttachChoice,
        details: serde_json::Value,
        credentials: Option<Arc<Credentials>>,
        sandbox: Option<Sandbox>,
    ) -> AttachPlan {
        AttachPlan {
            credentials,
            sandbox,
            users: self.users,
            cache: self.cache,
            close_when_idle: self.close_when_idle,
            volume: self.volume.clone(),
            attachment: way.attachment.clone(),
            reasons: way.reasons.clone(),
            mount: self.mount.clone().map(|at| MountPlan {
                at,
                filesystem: None,
                options: self.mount_options.clone(),
                ends_it: true,
            }),
            details,
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|e| Error::system("find", path, e))
}

fn absolute_address(address: NbdAddress) -> Result<NbdAddress, Error> {
    Ok(match address {
        NbdAddress::Unix(path) => NbdAddress::Unix(absolute(&path)?),
        NbdAddress::Tls { at, certificates } => {
            NbdAddress::Tls { at: Box::new(absolute_address(*at)?), certificates: absolute(&certificates)? }
        }
        other => other,
    })
}
