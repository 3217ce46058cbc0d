//! Camellia byte-sliced, over S-boxes that each instruction set computes its own way.
//!
//! Camellia's S-boxes and AES's are both an inversion in GF(2^8) between linear maps. So an S-box is
//! a linear map into AES's field, that field's inversion (an AES or a GFNI instruction), and a
//! linear map out. The maps' matrices were computed from the polynomials in the specification
//! (Aoki et al., 2000, 4.4) and a root of Camellia's polynomial in AES's field.

use super::bytes::{Bytes, transpose};
use super::run::Rounds;
use crate::portable::CamelliaSubkeys;
use std::marker::PhantomData;

/// The four S-boxes on vectors.
///
/// # Safety
/// Every method needs the instruction set of the implementation.
pub(in crate::kernels) trait Boxes<L> {
    /// Those of the rounds that go back, from the right half to the left one.
    type Back: Boxes<L>;

    unsafe fn s1(x: L) -> L;
    unsafe fn s2(x: L) -> L;
    unsafe fn s3(x: L) -> L;
    unsafe fn s4(x: L) -> L;
    /// Moves the bytes of the right half, which are blocks, to where the S-boxes put those of the left one.
    #[inline(always)]
    unsafe fn move_right_half(_: &mut [L; 8]) {}
    /// Moves them back.
    #[inline(always)]
    unsafe fn move_right_half_back(_: &mut [L; 8]) {}
}

/// Both directions: only the order of the subkeys differs.
pub(in crate::kernels) struct Sliced<'a, S> {
    pub(in crate::kernels) subkeys: &'a CamelliaSubkeys<[u32; 8]>,
    boxes: PhantomData<S>,
}

impl<'a, S> Sliced<'a, S> {
    #[inline(always)]
    pub(in crate::kernels) fn new(subkeys: &'a CamelliaSubkeys<[u32; 8]>) -> Self {
        Self { subkeys, boxes: PhantomData }
    }
}

/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn add_key<L: Bytes>(x: &mut [L; 8], key: &[u32; 8]) {
    for (x, key) in x.iter_mut().zip(key) {
        // SAFETY: the caller's promise.
        *x = unsafe { x.xor(L::splat4(*key)) };
    }
}

/// `to` ^= F(`from`, `key`) (RFC 3713, 2.4.1).
///
/// # Safety
/// As for the methods of `L` and `S`.
#[inline(always)]
unsafe fn round<L: Bytes, S: Boxes<L>>(from: &[L; 8], to: &mut [L; 8], key: &[u32; 8]) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut x = *from;
        add_key(&mut x, key);
        let [a, b, c, d] = [S::s1(x[0]), S::s2(x[1]), S::s3(x[2]), S::s4(x[3])];
        let [e, f, g, h] = [S::s2(x[4]), S::s3(x[5]), S::s4(x[6]), S::s1(x[7])];
        // The P function in 16 additions, written out: a loop would keep its bytes in memory.
        let [a, b, c, d] = [a.xor(f), b.xor(g), c.xor(h), d.xor(e)];
        let [e, f, g, h] = [e.xor(c), f.xor(d), g.xor(a), h.xor(b)];
        let [a, b, c, d] = [a.xor(h), b.xor(e), c.xor(f), d.xor(g)];
        let [e, f, g, h] = [e.xor(d), f.xor(a), g.xor(b), h.xor(c)];
        // Its halves come out exchanged.
        for (to, x) in to.iter_mut().zip([e, f, g, h, a, b, c, d]) {
            *to = to.xor(x);
        }
    }
}

/// Xors into words `to` words `from`, masked and rotated left by one bit.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn xor_rotated<L: Bytes>(to: &mut [L], from: &[L], key: &[u32]) {
    // SAFETY: the caller's promise.
    unsafe {
        let masked = [
            from[0].and(L::splat4(key[0])),
            from[1].and(L::splat4(key[1])),
            from[2].and(L::splat4(key[2])),
            from[3].and(L::splat4(key[3])),
        ];
        for i in 0..4 {
            let rotated = masked[i].double().or(masked[(i + 1) % 4].top_bit());
            to[i] = to[i].xor(rotated);
        }
    }
}

/// Xors into words `to` words `from` or'ed with the key.
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn xor_ored<L: Bytes>(to: &mut [L], from: &[L], key: &[u32]) {
    for i in 0..4 {
        // SAFETY: the caller's promise.
        to[i] = unsafe { to[i].xor(from[i].or(L::splat4(key[i]))) };
    }
}

/// The halves of as many blocks as a vector has bytes.
struct Halves<L> {
    left: [L; 8],
    right: [L; 8],
}

/// Blocks to halves, whitened.
///
/// # Safety
/// As for the methods of `L` and `S`.
#[inline(always)]
unsafe fn read<L: Bytes, S: Boxes<L>>(mut blocks: [L; 16], left: &[u32; 8], right: &[u32; 8]) -> Halves<L> {
    // SAFETY: the caller's promise.
    unsafe {
        transpose(&mut blocks);
        let [a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q] = blocks;
        let mut halves = Halves { left: [a, b, c, d, e, f, g, h], right: [i, j, l, m, n, o, p, q] };
        S::move_right_half(&mut halves.right);
        add_key(&mut halves.left, left);
        add_key(&mut halves.right, right);
        halves
    }
}

/// Halves, whitened, to blocks, the right ones first.
///
/// # Safety
/// As for the methods of `L` and `S`.
#[inline(always)]
unsafe fn write<L: Bytes, S: Boxes<L>>(mut halves: Halves<L>, left: &[u32; 8], right: &[u32; 8]) -> [L; 16] {
    // SAFETY: the caller's promise.
    unsafe {
        add_key(&mut halves.right, right);
        add_key(&mut halves.left, left);
        S::move_right_half_back(&mut halves.right);
        let ([i, j, l, m, n, o, p, q], [a, b, c, d, e, f, g, h]) = (halves.left, halves.right);
        let mut blocks = [a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q];
        transpose(&mut blocks);
        blocks
    }
}

/// FL on the left half, its inverse on the right one (RFC 3713, 2.4.2, 2.4.3).
///
/// # Safety
/// As for the methods of `L`.
#[inline(always)]
unsafe fn fl<L: Bytes>(halves: &mut Halves<L>, left_key: &[u32; 8], right_key: &[u32; 8]) {
    // SAFETY: the caller's promise.
    unsafe {
        let (left, right) = halves.left.split_at_mut(4);
        xor_rotated(right, left, &left_key[..4]);
        xor_ored(left, right, &left_key[4..]);
        let (left, right) = halves.right.split_at_mut(4);
        xor_ored(left, right, &right_key[4..]);
        xor_rotated(right, left, &right_key[..4]);
    }
}

/// All rounds of some groups that take turns: while one waits for its S-boxes, the next one's begin.
///
/// # Safety
/// As for the methods of `L` and `S`.
#[inline(always)]
unsafe fn rounds<L: Bytes, S: Boxes<L>, const N: usize>(
    k: &CamelliaSubkeys<[u32; 8]>,
    groups: &mut [Halves<L>; N],
) {
    // SAFETY: the caller's promise.
    unsafe {
        for part in 0..4 {
            let k = &k[2 + 8 * part..];
            for two in 0..3 {
                for Halves { left, right } in groups.iter_mut() {
                    round::<L, S>(left, right, &k[2 * two]);
                }
                for Halves { left, right } in groups.iter_mut() {
                    round::<L, S::Back>(right, left, &k[2 * two + 1]);
                }
            }
            if part < 3 {
                for halves in groups.iter_mut() {
                    fl(halves, &k[6], &k[7]);
                }
            }
        }
    }
}

impl<L: Bytes, S: Boxes<L>> Rounds<L, 16> for Sliced<'_, S> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 16]) {
        let k = self.subkeys;
        // SAFETY: the caller's promise.
        unsafe {
            let mut groups = [read::<L, S>(*blocks, &k[0], &k[1])];
            rounds::<L, S, 1>(k, &mut groups);
            let [group] = groups;
            *blocks = write::<L, S>(group, &k[33], &k[32]);
        }
    }
}

/// Two groups side by side.
impl<L: Bytes, S: Boxes<L>> Rounds<L, 32> for Sliced<'_, S> {
    #[inline(always)]
    unsafe fn apply(&self, blocks: &mut [L; 32]) {
        let k = self.subkeys;
        // SAFETY: the caller's promise.
        unsafe {
            let (mut one, mut two) = ([blocks[0]; 16], [blocks[0]; 16]);
            one.copy_from_slice(&blocks[..16]);
            two.copy_from_slice(&blocks[16..]);
            let mut groups = [read::<L, S>(one, &k[0], &k[1]), read::<L, S>(two, &k[0], &k[1])];
            rounds::<L, S, 2>(k, &mut groups);
            let [first, second] = groups;
            blocks[..16].copy_from_slice(&write::<L, S>(first, &k[33], &k[32]));
            blocks[16..].copy_from_slice(&write::<L, S>(second, &k[33], &k[32]));
        }
    }
}

/// The maps by nibble, for processors that have no instruction for them: tables of 16 for the low and the
/// high nibble, constants in the low ones. The way out undoes the affine map of AES's S-box as well.
pub(in crate::kernels) mod nibbles {
    pub(in crate::kernels) const INTO: [u128; 2] =
        [0x7ec6_7dc5_a71f_a41c_69d1_6ad2_b008_b30b, 0x3e33_676a_bab7_e3ee_d0dd_8984_5459_0d00];
    pub(in crate::kernels) const INTO_S4: [u128; 2] =
        [0xcbc8_1211_dcdf_0506_c6c5_1f1c_d1d2_080b, 0x8bd2_0f56_653c_e1b8_336a_b7ee_dd84_5900];
    pub(in crate::kernels) const OUT: [u128; 2] =
        [0x776a_d6cb_3f22_9e83_726f_d3ce_3a27_9b86, 0x7b9e_34d1_6085_2fca_b154_fe1b_aa4f_e500];
    pub(in crate::kernels) const OUT_S2: [u128; 2] =
        [0xeed4_ad97_7e44_3d07_e4de_a79d_744e_370d, 0xf63d_68a3_c00b_5e95_63a8_fd36_559e_cb00];
    pub(in crate::kernels) const OUT_S3: [u128; 2] =
        [0xbb35_6be5_9f11_4fc1_39b7_e967_1d93_cd43, 0xbd4f_1ae8_30c2_9765_d82a_7f8d_55a7_f200];
}
