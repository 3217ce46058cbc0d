//! Plans another size, and has it.

use super::error::ResizeError;
use super::plan::{
    FileSystemPlan, HiddenVolume, MetadataPlan, ResizeFacts, ResizePlan, ResizeRequest, Resized,
};
use super::{bitlocker, veracrypt};
use crate::conversion::{refuse_if_begun, refuse_if_used, set_len};
use crate::create::Overcommitted;
use crate::error::{Error, about};
use crate::locked::LockedVolume;
use crate::log_file;
use crate::medium;
use crate::progress::{Progress, Stage};
use crate::session::{self, SessionSecrets, fuse_for_a_tool};
use crate::unlock::{Family, Key};
use keyway_fs::FileSystemKind;
use keyway_store::{Held, Store};
use keyway_volume::veracrypt::{LARGEST_VOLUME, SMALLEST_VOLUME, must_have_room};

/// Bytes that a file system's tools count by.
const PAGE: u64 = 4096;
/// Bytes of the smallest sector.
const SECTOR: u64 = 512;
/// Bytes behind a file system that are not worth making it larger.
const SLACK: u64 = 64 << 10;

/// Plans another size: opens the volume, and refuses everything that can be refused before it is touched.
///
/// # Errors
/// Somebody uses the volume, it does not open or can't have that size; or the file system inside would not fit, and
/// can't be made smaller.
pub fn resize<'a>(volume: &'a LockedVolume<'a>, request: ResizeRequest) -> Result<ResizePlan<'a>, Error> {
    let path = &*volume.path;
    medium::must_exist(path)?;
    volume.must_be_whole()?;
    session::must_be_writable(path)?;
    refuse_if_begun(path)?;
    refuse_if_used(path)?;
    // From here on nobody else begins with it, until it has its size.
    let held = Held::take(path)?;
    refuse_if_begun(path)?;
    let (size_bytes_before, is_file) = (medium::look(path)?.size(), path.is_file());
    let size_bytes = match request.bytes {
        Some(bytes) => bytes,
        None if is_file => return Err(ResizeError::NoSize.into()),
        None => size_bytes_before,
    };
    if !is_file && size_bytes > size_bytes_before {
        return Err(ResizeError::SmallDevice { path: path.to_owned(), bytes: size_bytes_before }.into());
    }
    let (least, most) = match volume.family()? {
        Family::VeraCrypt => (SMALLEST_VOLUME, LARGEST_VOLUME),
        // No file is larger.
        Family::BitLocker => (keyway_volume::bitlocker::SMALLEST_VOLUME, i64::MAX as u64),
    };
    let most = if is_file { most } else { most.min(size_bytes_before) };
    if !(least..=most).contains(&size_bytes) {
        let path = path.to_owned();
        return Err(ResizeError::OutOfRange { path, wanted: size_bytes, least, most }.into());
    }
    // No volume has smaller ones.
    if !size_bytes.is_multiple_of(SECTOR) {
        return Err(ResizeError::NotWholeSectors { path: path.to_owned(), wanted: size_bytes }.into());
    }
    volume.must_have_first_sector()?;
    // A file that is filled on the way and finds no room would have its new size, and never be filled.
    let more = size_bytes.saturating_sub(size_bytes_before);
    if is_file && !request.quick && !volume.leaves_free_space() {
        must_have_room(path, more).map_err(about(path))?;
    }
    let secrets = SessionSecrets::from(volume.key()?);
    let (format, seen) = match &secrets.key {
        Key::VeraCrypt(secret) => (Family::VeraCrypt, veracrypt::look(volume, secret, size_bytes)?),
        Key::BitLocker(keys) => (Family::BitLocker, bitlocker::look(path, keys, size_bytes)?),
    };
    let ResizeFacts { data_bytes_before, data_bytes, room, .. } = seen;
    let filesystem = seen.filesystem.map(|fs| {
        let follows = fs.kind.can_shrink() && !request.keep_filesystem;
        let inside = room / PAGE * PAGE;
        let grows = data_bytes >= data_bytes_before && inside > fs.bytes + SLACK;
        let becomes_bytes = (follows && (fs.bytes > room || grows)).then_some(inside);
        FileSystemPlan { kind: fs.kind, bytes: fs.bytes, becomes_bytes, follows }
    });
    if let Some(fs) = seen.filesystem.filter(|fs| fs.bytes > room)
        && filesystem.is_some_and(|plan| !plan.follows)
    {
        // What is no room: headers and metadata.
        let least = size_bytes.saturating_sub(room).saturating_add(fs.bytes);
        let path = path.to_owned();
        return Err(ResizeError::WouldNotFit { path, filesystem: fs, most: room, least }.into());
    }
    if let (Some(fs), Some(used)) = (seen.filesystem.filter(|fs| fs.bytes > room), seen.too_full) {
        let path = path.to_owned();
        return Err(ResizeError::Fuller { path, filesystem: fs, used, most: room }.into());
    }
    let fill = !request.quick && !seen.used_space_only;
    if let Some(fs) = filesystem.filter(|fs| fs.becomes_bytes.is_some()) {
        let can = fs.kind.must_have_tools().map_err(about(path));
        can.and_then(|()| Ok(fuse_for_a_tool().map(drop)?)).map_err(|error| {
            let grows = fs.becomes_bytes > Some(fs.bytes);
            // What only gets larger is of use without that, too.
            if grows { ResizeError::CantGrow(Box::new(error)).into() } else { error }
        })?;
    }
    let inside = seen.filesystem.filter(|fs| data_bytes > data_bytes_before && room > fs.bytes + SLACK);
    let unused = inside.filter(|fs| !fs.kind.can_grow()).map(|fs| stays_as_large(fs.kind));
    let overcommitted = if is_file { Overcommitted::find(path, more, size_bytes) } else { None };
    let follows = filesystem.is_some_and(|fs| fs.becomes_bytes.is_some());
    let hidden_volume = match (format, data_bytes < data_bytes_before, follows) {
        (Family::BitLocker, ..) | (_, false, false) => None,
        (_, true, true) => Some(HiddenVolume::Lost),
        (_, true, false) => Some(HiddenVolume::LostBehindTheEnd),
        (_, false, true) => Some(HiddenVolume::Endangered),
    };
    Ok(ResizePlan {
        volume: path.to_owned(),
        format,
        size_bytes_before,
        size_bytes,
        data_bytes_before,
        data_bytes,
        filesystem,
        hidden_volume,
        metadata: seen.metadata,
        filled: data_bytes > data_bytes_before && fill,
        fill,
        warnings: overcommitted.iter().map(ToString::to_string).chain(unused).collect(),
        locked: volume,
        held,
        secrets,
        serving: request.serving,
        room,
        is_file,
    })
}

/// What whoever makes a volume larger should know before, of a file system that no tool makes larger where it is.
fn stays_as_large(kind: FileSystemKind) -> String {
    format!(
        "nothing makes the {kind} file system inside larger: the new room is of use only to a new file system, or copy the \
         files into a new volume of that size instead"
    )
}

impl ResizePlan<'_> {
    /// Has the file system inside follow, and gives the volume and its file their sizes. What was prepared is taken back
    /// where nothing comes of it.
    ///
    /// # Errors
    /// The file system's tool refuses, or the volume can't be attached for it; the medium failed. The volume opens with
    /// its old size or the new one, and nothing in it is lost.
    pub fn run(self, progress: &dyn Progress) -> Result<Resized, Error> {
        let path = self.volume.clone();
        log_file::step(
            "resize",
            &path,
            || self.carry_out(progress),
            |resized| format!("{} bytes in it, before {}", resized.data_bytes, resized.data_bytes_before),
        )
    }

    fn carry_out(self, progress: &dyn Progress) -> Result<Resized, Error> {
        let path = &*self.volume;
        let filled = match &self.secrets.key {
            Key::VeraCrypt(secret) => veracrypt::run(&self, secret, progress)?,
            Key::BitLocker(keys) => bitlocker::run(&self, keys, progress)?,
        };
        if self.is_file && self.size_bytes < self.size_bytes_before {
            set_len(path, self.size_bytes)?;
        }
        let grown = match self.filesystem.and_then(|fs| Some((fs, fs.becomes_bytes?))) {
            Some((fs, to)) if to > fs.bytes => {
                progress.stage(Stage::Growing(fs.kind));
                self.resize_inside(fs, to)
            }
            _ => Ok(()),
        };
        let now = match &self.secrets.key {
            _ if self.filesystem.is_none() => None,
            Key::VeraCrypt(secret) => veracrypt::file_system(self.locked, secret)?,
            Key::BitLocker(keys) => bitlocker::file_system(path, keys)?,
        };
        let frees_device = !self.is_file && self.size_bytes < self.size_bytes_before;
        Ok(Resized {
            format: self.format,
            size_bytes: if self.is_file { self.size_bytes } else { self.size_bytes_before },
            data_bytes_before: self.data_bytes_before,
            data_bytes: self.data_bytes,
            filled: filled && self.data_bytes > self.data_bytes_before,
            metadata_moved: self.metadata.map(|metadata| !matches!(metadata, MetadataPlan::Stays)),
            filesystem: now.map(|fs| fs.kind),
            filesystem_bytes: now.map(|fs| fs.bytes),
            unused_room: now.is_some_and(|fs| fs.bytes + SLACK < self.room / PAGE * PAGE),
            frees_device,
            not_grown: grown.err(),
            warnings: self.warnings,
            volume: self.volume,
        })
    }
}
