//! Names: algorithms, chains of them, modes, kernels, and what a volume's cipher is made of.

use keyway_error::{enum_table, explain};
use std::fmt;
use std::str::FromStr;

enum_table! {
    /// A block cipher with its key size.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Algorithm {
        /// AES with a 128-bit key (BitLocker).
        Aes128("aes128", 16, 16),
        /// AES with a 256-bit key.
        Aes256("aes", 32, 16),
        /// Serpent with a 256-bit key.
        Serpent("serpent", 32, 16),
        /// Twofish with a 256-bit key.
        Twofish("twofish", 32, 16),
        /// Camellia with a 256-bit key.
        Camellia("camellia", 32, 16),
        /// Kuznyechik (GOST R 34.12-2015), 256-bit key.
        Kuznyechik("kuznyechik", 32, 16),
        /// Blowfish with a 448-bit key, 64-bit blocks. TrueCrypt up to 4.3, to open only.
        Blowfish("blowfish", 56, 8),
        /// CAST-128 with a 128-bit key, 64-bit blocks. TrueCrypt up to 4.3, to open only.
        Cast5("cast5", 16, 8),
        /// Triple DES with a 168-bit key in 24 bytes, 64-bit blocks. TrueCrypt up to 4.3, to open only.
        TripleDes("des3_ede", 24, 8),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
    /// Key length in bytes.
    pub key_bytes: usize,
    /// Block length in bytes: 16, or 8 for the three old ones.
    pub block_bytes: usize,
}

/// One to three algorithms, **outermost first**: `aes-twofish-serpent` encrypts with Serpent,
/// then Twofish, then AES, which is how VeraCrypt names its cascades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chain {
    layers: [Option<Algorithm>; 3],
}

impl Chain {
    /// A chain of one.
    pub const fn single(algorithm: Algorithm) -> Self {
        Self { layers: [Some(algorithm), None, None] }
    }

    /// Two layers, outermost first.
    pub const fn double(outer: Algorithm, inner: Algorithm) -> Self {
        Self { layers: [Some(outer), Some(inner), None] }
    }

    /// Three layers, outermost first.
    pub const fn triple(outer: Algorithm, middle: Algorithm, inner: Algorithm) -> Self {
        Self { layers: [Some(outer), Some(middle), Some(inner)] }
    }

    /// The algorithms, outermost first.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Algorithm> + Clone + '_ {
        self.layers.iter().flatten().copied()
    }

    /// Number of layers, 1 to 3.
    #[allow(clippy::len_without_is_empty, reason = "a chain is never empty")]
    pub fn len(&self) -> usize {
        self.layers().count()
    }

    /// Key bytes of all layers together, one key each (without tweak keys).
    pub fn key_bytes(&self) -> usize {
        self.layers().map(Algorithm::key_bytes).sum()
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, layer) in self.layers().enumerate() {
            if i > 0 {
                f.write_str("-")?;
            }
            f.write_str(layer.name())?;
        }
        Ok(())
    }
}

impl FromStr for Chain {
    type Err = CipherError;

    fn from_str(text: &str) -> Result<Self, CipherError> {
        let unknown = || CipherError::UnknownCipher(text.to_owned());
        let mut layers = [None; 3];
        // VeraCrypt writes AES(Twofish(Serpent)).
        let mut words = text.trim_end_matches(')').split(['-', '(']);
        for (slot, word) in layers.iter_mut().zip(words.by_ref()) {
            let word = word.to_ascii_lowercase();
            *slot = Some(match word.as_str() {
                "aes" => Algorithm::Aes256,
                "aes128" => Algorithm::Aes128,
                "serpent" => Algorithm::Serpent,
                "twofish" => Algorithm::Twofish,
                "camellia" => Algorithm::Camellia,
                "kuznyechik" => Algorithm::Kuznyechik,
                "blowfish" => Algorithm::Blowfish,
                "cast5" => Algorithm::Cast5,
                "des3_ede" | "tripledes" => Algorithm::TripleDes,
                _ => return Err(unknown()),
            });
        }
        if words.next().is_some() {
            return Err(unknown());
        }
        Ok(Self { layers })
    }
}

enum_table! {
    /// How a block cipher covers a data unit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Mode {
        /// IEEE 1619 XTS, each layer of a chain over the whole unit with its own two keys; the tweak
        /// is the unit's number, little-endian.
        Xts("xts"),
        /// LRW as TrueCrypt 4.1 to 4.3 has it: one 16-byte (8-byte for 64-bit blocks) tweak key for
        /// the chain; a block's index is its number counted from block 0 of unit 0, plus 1,
        /// big-endian. TrueCrypt numbers the units from the start of the data area
        /// (`LRWSector2Index`). All ciphers of a chain have blocks of the same size.
        Lrw("lrw"),
        /// TrueCrypt up to 4.0: CBC with an IV made of seed and unit number, then whitening (dm-crypt
        /// calls it `tcw`). One cipher, or a chain chained as a whole ("outer CBC": its ciphers all
        /// have blocks of the same size). TrueCrypt numbers the units from the start of the file, so
        /// that the data area's first is 1.
        Cbc("cbc"),
        /// TrueCrypt up to 4.0, for the two cascades that mix block sizes (aes-blowfish,
        /// aes-blowfish-serpent): each layer runs over the whole unit in CBC with IV and whitening of
        /// its own ("inner CBC"). Units are numbered as in [`Mode::Cbc`].
        InnerCbc("inner-cbc"),
        /// BitLocker's AES-CBC: a unit's IV is its byte offset (unit number times [`Spec::unit_bytes`]),
        /// 16 bytes little-endian, encrypted with the key. Units are counted from the start of the
        /// volume. AES alone, units of 512 to 4096 bytes.
        BitLockerCbc("cbc-eboiv"),
        /// The same, and below it the Elephant diffuser, which has a key of its own (libbde's "TWEAK
        /// key") as `tweak_key`.
        BitLockerElephant("cbc-elephant"),
    }
    /// The name in JSON; BitLocker's two as cryptsetup has them.
    pub name: &'static str,
}

enum_table! {
    /// The implementation of a cipher that does the work. All are in every binary for their
    /// architecture; which ones can run is found out at run time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Kernel {
        /// Plain Rust, any machine.
        Portable("portable"),
        /// AES-NI, SSE4.1.
        Sse("sse"),
        /// AVX2, with VAES and GFNI where present.
        Avx2("avx2"),
        /// AVX-512 with VAES and GFNI.
        Avx512("avx512"),
        /// NEON, and the AES instructions where aarch64 has them.
        Neon("neon"),
    }
    /// The name in commands and JSON.
    pub name: &'static str,
}

impl Kernel {
    /// The kernels that this machine can run, slowest first; the last one is what
    /// [`crate::SectorCipher::new`] takes.
    pub fn available() -> Vec<Self> {
        #[cfg_attr(
            not(any(target_arch = "x86_64", target_arch = "aarch64")),
            allow(unused_mut, reason = "only these have more")
        )]
        let mut kernels = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let sse = has!("sse4.1") && has!("ssse3") && has!("aes") && has!("pclmulqdq");
            let avx2 = sse && has!("avx2");
            let avx512 = avx2
                && has!("avx512f")
                && has!("avx512bw")
                && has!("avx512dq")
                && has!("avx512vl")
                && has!("avx512vbmi")
                && has!("gfni")
                && has!("vaes")
                && has!("vpclmulqdq");
            for (present, kernel) in [(sse, Self::Sse), (avx2, Self::Avx2), (avx512, Self::Avx512)] {
                if present {
                    kernels.push(kernel);
                }
            }
        }
        // A vector's words begin with the lowest byte only there.
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Self::Neon);
        }
        kernels
    }
}

/// What a volume's cipher is made of, apart from the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// The ciphers.
    pub chain: Chain,
    /// The mode.
    pub mode: Mode,
    /// Bytes that one tweak covers: 512 in VeraCrypt and TrueCrypt, 512 or 4096 in BitLocker.
    pub unit_bytes: u32,
}

/// The keys of one layer, in the chain's order (outermost first).
///
/// XTS and BitLocker's Elephant: `key` and `tweak_key` have the algorithm's key size.
/// BitLocker's CBC: `tweak_key` is empty. In TrueCrypt's old modes `tweak_key` is the
/// same for each layer: it is the 32 bytes that TrueCrypt keeps before the ciphers' keys, in the
/// header and in the output of its key derivation (`LEGACY_VOL_IV_SIZE`). LRW uses the first 16 of
/// them (8 with 64-bit blocks), CBC all 32; more bytes than needed are ignored, fewer refused.
///
/// A volume's header is decrypted with [`crate::SectorCipher::decrypt_header`], in every mode.
pub struct LayerKey<'a> {
    /// The block cipher's key.
    pub key: &'a [u8],
    /// What the mode needs besides.
    pub tweak_key: &'a [u8],
}

/// A cipher that can't be made as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// No such cipher or cascade.
    #[error("there is no cipher called {0:?}")]
    UnknownCipher(String),
    /// A key of the wrong size, or the wrong number of layers.
    #[error("{chain} in {mode} mode takes other keys than the ones given")]
    WrongKeys {
        /// The chain asked for.
        chain: Chain,
        /// The mode asked for.
        mode: &'static str,
    },
    /// The chain can't be used in this mode, or the unit is not a whole number of blocks.
    #[error("{0} can't be used that way")]
    Unsupported(Chain),
    /// This machine can't run that kernel.
    #[error("this machine can't run the {0} kernel")]
    KernelMissing(&'static str),
}

explain! { CipherError {
    Self::KernelMissing(_) => [NotPermitted Machine, ListKernels],
    _ => [Usage Request, ListCiphers],
} }
