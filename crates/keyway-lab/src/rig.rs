//! The rig: a drive (modelled, or a file or device), and the volumes that are compared on it.
//!
//! All volumes of a comparison lie on the same bytes of the same drive, one over the other: where on
//! the drive something lies can then not be what makes the difference. A volume is known by its
//! layout, which stays in memory; that another volume's headers overwrite its own does not matter.

use crate::calibration;
use crate::error::LabError;
use crate::hardware::Hardware;
use crate::load::{PIECE, Rng, fill, write_noise};
use crate::sectors::{Stored, Subject, Window};
use crate::sysfs::{device_folder, text};
use crate::target::Target;
use crate::test_volume::{self, DATA_START};
use crate::timed::{self, EncryptInPlace, TimedWork};
use crate::workload::Data;
use keyway_cipher::SectorCipher;
use keyway_engine::{Access, Device, Layout, LayoutQueue, Mapping};
use keyway_model::{Clock, DriveModel, ModelDrive, SparseStore};
use keyway_store::{AlignedBuf, Caching, FileStore, OpenMode, Queue, Store};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde::Serialize;
use std::fs::{Metadata, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Beside the span: headers and metadata of the volumes, and what alignment takes.
pub const MARGIN: u64 = 16 << 20;

/// A modelled drive's bytes are kept once for each so many: more memory than this is not needed to
/// see what a cipher costs, and nobody reads the bytes.
pub(crate) const MODEL_WINDOW: u64 = 1 << 30;

/// A drive to measure on, in the words of `--drive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drive {
    /// `model:NAME`.
    Model(String),
    /// A folder, in which a file is made and removed; or a file or block device.
    Path(#[serde(with = "keyway_attach::path_text")] PathBuf),
}

impl std::fmt::Display for Drive {
    /// As it is written on a command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model(name) => write!(f, "model:{name}"),
            Self::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<&str> for Drive {
    fn from(words: &str) -> Self {
        match words.strip_prefix("model:") {
            Some(name) => Self::Model(name.to_owned()),
            None => Self::Path(words.into()),
        }
    }
}

impl From<&Path> for Drive {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

/// A drive that is set up.
pub struct Rig {
    store: Arc<dyn Store>,
    model: Option<ModelDrive>,
    hardware: Option<Hardware>,
    /// What the modelled drive keeps.
    bytes: Option<Arc<SparseStore>>,
    file: Option<PathBuf>,
    /// Removed at the end.
    scratch: Option<PathBuf>,
    title: String,
    /// Whether requests go past the page cache.
    direct: bool,
    /// Where volumes are made of a drive that is only read: what their headers say of the rest holds for its bytes as well.
    headers: Option<Arc<dyn Store>>,
}

/// A volume on the rig.
#[derive(Clone)]
pub struct Volume {
    /// Where its bytes are.
    pub layout: Arc<Layout>,
    /// The part that is measured: one segment, as large as can be had.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
    /// Decryption by all cores together in MB/s; `None` where nothing is encrypted.
    pub ceiling_mb_s: Option<f64>,
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(path) = &self.scratch {
            // It was ours and is of no use to anybody; what can't be removed is told by its name.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Rig {
    /// Sets up a drive with at least `span` bytes for a volume's data. `destroy` says that a file or
    /// device may be overwritten. Everything that will be touched is written once before.
    ///
    /// # Errors
    /// There is no such model; the path is in use, too small, read-only, full, or holds data that
    /// nobody said may be overwritten; it was stopped.
    pub fn open(drive: &Drive, span: u64, destroy: bool, stop: &AtomicBool) -> Result<Self, LabError> {
        match drive {
            Drive::Model(name) => Self::model(name, span),
            Drive::Path(path) => Self::at(path, span, destroy, stop),
        }
    }

    /// Looks whether a drive can be set up so, before anybody is told of it or asked about it. Nothing is touched; what is to be
    /// `only_read` others may use meanwhile.
    ///
    /// # Errors
    /// As [`Rig::open`], but for what shows when it is written.
    pub(crate) fn must_suit(
        drive: &Drive,
        span: u64,
        destroy: bool,
        only_read: bool,
    ) -> Result<(), LabError> {
        match drive {
            Drive::Model(name) => Self::model_of(name, span).map(drop),
            Drive::Path(path) if only_read => Self::to_read(path, span).map(drop),
            Drive::Path(path) => match Self::is_folder(path, destroy)? {
                true => Ok(()),
                false => {
                    let store = FileStore::open(path, OpenMode::ReadOnly, Caching::Buffered);
                    must_hold(path, store.map_err(|e| refusal(path, e))?.size(), span + MARGIN)
                }
            },
        }
    }

    fn model_of(name: &str, span: u64) -> Result<DriveModel, LabError> {
        let model = calibration::model(name).map_err(|e| {
            let LabError::NoSuchModel(_) = e else { return e };
            let all: Vec<String> =
                DriveModel::shipped().unwrap_or_default().into_iter().map(|m| m.name).collect();
            LabError::NoModel(name.to_owned(), all.join(", "))
        })?;
        if model.capacity_bytes < span + MARGIN {
            let what = model.title.clone();
            return Err(LabError::TooSmall { what, present: model.capacity_bytes, needed: span + MARGIN });
        }
        Ok(model)
    }

    /// Whether a path is a folder, in which a file is made; else it is a file or device that may be overwritten.
    fn is_folder(path: &Path, destroy: bool) -> Result<bool, LabError> {
        let meta = path.metadata().map_err(|e| LabError::io("open", path, e))?;
        let (kind, name) = (meta.file_type(), path.display().to_string());
        if meta.is_dir() {
            return Ok(true);
        }
        if !kind.is_file() && !kind.is_block_device() {
            return Err(LabError::Unsuited(format!(
                "{name} is neither a folder nor a file nor a block device"
            )));
        }
        let uses = keyway_sys::uses(path).map_err(|e| LabError::io("look at", path, e))?;
        if let Some(first) = uses.first() {
            return Err(LabError::InUse { what: name, how: first.to_string() });
        }
        if destroy { Ok(false) } else { Err(LabError::WouldDestroy { what: name }) }
    }

    fn model(name: &str, span: u64) -> Result<Self, LabError> {
        let model = Self::model_of(name, span)?;
        let window = MODEL_WINDOW.min((span + MARGIN).next_power_of_two());
        let bytes = Arc::new(SparseStore::new(model.capacity_bytes, model.sector_bytes).folded(window));
        // Memory that was never touched costs a page fault at its first write, which is no drive's.
        let mut piece = AlignedBuf::zeroed(PIECE);
        let mut rng = Rng::new(1);
        for at in (0..window).step_by(PIECE) {
            fill(&mut piece, Data::Random, &mut rng);
            bytes.write_at(&piece, at)?;
        }
        let title = format!("model of {}", model.title);
        let hardware = Hardware::of(&model, &bytes);
        let drive = ModelDrive::over(model, Clock::real(), Box::new(bytes.clone()));
        let store: Arc<dyn Store> = Arc::new(drive.clone());
        let bytes = Some(bytes);
        Ok(Self {
            store,
            model: Some(drive),
            hardware,
            bytes,
            file: None,
            scratch: None,
            title,
            direct: true,
            headers: None,
        })
    }

    fn at(path: &Path, span: u64, destroy: bool, stop: &AtomicBool) -> Result<Self, LabError> {
        let needed = span + MARGIN;
        let name = path.display().to_string();
        if Self::is_folder(path, destroy)? {
            let scratch = path.join(format!(".keyway-lab-{}", std::process::id()));
            let rig = Self::scratch(scratch, needed)?;
            rig.prepare(needed, stop)?;
            return Ok(rig);
        }
        let store =
            FileStore::open(path, OpenMode::ReadWrite, Caching::Direct).map_err(|e| refusal(path, e))?;
        must_hold(path, store.size(), needed)?;
        let title = drive_title(path).unwrap_or(name);
        let file = Some(path.to_owned());
        let direct = store.is_direct();
        let rig = Self {
            store: Arc::new(store),
            model: None,
            hardware: None,
            bytes: None,
            file,
            scratch: None,
            title,
            direct,
            headers: None,
        };
        rig.prepare(needed, stop)?;
        Ok(rig)
    }

    /// A file or device of which nothing but what lies there is read, whoever else uses it. What is decrypted of it is
    /// noise.
    ///
    /// # Errors
    /// It is too small, or can't be read.
    pub(crate) fn to_read(path: &Path, span: u64) -> Result<Self, LabError> {
        let store = FileStore::open(path, OpenMode::ReadOnly, Caching::Direct)?;
        let what = path.display().to_string();
        must_hold(path, store.size(), span + MARGIN)?;
        let headers = Arc::new(SparseStore::new(store.size(), store.sector_bytes()));
        Ok(Self {
            direct: store.is_direct(),
            store: Arc::new(store),
            model: None,
            hardware: None,
            bytes: None,
            file: Some(path.to_owned()),
            scratch: None,
            title: drive_title(path).unwrap_or(what),
            headers: Some(headers),
        })
    }

    /// Whether nothing may be written to it.
    pub(crate) fn is_only_read(&self) -> bool {
        self.headers.is_some()
    }

    /// Whether it is a file that was never written in parts, and is only read.
    pub(crate) fn has_holes(&self) -> bool {
        let meta = || self.file.as_ref()?.metadata().ok();
        self.is_only_read() && meta().is_some_and(|meta| has_holes(&meta))
    }

    /// A file of our own, as large as is needed.
    fn scratch(path: PathBuf, needed: u64) -> Result<Self, LabError> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|e| LabError::io("make", &path, e))?;
        // From here on it is removed whatever happens.
        let scratch = Scratch(path);
        match fallocate(&file, FallocateFlags::empty(), 0, needed) {
            Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {
                return Err(LabError::NoSpace { what: scratch.0.display().to_string(), needed });
            }
            // A file system without it: the writes will tell.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                file.set_len(needed).map_err(|e| LabError::io("make", &scratch.0, e))?;
            }
            other => other.map_err(|e| LabError::io("make", &scratch.0, e.into()))?,
        }
        drop(file);
        let store = FileStore::open(&scratch.0, OpenMode::ReadWrite, Caching::Direct)?;
        let folder = scratch.0.parent().unwrap_or(Path::new("/"));
        let title = drive_title(folder).unwrap_or_else(|| folder.display().to_string());
        let path = scratch.keep();
        let direct = store.is_direct();
        let file = Some(path.clone());
        Ok(Self {
            store: Arc::new(store),
            model: None,
            hardware: None,
            bytes: None,
            file,
            scratch: Some(path),
            title,
            direct,
            headers: None,
        })
    }

    /// Writes every byte once, so that the medium has to look for it when it is read.
    fn prepare(&self, bytes: u64, stop: &AtomicBool) -> Result<(), LabError> {
        let what = || self.file.as_ref().map_or_else(String::new, |p| p.display().to_string());
        let written = write_noise(self.store.as_ref(), bytes, stop);
        written.map_err(|e| match e {
            LabError::Store(e) => full(e, what(), bytes),
            e => e,
        })
    }

    /// From now on a modelled drive takes time and nothing else: what it would move, no thread of ours does. For tests that
    /// do not look at what they read.
    pub(crate) fn move_nothing(&self) {
        self.bytes.iter().for_each(|bytes| bytes.move_nothing());
    }

    /// Gives up the claim on the file or device, so that other programs can attach it as well.
    ///
    /// # Errors
    /// It can't be opened any more.
    pub(crate) fn let_others_in(&mut self) -> Result<(), LabError> {
        if let Some(path) = &self.file {
            self.store = Arc::new(FileStore::open_unclaimed(path, Caching::Direct)?);
        }
        Ok(())
    }

    /// The file or device that it is; none of a modelled drive.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// What the drive calls itself.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether requests go past the page cache; where the file system has no direct I/O, memory
    /// answers them, and nothing that is measured is the drive's.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The modelled drive, where it is one.
    pub fn modelled(&self) -> Option<&ModelDrive> {
        self.model.as_ref()
    }

    /// The drive without any of our code between: io_uring on the file or device, or the model's own
    /// queue.
    pub fn bare(&self) -> Subject {
        let len = self.store.size().saturating_sub(DATA_START);
        match (&self.model, &self.file) {
            (Some(model), _) => {
                let model = model.clone();
                Subject::Queued { open: Arc::new(move || Box::new(model.queue())), start: DATA_START, len }
            }
            (None, Some(path)) => {
                Subject::File { path: path.clone(), start: DATA_START, len, direct: self.direct }
            }
            (None, None) => Subject::InProcess(Arc::new(Stored(self.store.clone()))),
        }
    }

    /// Makes a volume for a target, over whatever was there.
    ///
    /// # Errors
    /// The target is no volume of ours, has no such cipher, or could not be made.
    pub fn volume(&self, target: &Target) -> Result<Volume, LabError> {
        let layout = test_volume::make(self.headers.as_ref().unwrap_or(&self.store), target)?;
        // The longest stretch that is kept in one way: a BitLocker volume also has places that it moves or refuses.
        let longest = layout
            .segments()
            .iter()
            .filter(|s| !matches!(s.mapping, Mapping::Zero))
            .max_by_key(|s| s.len)
            .map(|s| (s.start, s.len, s.mapping.clone()));
        let (from, len, mapping) =
            longest.ok_or_else(|| LabError::Volume("it has no data".to_owned(), Vec::new()))?;
        let start = from.next_multiple_of(1 << 20);
        let len = len.saturating_sub(start - from);
        let ceiling_mb_s = match mapping {
            Mapping::Encrypted { cipher, .. } => Some(ceiling(&cipher)),
            _ => None,
        };
        Ok(Volume { layout: Arc::new(layout), start, len, ceiling_mb_s })
    }

    /// Keyway's own operations on a target, to be timed; `encrypt` does those in place. `None` where there are none.
    pub fn timed(&self, target: &Target, encrypt: EncryptInPlace) -> Option<Arc<TimedWork>> {
        timed::work(self.store.clone(), self.hardware.as_ref(), target, encrypt)
    }

    /// A modelled drive of the same kind that encrypts by itself, set up and unlocked, for the target
    /// `hardware`. `None` where the drive is no model: there the drive itself has to be named.
    ///
    /// # Errors
    /// It could not be set up.
    pub fn hardware(&self) -> Result<Option<(Subject, ModelDrive)>, LabError> {
        let Some(hardware) = &self.hardware else { return Ok(None) };
        let drive = hardware.set_up()?;
        let (model, len) = (drive.clone(), drive.size().saturating_sub(DATA_START));
        let open = Arc::new(move || Box::new(model.queue()) as Box<dyn Queue>);
        Ok(Some((Subject::Queued { open, start: DATA_START, len }, drive)))
    }

    /// A volume as the device that attachments serve.
    ///
    /// # Errors
    /// The layout does not fit, which one made here does.
    pub fn device(&self, volume: &Volume) -> Result<Arc<Device>, LabError> {
        let layout = Layout::clone(&volume.layout);
        let access = if self.is_only_read() { Access::ReadOnly } else { Access::ReadWrite };
        Ok(Arc::new(Device::new(Box::new(self.store.clone()), layout, access)?))
    }

    /// A volume called in this process.
    ///
    /// # Errors
    /// As [`Rig::device`].
    pub fn in_process(&self, volume: &Volume) -> Result<Subject, LabError> {
        if let Some(model) = &self.model {
            let (model, layout) = (model.clone(), volume.layout.clone());
            let open =
                move || Box::new(LayoutQueue::with_workers(layout.clone(), model.queue())) as Box<dyn Queue>;
            return Ok(Subject::Queued { open: Arc::new(open), start: volume.start, len: volume.len });
        }
        let device = Arc::new(Stored(self.device(volume)?));
        Ok(Subject::InProcess(Arc::new(Window::new(device, volume.start, volume.len))))
    }
}

/// A file that is removed unless it is kept.
struct Scratch(PathBuf);

impl Scratch {
    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.0);
        }
    }
}

/// Whether a file answers for parts of it without looking; 512 is stat(2)'s unit.
pub(crate) fn has_holes(meta: &Metadata) -> bool {
    meta.is_file() && meta.blocks().saturating_mul(512) < meta.len()
}

fn must_hold(path: &Path, present: u64, needed: u64) -> Result<(), LabError> {
    let what = || path.display().to_string();
    if present < needed { Err(LabError::TooSmall { what: what(), present, needed }) } else { Ok(()) }
}

fn refusal(path: &Path, error: keyway_store::StoreError) -> LabError {
    // Linux's EACCES and EROFS.
    match error.errno() {
        13 | 30 => LabError::ReadOnly(path.display().to_string()),
        _ => error.into(),
    }
}

fn full(error: keyway_store::StoreError, what: String, needed: u64) -> LabError {
    // Linux's ENOSPC and EDQUOT.
    match error.errno() {
        28 | 122 => LabError::NoSpace { what, needed },
        _ => error.into(),
    }
}

/// The drive under a path as it calls itself: model and size from sysfs.
fn drive_title(path: &Path) -> Option<String> {
    let drive = device_folder(path)?;
    let name = drive.file_name()?.to_string_lossy().into_owned();
    let model = text(&drive.join("device/model"));
    let gb = text(&drive.join("size"))?.parse::<u64>().ok()? * 512 / 1_000_000_000;
    Some(match model {
        Some(model) => format!("{model} ({name}, {gb} GB)"),
        None => format!("{name}, {gb} GB"),
    })
}

/// How many MB/s all cores together decrypt, each in its own cache: nothing reads faster.
fn ceiling(cipher: &SectorCipher) -> f64 {
    const TIME: Duration = Duration::from_millis(30);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let one = || {
        let mut buffer = AlignedBuf::zeroed(128 << 10);
        let mut best = 0f64;
        let until = Instant::now() + TIME;
        // The best of many short stretches: what a neighbour takes is not the cipher's limit.
        while Instant::now() < until {
            let began = Instant::now();
            for round in 0..8 {
                cipher.decrypt_sectors(&mut buffer, round);
            }
            best = best.max(8.0 * buffer.len() as f64 / began.elapsed().as_secs_f64() / 1e6);
        }
        best
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        all.into_iter().filter_map(|t| t.join().ok()).sum()
    })
}
