//! Streebog-512 (GOST R 34.11-2012, RFC 6986) over rows, for any number of chains at once.
//!
//! The 512-bit numbers of the standard are eight 64-bit words here, the least significant first,
//! which is also the order of their bytes in a message.

use super::rows::{OneState, Rows, RowsHash, Words, byte};

/// The byte substitution π (RFC 6986, section 6.2).
#[rustfmt::skip]
pub(super) const PI: [u8; 256] = [
    0xfc, 0xee, 0xdd, 0x11, 0xcf, 0x6e, 0x31, 0x16, 0xfb, 0xc4, 0xfa, 0xda, 0x23, 0xc5, 0x04, 0x4d,
    0xe9, 0x77, 0xf0, 0xdb, 0x93, 0x2e, 0x99, 0xba, 0x17, 0x36, 0xf1, 0xbb, 0x14, 0xcd, 0x5f, 0xc1,
    0xf9, 0x18, 0x65, 0x5a, 0xe2, 0x5c, 0xef, 0x21, 0x81, 0x1c, 0x3c, 0x42, 0x8b, 0x01, 0x8e, 0x4f,
    0x05, 0x84, 0x02, 0xae, 0xe3, 0x6a, 0x8f, 0xa0, 0x06, 0x0b, 0xed, 0x98, 0x7f, 0xd4, 0xd3, 0x1f,
    0xeb, 0x34, 0x2c, 0x51, 0xea, 0xc8, 0x48, 0xab, 0xf2, 0x2a, 0x68, 0xa2, 0xfd, 0x3a, 0xce, 0xcc,
    0xb5, 0x70, 0x0e, 0x56, 0x08, 0x0c, 0x76, 0x12, 0xbf, 0x72, 0x13, 0x47, 0x9c, 0xb7, 0x5d, 0x87,
    0x15, 0xa1, 0x96, 0x29, 0x10, 0x7b, 0x9a, 0xc7, 0xf3, 0x91, 0x78, 0x6f, 0x9d, 0x9e, 0xb2, 0xb1,
    0x32, 0x75, 0x19, 0x3d, 0xff, 0x35, 0x8a, 0x7e, 0x6d, 0x54, 0xc6, 0x80, 0xc3, 0xbd, 0x0d, 0x57,
    0xdf, 0xf5, 0x24, 0xa9, 0x3e, 0xa8, 0x43, 0xc9, 0xd7, 0x79, 0xd6, 0xf6, 0x7c, 0x22, 0xb9, 0x03,
    0xe0, 0x0f, 0xec, 0xde, 0x7a, 0x94, 0xb0, 0xbc, 0xdc, 0xe8, 0x28, 0x50, 0x4e, 0x33, 0x0a, 0x4a,
    0xa7, 0x97, 0x60, 0x73, 0x1e, 0x00, 0x62, 0x44, 0x1a, 0xb8, 0x38, 0x82, 0x64, 0x9f, 0x26, 0x41,
    0xad, 0x45, 0x46, 0x92, 0x27, 0x5e, 0x55, 0x2f, 0x8c, 0xa3, 0xa5, 0x7d, 0x69, 0xd5, 0x95, 0x3b,
    0x07, 0x58, 0xb3, 0x40, 0x86, 0xac, 0x1d, 0xf7, 0x30, 0x37, 0x6b, 0xe4, 0x88, 0xd9, 0xe7, 0x89,
    0xe1, 0x1b, 0x83, 0x49, 0x4c, 0x3f, 0xf8, 0xfe, 0x8d, 0x53, 0xaa, 0x90, 0xca, 0xd8, 0x85, 0x61,
    0x20, 0x71, 0x67, 0xa4, 0x2d, 0x2b, 0x09, 0x5b, 0xcb, 0x9b, 0x25, 0xd0, 0xbe, 0xe5, 0x6c, 0x52,
    0x59, 0xa6, 0x74, 0xd2, 0xe6, 0xf4, 0xb4, 0xc0, 0xd1, 0x66, 0xaf, 0xc2, 0x39, 0x4b, 0x63, 0xb6,
];

/// The matrix A of the linear transformation l (section 6.4), the row of the highest bit first.
#[rustfmt::skip]
const A: [u64; 64] = [
    0x8e20_faa7_2ba0_b470, 0x4710_7ddd_9b50_5a38, 0xad08_b0e0_c328_2d1c, 0xd804_5870_ef14_980e,
    0x6c02_2c38_f90a_4c07, 0x3601_161c_f205_268d, 0x1b8e_0b0e_798c_13c8, 0x8347_8b07_b246_8764,
    0xa011_d380_818e_8f40, 0x5086_e740_ce47_c920, 0x2843_fd20_67ad_ea10, 0x14af_f010_bdd8_7508,
    0x0ad9_7808_d06c_b404, 0x05e2_3c04_6836_5a02, 0x8c71_1e02_341b_2d01, 0x46b6_0f01_1a83_988e,
    0x90da_b52a_387a_e76f, 0x486d_d415_1c3d_fdb9, 0x24b8_6a84_0e90_f0d2, 0x125c_3542_0748_7869,
    0x092e_9421_8d24_3cba, 0x8a17_4a9e_c812_1e5d, 0x4585_254f_6409_0fa0, 0xaccc_9ca9_328a_8950,
    0x9d4d_f05d_5f66_1451, 0xc0a8_78a0_a133_0aa6, 0x6054_3c50_de97_0553, 0x302a_1e28_6fc5_8ca7,
    0x1815_0f14_b9ec_46dd, 0x0c84_890a_d276_23e0, 0x0642_ca05_693b_9f70, 0x0321_658c_ba93_c138,
    0x8627_5df0_9ce8_aaa8, 0x439d_a078_4e74_5554, 0xafc0_503c_273a_a42a, 0xd960_281e_9d1d_5215,
    0xe230_140f_c080_2984, 0x7118_0a89_6040_9a42, 0xb60c_05ca_3020_4d21, 0x5b06_8c65_1810_a89e,
    0x456c_3488_7a38_05b9, 0xac36_1a44_3d1c_8cd2, 0x561b_0d22_900e_4669, 0x2b83_8811_4807_23ba,
    0x9bcf_4486_248d_9f5d, 0xc3e9_2243_12c8_c1a0, 0xeffa_11af_0964_ee50, 0xf97d_86d9_8a32_7728,
    0xe4fa_2054_a80b_329c, 0x727d_102a_548b_194e, 0x39b0_0815_2acb_8227, 0x9258_0484_15eb_419d,
    0x492c_0242_84fb_aec0, 0xaa16_0121_42f3_5760, 0x550b_8e9e_21f7_a530, 0xa48b_474f_9ef5_dc18,
    0x70a6_a56e_2440_598e, 0x3853_dc37_1220_a247, 0x1ca7_6e95_0910_51ad, 0x0edd_37c4_8a08_a6d8,
    0x07e0_9562_4504_536c, 0x8d70_c431_ac02_a736, 0xc838_6296_5601_dd1b, 0x641c_314b_2b8e_e083,
];

/// The iteration constants C_1 to C_12 (section 6.5).
#[rustfmt::skip]
const C: [Words; 12] = [
    [0xdd80_6559_f2a6_4507, 0x0576_7436_cc74_4d23, 0xa242_2a08_a460_d315, 0x4b7c_e091_9267_6901, 0x714e_b88d_7585_c4fc, 0x2f6a_7643_2e45_d016, 0xebcb_2f81_c065_7c1f, 0xb108_5bda_1eca_dae9],
    [0xe679_0470_21b1_9bb7, 0x55dd_a21b_d7cb_cd56, 0x5cb5_61c2_db0a_a7ca, 0x9ab5_176b_12d6_9958, 0x61d5_5e0f_16b5_0131, 0xf3fe_ea72_0a23_2b98, 0x4fe3_9d46_0f70_b5d7, 0x6fa3_b58a_a99d_2f1a],
    [0x991e_96f5_0aba_0ab2, 0xc2b6_f443_867a_db31, 0xc1c9_3a37_6062_db09, 0xd3e2_0fe4_9035_9eb1, 0xf2ea_7514_b129_7b7b, 0x06f1_5e5f_529c_1f8b, 0x0a39_fc28_6a3d_8435, 0xf574_dcac_2bce_2fc7],
    [0x220c_bebc_84e3_d12e, 0x3453_eaa1_93e8_37f1, 0xd8b7_1333_9352_03be, 0xa9d7_2c82_ed03_d675, 0x9d72_1cad_685e_353f, 0x488e_857e_335c_3c7d, 0xf948_e1a0_5d71_e4dd, 0xef1f_dfb3_e815_66d2],
    [0x6017_58fd_7c6c_fe57, 0x7a56_a27e_a9ea_63f5, 0xdfff_00b7_2327_1a16, 0xbfcd_1747_253a_f5a3, 0x359e_35d7_800f_ffbd, 0x7f15_1c1f_1686_104a, 0x9a3f_410c_6ca9_2363, 0x4bea_6bac_ad47_4799],
    [0xfa68_407a_4664_7d6e, 0xbf71_c572_3690_4f35, 0x0af2_1f66_c2be_c6b6, 0xcffa_a6b7_1c9a_b7b4, 0x187f_9ab4_9af0_8ec6, 0x2d66_c4f9_5142_a46c, 0x6fa4_c33b_7a30_39c0, 0xae4f_aeae_1d3a_d3d9],
    [0x8886_564d_3a14_d493, 0x3517_454c_a23c_4af3, 0x0647_6983_284a_0504, 0x0992_abc5_2d82_2c37, 0xd347_3e33_197a_93c9, 0x399e_c6c7_e6bf_87c9, 0x51ac_86fe_bf24_0954, 0xf4c7_0e16_eeaa_c5ec],
    [0xa47f_0dd4_bf02_e71e, 0x36ac_c235_5951_a8d9, 0x69d1_8d2b_d1a5_c42f, 0xf489_2bcb_929b_0690, 0x89b4_443b_4ddb_c49a, 0x4eb7_f871_9c36_de1e, 0x03e7_aa02_0c6e_4141, 0x9b1f_5b42_4d93_c9a7],
    [0x7261_4451_8323_5adb, 0x0e38_dc92_cb1f_2a60, 0x7b2b_8a9a_a607_9c54, 0x800a_440b_dbb2_ceb1, 0x3cd9_55b7_e00d_0984, 0x3a7d_3a1b_2589_4224, 0x944c_9ad8_ec16_5fde, 0x378f_5a54_1631_229b],
    [0x74b4_c7fb_9845_9ced, 0x3698_fad1_153b_b6c3, 0x7a1e_6c30_3b76_52f4, 0x9fe7_6702_af69_334b, 0x1fff_e18a_1b33_6103, 0x8941_e71c_ff8a_78db, 0x382a_e548_b2e4_f3f3, 0xabbe_dea6_8005_6f52],
    [0x6bca_a4cd_81f3_2d1b, 0xdea2_594a_c06f_d85d, 0xefba_cd1d_7d47_6e98, 0x8a1d_71ef_ea48_b9ca, 0x2001_8021_1484_6679, 0xd8fa_6bbb_ebab_0761, 0x3002_c6cd_635a_fe94, 0x7bcd_9ed0_efc8_89fb],
    [0x48bc_924a_f11b_d720, 0xfaf4_17d5_d9b2_1b99, 0xe71d_a4aa_88e1_2852, 0x5d80_ef9d_1891_cc86, 0xf820_12d4_3021_9f9b, 0xcda4_3c32_bcdf_1d77, 0xd213_80b0_0449_b17a, 0x378e_e767_f116_31ba],
];

/// What the linear transformation makes of bit `bit` of byte `byte`.
pub(super) const fn linear(byte: usize, bit: usize) -> u64 {
    A[63 - (8 * byte + bit)]
}

/// Rows that can go through the transformation LPS and be added.
pub(crate) trait StreebogRows: Rows {
    /// Substitution, transposition and linear transformation (section 7).
    fn lps(self) -> Self;
    /// That of two states. Neither waits for the other, so that one can compute while the other waits
    /// for its results, if their instructions are close enough for the processor to see both.
    #[inline(always)]
    fn lps_both(self, other: Self) -> (Self, Self) {
        (self.lps(), other.lps())
    }
    /// The sum modulo 2^512 with words that are not arranged.
    fn add(self, words: &Words) -> Self;
}

/// Streebog with 64 bytes of digest.
pub(crate) struct Streebog;

/// The state after the key block, as far as the next block's processing does not depend on that block.
/// All but the checksum is arranged for the rows, as are the constants.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    /// The keys of the next block's encryption, the last one combined with `h` for the feed-forward.
    keys: [Words; 13],
    constants: [Words; 12],
    /// The counter after two blocks.
    two_blocks: Words,
    padding: Words,
    /// The checksum so far and the padding block's share.
    sigma: Words,
}

/// The counter N after `blocks` blocks.
const fn bits(blocks: u64) -> Words {
    [512 * blocks, 0, 0, 0, 0, 0, 0, 0]
}

/// The padding behind whole blocks: a one bit, then zeros.
const PADDING: Words = [1, 0, 0, 0, 0, 0, 0, 0];

impl<R: StreebogRows> RowsHash<R> for Streebog {
    type Keyed = Keyed;

    fn keyed(block: &Words) -> Keyed {
        // The hash begins with zeros (section 4.3, 512-bit digest).
        let zero = OneState([0; 8]);
        let h = g(zero, zero, OneState(*block), &C);
        let mut key = h.xor_words(&bits(1)).lps();
        let mut keys = [key.0; 13];
        for (next, c) in keys[1..].iter_mut().zip(&C) {
            key = key.xor_words(c).lps();
            *next = key.0;
        }
        keys[12] = key.xor(h).0;
        Keyed {
            keys: keys.map(|key| R::arrange(&key)),
            constants: C.map(|constant| R::arrange(&constant)),
            two_blocks: R::arrange(&bits(2)),
            padding: R::arrange(&PADDING),
            sigma: OneState(*block).add(&PADDING).0,
        }
    }

    #[inline(always)]
    fn second(keyed: &Keyed, digest: R) -> R {
        let mut state = digest;
        for key in &keyed.keys[..12] {
            state = state.xor_words(key).lps();
        }
        let h = state.xor_words(&keyed.keys[12]).xor(digest);
        let h = g(h, h.xor_words(&keyed.two_blocks), h.fill(&keyed.padding), &keyed.constants);
        let h = g(h, h, h.fill(&keyed.two_blocks), &keyed.constants);
        g(h, h, digest.add(&keyed.sigma), &keyed.constants)
    }
}

/// The compression function (section 8) of `h`, `h ^ N` and a block.
#[inline(always)]
fn g<R: StreebogRows>(h: R, h_xor_n: R, block: R, constants: &[Words; 12]) -> R {
    let mut key = h_xor_n.lps();
    let mut state = block;
    for c in constants {
        (state, key) = state.xor(key).lps_both(key.xor_words(c));
    }
    state.xor3(key, h).xor(block)
}

/// π followed by the share of byte `j` in the linear transformation, for each `j`.
static TABLE: [[u64; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut i = 0;
    while i < 8 * 256 * 8 {
        let (j, x, bit) = (i >> 11, i >> 3 & 255, i & 7);
        if PI[x] >> bit & 1 == 1 {
            table[j][x] ^= linear(j, bit);
        }
        i += 1;
    }
    table
};

impl StreebogRows for OneState {
    #[inline(always)]
    fn lps(self) -> Self {
        Self(std::array::from_fn(|i| (0..8).fold(0, |sum, j| sum ^ TABLE[j][byte(self.0[j], i)])))
    }
    #[inline(always)]
    fn add(self, words: &Words) -> Self {
        let mut carry = false;
        Self(std::array::from_fn(|i| {
            let (sum, over) = self.0[i].overflowing_add(words[i]);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over | over_again;
            sum
        }))
    }
}
