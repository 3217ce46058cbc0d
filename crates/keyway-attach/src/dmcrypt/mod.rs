//! Hands a volume to the kernel: its layout as device-mapper tables, its keys to dm-crypt.
//!
//! This is the one attachment that sees a key, for as long as it takes to load the tables: it is given a
//! [`HandOver`] instead of a device, puts each key into its thread's own keyring, loads the table that names
//! it there, and takes it out again. No key is ever in a table's text, so `dmsetup table --showkeys` has
//! nothing to show. dm-crypt keeps its copy in the kernel until the mapping is removed.
//!
//! The mappings are called `keyway-ID`, and those under the uppermost `keyway-ID-1`, `-2`; `ID` is the
//! session's. Whoever finds a dead session's folder knows what to take away by that.

mod table;

pub use crate::{DmCryptError, Unmappable};

use crate::mount::NO_RIGHTS;
use crate::retry::retry;
use crate::{AttachError, User};
use keyway_engine::{Access, HandOver};
use keyway_sys::{DeviceMapper, DmDevice, KernelKey};
use rustix::fs::{FileType, major, minor};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use table::{Level, Options};

/// What a session's state calls this attachment.
pub(crate) const ATTACHMENT: &str = "dm-crypt";
/// What every mapping's name begins with.
const PREFIX: &str = "keyway-";
/// How long udev, which looks at every device that changes, may keep a mapping that shall go.
const PATIENCE: Duration = Duration::from_secs(3);
/// dm-crypt with keys from the keyring (Linux 4.10).
const WITH_KEYRING: [u32; 3] = [1, 15, 0];
/// dm-crypt with `no_read_workqueue` and `no_write_workqueue` (Linux 5.9).
const WITHOUT_WORKQUEUES: [u32; 3] = [1, 22, 0];

/// Whether this kernel has a device-mapper with dm-crypt, and this user may use it; or what is missing.
/// Loads the kernel's modules where it may.
///
/// # Errors
/// [`DmCryptError::Missing`].
pub fn available() -> Result<(), DmCryptError> {
    let mapper = open()?;
    crypt_version(&mapper).map(drop)
}

fn open() -> Result<DeviceMapper, DmCryptError> {
    DeviceMapper::open().map_err(|e| {
        DmCryptError::Missing(match e.kind() {
            io::ErrorKind::NotFound => format!(
                "{} is missing: the kernel has no device-mapper, or has not loaded it (modprobe dm-crypt)",
                keyway_sys::DM_CONTROL
            ),
            io::ErrorKind::PermissionDenied => refused(),
            _ => format!("{}: {e}", keyway_sys::DM_CONTROL),
        })
    })
}

fn refused() -> String {
    let why = if keyway_sys::is_confined_root() { NO_RIGHTS } else { "only root may make mappings" };
    why.to_owned()
}

fn crypt_version(mapper: &DeviceMapper) -> Result<[u32; 3], DmCryptError> {
    let missing = |why: String| Err(DmCryptError::Missing(why));
    match mapper.target_version("crypt") {
        Ok(version) if version >= WITH_KEYRING => Ok(version),
        Ok([a, b, c]) => missing(format!("dm-crypt {a}.{b}.{c} takes no keys from the keyring")),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => missing(refused()),
        Err(e) => missing(format!("the kernel has no dm-crypt, or could not load it: {e}")),
    }
}

/// A volume that the kernel decrypts.
pub struct Mapping {
    name: String,
    device: PathBuf,
}

impl Mapping {
    /// Loads the tables for the volume whose open `file` or device is at `path`; `id` makes their names. A
    /// file gets a loop device with direct I/O, which goes away with the mapping; the loop device keeps
    /// `file` open, with its lock. The keys are wiped here in any case.
    ///
    /// # Errors
    /// [`AttachError::DmCrypt`], [`AttachError::Busy`] where somebody uses the medium; nothing is left then.
    pub fn new(volume: HandOver, file: &File, path: &Path, id: &str) -> Result<Self, AttachError> {
        let levels = table::levels(&volume).map_err(DmCryptError::from)?;
        let mapper = open()?;
        let version = crypt_version(&mapper)?;
        let read_only = volume.access == Access::ReadOnly;
        let options = Options { discards: volume.discards, no_workqueues: version >= WITHOUT_WORKQUEUES };
        // Held until the mapping holds it.
        let (medium, _held) = medium(file, path, volume.layout.sector_bytes(), read_only)?;
        let name = format!("{PREFIX}{id}");
        let loaded = load(&mapper, &levels, &name, medium, options, read_only, path);
        // The keys' last bytes here.
        drop((levels, volume));
        match loaded {
            Ok(device) => {
                let device = PathBuf::from(format!("/dev/dm-{}", device.minor));
                Ok(Self { name, device })
            }
            Err(e) => {
                // Its reason is the one to tell.
                let _ = remove_all(&mapper, &name);
                Err(e)
            }
        }
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// The mapping's name, as dmsetup(8) shows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts everything written on the medium.
    pub fn flush(&self) -> io::Result<()> {
        File::open(&self.device)?.sync_all()
    }

    /// Flushes and removes the mapping, and with it the kernel's copy of the keys. What could not be
    /// flushed is told, with the mapping removed all the same.
    ///
    /// # Errors
    /// [`AttachError::Busy`] while somebody uses it; nothing changes then.
    pub fn remove(&self) -> Result<(), AttachError> {
        refuse_if_used(&self.device)?;
        let flushed = self.flush().map_err(|e| AttachError::io(format!("flush {}", self.name), e));
        remove_all(&open()?, &self.name)?;
        flushed
    }
}

fn refuse_if_used(device: &Path) -> Result<(), AttachError> {
    let users = User::of_path(device);
    if let Some(first) = keyway_sys::uses(device).unwrap_or_default().first() {
        return Err(AttachError::busy_so(device, first, users));
    }
    if users.is_empty() {
        return Ok(());
    }
    Err(AttachError::busy(device, users))
}

/// Removes what a dead session left, if it left anything.
///
/// # Errors
/// [`AttachError::Busy`] while somebody uses it: the kernel goes on serving it without us.
pub(crate) fn remove_stale(id: &str) -> Result<(), AttachError> {
    // Without device-mapper there is nothing to remove.
    let Ok(mapper) = DeviceMapper::open() else { return Ok(()) };
    let name = format!("{PREFIX}{id}");
    let devices = mapper.devices().map_err(|e| AttachError::io("list mappings", e))?;
    if let Some((_, device)) = devices.iter().find(|(found, _)| *found == name) {
        let device = PathBuf::from(format!("/dev/dm-{}", device.minor));
        refuse_if_used(&device)?;
        // As at an ordered end; the kernel has been writing all the while.
        let _ = File::open(&device).and_then(|open| open.sync_all());
    }
    remove_all(&mapper, &name)
}

/// Removes the mappings of that name, the uppermost first.
fn remove_all(mapper: &DeviceMapper, name: &str) -> Result<(), AttachError> {
    let devices = mapper.devices().map_err(|e| AttachError::io("list mappings", e))?;
    let mut levels: Vec<(usize, &str)> = devices
        .iter()
        .filter_map(|(found, _)| {
            let number = match found.strip_prefix(name)? {
                "" => usize::MAX,
                rest => rest.strip_prefix('-')?.parse().ok()?,
            };
            Some((number, found.as_str()))
        })
        .collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    for (_, level) in levels {
        let is_busy = |e: &io::Error| e.kind() == io::ErrorKind::ResourceBusy;
        retry(PATIENCE, Duration::from_millis(20), is_busy, || mapper.remove(level)).map_err(|e| {
            if is_busy(&e) {
                let what = format!("the mapping {level}");
                return AttachError::Busy { what, path: None, users: Vec::new() };
            }
            AttachError::io(format!("remove the mapping {level}"), e)
        })?;
    }
    Ok(())
}

/// The block device that the tables are about, and what keeps it there until they are.
fn medium(
    file: &File,
    path: &Path,
    sector_bytes: u32,
    read_only: bool,
) -> Result<(DmDevice, Option<File>), AttachError> {
    let doing = || format!("look at {}", path.display());
    let number = |file: &File| {
        let meta = file.metadata().map_err(|e| AttachError::io(doing(), e))?;
        let block = FileType::from_raw_mode(meta.mode()).is_block_device();
        Ok::<_, AttachError>(block.then(|| DmDevice { major: major(meta.rdev()), minor: minor(meta.rdev()) }))
    };
    if let Some(device) = number(file)? {
        return Ok((device, None));
    }
    let doing = || format!("put a loop device on {}", path.display());
    let (_, held) = keyway_sys::loop_attach_until_closed(file, sector_bytes, read_only)
        .map_err(|e| AttachError::io(doing(), e))?;
    let device = number(&held)?;
    let device = device.ok_or_else(|| AttachError::io(doing(), io::Error::other("it is no block device")))?;
    Ok((device, Some(held)))
}

/// Loads the levels, each on the one before; the uppermost's device.
fn load(
    mapper: &DeviceMapper,
    levels: &[Level],
    name: &str,
    medium: DmDevice,
    options: Options,
    read_only: bool,
    path: &Path,
) -> Result<DmDevice, AttachError> {
    let mut below = medium;
    for (n, level) in (1..).zip(levels) {
        let own = if n == levels.len() { name.to_owned() } else { format!("{name}-{n}") };
        let refused = |source: io::Error| match source.kind() {
            io::ErrorKind::ResourceBusy => AttachError::busy(path, Vec::new()),
            _ => DmCryptError::Refused { cipher: level.cipher().to_owned(), source }.into(),
        };
        for kind in level.kinds() {
            // Loads the module, and gives a better reason than the table would.
            mapper.target_version(kind).map_err(|e| {
                AttachError::from(DmCryptError::Missing(format!("there is no target {kind:?}: {e}")))
            })?;
        }
        mapper
            .create(&own, &format!("KEYWAY-{own}"))
            .map_err(|e| AttachError::io(format!("make the mapping {own}"), e))?;
        let description = format!("keyway:{own}");
        let key = match level.cipher() {
            "" => None,
            _ => Some(
                KernelKey::add(&description, &level.key)
                    .map_err(|e| AttachError::io("put a key into the kernel's keyring", e))?,
            ),
        };
        mapper.load(&own, &level.targets(below, &description, options), read_only).map_err(refused)?;
        // dm-crypt has its copy.
        drop(key);
        below = mapper.resume(&own).map_err(refused)?;
    }
    Ok(below)
}
