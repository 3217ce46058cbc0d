//! Picks the code for BitLocker's stretch on this processor.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::sha_instructions;
#[cfg(target_arch = "x86_64")]
use super::sha_ni;
use super::stretch::{Chain, portable};

/// A way to go on by some links in every chain.
#[derive(Clone, Copy)]
pub(crate) struct Links {
    /// Safe to call on a processor for which [`Links::all`] hands it out.
    run: unsafe fn(&mut [Chain], u32, u32),
}

impl Links {
    /// The one that runs on any processor.
    pub(crate) const PORTABLE: Self = Self { run: portable };

    /// Every function that runs on this processor, the fastest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if sha_ni::available() {
            all.push(Self { run: sha_ni::stretch });
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if sha_instructions::has_sha256() {
            all.push(Self { run: sha_instructions::stretch });
        }
        all.push(Self::PORTABLE);
        all
    }

    /// The fastest on this processor.
    pub(crate) fn best() -> Self {
        Self::all().first().copied().unwrap_or(Self::PORTABLE)
    }

    /// Links number `from` to `to`, the latter left out, in each chain.
    pub(crate) fn run(self, chains: &mut [Chain], from: u32, to: u32) {
        // SAFETY: `all` has asked the processor for the instructions of what it hands out.
        unsafe { (self.run)(chains, from, to) }
    }
}
