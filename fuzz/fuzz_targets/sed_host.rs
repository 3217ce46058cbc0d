//! Any bytes as a drive's answers to a host; what is done with an input is told where the project's own driver does it,
//! too.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/keyway-virtual-drive/tests/fuzzing/host.rs"]
mod host;

fuzz_target!(|data: &[u8]| {
    host::one(data);
});
