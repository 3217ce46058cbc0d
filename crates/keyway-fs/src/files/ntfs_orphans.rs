//! Entries of an NTFS folder that is damaged, by the records of the files themselves: each names the folder that it lies in.

use super::window::Window;
use ntfs::structured_values::NtfsFileName;
use ntfs::{KnownNtfsFileRecordNumber, Ntfs, NtfsAttributeType, NtfsFileFlags};
use std::collections::HashMap;

/// File records that are looked through at most; of the largest, half of what looking at a folder may read.
const MOST: u64 = 1 << 16;

/// The numbers of the records in use, by the folders that they name. What can't be read names none.
pub(super) struct Orphans {
    by_folder: HashMap<u64, Vec<u64>>,
}

impl Orphans {
    /// Looks through the table of all files, from the first that is not the file system's own.
    pub(super) fn find(ntfs: &Ntfs, window: &Window, first: u64) -> Self {
        let mut fs = window.clone();
        let mut by_folder: HashMap<u64, Vec<u64>> = HashMap::new();
        for number in first..records(ntfs, window).min(MOST) {
            let Ok(file) = ntfs.file(&mut fs, number) else { continue };
            if !file.flags().contains(NtfsFileFlags::IN_USE) {
                continue;
            }
            for attribute in file.attributes_raw().flatten() {
                if !matches!(attribute.ty(), Ok(NtfsAttributeType::FileName)) {
                    continue;
                }
                let Ok(name) = attribute.structured_value::<_, NtfsFileName>(&mut fs) else { continue };
                let all =
                    by_folder.entry(name.parent_directory_reference().file_record_number()).or_default();
                // A file has a name of eight letters beside the long one.
                if all.last() != Some(&number) {
                    all.push(number);
                }
            }
        }
        Self { by_folder }
    }

    /// Those that name this folder.
    pub(super) fn of(&self, folder: u64) -> &[u64] {
        self.by_folder.get(&folder).map_or(&[], Vec::as_slice)
    }
}

/// How many records the table has room for; none where it can't be read.
fn records(ntfs: &Ntfs, window: &Window) -> u64 {
    let mut fs = window.clone();
    let Ok(table) = ntfs.file(&mut fs, KnownNtfsFileRecordNumber::MFT as u64) else { return 0 };
    let item = table.data(&mut fs, "").and_then(Result::ok);
    let bytes = item.and_then(|item| item.to_attribute().ok().map(|data| data.value_length()));
    bytes.unwrap_or(0) / u64::from(ntfs.file_record_size()).max(1)
}
