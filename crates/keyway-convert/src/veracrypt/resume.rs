//! Conversions that were begun before: the headers in their markers open again, and how far they are.

use super::opened::key_of;
use super::plan::{OldAndNewKeys, VeraCryptPlan};
use super::used_space::read_list;
use crate::ConvertError;
use crate::marker::{ConversionKind, FoundVeraCrypt};
use crate::step::Keyed;
use keyway_store::{ReadOnlyStore, Store};
use keyway_volume::Secrets;
use keyway_volume::veracrypt::{SealedHeader, UnlockRequest, unlock};

/// What opens the headers that a marker keeps.
pub struct ResumeSecrets<'a> {
    /// The volume's secret: of the old volume, or of the new one where there is no old.
    pub old: &'a Secrets,
    /// The new one of a re-encryption, where it is another.
    pub new: Option<&'a Secrets>,
}

impl VeraCryptPlan {
    /// The plan of a conversion that was found: the secrets open the headers that its marker keeps. `journal` is
    /// the file's store where the journal is in a file. Nothing is written but, where the encryption of used
    /// space has not begun, what the file system uses now.
    ///
    /// # Errors
    /// A secret is wrong, or the medium has another size; the file system's map can't be read any more.
    pub fn resume(
        found: FoundVeraCrypt,
        store: &dyn Store,
        journal: Option<&dyn Store>,
        secrets: &ResumeSecrets<'_>,
    ) -> Result<Self, ConvertError> {
        let (size, in_front, found) = (store.size(), found.in_front, found.marker);
        if size != found.size {
            return Err(ConvertError::Size { expected: found.size, present: size });
        }
        let open = |header, secrets| open_header(header, secrets, size);
        let [primary, _] = &found.new;
        let new = secrets.new.unwrap_or(secrets.old);
        let keys = match found.kind {
            ConversionKind::Encryption => OldAndNewKeys { old: None, new: Some(open(primary, secrets.old)?) },
            ConversionKind::Decryption => {
                OldAndNewKeys { old: Some(open(&found.old, secrets.old)?), new: None }
            }
            ConversionKind::Reencryption => {
                OldAndNewKeys { old: Some(open(&found.old, secrets.old)?), new: Some(open(primary, new)?) }
            }
        };
        let stretches = read_list(store, &found)?;
        let mut plan = Self { stretches, marker: found, keys, found: Some(in_front) };
        if !in_front {
            plan.renew(store, journal)?;
        }
        Ok(plan)
    }
}

/// How far a conversion is that was found: bytes of work done, and in all. Needs no secret. `journal` is
/// the file's store where the journal is in a file.
///
/// # Errors
/// The journal is damaged, or the medium failed.
pub fn how_far(
    found: &FoundVeraCrypt,
    store: &dyn Store,
    journal: Option<&dyn Store>,
) -> Result<(u64, u64), ConvertError> {
    let stretches = read_list(store, &found.marker)?;
    let keys = OldAndNewKeys { old: None, new: None };
    let plan = VeraCryptPlan { marker: found.marker.clone(), keys, stretches, found: Some(found.in_front) };
    let conversion = plan.conversion(store, journal)?;
    Ok((conversion.done()?, conversion.total()))
}

/// The cipher of the volume that has that header, wherever it lies; `size` is the medium's.
pub(crate) fn open_header(
    header: &SealedHeader,
    secrets: &Secrets,
    size: u64,
) -> Result<Keyed, ConvertError> {
    let header = header.clone();
    // A store of the volume's size that holds nothing but that header.
    let sealed = ReadOnlyStore::new("a header alone", size, move |buf: &mut [u8], offset| {
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        buf.fill(0);
        buf.iter_mut().zip(header.bytes().iter().skip(skip)).for_each(|(to, from)| *to = *from);
        Ok(())
    });
    key_of(&unlock(&sealed, &UnlockRequest::new(secrets))?.layout)
}
