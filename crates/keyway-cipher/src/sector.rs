//! A keyed cipher that works on runs of data units.

use crate::bitlocker::{self, BitLocker};
use crate::cipher::Cipher;
use crate::lrw::{Field, LrwKey};
use crate::pass::{Direction, Ready, Xts};
use crate::truecrypt_cbc::{self, UnitIv};
use crate::{Algorithm, CipherError, Kernel, LayerKey, Mode, Spec};
use keyway_secret::Locked;

/// Units whose first tweaks are computed together.
const UNITS_AT_ONCE: usize = 32;
/// Bytes that pass through all layers of a chain before the next ones: they stay in the first
/// cache, beside their tweaks and the key schedules.
const BYTES_AT_ONCE: usize = 16 * 1024;

/// A volume's cipher with its keys, ready to work on runs of data units.
///
/// Keys are expanded once, into locked memory. Working on a run allocates nothing.
pub struct SectorCipher {
    spec: Spec,
    ready: Ready,
    keys: Keys,
}

/// One layer's two keyed ciphers.
struct XtsLayer {
    data: Cipher,
    tweak: Cipher,
}

/// Layers are outermost first, as in the chain.
enum Keys {
    Xts(Vec<Locked<XtsLayer>>),
    Lrw { layers: Vec<Locked<Cipher>>, tweak: Locked<LrwKey> },
    Cbc { layers: Vec<Locked<Cipher>>, seed: Locked<[u8; truecrypt_cbc::SEED_BYTES]>, inner: bool },
    BitLocker(BitLocker),
}

impl SectorCipher {
    /// Sets the keys up, with the fastest kernel this machine has.
    ///
    /// # Errors
    /// [`CipherError::WrongKeys`] when number or sizes of the keys don't fit the spec (see
    /// [`LayerKey`]), [`CipherError::Unsupported`] when the chain can't be used in the mode or
    /// the unit is not a whole number of blocks.
    pub fn new(spec: &Spec, keys: &[LayerKey<'_>]) -> Result<Self, CipherError> {
        let kernel = Kernel::available().last().copied().unwrap_or(Kernel::Portable);
        Self::with_kernel(spec, keys, kernel)
    }

    /// Sets the keys up with a kernel chosen by name. A cipher that has nothing of its own for
    /// that kernel uses the next slower one that it has.
    ///
    /// # Errors
    /// As [`SectorCipher::new`], and [`CipherError::KernelMissing`].
    pub fn with_kernel(spec: &Spec, keys: &[LayerKey<'_>], kernel: Kernel) -> Result<Self, CipherError> {
        let ready = Ready::new(kernel).ok_or(CipherError::KernelMissing(kernel.name()))?;
        let Spec { chain, mode, unit_bytes } = *spec;
        let wrong_keys = || CipherError::WrongKeys { chain, mode: mode.name() };
        let (mut smallest, mut largest) = (16, 8);
        for algorithm in chain.layers() {
            smallest = smallest.min(algorithm.block_bytes());
            largest = largest.max(algorithm.block_bytes());
        }
        let possible = match mode {
            Mode::Xts => smallest == 16,
            Mode::Lrw | Mode::Cbc => smallest == largest,
            Mode::InnerCbc => true,
            Mode::BitLockerCbc | Mode::BitLockerElephant => {
                let aes = |a| matches!(a, Algorithm::Aes128 | Algorithm::Aes256);
                chain.len() == 1 && chain.layers().all(aes) && bitlocker::UNIT_BYTES.contains(&unit_bytes)
            }
        };
        if !possible || unit_bytes == 0 || !(unit_bytes as usize).is_multiple_of(largest) {
            return Err(CipherError::Unsupported(chain));
        }
        let fits = |(algorithm, layer): (Algorithm, &LayerKey<'_>)| {
            layer.key.len() == algorithm.key_bytes()
                && match mode {
                    Mode::Xts | Mode::BitLockerElephant => layer.tweak_key.len() == algorithm.key_bytes(),
                    Mode::BitLockerCbc => layer.tweak_key.is_empty(),
                    Mode::Lrw | Mode::Cbc | Mode::InnerCbc => true,
                }
        };
        if keys.len() != chain.len() || !chain.layers().zip(keys).all(fits) {
            return Err(wrong_keys());
        }

        // Made inside locked memory, not moved there: that leaves less on the stack to wipe.
        let singles = || {
            let layers = chain.layers().zip(keys);
            layers
                .map(|(algorithm, layer)| Locked::new(|| Cipher::new(algorithm, layer.key, ready)))
                .collect()
        };
        let keys = match mode {
            Mode::Xts => {
                let layers = chain.layers().zip(keys).map(|(algorithm, layer)| {
                    Locked::new(|| XtsLayer {
                        data: Cipher::new(algorithm, layer.key, ready),
                        tweak: Cipher::new(algorithm, layer.tweak_key, ready),
                    })
                });
                Keys::Xts(layers.collect())
            }
            Mode::Lrw => {
                let tweak_key = same_tweak_key(keys).ok_or_else(wrong_keys)?;
                let field = Field::of_blocks(largest);
                let key = field.element(tweak_key).ok_or_else(wrong_keys)?;
                Keys::Lrw { layers: singles(), tweak: Locked::new(|| LrwKey::new(field, key)) }
            }
            Mode::Cbc | Mode::InnerCbc => {
                let tweak_key = same_tweak_key(keys).ok_or_else(wrong_keys)?;
                let seed = tweak_key.first_chunk().ok_or_else(wrong_keys)?;
                Keys::Cbc { layers: singles(), seed: Locked::new(|| *seed), inner: mode == Mode::InnerCbc }
            }
            Mode::BitLockerCbc | Mode::BitLockerElephant => {
                let (Some(algorithm), Some(layer)) = (chain.layers().next(), keys.first()) else {
                    return Err(wrong_keys());
                };
                let locked = |key: &[u8]| Locked::new(|| Cipher::new(algorithm, key, ready));
                let diffuser = (mode == Mode::BitLockerElephant).then(|| locked(layer.tweak_key));
                Keys::BitLocker(BitLocker { ready, data: locked(layer.key), diffuser })
            }
        };
        keyway_secret::wipe_stack();
        Ok(Self { spec: *spec, ready, keys })
    }

    /// Bytes that one tweak covers.
    pub fn unit_bytes(&self) -> u32 {
        self.spec.unit_bytes
    }

    /// The kernel that does the work.
    pub fn kernel(&self) -> Kernel {
        self.ready.kernel()
    }

    /// What this cipher is made of.
    pub fn spec(&self) -> Spec {
        self.spec
    }

    /// Encrypts whole units in place; `units.len()` is a multiple of `unit_bytes`. After number
    /// [`u64::MAX`] comes 0.
    ///
    /// # Panics
    /// When it is not.
    pub fn encrypt_sectors(&self, units: &mut [u8], first_unit: u64) {
        self.run(Direction::Encrypt, units, self.spec.unit_bytes as usize, first_unit);
    }

    /// Decrypts whole units in place; `units.len()` is a multiple of `unit_bytes`.
    ///
    /// # Panics
    /// When it is not.
    pub fn decrypt_sectors(&self, units: &mut [u8], first_unit: u64) {
        self.run(Direction::Decrypt, units, self.spec.unit_bytes as usize, first_unit);
    }

    /// Encrypts the encrypted part of a TrueCrypt or VeraCrypt volume header in place, whatever
    /// the unit size: in XTS and LRW it is one unit with number 0, in CBC the IV and whitening are
    /// taken straight from the seed. The length is a multiple of the block size (448 there).
    /// BitLocker has no such header: in its modes these are units from number 0 on.
    ///
    /// # Panics
    /// When it is not.
    pub fn encrypt_header(&self, header: &mut [u8]) {
        self.header(Direction::Encrypt, header);
    }

    /// Decrypts the encrypted part of a volume header; see [`SectorCipher::encrypt_header`].
    ///
    /// # Panics
    /// As there.
    pub fn decrypt_header(&self, header: &mut [u8]) {
        self.header(Direction::Decrypt, header);
    }

    fn header(&self, direction: Direction, header: &mut [u8]) {
        if header.is_empty() {
            return;
        }
        match &self.keys {
            Keys::Cbc { layers, seed, inner } => {
                assert!(header.len().is_multiple_of(self.largest_block()), "not a whole number of blocks");
                let bytes = header.len();
                cbc_units(direction, layers, *inner, header, bytes, |_, _| UnitIv::of_header(seed));
            }
            Keys::Xts(_) | Keys::Lrw { .. } => {
                assert!(header.len().is_multiple_of(self.largest_block()), "not a whole number of blocks");
                self.run(direction, header, header.len(), 0);
            }
            Keys::BitLocker(_) => self.run(direction, header, self.spec.unit_bytes as usize, 0),
        }
    }

    fn largest_block(&self) -> usize {
        self.spec.chain.layers().map(|a| a.block_bytes()).max().unwrap_or(16)
    }

    fn run(&self, direction: Direction, units: &mut [u8], unit_bytes: usize, first_unit: u64) {
        assert!(units.len().is_multiple_of(unit_bytes), "not a whole number of units");
        match &self.keys {
            // A page's eight tweaks are not worth clearing room for more.
            Keys::Xts(layers) if units.len() <= 8 * unit_bytes => {
                run_xts::<8>(direction, layers, units, unit_bytes, first_unit);
            }
            Keys::Xts(layers) => {
                run_xts::<UNITS_AT_ONCE>(direction, layers, units, unit_bytes, first_unit);
            }
            Keys::Lrw { layers, tweak } => {
                let unit_blocks = (unit_bytes / self.largest_block()) as u128;
                // Blocks are counted in more than 64 bits, so where units start at 0 again is a cut.
                let to_end = usize::try_from(u64::MAX - first_unit).unwrap_or(usize::MAX).saturating_add(1);
                let cut = to_end.saturating_mul(unit_bytes).min(units.len());
                let (units, wrapped) = units.split_at_mut(cut);
                for (part, first) in [(units, first_unit), (wrapped, 0)] {
                    let mut block = u128::from(first) * unit_blocks + 1;
                    for batch in part.chunks_mut(BYTES_AT_ONCE) {
                        tweak.xor_tweaks(self.ready, batch, block);
                        through(direction, layers, batch);
                        tweak.xor_tweaks(self.ready, batch, block);
                        block += (batch.len() / self.largest_block()) as u128;
                    }
                }
            }
            Keys::BitLocker(bitlocker) => bitlocker.run(direction, units, unit_bytes, first_unit),
            Keys::Cbc { layers, seed, inner } => {
                let mut number = first_unit;
                for batch in units.chunks_mut(truecrypt_cbc::UNITS_AT_ONCE * unit_bytes) {
                    cbc_units(direction, layers, *inner, batch, unit_bytes, |block_bytes, i| {
                        UnitIv::of_unit(seed, block_bytes, number.wrapping_add(i))
                    });
                    number = number.wrapping_add((batch.len() / unit_bytes) as u64);
                }
            }
        }
    }
}

/// The tweak key of a chain that has only one.
fn same_tweak_key<'a>(keys: &[LayerKey<'a>]) -> Option<&'a [u8]> {
    let (first, rest) = keys.split_first()?;
    rest.iter().all(|key| key.tweak_key == first.tweak_key).then_some(first.tweak_key)
}

fn through(direction: Direction, layers: &[Locked<Cipher>], blocks: &mut [u8]) {
    match direction {
        Direction::Encrypt => layers.iter().rev().for_each(|layer| layer.blocks(direction, blocks)),
        Direction::Decrypt => layers.iter().for_each(|layer| layer.blocks(direction, blocks)),
    }
}

fn run_xts<const UNITS: usize>(
    direction: Direction,
    layers: &[Locked<XtsLayer>],
    units: &mut [u8],
    unit_bytes: usize,
    first_unit: u64,
) {
    let units_at_once = (BYTES_AT_ONCE / unit_bytes).clamp(1, UNITS);
    let mut tweaks = [[0u8; 16]; UNITS];
    let mut number = first_unit;
    for batch in units.chunks_mut(units_at_once * unit_bytes) {
        let tweaks = &mut tweaks[..batch.len() / unit_bytes];
        let mut layer_run = |layer: &XtsLayer| {
            layer.tweak.first_tweaks(number, tweaks);
            layer.data.xts(direction, batch, Xts { first_tweaks: tweaks, unit_blocks: unit_bytes / 16 });
        };
        match direction {
            Direction::Encrypt => layers.iter().rev().for_each(|layer| layer_run(layer)),
            Direction::Decrypt => layers.iter().for_each(|layer| layer_run(layer)),
        }
        number = number.wrapping_add(tweaks.len() as u64);
    }
}

/// At most [`truecrypt_cbc::UNITS_AT_ONCE`] units in CBC, `iv_for` giving the IV by block size and place.
fn cbc_units(
    direction: Direction,
    layers: &[Locked<Cipher>],
    inner: bool,
    units: &mut [u8],
    unit_bytes: usize,
    iv_for: impl Fn(usize, u64) -> UnitIv,
) {
    let mut chained = |layers: &[Locked<Cipher>]| {
        let mut ivs: [UnitIv; truecrypt_cbc::UNITS_AT_ONCE] = Default::default();
        let ivs = &mut ivs[..units.len() / unit_bytes];
        let block_bytes = layers.first().map_or(16, |layer| layer.block_bytes());
        for (iv, place) in ivs.iter_mut().zip(0..) {
            *iv = iv_for(block_bytes, place);
        }
        match direction {
            Direction::Encrypt => truecrypt_cbc::encrypt(layers, units, unit_bytes, ivs),
            Direction::Decrypt => {
                for (unit, iv) in units.chunks_exact_mut(unit_bytes).zip(ivs) {
                    truecrypt_cbc::decrypt(layers, unit, iv);
                }
            }
        }
    };
    match direction {
        _ if !inner => chained(layers),
        Direction::Encrypt => layers.chunks(1).rev().for_each(&mut chained),
        Direction::Decrypt => layers.chunks(1).for_each(&mut chained),
    }
}
