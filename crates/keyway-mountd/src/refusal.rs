//! What is refused, and what failed: a name on the bus for each.

use crate::NAME;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use zbus::message::{Header, Message};
use zbus::names::ErrorName;

/// Why something was not done. The text says it to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Which.
    pub kind: Kind,
    /// In words.
    pub text: String,
}

/// The kinds of them; each is the last word of its name on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The descriptor is neither a regular file nor a block device.
    NotAFileOrDevice,
    /// It only names a file (`O_PATH`), and gives no right to it.
    NotOpened,
    /// It is sealed memory.
    Sealed,
    /// It was opened for writing only.
    NotReadable,
    /// No loop device has sectors of that size.
    BadSectors,
    /// It does not answer, or its bytes can't be read.
    Unreadable,
    /// No file system that is mounted for users is on it.
    NoFileSystem,
    /// The kernel has no driver for it.
    NoDriver,
    /// The device is in use.
    InUse,
    /// polkit says no, or could not be asked.
    NotAuthorized,
    /// The user has too much of it already.
    TooMany,
    /// Nothing of that name was mounted here.
    NotMounted,
    /// Somebody uses what is mounted.
    Busy,
    /// The system said no.
    Failed,
}

impl Kind {
    /// The error, in words.
    pub fn says(self, text: impl Into<String>) -> Refusal {
        Refusal { kind: self, text: text.into() }
    }

    /// What the system said to that.
    pub fn of(self, doing: &str, e: impl Into<io::Error>) -> Refusal {
        self.says(format!("could not {doing}: {}", e.into()))
    }

    fn on_the_bus(self) -> String {
        format!("{NAME}.Error.{self:?}")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

impl From<zbus::Error> for Refusal {
    fn from(e: zbus::Error) -> Self {
        Kind::Failed.says(format!("the bus failed: {e}"))
    }
}

impl zbus::DBusError for Refusal {
    fn create_reply(&self, call: &Header<'_>) -> zbus::Result<Message> {
        Message::error(call, self.name()).build(&(self.text.as_str(),))
    }

    fn name(&self) -> ErrorName<'_> {
        // A kind is a word of letters.
        ErrorName::from_string_unchecked(self.kind.on_the_bus())
    }

    fn description(&self) -> Option<&str> {
        Some(&self.text)
    }
}
