//! Changes what opens a volume: password, keyfiles, PIM, key derivation. The master keys stay,
//! so the data stays as it is; the header is encrypted anew, under a fresh salt for each copy.
//!
//! # The order, and why a power cut can't break it
//!
//! The header that opened the volume is the one known to be good, so it is written **last**. First
//! the other copy is written, put on the medium, read back and opened; only then the good one. At
//! every moment one of the two is whole and opens: the good one with the old secret until its own
//! write begins, the other with the new secret from its flush on. Writing the backup first also
//! makes the main header the moment of the change: until then every program, whichever header it
//! tries first, takes the old password.
//!
//! An encrypted system has one copy of its header, in sector 62 of the drive (VeraCrypt keeps the
//! other on the rescue disk). It is written in one piece inside one sector, which a power cut
//! leaves old or new. Its boot loader is made for one key derivation, may have been told the PIM,
//! knows no keyfiles and reads the keyboard with an American layout: so only the password can be
//! changed from outside, to one that can be typed there.
//!
//! What is assumed of the medium: after a flush, what was written before it is there; and a write
//! changes only the sectors it names. Not even the atomicity of a sector is needed, as long as
//! there are two copies: they lie in different sectors at both ends of the volume. A volume with
//! one copy (TrueCrypt before 6.0, or one whose end is cut off) relies on it: the header's
//! 512 bytes lie in one sector, written in one piece.
//!
//! Old header bytes are overwritten once. On flash memory and on file systems that copy on write
//! the old ones may survive: whoever has such a copy and the old password still gets the master
//! keys. Only a new volume helps against that.

use super::area::Area;
use super::change_error::{ChangeError, HeaderWriteFault, SystemFault};
use super::create::{check_pim, derivation_for_new};
use super::create_error::CreateError;
use super::create_header::{Seal, get, put};
use super::header::Header;
use super::header_location::HeaderLocation;
use super::params::{Derivation, Format, HashName};
use super::sealed::SealedHeader;
use super::search_pace::KeyWatch;
use super::unlock::{OpenedHeader, UnlockRequest, Unlocked, opens_one, unlock};
use crate::progress::NEVER;
use crate::{ReadBack, Secrets, VolumeError};
use keyway_secret::SecretBytes;
use keyway_store::Store;

/// What was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// Whether it was a hidden volume's secret.
    pub hidden: bool,
    /// The key derivation now.
    pub hash: HashName,
    /// How many copies of the header there are: 1 or 2.
    pub copies: usize,
}

/// Opens the volume as `request` says and gives it a new secret, and another key derivation if
/// `hash` names one. Hidden volumes too: the secret says which volume is meant.
///
/// # Errors
/// The volume does not open; the wishes can't be granted; the medium failed, in which case the
/// error says what opens the volume now.
pub fn change(
    store: &dyn Store,
    request: &UnlockRequest<'_>,
    new: &Secrets,
    hash: Option<HashName>,
) -> Result<Changed, ChangeError> {
    change_opened(store, &unlock(store, request)?, request, new, hash)
}

/// The same of a volume that was opened by that request, so that nobody thinks of a new secret for one that does not open.
///
/// # Errors
/// As [`change`], but that the volume does not open.
pub fn change_opened(
    store: &dyn Store,
    unlocked: &Unlocked,
    request: &UnlockRequest<'_>,
    new: &Secrets,
    hash: Option<HashName>,
) -> Result<Changed, ChangeError> {
    let opened = unlocked.opened();
    let format = opened.header.format;
    header_is_here(opened, request)?;
    let derivation = if opened.is_system() {
        boot_loader_takes(opened, request.secrets, new, hash)?;
        opened.derivation
    } else {
        new_derivation(opened, new.pim, hash)?
    };
    let password = new.header_password(format)?;
    let hash = hash.unwrap_or(opened.hash);
    refuse_other_volumes_secret(store, opened, new, hash, request.watch)?;
    let seal = Seal { password: &password, format, hash, derivation, suite: opened.suite, stop: &NEVER };
    let places = places_to_write(opened, store.size())?;
    rewrite(store, &opened.header, &seal, &places)?;
    Ok(Changed { hidden: opened.place.is_hidden(), hash, copies: places.len() })
}

/// An outer and a hidden volume with the same secret: one of them would never open again unless its hash is named, and with it
/// would show that there are two. The other's header in front is tried with every hash that it may have, the copy at the end, which
/// would take as long again, with the new one's.
fn refuse_other_volumes_secret(
    store: &dyn Store,
    opened: &OpenedHeader,
    new: &Secrets,
    hash: HashName,
    watch: &dyn KeyWatch,
) -> Result<(), ChangeError> {
    let every = UnlockRequest { format: Some(opened.header.format), watch, ..UnlockRequest::new(new) };
    let same = UnlockRequest { hash: Some(hash), ..every };
    let other = |place: HeaderLocation| place.is_hidden() != opened.place.is_hidden();
    let in_front = opens_one(store, &every, |place| other(place) && !place.is_backup())?;
    match in_front || opens_one(store, &same, |place| other(place) && place.is_backup())? {
        true => Err(CreateError::SameSecret.into()),
        false => Ok(()),
    }
}

/// The key derivation that the new header gets. What the volume has now it may keep, old as it is.
fn new_derivation(
    opened: &OpenedHeader,
    pim: Option<u32>,
    hash: Option<HashName>,
) -> Result<Derivation, ChangeError> {
    let format = opened.header.format;
    match hash.filter(|hash| *hash != opened.hash) {
        Some(hash) if format == Format::VeraCrypt => Ok(derivation_for_new(hash, pim)?),
        other => {
            let hash = other.unwrap_or(opened.hash);
            check_pim(pim)?;
            let known = Derivation::of(format, hash, pim, false);
            known.ok_or(ChangeError::HashNotOffered { format, hash })
        }
    }
}

/// The longest password of an encrypted system, in bytes: what VeraCrypt's boot loader for BIOS
/// reads (its documentation, "Choosing passwords").
const BOOT_PASSWORD_LIMIT: usize = 64;

/// Whether the boot loader, which stays as it is, can still open the header.
fn boot_loader_takes(
    opened: &OpenedHeader,
    old: &Secrets,
    new: &Secrets,
    hash: Option<HashName>,
) -> Result<(), ChangeError> {
    let pim = |secrets: &Secrets| secrets.pim.filter(|pim| *pim > 0);
    let typable = |byte: &u8| matches!(byte, b' '..=b'~');
    let fault = if hash.is_some_and(|hash| hash != opened.hash) {
        SystemFault::Hash
    } else if pim(old) != pim(new) && opened.header.format == Format::VeraCrypt {
        SystemFault::Pim
    } else if !new.keyfiles.is_empty() {
        SystemFault::Keyfiles
    } else if new.password.len() > BOOT_PASSWORD_LIMIT || !new.password.iter().all(typable) {
        SystemFault::Password
    } else {
        return Ok(());
    };
    Err(ChangeError::System(fault))
}

/// The store must be the drive that holds the header, not one of its partitions.
pub(super) fn header_is_here(opened: &OpenedHeader, request: &UnlockRequest<'_>) -> Result<(), ChangeError> {
    if opened.place == HeaderLocation::System && request.system_header.is_some() {
        Err(ChangeError::SystemElsewhere)
    } else {
        Ok(())
    }
}

/// How the header that opened was sealed: to seal it again under the same secret.
pub(super) fn same_seal<'a>(opened: &OpenedHeader, password: &'a SecretBytes) -> Seal<'a> {
    Seal {
        password,
        format: opened.header.format,
        hash: opened.hash,
        derivation: opened.derivation,
        suite: opened.suite,
        stop: &NEVER,
    }
}

/// The other copy first, if the volume has one; the header that opened last.
fn places_to_write(opened: &OpenedHeader, store_bytes: u64) -> Result<Vec<HeaderLocation>, VolumeError> {
    let copy = other_copy(opened, store_bytes)?;
    Ok(copy.into_iter().chain([opened.place]).collect())
}

/// Where the other copy of a header lies. `None`: volumes from before TrueCrypt 6.0 have no
/// copies, and one whose end was cut off has data where the copies would be.
pub(super) fn other_copy(
    opened: &OpenedHeader,
    store_bytes: u64,
) -> Result<Option<HeaderLocation>, VolumeError> {
    let OpenedHeader { header, place, suite, .. } = opened;
    if !header.has_sizes() {
        return Ok(None);
    }
    let damaged = |fault| VolumeError::DamagedHeader { place: *place, fault };
    let area = Area::of(header, *place, suite.mode, store_bytes).map_err(damaged)?;
    let room = !area.covers_backup_headers(store_bytes);
    Ok(place.backup().filter(|copy| room && copy.offset(store_bytes).is_some()))
}

/// Writes the header to each place in turn, each under a fresh salt, each proved to open before
/// the next is touched.
pub(super) fn rewrite(
    store: &dyn Store,
    header: &Header,
    seal: &Seal<'_>,
    places: &[HeaderLocation],
) -> Result<(), ChangeError> {
    let store = &ReadBack::new(store);
    let mut places = places.iter().copied();
    // One or two copies: each has its own salt, computed at the same time.
    let sealed: [SealedHeader; 2] = seal.fresh(header)?;
    let only = places.len() == 1;
    let mut first = true;
    for sealed in &sealed {
        let Some(place) = places.next() else { break };
        match replace(store, header, seal, place, sealed) {
            Ok(()) => first = false,
            Err(why) if only => return Err(ChangeError::Only { place, why }),
            Err(why) if first => return Err(ChangeError::Unchanged { place, why }),
            Err(why) => return Err(ChangeError::Half { place, why }),
        }
    }
    Ok(())
}

/// Replaces one header. The old one is kept until the new one has been read back ([`ReadBack`]) and opened,
/// and put back if it was not.
fn replace(
    store: &ReadBack<'_>,
    header: &Header,
    seal: &Seal<'_>,
    place: HeaderLocation,
    sealed: &SealedHeader,
) -> Result<(), HeaderWriteFault> {
    let offset = place.offset(store.size()).ok_or(HeaderWriteFault::ReadBack)?;
    // A sector that can't be read may be cured by writing it; then there is nothing to put back.
    let old = get(store, offset).ok();
    let written = write_and_open(store, header, seal, offset, sealed);
    if written.is_err()
        && let Some(old) = old
    {
        // The error that is reported is the first one.
        let _ = put(store, offset, &old);
    }
    written
}

fn write_and_open(
    store: &ReadBack<'_>,
    header: &Header,
    seal: &Seal<'_>,
    offset: u64,
    sealed: &SealedHeader,
) -> Result<(), HeaderWriteFault> {
    put(store, offset, sealed)?;
    let read = get(store, offset)?;
    seal.prove(&read, header).map_err(|_| HeaderWriteFault::ReadBack)
}
