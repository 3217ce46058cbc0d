//! What is to be measured: looked at, and asked about, before the first byte is written.

use crate::changes::Changes;
use crate::error::LabError;
use crate::other_program::OtherProgram;
use crate::pacing::SHORTEST_SLICE;
use crate::rig::{Drive, MODEL_WINDOW, Rig};
use crate::stats::{TURNS_PER_BLOCK, fewest_blocks};
use crate::target::{PathKind, Target};
use crate::test_volume::must_be_known;
use crate::workload::{self, Operation, Procedure, Timed, Workload};
use keyway_attach::session::{Need, Wish};
use keyway_fs::mkfs::{FileSystem, MkfsError};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a volume for workloads that do not say how many they touch.
const OTHER_SPAN: u64 = 1 << 30;
/// Beside the span, for the headers of other programs: LUKS takes 16 MiB.
const OTHERS_MARGIN: u64 = 32 << 20;
/// Bytes of a volume for workloads that copy files in folders: no volume is touched directly.
const FILES_SPAN: u64 = 1 << 20;
/// What is measured where nothing else is asked for.
const DEFAULT_WORKLOAD: &str = "cdm";

/// What is wanted of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentRequest {
    /// What is compared; the first is what the others are held against.
    pub targets: Vec<Target>,
    /// Other programs, attached by their own commands.
    pub others: Vec<OtherProgram>,
    /// The drive that volumes are made on.
    pub drive: Drive,
    /// How requests reach the volumes; none for the way that they would be opened by here.
    pub path: Option<PathKind>,
    /// Workloads' names, or files that describe them; the usual one where there are none.
    pub workloads: Vec<String>,
    /// What is changed in them.
    pub changes: Changes,
    /// Go through the page cache where a file is read.
    pub buffered: bool,
    /// Measure the drive without our code between as well.
    pub bare: bool,
    /// The change that counts, as a part of 1; none for 0.03, and 0.01 for drives that encrypt by themselves.
    pub delta: Option<f64>,
    /// Measure for so long at most, the drive's preparation included. Every cell gets what the workload plans, or its part of
    /// the time where that is less; the time beyond goes to those that are undecided then. None for twice what the workloads
    /// plan.
    pub time: Option<Duration>,
    /// Files and devices that are named may be overwritten.
    pub destroy_data: bool,
    /// What was asked for, in the front's words: the document keeps it.
    pub command: String,
}

impl ExperimentPlan {
    /// How long all turns take, or as long as there is time for; nothing where the work itself decides.
    pub fn planned(&self) -> Option<Duration> {
        let sides = self.targets.len() + self.others.len() + usize::from(self.bare);
        let of = |workload: &Workload| Some(workload.planned(sides)).filter(|time| !time.is_zero());
        let all: Duration = self.workloads.iter().map(of).sum::<Option<_>>()?;
        Some(self.time.map_or(all, |time| all.min(time)))
    }
}

impl ExperimentRequest {
    /// The usual workload on the targets, called in this process.
    pub fn new(targets: Vec<Target>, drive: Drive) -> Self {
        Self {
            targets,
            others: Vec::new(),
            drive,
            path: None,
            workloads: Vec::new(),
            changes: Changes::default(),
            buffered: false,
            bare: false,
            delta: None,
            time: None,
            destroy_data: false,
            command: String::new(),
        }
    }

    /// The usual workload on the bare drive, on the same way without a cipher, which takes the cost apart, and on the
    /// targets.
    pub fn against_bare(targets: impl IntoIterator<Item = Target>, drive: Drive) -> Self {
        Self::against(None, targets, drive)
    }

    /// The usual workload on the baseline and on the targets; without a baseline, as [`Self::against_bare`].
    pub fn against(
        baseline: Option<Target>,
        targets: impl IntoIterator<Item = Target>,
        drive: Drive,
    ) -> Self {
        let takes_apart = baseline.is_none();
        let first = baseline.map_or_else(|| vec![Target::Bare, Target::Plain], |baseline| vec![baseline]);
        let others = targets.into_iter().filter(|target| !takes_apart || *target != Target::Plain);
        Self::new(first.into_iter().chain(others).collect(), drive)
    }

    /// What will be done. Everything that can be refused is refused here.
    ///
    /// # Errors
    /// There is no such workload, or nothing is left of it; it does not go with the drive; this machine lacks what the path
    /// needs; what would be overwritten is in use.
    pub fn plan(&self) -> Result<ExperimentPlan, LabError> {
        let names = if self.workloads.is_empty() { &[DEFAULT_WORKLOAD.to_owned()] } else { &*self.workloads };
        let find = |name: &String| {
            let original = workload::find(name)?;
            let changed = self.changes.apply(&original)?;
            Ok((original, changed))
        };
        let (originals, mut workloads): (Vec<Workload>, Vec<Workload>) =
            names.iter().map(find).collect::<Result<Vec<_>, LabError>>()?.into_iter().unzip();
        if matches!(self.drive, Drive::Model(_)) {
            fits_a_model(&workloads)?;
        }
        self.others_fit()?;
        // Keyway's own operations are timed on volumes alone, and files are copied in folders.
        let bare = |w: &Workload| {
            matches!(w.kind, Procedure::Requests(_) | Procedure::Positions(_) | Procedure::Traces(_))
        };
        let bare = workloads.iter().all(bare);
        let mut targets = self.targets.clone();
        // Where nothing can be done to the bare drive, the same without a cipher is what there is to hold others against.
        targets.retain(|target| bare || *target != Target::Bare);
        if targets.is_empty() {
            return Err(LabError::Unsuited(
                "these workloads copy files or make volumes, and the bare drive holds none".into(),
            ));
        }
        targets.iter().try_for_each(must_be_known)?;
        has_what_makes_volumes(&workloads, &targets)?;
        let path = self.path()?;
        let sides = targets.len()
            + self.others.len()
            + usize::from(self.bare && bare && !targets.contains(&Target::Bare));
        workloads.iter_mut().for_each(|workload| enough_turns(workload, sides));
        let span = |w: &Workload| match w.kind {
            Procedure::Tree(_) | Procedure::Copy(_) => FILES_SPAN,
            // Of these the workload says how many, and the scale changes it.
            Procedure::Timed(_) => w.span_bytes().unwrap_or(OTHER_SPAN),
            _ => self.changes.span_bytes.or(w.span_bytes()).unwrap_or(OTHER_SPAN),
        };
        let plan = ExperimentPlan {
            overwrites: self.overwrites()?,
            bare: self.bare && bare && !targets.contains(&Target::Bare),
            targets,
            others: self.others.clone(),
            drive: self.drive.clone(),
            path,
            span_bytes: workloads.iter().map(span).max().unwrap_or(OTHER_SPAN),
            delta: self.delta,
            time: self.time,
            buffered: self.buffered,
            reads_only: self.changes.reads_only,
            destroy_data: self.destroy_data,
            workloads,
            originals,
            command: self.command.clone(),
        };
        plan.drives_suit()?;
        Ok(plan)
    }

    /// The way that was asked for, where this machine has what it needs; otherwise the one that the volumes would be opened
    /// by. A modelled drive is called in this process: any other way's own time would stand under the drive's name.
    fn path(&self) -> Result<PathKind, LabError> {
        let has = |path: PathKind| {
            let needs: &[Need] = match path {
                PathKind::InProcess | PathKind::Nbd => &[],
                PathKind::Fuse => &[Need::Fuse],
                PathKind::FuseLoop => &[Need::Fuse, Need::LoopDevice],
                PathKind::Ublk => &[Need::Ublk],
            };
            needs.iter().try_for_each(|need| need.check(Wish::default())).map(|()| path)
        };
        match self.path {
            Some(path) => Ok(has(path)?),
            None if self.buffered || matches!(self.drive, Drive::Model(_)) => Ok(PathKind::InProcess),
            None => Ok([PathKind::FuseLoop, PathKind::Fuse]
                .into_iter()
                .find_map(|path| has(path).ok())
                .unwrap_or_default()),
        }
    }

    /// Other programs need bytes that they can open, and what they attach is written to: nobody but their user knows what
    /// is on it.
    fn others_fit(&self) -> Result<(), LabError> {
        let Some(first) = self.others.first() else { return Ok(()) };
        if matches!(self.drive, Drive::Model(_)) {
            return Err(LabError::Unsuited(format!(
                "a modelled drive is in this process, where {:?} can't reach it: name a folder, file or device as the drive",
                first.name
            )));
        }
        if !self.changes.reads_only && !self.destroy_data {
            return Err(LabError::WouldDestroy { what: format!("what {:?} attaches", first.name) });
        }
        Ok(())
    }

    /// The files and devices whose bytes will be lost.
    fn overwrites(&self) -> Result<Vec<PathBuf>, LabError> {
        let drive = match &self.drive {
            Drive::Path(path) if self.targets.iter().any(Target::is_made_here) => Some(path),
            _ => None,
        };
        let named = self.targets.iter().filter(|_| !self.changes.reads_only).filter_map(Target::path);
        let all = drive.map(PathBuf::as_path).into_iter().chain(named);
        let lost = all.filter(|path| self.destroy_data && path.exists() && !path.is_dir());
        let free = |path: &Path| match keyway_sys::uses(path).unwrap_or_default().first() {
            Some(first) => Err(LabError::InUse { what: path.display().to_string(), how: first.to_string() }),
            None => Ok(path.to_owned()),
        };
        lost.map(free).collect()
    }
}

/// Cuts runs into as many slices as it takes to say anything of so many cells and sides.
fn enough_turns(workload: &mut Workload, sides: usize) {
    let Procedure::Requests(requests) = &workload.kind else { return };
    let comparisons = requests.cells.len() * sides.saturating_sub(1);
    let turns = &mut workload.turns;
    let needed = (TURNS_PER_BLOCK * fewest_blocks(comparisons)) as u32;
    let slices = needed.div_ceil(turns.runs.max(1)).next_multiple_of(2);
    if comparisons > 0 && slices > turns.slices && turns.seconds / f64::from(slices) >= SHORTEST_SLICE {
        turns.slices = slices;
    }
}

/// BitLocker encrypts what is in use alone, where a file system says what that is: one is made for it.
fn has_what_makes_volumes(workloads: &[Workload], targets: &[Target]) -> Result<(), LabError> {
    let partly = |w: &Workload| {
        matches!(w.kind, Procedure::Timed(Timed { operation: Operation::InPlace, used_bytes: Some(_), .. }))
    };
    let needed = workloads.iter().any(partly) && targets.iter().any(|t| matches!(t, Target::BitLocker(_)));
    match FileSystem::ExFat.find_program() {
        None if needed => Err(LabError::volume(&MkfsError::Missing(FileSystem::ExFat))),
        _ => Ok(()),
    }
}

/// A modelled drive does not keep more than a part of what is written to it.
fn fits_a_model(workloads: &[Workload]) -> Result<(), LabError> {
    let large = |is: &dyn Fn(&Procedure) -> bool| {
        workloads.iter().filter(|w| is(&w.kind)).any(|w| w.span_bytes() > Some(MODEL_WINDOW))
    };
    if workloads.iter().any(|w| matches!(&w.kind, Procedure::Requests(r) if r.task)) {
        return Err(LabError::Unsuited(
            "a modelled drive is waited for by looking at the clock, which takes from a task in the foreground: name a folder, file or device as the drive"
                .into(),
        ));
    }
    if large(&|kind| matches!(kind, Procedure::Requests(r) if r.verify)) {
        return Err(LabError::LargerThanModel { what: "to verify it", option: "--size 1G" });
    }
    let in_place =
        |kind: &Procedure| matches!(kind, Procedure::Timed(Timed { operation: Operation::InPlace, .. }));
    if large(&in_place) {
        let option = "--scale 0.005 (--scale 0.0035 for in-place-used-time)";
        return Err(LabError::LargerThanModel { what: "to encrypt it in place", option });
    }
    Ok(())
}

impl ExperimentPlan {
    /// Refuses what isn't there, or can't be measured so: before it is said how long it takes.
    fn drives_suit(&self) -> Result<(), LabError> {
        if self.targets.iter().any(Target::is_made_here) {
            Rig::must_suit(&self.drive, self.rig_span(), self.destroy_data, self.only_reads_drive())?;
        }
        if self.targets.contains(&Target::Hardware(None)) && !matches!(self.drive, Drive::Model(_)) {
            return Err(LabError::no_hardware());
        }
        for at in self.targets.iter().filter_map(Target::path) {
            let meta = at.metadata().map_err(|e| LabError::system("open", at, e))?;
            if !self.reads_only || meta.is_dir() {
                Rig::must_suit(&at.into(), self.span_bytes, self.destroy_data, false)?;
            }
        }
        Ok(())
    }

    /// Bytes that the drive holds for a volume's data.
    pub(crate) fn rig_span(&self) -> u64 {
        self.span_bytes + if self.others.is_empty() { 0 } else { OTHERS_MARGIN }
    }

    /// Whether the drive's bytes are read as they lie there, and none is written: a folder takes a file of the test's own,
    /// and what other programs attach is made first.
    pub(crate) fn only_reads_drive(&self) -> bool {
        let is_there = matches!(&self.drive, Drive::Path(path) if !path.is_dir());
        is_there && self.reads_only && !self.destroy_data && self.others.is_empty()
    }

    /// Whether somebody looks at what is read: whoever verifies it, and Keyway's own operations, which read their headers.
    pub(crate) fn looks_at_bytes(&self) -> bool {
        self.workloads.iter().any(|workload| match &workload.kind {
            Procedure::Requests(requests) => requests.verify,
            Procedure::Positions(_) | Procedure::Traces(_) => false,
            _ => true,
        })
    }
}

/// What will be measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExperimentPlan {
    /// Files and devices whose bytes will be lost: their owner is asked first.
    #[serde(with = "keyway_attach::path_text")]
    pub overwrites: Vec<PathBuf>,
    /// What is compared; the first is what the others are held against.
    pub targets: Vec<Target>,
    /// Other programs, beside them.
    pub others: Vec<OtherProgram>,
    /// The drive that volumes are made on.
    pub drive: Drive,
    /// How requests reach the volumes.
    pub path: PathKind,
    /// What is done, as it was changed.
    pub workloads: Vec<Workload>,
    /// Bytes of a volume that are touched.
    pub span_bytes: u64,
    /// The drive is measured without our code between as well, beside another baseline.
    pub bare: bool,
    /// The change that counts, as a part of 1, where somebody said so.
    pub delta: Option<f64>,
    /// How long it may take; none for twice what the workloads plan.
    pub time: Option<Duration>,
    /// Requests go through the page cache where a file is read.
    pub buffered: bool,
    /// Nothing is written.
    pub reads_only: bool,
    /// Files and devices that are named may be overwritten.
    pub destroy_data: bool,
    /// The workloads as they were.
    #[serde(skip)]
    pub(crate) originals: Vec<Workload>,
    /// What was asked for, in the front's words.
    pub(crate) command: String,
}
