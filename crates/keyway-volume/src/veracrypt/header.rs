//! A decrypted header: parsed with limits, written back.
//!
//! Offsets below count from the header's first byte, of which the first 64 (the salt) are not
//! encrypted; so field 68 is byte 4 of the decrypted part. All numbers are big-endian.
//!
//! | offset | bytes | meaning |
//! |---|---|---|
//! | 64 | 4 | `VERA` or `TRUE` |
//! | 68 | 2 | header version, 1 to 5 |
//! | 70 | 2 | program version that the volume needs |
//! | 72 | 4 | CRC-32 of bytes 256..512 |
//! | 76, 84 | 8, 8 | times of creation, TrueCrypt only |
//! | 92 | 8 | size of the hidden volume; 0 in a normal volume's header |
//! | 100 | 8 | size of the volume |
//! | 108 | 8 | first byte of the encrypted area |
//! | 116 | 8 | size of the encrypted area |
//! | 124 | 4 | flags |
//! | 128 | 4 | sector size, since version 5 |
//! | 252 | 4 | CRC-32 of bytes 64..252, since version 4 |
//! | 256 | 256 | master keys |
//!
//! Source: *VeraCrypt Volume Format Specification*; TrueCrypt's for versions 1 to 4.

use super::params::Format;
use keyway_secret::SecretBytes;

/// Bytes of salt at the beginning of a header.
pub const SALT_BYTES: usize = 64;

/// Bytes of a header that are encrypted.
pub const PLAIN_BYTES: usize = 448;

/// Bytes for the master keys.
pub(crate) const KEY_AREA_BYTES: usize = 256;

/// Where the header's own fields end and their CRC begins, from the magic.
const FIELDS_BYTES: usize = 188;

/// Where the master keys begin, from the magic.
const KEY_AREA_AT: usize = 192;

/// The newest header version.
const NEWEST_VERSION: u16 = 5;

/// VeraCrypt never wrote a header without a checksum over its fields.
const fn oldest_version(format: Format) -> u16 {
    match format {
        Format::VeraCrypt => 4,
        Format::TrueCrypt => 1,
    }
}

/// Volumes that need TrueCrypt 6.0 or later have their sizes in the header.
const SIZES_SINCE: u16 = 0x600;

/// The flags of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// Bit 0: the volume is an encrypted system.
    pub(crate) fn is_system(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 1: a partition encrypted in place.
    pub(crate) fn is_in_place(self) -> bool {
        self.0 & 2 != 0
    }
}

/// A header's content. Its numbers have passed those checks that need nothing but the header.
pub struct Header {
    /// Whose volume.
    pub format: Format,
    /// 1 to 5.
    pub version: u16,
    /// The oldest program that may open the volume, `0x010b` for VeraCrypt 1.0b; TrueCrypt's own numbers
    /// in its volumes.
    pub required_program_version: u16,
    /// When the volume and the header were made, in 100 ns since 1601; 0 in VeraCrypt.
    pub created: [u64; 2],
    /// Size of the hidden volume; 0 in a normal volume's header.
    pub hidden_bytes: u64,
    /// Size of the volume; 0 where the header has no such field.
    pub volume_bytes: u64,
    /// First byte of the encrypted area in the file or device; 0 where there is no such field.
    pub encrypted_start: u64,
    /// Size of the encrypted area; 0 where there is no such field.
    pub encrypted_bytes: u64,
    /// Flags.
    pub flags: Flags,
    /// 512, 1024, 2048 or 4096.
    pub sector_bytes: u32,
    /// The master keys, [`KEY_AREA_BYTES`] of them; unused ones are zeros (TrueCrypt) or random.
    pub key_area: SecretBytes,
}

/// What is wrong with a header that was decrypted with the right key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// The master keys don't fit their checksum.
    #[error("its master keys do not match their checksum")]
    KeyChecksum,
    /// The fields don't fit their checksum.
    #[error("its fields do not match their checksum")]
    FieldChecksum,
    /// Version 0, or newer than we know.
    #[error("it says its version is {0}")]
    Version(u16),
    /// A sector size that no volume has.
    #[error("it says the sectors have {0} bytes")]
    SectorSize(u32),
    /// Size 0, or not whole sectors.
    #[error("it says the data area has {0} bytes")]
    Size(u64),
    /// The start is not on a unit, or lies in the headers.
    #[error("it says the data area begins at byte {0}")]
    Start(u64),
    /// Start plus size is more than there can be.
    #[error("it says the data area is {bytes} bytes from byte {start} on, which is impossible")]
    Overflow {
        /// The start it names.
        start: u64,
        /// The size it names.
        bytes: u64,
    },
    /// The data area ends beyond the end of the file or device.
    #[error("it says the data area ends at byte {end}, but the file or device ends at {present}")]
    BeyondEnd {
        /// The end it names.
        end: u64,
        /// The size of the file or device.
        present: u64,
    },
    /// An in-place encryption that has not come to its end.
    #[error("it says its in-place encryption stopped after {encrypted} of {volume} bytes")]
    InPlaceUnfinished {
        /// Bytes done.
        encrypted: u64,
        /// The volume's size.
        volume: u64,
    },
    /// The encrypted area and the volume have different sizes where they can't.
    #[error("it says {encrypted} bytes of {volume} are encrypted")]
    PartlyEncrypted {
        /// The encrypted area it names.
        encrypted: u64,
        /// The volume size it names.
        volume: u64,
    },
}

/// Big-endian fields of a buffer whose length is known.
struct Fields<'a>(&'a [u8; PLAIN_BYTES]);

impl Fields<'_> {
    fn take<const N: usize>(&self, offset: usize) -> [u8; N] {
        let at = offset - SALT_BYTES;
        let mut bytes = [0; N];
        for (to, from) in bytes.iter_mut().zip(self.0.iter().skip(at)) {
            *to = *from;
        }
        bytes
    }
    fn u16(&self, offset: usize) -> u16 {
        u16::from_be_bytes(self.take(offset))
    }
    fn u32(&self, offset: usize) -> u32 {
        u32::from_be_bytes(self.take(offset))
    }
    fn u64(&self, offset: usize) -> u64 {
        u64::from_be_bytes(self.take(offset))
    }
}

impl Header {
    /// Reads a header that has just been decrypted. `Ok(None)`: the magic is missing, so the key
    /// was not the right one.
    ///
    /// # Errors
    /// The magic is there, so the key is right, but the rest can't be.
    pub fn parse(plain: &[u8; PLAIN_BYTES]) -> Result<Option<Self>, HeaderFault> {
        let fields = Fields(plain);
        let magic: [u8; 4] = fields.take(64);
        let Some(format) = [Format::VeraCrypt, Format::TrueCrypt].into_iter().find(|f| f.magic() == magic)
        else {
            return Ok(None);
        };
        let (head, key_area) = plain.split_at(KEY_AREA_AT);
        let version = fields.u16(68);
        // A newer version may keep its checksums elsewhere, so the version comes first.
        if !(oldest_version(format)..=NEWEST_VERSION).contains(&version) {
            return Err(HeaderFault::Version(version));
        }
        let crc = |bytes: &[u8]| crc32fast::hash(bytes);
        if version >= 4 && crc(head.get(..FIELDS_BYTES).unwrap_or(head)) != fields.u32(252) {
            return Err(HeaderFault::FieldChecksum);
        }
        if crc(key_area) != fields.u32(72) {
            return Err(HeaderFault::KeyChecksum);
        }
        let sector_bytes = if version >= 5 { fields.u32(128) } else { 512 };
        if !matches!(sector_bytes, 512 | 1024 | 2048 | 4096) {
            return Err(HeaderFault::SectorSize(sector_bytes));
        }
        Ok(Some(Self {
            format,
            version,
            required_program_version: fields.u16(70),
            created: [fields.u64(76), fields.u64(84)],
            hidden_bytes: fields.u64(92),
            volume_bytes: fields.u64(100),
            encrypted_start: fields.u64(108),
            encrypted_bytes: fields.u64(116),
            flags: Flags(fields.u32(124)),
            sector_bytes,
            key_area: SecretBytes::copy_of(key_area),
        }))
    }

    /// Writes the header as it will be encrypted: fields, both checksums, master keys. Key bytes
    /// beyond [`KEY_AREA_BYTES`] are left out, missing ones are zeros.
    pub fn serialise(&self) -> SecretBytes {
        let mut plain = SecretBytes::zeroed(PLAIN_BYTES);
        let mut put = |offset: usize, bytes: &[u8]| {
            let at = offset - SALT_BYTES;
            for (to, from) in plain.iter_mut().skip(at).zip(bytes) {
                *to = *from;
            }
        };
        put(64, &self.format.magic());
        put(68, &self.version.to_be_bytes());
        put(70, &self.required_program_version.to_be_bytes());
        put(76, &self.created[0].to_be_bytes());
        put(84, &self.created[1].to_be_bytes());
        put(92, &self.hidden_bytes.to_be_bytes());
        put(100, &self.volume_bytes.to_be_bytes());
        put(108, &self.encrypted_start.to_be_bytes());
        put(116, &self.encrypted_bytes.to_be_bytes());
        put(124, &self.flags.0.to_be_bytes());
        if self.version >= 5 {
            put(128, &self.sector_bytes.to_be_bytes());
        }
        put(256, &self.key_area);
        let key_crc = crc32fast::hash(plain.get(KEY_AREA_AT..).unwrap_or_default());
        for (to, from) in plain.iter_mut().skip(72 - 64).zip(key_crc.to_be_bytes()) {
            *to = from;
        }
        if self.version >= 4 {
            let field_crc = crc32fast::hash(plain.get(..FIELDS_BYTES).unwrap_or_default());
            for (to, from) in plain.iter_mut().skip(FIELDS_BYTES).zip(field_crc.to_be_bytes()) {
                *to = from;
            }
        }
        plain
    }

    /// Whether the size fields and the start mean anything: since TrueCrypt 6.0, and in every
    /// encrypted system.
    pub(crate) fn has_sizes(&self) -> bool {
        self.format == Format::VeraCrypt
            || self.required_program_version >= SIZES_SINCE
            || self.flags.is_system()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Header {
        Header {
            format: Format::VeraCrypt,
            version: 5,
            required_program_version: 0x010b,
            created: [0, 0],
            hidden_bytes: 0,
            volume_bytes: 1 << 20,
            encrypted_start: 131_072,
            encrypted_bytes: 1 << 20,
            flags: Flags(0),
            sector_bytes: 4096,
            key_area: SecretBytes::copy_of(&(0..=255).collect::<Vec<u8>>()),
        }
    }

    fn parse(plain: &[u8]) -> Result<Option<Header>, HeaderFault> {
        Header::parse(plain.try_into().expect("448 bytes"))
    }

    #[test]
    fn what_is_written_is_read_back() {
        for version in 1..=5u16 {
            let mut header = header();
            header.version = version;
            header.format = if version < 4 { Format::TrueCrypt } else { Format::VeraCrypt };
            let read = parse(&header.serialise()).expect("in order").expect("magic");
            assert_eq!(read.version, version);
            assert_eq!(read.volume_bytes, header.volume_bytes);
            assert_eq!(read.encrypted_start, header.encrypted_start);
            assert_eq!(read.required_program_version, 0x010b);
            assert_eq!(read.sector_bytes, if version == 5 { 4096 } else { 512 });
            assert!(read.key_area.same_as(&header.key_area));
        }
    }

    #[test]
    fn every_flipped_bit_of_a_current_header_is_noticed() {
        let plain = header().serialise();
        for bit in 0..PLAIN_BYTES * 8 {
            let mut damaged = plain.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match parse(&damaged) {
                Ok(None) => assert!(bit < 32, "bit {bit}"),
                Err(_) => assert!(bit >= 32, "bit {bit}"),
                Ok(Some(_)) => panic!("bit {bit} went unnoticed"),
            }
        }
    }

    #[test]
    fn right_checksums_do_not_excuse_wrong_fields() {
        for lie in [0, 1, 511, 513, 8192, 1 << 31, u32::MAX] {
            let mut header = header();
            header.sector_bytes = lie;
            assert_eq!(parse(&header.serialise()).err(), Some(HeaderFault::SectorSize(lie)));
        }
        for lie in [0, 6, u16::MAX] {
            let mut header = header();
            header.version = lie;
            assert_eq!(parse(&header.serialise()).err(), Some(HeaderFault::Version(lie)));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), PLAIN_BYTES),
            magic in 0..3usize,
            version in 0u16..8,
            fix in any::<bool>(),
        ) {
            if let Some(magic) = [b"VERA", b"TRUE"].get(magic) {
                bytes[..4].copy_from_slice(*magic);
            }
            bytes[4..6].copy_from_slice(&version.to_be_bytes());
            if fix {
                let crc = crc32fast::hash(&bytes[KEY_AREA_AT..]);
                bytes[8..12].copy_from_slice(&crc.to_be_bytes());
                let crc = crc32fast::hash(&bytes[..FIELDS_BYTES]);
                bytes[FIELDS_BYTES..KEY_AREA_AT].copy_from_slice(&crc.to_be_bytes());
            }
            if let Ok(Some(header)) = parse(&bytes) {
                prop_assert!(matches!(header.sector_bytes, 512 | 1024 | 2048 | 4096));
                prop_assert!((1..=5).contains(&header.version));
                prop_assert_eq!(header.key_area.len(), KEY_AREA_BYTES);
            }
        }
    }
}
