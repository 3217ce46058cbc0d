//! Turns the kernel's switch for FUSE over io_uring for the moment of one mount.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};

/// The module's parameter: `Y` lets the kernel offer rings, and it starts as `N`.
const SWITCH: &str = "/sys/module/fuse/parameters/enable_uring";

/// The switch is on for as long as this lives. The kernel looks at it while a connection is made;
/// a connection that has agreed on rings keeps them when it is turned back.
pub(crate) struct Permit {
    turned: Option<File>,
}

impl Permit {
    /// Turns the switch where we may and must; where not, the kernel just won't offer rings.
    pub(crate) fn get() -> Self {
        Self { turned: turn_on() }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(mut switch) = self.turned.take() {
            // If this fails the switch stays on: new mounts may use rings, nothing else changes.
            let _ = switch.write_all(b"N");
        }
    }
}

/// The open switch if it was off and is on now. Its lock keeps another of us from reading `Y` and
/// losing it in the middle.
fn turn_on() -> Option<File> {
    let mut switch = OpenOptions::new().read(true).write(true).open(SWITCH).ok()?;
    flock(&switch, FlockOperation::LockExclusive).ok()?;
    let mut now = String::new();
    switch.read_to_string(&mut now).ok()?;
    if now.trim() != "N" {
        return None;
    }
    switch.write_all(b"Y").ok()?;
    Some(switch)
}
