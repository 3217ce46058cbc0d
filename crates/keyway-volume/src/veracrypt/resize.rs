//! Makes a volume larger or smaller: its headers say another size, and the backup header moves to the new end.
//! The file or device itself is made larger before, or smaller afterwards, by whoever calls this.
//!
//! # The order, and why a power cut can't break it
//!
//! 1. The new backup header is written to the new end and put on the medium. Larger: that lies beyond the old
//!    volume. Smaller: it lies in data that is given up. The primary header is untouched and opens the volume
//!    as it was.
//! 2. The primary header is written and put on the medium. Should it be torn, a backup header opens the volume:
//!    larger, the new one at the new end; smaller, the old one, which still lies at the end of the file.
//! 3. Larger: the old backup header, which lies in the data area now, is overwritten with noise, and so is
//!    everything behind it, if wanted; but for what the file system says is its own already.
//!
//! What is assumed of the medium is what [`super::change`] assumes.

use super::change::same_seal;
use super::create::{LARGEST_VOLUME, SMALLEST_VOLUME};
use super::create_error::CreateError;
use super::create_header::put;
use super::header_location::{BACKUP_GROUP_BYTES, HEADER_SPACE_BYTES, HEADERS_BYTES, HeaderLocation};
use super::plain_sectors::Plain;
use super::random::{Noise, RandomError};
use super::sealed::SealedHeader;
use super::unlock::{OpenedHeader, UnlockRequest, Unlocked, unlock};
use crate::{Progress, ReadBack, Stage, VolumeError};
use keyway_engine::Layout;
use keyway_error::{Advice, explain};
use keyway_fs::Superblock;
use keyway_store::{AlignedBuf, Store, StoreError};
use std::ops::{ControlFlow, Range};

/// Bytes of noise that are written at a time.
const PIECE: u64 = 1 << 20;

explain! { ResizeError, through Open | Make | Store {
    Self::Unsupported(_, step) => [Unsupported Machine, (step.clone())],
    Self::Size { .. } => [Usage Request, NameSize],
    Self::Random(_) => [Ours, ReportWithDoctor],
} }

/// What became of a volume's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resized {
    /// Bytes of its data area before.
    pub data_bytes_before: u64,
    /// And now.
    pub data_bytes: u64,
    /// Everything that is new was overwritten with noise.
    pub filled: bool,
}

/// A volume that was not made larger or smaller. Unless the medium failed everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ResizeError {
    /// The volume did not open.
    #[error(transparent)]
    Open(#[from] VolumeError),
    /// The new headers could not be made.
    #[error(transparent)]
    Make(#[from] CreateError),
    /// The medium failed. The volume opens with its old size or the new one, by one of its headers.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Random bytes can't be had.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// A volume of a kind that has one size for good.
    #[error("{0}")]
    Unsupported(&'static str, Advice),
    /// The size is none that a volume can have.
    #[error("a size of {wanted} bytes is not possible here: {why}")]
    Size {
        /// The size that was wished for.
        wanted: u64,
        /// Why it is none.
        why: &'static str,
    },
}

/// Makes the volume that `request` opens fill the first `bytes` of the store, headers included. With `filled`
/// everything that is new to it is overwritten with noise, so that nobody sees what of it is used.
pub fn resize(
    medium: &dyn Store,
    request: &UnlockRequest<'_>,
    bytes: u64,
    filled: bool,
    progress: &dyn Progress,
) -> Result<Resized, ResizeError> {
    let unlocked = unlock(medium, request)?;
    if bytes > medium.size() {
        return Err(ResizeError::Size { wanted: bytes, why: "the file or device is smaller" });
    }
    unlocked.may_fill(bytes)?;
    let claims = claimed(medium, &unlocked.layout)?;
    let mut opened = unlocked.into_opened();
    let before = opened.header.volume_bytes;
    let old_end = HEADERS_BYTES.saturating_add(before);
    let end = bytes - BACKUP_GROUP_BYTES;
    let after = end - HEADERS_BYTES;
    (opened.header.volume_bytes, opened.header.encrypted_bytes) = (after, after);
    let done = Resized { data_bytes_before: before, data_bytes: after, filled };
    if after == before {
        return Ok(done);
    }
    let password = request.secrets.header_password(opened.header.format)?;
    let seal = same_seal(&opened, &password);
    let [primary, backup] = seal.fresh::<2>(&opened.header)?;
    [&primary, &backup].into_iter().try_for_each(|sealed| seal.prove(sealed, &opened.header))?;
    let (grows, store) = (after > before, &ReadBack::new(medium));
    put_group(store, &backup, end, old_end)?;
    put(store, 0, &primary)?;
    if !grows {
        return Ok(done);
    }
    // Where the header is from before the volume was made larger, its files lie there and no header. Else the old backup
    // header in any case.
    let from = HEADERS_BYTES.saturating_add(claims).clamp(old_end, end);
    let header_end = (old_end + BACKUP_GROUP_BYTES).max(from);
    noise_over::<ResizeError>(store, from..header_end, &())?;
    let filled = filled && noise_over::<ResizeError>(medium, header_end..end, progress)?;
    Ok(Resized { filled, ..done })
}

/// How far the file system in the volume says that it reaches; 0 where there is none.
fn claimed(medium: &dyn Store, layout: &Layout) -> Result<u64, StoreError> {
    Ok(Superblock::read(&Plain { store: medium, layout })?.and_then(|found| found.claims).unwrap_or_default())
}

/// Overwrites a range with noise and puts that on the medium; whether nobody stopped it before its end.
pub(crate) fn noise_over<E: From<StoreError> + From<RandomError>>(
    store: &dyn Store,
    range: Range<u64>,
    progress: &dyn Progress,
) -> Result<bool, E> {
    let mut noise = Noise::new()?;
    let mut piece = AlignedBuf::zeroed(PIECE as usize);
    let (mut at, mut goes_on) = (range.start, true);
    while at < range.end && goes_on {
        piece.resize((range.end - at).min(PIECE) as usize);
        noise.fill(&mut piece);
        store.write_at(&piece, at)?;
        at += piece.len() as u64;
        goes_on =
            progress.at(Stage::Fill, at - range.start, range.end - range.start) == ControlFlow::Continue(());
    }
    store.flush()?;
    Ok(at >= range.end)
}

impl Unlocked {
    /// Whether [`resize`] could make it so many bytes large, of a file or device with as many. Nothing is changed.
    ///
    /// # Errors
    /// [`ResizeError::Unsupported`] and [`ResizeError::Size`].
    pub fn may_fill(&self, bytes: u64) -> Result<(), ResizeError> {
        self.opened().may_fill(bytes)
    }
}

impl OpenedHeader {
    fn may_fill(&self, bytes: u64) -> Result<(), ResizeError> {
        let size = |why| Err(ResizeError::Size { wanted: bytes, why });
        if self.is_system() {
            return Err(ResizeError::Unsupported(
                "an encrypted system has the size of its drive",
                Advice::MakeNewVolume,
            ));
        }
        if self.place.is_hidden() {
            return Err(ResizeError::Unsupported(
                "this is a hidden volume: its size is kept secret by never changing",
                Advice::MakeNewVolume,
            ));
        }
        let header = &self.header;
        if !header.has_sizes() || header.encrypted_start != HEADERS_BYTES {
            return Err(ResizeError::Unsupported(
                "a volume from before TrueCrypt 6.0 always fills its file or device",
                Advice::MakeNewVolume,
            ));
        }
        if self.place != HeaderLocation::Primary {
            return Err(ResizeError::Unsupported(
                "its primary header is damaged",
                Advice::RestoreHeaderFirst,
            ));
        }
        if !(SMALLEST_VOLUME..=LARGEST_VOLUME).contains(&bytes) {
            return size("too small or too large for a volume");
        }
        if !bytes.is_multiple_of(u64::from(header.sector_bytes)) {
            return size("it must be whole sectors");
        }
        let (end, old_end) = (bytes - BACKUP_GROUP_BYTES, HEADERS_BYTES.saturating_add(header.volume_bytes));
        if end != old_end && end.abs_diff(old_end) < BACKUP_GROUP_BYTES {
            return size(
                "it must differ from the old one by 128 KiB or more, or the old and new headers would overlap",
            );
        }
        Ok(())
    }
}

/// The last 128 KiB of the new volume: its backup header, noise, and what was in the place of a hidden
/// volume's backup header: that volume stays where it is, whole unless it reaches behind the new end.
fn put_group(store: &ReadBack<'_>, backup: &SealedHeader, end: u64, old_end: u64) -> Result<(), ResizeError> {
    let mut group = AlignedBuf::zeroed(BACKUP_GROUP_BYTES as usize);
    Noise::new()?.fill(&mut group);
    for (to, from) in group.iter_mut().zip(backup.bytes()) {
        *to = *from;
    }
    // A medium that ends before it has none.
    let there = old_end.checked_add(BACKUP_GROUP_BYTES).is_some_and(|behind| behind <= store.size());
    if there && let Some(hidden) = group.get_mut(HEADER_SPACE_BYTES as usize..) {
        store.read_at(hidden, old_end + HEADER_SPACE_BYTES)?;
    }
    store.write_at(&group, end)?;
    Ok(store.flush()?)
}
