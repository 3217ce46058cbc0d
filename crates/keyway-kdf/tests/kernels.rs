//! Every kernel against PBKDF2 written straight from RFC 8018 with RustCrypto's hash functions.

use keyway_kdf::{Block, Kernel, Prf, pbkdf2_blocks_with};
use proptest::prelude::*;
use sha2::digest::common::BlockSizeUser;
use sha2::digest::{Digest, Output};
use std::sync::atomic::AtomicBool;

fn hmac<D: Digest + BlockSizeUser>(key: &[u8], message: &[u8]) -> Output<D> {
    let mut block = if key.len() > D::block_size() { D::digest(key).to_vec() } else { key.to_vec() };
    block.resize(D::block_size(), 0);
    let masked = |mask: u8| block.iter().map(|b| b ^ mask).collect::<Vec<_>>();
    let inner = D::new_with_prefix(masked(0x36)).chain_update(message).finalize();
    D::new_with_prefix(masked(0x5c)).chain_update(inner).finalize()
}

fn block<D: Digest + BlockSizeUser>(password: &[u8], iterations: u32, block: &Block<'_>) -> Vec<u8> {
    let mut link = hmac::<D>(password, &[block.salt, &block.index.to_be_bytes()].concat());
    let mut sum = link.to_vec();
    for _ in 1..iterations {
        link = hmac::<D>(password, &link);
        sum.iter_mut().zip(&link).for_each(|(s, l)| *s ^= l);
    }
    sum
}

fn expected(prf: Prf, password: &[u8], iterations: u32, asked: &Block<'_>) -> Vec<u8> {
    match prf {
        Prf::Sha512 => block::<sha2::Sha512>(password, iterations, asked),
        Prf::Sha256 => block::<sha2::Sha256>(password, iterations, asked),
        Prf::Blake2s => block::<blake2::Blake2s256>(password, iterations, asked),
        Prf::Whirlpool => block::<whirlpool::Whirlpool>(password, iterations, asked),
        Prf::Streebog => block::<streebog::Streebog512>(password, iterations, asked),
        Prf::Ripemd160 => block::<ripemd::Ripemd160>(password, iterations, asked),
        Prf::Sha1 => block::<sha1::Sha1>(password, iterations, asked),
    }
}

fn compare(password: &[u8], salts: &[Vec<u8>], iterations: u32) {
    let blocks: Vec<Block<'_>> = salts.iter().zip(1..).map(|(salt, index)| Block { salt, index }).collect();
    for prf in Prf::ALL {
        let expected: Vec<_> = blocks.iter().map(|b| expected(prf, password, iterations, b)).collect();
        for kernel in Kernel::available(prf) {
            let never = AtomicBool::new(false);
            let got = pbkdf2_blocks_with(kernel, prf, password, iterations, &blocks, &never);
            let got: Vec<_> = got.iter().flatten().map(|block| block.to_vec()).collect();
            assert!(got == expected, "{prf} {kernel}: {} blocks", blocks.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_kernel_computes_pbkdf2(
        password in proptest::collection::vec(any::<u8>(), 0..200),
        salts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..150), 1..40),
        iterations in 1u32..12,
    ) {
        compare(&password, &salts, iterations);
    }
}

/// Every batch size around the widths of the kernels, and keys around the block sizes.
#[test]
fn every_batch_size_and_key_length() {
    for count in 1..=40 {
        compare(&[0xa5; 64], &vec![vec![count as u8; 64]; count], 3);
    }
    for length in [0, 1, 63, 64, 65, 127, 128, 129] {
        compare(&vec![0x5a; length], &[b"one".to_vec(), b"two".to_vec()], 3);
    }
}

/// Long enough for several looks at the stop flag, and for checksums that carry.
#[test]
fn many_iterations() {
    compare(b"password", &[vec![1; 64], vec![2; 64], vec![3; 64]], 2001);
}

#[test]
fn kernels_that_run_here_have_lanes() {
    for prf in Prf::ALL {
        let available = Kernel::available(prf);
        assert_eq!(available.last(), Some(&Kernel::Portable));
        assert!(available.iter().all(|kernel| kernel.lanes(prf) > 0));
    }
}
