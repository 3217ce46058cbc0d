//! Runs that are found on a medium: what is left of them, how far they are, and how to go on.

use super::mark::{Mark, Work, find, page};
use super::steps::{Beginnings, Ciphers};
use super::{Found, Plan, carry_out, map};
use crate::journal::Journal;
use crate::marker::Kind;
use crate::{Conversion, ConvertError};
use keyway_store::Store;
use keyway_volume::bitlocker::{self, SPARE_BYTES, Seen, State, UnlockRequest, look_behind};
use std::path::PathBuf;
use std::sync::Arc;

/// What a run that was found without its marker in front has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// The file system as it was: the run had not begun.
    FileSystem,
    /// A whole volume, which may be paused.
    Volume,
    /// The volume as it was: the run, a decryption or a re-encryption, had not begun.
    Untouched,
    /// A file system: the decryption is done.
    Decrypted,
}

/// Removes what a run has left that was found without its marker in front. Needs no secret.
///
/// # Errors
/// The medium failed.
pub fn clean(store: &dyn Store, mark: &Mark) -> Result<Left, ConvertError> {
    if bitlocker::is_volume(store)? {
        let seen = bitlocker::look(store)?;
        carry_out(store, mark.leave())?;
        let block = seen.metadata.block();
        let begun = match mark.kind {
            Kind::Encryption => true,
            Kind::Decryption => block.state != State::Encrypted,
            Kind::Reencryption => mark.is_given_to(block),
        };
        return Ok(if begun { Left::Volume } else { Left::Untouched });
    }
    if mark.kind == Kind::Decryption {
        carry_out(store, mark.forget())?;
        return Ok(Left::Decrypted);
    }
    carry_out(store, mark.never_begun())?;
    Ok(Left::FileSystem)
}

/// What there is to do on a medium with a conversion of a BitLocker volume.
pub enum Next {
    /// A run, begun or not.
    Run(Box<Plan>),
    /// Nothing: this is what was left.
    Nothing(Left),
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
            return Ok(Next::Run(Box::new(Plan::resume(store, found.mark, request)?)));
        }
        match clean(store, &found.mark)? {
            Left::Volume => {}
            other => return Ok(Next::Nothing(other)),
        }
    }
    let unlocked = bitlocker::unlock(store, request)?;
    let block = unlocked.opened.metadata.block();
    let kind = match (block.state, block.next_state) {
        (State::Converting, State::Decrypted) => Kind::Decryption,
        (State::Converting, _) => Kind::Encryption,
        _ => return Ok(Next::Nothing(Left::Volume)),
    };
    Ok(Next::Run(Box::new(Plan::of_volume(store, unlocked, kind, journal)?)))
}

/// What can be said without a secret of the volume that is converted, wherever its first sector is.
///
/// # Errors
/// There is no volume, or it is damaged; the medium failed.
pub fn look(store: &dyn Store) -> Result<Seen, ConvertError> {
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
    found: &Found,
    store: &dyn Store,
    journal: Option<&dyn Store>,
) -> Result<(u64, u64), ConvertError> {
    let mark = &found.mark;
    let work = Work::read(store, mark)?.ok_or(ConvertError::NoJournal)?;
    let steps = mark.steps(&work, &Beginnings::default(), &Ciphers::default(), None);
    let journal = Journal::new(journal.unwrap_or(store), mark.place.clone(), mark.id);
    let conversion = Conversion { store, journal, steps, marking: Mark::marking(&work) };
    Ok((conversion.done()?, conversion.total()))
}

/// Gives a decrypted file system the clusters back that were kept from it; says whether there were any.
///
/// # Errors
/// The medium failed, or the file system is not in order.
pub fn release(store: &dyn Store, mark: &Mark) -> Result<bool, ConvertError> {
    let Some(mut map) = map(store)? else { return Ok(false) };
    let spare = mark.boot.end..mark.boot.end + SPARE_BYTES;
    let mut ranges: Vec<_> =
        mark.copies.iter().map(|at| *at..*at + 2 * bitlocker::HEAD_BYTES as u64).collect();
    ranges.extend([mark.boot.clone(), spare]);
    ranges.sort_by_key(|range| range.start);
    let released = map.release(store, &ranges)?;
    store.flush()?;
    Ok(released)
}
