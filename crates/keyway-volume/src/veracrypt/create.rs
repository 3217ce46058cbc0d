//! Makes volumes that VeraCrypt opens: the data area, four header slots, two of them in use.
//!
//! The order makes the primary header the last thing written: until then nothing opens, from then
//! on everything is there. First both pairs of header slots are filled with noise, so that an old
//! volume's headers are gone before its data is; then the data area; then the backup header; then
//! the primary one. Each step is on the medium before the next begins.
//!
//! Sizes and offsets: *VeraCrypt Volume Format Specification*; the smallest sizes and what is
//! reserved behind a hidden volume: VeraCrypt's `Volumes.h`, so that both programs agree on what
//! a size means.

use super::area::Area;
use super::create_error::{CreateError, LARGEST_PIM};
use super::create_header::{Seal, put};
use super::header::{Flags, Header, KEY_AREA_BYTES};
use super::header_location::{BACKUP_GROUP_BYTES, HEADERS_BYTES, HeaderLocation};
use super::params::{Derivation, Format, HashName};
use super::random::{self, Noise};
use super::sealed::SealedHeader;
use super::suite::Suite;
use crate::progress::{NEVER, while_wanted};
use crate::{Progress, ReadBack, Secrets, Stage, VolumeError, Weakness};
use keyway_cipher::Chain;
use keyway_engine::Layout;
use keyway_secret::SecretBytes;
use keyway_store::{AlignedBuf, Store};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// The smallest volume: the headers, and nine sectors of 4,096 bytes for the smallest FAT.
pub const SMALLEST_VOLUME: u64 = HEADERS_BYTES + BACKUP_GROUP_BYTES + 9 * 4096;

/// The largest volume, 1 PiB: VeraCrypt's security bound for 128-bit blocks in XTS mode.
pub const LARGEST_VOLUME: u64 = 1 << 50;

/// The oldest VeraCrypt that can open what we make: 1.11.
const REQUIRED_PROGRAM_VERSION: u16 = 0x010b;

/// The version of the headers we make, VeraCrypt's own.
const HEADER_VERSION: u16 = 5;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// What happens to the data area before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Random bytes everywhere: nobody without the password can tell how much is used, and a
    /// hidden volume cannot be told from free space.
    Random,
    /// Nothing: the data area keeps what was there, holes in a new file, old data on a device.
    Quick,
}

/// The volume that shall be made.
pub struct NewVolume<'a> {
    /// What will open it.
    pub secrets: &'a Secrets,
    /// One of VeraCrypt's 15 ciphers and cascades.
    pub cipher: Chain,
    /// The key derivation: any but RIPEMD-160 and SHA-1, which are for opening old volumes.
    pub hash: HashName,
    /// What happens to the data area.
    pub fill: Fill,
}

/// A volume that has been made.
pub struct Created {
    /// For the engine, for instance to put a file system inside.
    pub layout: Layout,
    /// Where the data area begins in the file or device, in bytes.
    pub data_offset: u64,
    /// Size of the data area in bytes.
    pub data_bytes: u64,
    /// Its sector size in bytes.
    pub sector_bytes: u32,
    /// Whether it is a hidden volume.
    pub hidden: bool,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Something that the user should know about a new volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The data area was not filled.
    Quick,
    /// The data area of a hidden volume was not filled.
    QuickHidden,
    /// A password that is easily guessed.
    Weak(Weakness),
    /// The outer volume was not opened, so nothing about it could be checked.
    OuterNotOpened,
    /// No file system was found in the outer volume, so nobody knows what lies where.
    OuterFilesUnknown,
    /// Files of the outer volume lay, or may have lain, where the hidden one is.
    OuterFilesLost,
    /// The outer volume has a hidden one now.
    Protect,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => {
                "the data area was not filled with random bytes: how much of the volume is used can be seen, \
                 old data on the medium stays readable until it is overwritten, and a hidden volume inside \
                 could be told from free space"
            }
            Self::QuickHidden => {
                "the hidden volume's place was not filled with random bytes: where the outer volume was not either, \
                 the hidden one can be told from free space"
            }
            Self::Weak(weakness) => return weakness.fmt(f),
            Self::OuterNotOpened => {
                "the outer volume was not opened: nobody checked that it can hold a hidden one, that no files \
                 of it lie there, or that the password is not its own"
            }
            Self::OuterFilesUnknown => {
                "no file system was found in the outer volume: what lay where the hidden volume is now is lost"
            }
            Self::OuterFilesLost => {
                "files of the outer volume that lay where the hidden volume is now are lost, and its file system may be \
                 damaged: check it before anything is written to it"
            }
            Self::Protect => "from now on open the outer volume with the hidden one protected",
        })
    }
}

/// Whether a volume can have so many bytes, headers included.
///
/// # Errors
/// It is too small, too large, or no whole sectors.
pub fn check_size(size: u64, sector_bytes: u32) -> Result<(), CreateError> {
    if size < SMALLEST_VOLUME {
        return Err(CreateError::TooSmall { size, least: SMALLEST_VOLUME });
    }
    if size > LARGEST_VOLUME {
        return Err(CreateError::TooLarge { size, most: LARGEST_VOLUME });
    }
    whole_sectors(size, sector_bytes)
}

/// Makes a normal volume over the whole of `store`, whose contents are lost.
///
/// The volume's sectors are the store's: 512 bytes in files, a device's own.
///
/// # Errors
/// The size, the cipher, the hash or the secrets can't be used; the medium failed; the caller
/// stopped it. The store then holds no volume.
pub fn create(
    store: &dyn Store,
    new: &NewVolume<'_>,
    progress: &dyn Progress,
) -> Result<Created, CreateError> {
    let size = store.size();
    let sector_bytes = store.sector_bytes();
    check_size(size, sector_bytes)?;
    let data = HEADERS_BYTES..size - BACKUP_GROUP_BYTES;
    let keyed = Keyed::new(new)?;
    let header = keyed.header(data.clone(), sector_bytes, false)?;

    let mut noise = Noise::new()?;
    // Where this is lost, an old volume's header may still open.
    let headers = ReadBack::new(store);
    fill(&headers, 0..data.start, &mut noise, &())?;
    fill(&headers, data.end..size, &mut noise, &())?;
    headers.flush()?;
    if new.fill == Fill::Random {
        fill(store, data, &mut noise, progress)?;
        store.flush()?;
    }
    keyed.finish(store, &header, [HeaderLocation::BackupPrimary, HeaderLocation::Primary], progress)?;
    created(store, &header, keyed.suite, new)
}

/// Whether VeraCrypt makes volumes with that cipher or cascade.
///
/// # Errors
/// [`CreateError::CipherNotOffered`].
pub fn check_cipher(cipher: Chain) -> Result<(), CreateError> {
    match Suite::all(Format::VeraCrypt).contains(&Suite::xts(cipher)) {
        true => Ok(()),
        false => Err(CreateError::CipherNotOffered(cipher)),
    }
}

/// What is computed once from the user's wishes.
pub(super) struct Keyed {
    pub(super) suite: Suite,
    password: SecretBytes,
    hash: HashName,
    derivation: Derivation,
}

impl Keyed {
    /// Checks the wishes and mixes the password.
    pub(super) fn new(new: &NewVolume<'_>) -> Result<Self, CreateError> {
        check_cipher(new.cipher)?;
        let suite = Suite::xts(new.cipher);
        let derivation = derivation_for_new(new.hash, new.secrets.pim)?;
        let password = new.secrets.header_password(Format::VeraCrypt)?;
        Ok(Self { suite, password, hash: new.hash, derivation })
    }

    /// A header with new master keys.
    pub(super) fn header(
        &self,
        data: Range<u64>,
        sector_bytes: u32,
        hidden: bool,
    ) -> Result<Header, CreateError> {
        let bytes = data.end - data.start;
        Ok(Header {
            format: Format::VeraCrypt,
            version: HEADER_VERSION,
            required_program_version: REQUIRED_PROGRAM_VERSION,
            created: [0, 0],
            hidden_bytes: if hidden { bytes } else { 0 },
            volume_bytes: bytes,
            encrypted_start: data.start,
            encrypted_bytes: bytes,
            flags: Flags(0),
            sector_bytes,
            key_area: master_keys(self.suite)?,
        })
    }

    /// The header under two fresh salts, proven to open.
    pub(super) fn seal(&self, header: &Header) -> Result<[SealedHeader; 2], CreateError> {
        let seal = self.sealing(&NEVER);
        let sealed = seal.fresh::<2>(header)?;
        sealed.iter().try_for_each(|one| seal.prove(one, header))?;
        Ok(sealed)
    }

    fn sealing<'a>(&'a self, stop: &'a AtomicBool) -> Seal<'a> {
        Seal {
            password: &self.password,
            format: Format::VeraCrypt,
            hash: self.hash,
            derivation: self.derivation,
            suite: self.suite,
            stop,
        }
    }

    /// Writes the header to both places, the one that counts last, each read back before anything else is done, and
    /// proves that it opens. Until then it may be stopped.
    pub(super) fn finish(
        &self,
        store: &dyn Store,
        header: &Header,
        places: [HeaderLocation; 2],
        progress: &dyn Progress,
    ) -> Result<(), CreateError> {
        let (seal, store) = (self.sealing(&NEVER), &ReadBack::new(store));
        let bytes = header.encrypted_bytes;
        let sealed = while_wanted(progress, bytes, |stop| self.sealing(stop).fresh::<2>(header))?;
        for (place, sealed) in places.into_iter().zip(&sealed) {
            let size = store.size();
            let offset = place.offset(size).ok_or(CreateError::TooSmall { size, least: SMALLEST_VOLUME })?;
            put(store, offset, sealed)?;
        }
        let [_, last] = &sealed;
        seal.prove(last, header)
    }
}

/// The cost of a derivation that new headers may use.
pub(super) fn derivation_for_new(hash: HashName, pim: Option<u32>) -> Result<Derivation, CreateError> {
    check_pim(pim)?;
    Derivation::of(Format::VeraCrypt, hash, pim, false)
        .filter(|_| hash != HashName::Ripemd160)
        .ok_or(CreateError::HashNotOffered(hash))
}

/// Whether new volumes may have this key derivation.
///
/// # Errors
/// It is for opening old volumes.
pub fn check_hash(hash: HashName) -> Result<(), CreateError> {
    derivation_for_new(hash, None).map(drop)
}

pub(super) fn check_pim(pim: Option<u32>) -> Result<(), CreateError> {
    match pim {
        Some(pim) if pim > LARGEST_PIM => Err(CreateError::PimTooLarge(pim)),
        _ => Ok(()),
    }
}

/// New master keys. XTS is weak where a layer's two keys are the same; chance will not do that,
/// a broken generator might.
fn master_keys(suite: Suite) -> Result<SecretBytes, CreateError> {
    loop {
        let mut area = SecretBytes::zeroed(KEY_AREA_BYTES);
        if let Some(keys) = area.get_mut(..suite.key_bytes()) {
            random::fill(keys)?;
        }
        if !suite.has_equal_xts_keys(&area) {
            return Ok(area);
        }
    }
}

pub(super) fn whole_sectors(size: u64, sector_bytes: u32) -> Result<(), CreateError> {
    if size.is_multiple_of(u64::from(sector_bytes)) {
        Ok(())
    } else {
        Err(CreateError::NotWholeSectors { size, sector_bytes })
    }
}

/// Writes noise over a range whose ends are multiples of 512.
pub(super) fn fill(
    store: &dyn Store,
    range: Range<u64>,
    noise: &mut Noise,
    progress: &dyn Progress,
) -> Result<(), CreateError> {
    let total = range.end - range.start;
    let mut buf = AlignedBuf::zeroed(PIECE);
    let mut at = range.start;
    while at < range.end {
        if progress.at(Stage::Fill, at - range.start, total).is_break() {
            return Err(CreateError::Stopped);
        }
        buf.resize((range.end - at).min(PIECE as u64) as usize);
        noise.fill(&mut buf);
        store.write_at(&buf, at)?;
        at += buf.len() as u64;
    }
    // Too late to stop for the sake of the fill.
    let _ = progress.at(Stage::Fill, total, total);
    Ok(())
}

/// The answer for a header that is in place.
pub(super) fn created(
    store: &dyn Store,
    header: &Header,
    suite: Suite,
    new: &NewVolume<'_>,
) -> Result<Created, CreateError> {
    let hidden = header.hidden_bytes != 0;
    let place = if hidden { HeaderLocation::Hidden } else { HeaderLocation::Primary };
    let damaged = |fault| VolumeError::DamagedHeader { place, fault };
    let area = Area::of(header, place, suite.mode, store.size()).map_err(damaged)?;
    let mut notes = Vec::new();
    if new.fill == Fill::Quick {
        notes.push(if hidden { Note::QuickHidden } else { Note::Quick });
    }
    notes.extend(Weakness::of_secrets(new.secrets, new.hash).map(Note::Weak));
    Ok(Created {
        layout: area.layout(header.sector_bytes, suite.cipher(&header.key_area)?)?,
        data_offset: area.start,
        data_bytes: area.bytes,
        sector_bytes: header.sector_bytes,
        hidden,
        notes,
    })
}
