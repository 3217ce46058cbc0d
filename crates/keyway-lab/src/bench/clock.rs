//! The clock of the core that measures, as far as it can be known from outside.

#[cfg(target_arch = "x86_64")]
use std::hint::black_box;
#[cfg(target_arch = "x86_64")]
use std::time::Instant;

/// How the clock is known, for people.
pub(super) const HOW: &str = "the core's clock is the speed of a chain of multiplications and exclusive ors, \
     3 + 1 cycles a link on the x86-64 processors of the last decade, timed beside each measurement; \
     the time stamp counter, which ticks at a rate of its own, is not used";

/// Links of the chain: some tens of microseconds, so that one of a few tries is not interrupted.
#[cfg(target_arch = "x86_64")]
const LINKS: u32 = 40_000;

/// Cycles of one link: a 64-bit multiplication has a latency of 3 and an exclusive or of 1 on
/// Intel's cores since Nehalem and AMD's since Zen (Agner Fog, "Instruction tables").
#[cfg(target_arch = "x86_64")]
const CYCLES: f64 = 4.0;

/// Cycles per second of this core right now; `None` where no such latency is known.
///
/// The highest of a few tries: an interruption only ever makes it seem slower.
#[cfg(target_arch = "x86_64")]
pub(super) fn hertz() -> Option<f64> {
    let once = || {
        let (factor, mask) = (black_box(0x9e37_79b9_7f4a_7c15u64), black_box(0x5555_aaaa_3333_ccccu64));
        let began = Instant::now();
        let mut link = black_box(1u64);
        for _ in 0..LINKS {
            // Both together, so that the compiler can't multiply factors with each other first.
            link = link.wrapping_mul(factor) ^ mask;
        }
        black_box(link);
        CYCLES * f64::from(LINKS) / began.elapsed().as_secs_f64()
    };
    (0..7).map(|_| once()).max_by(f64::total_cmp)
}

/// Cycles per second of this core right now; `None` where no latency is known to tell it by.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn hertz() -> Option<f64> {
    None
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #[test]
    fn the_clock_is_plausible() {
        let hertz = super::hertz().expect("known here");
        // A test's build may be slower than a link's latency, never faster.
        assert!((1e8..1e10).contains(&hertz), "{hertz}");
    }
}
