//! Runs that are found on a medium: what is left of them, how far they are, and how to go on.

use super::bad_clusters::Kept;
use super::marker::{BitLockerMarker, FoundBitLocker, POINTER_AT, POINTER_BYTES, Work, find, page};
use super::metadata_space::map;
use super::plan::BitLockerPlan;
use super::steps::{Beginnings, Ciphers};
use crate::careful::CarefulStore;
use crate::front::differ_in_a_byte;
use crate::journal::Journal;
use crate::marker::ConversionKind;
use crate::step::{Small, carry_out};
use crate::{Conversion, ConvertError};
use keyway_fs::allocation::AllocationError;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::bitlocker::{
    self, BitLockerError, Converting, EncryptionState, Locked, REGION_BYTES, UnlockRequest, look_behind,
    unlock_behind,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the loader begins in a first sector, behind what exFAT has there, which has the most.
const LOADER_AT: usize = 120;

/// What a run that was found without its marker in front has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitLockerMedium {
    /// The file system as it was: the run had not begun.
    FileSystem,
    /// A whole volume, which may be paused.
    Volume,
    /// The volume as it was: the run, a decryption or a re-encryption, had not begun.
    Untouched,
    /// A file system: the decryption is done.
    Decrypted,
}

/// What a secret had to say of a run that was found without its marker in front. Whoever has none writes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// It opens the volume: this is the medium of whoever gave it.
    Opens,
    /// There is nothing that a secret could open: a first run that had not begun, or a decryption that is through but
    /// for the last of its traces.
    NothingToOpen,
}

/// What can be said, without a secret, of the volume that a run which was found has begun with, or made; `None` where
/// there is nothing that a secret could open ([`Proof::NothingToOpen`]).
///
/// # Errors
/// There should be a volume, and it is damaged; the medium failed.
pub fn seen(store: &dyn Store, found: &FoundBitLocker) -> Result<Option<Locked>, ConvertError> {
    let mark = &found.mark;
    let behind = found.in_front || !bitlocker::is_volume(store)?;
    let seen = match behind {
        true => look_behind(store, &page(store, mark.park())?),
        false => bitlocker::look(store),
    };
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(BitLockerError::Store(e)) => Err(e.into()),
        Err(_) if behind && !found.in_front && has_nothing(store, mark)? => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Whether there may be no metadata where no volume is in front: it is not made yet, or two of its copies are wiped
/// already, which the last step does before it comes to what else opens the volume; or the decrypted file system, whose
/// clusters they are again, may have given them to files.
fn has_nothing(store: &dyn Store, mark: &BitLockerMarker) -> Result<bool, ConvertError> {
    if mark.kind == ConversionKind::Encryption {
        return Ok(mark.fresh);
    }
    if mark.kind == ConversionKind::Decryption && matches!(map(store), Ok(Some(_))) {
        return Ok(true);
    }
    let [first, second, _] = mark.copies;
    for at in [first, second] {
        let mut region = AlignedBuf::zeroed(REGION_BYTES);
        store.read_at(&mut region, at)?;
        if region.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
    }
    Ok(mark.kind == ConversionKind::Decryption)
}

/// Whether the secrets open the volume of a run that was found without its marker in front, and its marks say of the
/// volume what that says. Nothing is written.
///
/// # Errors
/// They do not; the marks can't be true; the medium failed.
pub fn prove(
    store: &dyn Store,
    found: &FoundBitLocker,
    request: &UnlockRequest<'_>,
) -> Result<Proof, ConvertError> {
    if seen(store, found)?.is_none() {
        return Ok(Proof::NothingToOpen);
    }
    let mark = &found.mark;
    let unlocked = match bitlocker::is_volume(store)? {
        true => bitlocker::unlock(store, request)?,
        false => match unlock_behind(store, &page(store, mark.park())?, request) {
            // The secret was right. What seals the metadata is wiped with it, and was on its way when it stopped.
            Err(BitLockerError::Tampered) if has_nothing(store, mark)? => return Ok(Proof::NothingToOpen),
            unlocked => unlocked?,
        },
    };
    let volume = Converting::of(unlocked)?;
    if volume.copies() != mark.copies || volume.first_sectors() != mark.boot {
        return Err(ConvertError::ImpossibleRecord);
    }
    Ok(Proof::Opens)
}

/// Removes what a run has left that was found without its marker in front, and of which [`prove`] has said that it may.
///
/// # Errors
/// The medium has an old first page, of a time before the run: [`ConvertError::MediumOlder`]. The medium failed.
pub fn clean(store: &dyn Store, mark: &BitLockerMarker, _: Proof) -> Result<BitLockerMedium, ConvertError> {
    let store = &CarefulStore::new(store, &mark.anchors());
    mend_front(store, mark)?;
    if bitlocker::is_volume(store)? {
        let seen = bitlocker::look(store)?;
        let block = seen.metadata.block();
        let begun = match mark.kind {
            ConversionKind::Encryption => true,
            ConversionKind::Decryption => block.state != EncryptionState::Encrypted,
            ConversionKind::Reencryption => mark.is_given_to(block),
        };
        if !begun {
            must_not_have_begun(store, mark)?;
        }
        carry_out(store, mark.leave())?;
        return Ok(if begun { BitLockerMedium::Volume } else { BitLockerMedium::Untouched });
    }
    if mark.kind == ConversionKind::Decryption {
        carry_out(store, forget_nobodys(store, mark)?)?;
        return Ok(BitLockerMedium::Decrypted);
    }
    must_not_have_begun(store, mark)?;
    carry_out(store, mark.never_begun())?;
    Ok(BitLockerMedium::FileSystem)
}

/// The first page is the one from before the run. A drive that has brought back an old one, instead of the marker or of the
/// volume's, shows the same: but then the journal's pages are of steps that come when the marker is in front.
fn must_not_have_begun(store: &dyn Store, mark: &BitLockerMarker) -> Result<(), ConvertError> {
    let Some(work) = Work::read(store, mark)? else { return Ok(()) };
    let journal = Journal::new(store, store, mark.place.clone(), mark.id);
    match journal.furthest_step()? {
        Some(step) if step > BitLockerMarker::marking(&work) => Err(ConvertError::MediumOlder),
        _ => Ok(()),
    }
}

/// A first page that was put over the marker, and came with another bit than it was to have: it is put there again.
fn mend_front(store: &CarefulStore<'_>, mark: &BitLockerMarker) -> Result<(), ConvertError> {
    let from = if mark.kind == ConversionKind::Decryption { mark.boot.start } else { mark.park() };
    let mut wanted = page(store, from)?;
    if let Some(slot) = wanted.get_mut(POINTER_AT as usize..POINTER_AT as usize + POINTER_BYTES) {
        slot.copy_from_slice(&mark.pointer());
    }
    if differ_in_a_byte(&page(store, 0)?, &wanted) {
        carry_out(store, vec![Small::Put { at: 0, bytes: wanted.to_vec() }])?;
    }
    Ok(())
}

/// As [`BitLockerMarker::forget`], on a file system that somebody may have mounted since it was there: it has the clusters that lie
/// where the traces are, and what it has given to a file stays as it is.
fn forget_nobodys(store: &dyn Store, mark: &BitLockerMarker) -> Result<Vec<Small>, ConvertError> {
    let mut front = page(store, 0)?;
    let is_same = is_same_loader(&front, &page(store, mark.boot.start)?);
    let map = match map(store) {
        // Nothing lies within what is not known here; but what is in front must be what was to be put there.
        Ok(None) if !is_same => return Err(ConvertError::ImpossibleRecord),
        Ok(map) => Some(map),
        Err(ConvertError::Allocation(AllocationError::Store(e))) => return Err(e.into()),
        // It does not say what is free.
        Err(_) => None,
    };
    let mut writes = Vec::new();
    for write in mark.forget() {
        match (write, &map) {
            (Small::Fill { .. }, None) => {}
            (Small::Fill { range, noise }, Some(Some(map))) => {
                let nobodys = map.nobodys(store, std::slice::from_ref(&range))?;
                writes.extend(nobodys.into_iter().map(|range| Small::Fill { range, noise }));
            }
            (Small::Part { bytes, .. }, _) if !is_same => {
                // What the pointer hides is lost: a piece of a boot loader.
                front.get_mut(bytes).unwrap_or_default().fill(0);
                writes.push(Small::Put { at: 0, bytes: front.to_vec() });
            }
            (write, _) => writes.push(write),
        }
    }
    Ok(writes)
}

/// Whether two first sectors have the same boot loader, around the pointer's place. What comes before it changes when a file
/// system is used.
fn is_same_loader(one: &[u8], other: &[u8]) -> bool {
    let behind = POINTER_AT as usize + POINTER_BYTES;
    [LOADER_AT..POINTER_AT as usize, behind..512]
        .into_iter()
        .all(|part| one.get(part.clone()) == other.get(part))
}

/// What there is to do on a medium with a conversion of a BitLocker volume.
pub enum Next {
    /// A run, begun or not.
    Run(Box<BitLockerPlan>),
    /// Nothing: this is what was left.
    Nothing(BitLockerMedium),
}

/// Finds out how a conversion goes on: cleans up what an interrupted run has left, and plans what comes
/// next. A new run gets its journal in that file.
///
/// # Errors
/// There is neither a conversion nor a volume; the secret is wrong; the medium failed.
pub fn next(
    store: &Arc<dyn Store>,
    request: &UnlockRequest<'_>,
    journal: Option<PathBuf>,
) -> Result<Next, ConvertError> {
    if let Some(found) = find(store)? {
        if found.in_front {
            return Ok(Next::Run(Box::new(BitLockerPlan::resume(store, found.mark, request)?)));
        }
        match clean(store, &found.mark, prove(store, &found, request)?)? {
            BitLockerMedium::Volume => {}
            other => return Ok(Next::Nothing(other)),
        }
    }
    let unlocked = bitlocker::unlock(store, request)?;
    let block = unlocked.opened.metadata.block();
    let kind = match (block.state, block.next_state) {
        (EncryptionState::Converting, EncryptionState::Decrypted) => ConversionKind::Decryption,
        (EncryptionState::Converting, _) => ConversionKind::Encryption,
        _ => return Ok(Next::Nothing(BitLockerMedium::Volume)),
    };
    Ok(Next::Run(Box::new(BitLockerPlan::of_volume(store, unlocked, kind, journal)?)))
}

/// What can be said without a secret of the volume that is converted, wherever its first sector is.
///
/// # Errors
/// There is no volume, or it is damaged; the medium failed.
pub fn look(store: &dyn Store) -> Result<Locked, ConvertError> {
    Ok(match find(store)?.filter(|found| found.in_front) {
        Some(found) => look_behind(store, &page(store, found.mark.park())?)?,
        None => bitlocker::look(store)?,
    })
}

/// How far the run is that was found: bytes of work done, and in all. Needs no secret.
///
/// # Errors
/// The journal is damaged, or the medium failed.
pub fn how_far(
    found: &FoundBitLocker,
    store: &dyn Store,
    journal: Option<&dyn Store>,
) -> Result<(u64, u64), ConvertError> {
    let mark = &found.mark;
    let work = Work::read(store, mark)?.ok_or(ConvertError::NoJournal)?;
    let steps = mark.steps(&work, &Beginnings::default(), &Ciphers::default(), None, &Kept::default());
    let journal = Journal::new(journal.unwrap_or(store), store, mark.place.clone(), mark.id);
    let conversion = Conversion {
        store,
        journal,
        steps,
        marking: BitLockerMarker::marking(&work),
        front: None,
        anchors: vec![],
        lost: None,
    };
    Ok((conversion.done()?, conversion.total()))
}
