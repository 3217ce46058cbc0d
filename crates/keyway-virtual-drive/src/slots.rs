//! The drive's state on its medium: two copies, one of which is always whole.
//!
//! ```text
//! offset size
//!      0    8  "KEYWYSED"
//!      8    4  version of the format: 2; 1 has no set-up of the Locking SP
//!     12    4  bytes of the state
//!     16    8  sequence number
//!     24    …  the state
//!      …   32  SHA-256 of everything before; zeros to the slot's end
//! ```
//! In version 1 the zeros come first, and the sum at the slot's end is over them, too.
//!
//! Integers are little-endian. A change is written to the older slot, flushed, then to the other one and
//! flushed. Power that fails in between leaves the old state or the new one, never a mixture; when both
//! writes are done nothing of the old state, and of its keys, is left in either.
//! What is assumed of the medium: a flush puts on it what was written before, and a write that is cut off
//! damages nothing outside its own range.

use super::error::DriveError;
use keyway_store::Store;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a slot.
pub(super) const SLOT: u64 = 256 * 1024;
/// Bytes of both.
pub(super) const SLOTS: u64 = 2 * SLOT;

const MAGIC: &[u8; 8] = b"KEYWYSED";
const VERSION: u32 = 2;
const OLDEST: u32 = 1;
const HEAD: usize = 24;
const SUM: usize = 32;
/// What is behind a state, a piece at a time.
static ZEROS: [u8; 4096] = [0; 4096];

/// Where the next change goes.
pub(super) struct Slots {
    sequence: u64,
    /// The slot that holds the older copy, or a damaged one.
    older: u64,
}

/// The largest state, in bytes.
pub(super) const MAX_STATE: usize = SLOT as usize - HEAD - SUM;

impl Slots {
    /// Slots that hold nothing.
    pub(super) const fn fresh() -> Self {
        Self { sequence: 0, older: 0 }
    }

    /// Finds the newest whole state; makes the other slot the same if a change was cut off.
    pub(super) fn load(store: &dyn Store) -> Result<(Self, Zeroizing<Vec<u8>>), DriveError> {
        let mut found: Option<(u64, u64, Zeroizing<Vec<u8>>)> = None;
        let mut same = true;
        for slot in 0..2 {
            let read = read(store, slot)?;
            same &= match (&read, &found) {
                (Some((sequence, _)), Some((other, ..))) => sequence == other,
                (None, _) => false,
                (Some(_), None) => slot == 0,
            };
            if let Some((sequence, state)) = read
                && found.as_ref().is_none_or(|(best, ..)| sequence > *best)
            {
                found = Some((sequence, slot, state));
            }
        }
        let (sequence, slot, state) = found.ok_or(DriveError::NotADrive)?;
        let slots = Self { sequence, older: 1 - slot };
        if !same && !store.is_read_only() {
            slots.write(store, slots.older, &state)?;
        }
        Ok((slots, state))
    }

    /// Puts a state on the medium, in both slots.
    pub(super) fn save(&mut self, store: &dyn Store, state: &[u8]) -> Result<(), DriveError> {
        self.sequence += 1;
        let first = self.older;
        self.write(store, first, state)?;
        self.older = 1 - first;
        self.write(store, self.older, state)
    }

    fn write(&self, store: &dyn Store, slot: u64, state: &[u8]) -> Result<(), DriveError> {
        if state.len() > MAX_STATE {
            return Err(DriveError::StateTooLarge(state.len()));
        }
        let mut bytes = Vec::with_capacity(SLOT as usize);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(state.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(state);
        let sum = Sha256::digest(&bytes[..]);
        bytes.extend_from_slice(&sum);
        let used = bytes.len();
        // All of it, so that nothing of a longer state is left.
        bytes.resize(SLOT as usize, 0);
        let written = store.write_at(&bytes, slot * SLOT);
        // The rest is zeros: wiping it costs more than all else here.
        if let Some(used) = bytes.get_mut(..used) {
            used.zeroize();
        }
        written?;
        store.flush()?;
        Ok(())
    }
}

/// A sequence number and a state.
type Copy = (u64, Zeroizing<Vec<u8>>);

/// What is in a slot, if it is whole.
fn read(store: &dyn Store, slot: u64) -> Result<Option<Copy>, DriveError> {
    let present = store.size();
    if present < SLOTS {
        let mut head = [0; MAGIC.len()];
        let begins = present >= head.len() as u64 && store.read_at(&mut head, 0).is_ok() && head == *MAGIC;
        return Err(if begins {
            DriveError::CutOff { needed: SLOTS, present }
        } else {
            DriveError::NotADrive
        });
    }
    let mut bytes = vec![0; SLOT as usize];
    store.read_at(&mut bytes, slot * SLOT)?;
    let found = parse(&bytes);
    // The zeros behind a state need no wiping, and it costs more than all else here.
    let used = match &found {
        Ok(Some((_, state))) => (HEAD + state.len() + SUM).min(bytes.len()),
        _ => bytes.len(),
    };
    if let Some(used) = bytes.get_mut(..used) {
        used.zeroize();
    }
    found
}

fn parse(bytes: &[u8]) -> Result<Option<Copy>, DriveError> {
    let field = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
    let u32_at = |at| field(at, at + 4).try_into().map(u32::from_le_bytes).unwrap_or_default();
    if field(0, 8) != MAGIC {
        return Ok(None);
    }
    let len = (u32_at(12) as usize).min(MAX_STATE);
    let end = HEAD + len;
    let summed = if u32_at(8) == OLDEST { SLOT as usize - SUM } else { end };
    let sum = field(summed, summed + SUM);
    let rest = bytes.get(summed + SUM..).unwrap_or_default();
    let is_zero = |piece: &[u8]| ZEROS.get(..piece.len()) == Some(piece);
    if Sha256::digest(field(0, summed))[..] != *sum || !rest.chunks(ZEROS.len()).all(is_zero) {
        return Ok(None);
    }
    if !(OLDEST..=VERSION).contains(&u32_at(8)) {
        return Err(DriveError::Version(u32_at(8)));
    }
    let sequence = field(16, 24).try_into().map(u64::from_le_bytes).unwrap_or_default();
    Ok(Some((sequence, Zeroizing::new(field(HEAD, end).to_vec()))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    #[test]
    fn a_slot_of_version_1_is_read_and_written_anew() {
        let state = b"a state";
        let mut slot = vec![0; SLOT as usize];
        slot[..8].copy_from_slice(MAGIC);
        slot[8] = 1;
        slot[12] = state.len() as u8;
        slot[16] = 5;
        slot[HEAD..HEAD + state.len()].copy_from_slice(state);
        let end = SLOT as usize - SUM;
        let sum = Sha256::digest(&slot[..end]);
        slot[end..].copy_from_slice(&sum);
        let store = MemStore::from_vec([slot.clone(), slot].concat());
        let (mut slots, read) = Slots::load(&store).unwrap();
        assert_eq!(&read[..], state);
        slots.save(&store, b"another").unwrap();
        assert_eq!(&Slots::load(&store).unwrap().1[..], b"another");
        assert_eq!(store.snapshot()[8], 2);
    }

    #[test]
    fn a_slot_with_anything_behind_its_state_is_not_whole() {
        let store = MemStore::new(SLOTS as usize);
        Slots::fresh().save(&store, b"the state").unwrap();
        assert_eq!(&Slots::load(&store).unwrap().1[..], b"the state");
        for slot in 0..2 {
            store.write_at(&[1], slot * SLOT + 5000).unwrap();
        }
        assert!(matches!(Slots::load(&store), Err(DriveError::NotADrive)));
    }
}
