//! Any bytes as an answer of the system bus: it is refused, or read within its bounds.
#![no_main]

use keyway_attach::mountd::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(answer) = parse(bytes) {
        let _ = (answer.error(), answer.texts(), answer.texts_and_flags(3, 2));
    }
});
