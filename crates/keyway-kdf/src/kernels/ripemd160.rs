//! RIPEMD-160 (ISO/IEC 10118-3; Dobbertin, Bosselaers, Preneel 1996) compression in lanes.

use super::chain::LaneHash;
use super::lanes::Lanes;

/// The initial state, which is SHA-1's.
pub(super) const IV: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// RIPEMD-160.
pub(crate) struct Ripemd160;

impl LaneHash<5> for Ripemd160 {
    type Word = u32;

    fn read(bytes: &[u8]) -> u32 {
        bytes.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b))
    }
    fn write(word: u32, bytes: &mut [u8]) {
        bytes.iter_mut().zip(word.to_le_bytes()).for_each(|(to, b)| *to = b);
    }

    fn midstate(block: &[u32; 16]) -> [u32; 5] {
        compress(IV, *block)
    }

    #[inline(always)]
    fn second<V: Lanes<Word = u32>>(midstate: [V; 5], digest: [V; 5]) -> [V; 5] {
        let [a, b, c, d, e] = digest;
        let z = a.fill(0);
        let end = a.fill(0x80);
        // The length in bits: 64 bytes of key block and 20 of digest.
        let length = a.fill((64 + 20) * 8);
        compress(midstate, [a, b, c, d, e, end, z, z, z, z, z, z, z, z, length, z])
    }
}

// The five functions of the specification's section "Operations in one step".
#[inline(always)]
fn f1<V: Lanes>(x: V, y: V, z: V) -> V {
    x.xor3(y, z)
}
#[inline(always)]
fn f2<V: Lanes>(x: V, y: V, z: V) -> V {
    x.choose(y, z)
}
#[inline(always)]
fn f3<V: Lanes>(x: V, y: V, z: V) -> V {
    x.or_not_xor(y, z)
}
#[inline(always)]
fn f4<V: Lanes>(x: V, y: V, z: V) -> V {
    z.choose(x, y)
}
#[inline(always)]
fn f5<V: Lanes>(x: V, y: V, z: V) -> V {
    y.or_not_xor(z, x)
}

#[inline(always)]
fn compress<V: Lanes<Word = u32>>(state: [V; 5], x: [V; 16]) -> [V; 5] {
    let (mut left, mut right) = (state, state);
    // Sixteen steps of one line, each a message word and a rotation; written out so that the
    // constant words of a digest's block cost nothing.
    macro_rules! steps {
        ($line:ident, $f:ident, $constant:literal, $($word:literal/$rotation:literal)*) => { $(
            let [a, b, c, d, e] = $line;
            let t = a.add(x[$word].add(a.fill($constant))).add($f(b, c, d));
            $line = [e, t.rotate_left::<$rotation>().add(e), b, c.rotate_left::<10>(), d];
        )* };
    }
    steps!(left, f1, 0, 0/11 1/14 2/15 3/12 4/5 5/8 6/7 7/9 8/11 9/13 10/14 11/15 12/6 13/7 14/9 15/8);
    steps!(right, f5, 0x50a2_8be6, 5/8 14/9 7/9 0/11 9/13 2/15 11/15 4/5 13/7 6/7 15/8 8/11 1/14 10/14 3/12 12/6);
    steps!(left, f2, 0x5a82_7999, 7/7 4/6 13/8 1/13 10/11 6/9 15/7 3/15 12/7 0/12 9/15 5/9 2/11 14/7 11/13 8/12);
    steps!(right, f4, 0x5c4d_d124, 6/9 11/13 3/15 7/7 0/12 13/8 5/9 10/11 14/7 15/7 8/12 12/7 4/6 9/15 1/13 2/11);
    steps!(left, f3, 0x6ed9_eba1, 3/11 10/13 14/6 4/7 9/14 15/9 8/13 1/15 2/14 7/8 0/13 6/6 13/5 11/12 5/7 12/5);
    steps!(right, f3, 0x6d70_3ef3, 15/9 5/7 1/15 3/11 7/8 14/6 6/6 9/14 11/12 8/13 12/5 2/14 10/13 0/13 4/7 13/5);
    steps!(left, f4, 0x8f1b_bcdc, 1/11 9/12 11/14 10/15 0/14 8/15 12/9 4/8 13/9 3/14 7/5 15/6 14/8 5/6 6/5 2/12);
    steps!(right, f2, 0x7a6d_76e9, 8/15 6/5 4/8 1/11 3/14 11/14 15/6 0/14 5/6 12/9 2/12 13/9 9/12 7/5 10/15 14/8);
    steps!(left, f5, 0xa953_fd4e, 4/9 0/15 5/5 9/11 7/6 12/8 2/13 10/12 14/5 1/12 3/13 8/14 11/11 6/8 15/5 13/6);
    steps!(right, f1, 0, 12/8 15/5 10/12 4/9 1/12 5/5 8/14 7/6 6/8 2/13 13/6 14/5 0/15 3/13 9/11 11/11);
    let ([_, bl, cl, dl, el], [ar, br, cr, dr, er]) = (left, right);
    let al = left[0];
    [
        state[1].add(cl).add(dr),
        state[2].add(dl).add(er),
        state[3].add(el).add(ar),
        state[4].add(al).add(br),
        state[0].add(bl).add(cr),
    ]
}
