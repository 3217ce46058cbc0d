//! Entries: what metadata is made of. They nest.
//!
//! ```text
//! offset size
//!      0    2  bytes of the entry, these included
//!      2    2  role: what it is for (codes::role)
//!      4    2  kind: how it is laid out (codes::kind)
//!      6    2  flags; 1 in nearly all (libbde calls it the version)
//!      8    …  the value
//!
//! key 0x01           algorithm u16, flags u16, key …
//! text 0x02          UTF-16LE, ends in a zero
//! stretch key 0x03   algorithm u16, flags u16, salt 16 bytes, entries …
//! use key 0x04       algorithm u16, flags u16, entries …
//! sealed 0x05        nonce: FILETIME u64, counter u32; MAC 16 bytes, cipher text …
//! TPM blob 0x06      PCR bitmap u32, blob …
//! protector 0x08     GUID 16 bytes, FILETIME u64, flags u16, protection u16, entries …
//! external key 0x09  GUID 16 bytes, FILETIME u64, entries …
//! boot backup 0x0f   offset u64, bytes u64, extension …
//! ```
//!
//! Source: libbde's format description; dissect.fve's definitions.
//!
//! Reading never fails and loses nothing: a value of an unknown kind, or one too short for its
//! kind, is kept as raw bytes, and so is what remains where no further entry can be read. Writing
//! gives the bytes that were read.

use super::codes::{Protection, kind, role};
use super::filetime::FileTime;
use super::guid::Guid;
use super::reader::Reader;

/// Bytes before an entry's value.
pub(crate) const ENTRY_HEADER_BYTES: usize = 8;

/// Entries nest no deeper than this before they are kept as raw bytes; Windows' go three levels.
const DEEPEST: usize = 8;

/// A list of entries, and the bytes after the last one that are none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entries {
    /// The entries, in order.
    pub list: Vec<Entry>,
    /// What follows them; empty in what Windows writes.
    pub rest: Vec<u8>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is for: [`role`].
    pub role: u16,
    /// Its flags.
    pub flags: u16,
    /// Its value, which knows its kind.
    pub value: Value,
}

/// What is in an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A key in the open.
    Key(Key),
    /// The UTF-16 units of a text, the closing zero included.
    Text(Vec<u16>),
    /// A salt, and what its key seals.
    StretchKey(StretchKey),
    /// Says which key the entries in it use.
    UseKey(UseKey),
    /// AES-CCM cipher text.
    Sealed(Sealed),
    /// What a TPM sealed.
    TpmBlob(TpmBlob),
    /// A key protector.
    Protector(Protector),
    /// A key of a file.
    ExternalKey(ExternalKey),
    /// Where the volume's first sectors lie.
    BootBackup(BootBackup),
    /// A value of another kind, or one that is too short for its kind.
    Raw {
        /// Its kind: [`kind`].
        kind: u16,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// A key in the open, as a suspended volume has it. Keys that are secret never come through this
/// type; see [`super::SecretKey`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its algorithm: [`super::codes::algorithm`].
    pub algorithm: u16,
    /// Its flags.
    pub flags: u16,
    /// The key.
    pub bytes: Vec<u8>,
}

/// A salt, and what the key that it stretches to has sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StretchKey {
    /// Its algorithm: [`super::codes::algorithm`].
    pub algorithm: u16,
    /// Its flags.
    pub flags: u16,
    /// The salt.
    pub salt: [u8; 16],
    /// What it seals.
    pub entries: Entries,
}

/// Says which key the entries in it use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseKey {
    /// The key's algorithm: [`super::codes::algorithm`].
    pub algorithm: u16,
    /// Its flags.
    pub flags: u16,
    /// What uses it.
    pub entries: Entries,
}

/// The nonce of one sealing. Each is used once per key: the counter goes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce {
    /// When, as a FILETIME; its top bit is set in some validations.
    pub time: u64,
    /// The volume's nonce counter.
    pub counter: u32,
}

/// AES-CCM cipher text with its nonce and MAC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The nonce.
    pub nonce: Nonce,
    /// The message authentication code.
    pub mac: [u8; 16],
    /// The cipher text.
    pub bytes: Vec<u8>,
}

/// What a TPM sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TpmBlob {
    /// The platform configuration registers it is sealed to, bit 0 being PCR 0.
    pub pcrs: u32,
    /// The TPM's own bytes.
    pub blob: Vec<u8>,
}

/// A key protector: one way to the volume master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protector {
    /// Its identifier.
    pub id: Guid,
    /// When it was last changed.
    pub changed: FileTime,
    /// Flags; 0 in what was met.
    pub flags: u16,
    /// What it asks for.
    pub protection: Protection,
    /// Its parts.
    pub entries: Entries,
}

/// A key of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalKey {
    /// Its identifier, which is that of the protector it belongs to.
    pub id: Guid,
    /// When it was last changed.
    pub changed: FileTime,
    /// Its parts.
    pub entries: Entries,
}

/// Where the volume's first sectors lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootBackup {
    /// First byte in the volume.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// What Windows 8 and later add.
    pub extension: Vec<u8>,
}

impl Entries {
    /// Reads entries; never fails, see the module's text.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::parse_nested(bytes, 0)
    }

    fn parse_nested(mut bytes: &[u8], depth: usize) -> Self {
        let mut list = Vec::new();
        while let Some((raw, rest)) = RawEntry::split(bytes) {
            list.push(Entry {
                role: raw.role,
                flags: raw.flags,
                value: Value::parse(raw.kind, raw.bytes, depth + 1),
            });
            bytes = rest;
        }
        Self { list, rest: bytes.to_vec() }
    }

    /// Reads the first entry alone.
    pub(crate) fn parse_first(bytes: &[u8]) -> Option<Entry> {
        let (raw, _) = RawEntry::split(bytes)?;
        Some(Entry { role: raw.role, flags: raw.flags, value: Value::parse(raw.kind, raw.bytes, 1) })
    }

    /// Writes them.
    ///
    /// # Errors
    /// An entry is longer than its length field can say.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), EntryTooLong> {
        for entry in &self.list {
            entry.write(out)?;
        }
        out.extend_from_slice(&self.rest);
        Ok(())
    }

    /// The entries' values with that role.
    pub(crate) fn with_role(&self, role: u16) -> impl Iterator<Item = &Value> {
        self.list.iter().filter(move |entry| entry.role == role).map(|entry| &entry.value)
    }

    /// The protectors.
    pub fn protectors(&self) -> impl Iterator<Item = &Protector> {
        self.with_role(role::PROTECTOR)
            .filter_map(|value| if let Value::Protector(protector) = value { Some(protector) } else { None })
    }

    /// The first sealed part with that role.
    pub fn sealed(&self, role: u16) -> Option<&Sealed> {
        self.with_role(role)
            .find_map(|value| if let Value::Sealed(sealed) = value { Some(sealed) } else { None })
    }

    /// The first text with that role, as far as it is text.
    pub fn text(&self, role: u16) -> Option<String> {
        self.with_role(role).find_map(|value| match value {
            Value::Text(units) => {
                let end = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
                Some(String::from_utf16_lossy(units.get(..end).unwrap_or_default()))
            }
            _ => None,
        })
    }

    /// The first salt among the parts.
    pub fn stretch_key(&self) -> Option<&StretchKey> {
        self.with_role(role::PROPERTY)
            .find_map(|value| if let Value::StretchKey(stretch) = value { Some(stretch) } else { None })
    }

    /// The first key in the open among the parts.
    pub fn key(&self) -> Option<&Key> {
        self.with_role(role::PROPERTY)
            .find_map(|value| if let Value::Key(key) = value { Some(key) } else { None })
    }
}

/// An entry that does not fit its length field of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a metadata entry of {0} bytes is longer than the format can hold")]
pub struct EntryTooLong(pub usize);

impl Entry {
    /// An entry with the flags that nearly all have.
    pub fn new(role: u16, value: Value) -> Self {
        Self { role, flags: 1, value }
    }

    /// Appends it.
    ///
    /// # Errors
    /// It is longer than its length field can say.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), EntryTooLong> {
        let start = out.len();
        out.extend_from_slice(&[0; 2]);
        for field in [self.role, self.value.kind(), self.flags] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        self.value.write(out)?;
        let len = out.len() - start;
        let field = u16::try_from(len).map_err(|_| EntryTooLong(len))?;
        if let Some(slot) = out.get_mut(start..start + 2) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        Ok(())
    }
}

impl Value {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.encode_utf16().chain([0]).collect())
    }

    /// Its kind: [`kind`].
    pub fn kind(&self) -> u16 {
        match self {
            Self::Key(_) => kind::KEY,
            Self::Text(_) => kind::TEXT,
            Self::StretchKey(_) => kind::STRETCH_KEY,
            Self::UseKey(_) => kind::USE_KEY,
            Self::Sealed(_) => kind::SEALED,
            Self::TpmBlob(_) => kind::TPM_BLOB,
            Self::Protector(_) => kind::PROTECTOR,
            Self::ExternalKey(_) => kind::EXTERNAL_KEY,
            Self::BootBackup(_) => kind::BOOT_BACKUP,
            Self::Raw { kind, .. } => *kind,
        }
    }

    fn parse(kind: u16, bytes: &[u8], depth: usize) -> Self {
        let known = if depth <= DEEPEST { Self::parse_known(kind, bytes, depth) } else { None };
        known.unwrap_or_else(|| Self::Raw { kind, bytes: bytes.to_vec() })
    }

    fn parse_known(kind: u16, bytes: &[u8], depth: usize) -> Option<Self> {
        let mut r = Reader(bytes);
        Some(match kind {
            kind::KEY => Self::Key(Key { algorithm: r.u16()?, flags: r.u16()?, bytes: r.0.to_vec() }),
            kind::TEXT => {
                let (units, odd) = bytes.as_chunks();
                odd.is_empty().then_some(())?;
                Self::Text(units.iter().map(|unit| u16::from_le_bytes(*unit)).collect())
            }
            kind::STRETCH_KEY => Self::StretchKey(StretchKey {
                algorithm: r.u16()?,
                flags: r.u16()?,
                salt: r.array()?,
                entries: Entries::parse_nested(r.0, depth),
            }),
            kind::USE_KEY => Self::UseKey(UseKey {
                algorithm: r.u16()?,
                flags: r.u16()?,
                entries: Entries::parse_nested(r.0, depth),
            }),
            kind::SEALED => Self::Sealed(Sealed {
                nonce: Nonce { time: r.u64()?, counter: r.u32()? },
                mac: r.array()?,
                bytes: r.0.to_vec(),
            }),
            kind::TPM_BLOB => Self::TpmBlob(TpmBlob { pcrs: r.u32()?, blob: r.0.to_vec() }),
            kind::PROTECTOR => Self::Protector(Protector {
                id: Guid(r.array()?),
                changed: FileTime(r.u64()?),
                flags: r.u16()?,
                protection: Protection::from_code(r.u16()?),
                entries: Entries::parse_nested(r.0, depth),
            }),
            kind::EXTERNAL_KEY => Self::ExternalKey(ExternalKey {
                id: Guid(r.array()?),
                changed: FileTime(r.u64()?),
                entries: Entries::parse_nested(r.0, depth),
            }),
            kind::BOOT_BACKUP => {
                Self::BootBackup(BootBackup { offset: r.u64()?, bytes: r.u64()?, extension: r.0.to_vec() })
            }
            _ => return None,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EntryTooLong> {
        let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
        match self {
            Self::Key(key) => {
                put(&key.algorithm.to_le_bytes());
                put(&key.flags.to_le_bytes());
                put(&key.bytes);
            }
            Self::Text(units) => units.iter().for_each(|unit| put(&unit.to_le_bytes())),
            Self::StretchKey(stretch) => {
                put(&stretch.algorithm.to_le_bytes());
                put(&stretch.flags.to_le_bytes());
                put(&stretch.salt);
                stretch.entries.write(out)?;
            }
            Self::UseKey(used) => {
                put(&used.algorithm.to_le_bytes());
                put(&used.flags.to_le_bytes());
                used.entries.write(out)?;
            }
            Self::Sealed(sealed) => {
                put(&sealed.nonce.to_bytes());
                put(&sealed.mac);
                put(&sealed.bytes);
            }
            Self::TpmBlob(tpm) => {
                put(&tpm.pcrs.to_le_bytes());
                put(&tpm.blob);
            }
            Self::Protector(protector) => {
                put(&protector.id.0);
                put(&protector.changed.0.to_le_bytes());
                put(&protector.flags.to_le_bytes());
                put(&protector.protection.code().to_le_bytes());
                protector.entries.write(out)?;
            }
            Self::ExternalKey(key) => {
                put(&key.id.0);
                put(&key.changed.0.to_le_bytes());
                key.entries.write(out)?;
            }
            Self::BootBackup(backup) => {
                put(&backup.offset.to_le_bytes());
                put(&backup.bytes.to_le_bytes());
                put(&backup.extension);
            }
            Self::Raw { bytes, .. } => put(bytes),
        }
        Ok(())
    }
}

impl Nonce {
    /// The 12 bytes that go into AES-CCM.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        let (time, counter) = bytes.split_at_mut(8);
        time.copy_from_slice(&self.time.to_le_bytes());
        counter.copy_from_slice(&self.counter.to_le_bytes());
        bytes
    }
}

/// An entry whose value lies where it was read: for values that are secret and must not be
/// copied about.
pub(crate) struct RawEntry<'a> {
    pub(crate) role: u16,
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    pub(crate) bytes: &'a [u8],
}

impl<'a> RawEntry<'a> {
    /// The first entry of `bytes`, and what comes after it.
    pub(crate) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut r = Reader(bytes);
        let len = usize::from(r.u16()?);
        let (role, kind, flags) = (r.u16()?, r.u16()?, r.u16()?);
        let value = r.take(len.checked_sub(ENTRY_HEADER_BYTES)?)?;
        Some((Self { role, kind, flags, bytes: value }, r.0))
    }
}
