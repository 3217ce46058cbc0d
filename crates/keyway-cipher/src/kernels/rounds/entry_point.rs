//! The macro for a kernel's entry point.

/// Makes `pass`, a kernel's entry point: safe to call where the named features are present.
macro_rules! entry_point {
    ($features:literal, [$($generics:tt)*], $keys:ty, $lanes:ty, $width:literal, $few:literal, $encrypt:ident, $decrypt:ident) => {
        #[target_feature(enable = $features)]
        pub(in crate::kernels) fn pass<$($generics)*>(keys: &$keys, pass: $crate::pass::Pass<'_>) {
            use $crate::pass::Direction;
            // SAFETY: the features that the vectors and rounds need are on in this function.
            unsafe {
                match pass.direction {
                    Direction::Encrypt => {
                        $crate::kernels::rounds::run::run::<$lanes, $width, $few, _>(pass, &$encrypt(keys));
                    }
                    // Tweaks are encrypted whichever way the data goes.
                    Direction::Decrypt => {
                        $crate::kernels::rounds::run::run::<$lanes, $width, $width, _>(pass, &$decrypt(keys));
                    }
                }
            }
        }
    };
}
pub(in crate::kernels) use entry_point;
