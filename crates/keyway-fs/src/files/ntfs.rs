//! NTFS, read only.

use super::entry::{Contents, Entry, EntryKind, Location, Reader, Sink};
use super::error::FilesError;
use super::ntfs_orphans::Orphans;
use super::window::Window;
use ntfs::attribute_value::NtfsAttributeValue;
use ntfs::structured_values::{NtfsFileAttributeFlags, NtfsFileName, NtfsFileNamespace};
use ntfs::types::NtfsPosition;
use ntfs::{
    KnownNtfsFileRecordNumber, Ntfs, NtfsAttribute, NtfsAttributeFlags, NtfsError, NtfsFile, NtfsReadSeek,
};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;

/// Bytes read at a time.
const PIECE: usize = 1 << 20;

/// The first record that is not the file system's own (the NTFS documentation in Linux's tree,
/// `FILE_first_user`).
const FIRST_USER: u64 = 24;

/// Seconds from 1601, when NTFS' time begins, to 1970.
const SINCE_1601: i64 = 11_644_473_600;

/// Byte of a non-resident attribute's header at which the length of its valid part stands.
const VALID_LENGTH: u64 = 0x38;

/// An NTFS volume.
pub(crate) struct NtfsVolume {
    ntfs: Ntfs,
    window: Window,
    /// What lies in damaged folders; looked for once.
    orphans: OnceCell<Orphans>,
}

impl NtfsVolume {
    pub(crate) fn open(mut window: Window) -> Result<Self, FilesError> {
        let ntfs = Ntfs::new(&mut window).map_err(told)?;
        Ok(Self { ntfs, window, orphans: OnceCell::new() })
    }

    /// A file's length, from its own record: the one that its folder keeps may be old.
    fn length(&self, record: u64) -> Result<u64, NtfsError> {
        let mut fs = self.window.clone();
        let file = self.ntfs.file(&mut fs, record)?;
        match file.data(&mut fs, "") {
            Some(item) => Ok(item?.to_attribute()?.value_length()),
            None => Ok(0),
        }
    }

    /// A file by the number of its record.
    fn file(&self, number: u64) -> Result<NtfsFile<'_>, FilesError> {
        self.ntfs.file(&mut self.window.clone(), number).map_err(|error| match error {
            NtfsError::InvalidFileSignature { position, .. } => {
                FilesError::Damaged(format!("file record {number} at byte {} is none", byte(position)))
            }
            NtfsError::UpdateSequenceNumberMismatch { position, .. } => FilesError::Damaged(format!(
                "file record {number} was written in part (byte {})",
                byte(position)
            )),
            other => told(other),
        })
    }

    /// Adds what a folder's index lists; an error is that the rest of it can't be read.
    fn indexed(&self, folder: u64, contents: &mut Contents) -> Result<(), FilesError> {
        let mut fs = self.window.clone();
        let folder = self.file(folder)?;
        let index = folder.directory_index(&mut fs).map_err(told)?;
        let mut iter = index.entries();
        while let Some(entry) = iter.next(&mut fs) {
            let entry = entry.map_err(told)?;
            let Some(key) = entry.key() else { continue };
            match key {
                Ok(key) => self.add(&key, entry.file_reference().file_record_number(), contents),
                Err(e) => contents.problem(None, told(e)),
            }
        }
        Ok(())
    }

    /// Adds what lies in a folder by the files' own records, where its index does not list it.
    fn orphaned(&self, folder: u64, contents: &mut Contents) {
        let orphans = self.orphans.get_or_init(|| Orphans::find(&self.ntfs, &self.window, FIRST_USER));
        let listed: HashSet<u64> =
            contents.entries.iter().filter_map(|entry| record(&entry.place).ok()).collect();
        let mut fs = self.window.clone();
        for number in orphans.of(folder).iter().filter(|number| !listed.contains(number)) {
            let Ok(file) = self.ntfs.file(&mut fs, *number) else { continue };
            let names = [NtfsFileNamespace::Win32, NtfsFileNamespace::Win32AndDos, NtfsFileNamespace::Posix];
            let name =
                names.into_iter().find_map(|namespace| file.name(&mut fs, Some(namespace), Some(folder)));
            if let Some(Ok(name)) = name {
                self.add(&name, *number, contents);
            }
        }
    }

    fn add(&self, key: &NtfsFileName, number: u64, contents: &mut Contents) {
        // The name of eight letters stands beside the long one; the file system's own are hidden.
        if key.namespace() == NtfsFileNamespace::Dos || number < FIRST_USER {
            return;
        }
        let kind = match key.file_attributes() {
            flags if flags.contains(NtfsFileAttributeFlags::REPARSE_POINT) => EntryKind::Link,
            _ if key.is_directory() => EntryKind::Folder,
            _ => EntryKind::File,
        };
        let ticks = key.modification_time().nt_timestamp() / 10_000_000;
        let length = || self.length(number).unwrap_or(key.data_size());
        contents.entries.push(Entry {
            name: OsString::from(key.name().to_string_lossy()),
            kind,
            size: if kind == EntryKind::File { length() } else { 0 },
            modified: i64::try_from(ticks).ok().map(|ticks| ticks - SINCE_1601),
            place: Location::Record(number),
        });
    }
}

/// How many bytes of a file's value were ever written; the rest reads as zeros, whatever lies there.
pub(crate) fn valid_length(window: &Window, attribute: &NtfsAttribute<'_, '_>) -> Result<u64, FilesError> {
    let all = attribute.value_length();
    if attribute.is_resident() {
        return Ok(all);
    }
    let position = attribute.position().value().map(u64::from).unwrap_or_default();
    let at = position.saturating_add(VALID_LENGTH);
    let mut field = [0; 8];
    window.read_exact_at(&mut field, at).map_err(FilesError::from_io)?;
    // The last two bytes of a record's sector hold a check in place of what belongs there. Of this
    // field these are the highest, and no file is so long.
    if at % 512 == 504 {
        field[6] = 0;
        field[7] = 0;
    }
    Ok(u64::from_le_bytes(field).min(all))
}

pub(crate) fn told(error: NtfsError) -> FilesError {
    match error {
        NtfsError::Io(e) => FilesError::from_io(e),
        NtfsError::InvalidFileSignature { position, .. } => {
            FilesError::Damaged(format!("what lies at byte {} is no file record", byte(position)))
        }
        NtfsError::InvalidIndexSignature { position, .. } => {
            FilesError::Damaged(format!("what lies at byte {} is no part of a folder", byte(position)))
        }
        NtfsError::InvalidTwoByteSignature { .. } => {
            FilesError::Damaged("its first sector does not end as one".to_owned())
        }
        NtfsError::UpdateSequenceNumberMismatch { position, .. } => {
            FilesError::Damaged(format!("a record was written in part (byte {})", byte(position)))
        }
        other => FilesError::Damaged(other.to_string()),
    }
}

/// Refuses what NTFS itself keeps in another form than it was written in.
pub(crate) fn must_be_plain(attribute: &NtfsAttribute<'_, '_>) -> Result<(), FilesError> {
    let flags = attribute.flags();
    if flags.contains(NtfsAttributeFlags::COMPRESSED) {
        return Err(FilesError::Unsupported("NTFS keeps this file compressed".to_owned()));
    }
    if flags.contains(NtfsAttributeFlags::ENCRYPTED) {
        return Err(FilesError::Unsupported("NTFS keeps this file encrypted (EFS)".to_owned()));
    }
    Ok(())
}

fn byte(position: NtfsPosition) -> u64 {
    position.value().map_or(0, u64::from)
}

fn record(place: &Location) -> Result<u64, FilesError> {
    match place {
        Location::Record(number) => Ok(*number),
        _ => Err(FilesError::Damaged("an entry without a record".to_owned())),
    }
}

impl Reader for NtfsVolume {
    fn root(&self) -> Location {
        Location::Record(KnownNtfsFileRecordNumber::RootDirectory as u64)
    }

    fn entries(&mut self, folder: &Location) -> Result<Contents, FilesError> {
        let folder = record(folder)?;
        let mut contents = Contents::default();
        if let Err(e) = self.indexed(folder, &mut contents) {
            contents.problem(None, e);
        }
        if !contents.problems.is_empty() {
            self.orphaned(folder, &mut contents);
        }
        Ok(contents)
    }

    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError> {
        let mut fs = self.window.clone();
        let file = self.file(record(&file.place)?)?;
        let Some(item) = file.data(&mut fs, "") else { return Ok(()) };
        let item = item.map_err(told)?;
        let attribute = item.to_attribute().map_err(told)?;
        must_be_plain(&attribute)?;
        let mut valid = valid_length(&self.window, &attribute)?;
        let mut value: NtfsAttributeValue<'_, '_> = attribute.value(&mut fs).map_err(told)?;
        let mut left = value.len();
        let mut piece = vec![0; PIECE];
        while left > 0 {
            let n = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let part = piece.get_mut(..n).unwrap_or_default();
            let real = n.min(usize::try_from(valid).unwrap_or(usize::MAX));
            let (data, zeros) = part.split_at_mut(real);
            value.read_exact(&mut fs, data).map_err(told)?;
            zeros.fill(0);
            sink(part).map_err(|e: io::Error| FilesError::from_io(e))?;
            left -= n as u64;
            valid -= real as u64;
        }
        Ok(())
    }

    fn ignores_case(&self) -> bool {
        true
    }
}
