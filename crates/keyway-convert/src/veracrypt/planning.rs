//! Plans each conversion, and makes of a plan what is carried out.

use super::areas::{
    HEAD, LIST_BYTES, PAGE, content_capacity, end_group, first_head, first_record, in_a_file, list_at, none,
    two_slots,
};
use super::opened::{header_of, key_of, whole_volume};
use super::plan::{OldAndNewKeys, VeraCryptPlan};
use crate::careful::CarefulStore;
use crate::front::Front;
use crate::journal::{SLOTS, SlotTable, segment_bytes};
use crate::marker::{ConversionKind, JournalLocation, MARKER_BYTES, VeraCryptMarker, random_id, tail};
use crate::{Conversion, ConvertError, Journal};
use keyway_error::Advice;
use keyway_store::{AlignedBuf, Store};
use keyway_volume::veracrypt::{NewVolume, Unlocked, fresh_headers};
use std::path::PathBuf;

fn journal_place(file: Option<PathBuf>) -> JournalLocation {
    file.map_or(JournalLocation::OnMedium, JournalLocation::File)
}

/// Plans the encryption of a file system of `moved` bytes, which are whole pages. With `file` the
/// journal goes there.
///
/// # Errors
/// There is no room behind the file system; the wishes for the new volume can't be granted.
pub fn encryption(
    store: &dyn Store,
    moved: u64,
    new: &NewVolume<'_>,
    file: Option<PathBuf>,
) -> Result<VeraCryptPlan, ConvertError> {
    let size = store.size();
    let room = content_capacity(size, file.is_none());
    if moved > room {
        return Err(ConvertError::NoRoom { missing: moved - room });
    }
    if moved < 2 * HEAD || !moved.is_multiple_of(PAGE) {
        return Err(ConvertError::Unsupported(
            "a file system as small as this can't be encrypted in place",
            Advice::MakeNewVolume,
        ));
    }
    let headers = fresh_headers(new, size, store.sector_bytes())?;
    let segment_bytes = segment_bytes(size);
    let end = end_group(size) / PAGE * PAGE;
    let (place, park) = if file.is_some() {
        (in_a_file(size), end - HEAD)
    } else {
        let first = end - SLOTS as u64 * segment_bytes;
        let place = SlotTable::in_a_row(first_record(size), first, segment_bytes);
        (place.with_heads(first_head(size)), first - HEAD)
    };
    let keys = OldAndNewKeys { old: None, new: Some(key_of(&headers.layout)?) };
    let marker = VeraCryptMarker {
        id: random_id()?,
        kind: ConversionKind::Encryption,
        journal: journal_place(file),
        size,
        moved,
        park,
        used: None,
        free_is_new: false,
        place,
        old: none(),
        new: headers.sealed,
    };
    Ok(VeraCryptPlan { marker, keys, stretches: None, found: None })
}

/// Plans the decryption of the volume that opened.
///
/// # Errors
/// A volume of a kind whose conversion is not offered.
pub fn decryption(
    store: &dyn Store,
    opened: &Unlocked,
    file: Option<PathBuf>,
) -> Result<VeraCryptPlan, ConvertError> {
    let size = store.size();
    let moved = whole_volume(opened, size)?;
    let end = end_group(size);
    let place = match &file {
        Some(_) => in_a_file(size),
        None => {
            let first = end + 2 * PAGE;
            let segment_bytes = (first_record(size) - first) / 2 / PAGE * PAGE;
            two_slots(size, [first, first + segment_bytes], segment_bytes)
        }
    };
    let marker = VeraCryptMarker {
        id: random_id()?,
        kind: ConversionKind::Decryption,
        journal: journal_place(file),
        size,
        moved,
        park: end + PAGE,
        used: None,
        free_is_new: false,
        place,
        old: header_of(store, opened)?,
        new: [none(), none()],
    };
    let keys = OldAndNewKeys { old: Some(key_of(&opened.layout)?), new: None };
    Ok(VeraCryptPlan { marker, keys, stretches: None, found: None })
}

/// Plans the re-encryption of the volume that opened.
///
/// # Errors
/// A volume of a kind whose conversion is not offered; the wishes for the new one can't be granted.
pub fn reencryption(
    store: &dyn Store,
    opened: &Unlocked,
    new: &NewVolume<'_>,
    file: Option<PathBuf>,
) -> Result<VeraCryptPlan, ConvertError> {
    let size = store.size();
    let moved = whole_volume(opened, size)?;
    let headers = fresh_headers(new, size, opened.info.sector_bytes)?;
    if headers.layout.size() != moved {
        return Err(ConvertError::Unsupported(
            "only volumes that fill their file or device can be re-encrypted",
            Advice::CopyReadOnly,
        ));
    }
    let place = match &file {
        Some(_) => in_a_file(size),
        None => {
            let second = end_group(size) + PAGE;
            two_slots(size, [PAGE, second], first_record(size) - second)
        }
    };
    let marker = VeraCryptMarker {
        id: random_id()?,
        kind: ConversionKind::Reencryption,
        journal: journal_place(file),
        size,
        moved,
        park: 0,
        used: None,
        free_is_new: false,
        place,
        old: header_of(store, opened)?,
        new: headers.sealed,
    };
    let keys = OldAndNewKeys { old: Some(key_of(&opened.layout)?), new: Some(key_of(&headers.layout)?) };
    Ok(VeraCryptPlan { marker, keys, stretches: None, found: None })
}

impl VeraCryptPlan {
    /// The conversion; `journal` is the file's store where the journal is in a file.
    ///
    /// # Errors
    /// Random bytes can't be had; the list of what is moved is damaged, and still needed.
    pub fn conversion<'a>(
        &self,
        store: &'a dyn Store,
        journal: Option<&'a dyn Store>,
    ) -> Result<Conversion<'a>, ConvertError> {
        let (steps, marking) = match self.marker.kind {
            ConversionKind::Encryption => (self.encrypt()?, 1),
            ConversionKind::Decryption => (self.decrypt()?, 1),
            ConversionKind::Reencryption => (self.reencrypt()?, 0),
        };
        let place = self.marker.place.clone();
        let key = self.keys.new.as_ref().or(self.keys.old.as_ref()).map(|key| &*key.cipher);
        let journal = Journal::new(journal.unwrap_or(store), store, place, self.marker.id).of_volume(key);
        // It goes after the records, and before the marker by which all of this is found.
        if self.marker.used.is_some() && self.stretches.is_none() && journal.read()?.is_some() {
            return Err(ConvertError::NoJournal);
        }
        let [new, _] = &self.marker.new;
        let front = Some(match self.marker.kind {
            ConversionKind::Decryption => Front::Before(self.marker.old.bytes().to_vec()),
            _ => Front::After(new.bytes().to_vec()),
        });
        let size = self.marker.size;
        let list = self.marker.used.map(|_| list_at(size)..list_at(size) + LIST_BYTES);
        let anchors = list.into_iter().chain(std::iter::once(tail(size)..size)).collect();
        Ok(Conversion { store, journal, steps, marking, front, anchors, lost: None })
    }

    /// Begins: the journal's first record and what else is needed to go on, then the second marker. Once that is on the medium, the
    /// conversion is found and can be resumed; nothing else has been changed by then.
    ///
    /// # Errors
    /// The medium failed.
    pub fn begin(&self, conversion: &Conversion<'_>) -> Result<(), ConvertError> {
        let careful = CarefulStore::new(conversion.store, &[]);
        careful.held(&conversion.journal, conversion.begin())?;
        self.write_list(&careful)?;
        careful.flush()?;
        let mut page = AlignedBuf::zeroed(MARKER_BYTES);
        page.copy_from_slice(&self.marker.to_bytes());
        careful.write_at(&page, tail(self.marker.size))?;
        Ok(careful.flush()?)
    }
}
