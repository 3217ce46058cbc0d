//! The virtual drive against any host; what is done with an input is told where the project's own driver does it, too.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/keyway-virtual-drive/tests/fuzzing/drive.rs"]
mod drive;

fuzz_target!(|data: &[u8]| {
    drive::one(data, true);
});
