//! Destroying every header of a volume, and with them the only copies of its keys.

use super::change::header_is_here;
use super::change_error::ChangeError;
use super::create_error::CreateError;
use super::header_location::{
    BACKUP_GROUP_BYTES, HEADER_BYTES, HEADERS_BYTES, HeaderLocation, OLD_HIDDEN_FROM_END,
};
use super::random::Noise;
use super::unlock::{OpenedHeader, UnlockRequest, unlock};
use crate::ReadBack;
use keyway_store::{AlignedBuf, Store};
use std::ops::Range;

/// Bytes written at a time: a multiple of every sector size.
const PIECE: u64 = 65_536;

/// Where a volume of this kind can have headers, its own and a hidden volume's.
fn places(opened: &OpenedHeader, size: u64) -> Vec<Range<u64>> {
    let header = HEADER_BYTES as u64;
    if opened.place == HeaderLocation::System {
        return std::iter::once(HeaderLocation::SYSTEM_OFFSET..HeaderLocation::SYSTEM_OFFSET + header)
            .collect();
    }
    if opened.header.has_sizes() {
        return vec![0..HEADERS_BYTES.min(size), size.saturating_sub(BACKUP_GROUP_BYTES)..size];
    }
    let hidden = size.saturating_sub(OLD_HIDDEN_FROM_END);
    vec![0..header.min(size), hidden..(hidden + header).min(size)]
}

/// All headers of a volume, found and not yet touched.
#[derive(Debug)]
pub struct Headers(Vec<Range<u64>>);

impl Headers {
    /// Opens the volume to learn where they are: without its secret it can't be told from noise.
    ///
    /// # Errors
    /// The volume does not open; or it is a partition of an encrypted system, whose header is
    /// elsewhere on the drive.
    pub fn find(store: &dyn Store, request: &UnlockRequest<'_>) -> Result<Self, ChangeError> {
        let unlocked = unlock(store, request)?;
        header_is_here(unlocked.opened(), request)?;
        Ok(Self(places(unlocked.opened(), store.size())))
    }

    /// Destroys them, a hidden volume's too: nobody can open any of them again, whatever they know,
    /// except with a backup of a header. The volume then looks like noise from its first byte to its
    /// last.
    ///
    /// # Errors
    /// The medium failed; the error comes after every place was tried.
    pub fn erase(self, store: &dyn Store) -> Result<(), CreateError> {
        // Where it is lost, the keys are still there.
        let store = ReadBack::new(store);
        let mut noise = Noise::new()?;
        let mut result = Ok(());
        for range in self.0 {
            let mut at = range.start;
            while at < range.end {
                let mut bytes = AlignedBuf::zeroed((range.end - at).min(PIECE) as usize);
                noise.fill(&mut bytes);
                // Both are done, whatever came before.
                let written = store.write_at(&bytes, at);
                result = result.and(written).and(store.flush());
                at += bytes.len() as u64;
            }
        }
        Ok(result.and(store.flush())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secrets;
    use crate::veracrypt::{Fill, HashName, NewVolume, create, create_hidden};
    use keyway_secret::SecretBytes;
    use keyway_store::{FaultPlan, FaultStore, MemStore};

    fn secrets(password: &str) -> Secrets {
        Secrets { password: SecretBytes::copy_of(password.as_bytes()), keyfiles: vec![], pim: Some(1) }
    }

    fn headers(store: &dyn Store, password: &str) -> Option<Headers> {
        let secrets = secrets(password);
        let request = UnlockRequest { hash: Some(HashName::Sha512), ..UnlockRequest::new(&secrets) };
        Headers::find(store, &request).ok()
    }

    fn opens(store: &dyn Store, password: &str) -> bool {
        headers(store, password).is_some()
    }

    fn pair() -> Vec<u8> {
        let store = MemStore::from_vec(vec![0; 512 << 10]);
        let cipher = "aes".parse().expect("a cipher");
        let (outer, hidden) = (secrets("the outer volume's"), secrets("the hidden volume's"));
        let new = |secrets| NewVolume { secrets, cipher, hash: HashName::Sha512, fill: Fill::Quick };
        create(&store, &new(&outer), &()).expect("created");
        create_hidden(&store, 128 << 10, &new(&hidden), None, &()).expect("created");
        store.snapshot()
    }

    #[test]
    fn nothing_opens_afterwards() {
        let store = MemStore::from_vec(pair());
        let outer = headers(&store, "the outer volume's").expect("opens");
        assert!(opens(&store, "the hidden volume's"));
        outer.erase(&store).expect("erased");
        assert!(!opens(&store, "the outer volume's"));
        assert!(!opens(&store, "the hidden volume's"));
    }

    #[test]
    fn a_place_that_fails_does_not_spare_the_others() {
        let store = FaultStore::new(
            MemStore::from_vec(pair()),
            FaultPlan { flushes_fail_from: Some(0), ..FaultPlan::default() },
        );
        let outer = headers(&store, "the outer volume's").expect("opens");
        assert!(outer.erase(&store).is_err());
        assert!(!opens(&store, "the outer volume's"));
    }
}
