//! Opening a volume: which headers to try, and what comes of the one that opens.

use super::area::Area;
use super::header::{Header, HeaderFault};
use super::header_location::{HEADER_BYTES, HeaderLocation};
use super::params::{Derivation, Format, HashName, LARGEST_PIM};
use super::sealed::SealedHeader;
use super::search::{NoMatch, Wanted, search};
use super::search_pace::KeyWatch;
use super::suite::Suite;
use super::trial::{Candidate, Match};
use crate::inspect::{looks_random, plainly_not};
use crate::looks::Looks;
use crate::{Secrets, Unsupported, VolumeError, VolumeInfo, Warning};
use keyway_engine::{LayerSecrets, Layout};
use keyway_store::{Store, StoreError};

/// Which of a volume's headers may open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderChoice {
    /// Any of them, the main ones first.
    #[default]
    Auto,
    /// The main ones only.
    Primary,
    /// The copies at the end only.
    Backup,
}

/// Where an encrypted system's header is read when the store is one partition of the drive.
#[derive(Clone, Copy)]
pub struct SystemHeader<'a> {
    /// The drive, its image, its first track, or the header's 512 bytes alone.
    pub store: &'a dyn Store,
    /// The partition's first byte on the drive. `None`: where the header says the encrypted area
    /// begins, which is right for every encrypted partition and wrong for those of an encrypted
    /// drive.
    pub start: Option<u64>,
}

impl SystemHeader<'_> {
    /// Where the header lies in its store.
    fn offset(&self) -> Option<u64> {
        let alone = self.store.size() == HEADER_BYTES as u64;
        if alone { Some(0) } else { HeaderLocation::System.offset(self.store.size()) }
    }

    /// Whether something lies there that may be a header, as far as that shows without a secret.
    ///
    /// # Errors
    /// It can't be read.
    pub fn is_there(&self) -> Result<bool, StoreError> {
        let Some(offset) = self.offset() else { return Ok(false) };
        let mut bytes = [0; HEADER_BYTES];
        self.store.read_at(&mut bytes, offset)?;
        Ok(looks_random(&bytes))
    }
}

/// What to open, and how.
#[derive(Clone, Copy)]
pub struct UnlockRequest<'a> {
    /// The secret.
    pub secrets: &'a Secrets,
    /// Only this format.
    pub format: Option<Format>,
    /// Only this key derivation.
    pub hash: Option<HashName>,
    /// Only these headers.
    pub header: HeaderChoice,
    /// Only as an encrypted system.
    pub system: bool,
    /// The store is one partition of a drive that may hold an encrypted system.
    pub system_header: Option<SystemHeader<'a>>,
    /// The secret of the hidden volume that writes to this one must not damage.
    pub protect_hidden: Option<&'a Secrets>,
    /// Who is told how far the search for the key is.
    pub watch: &'a dyn KeyWatch,
}

impl<'a> UnlockRequest<'a> {
    /// Everything found out by trying.
    pub fn new(secrets: &'a Secrets) -> Self {
        Self {
            secrets,
            format: None,
            hash: None,
            header: HeaderChoice::Auto,
            system: false,
            system_header: None,
            protect_hidden: None,
            watch: &(),
        }
    }
}

/// A volume that opened.
pub struct Unlocked {
    /// What its header says.
    pub info: VolumeInfo,
    /// Where its sectors are.
    pub layout: Layout,
    /// What its owner should know.
    pub warnings: Vec<Warning>,
    opened: OpenedHeader,
}

/// The header that opened, with its master keys and how its key is derived: what is needed to
/// write it again under another secret.
pub struct OpenedHeader {
    /// The header.
    pub header: Header,
    /// Where it lies.
    pub place: HeaderLocation,
    /// Ciphers and mode, of the header and of the data.
    pub suite: Suite,
    /// The key derivation.
    pub hash: HashName,
    /// Its cost.
    pub derivation: Derivation,
}

impl OpenedHeader {
    /// Whether a boot loader opens this header too.
    pub(crate) fn is_system(&self) -> bool {
        self.place == HeaderLocation::System || self.header.flags.is_system()
    }
}

impl Unlocked {
    /// The header that opened.
    pub fn opened(&self) -> &OpenedHeader {
        &self.opened
    }

    /// The header alone, for whoever writes it again.
    pub(super) fn into_opened(self) -> OpenedHeader {
        self.opened
    }

    /// Copies of the layers' keys, outermost first, for whoever decrypts in our place
    /// ([`keyway_engine::HandOver`]).
    ///
    /// # Errors
    /// The header holds fewer key bytes than its cipher takes.
    pub fn layer_secrets(&self) -> Result<Vec<LayerSecrets>, VolumeError> {
        let keys = self.opened.suite.layer_keys(&self.opened.header.key_area)?;
        Ok(keys.iter().map(LayerSecrets::copy_of).collect())
    }
}

/// Opens the volume in `store`: finds the header, key derivation and cipher that the secret
/// opens, on all cores.
///
/// # Errors
/// See [`VolumeError`]: `Fault::Secret` for a wrong secret, `Fault::Contents` for what is no volume or a
/// damaged one.
pub fn unlock(store: &dyn Store, request: &UnlockRequest<'_>) -> Result<Unlocked, VolumeError> {
    let protecting = request.protect_hidden.is_some();
    let places = places(request, |place| !protecting || !place.is_hidden());
    let found = match find(store, request, request.secrets, &places) {
        // The two secrets may have been exchanged; only then is the hidden header looked at with the outer one's.
        Err(wrong @ VolumeError::WrongSecret { .. }) if protecting => {
            // The copy at the end would say the same, and take as long again.
            let backup = request.header == HeaderChoice::Backup;
            let hidden = self::places(request, |place| place.is_hidden() && place.is_backup() == backup);
            let exchanged = find(store, request, request.secrets, &hidden).is_ok();
            return Err(if exchanged { VolumeError::IsHidden } else { wrong });
        }
        other => other?,
    };
    let found = match outside(&found, request, store.size()) {
        None => found,
        // The drive's system has the same password as a volume of its own in this partition.
        Some(why) => {
            let others: Vec<_> =
                places.into_iter().filter(|place| *place != HeaderLocation::System).collect();
            match find(store, request, request.secrets, &others) {
                Err(VolumeError::WrongSecret { .. } | VolumeError::NotAVolume(_)) => {
                    return Err(VolumeError::Unsupported(why));
                }
                other => other?,
            }
        }
    };
    let guard = match request.protect_hidden {
        None => None,
        Some(secrets) => Some(hidden_range(store, request, secrets, &found)?),
    };
    let mut unlocked = assemble(store, *found, request)?;
    if let Some(range) = guard {
        unlocked.info.protected_bytes = range.end - range.start;
        unlocked.layout = unlocked.layout.guarding(range);
    }
    Ok(unlocked)
}

fn places(request: &UnlockRequest<'_>, also: impl Fn(HeaderLocation) -> bool) -> Vec<HeaderLocation> {
    let chosen = |place: &HeaderLocation| match request.header {
        HeaderChoice::Auto => true,
        HeaderChoice::Primary => !place.is_backup(),
        HeaderChoice::Backup => place.is_backup(),
    };
    let system = |place: &HeaderLocation| !request.system || *place == HeaderLocation::System;
    HeaderLocation::ALL.into_iter().filter(|place| chosen(place) && system(place) && also(*place)).collect()
}

/// Finds the hidden volume inside the outer one and the outer's logical bytes it occupies.
fn hidden_range(
    store: &dyn Store,
    request: &UnlockRequest<'_>,
    secrets: &Secrets,
    outer: &Match,
) -> Result<std::ops::Range<u64>, VolumeError> {
    let places = places(request, HeaderLocation::is_hidden);
    let hidden = match find(store, request, secrets, &places) {
        Err(VolumeError::WrongSecret { .. } | VolumeError::NotAVolume(_)) => {
            return Err(VolumeError::WrongProtectionSecret { narrowed: narrowed(request) });
        }
        other => other?,
    };
    let damaged = |fault| VolumeError::DamagedHeader { place: hidden.place, fault };
    hidden.area.guard_in(&outer.area).map_err(damaged)
}

/// Whether something opens by that secret, by one of the headers that `is_it` picks.
pub(super) fn opens_one(
    store: &dyn Store,
    request: &UnlockRequest<'_>,
    is_it: impl Fn(HeaderLocation) -> bool,
) -> Result<bool, VolumeError> {
    let places = places(request, is_it);
    match find(store, request, request.secrets, &places) {
        // What decrypts is there, whatever is wrong with it.
        Ok(_) | Err(VolumeError::DamagedHeader { .. }) => Ok(true),
        Err(VolumeError::WrongSecret { .. } | VolumeError::NotAVolume(_)) => Ok(false),
        Err(e) => Err(e),
    }
}

fn find(
    store: &dyn Store,
    request: &UnlockRequest<'_>,
    secrets: &Secrets,
    places: &[HeaderLocation],
) -> Result<Box<Match>, VolumeError> {
    let formats = match request.format {
        Some(format) => vec![format],
        None if secrets.password.len() > Format::TrueCrypt.password_limit() => vec![Format::VeraCrypt],
        None => vec![Format::VeraCrypt, Format::TrueCrypt],
    };
    if let Some(pim) = secrets.pim.filter(|pim| *pim > LARGEST_PIM) {
        return Err(VolumeError::PimTooLarge(pim));
    }
    // Up to 64 bytes both formats make the same of a password and its keyfiles.
    let first = formats.first().copied().unwrap_or(Format::VeraCrypt);
    let password = secrets.header_password(first)?;
    let (candidates, unreadable) = candidates(store, places, request)?;
    if candidates.is_empty() {
        return Err(match unreadable {
            Some(e) => e.into(),
            None => VolumeError::NotAVolume(plainly_not(store)?),
        });
    }
    let store_bytes = store.size();
    let (hash, pim, watch) = (request.hash, secrets.pim, request.watch);
    let wanted = Wanted { candidates, formats, hash, pim, store_bytes, watch };
    search(wanted, password).map_err(|none| match unreadable {
        Some(e) if none.damaged.is_none() => e.into(),
        _ => failure(&none, Looks::of(&secrets.password), narrowed(request)),
    })
}

/// What was asked for alone: the right one may be another.
fn narrowed(request: &UnlockRequest<'_>) -> Vec<&'static str> {
    let all = [
        ("format", request.format.is_some()),
        ("hash", request.hash.is_some()),
        ("header", request.header != HeaderChoice::Auto),
        ("system-header", request.system && request.system_header.is_some()),
    ];
    all.into_iter().filter_map(|(what, is_named)| is_named.then_some(what)).collect()
}

fn failure(none: &NoMatch, looks: Looks, narrowed: Vec<&'static str>) -> VolumeError {
    match none.damaged {
        Some((_, HeaderFault::Version(version))) if version > 5 => {
            VolumeError::Unsupported(Unsupported::HeaderVersion(version))
        }
        Some((_, HeaderFault::InPlaceUnfinished { encrypted, volume })) => {
            VolumeError::Unsupported(Unsupported::InPlaceIncomplete { encrypted, total: volume })
        }
        Some((place, fault)) => VolumeError::DamagedHeader { place, fault },
        None => {
            let (argon2id_skipped, has_metadata) = (none.argon2id_skipped, false);
            VolumeError::WrongSecret { argon2id_skipped, looks, narrowed, has_metadata }
        }
    }
}

/// Reads the headers worth trying: those that look random, as a salt and cipher text do. A
/// system's header is worth it behind a boot sector, or where it is asked for. A place that can't be
/// read is no reason to give up while there are others; the first such error comes back too.
fn candidates(
    store: &dyn Store,
    places: &[HeaderLocation],
    request: &UnlockRequest<'_>,
) -> Result<(Vec<Candidate>, Option<StoreError>), VolumeError> {
    let mut candidates = Vec::new();
    let mut unreadable = None;
    for place in places.iter().copied() {
        let (from, offset) = match &request.system_header {
            Some(header) if place == HeaderLocation::System => (header.store, header.offset()),
            _ => (store, place.offset(store.size())),
        };
        let Some(offset) = offset else { continue };
        let mut bytes = [0; HEADER_BYTES];
        if let Err(e) = from.read_at(&mut bytes, offset) {
            unreadable = unreadable.or(Some(e));
            continue;
        }
        if !looks_random(&bytes)
            || (place == HeaderLocation::System && !request.system && !has_boot_sector(from))
        {
            continue;
        }
        candidates.push(Candidate { place, sealed: SealedHeader::from_bytes(bytes) });
    }
    Ok((candidates, unreadable))
}

fn has_boot_sector(store: &dyn Store) -> bool {
    boot_sector(store).is_ok_and(|sector| sector.ends_with(&[0x55, 0xaa]))
}

fn boot_sector(store: &dyn Store) -> Result<[u8; 512], VolumeError> {
    let mut sector = [0; 512];
    store.read_at(&mut sector, 0)?;
    Ok(sector)
}

/// Whether an encrypted system's area is the whole drive behind its boot loader rather than one
/// partition: no partition begins where the area does, and one lies inside it.
fn is_whole_drive(sector: &[u8; 512], area: &Area) -> bool {
    // Four entries of 16 bytes from byte 446 on: type at 4, first sector at 8, sectors at 12.
    let entries = sector.get(446..510).unwrap_or_default().chunks_exact(16).filter_map(|entry| {
        let kind = *entry.get(4)?;
        let number = |at: usize| Some(u64::from(u32::from_le_bytes(*entry.get(at..)?.first_chunk()?)));
        Some((kind, number(8)? * 512, number(12)? * 512)).filter(|(kind, ..)| *kind != 0)
    });
    let partitions: Vec<_> = entries.collect();
    let end = area.start.saturating_add(area.bytes);
    // Type 0xee stands for a GPT, which only single partitions are encrypted on.
    partitions.iter().all(|(kind, start, _)| *kind != 0xee && *start != area.start)
        && partitions.iter().any(|(_, start, bytes)| *start > area.start && start + bytes <= end)
}

/// Where the store begins on the drive whose system header opened: it is one partition of it.
fn partition_start(area: &Area, header: &SystemHeader<'_>, store_bytes: u64) -> Result<u64, Unsupported> {
    let start = header.start.unwrap_or(area.start);
    if header.start.is_none() && area.bytes > store_bytes {
        return Err(Unsupported::SystemDrive { bytes: area.bytes, present: store_bytes });
    }
    if start >= area.end() || start.saturating_add(store_bytes) <= area.start {
        return Err(Unsupported::OutsideSystem { start: area.start, end: area.end(), partition: start });
    }
    Ok(start)
}

/// Why the system's header that opened is not this partition's.
fn outside(found: &Match, request: &UnlockRequest<'_>, store_bytes: u64) -> Option<Unsupported> {
    let header = request.system_header.as_ref().filter(|_| found.place == HeaderLocation::System)?;
    partition_start(&found.area, header, store_bytes).err()
}

fn assemble(store: &dyn Store, found: Match, request: &UnlockRequest<'_>) -> Result<Unlocked, VolumeError> {
    let Match { header, area, place, suite, hash, derivation } = found;
    let (pim, store_bytes) = (request.secrets.pim, store.size());
    let cipher = suite.cipher(&header.key_area)?;
    let partition = request.system_header.as_ref().filter(|_| place == HeaderLocation::System);
    let (layout, data_offset) = if let Some(elsewhere) = partition {
        let start = partition_start(&area, elsewhere, store_bytes).map_err(VolumeError::Unsupported)?;
        let layout = area.partition_layout((start, store_bytes), header.sector_bytes, cipher)?;
        (layout, area.start.saturating_sub(start))
    } else {
        let damaged = |fault| VolumeError::DamagedHeader { place, fault };
        area.must_end_by(store_bytes).map_err(damaged)?;
        if place == HeaderLocation::System && is_whole_drive(&boot_sector(store)?, &area) {
            (area.drive_layout(header.sector_bytes, cipher, store_bytes)?, 0)
        } else {
            (area.layout(header.sector_bytes, cipher)?, area.start)
        }
    };
    let mut warnings = warnings(&header, &area, place, suite, hash, store_bytes);
    // Nobody tried the main one, of which nothing is known.
    warnings.retain(|warning| {
        request.header != HeaderChoice::Backup || !matches!(warning, Warning::BackupHeader(_))
    });
    let version = header.required_program_version;
    let info = VolumeInfo {
        format: header.format,
        cipher: suite.chain.to_string(),
        mode: suite.mode.name(),
        key_bits: suite.chain.key_bytes() * 8,
        hash,
        derivation,
        pim: pim.filter(|pim| *pim > 0 && header.format == Format::VeraCrypt),
        sector_bytes: header.sector_bytes,
        data_bytes: layout.size(),
        data_offset,
        hidden: place.is_hidden() || header.hidden_bytes > 0,
        system: place == HeaderLocation::System || header.flags.is_system(),
        header_used: place,
        header_version: header.version,
        // Both programs count in hexadecimal digits: 0x010b is 1.0b, 0x071a is 7.1a.
        required_program_version: format!("{:x}.{:02x}", version >> 8, version & 0xff),
        protected_bytes: 0,
    };
    let opened = OpenedHeader { header, place, suite, hash, derivation };
    Ok(Unlocked { info, layout, warnings, opened })
}

fn warnings(
    header: &Header,
    area: &Area,
    place: HeaderLocation,
    suite: Suite,
    hash: HashName,
    store_bytes: u64,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if suite.has_equal_xts_keys(&header.key_area) {
        warnings.push(Warning::EqualXtsKeys);
    }
    if place.is_backup() {
        warnings.push(Warning::BackupHeader(place));
    }
    match header.format {
        Format::TrueCrypt => warnings.push(Warning::TrueCrypt),
        Format::VeraCrypt if hash == HashName::Ripemd160 => warnings.push(Warning::OldHash(hash)),
        Format::VeraCrypt => {}
    }
    if place != HeaderLocation::System && header.has_sizes() && area.covers_backup_headers(store_bytes) {
        warnings.push(Warning::NoBackupHeaders);
    }
    if area.encrypted < area.bytes {
        warnings.push(Warning::PartlyEncrypted { encrypted: area.encrypted, total: area.bytes });
    }
    warnings
}
