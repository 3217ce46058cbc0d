//! Camellia's S-boxes with two GFNI instructions.

/// Matrices for GFNI: into AES's field, and out of it with the rotation of each S-box.
pub(super) mod gfni {
    pub(in crate::kernels::x86_64) const INTO: i64 = 0x3e8a_d8b5_2d81_a4c5;
    /// After a rotation left by one, for S-box 4.
    pub(in crate::kernels::x86_64) const INTO_S4: i64 = 0x1f45_6cda_96c0_52e2;
    pub(in crate::kernels::x86_64) const INTO_CONSTANT: i32 = 0x0b;
    pub(in crate::kernels::x86_64) const OUT: i64 = 0xc0ba_5f8c_8dfc_1e04_u64 as i64;
    pub(in crate::kernels::x86_64) const OUT_S2: i64 = 0x04c0_ba5f_8c8d_fc1e;
    pub(in crate::kernels::x86_64) const OUT_S3: i64 = 0xba5f_8c8d_fc1e_04c0_u64 as i64;
    pub(in crate::kernels::x86_64) const OUT_CONSTANT: i32 = 0x6e;
    pub(in crate::kernels::x86_64) const OUT_CONSTANT_S2: i32 = 0xdc;
    pub(in crate::kernels::x86_64) const OUT_CONSTANT_S3: i32 = 0x37;
}

/// The S-boxes with two GFNI instructions.
macro_rules! gfni_boxes {
    ($boxes:ident, $vector:ty, $set:ident, $affine:ident, $affine_inverse:ident) => {
        struct $boxes;

        impl $boxes {
            #[inline(always)]
            unsafe fn sub<const INTO: i64, const OUT: i64, const CONSTANT: i32>(x: $vector) -> $vector {
                // SAFETY: the caller has the instruction set.
                unsafe {
                    // The inversion comes first in the second instruction, as it has to.
                    let x = $affine::<INTO_CONSTANT>(x, $set(INTO));
                    $affine_inverse::<CONSTANT>(x, $set(OUT))
                }
            }
        }

        impl Boxes<$vector> for $boxes {
            type Back = Self;

            #[inline(always)]
            unsafe fn s1(x: $vector) -> $vector {
                // SAFETY: the trait's contract.
                unsafe { Self::sub::<INTO, OUT, OUT_CONSTANT>(x) }
            }

            #[inline(always)]
            unsafe fn s2(x: $vector) -> $vector {
                // SAFETY: the trait's contract.
                unsafe { Self::sub::<INTO, OUT_S2, OUT_CONSTANT_S2>(x) }
            }

            #[inline(always)]
            unsafe fn s3(x: $vector) -> $vector {
                // SAFETY: the trait's contract.
                unsafe { Self::sub::<INTO, OUT_S3, OUT_CONSTANT_S3>(x) }
            }

            #[inline(always)]
            unsafe fn s4(x: $vector) -> $vector {
                // SAFETY: the trait's contract.
                unsafe { Self::sub::<INTO_S4, OUT, OUT_CONSTANT>(x) }
            }
        }
    };
}
pub(super) use gfni_boxes;
