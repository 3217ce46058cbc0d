//! What a file or device looks like to somebody without a secret.

use crate::disk::{self, Disk, Part};
use crate::error::{Error, Misuse, about};
use crate::medium;
use crate::progress::Progress;
use crate::searching::Searched;
use crate::under_way::{Found, not_the_same};
use crate::unlock::{Family, UnlockArguments, VolumeFormat, begins_as_bitlocker};
use keyway_convert::ConversionKind;
use keyway_engine::Access;
use keyway_fs::{Container, Superblock};
use keyway_store::{Caching, InUse, Store};
pub use keyway_volume::Inspection;
pub use keyway_volume::bitlocker::Locked;
use keyway_volume::bitlocker::{self, BitLockerError, Warning};
use keyway_volume::{HeaderChoice, NotAVolume, inspect};
use std::path::Path;

/// What a file or device looks like without a secret.
#[non_exhaustive]
pub enum What {
    /// A BitLocker volume, and all that its metadata says: it lies open but for the keys.
    BitLocker(Box<Locked>),
    /// Nothing but noise, as a VeraCrypt or TrueCrypt volume is; or why it is plainly none.
    Noise(Inspection),
    /// A conversion of it has not come to its end.
    HalfConverted(ConversionKind),
    /// A disk with partitions, none of which was named.
    Disk(Disk),
}

/// What plainly lies on a medium: what its first bytes tell everybody.
pub(crate) enum Lying {
    /// Another program's container.
    Container(Container),
    /// A BitLocker volume.
    BitLocker,
    /// A file system.
    FileSystem(Superblock),
    /// Nothing but noise.
    Noise,
    /// None of these, and why it is no volume.
    Other(NotAVolume),
}

impl Lying {
    /// Looks at a medium.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn on(store: &dyn Store) -> Result<Self, Error> {
        if let Some(container) = Container::on(store)? {
            return Ok(Self::Container(container));
        }
        if bitlocker::is_volume(store)? {
            return Ok(Self::BitLocker);
        }
        if let Some(found) = Superblock::read(store)? {
            return Ok(Self::FileSystem(found));
        }
        Ok(inspect(store)?.not_a_volume.map_or(Self::Noise, Self::Other))
    }
}

/// Looks at a file or device. Nothing is written.
///
/// # Errors
/// It can't be read; or its format was named, and it is damaged as such a volume.
pub fn detect(path: &Path, arguments: &UnlockArguments, progress: &dyn Progress) -> Result<What, Error> {
    medium::must_exist(path)?;
    if let Some(disk) = disk::listed(path, arguments)? {
        return Ok(What::Disk(disk));
    }
    let store = look(path, arguments)?;
    if let Some(kind) = half_converted(&store).map_err(|e| not_the_same(path, e))? {
        return Ok(What::HalfConverted(kind));
    }
    match family_of(path, &store, arguments)? {
        Family::BitLocker => bitlocker(path, &store, arguments, progress).map(Box::new).map(What::BitLocker),
        Family::VeraCrypt => {
            let mut seen = inspect(&store).map_err(about(path))?;
            seen.has_metadata = arguments.finds_out() && bitlocker::has_metadata(&store);
            Ok(What::Noise(seen))
        }
    }
}

/// Which formats' code is to look at a volume: the one that was named, else what its first sector says.
///
/// # Errors
/// It can't be read, or is half converted: nothing but that conversion may touch it.
pub fn family(path: &Path, arguments: &UnlockArguments) -> Result<Family, Error> {
    let store = look(path, arguments)?;
    family_on(path, &store, arguments).map_err(|error| match error {
        Error::HalfConverted { path, conversion } if store.is_partition() => {
            Error::PartitionHalfConverted { path, conversion }
        }
        error => error,
    })
}

/// The same of a medium that is open.
pub(crate) fn family_on(
    path: &Path,
    store: &dyn Store,
    arguments: &UnlockArguments,
) -> Result<Family, Error> {
    must_not_be_half_converted(path, store)?;
    family_of(path, store, arguments)
}

/// Refuses what is half converted: all of it can still be had, and nothing but the conversion's end gives it back.
pub(crate) fn must_not_be_half_converted(path: &Path, store: &dyn Store) -> Result<(), Error> {
    let refused = |conversion| Err(Error::HalfConverted { path: path.to_owned(), conversion });
    half_converted(store).map_err(|e| not_the_same(path, e).at(path))?.map_or(Ok(()), refused)
}

/// Refuses what is plainly no VeraCrypt or TrueCrypt volume before anybody is asked for its secret. Who has said what it is
/// looked for as is believed.
pub(crate) fn must_be_noise(path: &Path, arguments: &UnlockArguments) -> Result<(), Error> {
    let named = arguments.format.is_some() || arguments.header != HeaderChoice::Auto;
    if named || arguments.system {
        return Ok(());
    }
    let of_a_drive = arguments.system_drive(path)?.is_some();
    let store = look(path, arguments)?;
    let reason = inspect(&store).ok().and_then(|seen| seen.not_a_volume);
    let Some(reason) = reason else { return Ok(()) };
    let is_plain = matches!(reason, NotAVolume::FileSystem(_));
    // A system's header lies elsewhere; but its encryption begins with what is in front.
    if of_a_drive && !is_plain {
        return Ok(());
    }
    let error = store.not_a_volume(path, reason);
    // Whoever would open it has its files already.
    Err(match InUse::find(path).mounted_at().filter(|_| is_plain) {
        Some(at) => Error::PlainMounted { error: Box::new(error), at: at.to_owned() },
        None => error,
    })
}

/// Why something that is in use is not what it is taken for, where it is mounted and was never encrypted.
pub(crate) fn plain_and_mounted(path: &Path, arguments: &UnlockArguments) -> Option<Error> {
    must_be_noise(path, arguments).err().filter(|error| matches!(error, Error::PlainMounted { .. }))
}

/// Refuses, before anybody is asked for a secret, to change a BitLocker volume whose first sector is lost: nobody but who
/// writes a new one writes to it.
pub(crate) fn must_have_first_sector(
    path: &Path,
    store: &dyn Store,
    arguments: &UnlockArguments,
) -> Result<(), Error> {
    // Else it is not taken for one.
    let lost = arguments.searches() && !begins_as_bitlocker(store)? && bitlocker::has_metadata(store);
    if lost { Err(about(path)(BitLockerError::FirstSectorLost)) } else { Ok(()) }
}

/// Whether a BitLocker volume's metadata shows at once in something that looks like noise from its beginning: it may be one whose
/// first sector is noise, and the search for another format's key takes long.
pub(crate) fn seems_bitlocker(path: &Path, arguments: &UnlockArguments) -> bool {
    let look = || look(path, arguments).ok();
    arguments.finds_out() && look().is_some_and(|store| bitlocker::has_metadata_as_made(&store))
}

/// The conversion that is under way on a medium and has taken its beginning, if there is one.
///
/// # Errors
/// The medium failed.
pub fn half_converted(store: &dyn Store) -> Result<Option<ConversionKind>, Error> {
    Ok(Found::half_converted(store)?.map(|found| found.kind()))
}

/// The volume's bytes, to look at.
fn look(path: &Path, arguments: &UnlockArguments) -> Result<Part, Error> {
    disk::open(path, arguments, Access::ReadOnly, Caching::Buffered)
}

fn family_of(path: &Path, store: &dyn Store, arguments: &UnlockArguments) -> Result<Family, Error> {
    match arguments.format {
        // The headers of an encrypted system, and the copies at the end, may be in order all the same.
        Some(format)
            if format.family() == Family::VeraCrypt
                && !arguments.system
                && arguments.header != HeaderChoice::Backup
                && begins_as_bitlocker(store)? =>
        {
            Err(Misuse::IsBitLocker(path.to_owned()).into())
        }
        Some(format) => Ok(format.family()),
        None if !arguments.system && begins_as_bitlocker(store)? => Ok(Family::BitLocker),
        // Who knows better names the format: over a system that VeraCrypt encrypted a BitLocker volume may have been made.
        None if arguments.system && bitlocker::look(store).is_ok() => {
            Err(Misuse::NoSystem(path.to_owned()).into())
        }
        // A copy of a header may be in order behind what was written over the beginning.
        None if arguments.system || arguments.header != HeaderChoice::Auto => Ok(Family::VeraCrypt),
        None => match Container::on(store)? {
            Some(container) => Err(Error::Container { path: path.to_owned(), container }),
            None if bitlocker::first_sector_is_lost(store) => {
                Err(about(path)(BitLockerError::FirstSectorLost))
            }
            None => Ok(Family::VeraCrypt),
        },
    }
}

/// That there is less of a BitLocker volume than there was.
pub(crate) fn cut_off(warnings: &[Warning]) -> Option<String> {
    let cut_off = warnings.iter().find(|warning| matches!(warning, Warning::CutOff { .. }));
    cut_off.map(Warning::to_string)
}

/// The bytes that a BitLocker volume had and those that there are, where these are fewer.
pub(crate) fn lengths_of_cut(warnings: &[Warning]) -> Option<(u64, u64)> {
    warnings.iter().find_map(|warning| match warning {
        Warning::CutOff { expected, present } => Some((*expected, *present)),
        _ => None,
    })
}

fn bitlocker(
    path: &Path,
    store: &dyn Store,
    arguments: &UnlockArguments,
    progress: &dyn Progress,
) -> Result<Locked, Error> {
    arguments.look_at_bitlocker(&Searched::new(store, progress)).map_err(about(path))
}

/// What a BitLocker volume says without a secret; also where a conversion's marker stands in the place of its first
/// sector.
pub(crate) fn look_at_bitlocker(
    path: &Path,
    arguments: &UnlockArguments,
    progress: &dyn Progress,
) -> Result<Locked, Error> {
    let store = look(path, arguments)?;
    match keyway_convert::bitlocker::look(&store) {
        Err(_) if arguments.format == Some(VolumeFormat::BitLocker) => {
            bitlocker(path, &store, arguments, progress)
        }
        seen => seen.map_err(about(path)),
    }
}
