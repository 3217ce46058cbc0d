//! A step: a function that continues several chains by some links.

use super::lane::{KeyBlock, Lane};

/// A step function and the number of chains it computes at once.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) lanes: usize,
    /// Safe to call on a processor for which [`Steps::of`](super::Steps::of) hands it out.
    pub(super) run: unsafe fn(&KeyBlock, &mut [Lane], u32),
}

impl Step {
    /// Goes on by `iterations` links in each lane. `lanes` may be fewer than the step takes.
    pub(crate) fn run(&self, key: &KeyBlock, lanes: &mut [Lane], iterations: u32) {
        // SAFETY: a Step comes from `Steps::of`, which has asked the processor for its instructions.
        unsafe { (self.run)(key, lanes, iterations) }
    }
}

macro_rules! steps {
    ($($lanes:literal $run:expr),*) => { &[$(Step { lanes: $lanes, run: $run }),*] };
}
pub(super) use steps;
