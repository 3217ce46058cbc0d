//! What SHA-256 and SHA-512 have in common: FIPS 180-4 writes both down alike, but for words, constants
//! and rotations.

/// Makes a hash function in lanes of its words, initial state, round constants, and the rotations of
/// sections 4.1.2 and 4.1.3: of upper-case sigma 0 and 1, and of lower-case sigma 0 and 1, where the last
/// number is a shift.
macro_rules! sha2 {
    (
        $name:ident, $word:ident, $iv:ident, $k:ident, $a0:literal $b0:literal $c0:literal,
        $a1:literal $b1:literal $c1:literal, $d0:literal $e0:literal $f0:literal, $d1:literal $e1:literal $f1:literal
    ) => {
        impl LaneHash<8> for $name {
            type Word = $word;

            fn read(bytes: &[u8]) -> $word {
                bytes.iter().fold(0, |word, &b| word << 8 | $word::from(b))
            }
            fn write(word: $word, bytes: &mut [u8]) {
                bytes.iter_mut().zip(word.to_be_bytes()).for_each(|(to, b)| *to = b);
            }

            fn midstate(block: &[$word; 16]) -> [$word; 8] {
                compress($iv, *block)
            }

            #[inline(always)]
            fn second<V: Lanes<Word = $word>>(midstate: [V; 8], digest: [V; 8]) -> [V; 8] {
                let [a, b, c, d, e, f, g, h] = digest;
                let zero = a.fill(0);
                let end = a.fill(1 << ($word::BITS - 1));
                // The length in bits: a key block of 16 words and a digest of 8.
                let length = a.fill(24 * $word::from($word::BITS));
                compress(midstate, [a, b, c, d, e, f, g, h, end, zero, zero, zero, zero, zero, zero, length])
            }
        }

        #[inline(always)]
        fn compress<V: Lanes<Word = $word>>(state: [V; 8], mut w: [V; 16]) -> [V; 8] {
            let (first, rest) = $k.split_at(16);
            let mut now = state;
            for i in 0..16 {
                now = round(now, w[i], first[i]);
            }
            for constants in rest.chunks_exact(16) {
                for i in 0..16 {
                    let (w1, w14) = (w[(i + 1) % 16], w[(i + 14) % 16]);
                    let s0 = w1.rotate_right::<$d0>().xor3(w1.rotate_right::<$e0>(), w1.shift_right::<$f0>());
                    let s1 =
                        w14.rotate_right::<$d1>().xor3(w14.rotate_right::<$e1>(), w14.shift_right::<$f1>());
                    w[i] = w[i].add(s0).add(w[(i + 9) % 16].add(s1));
                    now = round(now, w[i], constants[i]);
                }
            }
            std::array::from_fn(|i| state[i].add(now[i]))
        }

        #[inline(always)]
        fn round<V: Lanes<Word = $word>>(
            [a, b, c, d, e, f, g, h]: [V; 8],
            word: V,
            constant: $word,
        ) -> [V; 8] {
            let s1 = e.rotate_right::<$a1>().xor3(e.rotate_right::<$b1>(), e.rotate_right::<$c1>());
            let t1 = h.add(word.add(a.fill(constant))).add(e.choose(f, g)).add(s1);
            let s0 = a.rotate_right::<$a0>().xor3(a.rotate_right::<$b0>(), a.rotate_right::<$c0>());
            let t2 = s0.add(a.majority(b, c));
            [t1.add(t2), a, b, c, d.add(t1), e, f, g]
        }
    };
}
pub(super) use sha2;
