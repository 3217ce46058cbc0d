//! The linear sums of Kuznyechik with GFNI.

/// [`Parts::sum`](super::kuznyechik::Parts::sum) with `$map`, which takes a matrix.
macro_rules! gfni_sum {
    ($vector:ty, $map:ident) => {
        #[inline(always)]
        unsafe fn sum(single: $vector, p: [$vector; 5], near: $vector, last: $vector) -> $vector {
            use $crate::kernels::rounds::kuznyechik::times::*;
            // SAFETY: the trait's contract.
            unsafe {
                let sum = $map::<BY_251>(single).xor($map::<BY_192>(p[4])).xor($map::<BY_194>(p[3]));
                let sum = sum.xor($map::<BY_16>(p[2])).xor($map::<BY_133>(p[1])).xor($map::<BY_32>(p[0]));
                // One multiplication more, but no addition before the one that all wait for.
                sum.xor($map::<BY_148>(near)).xor($map::<BY_148>(last))
            }
        }
    };
}
pub(super) use gfni_sum;
