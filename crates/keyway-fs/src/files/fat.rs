//! FAT12, FAT16 and FAT32: read, and written to one new file at a time.

use super::entry::{Contents, Entry, EntryKind, Location, NewEntry, Reader, Sink};
use super::error::FilesError;
use super::names::folded;
use super::window::Window;
use crate::calendar::{civil, parts};
use crate::superblock::FileSystemKind;
use fatfs::{Date, DateTime, FsOptions, ReadWriteSeek, Time};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Largest file, in bytes: its length has 32 bits (Microsoft's FAT specification, "FAT Directory
/// Structure").
const LARGEST: u64 = u32::MAX as u64;

/// From so many clusters on fatfs takes a file system for FAT32. What says so of itself and has fewer is one to every
/// driver, and mkfs.fat makes them, where sectors are large above all; fatfs calls them damaged.
const FAT32_FROM: u64 = 65_525;

/// A FAT file system.
pub(crate) struct Fat(fatfs::FileSystem<Window>);

impl Fat {
    pub(crate) fn open(window: Window) -> Result<Self, FilesError> {
        Ok(Self(opened(window)?))
    }
}

fn opened(window: Window) -> Result<fatfs::FileSystem<Window>, FilesError> {
    let mut boot = [0; 512];
    window.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
    if let Some(clusters) = few_clusters(&boot) {
        return Err(FilesError::Unsupported(format!(
            "a FAT32 of only {clusters} clusters is neither read nor written by this program"
        )));
    }
    fatfs::FileSystem::new(window, FsOptions::new()).map_err(FilesError::from_io)
}

/// So much of the tables is compared: what is written over a beginning, or is one of another file system, shows there.
const COMPARED: u64 = 64 << 10;

/// Refuses to write where the table is none: of noise, or of zeros, it would be told that it is full, or empty. What can be read is
/// read all the same. The first entry repeats the medium's byte of the boot sector, all other bits being set; the second table is a copy of the first, unless
/// it says otherwise (Microsoft's FAT specification, "FAT Data Structure", "Boot Sector and BPB").
fn must_agree(window: &Window) -> Result<(), FilesError> {
    let mut boot = [0; 64];
    window.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
    let number = |at: usize, len: usize| {
        boot.iter().skip(at).take(len).rev().fold(0u64, |n, byte| n << 8 | u64::from(*byte))
    };
    let (sector, start, tables) = (number(11, 2), number(14, 2), number(16, 1));
    let is_wide = number(22, 2) == 0;
    let length = if is_wide { number(36, 4) } else { number(22, 2) } * sector;
    if tables == 0 || length < 8 {
        // fatfs says what is wrong.
        return Ok(());
    }
    let read = |table: u64| {
        let mut bytes = vec![0; length.min(COMPARED) as usize];
        let at = start * sector + table * length;
        window.read_exact_at(&mut bytes, at).map(|()| bytes).map_err(FilesError::from_io)
    };
    let damaged = |what: &str| Err(FilesError::Damaged(what.to_owned()));
    let first = read(0)?;
    // In FAT12 the next byte belongs to the second entry as well.
    match first.as_slice() {
        [media, 0xff, ..] if *media == number(21, 1) as u8 => {}
        _ => return damaged("its table of clusters does not begin as one"),
    }
    // One of FAT32 may say that only one of them is kept.
    let mirrored = !is_wide || number(40, 2) & 0x80 == 0;
    // Windows notes in the second entry, and not in each table, that it was not unmounted.
    let behind = |table: &[u8]| table.get(8..).map(<[u8]>::to_vec);
    if tables > 1 && mirrored && behind(&read(1)?) != behind(&first) {
        return damaged("its two tables of clusters differ");
    }
    Ok(())
}

/// How many clusters a FAT32 has that is too small for fatfs (Microsoft's FAT specification, "Boot Sector and BPB").
fn few_clusters(boot: &[u8; 512]) -> Option<u64> {
    let number = |at: usize, len: usize| {
        boot.iter().skip(at).take(len).rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
    };
    let (table, small) = (number(36, 4), number(19, 2));
    let sectors = if small == 0 { number(32, 4) } else { small };
    let is_wide = number(22, 2) == 0 && number(17, 2) == 0 && table > 0;
    let data = sectors.saturating_sub(number(14, 2) + number(16, 1) * table);
    let clusters = data.checked_div(number(13, 1))?;
    (is_wide && (1..FAT32_FROM).contains(&clusters)).then_some(clusters)
}

fn path(place: &Location) -> Result<&str, FilesError> {
    match place {
        Location::Path(path) => std::str::from_utf8(path).ok(),
        _ => None,
    }
    .ok_or_else(|| FilesError::Damaged("an entry without a path".to_owned()))
}

/// The folder of that path; the empty one is the root.
fn folder<'a, T: ReadWriteSeek>(fs: &'a fatfs::FileSystem<T>, path: &str) -> io::Result<fatfs::Dir<'a, T>> {
    if path.is_empty() { Ok(fs.root_dir()) } else { fs.root_dir().open_dir(path) }
}

impl Reader for Fat {
    fn root(&self) -> Location {
        Location::Path(Vec::new())
    }

    fn entries(&mut self, at: &Location) -> Result<Contents, FilesError> {
        let parent = path(at)?;
        let mut contents = Contents::default();
        // Every folder but the root begins with an entry for itself; noise does not.
        let mut is_folder = parent.is_empty();
        for entry in folder(&self.0, parent).map_err(FilesError::from_io)?.iter() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => {
                    contents.problem(None, FilesError::from_io(e));
                    return Ok(contents);
                }
            };
            let name = entry.file_name();
            is_folder |= name == "." && entry.is_dir();
            if !is_folder {
                break;
            }
            if matches!(name.as_str(), "." | "..") {
                continue;
            }
            let place = if parent.is_empty() { name.clone() } else { format!("{parent}/{name}") };
            contents.entries.push(Entry {
                kind: if entry.is_dir() { EntryKind::Folder } else { EntryKind::File },
                size: if entry.is_dir() { 0 } else { entry.len() },
                modified: seconds(entry.modified()),
                name: OsString::from(name),
                place: Location::Path(place.into_bytes()),
            });
        }
        if !is_folder {
            return Err(FilesError::Damaged(format!("{parent} is not a folder, though it is called one")));
        }
        Ok(contents)
    }

    fn read(&mut self, file: &Entry, sink: Sink<'_>) -> Result<(), FilesError> {
        let mut from = self.0.root_dir().open_file(path(&file.place)?).map_err(FilesError::from_io)?;
        let (mut piece, mut done) = (vec![0; PIECE], 0u64);
        loop {
            match from.read(&mut piece).map_err(FilesError::from_io)? {
                0 if done < file.size => {
                    return Err(FilesError::Damaged("a file's chain of clusters ends too early".to_owned()));
                }
                0 => return Ok(()),
                n => {
                    sink(piece.get(..n).unwrap_or_default()).map_err(FilesError::from_io)?;
                    done += n as u64;
                }
            }
        }
    }

    fn ignores_case(&self) -> bool {
        true
    }
}

/// Writes `len` bytes as a new file, or in place of one, into a folder that exists. What was begun and
/// failed is removed again.
pub(crate) fn put(
    window: Window,
    parent: &[u8],
    name: &OsStr,
    from: impl Read,
    len: u64,
    modified: Option<i64>,
) -> Result<(), FilesError> {
    change(window, parent, name, |fs, parent, name| put_into(fs, parent, name, from, len, modified))
}

/// Makes a folder in one that exists, or leaves the one that is there.
pub(crate) fn put_folder(window: Window, parent: &[u8], name: &OsStr) -> Result<(), FilesError> {
    let raw = window.clone();
    raw.watch_for(&DOT);
    change(window, parent, name, |fs, parent, name| {
        let made = folder(fs, parent).and_then(|folder| folder.create_dir(name)).map(drop);
        made.and_then(|()| begin_folder(raw, parent.is_empty())).map_err(|e| full(e, name))
    })
}

/// The name of a folder's first entry, which stands for itself.
const DOT: [u8; 11] = *b".          ";
/// What a removed entry begins with.
const REMOVED: u8 = 0xe5;
/// An entry's bytes, and where its cluster's number is in it.
const ENTRY: usize = 32;
const CLUSTER: [std::ops::Range<usize>; 2] = [20..22, 26..28];

/// Sets the beginning of a new folder right. fatfs writes a long name in front of its entries for itself and for the one
/// around it, and the root's cluster into the latter: others take that for damage (Microsoft's FAT specification,
/// "Directory Creation").
fn begin_folder(mut raw: Window, in_root: bool) -> io::Result<()> {
    // Nothing was written where the folder was there.
    let Some(start) = raw.watched().map(|at| at.checked_sub(ENTRY as u64)) else { return Ok(()) };
    let start = start.ok_or_else(|| io::Error::other("a folder lies before the volume"))?;
    let mut begin = [0; 4 * ENTRY];
    raw.read_exact_at(&mut begin, start)?;
    let [_, own, _, around] = begin.as_chunks::<ENTRY>().0 else { return Ok(()) };
    let mut right = [0; 4 * ENTRY];
    let (first, rest) = right.split_at_mut(ENTRY);
    first.copy_from_slice(own);
    let second = rest.split_at_mut(ENTRY).0;
    second.copy_from_slice(around);
    if in_root {
        for part in CLUSTER {
            second.get_mut(part).unwrap_or_default().fill(0);
        }
    }
    raw.seek(SeekFrom::Start(start))?;
    raw.write_all(&right)
}

fn change(
    window: Window,
    parent: &[u8],
    name: &OsStr,
    work: impl FnOnce(&fatfs::FileSystem<Window>, &str, &str) -> Result<(), FilesError>,
) -> Result<(), FilesError> {
    let bad = || FilesError::BadName(name.to_owned());
    let parent = std::str::from_utf8(parent).map_err(|_| bad())?;
    let text = must_be_name(name)?;
    let raw = window.clone();
    let fs = opened(window)?;
    // First: a table of noise says as well that it was not unmounted.
    must_agree(&raw)?;
    must_be_clean(&fs)?;
    let done = work(&fs, parent, text);
    // Also after an error: the count of free clusters has changed.
    let closed = fs.unmount().map_err(FilesError::from_io);
    done.and(closed)
}

fn must_be_clean(fs: &fatfs::FileSystem<Window>) -> Result<(), FilesError> {
    match fs.read_status_flags().map_err(FilesError::from_io)?.dirty() {
        true => Err(FilesError::Unclean { checker: FileSystemKind::Fat.repaired_by() }),
        false => Ok(()),
    }
}

/// The name as text, where it is one that a FAT file system can hold.
pub(crate) fn must_be_name(name: &OsStr) -> Result<&str, FilesError> {
    name.to_str().filter(|text| is_name(text)).ok_or_else(|| FilesError::BadName(name.to_owned()))
}

/// Whether there is room for all of these, in a file system that may be written to.
pub(crate) fn must_fit(window: Window, entries: &[NewEntry<'_>]) -> Result<(), FilesError> {
    let raw = window.clone();
    let fs = opened(window)?;
    // First: a table of noise says as well that it was not unmounted.
    must_agree(&raw)?;
    must_be_clean(&fs)?;
    let stats = fs.stats().map_err(FilesError::from_io)?;
    let cluster = u64::from(stats.cluster_size());
    let free = u64::from(stats.free_clusters()) * cluster;
    let mut wanted = 0u64;
    must_fit_root(&fs, &raw, entries)?;
    for new in entries {
        // A folder has a cluster at least, with two entries for itself; one that is there may grow.
        let len = new.len.unwrap_or(cluster);
        if len > LARGEST {
            return Err(FilesError::LargerThanFatHas { wanted: len });
        }
        // A name takes 32 bytes, and as many for every 13 units of a long one, of its folder's clusters.
        let name = new.path.last().map_or(0, |name| name.to_string_lossy().encode_utf16().count() as u64);
        let entry = (1 + name.div_ceil(13) + 2) * 32;
        wanted = wanted.saturating_add(len.next_multiple_of(cluster)).saturating_add(entry);
    }
    // The folder that all goes to may grow, too.
    if wanted.saturating_add(cluster) > free {
        let all = u64::from(stats.total_clusters()) * cluster;
        return Err(FilesError::no_room(FileSystemKind::Fat, free.saturating_sub(cluster), wanted, all));
    }
    Ok(())
}

/// Whether the root has room for these names. That of FAT12 and FAT16 lies between the tables and the data, and can't grow
/// (Microsoft's FAT specification, "Boot Sector and BPB").
fn must_fit_root(
    fs: &fatfs::FileSystem<Window>,
    raw: &Window,
    entries: &[NewEntry<'_>],
) -> Result<(), FilesError> {
    let mut boot = [0; 64];
    raw.read_exact_at(&mut boot, 0).map_err(FilesError::from_io)?;
    let number = |at, len: usize| {
        let bytes = boot.iter().skip(at).take(len).rev();
        bytes.fold(0u64, |n, byte| n << 8 | u64::from(*byte))
    };
    let count = number(17, 2);
    if count == 0 {
        return Ok(());
    }
    let start = (number(14, 2) + number(16, 1) * number(22, 2)) * number(11, 2);
    let mut bytes = vec![0; count as usize * ENTRY];
    raw.read_exact_at(&mut bytes, start).map_err(FilesError::from_io)?;
    let firsts: Vec<u8> = bytes.chunks(ENTRY).filter_map(|entry| entry.first().copied()).collect();
    let used = firsts.iter().position(|first| *first == 0).unwrap_or(firsts.len());
    // The first run of removed ones that is long enough is taken, or else what follows the last entry.
    let mut runs: Vec<u64> = Vec::new();
    let mut within = false;
    for first in firsts.iter().take(used) {
        let removed = *first == REMOVED;
        match runs.last_mut() {
            Some(run) if removed && within => *run += 1,
            _ if removed => runs.push(1),
            _ => {}
        }
        within = removed;
    }
    // What is behind the last entry continues a run that ends there.
    let behind = count - used as u64;
    match runs.last_mut() {
        Some(run) if within => *run += behind,
        _ => runs.push(behind),
    }
    let free = runs.iter().sum();
    let there: HashSet<String> = fs
        .root_dir()
        .iter()
        .filter_map(Result::ok)
        .map(|entry| folded(OsStr::new(&entry.file_name())))
        .collect();
    let mut wanted = 0;
    let mut fits = true;
    for new in entries {
        // What has that name before leaves its entries, or is taken as it is.
        let [name] = new.path else { continue };
        if there.contains(&folded(name)) {
            continue;
        }
        let takes = 1 + name.to_string_lossy().encode_utf16().count().div_ceil(13) as u64;
        wanted += takes;
        match runs.iter_mut().find(|run| **run >= takes) {
            Some(run) => *run -= takes,
            None => fits = false,
        }
    }
    if fits { Ok(()) } else { Err(FilesError::RootFull { free, wanted }) }
}

/// What a long name may be (Microsoft's FAT specification, "Long File Name Directory Structure").
fn is_name(name: &str) -> bool {
    let bad = |c: char| c.is_control() || matches!(c, '"' | '*' | '/' | ':' | '<' | '>' | '?' | '\\' | '|');
    !name.contains(bad) && !name.ends_with(['.', ' ']) && (1..=255).contains(&name.encode_utf16().count())
}

fn put_into(
    fs: &fatfs::FileSystem<Window>,
    parent: &str,
    name: &str,
    mut from: impl Read,
    len: u64,
    modified: Option<i64>,
) -> Result<(), FilesError> {
    let failed = |e| full(e, name);
    let folder = folder(fs, parent).map_err(failed)?;
    let old = folder.open_file(name).is_ok();
    let stats = fs.stats().map_err(failed)?;
    let cluster = u64::from(stats.cluster_size());
    let free = u64::from(stats.free_clusters()) * cluster;
    // One more cluster for the folder, where its own are full.
    if len > LARGEST {
        return Err(FilesError::LargerThanFatHas { wanted: len });
    }
    if len.next_multiple_of(cluster) + cluster > free {
        return Err(FilesError::NoRoom { free: free.saturating_sub(cluster), wanted: len });
    }
    if old {
        folder.remove(name).map_err(failed)?;
    }
    let mut file = folder.create_file(name).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidInput => FilesError::BadName(OsString::from(name)),
        _ => failed(e),
    })?;
    let written = copy(&mut from, &mut file, len, &failed).and_then(|()| {
        if let Some(time) = modified.and_then(date_time) {
            #[expect(deprecated, reason = "a time provider knows the time of now, not the file's")]
            file.set_modified(time);
        }
        file.flush().map_err(failed)
    });
    drop(file);
    if written.is_err() {
        // The first error is the one to tell.
        let _ = folder.remove(name);
    }
    written
}

/// What fatfs says where there is no room: that its count of free clusters was wrong, or the root can't grow.
fn full(e: io::Error, name: &str) -> FilesError {
    let is_full = e.kind() == io::ErrorKind::WriteZero || e.to_string() == "No space left on device";
    if is_full { FilesError::Full(name.into()) } else { FilesError::from_io(e) }
}

/// Copies exactly `len` bytes.
pub(super) fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    len: u64,
    failed: &dyn Fn(io::Error) -> FilesError,
) -> Result<(), FilesError> {
    let host = |source| FilesError::Host { doing: "read", path: "the file to be put".into(), source };
    let (mut piece, mut left) = (vec![0; PIECE], len);
    while left > 0 {
        let n = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = piece.get_mut(..n).unwrap_or_default();
        from.read_exact(part).map_err(host)?;
        to.write_all(part).map_err(failed)?;
        left -= n as u64;
    }
    Ok(())
}

/// The time an entry has; `None` for a date that is none.
fn seconds(at: DateTime) -> Option<i64> {
    let (date, time) = (at.date, at.time);
    let parts = [date.year, date.month, date.day, time.hour, time.min, time.sec].map(u32::from);
    civil(parts)
}

/// A time as FAT keeps it; `None` before 1980 and after 2107, which it can't.
fn date_time(at: i64) -> Option<DateTime> {
    let [year, month, day, hour, min, sec] = parts(at)?.map(u16::try_from);
    let date = Date {
        year: year.ok().filter(|year| (1980..=2107).contains(year))?,
        month: month.ok()?,
        day: day.ok()?,
    };
    Some(DateTime { date, time: Time { hour: hour.ok()?, min: min.ok()?, sec: sec.ok()?, millis: 0 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for at in [315_532_800, 951_827_696, 1_709_210_096, 4_354_819_198] {
            assert_eq!(date_time(at).and_then(seconds), Some(at));
        }
        assert_eq!(date_time(0), None, "FAT begins in 1980");
    }
}
