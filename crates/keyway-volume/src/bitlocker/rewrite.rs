//! Writing changed metadata: copy after copy, so that at no instant less than one good copy is
//! left.
//!
//! Each copy's whole 64 KiB are written, so that nothing of a removed protector stays behind the
//! new, shorter entries, and flushed before the next one begins. Copies that are damaged already
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
use keyway_error::{Advice, Explain, Fault, Kind, Meaning};
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
    /// Some copies are written. The change is in force, since the newest copy counts.
    #[error("the change was made, but not in all of the three copies of the metadata: {0}")]
    Partly(StoreError),
}

impl Explain for RewriteError {
    fn explain(&self) -> Meaning {
        use Advice as A;
        use Fault as F;
        use Kind as K;
        match self {
            Self::Full(_) => (K::NoSpace, F::State, A::RemoveProtector).into(),
            Self::Nothing(error) if error.source.kind() == std::io::ErrorKind::PermissionDenied => {
                (K::NotPermitted, F::Machine).into()
            }
            Self::Nothing(_) => (K::Io, F::Medium, A::ReadSystemLog).into(),
            Self::Partly(_) => (K::PartlyWritten, F::Medium, A::RepairCopies).into(),
        }
    }
}

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
    pub fn rewrite(
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

/// Writes a copy to each of the places, one after the other. The last one, which may hold the only
/// good copy that is left, is not touched while nothing is written.
pub(crate) fn write_copies<const N: usize>(
    store: &dyn Store,
    region: &AlignedBuf,
    places: [u64; N],
) -> Result<(), RewriteError> {
    let mut written = 0;
    let mut failed = None;
    for (turn, at) in places.into_iter().enumerate() {
        if turn > 0 && turn == N - 1 && written == 0 {
            break;
        }
        match store.write_at(region, at).and_then(|()| store.flush()) {
            Ok(()) => written += 1,
            Err(e) => failed = failed.or(Some(e)),
        }
    }
    match failed {
        None => Ok(()),
        Some(e) if written == 0 => Err(RewriteError::Nothing(e)),
        Some(e) => Err(RewriteError::Partly(e)),
    }
}
