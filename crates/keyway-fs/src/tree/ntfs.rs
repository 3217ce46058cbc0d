//! NTFS. A node's number is its record's.

use super::map::FileMap;
use super::node::{Each, Found, Node, Nodes};
use crate::fields::number as field;
use crate::files::{EntryKind, FilesError, Window, must_be_plain, ntfs_told as told, valid_length};
use ntfs::attribute_value::NtfsAttributeValue;
use ntfs::structured_values::{NtfsAttributeList, NtfsFileAttributeFlags, NtfsFileNamespace};
use ntfs::{KnownNtfsFileRecordNumber, Ntfs, NtfsAttribute, NtfsAttributeType, NtfsFile, NtfsReadSeek};
use std::sync::Arc;

/// The first record that is not the file system's own (the NTFS documentation in Linux's tree, `FILE_first_user`).
const FIRST_USER: u64 = 24;
/// Seconds from 1601, when NTFS' time begins, to 1970.
const SINCE_1601: i64 = 11_644_473_600;
/// Names of a folder, and their bytes, that are remembered while it is told.
const MOST_NAMES: usize = 1 << 20;
const MOST_BYTES: usize = 64 << 20;
/// Reparse points (`ntifs.h`, MS-FSCC 2.1.2): a symbolic link, a junction, WSL's link.
const SYMLINK: u64 = 0xa000_000c;
const JUNCTION: u64 = 0xa000_0003;
const LX_SYMLINK: u64 = 0xa000_001d;
/// Longest reparse point (MS-FSCC 2.1.2.1).
const LONGEST_REPARSE: u64 = 16 << 10;

/// What is in a folder.
struct Listed {
    names: Vec<(Vec<u8>, u64)>,
    /// What comes then can't be read.
    broken: bool,
}

/// An NTFS volume.
pub(super) struct NtfsVolume {
    ntfs: Ntfs,
    window: Window,
    /// The folder that was looked through last. The index of a folder knows no places that one could come back to.
    last: Option<(u64, Arc<Listed>)>,
}

impl NtfsVolume {
    pub(super) fn open(mut window: Window) -> Result<Self, FilesError> {
        let ntfs = Ntfs::new(&mut window).map_err(told)?;
        Ok(Self { ntfs, window, last: None })
    }

    /// What is in a folder.
    fn names(&self, number: u64) -> Result<Arc<Listed>, FilesError> {
        let mut fs = self.window.clone();
        let folder = self.ntfs.file(&mut fs, number).map_err(told)?;
        let index = folder.directory_index(&mut fs).map_err(told)?;
        let (mut iter, mut names, mut bytes, mut broken) = (index.entries(), Vec::new(), 0usize, false);
        while let Some(entry) = iter.next(&mut fs) {
            let Ok(entry) = entry else {
                broken = true;
                break;
            };
            let Some(key) = entry.key() else { continue };
            let Ok(key) = key else {
                broken = true;
                continue;
            };
            let number = entry.file_reference().file_record_number();
            // The name of eight letters stands beside the long one; the file system's own are hidden.
            if key.namespace() == NtfsFileNamespace::Dos || number < FIRST_USER {
                continue;
            }
            let name = key.name().to_string_lossy().into_bytes();
            bytes = bytes.saturating_add(name.len());
            if names.len() >= MOST_NAMES || bytes > MOST_BYTES {
                return Err(FilesError::Unsupported("a folder has more than a million entries".to_owned()));
            }
            names.push((name, number));
        }
        Ok(Arc::new(Listed { names, broken }))
    }

    /// A link's reparse point; `None` for what Windows keeps elsewhere.
    fn reparse(&self, file: &NtfsFile<'_>) -> Result<Option<Vec<u8>>, FilesError> {
        let mut fs = self.window.clone();
        let mut attributes = file.attributes();
        while let Some(item) = attributes.next(&mut fs) {
            let item = item.map_err(told)?;
            let attribute = item.to_attribute().map_err(told)?;
            if attribute.ty().ok() != Some(NtfsAttributeType::ReparsePoint) {
                continue;
            }
            let len = attribute.value_length().min(LONGEST_REPARSE);
            let mut bytes = vec![0; len as usize];
            let mut value = attribute.value(&mut fs).map_err(told)?;
            value.read_exact(&mut fs, &mut bytes).map_err(told)?;
            return Ok(Some(bytes));
        }
        Ok(None)
    }

    /// Adds where an attribute's part of a file lies.
    fn add(
        &self,
        map: &mut FileMap,
        attribute: &NtfsAttribute<'_, '_>,
        at: &mut u64,
    ) -> Result<(), FilesError> {
        let mut fs = self.window.clone();
        let NtfsAttributeValue::NonResident(value) = attribute.value(&mut fs).map_err(told)? else {
            return Err(FilesError::Damaged("a part of a file is kept like a whole one".to_owned()));
        };
        for run in value.data_runs() {
            let run = run.map_err(told)?;
            let len = run.allocated_size();
            if let Some(place) = run.data_position().value() {
                map.add(*at, len, place.get(), self.window.size())?;
            }
            *at = at.saturating_add(len);
        }
        Ok(())
    }

    /// The parts of a file that is kept in several records, in their order.
    fn add_parts(&self, map: &mut FileMap, file: &NtfsFile<'_>) -> Result<(), FilesError> {
        let mut fs = self.window.clone();
        let mut at = 0;
        let list = file.attributes_raw().filter_map(Result::ok);
        for attribute in
            list.filter(|attribute| attribute.ty().ok() == Some(NtfsAttributeType::AttributeList))
        {
            let list = attribute.structured_value::<_, NtfsAttributeList<'_, '_>>(&mut fs).map_err(told)?;
            let mut entries = list.entries();
            while let Some(entry) = entries.next(&mut fs) {
                let entry = entry.map_err(told)?;
                if entry.ty().ok() != Some(NtfsAttributeType::Data) || entry.name_length() != 0 {
                    continue;
                }
                let part = entry.to_file(&self.ntfs, &mut fs).map_err(told)?;
                let start = u64::try_from(entry.lowest_vcn().value()).unwrap_or(u64::MAX);
                if start.saturating_mul(u64::from(self.ntfs.cluster_size())) != at {
                    return Err(FilesError::Damaged("a part of a file is missing".to_owned()));
                }
                self.add(map, &entry.to_attribute(&part).map_err(told)?, &mut at)?;
            }
        }
        Ok(())
    }
}

impl Nodes for NtfsVolume {
    fn root(&self) -> u64 {
        KnownNtfsFileRecordNumber::RootDirectory as u64
    }

    fn node(&mut self, number: u64) -> Result<Node, FilesError> {
        let mut fs = self.window.clone();
        let file = self.ntfs.file(&mut fs, number).map_err(told)?;
        let info = file.info().map_err(told)?;
        let ticks = i64::try_from(info.modification_time().nt_timestamp() / 10_000_000);
        let modified = ticks.ok().map(|ticks| ticks - SINCE_1601);
        if info.file_attributes().contains(NtfsFileAttributeFlags::REPARSE_POINT)
            && let Some(target) = self.reparse(&file)?.as_deref().and_then(target)
        {
            let (kind, mode, size) = (EntryKind::Link, 0o120_777, target.len() as u64);
            return Ok(Node { kind, mode, ..Node::file(number, size, modified) });
        }
        if file.is_directory() {
            return Ok(Node::folder(number, modified));
        }
        let size = match file.data(&mut fs, "") {
            Some(item) => item.map_err(told)?.to_attribute().map_err(told)?.value_length(),
            None => 0,
        };
        if size > i64::MAX as u64 {
            return Err(FilesError::Damaged("a file is larger than any can be".to_owned()));
        }
        let links = u32::from(file.hard_link_count());
        Ok(Node { links, ..Node::file(number, size, modified) })
    }

    fn list(&mut self, folder: &Node, from: u64, each: &mut Each<'_>) -> Result<(), FilesError> {
        let known = self.last.as_ref().filter(|(number, _)| *number == folder.number);
        let listed = match known {
            Some((_, listed)) => Arc::clone(listed),
            None => {
                let listed = self.names(folder.number)?;
                self.last = Some((folder.number, Arc::clone(&listed)));
                listed
            }
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        for (index, (name, number)) in listed.names.iter().enumerate().skip(from) {
            if !each(Found { name: name.clone(), number: *number, next: index as u64 + 1 }) {
                return Ok(());
            }
        }
        if listed.broken { Err(FilesError::Damaged("a folder's index is broken".to_owned())) } else { Ok(()) }
    }

    fn map(&mut self, file: &Node) -> Result<FileMap, FilesError> {
        let mut fs = self.window.clone();
        let record = self.ntfs.file(&mut fs, file.number).map_err(told)?;
        let info = record.info().map_err(told)?;
        if info.file_attributes().contains(NtfsFileAttributeFlags::REPARSE_POINT) {
            return Err(FilesError::Unsupported("Windows keeps it elsewhere (a reparse point)".to_owned()));
        }
        let Some(item) = record.data(&mut fs, "") else { return Ok(FileMap::new(0)) };
        let item = item.map_err(told)?;
        let attribute = item.to_attribute().map_err(told)?;
        must_be_plain(&attribute)?;
        let mut map = FileMap::new(attribute.value_length());
        map.valid_to(valid_length(&self.window, &attribute)?);
        match attribute.value(&mut fs).map_err(told)? {
            NtfsAttributeValue::Resident(value) => return Ok(FileMap::inline(value.data().to_vec())),
            NtfsAttributeValue::NonResident(_) => self.add(&mut map, &attribute, &mut 0)?,
            NtfsAttributeValue::AttributeListNonResident(_) => self.add_parts(&mut map, &record)?,
        }
        Ok(map)
    }

    fn target(&mut self, link: &Node) -> Result<Vec<u8>, FilesError> {
        let mut fs = self.window.clone();
        let file = self.ntfs.file(&mut fs, link.number).map_err(told)?;
        let target = self.reparse(&file)?.as_deref().and_then(target);
        target.ok_or_else(|| FilesError::Damaged("a link leads nowhere".to_owned()))
    }

    fn ignores_case(&self) -> bool {
        true
    }

    fn bytes(&self) -> u64 {
        self.ntfs.size()
    }
}

/// Where a reparse point leads, as a path of this system (MS-FSCC 2.1.2.4 and 2.1.2.5); `None` where it is no link. What
/// is on another of Windows' drives is not here, and such a link leads nowhere.
fn target(reparse: &[u8]) -> Option<Vec<u8>> {
    let (tag, data) = (field::<4>(reparse, 0)?, reparse.get(8..)?);
    let names = match tag {
        SYMLINK => data.get(12..)?,
        JUNCTION => data.get(8..)?,
        LX_SYMLINK => {
            return data.get(4..).filter(|path| !path.is_empty() && !path.contains(&0)).map(<[u8]>::to_vec);
        }
        _ => return None,
    };
    // The name for people, and where there is none, the other.
    let name = |at: usize| {
        let (from, len) = (field::<2>(data, at)? as usize, field::<2>(data, at + 2)? as usize);
        let units = names.get(from..from.checked_add(len)?)?.as_chunks::<2>().0;
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        Some(String::from_utf16_lossy(&units)).filter(|name| !name.is_empty() && !name.contains('\0'))
    };
    let name = name(4).or_else(|| name(0))?;
    Some(name.replace('\\', "/").into_bytes())
}
