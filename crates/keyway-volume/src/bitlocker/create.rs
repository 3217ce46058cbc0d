//! Makes BitLocker volumes as Windows makes them, as far as volumes that it made tell.
//!
//! # The order
//! The boot sector is what everybody looks at first, so it goes first and comes last. First it is
//! wiped, then the data area is filled, the file system is copied in, the three copies of the
//! metadata are written, and last the boot sector that names them; each step is on the medium before
//! the next begins. Until the last write nothing is recognised as a volume, from then on everything
//! is there.
//!
//! # What Windows does, and what is done here
//! Taken from the eleven volumes of cryptsetup's test suite that Windows 7, 10 and 11 made.
//!
//! - **Places.** The first copy lies at 33 MiB or at the first free bytes after; the others follow at
//!   distances of a ninth of the volume, rounded up to clusters (Windows 7: a third of what is behind
//!   33 MiB). Each has 64 KiB. Right behind the first copy lie the moved first sectors (8 KiB) and
//!   64 KiB more that the metadata names. Here: the same, rounded up to 4 KiB.
//! - **Room in the file system.** Windows makes files in `System Volume Information` that own these
//!   bytes. Here their clusters are marked as bad ([`keyway_fs::allocation`]).
//! - **First sectors.** 16 of 512 bytes or 2 of 4,096 lie elsewhere. Of a To Go drive it is more: all
//!   that the decoy file system needs ([`super::create_decoy`]).
//! - **Boot sector.** A FAT32 one whose loader says "Remove disks or other media", made from one
//!   template; sector size, sectors per cluster, hidden sectors and the offsets are filled in. Of a
//!   FAT or exFAT file system Windows makes a To Go drive.
//! - **Numbers.** Nonces count from 2, in the order of the entries; all of one session carry its
//!   time, cut to milliseconds. The validation's carries the exact time with its top bit set. The
//!   second method number is 0 or the method's.
//! - **Conversion.** State and next state are "encrypted", the encrypted bytes those of the whole
//!   volume, also where only used space was encrypted: what is free there decrypts to nonsense, and
//!   nobody reads it.

use super::block::Block;
use super::codes::Method;
use super::create_boot::boot_sector;
use super::create_decoy::Decoy;
use super::create_error::CreateError;
use super::create_file_system::NewFileSystem;
use super::create_metadata::{Keys, NewProtectors, Shape, new_block};
use super::data_key::cipher;
use super::error::BitLockerError;
use super::map::Map;
use super::metadata_locations::{BOOT_BYTES, MetadataLocations};
use super::protect::ProtectError;
use crate::progress::while_wanted;
use crate::veracrypt::random::Noise;
use crate::{Progress, ReadBack, Stage, Weakness};
use keyway_engine::{Access, Device, Layout};
use keyway_fs::mkfs::FileSystem;
use keyway_store::{AlignedBuf, Store};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The smallest volume, 64 MiB: Windows' own limit for encrypting a drive.
pub const SMALLEST_VOLUME: u64 = 64 << 20;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// What happens to the data area before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Random bytes everywhere: nobody without a key can tell how much is used.
    Full,
    /// Nothing: only what the file system writes is encrypted. What was on the medium stays there
    /// until it is overwritten.
    UsedSpaceOnly,
}

/// The volume that shall be made.
pub struct NewVolume<'a> {
    /// What will open it; at least one.
    pub protectors: &'a NewProtectors,
    /// How the data is encrypted: any without the diffuser, which is for opening old volumes.
    pub method: Method,
    /// What happens to the data area.
    pub fill: Fill,
    /// The file system inside, NTFS, exFAT or FAT, and its name. Without one the metadata lies at
    /// the end, and what a file system may use is in front of it.
    pub filesystem: Option<(FileSystem, Option<&'a str>)>,
    /// Whether programs that know no BitLocker shall see a file system with a note in it.
    pub to_go: bool,
    /// What the metadata says in the open: computer, drive and date.
    pub description: &'a str,
}

/// A volume that has been made.
pub struct Created {
    /// The metadata as it was written.
    pub block: Block,
    /// For the engine.
    pub layout: Layout,
    /// Bytes from the start on that a file system may use.
    pub usable_bytes: u64,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Something that the user should know about a new volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The data area was not filled.
    UsedSpaceOnly,
    /// There is no recovery password.
    NoRecoveryPassword,
    /// A file system must end before this byte.
    KeepOut(u64),
    /// A password that is easily guessed.
    Weak(Weakness),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UsedSpaceOnly => f.write_str(
                "only used space is encrypted: how much of the volume is used can be seen, and old data on the \
                 medium stays readable until it is overwritten",
            ),
            Self::NoRecoveryPassword => {
                f.write_str("there is no recovery password: whoever forgets the other secret has lost the data")
            }
            Self::KeepOut(end) => {
                write!(f, "the metadata lies at the end; a file system made later may have {end} bytes at most")
            }
            Self::Weak(weakness) => weakness.fmt(f),
        }
    }
}

/// Makes a volume over the whole of `store`, whose contents are lost.
///
/// The volume's sectors are the store's: 512 bytes in files, a device's own.
///
/// # Errors
/// The size, the method, the file system or the protectors can't be used; the medium failed; the
/// caller stopped it. The store then holds no volume.
pub fn create(
    store: &Arc<dyn Store>,
    new: &NewVolume<'_>,
    progress: &dyn Progress,
) -> Result<Created, CreateError> {
    let (size, sector_bytes) = (store.size(), store.sector_bytes());
    check(new, size, sector_bytes)?;
    let decoy = new.to_go.then(|| Decoy::new(size, sector_bytes)).transpose()?;
    let boot_bytes = decoy.as_ref().map_or(BOOT_BYTES, Decoy::bytes);
    let formatting = |done, total| progress.at(Stage::FileSystem, done, total);
    let inside = new
        .filesystem
        .map(|(fs, label)| NewFileSystem::make(fs, label, (size, sector_bytes), boot_bytes, &formatting))
        .transpose()?;
    let places = inside
        .as_ref()
        .map_or_else(|| MetadataLocations::at_the_end(size, boot_bytes), NewFileSystem::places);

    let keys = Keys::random(new.method)?;
    let shape = Shape {
        size,
        sector_bytes,
        boot_bytes,
        places,
        method: new.method,
        used_space_only: new.fill == Fill::UsedSpaceOnly,
        to_go: new.to_go,
        description: new.description,
    };
    let block = while_wanted(progress, 0, |stop| new_block(&shape, &keys, new.protectors, stop));
    let block = block.map_err(|error| match error {
        CreateError::Protector(ProtectError::Stopped) => CreateError::Stopped,
        error => error,
    })?;
    let cipher =
        cipher(new.method, &keys.data, sector_bytes).ok_or(BitLockerError::DamagedKey("data key"))??;
    let layout = Map::new(&block, None, sector_bytes, size)?.layout(&Arc::new(cipher))?;

    // Metadata and first sector: each is seen to be there before the next one is written.
    let kept = ReadBack::new(store.as_ref());
    // Takes away what says that there is something here: an old volume's boot sector.
    kept.put(&AlignedBuf::zeroed(sector_bytes as usize), 0)?;
    if new.fill == Fill::Full {
        fill(store.as_ref(), u64::from(sector_bytes)..size, progress)?;
    }
    if let Some(inside) = &inside {
        let device = Device::new(Box::new(Arc::clone(store)), layout.clone(), Access::ReadWrite)?;
        inside.copy_into(&device, &formatting)?;
    }
    let region = block.region()?;
    for at in block.copies {
        kept.put(&region, at)?;
    }
    let boot = match &decoy {
        Some(decoy) => {
            kept.put(&decoy.after_boot_sector(), u64::from(sector_bytes))?;
            decoy.boot_sector(&block.copies)
        }
        None => boot_sector(sector_bytes, &block.copies, None),
    };
    let mut first = AlignedBuf::zeroed(sector_bytes as usize);
    for (slot, byte) in first.iter_mut().zip(boot) {
        *slot = byte;
    }
    kept.put(&first, 0)?;
    let usable_bytes = if inside.is_some() { size } else { places.start };
    Ok(Created { notes: notes(new, usable_bytes), block, layout, usable_bytes })
}

/// Everything that can be refused is refused before anything is written.
fn check(new: &NewVolume<'_>, size: u64, sector_bytes: u32) -> Result<(), CreateError> {
    if size < SMALLEST_VOLUME {
        return Err(CreateError::TooSmall { size, least: SMALLEST_VOLUME });
    }
    if !size.is_multiple_of(u64::from(sector_bytes)) {
        return Err(CreateError::NotWholeSectors { size, sector_bytes });
    }
    if matches!(new.method, Method::Cbc128Elephant | Method::Cbc256Elephant) {
        return Err(CreateError::MethodNotOffered(new.method.name()));
    }
    if let Some((fs, _)) = new.filesystem
        && !matches!(fs, FileSystem::Ntfs | FileSystem::ExFat | FileSystem::Fat)
    {
        return Err(CreateError::FileSystemNotOffered(fs));
    }
    if new.protectors.is_empty() {
        return Err(CreateError::NoProtector);
    }
    Ok(())
}

fn notes(new: &NewVolume<'_>, usable_bytes: u64) -> Vec<Note> {
    [
        (new.fill == Fill::UsedSpaceOnly, Note::UsedSpaceOnly),
        (new.protectors.recovery.is_none(), Note::NoRecoveryPassword),
        (new.filesystem.is_none(), Note::KeepOut(usable_bytes)),
    ]
    .into_iter()
    .filter_map(|(holds, note)| holds.then_some(note))
    .chain(
        new.protectors.password.iter().filter_map(|password| Weakness::of_password(password).map(Note::Weak)),
    )
    .collect()
}

/// Writes noise, which can't be told from encrypted data.
fn fill(store: &dyn Store, range: Range<u64>, progress: &dyn Progress) -> Result<(), CreateError> {
    let mut noise = Noise::new()?;
    let mut buf = AlignedBuf::zeroed(PIECE);
    let mut at = range.start;
    while at < range.end {
        if progress.at(Stage::Fill, at, range.end).is_break() {
            return Err(CreateError::Stopped);
        }
        buf.resize((range.end - at).min(PIECE as u64) as usize);
        noise.fill(&mut buf);
        store.write_at(&buf, at)?;
        at += buf.len() as u64;
    }
    // Too late to stop for the sake of the fill.
    let _ = progress.at(Stage::Fill, range.end, range.end);
    Ok(store.flush()?)
}
