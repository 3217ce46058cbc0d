//! The program that serves volumes in processes of its own.

use keyway_attach::path_text;
use keyway_attach::session::Sandbox;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// Which program serves: it calls [`serve_as_asked`](super::serve_as_asked) when it is started so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServingProgram {
    /// Its file.
    #[serde(with = "path_text")]
    pub program: PathBuf,
    /// What `ps` calls it.
    pub name: OsString,
    /// How it knows that it is to serve. Never a secret.
    pub arguments: Vec<OsString>,
    /// By which argument more it knows that it is to call [`warden`](super::warden) instead: one that serves is confined then,
    /// and starts it.
    pub warden: Option<OsString>,
}

impl ServingProgram {
    /// The program that runs now, by whatever path, with one argument.
    pub fn this(name: impl Into<OsString>, argument: impl Into<OsString>) -> Self {
        Self {
            program: "/proc/self/exe".into(),
            name: name.into(),
            arguments: vec![argument.into()],
            warden: None,
        }
    }

    /// The same, confined: with that argument more it calls [`warden`](super::warden).
    #[must_use]
    pub fn confined_by(self, argument: impl Into<OsString>) -> Self {
        Self { warden: Some(argument.into()), ..self }
    }

    /// How it confines another process; `None` where it does not.
    pub(crate) fn confining(&self, required: bool) -> Option<Sandbox> {
        let arguments = self.arguments.iter().chain([self.warden.as_ref()?]).cloned().collect();
        Some(Sandbox { program: self.program.clone(), name: self.name.clone(), arguments, required })
    }
}
