//! What is encrypted on this machine's drives, and with what: by what each device says to whoever may read it, by the
//! kernel's own mappings, and by the drives that encrypt by themselves. Nothing is written, and no secret is asked for.

use crate::detect::Lying;
use crate::disk::{self, Disk};
use crate::drive::{self, DriveContents, LockState};
use crate::error::Error;
use crate::told::table;
use crate::under_way::Found;
use crate::unlock::UnlockArguments;
use keyway_engine::Access;
use keyway_fs::Container;
use keyway_store::{Caching, FileStore, OpenMode, Store, size};
use keyway_volume::bitlocker::{self, Method};
use serde::Serialize;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

keyway_error::enum_table! {
    /// With what something is encrypted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum EncryptedWith {
        /// LUKS, version 1.
        Luks1("luks1"),
        /// LUKS, version 2.
        Luks2("luks2"),
        /// BitLocker.
        #[serde(rename = "bitlocker")]
        BitLocker("bitlocker"),
        /// Some of it is: a conversion of Keyway's has not come to its end.
        HalfConverted("half-converted"),
        /// Nothing but noise: VeraCrypt, dm-crypt without a header, or what was filled with random bytes.
        Noise("noise"),
        /// A mapping of the kernel's that is open.
        DmCrypt("dm-crypt"),
        /// The drive itself.
        Drive("drive"),
        /// Nothing, as far as is seen.
        Nothing("nothing"),
        /// This user may not read it.
        Unread("unread"),
    }
    /// Its word.
    pub name: &'static str,
}

/// A device, and with what it is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EncryptedDevice {
    /// The disk, partition, mapping or file.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// Its bytes.
    pub size_bytes: Option<u64>,
    /// With what.
    pub with: EncryptedWith,
    /// The same in words, and what else is known.
    pub words: String,
    /// Of a BitLocker volume the cipher, where its metadata says so.
    #[serde(skip)]
    pub method: Option<Method>,
}

impl EncryptedDevice {
    fn new(device: &Path, with: EncryptedWith, words: impl Into<String>) -> Self {
        Self { device: device.to_owned(), size_bytes: None, with, words: words.into(), method: None }
    }

    /// For a table: the device, its size, and with what.
    fn cells(&self) -> Vec<String> {
        let bytes = self.size_bytes.map(size::words).unwrap_or_default();
        vec![crate::shown::shown(&self.device), bytes, crate::shown::line(&self.words)]
    }
}

/// A table, device by device.
pub fn in_words(found: &[EncryptedDevice]) -> String {
    match found {
        [] => "There is no drive here.\n".to_owned(),
        found => {
            table(&["device", "size", "encrypted"], usize::MAX, found.iter().map(EncryptedDevice::cells))
        }
    }
}

/// What is encrypted on this machine: disks, their partitions and the kernel's mappings. Of each drive what it does itself, too,
/// where it says so to this user.
pub fn on_this_machine() -> Vec<EncryptedDevice> {
    let mut names: Vec<String> = names(Path::new("/sys/block"));
    // What is in memory, and what shows another file, is no drive of this machine's.
    let others = ["loop", "ram", "zram", "nbd", "ublk", "fd", "sr"];
    names.retain(|name| !others.iter().any(|other| is_numbered(name, other)));
    names.sort();
    names.iter().flat_map(|name| of_disk(&Path::new("/dev").join(name), name)).collect()
}

/// What is encrypted on that drive, or in that file.
///
/// # Errors
/// Nothing is there, or it can't be read.
pub fn on(path: &Path) -> Result<Vec<EncryptedDevice>, Error> {
    crate::medium::must_be_a_drive(path)?;
    let whole = path.canonicalize().map_err(|e| Error::system("look at", path, e))?;
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found = if drive::is_drive(path) && !whole.starts_with("/dev") {
        of_drive(path).into_iter().collect()
    } else {
        of_disk(path, &name)
    };
    match found.iter().find(|found| found.with == EncryptedWith::Unread) {
        Some(_) if found.len() == 1 => crate::medium::look(path).map(|_| found),
        _ => Ok(found),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// A name, and a number behind it.
fn is_numbered(name: &str, begins: &str) -> bool {
    let number = name.strip_prefix(begins);
    number.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The disk itself, its partitions, and what it does by itself.
fn of_disk(path: &Path, name: &str) -> Vec<EncryptedDevice> {
    let folder = Path::new("/sys/block").join(name);
    if folder.join("dm").exists() {
        // What else a mapping holds may be plain on something that is encrypted.
        let within = || Some(looked_at(path)).filter(|found| found.with != EncryptedWith::Nothing);
        return mapping(path, &folder).or_else(within).into_iter().collect();
    }
    let mut parts: Vec<PathBuf> = names(&folder)
        .into_iter()
        .filter(|part| folder.join(part).join("partition").exists())
        .map(|part| Path::new("/dev").join(part))
        .collect();
    parts.sort();
    let mut found: Vec<_> = of_drive(path).into_iter().collect();
    if parts.is_empty() {
        let within = in_partitions(path);
        if within.is_empty() { found.push(looked_at(path)) } else { found.extend(within) }
    }
    found.extend(parts.iter().map(|part| looked_at(part)));
    found
}

/// What the partitions of a disk hold for which the kernel has no devices: of an image, as a rule.
fn in_partitions(path: &Path) -> Vec<EncryptedDevice> {
    let partitions = Disk::on(path).ok().flatten().map(|disk| disk.partitions).unwrap_or_default();
    let look = |number, bytes| {
        let arguments = UnlockArguments { partition: Some(number), ..UnlockArguments::new() };
        let unread = |_| EncryptedDevice::new(path, EncryptedWith::Unread, "it can't be read");
        let found = disk::open(path, &arguments, Access::ReadOnly, Caching::Buffered)
            .and_then(|part| on_store(path, &part))
            .unwrap_or_else(unread);
        let words = format!("partition {number}: {}", found.words);
        EncryptedDevice { size_bytes: Some(bytes), words, ..found }
    };
    partitions.into_iter().map(|one| look(one.number, one.size_bytes)).collect()
}

/// Of the device mapper's devices, what dm-crypt has open.
fn mapping(path: &Path, folder: &Path) -> Option<EncryptedDevice> {
    let uuid = read_to_string(folder.join("dm/uuid")).ok()?;
    let kind = uuid.trim().strip_prefix("CRYPT-");
    let kind = kind.map(|kind| kind.split('-').next().unwrap_or_default().to_owned());
    let kind = kind.or_else(|| uuid.starts_with("KEYWAY-").then(|| "Keyway".to_owned()))?;
    let name = read_to_string(folder.join("dm/name")).unwrap_or_default();
    let under = names(&folder.join("slaves")).join(", ");
    let words = format!("open: dm-crypt decrypts {under} as {} ({kind})", name.trim());
    let size_bytes =
        read_to_string(folder.join("size")).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let found = EncryptedDevice::new(path, EncryptedWith::DmCrypt, words);
    Some(EncryptedDevice { size_bytes: size_bytes.map(|sectors| sectors.saturating_mul(512)), ..found })
}

/// What a drive does by itself, where it encrypts and says so to this user.
fn of_drive(path: &Path) -> Option<EncryptedDevice> {
    let drive = drive::Drive::open(path).ok()?;
    let method = drive.encryption_method();
    let words = match (drive.state()?, method) {
        (LockState::Factory, Some(_)) => {
            "the drive encrypts by itself, and nobody has locked it (factory state)"
        }
        (LockState::Unlocked, Some(_)) => "the drive encrypts by itself (Opal or its like), and is unlocked",
        (LockState::Locked, Some(_)) => "the drive encrypts by itself (Opal or its like), and is locked",
        (LockState::Locked, None) => "the drive locks without encrypting, and is locked",
        (_, None) => return None,
    };
    Some(EncryptedDevice::new(path, EncryptedWith::Drive, words))
}

/// What the first bytes say.
fn looked_at(path: &Path) -> EncryptedDevice {
    let store = match FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered) {
        Ok(store) => store,
        Err(_) => return EncryptedDevice::new(path, EncryptedWith::Unread, "it can't be read here"),
    };
    let unread =
        |_| EncryptedDevice::new(path, EncryptedWith::Unread, "it can't be read: locked, asleep or damaged");
    let found = on_store(path, &store).unwrap_or_else(unread);
    EncryptedDevice { size_bytes: Some(store.size()), ..found }
}

fn on_store(path: &Path, store: &dyn Store) -> Result<EncryptedDevice, Error> {
    use EncryptedWith as With;
    let contents = |otherwise: &str| {
        DriveContents::on(store).map_or_else(|| otherwise.to_owned(), |contents| contents.to_string())
    };
    if let Ok(Some(half)) = Found::half_converted(store) {
        let now = half
            .resumable(path)
            .map_or(", just now".to_owned(), |resume| format!("; `{resume}` goes on with it"));
        let words = format!("half converted: its {} has not come to its end{now}", half.kind().name());
        return Ok(EncryptedDevice::new(path, With::HalfConverted, words));
    }
    let plain = |words: String| (With::Nothing, words);
    let (with, words) = match Lying::on(store).map_err(|e| e.at(path))? {
        Lying::Container(Container::Luks1) => {
            (With::Luks1, "LUKS1, encrypted by software (dm-crypt)".to_owned())
        }
        Lying::Container(Container::Luks2) => (With::Luks2, contents("LUKS2")),
        Lying::Container(other) => plain(format!("not encrypted itself: {}", other.name())),
        Lying::BitLocker => (With::BitLocker, contents("BitLocker")),
        Lying::FileSystem(found) => plain(format!("not encrypted: {}", found.type_name())),
        Lying::Noise => {
            let words = "noise: perhaps VeraCrypt or dm-crypt without a header, perhaps random bytes; only a secret tells";
            (With::Noise, words.to_owned())
        }
        Lying::Other(_) => plain("not encrypted, as far as is seen: no file system that is known".to_owned()),
    };
    let seen = if with == With::BitLocker { bitlocker::look(store).ok() } else { None };
    let method = seen.map(|seen| seen.info.cipher);
    Ok(EncryptedDevice { method, ..EncryptedDevice::new(path, with, words) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_store::MemStore;

    fn with(start: &[u8]) -> EncryptedDevice {
        let store = MemStore::new(4 << 20);
        store.write_at(start, 0).expect("written");
        on_store(Path::new("/dev/sda1"), &store).expect("looked at")
    }

    #[test]
    fn what_says_so_is_told_and_noise_is_a_guess() {
        let header = |version: u8| {
            let mut bytes = vec![0; 4096];
            bytes[..8].copy_from_slice(&[b'L', b'U', b'K', b'S', 0xBA, 0xBE, 0, version]);
            bytes
        };
        assert_eq!(with(&header(2)).with, EncryptedWith::Luks2);
        assert_eq!(with(&header(1)).with, EncryptedWith::Luks1);
        assert_eq!(with(&[0; 4096]).with, EncryptedWith::Nothing);
        let mut rng = keyway_store::SplitMix64::new(1);
        let noise: Vec<u8> = (0..131_072).map(|_| rng.below(256) as u8).collect();
        let found = with(&noise);
        assert_eq!(found.with, EncryptedWith::Noise);
        assert!(found.words.contains("perhaps VeraCrypt"), "{}", found.words);
    }

    #[test]
    fn partitions_of_an_image_are_told_one_by_one() {
        let image = tempfile::NamedTempFile::new().expect("temp");
        let mut disk = vec![0u8; 4 << 20];
        // An MBR with a partition of LUKS at 1 MiB and one of nothing at 2 MiB, of 1 MiB each.
        for (entry, kind, first) in [(446, 0x83, 2048u32), (462, 0x07, 4096)] {
            disk[entry + 4] = kind;
            disk[entry + 8..entry + 12].copy_from_slice(&first.to_le_bytes());
            disk[entry + 12..entry + 16].copy_from_slice(&2048u32.to_le_bytes());
        }
        disk[510..512].copy_from_slice(&[0x55, 0xaa]);
        disk[1 << 20..(1 << 20) + 8].copy_from_slice(&[b'L', b'U', b'K', b'S', 0xBA, 0xBE, 0, 1]);
        std::fs::write(image.path(), disk).expect("written");
        let found = on(image.path()).expect("looked at");
        let with: Vec<_> = found.iter().map(|found| (found.with, found.size_bytes)).collect();
        assert_eq!(with, [(EncryptedWith::Luks1, Some(1 << 20)), (EncryptedWith::Nothing, Some(1 << 20))]);
        assert!(found[0].words.starts_with("partition 1: LUKS1"), "{found:?}");
    }

    #[test]
    fn what_is_in_memory_is_no_drive() {
        for (name, is) in [("loop0", true), ("loop", false), ("sr0", true), ("sram", false)] {
            assert_eq!(is_numbered(name, "loop") || is_numbered(name, "sr"), is, "{name}");
        }
        // Whatever this machine has, looking at it ends.
        assert!(on_this_machine().iter().all(|found| !found.words.is_empty()));
        assert!(on(Path::new("/nothing/here")).is_err());
        for none in ["/tmp", "/dev/null"] {
            assert!(matches!(on(Path::new(none)), Err(Error::NoMedium { .. })), "{none}");
        }
    }
}
