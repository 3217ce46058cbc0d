//! BLAKE2s-256 (RFC 7693) compression in lanes.

use super::chain::LaneHash;
use super::lanes::Lanes;

/// The initial state: SHA-256's (RFC 7693, section 2.6).
const IV: [u32; 8] = super::sha256::IV;

/// The parameter block's first word: 32 bytes of digest, no key, fan-out and depth 1.
const PARAMETERS: u32 = 0x0101_0020;

/// BLAKE2s with 32 bytes of digest.
pub(crate) struct Blake2s;

impl LaneHash<8> for Blake2s {
    type Word = u32;

    fn read(bytes: &[u8]) -> u32 {
        bytes.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b))
    }
    fn write(word: u32, bytes: &mut [u8]) {
        bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(to, b)| *to = b);
    }

    fn midstate(block: &[u32; 16]) -> [u32; 8] {
        let mut state = IV;
        state[0] ^= PARAMETERS;
        compress(state, *block, 64, 0)
    }

    #[inline(always)]
    fn second<V: Lanes<Word = u32>>(midstate: [V; 8], digest: [V; 8]) -> [V; 8] {
        let [a, b, c, d, e, f, g, h] = digest;
        let z = a.fill(0);
        // 64 bytes of key block and 32 of digest; all ones mark the last block.
        compress(midstate, [a, b, c, d, e, f, g, h, z, z, z, z, z, z, z, z], 96, !0)
    }
}

#[inline(always)]
fn compress<V: Lanes<Word = u32>>(state: [V; 8], m: [V; 16], bytes_so_far: u32, last: u32) -> [V; 8] {
    let iv = |i: usize, mask: u32| state[0].fill(IV[i] ^ mask);
    let mut v = [state[0]; 16];
    v[..8].copy_from_slice(&state);
    v[8..].copy_from_slice(&[
        iv(0, 0),
        iv(1, 0),
        iv(2, 0),
        iv(3, 0),
        iv(4, bytes_so_far),
        iv(5, 0),
        iv(6, last),
        iv(7, 0),
    ]);
    // Written out so that the zero half of a digest's block costs nothing.
    macro_rules! mix {
        ($($a:literal $b:literal $c:literal $d:literal $x:literal)*) => {
            $( v[$a] = v[$a].add(m[$x]).add(v[$b]); )*
            $( v[$d] = v[$d].xor(v[$a]).rotate_right::<16>(); )*
            $( v[$c] = v[$c].add(v[$d]); )*
            $( v[$b] = v[$b].xor(v[$c]).rotate_right::<12>(); )*
        };
        (second $($a:literal $b:literal $c:literal $d:literal $x:literal)*) => {
            $( v[$a] = v[$a].add(m[$x]).add(v[$b]); )*
            $( v[$d] = v[$d].xor(v[$a]).rotate_right::<8>(); )*
            $( v[$c] = v[$c].add(v[$d]); )*
            $( v[$b] = v[$b].xor(v[$c]).rotate_right::<7>(); )*
        };
    }
    macro_rules! rounds {
        ($($a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal
           $i:literal $j:literal $k:literal $l:literal $m:literal $n:literal $o:literal $p:literal;)*) => { $(
            mix!(0 4 8 12 $a  1 5 9 13 $c  2 6 10 14 $e  3 7 11 15 $g);
            mix!(second 0 4 8 12 $b  1 5 9 13 $d  2 6 10 14 $f  3 7 11 15 $h);
            mix!(0 5 10 15 $i  1 6 11 12 $k  2 7 8 13 $m  3 4 9 14 $o);
            mix!(second 0 5 10 15 $j  1 6 11 12 $l  2 7 8 13 $n  3 4 9 14 $p);
        )* };
    }
    // The message schedule (RFC 7693, section 2.7).
    rounds! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
        14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3;
        11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4;
        7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8;
        9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13;
        2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9;
        12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11;
        13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10;
        6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5;
        10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0;
    }
    std::array::from_fn(|i| state[i].xor3(v[i], v[i + 8]))
}
