//! Published vectors: RFC 6070, RFC 7914, VeraCrypt's self-tests, OpenSSL, the Argon2 reference program.
#![allow(clippy::expect_used, reason = "helpers of tests")]

use keyway_kdf::{Argon2idCost, Block, KdfError, Prf, argon2id, pbkdf2, pbkdf2_blocks};
use keyway_testkit::to_hex as hex;
use std::sync::atomic::AtomicBool;

#[track_caller]
fn check(prf: Prf, password: &[u8], salt: &[u8], iterations: u32, expected: &str) {
    let key = pbkdf2(prf, password, salt, iterations, expected.len() / 2);
    assert_eq!(hex(&key), expected, "{prf}");
}

#[test]
fn rfc_6070_sha1() {
    check(Prf::Sha1, b"password", b"salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6");
    check(Prf::Sha1, b"password", b"salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957");
    check(Prf::Sha1, b"password", b"salt", 4096, "4b007901b765489abead49d926f721d065a429c1");
    check(
        Prf::Sha1,
        b"passwordPASSWORDpassword",
        b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
        4096,
        "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
    );
    check(Prf::Sha1, b"pass\0word", b"sa\0lt", 4096, "56fa6aa75548099dcc37d7f03425e0c3");
}

#[test]
fn rfc_7914_sha256() {
    check(
        Prf::Sha256,
        b"passwd",
        b"salt",
        1,
        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc\
         49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
    );
    check(
        Prf::Sha256,
        b"Password",
        b"NaCl",
        80000,
        "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56\
         a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d",
    );
}

/// The parameters of the self-tests VeraCrypt runs at start: "password", salt 12345678h, 5 rounds.
#[track_caller]
fn veracrypt(prf: Prf, expected: &str) {
    check(prf, b"password", &[0x12, 0x34, 0x56, 0x78], 5, expected);
}

#[test]
fn veracrypt_sha512() {
    veracrypt(
        Prf::Sha512,
        "1364aef80df5576c30d5714ca7753ffd00e5258b39c7447fce233d0875e02f48\
         d630d700b624dbe05ad747ef52caa6348347e5cbe987f120596ae6a9cf5178c6\
         b623a6740de891be1ad028ccce16989abefbdc78c9e17d7267cee161565f9668\
         e6e1ddf4bf1b80e0191cf4c4d3ddd5d5572d83c7a33787f44ee0f6d86d65dca0\
         52a313be81fc30be7d695834b6dd41c6",
    );
}

#[test]
fn veracrypt_sha256() {
    veracrypt(
        Prf::Sha256,
        "f2a04fb2d3e9a5d8510b5c06df708e24e9c7d9153d22cddeb8a6dbfd7185c699\
         32c0ee3727f724cfeaa6ac73a14c4e529b94f35406fc0465a10a24fef0981da6\
         2228eb245574ce6a3a28e2043a5913ec3ff2dbcf58dd53d9f917f6da74063c0b\
         66f50ff558a327528c5b0791d081ebb6bc30694271f2d71842bee802937066ad\
         3565bcf7968e64f1c692dae0dc1fb5f4",
    );
}

#[test]
fn veracrypt_ripemd160() {
    veracrypt(
        Prf::Ripemd160,
        "7a3d7c03e7266bf83d78fb29d2641f56eaf0e5f5ccc43a31a88470bfbd6f8e78\
         245ac00af6faf0f6e900475f73cee143",
    );
}

#[test]
fn veracrypt_whirlpool() {
    veracrypt(
        Prf::Whirlpool,
        "507c366fee102e9ae28ad582727d270fe84d7f687acfb5e74367aa9893522b09\
         6e42df2c594a916d7e10aeb21a898fb98fe631a9d89f9826f4dacd7d6565de10\
         9591b48426ae43a1005b1eb83897a41e4bd26564bcfa1f3585db4f97656fbd24",
    );
}

#[test]
fn veracrypt_streebog() {
    veracrypt(
        Prf::Streebog,
        "d053a2306f4581ebbc0681c5e753a85dc7f123331ebe642c3b0f26d700e195c9\
         6526b185be1ee2f49bfc6b1484da2461a01b9e795cee696ef925b11dcaa031ba\
         026f9e990fdb25015bf1c71019533b293f1800d6fc8503dcf2e5e95ab11e61de",
    );
}

/// Computed with OpenSSL 3.0 (`hashlib.pbkdf2_hmac` of Python), same parameters.
#[test]
fn openssl_blake2s() {
    veracrypt(
        Prf::Blake2s,
        "8d51fa3146253767a3296b3c6bc15db2eee16c280026ea08659c12f107de0db9\
         9b4f39fac68026b18f8e4889852d242dbd63724a6cc6197ec31a5df761dc0dc8\
         163dd11b029b84d1c1ee73f71a368250d0e757162b270097ee6ea1554455194f\
         1feae44830fdaaa1e69e1e3c5c435610294f72573a141577a60a56d27bfa8622\
         2065d8c264246895c5520d22333ca67c",
    );
}

#[test]
fn blocks_come_in_the_order_asked() {
    let never = AtomicBool::new(false);
    let asked = [
        Block { salt: b"two", index: 2 },
        Block { salt: b"one", index: 1 },
        Block { salt: b"one", index: 3 },
    ];
    for prf in Prf::ALL {
        let got = pbkdf2_blocks(prf, b"secret", 7, &asked, &never).expect("not stopped");
        assert_eq!(got.len(), 3);
        for (block, bytes) in asked.iter().zip(&got) {
            let whole = pbkdf2(prf, b"secret", block.salt, 7, 3 * prf.digest_bytes());
            let at = (block.index as usize - 1) * prf.digest_bytes();
            assert_eq!(hex(bytes), hex(&whole[at..][..prf.digest_bytes()]), "{prf}");
        }
    }
}

#[test]
fn a_set_stop_flag_ends_the_work_at_once() {
    let stop = AtomicBool::new(true);
    for prf in Prf::ALL {
        let before = std::time::Instant::now();
        assert!(pbkdf2_blocks(prf, b"p", u32::MAX, &[Block { salt: b"s", index: 1 }], &stop).is_none());
        // All of it would take an hour.
        assert!(before.elapsed() < keyway_testkit::PATIENCE, "{prf}");
    }
}

fn argon(memory_kib: u32, passes: u32, lanes: u32) -> String {
    let cost = Argon2idCost { memory_kib, passes, lanes };
    let key = argon2id(cost, b"password", b"somesalt", 32, &AtomicBool::new(false));
    hex(&key.expect("derives").expect("not stopped"))
}

/// From the test program of the reference implementation (phc-winner-argon2, version 0x13).
#[test]
fn argon2id_reference_vectors() {
    assert_eq!(argon(256, 2, 1), "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe");
    assert_eq!(argon(256, 2, 2), "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037");
    assert_eq!(argon(65536, 2, 1), "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7");
}

#[test]
fn argon2id_stops_before_it_starts() {
    let cost = Argon2idCost { memory_kib: 64, passes: u32::MAX, lanes: 1 };
    assert!(argon2id(cost, b"p", b"somesalt", 32, &AtomicBool::new(true)).expect("fine").is_none());
}

#[test]
fn argon2id_without_enough_memory_is_an_error() {
    let cost = Argon2idCost { memory_kib: u32::MAX, passes: 1, lanes: 1 };
    let refused = argon2id(cost, b"p", b"somesalt", 32, &AtomicBool::new(false));
    assert!(matches!(refused, Err(KdfError::OutOfMemory { .. })));
}

#[test]
fn argon2id_parameters_outside_the_standard_are_refused() {
    let never = AtomicBool::new(false);
    for (memory_kib, passes, lanes, salt) in [
        (7, 1, 1, &b"somesalt"[..]),
        (64, 0, 1, b"somesalt"),
        (64, 1, 0, b"somesalt"),
        (64, 1, u32::MAX, b"somesalt"),
        (64, 1, 1, b"short"),
    ] {
        let cost = Argon2idCost { memory_kib, passes, lanes };
        assert!(matches!(argon2id(cost, b"p", salt, 32, &never), Err(KdfError::Parameters(_))));
    }
}
