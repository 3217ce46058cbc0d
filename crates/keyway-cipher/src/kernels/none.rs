//! No kernels of our own for this architecture.

use crate::elephant::SectorKey;
use crate::pass::{Cbc, Direction, Pass, Ready};
use crate::portable::{AesKeys, Camellia, Kuznyechik, Serpent, Twofish};

pub(crate) fn aes<const R: usize>(_: Ready, _: &AesKeys<R>, _: Pass<'_>) -> bool {
    false
}

pub(crate) fn aes_cbc<const R: usize>(
    _: Ready,
    _: &AesKeys<R>,
    _: Direction,
    _: &mut [[u8; 16]],
    _: Cbc<'_>,
) -> bool {
    false
}

pub(crate) fn camellia(_: Ready, _: &Camellia, _: Pass<'_>) -> bool {
    false
}

pub(crate) fn elephant(_: Ready, _: Direction, _: &mut [u8], _: usize, _: &[SectorKey]) -> bool {
    false
}

pub(crate) fn kuznyechik(_: Ready, _: &Kuznyechik, _: Pass<'_>) -> bool {
    false
}

pub(crate) fn serpent(_: Ready, _: &Serpent, _: Pass<'_>) -> bool {
    false
}

pub(crate) fn twofish(_: Ready, _: &Twofish, _: Pass<'_>) -> bool {
    false
}

pub(crate) fn xor_multiples(_: Ready, blocks: &mut [[u8; 16]], multiples: &[[u8; 16]], base: &[u8; 16]) {
    crate::portable::xor_multiples(blocks, multiples, base);
}
