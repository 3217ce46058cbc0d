//! CBC in plain Rust, over any cipher: each unit a chain of its own.

use crate::pass::{Cbc, Direction};

/// Units that are worked on together: encryption takes them side by side.
pub(crate) const UNITS_AT_ONCE: usize = 32;

/// CBC in plain Rust over whole units, `cipher` taking whole blocks of 16 bytes.
pub(crate) fn run(direction: Direction, units: &mut [u8], cbc: Cbc<'_>, mut cipher: impl FnMut(&mut [u8])) {
    let Cbc { ivs, unit_blocks } = cbc;
    let blocks = units.as_chunks_mut::<16>().0;
    match direction {
        Direction::Encrypt => {
            // The units side by side: a block of each at a time.
            let mut group = [[0u8; 16]; UNITS_AT_ONCE];
            for (units, ivs) in blocks.chunks_mut(UNITS_AT_ONCE * unit_blocks).zip(ivs.chunks(UNITS_AT_ONCE))
            {
                let group = &mut group[..ivs.len()];
                group.copy_from_slice(ivs);
                for at in 0..unit_blocks {
                    for (state, unit) in group.iter_mut().zip(units.chunks(unit_blocks)) {
                        *state = xor(*state, unit[at]);
                    }
                    cipher(group.as_flattened_mut());
                    for (state, unit) in group.iter().zip(units.chunks_mut(unit_blocks)) {
                        unit[at] = *state;
                    }
                }
            }
        }
        Direction::Decrypt => {
            let mut copy = [[0u8; 16]; 32];
            for (unit, iv) in blocks.chunks_mut(unit_blocks).zip(ivs) {
                let mut previous = *iv;
                for batch in unit.chunks_mut(copy.len()) {
                    let copy = &mut copy[..batch.len()];
                    copy.copy_from_slice(batch);
                    cipher(batch.as_flattened_mut());
                    for (block, cipher_text) in batch.iter_mut().zip(copy) {
                        *block = xor(*block, previous);
                        previous = *cipher_text;
                    }
                }
            }
        }
    }
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use crate::cipher::Cipher;
    use crate::pass::{Cbc, Direction, Ready};
    use crate::{Algorithm, Kernel};

    /// NIST SP 800-38A, F.2.1 and F.2.5: the first four blocks of a unit, which those behind don't
    /// change, in every place of a run that is long enough for every kernel's widest stride.
    #[test]
    fn cbc_on_every_kernel() {
        let plain = [
            0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172au128,
            0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51,
            0x30c8_1c46_a35c_e411_e5fb_c119_1a0a_52ef,
            0xf69f_2445_df4f_9b17_ad2b_417b_e66c_3710,
        ];
        let of_128 = [
            0x7649_abac_8119_b246_cee9_8e9b_12e9_197d,
            0x5086_cb9b_5072_19ee_95db_113a_9176_78b2,
            0x73be_d6b8_e3c1_743b_7116_e69e_2222_9516,
            0x3ff1_caa1_681f_ac09_120e_ca30_7586_e1a7,
        ];
        let of_256 = [
            0xf58c_4c04_d6e5_f1ba_779e_abfb_5f7b_fbd6,
            0x9cfc_4e96_7edb_808d_679f_777b_c670_2c7d,
            0x39f2_3369_a9d9_bacf_a530_e263_0423_1461,
            0xb2eb_05e2_c39b_e9fc_da6c_1907_8c6a_9d1b,
        ];
        let key_128 = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3cu128.to_be_bytes();
        let key_256 = [
            0x603d_eb10_15ca_71be_2b73_aef0_857d_7781u128.to_be_bytes(),
            0x1f35_2c07_3b61_08d7_2d98_10a3_0914_dff4u128.to_be_bytes(),
        ];
        let ivs = [0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0fu128.to_be_bytes(); 67];
        for (algorithm, key, expected) in
            [(Algorithm::Aes128, &key_128[..], of_128), (Algorithm::Aes256, key_256.as_flattened(), of_256)]
        {
            for (kernel, (unit_blocks, units)) in Kernel::available()
                .into_iter()
                .flat_map(|kernel| [(4, 3), (32, 67), (256, 11)].map(move |shape| (kernel, shape)))
            {
                let cipher = Cipher::new(algorithm, key, Ready::new(kernel).expect("available"));
                let mut texts = vec![[0u8; 16]; unit_blocks * units];
                for unit in texts.chunks_mut(unit_blocks) {
                    unit.iter_mut().zip(plain).for_each(|(block, text)| *block = text.to_be_bytes());
                }
                let original = texts.clone();
                let cbc = Cbc { ivs: &ivs[..units], unit_blocks };
                cipher.cbc(Direction::Encrypt, texts.as_flattened_mut(), cbc);
                for unit in texts.chunks(unit_blocks) {
                    let four = unit[..4].iter().map(|block| u128::from_be_bytes(*block));
                    assert!(four.eq(expected), "{} {unit_blocks}x{units}", kernel.name());
                }
                cipher.cbc(Direction::Decrypt, texts.as_flattened_mut(), cbc);
                assert_eq!(texts, original, "{} {unit_blocks}x{units}", kernel.name());
            }
        }
    }
}
