//! Room on the file system that a volume's file and its journal lie on: looked for before anybody is asked for anything.

use super::plan::{Contents, ConversionPlan, HeaderSpace};
use super::request::ConversionRequest;
use crate::error::Error;
use crate::under_way::{ConversionError, JournalFile};
use crate::unlock::VolumeFormat;
use keyway_convert::{ConversionKind, FreeSpace, SlotTable, segment_bytes};
use keyway_volume::veracrypt;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Refuses a journal that can't be where it is to be, a lack of room, and what was named and isn't there.
pub(super) fn may_begin(plan: &ConversionPlan, request: &ConversionRequest) -> Result<(), Error> {
    if let Some(journal) = plan.journal.file().filter(|_| !plan.goes_on) {
        JournalFile::must_be_new(&journal)?;
        JournalFile::must_be_allowed(&journal)?;
        JournalFile::must_last(&journal, &request.path)?;
    }
    if !plan.goes_on {
        must_be_there(plan)?;
    }
    // What is wrong with the medium is said before what is wrong with a path.
    request.sources.check()
}

/// Refuses a file whose holes there is no room to fill, and a journal that there is no room for.
///
/// # Errors
/// There is less room than it takes.
pub(super) fn must_be_there(plan: &ConversionPlan) -> Result<(), Error> {
    let volume = &*plan.volume;
    let lacks = |path: &Path, bytes| veracrypt::must_have_room(path, bytes).is_err();
    let source = || io::Error::from(Errno::NOSPC);
    let filled = if is_filled(plan) { to_fill(volume, plan.space) } else { 0 };
    if lacks(volume, filled) {
        return Err(ConversionError::Holes { path: volume.to_owned(), source: source() }.into());
    }
    let Some(journal) = plan.journal.file() else { return Ok(()) };
    // Beside the volume's file it takes what that leaves.
    let before =
        if journal.parent() == volume.canonicalize().unwrap_or_default().parent() { filled } else { 0 };
    let needed = SlotTable::in_a_file(segment_bytes(plan.size_bytes)).file_bytes();
    match lacks(&journal, needed.saturating_add(before)) {
        true => Err(ConversionError::NewJournal { path: journal, source: source() }.into()),
        false => Ok(()),
    }
}

/// Whether everything in a file will be written. A BitLocker volume is decrypted where it is encrypted alone.
fn is_filled(plan: &ConversionPlan) -> bool {
    let is_bitlocker = matches!(plan.from, Contents::Volume { format: VolumeFormat::BitLocker, .. });
    match plan.conversion {
        ConversionKind::Decryption if is_bitlocker => false,
        _ => !plan.used_space_only || plan.free_space == Some(FreeSpace::Fill),
    }
}

/// Bytes that a file takes beyond what it has: its holes, and what it gets larger by; of a device none.
fn to_fill(path: &Path, space: HeaderSpace) -> u64 {
    let Ok(about) = path.metadata() else { return 0 };
    if !about.is_file() {
        return 0;
    }
    let more = match space {
        HeaderSpace::LargerFile { bytes } => bytes.saturating_sub(about.len()),
        _ => 0,
    };
    // A file system that compresses has fewer blocks than there are bytes, one that has set room aside calls it holes.
    let by_blocks = about.len().saturating_sub(about.blocks().saturating_mul(512));
    let holes = File::open(path).ok().and_then(|file| holes(&file, about.len())).unwrap_or(by_blocks);
    by_blocks.min(holes).saturating_add(more)
}

/// Bytes of a file's holes, where its file system tells.
fn holes(file: &File, len: u64) -> Option<u64> {
    let (mut at, mut all) = (0, 0);
    while at < len {
        let hole = seek(file, SeekFrom::Hole(at)).ok()?;
        let end = match seek(file, SeekFrom::Data(hole)) {
            Ok(data) => data.min(len),
            Err(Errno::NXIO) => len,
            Err(_) => return None,
        };
        all += end.saturating_sub(hole);
        at = end;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn holes_are_what_is_filled() {
        let file = tempfile::NamedTempFile::new().expect("temp");
        file.as_file().set_len(8 << 20).expect("sized");
        file.as_file().write_all_at(&[7; 1 << 20], 2 << 20).expect("written");
        file.as_file().sync_all().expect("flushed");
        assert_eq!(holes(file.as_file(), 8 << 20), Some(7 << 20));
        // Its file system may have set aside more than was written.
        let filled = to_fill(file.path(), HeaderSpace::Enough);
        assert!((4 << 20..=7 << 20).contains(&filled), "{filled}");
        assert_eq!(to_fill(file.path(), HeaderSpace::LargerFile { bytes: 9 << 20 }), filled + (1 << 20));
        assert_eq!(to_fill(Path::new("/dev/null"), HeaderSpace::Enough), 0);
    }
}
