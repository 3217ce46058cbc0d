//! From the words of a comparison to what is measured: drives set up, volumes made and attached.

use super::args::Common;
use super::nbd_sectors::NbdSectors;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::temporary::private_folder;
use keyway::session::{Need, Wish};
use keyway_attach::fuse::{self, FuseMount};
use keyway_attach::{Stop, loopdev};
use keyway_lab::{
    BARE_DRIVE, Drive, Entrant, EntrantFacts, Flag, LabError, PathKind, Rig, Subject, Target, calibration,
};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Everything that is measured, and what has to stay until it is.
pub(super) struct Field {
    /// The baseline first.
    pub(super) entrants: Vec<Entrant>,
    /// Number of the bare drive among them.
    pub(super) direct: Option<usize>,
    /// What the drive calls itself.
    pub(super) title: String,
    /// Remarks for the reader.
    pub(super) notes: Vec<String>,
    // Taken down in this order: what serves, then the folder it serves in, then the drive.
    _attached: Vec<Attached>,
    _folder: Option<Folder>,
    _rigs: Vec<Rig>,
}

/// A volume on its way to the user.
enum Attached {
    Fuse(FuseMount),
    FuseLoop { device: PathBuf, mount: FuseMount },
}

impl Drop for Attached {
    fn drop(&mut self) {
        match self {
            // What is still in use is told by the kernel, and goes with this process.
            Self::Fuse(mount) => drop(mount.unmount()),
            Self::FuseLoop { device, mount } => {
                let _ = loopdev::detach(device);
                let _ = mount.unmount();
            }
        }
    }
}

/// A folder for mounts and sockets that only this user may enter.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        Ok(Self(private_folder("lab")?))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Only empty folders are left in it; mounts that would not go are not to be emptied.
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = std::fs::remove_dir(entry.path());
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

impl Field {
    /// Sets everything up for targets whose tests touch `span` bytes; the first is the baseline. With
    /// `bare` the drive without our code between is measured as well.
    pub(super) fn set_up(
        targets: &[Target],
        common: &Common,
        span: u64,
        bare: bool,
        out: Output,
        stop: &AtomicBool,
    ) -> Result<Self, Failure> {
        let path = PathKind::from(common.path);
        check(path)?;
        let drive = Drive::from(common.drive.as_str());
        let made = |t: &Target| !matches!(t, Target::Hardware(Some(_)) | Target::At(_));
        let mut field = Self {
            entrants: Vec::new(),
            direct: None,
            title: String::new(),
            notes: Vec::new(),
            _attached: Vec::new(),
            _folder: None,
            _rigs: Vec::new(),
        };
        if targets.iter().any(made) {
            confirm(&drive, common.destroy_data, out)?;
            field._rigs.push(Rig::open(&drive, span, common.destroy_data, stop)?);
        }
        let folder = (path != PathKind::InProcess).then(Folder::new).transpose()?;
        for (place, target) in targets.iter().enumerate() {
            match target {
                Target::Hardware(None) => field.hardware(target)?,
                Target::Hardware(Some(at)) | Target::At(at) => {
                    field.elsewhere(target, at, common, span, out, stop)?
                }
                _ => field.made(target, path, place, folder.as_ref().map(|f| f.0.as_path()), common)?,
            }
            if place == 0 && bare {
                field.bare();
            }
        }
        field._folder = folder;
        if field._rigs.iter().any(|rig| !rig.is_direct()) {
            field.entrants.iter_mut().for_each(|e| e.facts.flags.push(Flag::PageCache));
        }
        if let Some(rig) = field._rigs.first() {
            field.title = rig.title().to_owned();
            if let Some(model) = rig.modelled().map(|m| m.model()) {
                let note = format!(
                    "{} is a model: a store that takes as long as the drive would. {}",
                    model.title, model.note
                );
                field.notes.push(note.trim().to_owned());
            }
        }
        Ok(field)
    }

    /// The modelled drive beside what was published of it.
    pub(super) fn calibration(&self) -> Result<Vec<calibration::Row>, LabError> {
        let model = self._rigs.first().and_then(Rig::modelled);
        model.map_or(Ok(Vec::new()), |model| calibration::table(model.model()))
    }

    /// The drive itself, once and behind the baseline.
    fn bare(&mut self) {
        let Some(rig) = self._rigs.first() else { return };
        self.direct = Some(self.entrants.len());
        let (subject, model) = (rig.bare(), rig.modelled().cloned());
        self.entrants.push(Entrant { model, ..Entrant::new(BARE_DRIVE, subject) });
    }

    /// The modelled drive, encrypting by itself.
    fn hardware(&mut self, target: &Target) -> Result<(), Failure> {
        let made = self._rigs.first().map(|rig| Ok((rig.hardware()?, rig.timed(target)))).transpose();
        let Some((Some((subject, drive)), timed)) = made.map_err(|e: LabError| Failure::from(e))? else {
            let why = "only a modelled drive is made to encrypt by itself here; name the unlocked drive";
            return Err(LabError::Target("hardware".into(), why.into()).into());
        };
        self.entrants.push(Entrant {
            model: Some(drive),
            timed,
            ..Entrant::new(target.to_string(), subject)
        });
        Ok(())
    }

    /// A volume of ours on the drive.
    fn made(
        &mut self,
        target: &Target,
        path: PathKind,
        place: usize,
        folder: Option<&Path>,
        common: &Common,
    ) -> Result<(), Failure> {
        let Some(rig) = self._rigs.first() else { return Ok(()) };
        let volume = rig.volume(target)?;
        let facts = EntrantFacts { ceiling_mb_s: volume.ceiling_mb_s, flags: Vec::new() };
        let file = |path: PathBuf| Subject::File {
            path,
            start: volume.start,
            len: volume.len,
            direct: !common.buffered,
        };
        let subject = match (path, folder) {
            (PathKind::InProcess, _) | (_, None) if common.buffered => {
                // Through the cache there is nothing of ours to call: the file itself is read.
                match rig.bare() {
                    Subject::File { path, start, len, .. } => {
                        Subject::File { path, start, len, direct: false }
                    }
                    other => other,
                }
            }
            (PathKind::InProcess, _) | (_, None) => rig.in_process(&volume)?,
            (PathKind::Nbd, Some(folder)) => {
                let own = own_folder(folder, place)?;
                let device = rig.device(&volume)?;
                Subject::InProcess(Arc::new(NbdSectors::serve(device, volume.start, volume.len, &own)?))
            }
            (PathKind::Fuse | PathKind::FuseLoop, Some(folder)) => {
                let own = own_folder(folder, place)?;
                let gone = Stop::new().map_err(|e| Failure::io("serve", &own, &e))?;
                let device = rig.device(&volume)?;
                let sector_bytes = device.sector_bytes();
                let mount = FuseMount::serve(device, &own, fuse::Options::default(), Arc::new(gone))?;
                let shown = mount.file();
                if path == PathKind::Fuse {
                    self._attached.push(Attached::Fuse(mount));
                    file(shown)
                } else {
                    let device = loopdev::attach(&shown, sector_bytes, false)?;
                    self._attached.push(Attached::FuseLoop { device: device.clone(), mount });
                    file(device)
                }
            }
        };
        let (model, timed) = (rig.modelled().cloned(), rig.timed(target));
        self.entrants.push(Entrant { facts, model, timed, ..Entrant::new(target.to_string(), subject) });
        Ok(())
    }

    /// A path that is measured as it is: an unlocked drive, a mounted volume.
    fn elsewhere(
        &mut self,
        target: &Target,
        at: &Path,
        common: &Common,
        span: u64,
        out: Output,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let meta = at.metadata().map_err(|e| Failure::io("open", at, &e))?;
        let mut facts = EntrantFacts::default();
        let direct = !common.buffered;
        let subject = if common.reads_only && !meta.is_dir() {
            let len = if meta.file_type().is_block_device() { device_bytes(at)? } else { meta.len() };
            if len < span {
                let what = at.display().to_string();
                return Err(LabError::TooSmall { what, present: len, needed: span }.into());
            }
            // A file with holes answers for them without looking; 512 is stat(2)'s unit.
            if meta.is_file() && meta.blocks().saturating_mul(512) < meta.len() {
                facts.flags.push(Flag::NotConditioned);
            }
            Subject::File { path: at.to_owned(), start: 0, len, direct }
        } else {
            let drive = Drive::Path(at.to_owned());
            confirm(&drive, common.destroy_data, out)?;
            let rig = Rig::open(&drive, span, common.destroy_data, stop)?;
            let subject = match rig.bare() {
                Subject::File { path, start, len, .. } => Subject::File { path, start, len, direct },
                other => other,
            };
            if self.title.is_empty() {
                rig.title().clone_into(&mut self.title);
            }
            self._rigs.push(rig);
            subject
        };
        let folder = meta.is_dir().then(|| at.to_owned());
        self.entrants.push(Entrant { facts, folder, ..Entrant::new(target.to_string(), subject) });
        Ok(())
    }
}

/// Whether this machine has what the path needs.
fn check(path: PathKind) -> Result<(), Failure> {
    let needs = |needs: &[Need]| needs.iter().try_for_each(|need| need.check(Wish::default()));
    let missing = match path {
        PathKind::InProcess | PathKind::Nbd => Ok(()),
        PathKind::Fuse => needs(&[Need::Fuse]),
        PathKind::FuseLoop => needs(&[Need::Fuse, Need::LoopDevice]),
    };
    let hint = "take --path in-process or --path nbd, which need nothing";
    missing.map_err(|why| {
        Failure::new(Exit::NotPermitted, why.to_string(), hint).kind(keyway_error::Kind::Missing)
    })
}

/// Asks before a file or device is overwritten; what is refused anyway is not asked about.
fn confirm(drive: &Drive, destroy: bool, out: Output) -> Result<(), Failure> {
    match drive {
        Drive::Path(path) if destroy && path.exists() && !path.is_dir() => {
            let uses = keyway_sys::uses(path).unwrap_or_default();
            if let Some(first) = uses.first() {
                let what = path.display().to_string();
                return Err(LabError::InUse { what, how: first.to_string() }.into());
            }
            out.confirm(&format!("Overwrite {}? Everything in it will be lost", path.display()))
        }
        _ => Ok(()),
    }
}

fn own_folder(folder: &Path, place: usize) -> Result<PathBuf, Failure> {
    let own = folder.join(place.to_string());
    DirBuilder::new().mode(0o700).create(&own).map_err(|e| Failure::io("make", &own, &e))?;
    Ok(own)
}

fn device_bytes(path: &Path) -> Result<u64, Failure> {
    use std::io::{Seek, SeekFrom};
    let open = std::fs::File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
    open.map_err(|e| Failure::io("open", path, &e))
}
