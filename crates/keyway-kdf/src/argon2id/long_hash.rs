//! Argon2's variable-length hash H' (RFC 9106, section 3.3).

use blake2::digest::Digest;
use blake2::digest::block_api::{UpdateCore, VariableOutputCore};
use blake2::digest::block_buffer::LazyBuffer;
use blake2::{Blake2b512, Blake2bVarCore};
use zeroize::Zeroize;

/// Fills `out` with the hash of the parts strung together.
pub(super) fn long_hash(parts: &[&[u8]], out: &mut [u8]) {
    let len = (out.len() as u32).to_le_bytes();
    let parts = || std::iter::once(&len[..]).chain(parts.iter().copied());
    if out.len() <= 64 {
        return short_hash(parts(), out);
    }
    let mut hash = Blake2b512::new();
    parts().for_each(|part| hash.update(part));
    let mut link = hash.finalize();
    let mut rest = out;
    // Every link gives its first half; the last gives all that is left, between 33 and 64 bytes.
    loop {
        let (half, more) = rest.split_at_mut(32);
        half.copy_from_slice(&link[..32]);
        rest = more;
        if rest.len() <= 64 {
            break;
        }
        link = Blake2b512::digest(link);
    }
    short_hash(std::iter::once(&link[..]), rest);
    link.zeroize();
}

/// BLAKE2b with `out.len()` bytes of digest, from 1 to 64.
fn short_hash<'a>(parts: impl Iterator<Item = &'a [u8]>, out: &mut [u8]) {
    let Ok(mut hash) = Blake2bVarCore::new(out.len()) else { return };
    let mut buffer = LazyBuffer::default();
    for part in parts {
        buffer.digest_blocks(part, |blocks| hash.update_blocks(blocks));
    }
    let mut full = Default::default();
    hash.finalize_variable_core(&mut buffer, &mut full);
    out.iter_mut().zip(&full).for_each(|(o, f)| *o = *f);
    full.zeroize();
}
