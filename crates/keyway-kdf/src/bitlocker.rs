//! BitLocker's stretch: 2^20 chained SHA-256 between a password and the key that opens its protector.

use crate::kernels::links::Links;
use crate::kernels::stretch::{AT_ONCE, Chain};
use keyway_secret::{Locked, SecretBytes, wipe_stack};
use std::sync::atomic::{AtomicBool, Ordering};
use zeroize::Zeroize;

/// Links of the chain (libbde, "BitLocker Drive Encryption (BDE) format", section on the stretch key).
const LINKS: u32 = 1 << 20;

/// How many links pass between two looks at the stop flag: about half a millisecond.
const LINKS_PER_STEP: u32 = 1 << 12;

/// What one protector's stretch begins with.
#[derive(Clone, Copy)]
pub struct BitlockerStretch<'a> {
    /// SHA-256 of SHA-256 of a password in UTF-16LE, or SHA-256 of the 16 bytes of a recovery
    /// password; secret.
    pub password_hash: &'a [u8; 32],
    /// The protector's salt; public.
    pub salt: &'a [u8; 16],
}

/// The 32-byte key that BitLocker makes of a password's hash and a protector's salt.
///
/// 2^20 times SHA-256 over 88 bytes: the hash so far (zeros at first), the password's hash, the
/// salt and the number of the link, 64 bits, little-endian. Looks at `stop` every few thousand
/// links; `None` means stopped.
pub fn bitlocker_stretch(
    password_hash: &[u8; 32],
    salt: &[u8; 16],
    stop: &AtomicBool,
) -> Option<SecretBytes> {
    stretch(Links::best(), LINKS, &[BitlockerStretch { password_hash, salt }], stop)?.pop()
}

/// [`bitlocker_stretch`] of several protectors, two at a time on each core, in the order asked.
///
/// A processor with SHA instructions does two in the time of one.
pub fn bitlocker_stretches(asked: &[BitlockerStretch<'_>], stop: &AtomicBool) -> Option<Vec<SecretBytes>> {
    let share = asked.len().div_ceil(crate::cores()).next_multiple_of(AT_ONCE);
    let one = |asked| stretch(Links::best(), LINKS, asked, stop);
    if asked.len() <= share {
        return one(asked);
    }
    let mut done = Vec::with_capacity(asked.len());
    std::thread::scope(|scope| {
        let parts: Vec<_> = asked.chunks(share).map(|part| scope.spawn(move || one(part))).collect();
        parts.into_iter().try_for_each(|part| {
            done.extend(part.join().ok()??);
            Some(())
        })
    })?;
    Some(done)
}

/// What a thread works on, all of it secret.
struct Pair([Chain; AT_ONCE]);

impl Drop for Pair {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

fn stretch(
    links: Links,
    count: u32,
    asked: &[BitlockerStretch<'_>],
    stop: &AtomicBool,
) -> Option<Vec<SecretBytes>> {
    let mut keys = Vec::with_capacity(asked.len());
    for asked in asked.chunks(AT_ONCE) {
        let mut pair = Locked::new(|| Pair(Default::default()));
        let chains = pair.0.get_mut(..asked.len())?;
        for (chain, asked) in chains.iter_mut().zip(asked) {
            read(asked.password_hash, &mut chain.initial);
            read(asked.salt, &mut chain.salt);
        }
        for from in (0..count).step_by(LINKS_PER_STEP as usize) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            links.run(chains, from, count.min(from + LINKS_PER_STEP));
        }
        wipe_stack();
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        keys.extend(chains.iter().map(|chain| {
            let mut key = SecretBytes::zeroed(32);
            for (bytes, word) in key.chunks_exact_mut(4).zip(chain.last) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
            key
        }));
    }
    Some(keys)
}

/// Big-endian words.
fn read(bytes: &[u8], words: &mut [u32]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &b| word << 8 | u32::from(b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// As the format's description has it.
    fn expected(links: u32, password_hash: &[u8; 32], salt: &[u8; 16]) -> [u8; 32] {
        let mut structure = [0; 88];
        structure[32..64].copy_from_slice(password_hash);
        structure[64..80].copy_from_slice(salt);
        for link in 0..u64::from(links) {
            structure[80..].copy_from_slice(&link.to_le_bytes());
            let hash = Sha256::digest(structure);
            structure[..32].copy_from_slice(&hash);
        }
        std::array::from_fn(|i| structure[i])
    }

    fn inputs(n: u8) -> ([u8; 32], [u8; 16]) {
        (Sha256::digest([n]).into(), std::array::from_fn(|i| n.wrapping_mul(29) ^ i as u8))
    }

    #[test]
    fn every_kernel_computes_any_number_of_chains() {
        for count in [0, 1, 2, 3, 255, 256, 257, LINKS_PER_STEP + 300] {
            for chains in 1..=5 {
                let inputs: Vec<_> = (0..chains).map(inputs).collect();
                let asked: Vec<_> = inputs
                    .iter()
                    .map(|(password_hash, salt)| BitlockerStretch { password_hash, salt })
                    .collect();
                for links in Links::all() {
                    let keys = stretch(links, count, &asked, &AtomicBool::new(false)).expect("not stopped");
                    assert_eq!(keys.len(), inputs.len());
                    for (key, (hash, salt)) in keys.iter().zip(&inputs) {
                        assert!(key.same_as(&expected(count, hash, salt)), "{count} links, {chains} chains");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_stretches_alone_and_together() {
        let never = AtomicBool::new(false);
        let inputs: Vec<_> = (0..5).map(inputs).collect();
        let (hash, salt) = &inputs[0];
        let first = expected(LINKS, hash, salt);
        assert!(bitlocker_stretch(hash, salt, &never).is_some_and(|key| key.same_as(&first)));
        let asked: Vec<_> =
            inputs.iter().map(|(password_hash, salt)| BitlockerStretch { password_hash, salt }).collect();
        let keys = bitlocker_stretches(&asked, &never).expect("not stopped");
        assert_eq!(keys.len(), 5);
        assert!(keys[0].same_as(&first));
        let (hash, salt) = &inputs[4];
        assert!(keys[4].same_as(&expected(LINKS, hash, salt)));
        assert!(bitlocker_stretches(&[], &never).is_some_and(|keys| keys.is_empty()));
    }

    #[test]
    fn a_stopped_stretch_gives_nothing() {
        let (hash, salt) = inputs(1);
        assert!(bitlocker_stretch(&hash, &salt, &AtomicBool::new(true)).is_none());
    }
}
