//! Serpent's S-boxes in logic of three operands, which AVX-512 has in one instruction: seven or eight
//! of them for a box, against some eighteen of two operands.
//!
//! Found by a search of our own: random pairs of three-operand functions of the inputs, then, as
//! long as an output is missing, one more that lets a three-operand function reach it. Truth tables
//! are numbered as `vpternlogd` has them.

use std::arch::x86_64::*;

/// # Safety
/// The caller has AVX-512.
#[inline(always)]
unsafe fn t<const TABLE: i32>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_ternarylogic_epi32::<TABLE>(a, b, c) }
}

/// One box: its steps, then its outputs.
macro_rules! s_box {
    ($name:ident($($input:ident)*), [$($step:ident = $table:literal ($a:ident $b:ident $c:ident)),*], [$($out:ident),*]) => {
        /// # Safety
        /// The caller has AVX-512.
        #[inline(always)]
        pub(super) unsafe fn $name([$($input),*]: [__m512i; 4]) -> [__m512i; 4] {
            // SAFETY: the caller's promise.
            unsafe {
                $(let $step = t::<$table>($a, $b, $c);)*
                [$($out),*]
            }
        }
    };
}

s_box!(s0(a b c d), [e = 0x36 (a b d), f = 0x2b (a b d), g = 0x66 (a c e), h = 0x4e (a b d), i = 0xa6 (c f h), j = 0x69 (f g i), k = 0xe1 (e i j)], [i, j, k, g]);
s_box!(s1(a b c d), [e = 0x27 (a b d), f = 0x6a (a b d), g = 0x69 (b c f), h = 0x93 (a c f), i = 0x6c (e f h), j = 0x9a (e g h), k = 0xb4 (e i j)], [k, i, g, j]);
s_box!(s2(a b c d), [e = 0x36 (a b d), f = 0x6a (a c d), g = 0x96 (b c f), h = 0xc6 (a c d), i = 0x3a (e f h), j = 0x9c (e f h), k = 0xa9 (e f h)], [g, i, j, k]);
s_box!(s3(a b c d), [e = 0x69 (a b d), f = 0x63 (b c d), g = 0x67 (a d f), h = 0xa6 (a e g), i = 0x72 (a e f), j = 0x4b (b g i), k = 0xa9 (f h i), l = 0x1b (e f j)], [j, h, k, l]);
s_box!(s4(a b c d), [e = 0x69 (a b d), f = 0x36 (a c d), g = 0x47 (a b d), h = 0x96 (b f g), i = 0x72 (e g h), j = 0x6c (e f i), k = 0x36 (b e h)], [h, j, i, k]);
s_box!(s5(a b c d), [e = 0x69 (a b d), f = 0x1b (a b d), g = 0x6a (a b c), h = 0x96 (d f g), i = 0xc9 (d e h), j = 0xd8 (e f h), k = 0x6c (e g j)], [h, i, j, k]);
s_box!(s6(a b c d), [e = 0x6c (a c d), f = 0x69 (a b d), g = 0x99 (a b e), h = 0xe4 (a d g), i = 0xac (e f h), j = 0x35 (e f h), k = 0xe1 (e f h)], [i, g, j, k]);
s_box!(s7(a b c d), [e = 0x21 (b c d), f = 0x94 (a b c), g = 0x1e (d e f), h = 0x1c (a d f), i = 0x56 (b c h), j = 0x1e (b d h), k = 0x5e (c f j), l = 0x96 (f i j)], [g, i, k, l]);
s_box!(inverse_s0(a b c d), [e = 0x4e (a b d), f = 0x6b (a b d), g = 0xa6 (c e f), h = 0x56 (a b c), i = 0x96 (e g h), j = 0x8b (e g h), k = 0x99 (a d h)], [i, j, k, g]);
s_box!(inverse_s1(a b c d), [e = 0x2d (a b d), f = 0x64 (a b d), g = 0x99 (a c e), h = 0xd9 (b d g), i = 0x92 (c f h), j = 0xc5 (a b d), k = 0x96 (c i j), l = 0xd2 (e i k)], [i, k, l, g]);
s_box!(inverse_s2(a b c d), [e = 0x72 (b c d), f = 0x1b (b c d), g = 0xd2 (a b c), h = 0x9a (b d g), i = 0x93 (e f h), j = 0x69 (a e i), k = 0x87 (e h j)], [h, i, j, k]);
s_box!(inverse_s3(a b c d), [e = 0x1d (a c d), f = 0x6a (a c d), g = 0xd6 (b c f), h = 0x9a (a e g), i = 0x1c (a b f), j = 0xc6 (f g i), k = 0x9a (c d i), l = 0xb4 (f h k)], [j, h, l, k]);
s_box!(inverse_s4(a b c d), [e = 0x38 (a b d), f = 0x4b (a b d), g = 0x89 (c d e), h = 0xb8 (c f g), i = 0xc9 (d e h), j = 0x78 (b c d), k = 0xa9 (a h j), l = 0x6e (b g j)], [h, k, l, i]);
s_box!(inverse_s5(a b c d), [e = 0x71 (a b c), f = 0x16 (a b d), g = 0x9a (b c f), h = 0xca (a c g), i = 0x96 (d f h), j = 0x96 (d e h), k = 0x78 (a b g), l = 0x9a (c j k)], [g, i, l, j]);
s_box!(inverse_s6(a b c d), [e = 0x65 (a c d), f = 0x59 (a c d), g = 0x66 (a b f), h = 0xb1 (a c d), i = 0xac (b e h), j = 0x3a (b e h), k = 0x87 (f i j)], [i, g, k, j]);
s_box!(inverse_s7(a b c d), [e = 0x58 (a c d), f = 0x63 (a b c), g = 0x45 (a b e), h = 0x96 (d f g), i = 0x4e (a c d), j = 0x4e (e f i), k = 0xc6 (b g i), l = 0x9c (h i k)], [j, k, h, l]);
