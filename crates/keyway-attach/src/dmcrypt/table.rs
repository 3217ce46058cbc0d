//! Device-mapper tables for a volume's layout and ciphers.
//!
//! One level for each cipher of a cascade, the outermost (the last to encrypt) on the medium, each on the
//! one before. Sources: the kernel's `admin-guide/device-mapper/dm-crypt`, and for what TrueCrypt's and
//! BitLocker's modes are called there, cryptsetup's `tcrypt.c` and `bitlk.c`.

use crate::Unmappable;
use keyway_cipher::{Algorithm, Mode, Spec};
use keyway_engine::{HandOver, LayerSecrets, Layout, Mapping};
use keyway_secret::SecretBytes;
use keyway_sys::{DmDevice, DmTarget};

/// Device-mapper counts in these bytes, whatever a device's own sectors are.
const SECTOR: u64 = 512;
/// The most targets in a table. Ordinary volumes have one, BitLocker's nine; what was interrupted while it
/// was being encrypted may have thousands, which our own engine finds faster.
const MOST_TARGETS: usize = 4096;
/// Bytes of the key that whitens in dm-crypt's `tcw` (`TCW_WHITENING_SIZE`).
const WHITENING: usize = 16;
/// Bytes of LRW's own key there (`LRW_BLOCK_SIZE`).
const LRW_KEY: usize = 16;

/// One device: its targets, and the key of those that encrypt.
pub(super) struct Level {
    cipher: String,
    pub(super) key: SecretBytes,
    unit_bytes: u32,
    rows: Vec<Row>,
}

/// What the table's targets say beside the ciphers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) discards: bool,
    /// No queue between us and the ciphers: dm-crypt 1.22 (Linux 5.9).
    pub(super) no_workqueues: bool,
}

/// A run of sectors. All numbers count units of 512 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    start: u64,
    len: u64,
    what: RowTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowTarget {
    Crypt { iv: u64, offset: u64 },
    Linear { offset: u64 },
    Zero,
}

/// The levels of a volume, the one on the medium first.
pub(super) fn levels(volume: &HandOver) -> Result<Vec<Level>, Unmappable> {
    let layout = &volume.layout;
    if layout.guard().is_some() {
        return Err(Unmappable::Guard);
    }
    let rows = rows(layout)?;
    let Some(spec) = spec(layout) else {
        // Nothing of it is encrypted any more.
        let nothing = SecretBytes::zeroed(0);
        return Ok(vec![Level { cipher: String::new(), key: nothing, unit_bytes: 512, rows }]);
    };
    let several = spec.chain.len() > 1;
    if several && matches!(spec.mode, Mode::Cbc | Mode::InnerCbc) {
        return Err(Unmappable::Cascade(spec.mode.name()));
    }
    if several && rows.len() > 1 {
        return Err(Unmappable::Pieces);
    }
    let mut levels = Vec::with_capacity(spec.chain.len());
    for (algorithm, keys) in spec.chain.layers().zip(&volume.keys) {
        let (cipher, key) = cipher(algorithm, spec.mode, keys)?;
        let rows = rows.iter().map(|row| if levels.is_empty() { *row } else { row.on_another() }).collect();
        levels.push(Level { cipher, key, unit_bytes: spec.unit_bytes, rows });
    }
    Ok(levels)
}

/// The cipher of the encrypted segments; a format has one for all.
fn spec(layout: &Layout) -> Option<Spec> {
    layout.segments().iter().find_map(|segment| match &segment.mapping {
        Mapping::Encrypted { cipher, .. } => Some(cipher.spec()),
        Mapping::Plain { .. } | Mapping::Zero => None,
    })
}

fn rows(layout: &Layout) -> Result<Vec<Row>, Unmappable> {
    let segments = layout.segments();
    if segments.len() > MOST_TARGETS {
        return Err(Unmappable::TooMany(segments.len()));
    }
    let sectors = |bytes: u64| {
        if bytes.is_multiple_of(SECTOR) { Ok(bytes / SECTOR) } else { Err(Unmappable::Unaligned) }
    };
    let row = |segment: &keyway_engine::Segment| {
        let what = match &segment.mapping {
            Mapping::Encrypted { store_offset, first_unit, cipher } => {
                let per_unit = u64::from(cipher.unit_bytes()) / SECTOR;
                let iv = first_unit.checked_mul(per_unit).ok_or(Unmappable::Unaligned)?;
                RowTarget::Crypt { iv, offset: sectors(*store_offset)? }
            }
            Mapping::Plain { store_offset } => RowTarget::Linear { offset: sectors(*store_offset)? },
            Mapping::Zero => RowTarget::Zero,
        };
        Ok(Row { start: sectors(segment.start)?, len: sectors(segment.len)?, what })
    };
    segments.iter().map(row).collect()
}

impl Row {
    /// The same sectors on a device that has only them.
    fn on_another(self) -> Self {
        let what = match self.what {
            RowTarget::Crypt { iv, .. } => RowTarget::Crypt { iv, offset: 0 },
            other => other,
        };
        Self { what, ..self }
    }
}

/// What dm-crypt calls the cipher, and its key as it wants it.
fn cipher(
    algorithm: Algorithm,
    mode: Mode,
    keys: &LayerSecrets,
) -> Result<(String, SecretBytes), Unmappable> {
    let name = match algorithm {
        Algorithm::Aes128 | Algorithm::Aes256 => "aes",
        Algorithm::Serpent => "serpent",
        Algorithm::Twofish => "twofish",
        Algorithm::Camellia => "camellia",
        Algorithm::Cast5 => "cast5",
        Algorithm::TripleDes => "des3_ede",
        Algorithm::Kuznyechik => return Err(Unmappable::Cipher("Kuznyechik")),
        // It has it, but with the other order of bytes.
        Algorithm::Blowfish => return Err(Unmappable::Cipher("Blowfish of TrueCrypt's kind")),
    };
    let block = algorithm.block_bytes();
    let (mode, second) = match mode {
        Mode::Xts => ("xts-plain64", keys.tweak_key.len()),
        Mode::Lrw if block == LRW_KEY => ("lrw-benbi", LRW_KEY),
        Mode::Lrw => return Err(Unmappable::Mode { mode: "LRW", cipher: algorithm.name() }),
        Mode::Cbc => ("cbc-tcw", block + WHITENING),
        Mode::InnerCbc => return Err(Unmappable::Cascade(mode.name())),
        Mode::BitLockerCbc => ("cbc-eboiv", 0),
        Mode::BitLockerElephant => ("cbc-elephant", keys.tweak_key.len()),
    };
    let tweak_key = keys.tweak_key.get(..second).ok_or(Unmappable::Unaligned)?;
    let mut key = SecretBytes::zeroed(keys.key.len() + second);
    let (first, rest) = key.split_at_mut(keys.key.len());
    first.copy_from_slice(&keys.key);
    rest.copy_from_slice(tweak_key);
    Ok((format!("{name}-{mode}"), key))
}

impl Level {
    /// The cipher as dm-crypt calls it; empty where nothing is encrypted.
    pub(super) fn cipher(&self) -> &str {
        &self.cipher
    }

    /// The kinds of target in it.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        let has = |kind: &'static str| self.rows.iter().any(|row| row.what.kind() == kind).then_some(kind);
        ["crypt", "linear", "zero"].into_iter().filter_map(has)
    }

    /// The targets on `device`; their key is in the keyring under `description`.
    pub(super) fn targets(&self, device: DmDevice, description: &str, options: Options) -> Vec<DmTarget> {
        let device = format!("{}:{}", device.major, device.minor);
        let tail = self.tail(options);
        let key = format!(":{}:logon:{description}", self.key.len());
        let target = |row: &Row| {
            let params = match row.what {
                RowTarget::Crypt { iv, offset } => {
                    format!("{} {key} {iv} {device} {offset}{tail}", self.cipher)
                }
                RowTarget::Linear { offset } => format!("{device} {offset}"),
                RowTarget::Zero => String::new(),
            };
            DmTarget { start: row.start, len: row.len, kind: row.what.kind(), params }
        };
        self.rows.iter().map(target).collect()
    }

    /// dm-crypt's optional parameters.
    fn tail(&self, options: Options) -> String {
        let mut words = Vec::new();
        if options.discards {
            words.push("allow_discards".to_owned());
        }
        if options.no_workqueues {
            words.extend(["no_read_workqueue", "no_write_workqueue"].map(str::to_owned));
        }
        if self.unit_bytes > 512 {
            words.push(format!("sector_size:{}", self.unit_bytes));
            // Units are numbered, not their 512-byte parts.
            words.push("iv_large_sectors".to_owned());
        }
        if words.is_empty() { String::new() } else { format!(" {} {}", words.len(), words.join(" ")) }
    }
}

impl RowTarget {
    const fn kind(self) -> &'static str {
        match self {
            Self::Crypt { .. } => "crypt",
            Self::Linear { .. } => "linear",
            Self::Zero => "zero",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_cipher::{LayerKey, SectorCipher};
    use keyway_engine::{Access, Segment};
    use std::sync::Arc;

    const MEDIUM: DmDevice = DmDevice { major: 7, minor: 3 };
    const PLAIN: Options = Options { discards: false, no_workqueues: false };

    fn secrets(chain: &str, tweak_bytes: Option<usize>) -> Vec<LayerSecrets> {
        let chain: keyway_cipher::Chain = chain.parse().expect("a cipher");
        (1u8..)
            .zip(chain.layers())
            .map(|(n, algorithm)| {
                // The old modes have one for all layers.
                let tweak_byte = if tweak_bytes.is_some() { 100 } else { n + 100 };
                let tweak = vec![tweak_byte; tweak_bytes.unwrap_or(algorithm.key_bytes())];
                LayerSecrets::copy_of(&LayerKey { key: &vec![n; algorithm.key_bytes()], tweak_key: &tweak })
            })
            .collect()
    }

    fn volume(chain: &str, mode: Mode, unit_bytes: u32, tweak: Option<usize>, guard: bool) -> HandOver {
        let keys = secrets(chain, tweak);
        let given: Vec<LayerKey<'_>> =
            keys.iter().map(|k| LayerKey { key: &k.key, tweak_key: &k.tweak_key }).collect();
        let spec = Spec { chain: chain.parse().expect("a cipher"), mode, unit_bytes };
        let cipher = Arc::new(SectorCipher::new(&spec, &given).expect("keys that fit"));
        let mapping = Mapping::Encrypted { store_offset: 131_072, first_unit: 256, cipher };
        let layout =
            Layout::new(unit_bytes, vec![Segment { start: 0, len: 65_536, mapping }]).expect("whole");
        let layout = if guard { layout.guarding(0..512) } else { layout };
        HandOver { layout, keys, access: Access::ReadWrite, discards: false }
    }

    fn lines(volume: &HandOver, options: Options) -> Vec<String> {
        let levels = levels(volume).expect("the kernel can");
        let targets = levels.iter().flat_map(|level| level.targets(MEDIUM, "keyway:k", options));
        targets.map(|t| format!("{} {} {} {}", t.start, t.len, t.kind, t.params)).collect()
    }

    #[test]
    fn a_cascade_is_stacked_the_outermost_on_the_medium() {
        let triple = volume("aes-twofish-serpent", Mode::Xts, 512, None, false);
        assert_eq!(
            lines(&triple, PLAIN),
            [
                "0 128 crypt aes-xts-plain64 :64:logon:keyway:k 256 7:3 256",
                "0 128 crypt twofish-xts-plain64 :64:logon:keyway:k 256 7:3 0",
                "0 128 crypt serpent-xts-plain64 :64:logon:keyway:k 256 7:3 0",
            ]
        );
        let levels = levels(&triple).expect("the kernel can");
        assert_eq!(levels[1].key[..], [[2; 32], [102; 32]].concat());
    }

    #[test]
    fn old_modes_take_as_much_of_the_seed_as_the_kernel_wants() {
        let key = |chain: &str, mode| {
            let levels = levels(&volume(chain, mode, 512, Some(32), false)).expect("the kernel can");
            (levels[0].cipher().to_owned(), levels[0].key.len())
        };
        assert_eq!(key("aes", Mode::Cbc), ("aes-cbc-tcw".into(), 64));
        assert_eq!(key("des3_ede", Mode::Cbc), ("des3_ede-cbc-tcw".into(), 24 + 24));
        assert_eq!(key("serpent", Mode::Lrw), ("serpent-lrw-benbi".into(), 48));
    }

    #[test]
    fn options_are_counted() {
        let large = volume("aes128", Mode::BitLockerElephant, 4096, None, false);
        let all = Options { discards: true, no_workqueues: true };
        assert_eq!(
            lines(&large, all),
            ["0 128 crypt aes-cbc-elephant :32:logon:keyway:k 2048 7:3 256 \
              5 allow_discards no_read_workqueue no_write_workqueue sector_size:4096 iv_large_sectors"]
        );
    }

    #[test]
    fn segments_become_targets() {
        let encrypted = volume("aes128", Mode::Xts, 512, None, false);
        let Mapping::Encrypted { cipher, .. } = &encrypted.layout.segments()[0].mapping else {
            panic!("it is encrypted");
        };
        let stored = |store_offset: u64| Mapping::Encrypted {
            store_offset,
            first_unit: store_offset / 512,
            cipher: Arc::clone(cipher),
        };
        let plain = Mapping::Plain { store_offset: 24_576 };
        let parts = [(8192, stored(65_536)), (8192, stored(8192)), (8192, Mapping::Zero), (512, plain)];
        let mut start = 0;
        let segments = parts.map(|(len, mapping)| {
            start += len;
            Segment { start: start - len, len, mapping }
        });
        let layout = Layout::new(512, segments.into()).expect("whole");
        let volume = HandOver { layout, ..encrypted };
        assert_eq!(
            lines(&volume, PLAIN),
            [
                "0 16 crypt aes-xts-plain64 :32:logon:keyway:k 128 7:3 128",
                "16 16 crypt aes-xts-plain64 :32:logon:keyway:k 16 7:3 16",
                "32 16 zero ",
                "48 1 linear 7:3 48",
            ]
        );
        let kinds: Vec<_> = levels(&volume).expect("the kernel can")[0].kinds().collect();
        assert_eq!(kinds, ["crypt", "linear", "zero"]);
    }

    #[test]
    fn what_the_kernel_has_not_is_named() {
        let refused = |volume: HandOver| levels(&volume).err();
        assert_eq!(refused(volume("aes", Mode::Xts, 512, None, true)), Some(Unmappable::Guard));
        let kuznyechik = volume("kuznyechik-aes", Mode::Xts, 512, None, false);
        assert_eq!(refused(kuznyechik), Some(Unmappable::Cipher("Kuznyechik")));
        let cascade = volume("aes-twofish", Mode::Cbc, 512, Some(32), false);
        assert_eq!(refused(cascade), Some(Unmappable::Cascade("cbc")));
        let small = volume("cast5", Mode::Lrw, 512, Some(32), false);
        assert_eq!(refused(small), Some(Unmappable::Mode { mode: "LRW", cipher: "cast5" }));
    }
}
