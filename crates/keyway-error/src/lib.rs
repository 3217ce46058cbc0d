//! What went wrong, as data: [`Kind`], [`Fault`] and [`Advice`].
//!
//! An error of Keyway's crates says in its text *what* happened and *where*. [`Explain`] says the rest: which
//! kind of failure it is, whose fault, and what helps. A front turns that into sentences, exit codes or buttons;
//! nobody parses a text.
//!
//! ```
//! use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
//!
//! #[derive(Debug)]
//! struct Taken(String);
//! impl std::fmt::Display for Taken {
//!     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
//!         write!(f, "{} exists already", self.0)
//!     }
//! }
//! impl std::error::Error for Taken {}
//! impl Explain for Taken {
//!     fn explain(&self) -> Meaning {
//!         Meaning::new(Kind::Exists, Fault::State).advise(Advice::ChooseAnotherName)
//!     }
//! }
//!
//! assert_eq!(Taken("a.hc".to_owned()).kind().word(), "exists");
//! ```

#![forbid(unsafe_code)]

mod advice;
mod enum_table;
mod fault;
mod kind;
pub mod path_text;
mod system;
mod table;

pub use advice::Advice;
pub use fault::Fault;
pub use kind::Kind;
pub use system::{carried_errno, carry, ended_early, explain_io};

use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};

/// What an error means to those who have to act on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Meaning {
    /// Which kind of failure.
    pub kind: Kind,
    /// Whose fault.
    pub fault: Fault,
    /// What helps, the first thing first; empty where nothing does.
    pub advice: Vec<Advice>,
    /// The file or device that the error is about, where it is one; the error's text names it.
    #[serde(default, with = "path_text")]
    pub path: Option<PathBuf>,
}

impl Meaning {
    /// A failure for which no advice is known yet.
    pub const fn new(kind: Kind, fault: Fault) -> Self {
        Self { kind, fault, advice: Vec::new(), path: None }
    }

    /// A failure of which no more is known than whose fault it is.
    pub const fn of(fault: Fault) -> Self {
        Self::new(fault.kind(), fault)
    }

    /// The same with one more step to take.
    #[must_use]
    pub fn advise(mut self, step: Advice) -> Self {
        self.advice.push(step);
        self
    }

    /// The same with more steps to take.
    #[must_use]
    pub fn advise_each(mut self, steps: impl IntoIterator<Item = Advice>) -> Self {
        self.advice.extend(steps);
        self
    }

    /// The same about this file or device.
    #[must_use]
    pub fn about(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        if self.kind == Kind::NotFound && self.advice == [Advice::CheckPath] && is_among_devices(&path) {
            self.advice.push(Advice::ListDevices);
        }
        self.path = Some(path);
        self
    }
}

/// Whether what has that name can only be a device: nobody makes files there.
fn is_among_devices(path: &Path) -> bool {
    path.starts_with("/dev") && !["/dev/shm", "/dev/fd"].iter().any(|other| path.starts_with(other))
}

impl From<(Kind, Fault)> for Meaning {
    fn from((kind, fault): (Kind, Fault)) -> Self {
        Self::new(kind, fault)
    }
}

impl From<(Kind, Fault, Advice)> for Meaning {
    fn from((kind, fault, step): (Kind, Fault, Advice)) -> Self {
        Self::new(kind, fault).advise(step)
    }
}

/// An error that knows its kind, whose fault it is and what helps.
pub trait Explain: Error {
    /// All three at once.
    fn explain(&self) -> Meaning;

    /// Which kind of failure it is.
    fn kind(&self) -> Kind {
        self.explain().kind
    }

    /// Whose fault it is.
    fn fault(&self) -> Fault {
        self.explain().fault
    }

    /// What helps, the first thing first.
    fn advice(&self) -> Vec<Advice> {
        self.explain().advice
    }

    /// The file or device that it is about, where its text names one.
    fn path(&self) -> Option<PathBuf> {
        self.explain().path
    }
}

/// What can't go wrong has nothing to explain.
impl Explain for Infallible {
    fn explain(&self) -> Meaning {
        match *self {}
    }
}
