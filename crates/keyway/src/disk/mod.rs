//! A whole disk: its partitions, what each of them holds, and which one is meant.
//!
//! A volume's path may be a disk's or a disk image's. Whoever opens it sees the one partition that is meant: the only
//! BitLocker one, or the only one that may be a VeraCrypt volume, or the one that was named
//! ([`UnlockArguments::partition`]).

mod error;
mod part;

pub use error::DiskError;
pub(crate) use part::Part;

use crate::error::{Error, about};
use crate::medium;
use crate::under_way::Found;
use crate::unlock::{Family, UnlockArguments, begins_as_bitlocker};
use keyway_engine::Access;
use keyway_fs::Superblock;
use keyway_fs::partitions::{Partition, PartitionTable};
use keyway_store::{Caching, FileStore, Store};
use keyway_sys::{partition_of, partitions};
use keyway_volume::inspect;
use keyway_volume::veracrypt::HeaderLocation;
use part::View;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What is named instead of a partition where the disk as a whole is the volume: somebody wrote a table over its header.
pub(crate) const WHOLE: u32 = 0;

/// A disk with a partition table, as somebody without a secret sees it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Disk {
    /// The kind of table: "mbr" or "gpt".
    pub disk: &'static str,
    /// Its table is a GPT, and no copy of it is in order.
    pub damaged: bool,
    /// Its size.
    pub store_bytes: u64,
    /// Its sector size.
    pub sector_bytes: u32,
    /// Its partitions.
    pub partitions: Vec<DiskPartition>,
    /// There may be an encrypted system's header on it, which opens the disk as a whole.
    #[serde(skip)]
    system: bool,
}

/// One of its partitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DiskPartition {
    /// Its number.
    pub number: u32,
    /// Its first byte on the disk.
    pub offset_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// What the table says that it is for.
    #[serde(rename = "type")]
    pub purpose: String,
    /// The name that it was given.
    pub name: Option<String>,
    /// What lies in it.
    pub holds: Holds,
    /// The file system's name, where it is one.
    pub filesystem: Option<&'static str>,
}

/// What lies in a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Holds {
    /// A BitLocker volume.
    BitLocker,
    /// What a conversion has not come to the end of.
    Converting,
    /// Noise from its first byte on: perhaps a VeraCrypt or TrueCrypt volume.
    Noise,
    /// A file system, unencrypted.
    FileSystem,
    /// Something else, nothing, or what can't be read.
    Other,
}

/// The partition of a disk that is meant.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Meant {
    /// The disk, or its image.
    #[serde(with = "keyway_attach::path_text")]
    pub volume: PathBuf,
    /// The partition.
    #[serde(flatten)]
    pub partition: DiskPartition,
    /// The partition's own device, where the kernel has one.
    #[serde(with = "keyway_attach::path_text")]
    pub device: Option<PathBuf>,
    /// Nobody named it, and nobody can tell it from noise.
    #[serde(skip)]
    pub guessed: bool,
}

impl Disk {
    /// The partition table on a file or device, and what its partitions hold; nothing where there is no table.
    ///
    /// # Errors
    /// It can't be read.
    pub fn on(path: &Path) -> Result<Option<Self>, Error> {
        let store = medium::look(path)?;
        Ok(table(&store)?.map(|table| Self::of(&store, table)))
    }

    fn of(store: &dyn Store, table: PartitionTable) -> Self {
        let partitions = table.partitions.into_iter().map(|partition| DiskPartition::of(store, partition));
        let headers = inspect(store).map(|seen| seen.possible_headers).unwrap_or_default();
        Self {
            disk: table.kind.word(),
            damaged: table.damaged,
            store_bytes: store.size(),
            sector_bytes: store.sector_bytes(),
            partitions: partitions.collect(),
            system: headers.contains(&HeaderLocation::System),
        }
    }

    /// What people call its kind of table.
    pub fn table_name(&self) -> String {
        self.disk.to_uppercase()
    }

    /// Whether a BitLocker volume is looked for, and none shows: the first sector of one may be lost.
    pub fn hides(&self, arguments: &UnlockArguments) -> bool {
        arguments.searches() && self.partitions.iter().all(|one| one.holds != Holds::BitLocker)
    }

    /// The partition that is meant; nothing where the disk as a whole is.
    fn meant(&self, path: &Path, arguments: &UnlockArguments) -> Result<Option<&DiskPartition>, DiskError> {
        if let Some(number) = arguments.partition {
            let named = self.partitions.iter().find(|partition| partition.number == number);
            return named.map(Some).ok_or(DiskError::NoSuchPartition { path: path.to_owned(), number });
        }
        if self.damaged {
            return Err(DiskError::Damaged(path.to_owned()));
        }
        let family = arguments.format.map(|format| format.family());
        let of = |holds: &[Holds], own: Family| {
            let wanted = family.is_none_or(|family| family == own);
            let all = self.partitions.iter().filter(|partition| wanted && holds.contains(&partition.holds));
            all.collect::<Vec<_>>()
        };
        let sure = of(&[Holds::BitLocker, Holds::Converting], Family::BitLocker);
        let perhaps = of(&[Holds::Noise], Family::VeraCrypt);
        match (&*sure, &*perhaps) {
            ([one], _) => Ok(Some(one)),
            ([], _) if self.system && family != Some(Family::BitLocker) => Ok(None),
            ([], [one]) => Ok(Some(one)),
            ([], []) => Err(DiskError::NothingEncrypted(path.to_owned())),
            ([], several) | (several, _) => {
                let numbers = several.iter().map(|partition| partition.number).collect();
                Err(DiskError::Several { path: path.to_owned(), numbers })
            }
        }
    }
}

impl DiskPartition {
    fn of(disk: &dyn Store, partition: Partition) -> Self {
        let Partition { number, start, bytes, purpose, name, .. } = partition;
        let view = View { store: disk, start, bytes };
        // What can't be read is nothing that could be opened.
        let (holds, filesystem) = looked_at(&view).unwrap_or((Holds::Other, None));
        Self { number, offset_bytes: start, size_bytes: bytes, purpose, name, holds, filesystem }
    }
}

fn looked_at(view: &View<'_>) -> Result<(Holds, Option<&'static str>), Error> {
    if Found::half_converted(view)?.is_some() {
        return Ok((Holds::Converting, None));
    }
    if begins_as_bitlocker(view)? {
        return Ok((Holds::BitLocker, None));
    }
    if let Some(found) = Superblock::read(view)? {
        return Ok((Holds::FileSystem, Some(found.type_name())));
    }
    let headers = inspect(view)?.possible_headers;
    // Where a volume has one header, noise follows.
    let noise = [HeaderLocation::Primary, HeaderLocation::Hidden].iter().all(|place| headers.contains(place));
    Ok((if noise { Holds::Noise } else { Holds::Other }, None))
}

/// The partition table of what is no volume as a whole.
fn table(store: &dyn Store) -> Result<Option<PartitionTable>, Error> {
    let Some(table) = PartitionTable::read(store)? else { return Ok(None) };
    let whole = begins_as_bitlocker(store)? || Found::half_converted(store)?.is_some();
    Ok((!whole).then_some(table))
}

fn meant_on(
    store: &FileStore,
    path: &Path,
    arguments: &UnlockArguments,
) -> Result<Option<DiskPartition>, Error> {
    // An encrypted system's header lies before all partitions.
    if arguments.system || arguments.partition == Some(WHOLE) {
        return Ok(None);
    }
    match (table(store)?, arguments.partition) {
        (Some(table), Some(number)) if !table.damaged => {
            let named = table.partitions.into_iter().find(|partition| partition.number == number);
            let named = named.ok_or(DiskError::NoSuchPartition { path: path.to_owned(), number })?;
            Ok(Some(DiskPartition::of(store, named)))
        }
        (Some(table), _) => Ok(Disk::of(store, table).meant(path, arguments)?.cloned()),
        (None, Some(_)) => Err(DiskError::NoTable(path.to_owned()).into()),
        (None, None) => Ok(None),
    }
}

/// Which partition of a disk a volume is; nothing where it is no disk, or is taken as a whole. Found out before anybody is
/// asked for a secret.
///
/// # Errors
/// Several may be meant, or none; there is no partition of that number; or the disk can't be read.
pub fn meant(path: &Path, arguments: &UnlockArguments) -> Result<Option<Meant>, Error> {
    let Some(partition) = meant_on(&medium::look(path)?, path, arguments)? else { return Ok(None) };
    let own = |device: &PathBuf| {
        partition_of(device).is_ok_and(|own| own.is_some_and(|own| own.start == partition.offset_bytes))
    };
    let device = partitions(path).into_iter().find(own);
    let guessed = arguments.partition.is_none() && partition.holds == Holds::Noise;
    Ok(Some(Meant { volume: path.to_owned(), partition, device, guessed }))
}

/// The disk, where it is one and nobody has named a partition of it.
///
/// # Errors
/// It can't be read.
pub fn listed(path: &Path, arguments: &UnlockArguments) -> Result<Option<Disk>, Error> {
    if arguments.system || arguments.partition.is_some() {
        return Ok(None);
    }
    let whole = |disk: &Disk| matches!(disk.meant(path, arguments), Ok(None));
    Ok(Disk::on(path)?.filter(|disk| !whole(disk)))
}

/// Refuses a disk where the whole of a file or device is taken.
///
/// # Errors
/// It is a disk with partitions.
pub fn refuse(path: &Path) -> Result<(), Error> {
    match meant(path, &UnlockArguments::new()) {
        Ok(Some(_)) | Err(Error::Disk(_)) => Err(DiskError::Whole(path.to_owned()).into()),
        // Who wants to work with it says why it can't be read.
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Opens a volume's bytes: those of the file or device, or of the partition on it that is meant.
///
/// # Errors
/// As [`meant`], and as [`medium::open`].
pub(crate) fn open(
    path: &Path,
    arguments: &UnlockArguments,
    access: Access,
    caching: Caching,
) -> Result<Part, Error> {
    let store = medium::open(path, access, caching)?;
    let partition = meant_on(&store, path, arguments).map_err(|error| match error {
        error @ Error::Disk(_) => error,
        error => about(path)(error),
    })?;
    Ok(match partition {
        Some(partition) => Part::new(store, partition.offset_bytes, partition.size_bytes),
        None => Part::whole(store),
    })
}
