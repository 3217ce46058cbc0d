//! Published vectors for every cipher and mode, on every kernel; and headers that TrueCrypt made.
#![allow(clippy::expect_used, reason = "tests; the helpers here are not functions marked as such")]

use keyway_cipher::{Chain, Kernel, LayerKey, Mode, SectorCipher, Spec};
use keyway_testkit::hex;

/// A cipher for each kernel; `keys` are the chain's, outermost first, without separation.
fn ciphers(chain: &str, mode: Mode, unit_bytes: u32, keys: &[u8], tweak_keys: &[u8]) -> Vec<SectorCipher> {
    let chain: Chain = chain.parse().expect("known names");
    let (mut rest, mut tweak_rest) = (keys, tweak_keys);
    let layers: Vec<_> = chain
        .layers()
        .map(|algorithm| {
            let (key, after) = rest.split_at(algorithm.key_bytes());
            rest = after;
            let tweak_key = match mode {
                Mode::Xts => tweak_rest.split_off(..algorithm.key_bytes()).expect("long enough"),
                _ => tweak_keys,
            };
            LayerKey { key, tweak_key }
        })
        .collect();
    Kernel::available()
        .into_iter()
        .map(|kernel| {
            SectorCipher::with_kernel(&Spec { chain, mode, unit_bytes }, &layers, kernel).expect("made")
        })
        .collect()
}

/// One block by itself: a header of one block in CBC, with neither IV nor whitening.
fn block(name: &str, key: &str, plain: &str, expected: &str) {
    let (plain, expected) = (hex(plain), hex(expected));
    for cipher in ciphers(name, Mode::Cbc, 512, &hex(key), &[0; 32]) {
        let mut bytes = plain.clone();
        cipher.encrypt_header(&mut bytes);
        assert_eq!(bytes, expected, "{name} {}", cipher.kernel().name());
        cipher.decrypt_header(&mut bytes);
        assert_eq!(bytes, plain, "{name} {}", cipher.kernel().name());
    }
}

#[test]
fn aes() {
    // FIPS 197, appendix C.
    let plain = "00112233445566778899aabbccddeeff";
    block("aes128", "000102030405060708090a0b0c0d0e0f", plain, "69c4e0d86a7b0430d8cdb78070b4c55a");
    block(
        "aes",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        plain,
        "8ea2b7ca516745bfeafc49904b496089",
    );
}

#[test]
fn serpent() {
    // NESSIE, Serpent with 256-bit keys, set 1, vector 0.
    let key = "8000000000000000000000000000000000000000000000000000000000000000";
    block("serpent", key, "00000000000000000000000000000000", "a223aa1288463c0e2be38ebd825616c0");
}

#[test]
fn twofish() {
    // "Twofish: A 128-Bit Block Cipher", appendix B.2.
    let key = "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff";
    block("twofish", key, "00000000000000000000000000000000", "37527be0052334b89f0cfccae87cfa20");
}

#[test]
fn camellia() {
    // RFC 3713, appendix A.
    let key = "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff";
    block("camellia", key, "0123456789abcdeffedcba9876543210", "9acc237dff16d76c20ef7c919e3a7509");
}

#[test]
fn kuznyechik() {
    // RFC 7801, section 5.5 (GOST R 34.12-2015, A.1.5).
    let key = "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef";
    block("kuznyechik", key, "1122334455667700ffeeddccbbaa9988", "7f679d90bebc24305a468d42b9d4edcd");
}

#[test]
fn cast5() {
    // RFC 2144, appendix B.1.
    block("cast5", "0123456712345678234567893456789a", "0123456789abcdef", "238b4fe5847e44b2");
}

#[test]
fn triple_des() {
    // NIST SP 800-67, appendix B.1.
    let key = "0123456789abcdef23456789abcdef01456789abcdef0123";
    block("des3_ede", key, "5468652071756663", "a826fd8ce53b855f");
    block("des3_ede", key, "6b2062726f776e20", "cce21c8112256fe6");
}

#[test]
fn blowfish() {
    // No vector is published for 448 bits; the crate's big-endian variant, which its own tests hold
    // against Eric Young's vectors, stands in. TrueCrypt's halves are little-endian: each four
    // bytes reversed. `headers_that_truecrypt_made` has a real one.
    use cipher::{Array, BlockCipherEncrypt, KeyInit};
    let key: String = (0..56).map(|i| format!("{:02x}", i * 4 + 3)).collect();
    let big: blowfish::Blowfish = blowfish::Blowfish::new_from_slice(&hex(&key)).expect("56 bytes");
    let plain = hex("fedcba9876543210");
    let mut expected = plain.clone();
    big.encrypt_blocks(Array::slice_as_chunks_mut(&mut expected).0);
    let swap = |bytes: &[u8]| -> String {
        bytes.as_chunks::<4>().0.iter().flat_map(|w| w.iter().rev()).map(|b| format!("{b:02x}")).collect()
    };
    block("blowfish", &key, &swap(&plain), &swap(&expected));
}

fn xts(name: &str, keys: [&str; 2], unit: u64, plain: &[u8], expected: &str) {
    let expected = hex(expected);
    for cipher in ciphers(name, Mode::Xts, plain.len() as u32, &hex(keys[0]), &hex(keys[1])) {
        let mut bytes = plain.to_vec();
        cipher.encrypt_sectors(&mut bytes, unit);
        assert_eq!(bytes, expected, "{name} {}", cipher.kernel().name());
        cipher.decrypt_sectors(&mut bytes, unit);
        assert_eq!(bytes, plain, "{name} {}", cipher.kernel().name());
    }
}

#[test]
fn xts_aes() {
    // IEEE 1619-2007, annex B, vectors 1, 2 and 10.
    let zero = "00000000000000000000000000000000";
    let ones = "11111111111111111111111111111111";
    let twos = "22222222222222222222222222222222";
    xts(
        "aes128",
        [zero, zero],
        0,
        &[0; 32],
        "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
    );
    xts(
        "aes128",
        [ones, twos],
        0x33_3333_3333,
        &[0x44; 32],
        "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
    );
    let counting: Vec<u8> = (0..512).map(|i| i as u8).collect();
    xts(
        "aes",
        [
            "2718281828459045235360287471352662497757247093699959574966967627",
            "3141592653589793238462643383279502884197169399375105820974944592",
        ],
        0xff,
        &counting,
        "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b5d31e276f8fe4a8d66b317f9ac683f44
         680a86ac35adfc3345befecb4bb188fd5776926c49a3095eb108fd1098baec70aaa66999a72a82f27d848b21d4a741b0
         c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca2a3e7a7d7df7b10355165c8b9a6d0a7d
         e8b062c4500dc4cd120c0f7418dae3d0b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f
         93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec583e9645e07b8d9670655ba5bbcfecc6
         dc3966380ad8fecb17b6ba02469a020a84e18e8f84252070c13e9f1f289be54fbc481457778f616015e1327a02b140f1
         505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae9be69a2ffeceb1bec9de244fbe15992b
         11b77c040f12bd8f6a975a44a0f90c29a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac
         6e333b93eb4aff0479da9a410e4450e0dd7ae4c6e2910900575da401fc07059f645e8b7e9bfdef33943054ff84011493
         c27b3429eaedb4ed5376441a77ed43851ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa
         773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151",
    );
}

#[test]
fn lrw_aes() {
    // IEEE P1619 draft of 2005, as in the Linux kernel's `testmgr.h`: block number 1.
    for (name, key, tweak_key, expected) in [
        (
            "aes128",
            "4562ac25f828176d4c268414b5680185",
            "258e2a05e73e9d03ee5a830ccc094c87",
            "f1b273cd65a3df5fe95d489254634eb8",
        ),
        (
            "aes",
            "f8d476ffd646ee6c2384cb1c77d6195dfef1a9f37bbc8d21a79c21f8cb900289",
            "a845348ec8c5b5f126f50e76fefd1b1e",
            "bd06b8e1db98899ec498e491cf1c702b",
        ),
    ] {
        for cipher in ciphers(name, Mode::Lrw, 16, &hex(key), &hex(tweak_key)) {
            let mut bytes = b"0123456789ABCDEF".to_vec();
            cipher.encrypt_sectors(&mut bytes, 0);
            assert_eq!(bytes, hex(expected), "{name}");
            cipher.decrypt_sectors(&mut bytes, 0);
            assert_eq!(bytes, b"0123456789ABCDEF");
        }
    }
}

/// Bytes 64 to 96 of volumes that TrueCrypt made (cryptsetup's test suite), under the keys that
/// their password gives. Their first four bytes are the format's mark.
#[test]
fn headers_that_truecrypt_made() {
    for (name, chain, mode, derived, header) in [
        (
            "tc_1-sha1-cbc-blowfish",
            "blowfish",
            Mode::Cbc,
            "abe3b6346a0147e4348d836498d93941be21b366589593c204aad31cd3e588d4
             667015e43e72415d482afb064fbf35115b56055f0b8da6472eb24142a2ef3af286bc25e2ad251159799fbd8803ecc6f3
             8ab594fe58943fc8",
            "ce3e6e8534551c42146fb31708c9bacd9f7a609ea910fd709ed9aae224dc4f22",
        ),
        (
            "tc_1-sha1-cbc-des3_ede",
            "des3_ede",
            Mode::Cbc,
            "0df5d44dfaf46efe40d56ecf97e26fb57490a0a60c0b9c8b84ff3c19388788ed
             8190caaee06f6e7886db1f5f3bd3b065c8f11d4223ddc7d0",
            "9ef7fc775fa2b62e8baa33844e743f9e006abf54569a21d1bce02a8b126d7d0f",
        ),
        (
            "tc_2-ripemd160-cbc-aes-blowfish-serpent",
            "aes-blowfish-serpent",
            Mode::InnerCbc,
            "1cf3697e62cf3d03fc103f1c697d747d8d229fadbe6eafadb9f77fdb67d77ec1
             14ed73c11efca6aab6b0c7b0a86da820fd77e8b704f069cb3f83880bc2c17b98e54226055626afab848be611999de27b
             152c67c602919460fcb275dc3fa4e7c051486548bcd367b16489392098a27b20c06c9f6c6e2b885b82c96241d999c733
             35bd47524fb82f8455851761de48c1b48832154672b226e6",
            "fdb4329bf4cdc843112f504c662317fa3101177d662e30584f08676408635d0f",
        ),
        (
            "tc_2-ripemd160-cbc-aes-twofish-serpent",
            "aes-twofish-serpent",
            Mode::Cbc,
            "802b20710a66714a557d8853a4c2b53cbefbd8762e752bbd19f9d09109f6a032
             8c4f1f8335292cfb3025e1a3e01dfcb4aa35467d715135489be0ad2bc4d95b2af8c606c2419b19e9413dda7101100f84
             75203d6e24ac0e5360c4354fdbd4517952bf8a1175a7a091ce6ef222668f3a8419405363fbeba14450a04b1350d9db9d",
            "ef6b28f4a87e5602c21908bf30be976551cb935a55b64b46f04a71679c835b56",
        ),
        (
            "tc_2-ripemd160-lrw-serpent-twofish-aes",
            "serpent-twofish-aes",
            Mode::Lrw,
            "c7228a7ff693d22dce5807561295201e71400eb0b1037113fc449e5e1a6f0349
             40f1aa99ab0025cee68c6692128bf76f28cc81c0f618aca9ded97bb9534265330a204b67d660781af240886cc5e9c0c4
             465d583243a6e21105d375fbbbda0d01032f61c53631ed560fe451acb4440a3c53e7e4806fa01d99b0842f0ded10f387",
            "e3cb7ef7e31e8f985c1bbdb7ee550d862b53e7fa6b4f63aff145ff772b230b1c",
        ),
    ] {
        let (derived, header) = (hex(derived), hex(header));
        let (seed, keys) = derived.split_at(32);
        // TrueCrypt keeps the innermost layer's key first.
        let parsed: Chain = chain.parse().expect("known names");
        let mut outermost_first = vec![];
        let mut end = keys.len();
        for algorithm in parsed.layers() {
            outermost_first.extend_from_slice(&keys[end - algorithm.key_bytes()..end]);
            end -= algorithm.key_bytes();
        }
        for cipher in ciphers(chain, mode, 512, &outermost_first, seed) {
            let mut bytes = header.clone();
            cipher.decrypt_header(&mut bytes);
            assert_eq!(&bytes[..4], b"TRUE", "{name} {}", cipher.kernel().name());
            cipher.encrypt_header(&mut bytes);
            assert_eq!(bytes, header, "{name} {}", cipher.kernel().name());
        }
    }
}
