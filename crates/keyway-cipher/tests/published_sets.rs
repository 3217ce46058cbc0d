//! Whole published sets of vectors, on every kernel. Inputs follow from the sets' rules; long
//! outputs are held against the CRC-32 of what was published.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use keyway_cipher::{Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_testkit::hex;

fn ciphers(name: &str, mode: Mode, unit_bytes: u32, key: &[u8], tweak_key: &[u8]) -> Vec<SectorCipher> {
    let chain: Chain = name.parse().expect("known names");
    let spec = Spec { chain, mode, unit_bytes };
    let make = |kernel| SectorCipher::with_kernel(&spec, &[LayerKey { key, tweak_key }], kernel);
    Kernel::available().into_iter().map(|kernel| make(kernel).expect("made")).collect()
}

/// Blocks that stand alone: LRW with a zero tweak key has nothing to mix in.
fn blocks(name: &str, key: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut agreed: Option<Vec<u8>> = None;
    for cipher in ciphers(name, Mode::Lrw, 16, key, &[0; 16]) {
        let mut bytes = plain.to_vec();
        cipher.encrypt_sectors(&mut bytes, 0);
        let first = agreed.get_or_insert_with(|| bytes.clone());
        assert_eq!(*first, bytes, "{name} {}", cipher.kernel().name());
        cipher.decrypt_sectors(&mut bytes, 0);
        assert_eq!(bytes, plain, "{name} {}", cipher.kernel().name());
    }
    agreed.expect("at least the portable kernel")
}

/// NESSIE's sets 1 (keys of one bit), 2 (texts of one bit) and 3 (keys and texts of one byte,
/// repeated) for 256-bit keys: 640 vectors; and set 4's two.
fn nessie(name: &str, crcs: [u32; 3], set_4: [&str; 2]) {
    let bit = |bytes: usize, i: usize| {
        let mut one = vec![0u8; bytes];
        one[i / 8] = 0x80 >> (i % 8);
        one
    };
    let set_1: Vec<u8> = (0..256).flat_map(|i| blocks(name, &bit(32, i), &[0; 16])).collect();
    let texts: Vec<u8> = (0..128).flat_map(|i| bit(16, i)).collect();
    let set_2 = blocks(name, &[0; 32], &texts);
    let set_3: Vec<u8> = (0..=255).flat_map(|i| blocks(name, &[i; 32], &[i; 16])).collect();
    assert_eq!([set_1, set_2, set_3].map(|set| crc32fast::hash(&set)), crcs, "{name}");
    for (key, plain, expected) in [
        (
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            "00112233445566778899aabbccddeeff",
            set_4[0],
        ),
        (
            "2bd6459f82c5b300952c49104881ff482bd6459f82c5b300952c49104881ff48",
            "ea024714ad5c4d84ea024714ad5c4d84",
            set_4[1],
        ),
    ] {
        assert_eq!(blocks(name, &hex(key), &hex(plain)), hex(expected), "{name}");
    }
}

#[test]
fn serpent_nessie() {
    // serpent-256-128.verified.test-vectors; the CRCs are of its `cipher` lines.
    nessie(
        "serpent",
        [0x4a19_e879, 0xe06a_0e8b, 0x52b2_c5b1],
        ["2868b7a2d28ecd5e4fdefac3c4330074", "3e507730776b93fdea661235e1dd99f0"],
    );
    // Set 4, vector 0, iterated 1000 times.
    let key: Vec<u8> = (0..32).collect();
    let mut text = hex("00112233445566778899aabbccddeeff");
    for _ in 0..1000 {
        text = blocks("serpent", &key, &text);
    }
    assert_eq!(text, hex("9b1d8b34845df9bfd36aaad0cda1c8fe"));
}

#[test]
fn camellia_nessie() {
    // camellia-256-128.verified.test-vectors.
    nessie(
        "camellia",
        [0x31d4_4fad, 0x6257_53e3, 0xbe72_641e],
        ["2edf1f3418d53b88841fc8985fb1ecf2", "6d42e67bce9294327018317a7f838213"],
    );
}

#[test]
fn twofish_chain() {
    // The Twofish team's ECB_IVAL.TXT, 256-bit keys: each text is the previous one's cipher text,
    // each key made of the texts before. Then a vector that many libraries share.
    let (mut key, mut plain) = (vec![0u8; 32], vec![0u8; 16]);
    for i in 1..=48 {
        let cipher = blocks("twofish", &key, &plain);
        let expected = match i {
            1 => "57ff739d4dc92c1bd7fc01700cc8216f",
            2 => "d43bb7556ea32e46f2a282b7d45b4e0d",
            3 => "90afe91bb288544f2c32dc239b2635e6",
            4 => "6cb4561c40bf0a9705931cb6d408e7fa",
            5 => "3059d6d61753b958d92f4781c8640e58",
            48 => "431058f4dbc7f734da4f02f04cc4f459",
            _ => "",
        };
        assert!(expected.is_empty() || cipher == hex(expected), "I={i}");
        key.copy_within(..16, 16);
        key[..16].copy_from_slice(&plain);
        plain = cipher;
    }
    let counting: Vec<u8> = (0..32).collect();
    let expected = hex("8ef0272c42db838bcf7b07af0ec30f38");
    assert_eq!(blocks("twofish", &counting, &counting[..16]), expected);
}

#[test]
fn kuznyechik_gost() {
    // GOST R 34.13-2015, A.1.1: four blocks on their own under the key of GOST R 34.12-2015.
    let key = hex("8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef");
    let plain = hex("1122334455667700ffeeddccbbaa998800112233445566778899aabbcceeff0a
         112233445566778899aabbcceeff0a002233445566778899aabbcceeff0a0011");
    let expected = hex("7f679d90bebc24305a468d42b9d4edcdb429912c6e0032f9285452d76718d08b
         f0ca33549d247ceef3f5a5313bd4b157d0b09ccde830b9eb3a02c4c5aa8ada98");
    assert_eq!(blocks("kuznyechik", &key, &plain), expected);
}

/// The four blocks of text of NIST SP 800-38A, appendix F.
const SP_800_38A: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

#[test]
fn aes_sp_800_38a() {
    for (name, key, ecb, cbc) in [
        (
            "aes128",
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf
             43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2
             73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
        ),
        (
            "aes",
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870
             b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d
             39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
        ),
    ] {
        let (key, plain) = (hex(key), hex(SP_800_38A));
        assert_eq!(blocks(name, &key, &plain), hex(ecb), "{name} ECB");
        // TrueCrypt's CBC of a header: the seed's first 16 bytes are the IV, its bytes 8 to 16 are
        // xored into the cipher text.
        let mut seed = [0u8; 32];
        seed.iter_mut().zip(0..16).for_each(|(byte, i)| *byte = i);
        let whitened: Vec<u8> = hex(cbc).iter().zip(seed[8..16].iter().cycle()).map(|(c, w)| c ^ w).collect();
        for cipher in ciphers(name, Mode::Cbc, 512, &key, &seed) {
            let mut bytes = plain.clone();
            cipher.encrypt_header(&mut bytes);
            assert_eq!(bytes, whitened, "{name} CBC {}", cipher.kernel().name());
            cipher.decrypt_header(&mut bytes);
            assert_eq!(bytes, plain, "{name} CBC {}", cipher.kernel().name());
        }
    }
}

#[test]
fn xts_ieee_1619() {
    // IEEE 1619-2007, annex B. Vectors 1, 2 and 10 are in `vectors`; 15 to 18 have parts of blocks,
    // which no unit of ours has.
    let xts = |name: &str, key: &str, tweak_key: &str, unit_bytes| {
        ciphers(name, Mode::Xts, unit_bytes, &hex(key), &hex(tweak_key))
    };
    for cipher in xts("aes128", "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0", "22222222222222222222222222222222", 32) {
        let mut bytes = [0x44; 32];
        cipher.encrypt_sectors(&mut bytes, 0x33_3333_3333);
        let expected = hex("af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89");
        assert_eq!(bytes[..], expected, "vector 3");
        cipher.decrypt_sectors(&mut bytes, 0x33_3333_3333);
        assert_eq!(bytes, [0x44; 32], "vector 3");
    }
    let counting: Vec<u8> = (0..512).map(|i| i as u8).collect();

    // Vectors 4 to 9: each unit's text is the cipher text of the unit before, six of 256 are given.
    for cipher in xts("aes128", "27182818284590452353602874713526", "31415926535897932384626433832795", 512) {
        let mut bytes = counting.clone();
        for unit in 0..=0xff {
            cipher.encrypt_sectors(&mut bytes, unit);
            let (first, crc) = match unit {
                0 => ("27a7479befa1d476489f308cd4cfa6e2", 0x2bfd_c510),
                1 => ("264d3ca8512194fec312c8c9891f279f", 0xe272_67c9),
                2 => ("fa762a3680b76007928ed4a4f49a9456", 0xb86b_99de),
                0xfd => ("d55f684f81f4426e9fde92a5ff02df2a", 0x93ca_a315),
                0xfe => ("72efc1ebfe1ee25975a6eb3aa8589dda", 0x7ff1_0e2c),
                0xff => ("3260ae8dad1f4a32c5cafe3ab0eb9554", 0x1ade_8c27),
                _ => continue,
            };
            assert_eq!(bytes[..16], hex(first), "unit {unit:x} {}", cipher.kernel().name());
            assert_eq!(crc32fast::hash(&bytes), crc, "unit {unit:x} {}", cipher.kernel().name());
        }
        for unit in (0..=0xff).rev() {
            cipher.decrypt_sectors(&mut bytes, unit);
        }
        assert_eq!(bytes, counting, "{}", cipher.kernel().name());
    }

    // Vectors 10 to 14.
    for cipher in xts(
        "aes",
        "2718281828459045235360287471352662497757247093699959574966967627",
        "3141592653589793238462643383279502884197169399375105820974944592",
        512,
    ) {
        for (unit, first, crc) in [
            (0xff, "1c3b3a102f770386e4836c99e370cf9b", 0xff9e_4679),
            (0xffff, "77a31251618a15e6b92d1d66dffe7b50", 0xde7d_6063),
            (0xff_ffff, "e387aaa58ba483afa7e8eb469778317e", 0x44bd_d752),
            (0xffff_ffff, "bf53d2dade78e822a4d949a9bc6766b0", 0x5f0a_a245),
            (0xff_ffff_ffff, "64497e5a831e4a932c09be3e5393376d", 0xf774_8616),
        ] {
            let mut bytes = counting.clone();
            cipher.encrypt_sectors(&mut bytes, unit);
            assert_eq!(bytes[..16], hex(first), "unit {unit:x} {}", cipher.kernel().name());
            assert_eq!(crc32fast::hash(&bytes), crc, "unit {unit:x} {}", cipher.kernel().name());
            cipher.decrypt_sectors(&mut bytes, unit);
            assert_eq!(bytes, counting, "unit {unit:x} {}", cipher.kernel().name());
        }
    }
}
