//! Writing changed metadata: copy after copy, so that at no instant less than one good copy is
//! left.
//!
//! Each copy's whole 64 KiB are written, so that nothing of a removed protector stays behind the
//! new, shorter entries, flushed, and read back ([`ReadBack`]) before the next one begins. Copies that are damaged already
//! come first and the one that counts comes last: whatever a power cut leaves half-written, another
//! copy is whole, and of the whole ones the newest counts ([`super::Metadata`]).
//!
//! Assumed of the medium: what was flushed stays, and a write changes no bytes but those it was
//! given.

use super::block::{Block, VALIDATION_TIME};
use super::entry::EntryTooLong;
use super::filetime::FileTime;
use super::metadata::{COPIES, CopyState, Metadata};
use super::seal::SecretKey;
use crate::{ReadBack, ReadsBackDifferently};
use keyway_error::explain;
use keyway_store::{AlignedBuf, Store, StoreError};

/// Metadata that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// More than 64 KiB.
    #[error("the metadata has no room for this: {0}")]
    Full(#[from] EntryTooLong),
    /// The medium failed before a new copy was whole: the old ones count.
    #[error("the change was not made: {0}")]
    Nothing(StoreError),
    /// The medium failed, and then nothing could be read any more.
    #[error("it can't be told whether the change was made: {0}")]
    Unsure(StoreError),
    /// Some copies are written. The change is in force, since the newest copy counts.
    #[error("the change was made, but not in all of the three copies of the metadata: {0}")]
    Partly(StoreError),
}

explain! { RewriteError {
    Self::Full(_) => [NoSpace State, RemoveProtector],
    Self::Nothing(error) if error.source.kind() == std::io::ErrorKind::PermissionDenied =>
        [NotPermitted Machine, BecomeRoot],
    Self::Nothing(error) if ReadsBackDifferently::is_in(error) => [Io Medium, OpensAsBefore],
    Self::Nothing(_) => [Io Medium, ReadSystemLog],
    Self::Unsure(_) | Self::Partly(_) => [PartlyWritten Medium, RepairCopies],
} }

impl Metadata {
    /// The order in which the copies are written, as indices: damaged ones first, the one that
    /// counts last.
    pub(crate) fn order(&self) -> [usize; COPIES] {
        let states = self.states();
        let mut order = [0, 1, 2];
        order.sort_by_key(|i| match states.get(*i) {
            _ if *i == self.chosen => 3,
            Some(CopyState::Damaged(_)) => 0,
            Some(CopyState::Older) => 1,
            _ => 2,
        });
        order
    }

    /// Puts `block` in the place of all three copies, with a new validation.
    ///
    /// # Errors
    /// See [`RewriteError`]; after each of them the volume opens, with its old protectors or with the
    /// new ones.
    pub(crate) fn rewrite(
        &self,
        store: &dyn Store,
        mut block: Block,
        master: &SecretKey,
    ) -> Result<Block, RewriteError> {
        block.validate(master, FileTime::now().0 | VALIDATION_TIME)?;
        write_copies(
            store,
            &block.region()?,
            self.order().map(|i| self.copies.get(i).map_or(0, |copy| copy.offset)),
        )?;
        Ok(block)
    }
}

/// Writes a copy to each of the places, one after the other, each read back before the next one. The last one, which may
/// hold the only good copy that is left, is not touched while nothing is written; and after a copy that reads back
/// differently nothing more is: who knows where else this medium writes.
pub(crate) fn write_copies<const N: usize>(
    store: &dyn Store,
    region: &AlignedBuf,
    places: [u64; N],
) -> Result<(), RewriteError> {
    let store = ReadBack::new(store);
    let mut written = 0;
    let mut failed = None;
    for (turn, at) in places.into_iter().enumerate() {
        if turn > 0 && turn == N - 1 && written == 0 {
            break;
        }
        match store.put(region, at) {
            Ok(()) => written += 1,
            Err(e) => {
                let lies = ReadsBackDifferently::is_in(&e);
                failed = failed.or(Some(e));
                if lies {
                    break;
                }
            }
        }
    }
    let Some(e) = failed else { return Ok(()) };
    Err(match counts(&store, region, &places) {
        Some(true) => RewriteError::Partly(e),
        Some(false) => RewriteError::Nothing(e),
        None => RewriteError::Unsure(e),
    })
}

/// Whether what lies in these places counts as this copy does: the newest does. `None` where one can't be read that
/// may be newer.
fn counts(store: &dyn Store, region: &[u8], places: &[u64]) -> Option<bool> {
    let nonce = |region: &[u8]| Block::parse(region).ok().map(|block| block.dataset.next_nonce);
    let wanted = nonce(region);
    let mut there = AlignedBuf::zeroed(region.len());
    let (mut newest, mut unread) = (None, false);
    // Behind the end of what was cut off nothing counts.
    let lies_inside = |at: &&u64| at.saturating_add(region.len() as u64) <= store.size();
    for at in places.iter().filter(lies_inside) {
        match store.read_at(&mut there, *at) {
            Ok(()) => newest = newest.max(nonce(&there)),
            Err(_) => unread = true,
        }
    }
    (!unread).then_some(newest == wanted)
}
