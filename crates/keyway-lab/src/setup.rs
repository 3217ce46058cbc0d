//! From targets to what is measured: drives set up, volumes made and attached.

use crate::attached_program::AttachedProgram;
use crate::entrant::Entrant;
use crate::error::LabError;
use crate::judge::{EntrantFacts, Judging};
use crate::nbd_sectors::NbdSectors;
use crate::other_program::OtherProgram;
use crate::plan::ExperimentPlan;
use crate::program_guard::{PATIENCE, patience};
use crate::result::Flag;
use crate::rig::{Drive, Rig, Volume, has_holes};
use crate::sectors::Subject;
use crate::target::{PathKind, Target};
use crate::timed::EncryptInPlace;
use keyway_attach::fuse::{self, FuseMount};
use keyway_attach::ublk::UblkVolume;
use keyway_attach::{Stop, loopdev};
use keyway_store::{AlignedBuf, Caching, FileStore, OpenMode, Store};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Everything that is measured, and what has to stay until it is.
pub(crate) struct Setup {
    /// The baseline first.
    pub(crate) entrants: Vec<Entrant>,
    /// Which of them takes the others' costs apart.
    pub(crate) judging: Judging,
    /// What the drive calls itself.
    pub(crate) title: String,
    // Taken down in this order: what serves, then the folder it serves in, then the drives.
    others: Vec<AttachedProgram>,
    attached: Vec<Attached>,
    folder: Option<PrivateFolder>,
    rigs: Vec<Rig>,
}

/// A volume on its way to the user.
enum Attached {
    Fuse(FuseMount),
    FuseLoop { device: PathBuf, mount: FuseMount },
    Ublk(UblkVolume),
}

impl Drop for Attached {
    fn drop(&mut self) {
        match self {
            // What is still in use is told by the kernel, and goes with this process.
            Self::Fuse(mount) => drop(mount.unmount()),
            Self::Ublk(volume) => drop(volume.remove()),
            Self::FuseLoop { device, mount } => {
                let _ = loopdev::detach(device, &mount.file());
                let _ = mount.unmount();
            }
        }
    }
}

/// A folder for mounts and sockets that only this user may enter.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn new() -> Result<Self, LabError> {
        let fail = |e| LabError::system("make", &std::env::temp_dir(), e);
        // Modes are for whoever else is on this machine: only this user may look at what is measured.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("keyway-lab-").permissions(private).tempdir();
        Ok(Self(made.map_err(fail)?.keep()))
    }

    /// A folder in it.
    fn own(&self, name: &str) -> Result<PathBuf, LabError> {
        let own = self.0.join(name);
        DirBuilder::new().mode(0o700).create(&own).map_err(|e| LabError::system("make", &own, e))?;
        Ok(own)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // Only empty folders are left in it; mounts that would not go are not to be emptied.
        for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = std::fs::remove_dir(entry.path());
        }
        let _ = std::fs::remove_dir(&self.0);
    }
}

impl Setup {
    /// Sets everything up as planned.
    pub(crate) fn of(
        plan: &ExperimentPlan,
        encrypt: EncryptInPlace,
        stop: &AtomicBool,
    ) -> Result<Self, LabError> {
        let mut setup = Self {
            entrants: Vec::new(),
            judging: Judging { delta: plan.delta, ..Judging::default() },
            title: String::new(),
            others: Vec::new(),
            attached: Vec::new(),
            folder: None,
            rigs: Vec::new(),
        };
        if plan.targets.iter().any(Target::is_made_here) {
            let span = plan.rig_span();
            let mut rig = match &plan.drive {
                Drive::Path(path) if plan.only_reads_drive() => Rig::to_read(path, span)?,
                drive => Rig::open(drive, span, plan.destroy_data, stop)?,
            };
            if !plan.others.is_empty() {
                rig.let_others_in()?;
            }
            setup.rigs.push(rig);
        }
        let serves = plan.path != PathKind::InProcess || !plan.others.is_empty();
        setup.folder = serves.then(PrivateFolder::new).transpose()?;
        for (number, target) in plan.targets.iter().enumerate() {
            match target {
                Target::Bare => setup.bare_drive(),
                Target::Hardware(None) => setup.hardware(target, encrypt)?,
                Target::Hardware(Some(at)) | Target::At(at) => setup.as_it_is(target, at, plan, stop)?,
                Target::Plain | Target::VeraCrypt(_) | Target::BitLocker(_) => {
                    setup.made(target, number, plan, encrypt)?;
                }
            }
            if *target == Target::Plain {
                setup.judging.path = Some(setup.entrants.len() - 1);
            }
            if number == 0 && plan.bare {
                setup.bare_drive();
            }
        }
        for program in &plan.others {
            setup.other_program(program, plan, stop)?;
        }
        if setup.rigs.iter().any(|rig| !rig.is_direct()) {
            setup.entrants.iter_mut().for_each(|e| e.facts.flags.push(Flag::PageCache));
        }
        if setup.rigs.iter().any(Rig::has_holes) {
            setup.entrants.iter_mut().for_each(|e| e.facts.flags.push(Flag::NotConditioned));
        }
        if let Some(rig) = setup.rigs.first() {
            if !plan.looks_at_bytes() {
                rig.move_nothing();
            }
            rig.title().clone_into(&mut setup.title);
        }
        Ok(setup)
    }

    /// Takes other programs down, the last one first; says what did not work.
    pub(crate) fn take_others_down(&mut self) -> Vec<String> {
        self.others.iter_mut().rev().flat_map(AttachedProgram::take_down).collect()
    }

    /// The drive that the targets are made on.
    pub(crate) fn rig(&self) -> Option<&Rig> {
        self.rigs.first()
    }

    /// The drive itself.
    fn bare_drive(&mut self) {
        let Some(rig) = self.rigs.first() else { return };
        self.judging.bare = Some(self.entrants.len());
        let (subject, model) = (rig.bare(), rig.modelled().cloned());
        self.entrants.push(Entrant { model, ..Entrant::new(Target::Bare.to_string(), subject) });
    }

    /// The modelled drive, encrypting by itself.
    fn hardware(&mut self, target: &Target, encrypt: EncryptInPlace) -> Result<(), LabError> {
        let made = match self.rigs.first() {
            Some(rig) => rig.hardware()?.map(|made| (made, rig.timed(target, encrypt))),
            None => None,
        };
        let Some(((subject, drive), timed)) = made else {
            return Err(LabError::no_hardware());
        };
        let model = Some(drive);
        self.entrants.push(Entrant { model, timed, ..Entrant::new(target.to_string(), subject) });
        Ok(())
    }

    /// A volume of ours on the drive.
    fn made(
        &mut self,
        target: &Target,
        number: usize,
        plan: &ExperimentPlan,
        encrypt: EncryptInPlace,
    ) -> Result<(), LabError> {
        let Some(rig) = self.rigs.first() else { return Ok(()) };
        let volume = rig.volume(target)?;
        let subject = match (plan.path, &self.folder) {
            // Through the cache there is nothing of ours to call: the file itself is read.
            (PathKind::InProcess, _) | (_, None) if plan.buffered => through_cache(rig.bare(), true),
            (PathKind::InProcess, _) | (_, None) => rig.in_process(&volume)?,
            (PathKind::Nbd, Some(folder)) => {
                let own = folder.own(&number.to_string())?;
                let served = NbdSectors::serve(rig.device(&volume)?, volume.start, volume.len, &own)?;
                Subject::InProcess(Arc::new(served))
            }
            (PathKind::Fuse | PathKind::FuseLoop | PathKind::Ublk, Some(folder)) => {
                let own = folder.own(&number.to_string())?;
                let attached = match plan.path {
                    PathKind::Ublk => by_ublk(rig, &volume, &own)?,
                    path => by_fuse(rig, &volume, &own, path == PathKind::FuseLoop)?,
                };
                let path = attached.path();
                self.attached.push(attached);
                Subject::File { path, start: volume.start, len: volume.len, direct: !plan.buffered }
            }
        };
        let facts = EntrantFacts { ceiling_mb_s: volume.ceiling_mb_s, ..EntrantFacts::default() };
        let (model, timed) = (rig.modelled().cloned(), rig.timed(target, encrypt));
        self.entrants.push(Entrant { facts, model, timed, ..Entrant::new(target.to_string(), subject) });
        Ok(())
    }

    /// A path that is measured as it is: an unlocked drive, a mounted volume.
    fn as_it_is(
        &mut self,
        target: &Target,
        at: &Path,
        plan: &ExperimentPlan,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let meta = at.metadata().map_err(|e| LabError::system("open", at, e))?;
        let mut facts = EntrantFacts::default();
        let subject = if plan.reads_only && !meta.is_dir() {
            as_it_lies(at, &meta, plan, &mut facts)?
        } else {
            self.own_rig(at, plan, stop)?
        };
        let folder = meta.is_dir().then(|| at.to_owned());
        self.entrants.push(Entrant { facts, folder, ..Entrant::new(target.to_string(), subject) });
        Ok(())
    }
}

impl Setup {
    /// A rig on a path of its own.
    fn own_rig(&mut self, at: &Path, plan: &ExperimentPlan, stop: &AtomicBool) -> Result<Subject, LabError> {
        let rig = Rig::open(&at.into(), plan.span_bytes, plan.destroy_data, stop)?;
        if self.title.is_empty() {
            rig.title().clone_into(&mut self.title);
        }
        let subject = through_cache(rig.bare(), plan.buffered);
        self.rigs.push(rig);
        Ok(subject)
    }

    /// What another program attaches, on the bytes of the drive or elsewhere.
    fn other_program(
        &mut self,
        program: &OtherProgram,
        plan: &ExperimentPlan,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let number = format!("other-{}", self.others.len());
        let own = self.folder.as_ref().map(|folder| folder.own(&number)).transpose()?.unwrap_or_default();
        let drive = self.rigs.first().and_then(Rig::path).unwrap_or(Path::new(""));
        let attached = AttachedProgram::start(program, drive, &own, stop)?;
        let (at, guard) = (attached.at().to_owned(), Arc::new(attached.guard()));
        self.others.push(attached);
        let mut facts = EntrantFacts { other_program: true, ..EntrantFacts::default() };
        let failed = |e: LabError| LabError::OtherProgram {
            name: program.name.clone(),
            what: format!("can't be used: {e}"),
        };
        let look = || at.metadata().map_err(|e| failed(LabError::system("open", &at, e)));
        let meta = guard.within(PATIENCE, stop, look)?;
        let subject = if meta.is_dir() {
            let fill = || self.own_rig(&at, plan, stop).map_err(failed);
            guard.within(patience(filling(plan.span_bytes)), stop, fill)?
        } else {
            guard.within(PATIENCE, stop, || {
                if let Some(first) = keyway_sys::uses(&at).unwrap_or_default().first() {
                    let (what, how) = (at.display().to_string(), first.to_string());
                    return Err(LabError::InUse { what, how });
                }
                as_it_lies(&at, &meta, plan, &mut facts).map_err(failed)
            })?
        };
        let (folder, guard) = (meta.is_dir().then_some(at), Some(guard));
        self.entrants.push(Entrant { facts, folder, guard, ..Entrant::new(&program.name, subject) });
        Ok(())
    }
}

/// How long a slow drive takes to be written so far: 20 MB/s.
fn filling(bytes: u64) -> Duration {
    Duration::from_millis(bytes / 20_000)
}

/// A file or device with what it holds: nothing of it is written before it is measured.
fn as_it_lies(
    at: &Path,
    meta: &Metadata,
    plan: &ExperimentPlan,
    facts: &mut EntrantFacts,
) -> Result<Subject, LabError> {
    let len = bytes_of(at, meta)?;
    if len < plan.span_bytes {
        let (what, needed) = (at.display().to_string(), plan.span_bytes);
        return Err(LabError::TooSmall { what, present: len, needed });
    }
    // What a program shows as a file has no holes, whatever it says.
    if !facts.other_program && has_holes(meta) {
        facts.flags.push(Flag::NotConditioned);
    }
    let direct = !plan.buffered && (!facts.other_program || takes_direct(at));
    if !direct && facts.other_program {
        facts.flags.push(Flag::PageCache);
    }
    Ok(Subject::File { path: at.to_owned(), start: 0, len, direct })
}

/// Whether it can be read past the page cache. Some file systems of other programs refuse to.
fn takes_direct(at: &Path) -> bool {
    let store = FileStore::open(at, OpenMode::ReadOnly, Caching::Direct);
    store.is_ok_and(|store| store.read_at(&mut AlignedBuf::zeroed(4096), 0).is_ok() && store.is_direct())
}

impl Attached {
    /// Where the volume's bytes are.
    fn path(&self) -> PathBuf {
        match self {
            Self::Fuse(mount) => mount.file(),
            Self::FuseLoop { device, .. } => device.clone(),
            Self::Ublk(volume) => volume.device().to_owned(),
        }
    }
}

fn by_fuse(rig: &Rig, volume: &Volume, own: &Path, loop_device: bool) -> Result<Attached, LabError> {
    let gone = Stop::new().map_err(|e| LabError::system("serve", own, e))?;
    let device = rig.device(volume)?;
    let sector_bytes = device.sector_bytes();
    let mount = FuseMount::serve(device, own, fuse::Options::default(), Arc::new(gone))?;
    if !loop_device {
        return Ok(Attached::Fuse(mount));
    }
    let device = loopdev::attach(&mount.file(), sector_bytes, rig.is_only_read())?;
    Ok(Attached::FuseLoop { device, mount })
}

fn by_ublk(rig: &Rig, volume: &Volume, own: &Path) -> Result<Attached, LabError> {
    let gone = Stop::new().map_err(|e| LabError::system("serve", own, e))?;
    Ok(Attached::Ublk(UblkVolume::for_now(&rig.device(volume)?, &Arc::new(gone))?))
}

/// The same file through the page cache, or past it.
fn through_cache(subject: Subject, buffered: bool) -> Subject {
    match subject {
        Subject::File { path, start, len, .. } => Subject::File { path, start, len, direct: !buffered },
        other => other,
    }
}

fn bytes_of(path: &Path, meta: &Metadata) -> Result<u64, LabError> {
    if !meta.file_type().is_block_device() {
        return Ok(meta.len());
    }
    let end = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
    end.map_err(|e| LabError::system("open", path, e))
}
