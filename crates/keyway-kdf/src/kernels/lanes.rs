//! A vector of machine words, one for each chain, and the few operations the hash functions need.
//!
//! A value can only be made by [`Lanes::load`], which is unsafe and demands the instruction set;
//! so whoever holds one has proved that the other operations may run.

/// One word of every chain.
pub(crate) trait Lanes: Copy {
    /// `u32` or `u64`.
    type Word: Copy + Default;
    /// How many chains.
    const COUNT: usize;

    /// Reads [`Self::COUNT`] words.
    ///
    /// # Safety
    /// The processor has the instructions of the implementing type, and `from` holds
    /// [`Self::COUNT`] words.
    unsafe fn load(from: &[Self::Word]) -> Self;
    /// Writes [`Self::COUNT`] words; a shorter `to` is left alone.
    fn store(self, to: &mut [Self::Word]);
    /// The same word for every chain.
    fn fill(self, word: Self::Word) -> Self;
    /// Wrapping sum.
    fn add(self, other: Self) -> Self;
    /// Exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Exclusive or of three.
    fn xor3(self, b: Self, c: Self) -> Self;
    /// Bits of `b` where `self` has ones, bits of `c` where it has zeros.
    fn choose(self, b: Self, c: Self) -> Self;
    /// Each bit as most of the three have it.
    fn majority(self, b: Self, c: Self) -> Self;
    /// `(self | !b) ^ c`.
    fn or_not_xor(self, b: Self, c: Self) -> Self;
    /// Rotates each word right by `N` bits.
    fn rotate_right<const N: i32>(self) -> Self;
    /// Rotates each word left by `N` bits.
    fn rotate_left<const N: i32>(self) -> Self;
    /// Shifts each word right by `N` bits.
    fn shift_right<const N: i32>(self) -> Self;
}

/// 64-bit words as Argon2 needs them.
pub(crate) trait Wide: Lanes<Word = u64> {
    /// The 64-bit product of the lower halves.
    fn multiply_low(self, other: Self) -> Self;

    /// Exchanges word `i` of vector `j` with word `j` of vector `i`; for eight words only.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn transpose(vectors: [Self; 8]) -> [Self; 8] {
        let mut rows = [[0; 8]; 8];
        for i in 0..8 {
            vectors[i].store(&mut rows[i]);
        }
        let mut result = vectors;
        for i in 0..8 {
            let column = [
                rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i], rows[6][i],
                rows[7][i],
            ];
            // SAFETY: a value of the type proves the instructions.
            result[i] = unsafe { Self::load(&column) };
        }
        result
    }
}

impl Wide for u64 {
    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        (self & 0xffff_ffff) * (other & 0xffff_ffff)
    }
}

/// Operations that are an expression each. What is `proved` is of a vector, whose value proves that it may run.
macro_rules! operations {
    (proved $(fn $name:ident$(<const $n:ident: i32>)?($self:ident $(, $other:ident: $of:ty)*) = $value:expr;)*) => {$(
        #[inline(always)]
        fn $name$(<const $n: i32>)?($self $(, $other: $of)*) -> Self {
            // SAFETY: holding `self` proves the instruction set.
            Self(unsafe { $value })
        }
    )*};
    ($(fn $name:ident$(<const $n:ident: i32>)?($self:ident $(, $other:ident: $of:ty)*) = $value:expr;)*) => {$(
        #[inline(always)]
        fn $name$(<const $n: i32>)?($self $(, $other: $of)*) -> Self {
            $value
        }
    )*};
}
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(super) use operations;

macro_rules! scalar {
    ($word:ty) => {
        impl Lanes for $word {
            type Word = $word;
            const COUNT: usize = 1;

            #[inline(always)]
            unsafe fn load(from: &[$word]) -> Self {
                from.first().copied().unwrap_or_default()
            }
            #[inline(always)]
            fn store(self, to: &mut [$word]) {
                if let Some(to) = to.first_mut() {
                    *to = self;
                }
            }
            operations! {
                fn fill(self, word: $word) = word;
                fn add(self, other: Self) = self.wrapping_add(other);
                fn xor(self, other: Self) = self ^ other;
                fn xor3(self, b: Self, c: Self) = self ^ b ^ c;
                fn choose(self, b: Self, c: Self) = (self & (b ^ c)) ^ c;
                fn majority(self, b: Self, c: Self) = (self & b) | (c & (self | b));
                fn or_not_xor(self, b: Self, c: Self) = (self | !b) ^ c;
                fn rotate_right<const N: i32>(self) = <$word>::rotate_right(self, N.unsigned_abs());
                fn rotate_left<const N: i32>(self) = <$word>::rotate_left(self, N.unsigned_abs());
                fn shift_right<const N: i32>(self) = self >> N;
            }
        }
    };
}
scalar!(u32);
scalar!(u64);

/// Two vectors side by side: while one waits for a result, the other computes.
#[derive(Clone, Copy)]
pub(crate) struct Twin<V>(V, V);

impl<V: Lanes> Lanes for Twin<V> {
    type Word = V::Word;
    const COUNT: usize = 2 * V::COUNT;

    #[inline(always)]
    unsafe fn load(from: &[V::Word]) -> Self {
        let (a, b) = from.split_at(V::COUNT);
        // SAFETY: the caller vouches for the processor and for twice the words of one half.
        unsafe { Self(V::load(a), V::load(b)) }
    }
    #[inline(always)]
    fn store(self, to: &mut [V::Word]) {
        if let Some((a, b)) = to.split_at_mut_checked(V::COUNT) {
            self.0.store(a);
            self.1.store(b);
        }
    }
    #[inline(always)]
    fn fill(self, word: V::Word) -> Self {
        let both = self.0.fill(word);
        Self(both, both)
    }
    operations! {
        fn add(self, o: Self) = Self(self.0.add(o.0), self.1.add(o.1));
        fn xor(self, o: Self) = Self(self.0.xor(o.0), self.1.xor(o.1));
        fn xor3(self, b: Self, c: Self) = Self(self.0.xor3(b.0, c.0), self.1.xor3(b.1, c.1));
        fn choose(self, b: Self, c: Self) = Self(self.0.choose(b.0, c.0), self.1.choose(b.1, c.1));
        fn majority(self, b: Self, c: Self) = Self(self.0.majority(b.0, c.0), self.1.majority(b.1, c.1));
        fn or_not_xor(self, b: Self, c: Self) = Self(self.0.or_not_xor(b.0, c.0), self.1.or_not_xor(b.1, c.1));
        fn rotate_right<const N: i32>(self) = Self(self.0.rotate_right::<N>(), self.1.rotate_right::<N>());
        fn rotate_left<const N: i32>(self) = Self(self.0.rotate_left::<N>(), self.1.rotate_left::<N>());
        fn shift_right<const N: i32>(self) = Self(self.0.shift_right::<N>(), self.1.shift_right::<N>());
    }
}

impl<V: Wide> Wide for Twin<V> {
    #[inline(always)]
    fn multiply_low(self, o: Self) -> Self {
        Self(self.0.multiply_low(o.0), self.1.multiply_low(o.1))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{W32x8, W32x16, W64x4, W64x8};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Wide};
    use std::arch::x86_64::*;

    macro_rules! avx512 {
        ($name:ident, $word:ty, $count:literal, $doc:literal, $set1:ident, $cast:ty, $add:ident, $ternary:ident, $ror:ident, $rol:ident, $srl:ident) => {
            #[doc = $doc]
            #[derive(Clone, Copy)]
            pub(crate) struct $name(__m512i);

            impl Lanes for $name {
                type Word = $word;
                const COUNT: usize = $count;

                #[inline(always)]
                unsafe fn load(from: &[$word]) -> Self {
                    debug_assert!(from.len() >= $count);
                    // SAFETY: the caller vouches for the processor and for the length.
                    Self(unsafe { _mm512_loadu_si512(from.as_ptr().cast()) })
                }
                #[inline(always)]
                fn store(self, to: &mut [$word]) {
                    if to.len() >= $count {
                        // SAFETY: the length was just checked; a value proves the instruction set.
                        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
                    }
                }
                // The immediates are truth tables: bit (a << 2 | b << 1 | c) is the result.
                operations! { proved
                    fn fill(self, word: $word) = $set1(word as $cast);
                    fn add(self, o: Self) = $add(self.0, o.0);
                    fn xor(self, o: Self) = _mm512_xor_si512(self.0, o.0);
                    fn xor3(self, b: Self, c: Self) = $ternary::<0x96>(self.0, b.0, c.0);
                    fn choose(self, b: Self, c: Self) = $ternary::<0xca>(self.0, b.0, c.0);
                    fn majority(self, b: Self, c: Self) = $ternary::<0xe8>(self.0, b.0, c.0);
                    fn or_not_xor(self, b: Self, c: Self) = $ternary::<0x59>(self.0, b.0, c.0);
                    fn rotate_right<const N: i32>(self) = $ror::<N>(self.0);
                    fn rotate_left<const N: i32>(self) = $rol::<N>(self.0);
                    fn shift_right<const N: i32>(self) = $srl(self.0, _mm_cvtsi32_si128(N));
                }
            }
        };
    }
    avx512! { W64x8, u64, 8, "Eight 64-bit words (AVX-512F).", _mm512_set1_epi64, i64, _mm512_add_epi64,
    _mm512_ternarylogic_epi64, _mm512_ror_epi64, _mm512_rol_epi64, _mm512_srl_epi64 }
    avx512! { W32x16, u32, 16, "Sixteen 32-bit words (AVX-512F).", _mm512_set1_epi32, i32, _mm512_add_epi32,
    _mm512_ternarylogic_epi32, _mm512_ror_epi32, _mm512_rol_epi32, _mm512_srl_epi32 }

    macro_rules! avx2 {
        ($name:ident, $word:ty, $count:literal, $doc:literal, $set1:ident, $cast:ty, $add:ident, $srl:ident, $sll:ident) => {
            #[doc = $doc]
            #[derive(Clone, Copy)]
            pub(crate) struct $name(__m256i);

            impl Lanes for $name {
                type Word = $word;
                const COUNT: usize = $count;

                #[inline(always)]
                unsafe fn load(from: &[$word]) -> Self {
                    debug_assert!(from.len() >= $count);
                    // SAFETY: the caller vouches for the processor and for the length.
                    Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
                }
                #[inline(always)]
                fn store(self, to: &mut [$word]) {
                    if to.len() >= $count {
                        // SAFETY: the length was just checked; a value proves the instruction set.
                        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
                    }
                }
                operations! {
                    fn xor3(self, b: Self, c: Self) = self.xor(b).xor(c);
                    // Where self and b agree that is the answer, elsewhere c decides.
                    fn majority(self, b: Self, c: Self) = self.xor(b).choose(c, b);
                }
                operations! { proved
                    fn fill(self, word: $word) = $set1(word as $cast);
                    fn add(self, o: Self) = $add(self.0, o.0);
                    fn xor(self, o: Self) = _mm256_xor_si256(self.0, o.0);
                    fn choose(self, b: Self, c: Self) =
                        _mm256_xor_si256(_mm256_and_si256(self.0, _mm256_xor_si256(b.0, c.0)), c.0);
                    fn or_not_xor(self, b: Self, c: Self) =
                        Self(_mm256_andnot_si256(self.0, b.0)).xor(c).xor(self.fill(!0)).0;
                    fn rotate_right<const N: i32>(self) = _mm256_or_si256(
                        $srl(self.0, _mm_cvtsi32_si128(N)),
                        $sll(self.0, _mm_cvtsi32_si128(<$word>::BITS as i32 - N))
                    );
                    fn rotate_left<const N: i32>(self) = _mm256_or_si256(
                        $sll(self.0, _mm_cvtsi32_si128(N)),
                        $srl(self.0, _mm_cvtsi32_si128(<$word>::BITS as i32 - N))
                    );
                    fn shift_right<const N: i32>(self) = $srl(self.0, _mm_cvtsi32_si128(N));
                }
            }
        };
    }
    avx2! { W64x4, u64, 4, "Four 64-bit words (AVX2).", _mm256_set1_epi64x, i64, _mm256_add_epi64,
    _mm256_srl_epi64, _mm256_sll_epi64 }
    avx2! { W32x8, u32, 8, "Eight 32-bit words (AVX2).", _mm256_set1_epi32, i32, _mm256_add_epi32,
    _mm256_srl_epi32, _mm256_sll_epi32 }

    impl Wide for W64x4 {
        #[inline(always)]
        fn multiply_low(self, o: Self) -> Self {
            // SAFETY: holding `self` proves the instruction set.
            Self(unsafe { _mm256_mul_epu32(self.0, o.0) })
        }
    }

    impl Wide for W64x8 {
        #[inline(always)]
        fn multiply_low(self, o: Self) -> Self {
            // SAFETY: holding `self` proves the instruction set.
            Self(unsafe { _mm512_mul_epu32(self.0, o.0) })
        }

        #[inline(always)]
        fn transpose(v: [Self; 8]) -> [Self; 8] {
            // SAFETY: holding the vectors proves the instruction set.
            unsafe {
                // Pairs of words of even and of odd numbers, then 4×4 transposes of such pairs.
                let e0 = _mm512_unpacklo_epi64(v[0].0, v[1].0);
                let e1 = _mm512_unpacklo_epi64(v[2].0, v[3].0);
                let e2 = _mm512_unpacklo_epi64(v[4].0, v[5].0);
                let e3 = _mm512_unpacklo_epi64(v[6].0, v[7].0);
                let o0 = _mm512_unpackhi_epi64(v[0].0, v[1].0);
                let o1 = _mm512_unpackhi_epi64(v[2].0, v[3].0);
                let o2 = _mm512_unpackhi_epi64(v[4].0, v[5].0);
                let o3 = _mm512_unpackhi_epi64(v[6].0, v[7].0);
                // 0x88 takes the pairs 0 and 2 of both, 0xdd the pairs 1 and 3.
                let (ea, eb) = (_mm512_shuffle_i64x2::<0x88>(e0, e1), _mm512_shuffle_i64x2::<0x88>(e2, e3));
                let (ec, ed) = (_mm512_shuffle_i64x2::<0xdd>(e0, e1), _mm512_shuffle_i64x2::<0xdd>(e2, e3));
                let (oa, ob) = (_mm512_shuffle_i64x2::<0x88>(o0, o1), _mm512_shuffle_i64x2::<0x88>(o2, o3));
                let (oc, od) = (_mm512_shuffle_i64x2::<0xdd>(o0, o1), _mm512_shuffle_i64x2::<0xdd>(o2, o3));
                [
                    Self(_mm512_shuffle_i64x2::<0x88>(ea, eb)),
                    Self(_mm512_shuffle_i64x2::<0x88>(oa, ob)),
                    Self(_mm512_shuffle_i64x2::<0x88>(ec, ed)),
                    Self(_mm512_shuffle_i64x2::<0x88>(oc, od)),
                    Self(_mm512_shuffle_i64x2::<0xdd>(ea, eb)),
                    Self(_mm512_shuffle_i64x2::<0xdd>(oa, ob)),
                    Self(_mm512_shuffle_i64x2::<0xdd>(ec, ed)),
                    Self(_mm512_shuffle_i64x2::<0xdd>(oc, od)),
                ]
            }
        }
    }
}
