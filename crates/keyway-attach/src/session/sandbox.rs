//! How a process that serves is confined: what it needs for that, and what is told of it.

use keyway_sys::sandbox::{Role, missing_layers};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// How the process that serves is confined, and which program is its warden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The warden's file.
    pub program: PathBuf,
    /// What `ps` calls it.
    pub name: OsString,
    /// How it knows that it is to call [`warden`](super::warden).
    pub arguments: Vec<OsString>,
    /// Nothing is served where this kernel lacks a layer.
    pub required: bool,
}

/// The sandbox of a process that serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxState {
    /// What the process is left with: "fuse", "network" or "vhost-user".
    pub role: String,
    /// The layers that this kernel lacks.
    pub missing: Vec<String>,
}

impl SandboxState {
    /// What it will be in that role; `None` without one.
    pub(super) fn of(role: Option<Role>) -> Option<Self> {
        let missing = missing_layers().into_iter().map(|layer| layer.name().to_owned()).collect();
        role.map(|role| Self { role: role.name().to_owned(), missing })
    }
}
