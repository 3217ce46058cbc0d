//! Where, when and with what was measured.

use crate::machine;
use keyway_lab::Machine;
use keyway_volume::bitlocker::FileTime;

/// This machine.
pub(super) fn here() -> Machine {
    let system = rustix::system::uname();
    Machine {
        processor: machine::processor().0,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: machine::memory().0.unwrap_or_default(),
        kernel: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        keyway: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Now, ISO 8601, UTC.
pub(super) fn date() -> String {
    FileTime::now().to_string()
}

/// The command as it was given; no secret is ever an argument.
pub(super) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("keyway".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
