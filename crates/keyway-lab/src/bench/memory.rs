//! The speed of copying memory.

use super::race::{Setting, Speed, race};
use std::hint::black_box;
use std::time::Duration;

/// MB/s that one core copies in memory.
pub fn memcpy(buffer: usize, time: Duration) -> f64 {
    copying(Setting { buffer, threads: 1, time }).mb_s
}

/// MB/s of copying one buffer into another: what moving the bytes alone costs.
pub(super) fn copying(setting: Setting) -> Speed {
    // Source and target are the halves of a buffer of each thread; one of them counts.
    let setting = Setting { buffer: 2 * setting.buffer, ..setting };
    let copy = |both: &mut [u8]| {
        let (source, target) = both.split_at_mut(both.len() / 2);
        target.copy_from_slice(black_box(source));
    };
    let speed = race(setting, &[&copy]).first().copied().unwrap_or_default();
    Speed { mb_s: speed.mb_s / 2.0, ..speed }
}
