//! The machine that measures.

use crate::result::Machine;
use keyway_sys::machine;

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let system = rustix::system::uname();
        Self {
            processor: machine::processor().0,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: machine::memory().0.unwrap_or_default(),
            kernel: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
            keyway: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
