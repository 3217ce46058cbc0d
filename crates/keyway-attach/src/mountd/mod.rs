//! The helper on the system bus, `keyway-mountd`, asked by the process that serves a volume: it hands a descriptor of the plain
//! file over, and the helper mounts what is in it for this user, by the kernel's own driver.
//!
//! The connection is kept for as long as it is mounted: when it goes, because this process ended in whatever way, the helper takes
//! everything down. What is spoken on it is so little that this process gains no library for it: a [`message`] and its answer.

mod bus;
mod message;

pub use message::{Answer, parse};

use crate::AttachError;
use bus::Bus;
use message::{Argument, Call};
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The helper's name on the bus, that of its interface, and its object.
const NAME: &str = "org.keyway.Mount1";
const PATH: &str = "/org/keyway/Mount1";
/// An administrator may be asked for a password meanwhile.
const MOUNTING: Duration = Duration::from_secs(300);
/// What was written last is on its way to the medium.
const UNMOUNTING: Duration = Duration::from_secs(300);
const BUS_ANSWERS: Duration = Duration::from_secs(10);

/// What the helper mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    pub(crate) folder: PathBuf,
    pub(crate) filesystem: String,
    pub(crate) read_only: bool,
    /// It was not left in order, and is read-only for that.
    pub(crate) unclean: bool,
}

/// Why it mounted nothing.
#[derive(Debug)]
pub(crate) struct NotMounted {
    /// In words.
    pub(crate) why: String,
    /// There is nothing that could be mounted.
    pub(crate) nothing_there: bool,
}

impl From<io::Error> for NotMounted {
    fn from(e: io::Error) -> Self {
        Self { why: format!("keyway-mountd can't be asked: {e}"), nothing_there: false }
    }
}

/// The helper, with something mounted for this connection.
pub(crate) struct Helper {
    bus: Bus,
    folder: PathBuf,
}

/// Whether the helper is on this machine's bus, or is started when it is asked for something.
///
/// # Errors
/// Why it can't be asked.
pub fn available() -> Result<(), String> {
    let no_bus = |e: io::Error| format!("there is no system bus here: {e}");
    let mut bus = Bus::system(BUS_ANSWERS).map_err(no_bus)?;
    for member in ["ListActivatableNames", "ListNames"] {
        let names = bus.call(&Call::to_the_bus(member), None, BUS_ANSWERS).map_err(no_bus)?;
        if names.texts().is_ok_and(|names| names.iter().any(|name| name == NAME)) {
            return Ok(());
        }
    }
    Err("keyway-mountd is not installed".to_owned())
}

impl Helper {
    /// Has what is in the file mounted.
    pub(crate) fn mount(
        file: BorrowedFd<'_>,
        sector_bytes: u32,
        read_only: bool,
    ) -> Result<(Self, Mounted), NotMounted> {
        let mut bus = Bus::system(BUS_ANSWERS)?;
        let arguments = [Argument::Descriptor, Argument::Number(sector_bytes), Argument::Flag(read_only)];
        let answer = bus.call(&to_helper("Mount", &arguments), Some(file), MOUNTING)?;
        if let Some((name, text)) = answer.error() {
            let nothing_there = name.ends_with(".Error.NoFileSystem");
            return Err(NotMounted { why: text, nothing_there });
        }
        let (texts, flags) = answer.texts_and_flags(3, 2)?;
        let ([folder, _, filesystem], [read_only, unclean]) = (texts.as_slice(), flags.as_slice()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidData).into());
        };
        let folder = PathBuf::from(folder);
        let mounted = Mounted {
            folder: folder.clone(),
            filesystem: filesystem.clone(),
            read_only: *read_only,
            unclean: *unclean,
        };
        Ok((Self { bus, folder }, mounted))
    }

    /// Has it unmounted.
    ///
    /// # Errors
    /// [`AttachError::Busy`], with nothing changed; or what the helper says.
    pub(crate) fn unmount(&mut self) -> Result<(), AttachError> {
        let doing = || format!("unmount {}", self.folder.display());
        let folder = self.folder.to_string_lossy();
        let arguments = [Argument::Text(&folder)];
        let answer = self.bus.call(&to_helper("Unmount", &arguments), None, UNMOUNTING);
        match answer.map_err(|e| AttachError::io(doing(), e))?.error() {
            None => Ok(()),
            // Root has unmounted it, or a helper that was started anew.
            Some((name, _)) if name.ends_with(".Error.NotMounted") => Ok(()),
            Some((name, _)) if name.ends_with(".Error.Busy") => Err(busy(&self.folder)),
            Some((_, text)) => Err(AttachError::io(doing(), io::Error::other(text))),
        }
    }
}

/// Who uses it, others have to find out.
fn busy(folder: &Path) -> AttachError {
    AttachError::busy(folder, Vec::new())
}

const fn to_helper<'a>(member: &'a str, arguments: &'a [Argument<'a>]) -> Call<'a> {
    Call { destination: NAME, path: PATH, interface: NAME, member, arguments }
}
