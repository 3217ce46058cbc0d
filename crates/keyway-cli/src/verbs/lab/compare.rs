//! `lab run` and `lab compare`: sets up, measures, tells.

use super::args::{Common, Compare, Run};
use super::entrants::Field;
use super::{OutputFile, stop, table};
use crate::failure::{Exit, Failure};
use crate::machine;
use crate::output::{Output, stderr_is_terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keyway_lab::workload::{self, Kind, Operation};
use keyway_lab::{
    Changes, Document, LabError, MODEL_WINDOW, Machine, PathKind, Place, Target, Watch, Workload, measure,
    measure_procedure,
};
use keyway_volume::bitlocker::FileTime;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Bytes of a volume for workloads that do not say how many they touch.
const OTHER_SPAN: u64 = 1 << 30;

/// What is measured where nothing else is asked for.
const DEFAULT_WORKLOAD: &str = "cdm";

/// Runs `lab run`.
pub(super) fn run(args: &Run, out: Output) -> Result<(), Failure> {
    if args.list {
        let all = workload::shipped()?;
        return out.result(&all, || table::workloads(&all));
    }
    go(std::slice::from_ref(&args.target), &args.common, out)
}

/// Runs `lab compare`.
pub(super) fn compare(args: &Compare, out: Output) -> Result<(), Failure> {
    let mut targets = vec![args.baseline.clone()];
    targets.extend(args.with.iter().cloned());
    go(&targets, &args.common, out)
}

fn go(targets: &[Target], common: &Common, out: Output) -> Result<(), Failure> {
    let stop = stop::on_signals()?;
    // A place that can't be written to, or holds something else, is told before an hour of measuring.
    let place = |path: &Option<PathBuf>| path.as_ref().map(|p| OutputFile::at(p, out)).transpose();
    let (save, html) = (place(&common.save)?, place(&common.html)?);
    let (document, error) = find_out(targets, common, out, &stop)?;
    // What was found is told even where it can't be kept, or not everything could be measured.
    let kept = keep(save, html, &document);
    let failure = match error {
        None => kept.err(),
        Some(LabError::Stopped) => {
            let hint = "what was measured until then is told, with what is missing";
            let what = "stopped before everything was measured";
            Some(Failure::new(Exit::Failed, what, hint).kind(keyway_error::Kind::Interrupted))
        }
        Some(error) => Some(error.into()),
    };
    let Some(failure) = failure else { return out.result(&document, || table::words(&document)) };
    out.say(&table::words(&document))?;
    Err(failure.with(serde_json::to_value(&document).unwrap_or_default()))
}

/// Writes the document and its page where they were asked for.
fn keep(save: Option<OutputFile>, html: Option<OutputFile>, document: &Document) -> Result<(), Failure> {
    if let Some(place) = save {
        let text = serde_json::to_vec(document)
            .map_err(|e| Failure::new(Exit::Failed, format!("the results can't be kept: {e}"), ""))?;
        place.write(&text)?;
    }
    match html {
        Some(place) => super::write_report(place, document),
        None => Ok(()),
    }
}

/// Measures, and gives what was found even where not everything could be.
pub(crate) fn find_out(
    targets: &[Target],
    common: &Common,
    out: Output,
    stop: &AtomicBool,
) -> Result<(Document, Option<LabError>), Failure> {
    let changes = Changes {
        span_bytes: common.size,
        seconds: common.seconds,
        runs: common.runs,
        quick: common.quick,
        reads_only: common.reads_only,
        verify: common.verify,
        scale: common.scale,
    };
    let mut names = common.workload.clone();
    if names.is_empty() {
        names.push(DEFAULT_WORKLOAD.to_owned());
    }
    // Everything that can be refused is refused before the first byte is written.
    let mut works: Vec<(Workload, Workload)> = Vec::new();
    for name in &names {
        let original = workload::find(name)?;
        let changed = changes.apply(&original)?;
        works.push((original, changed));
    }
    let bytes = |w: &Workload| match w.kind {
        // Files are copied in folders; no volume's bytes are touched directly.
        Kind::Tree(_) | Kind::Copy(_) => 1 << 20,
        // Of these the workload says how many, and --scale changes it.
        Kind::Timed(_) => w.span_bytes().unwrap_or(OTHER_SPAN),
        _ => common.size.or(w.span_bytes()).unwrap_or(OTHER_SPAN),
    };
    let span = works.iter().map(|(_, changed)| bytes(changed)).max();
    let verified = works.iter().filter(|(_, w)| matches!(&w.kind, Kind::Requests(r) if r.verify));
    if common.drive.starts_with("model:")
        && verified.filter_map(|(_, w)| w.span_bytes()).max() > Some(MODEL_WINDOW)
    {
        let why = "a modelled drive keeps 1 GiB of what is written to it: add --size 1G to verify";
        return Err(LabError::Unsuited(why.to_owned()).into());
    }
    let in_place = |w: &Workload| matches!(&w.kind, Kind::Timed(t) if t.operation == Operation::InPlace);
    if common.drive.starts_with("model:")
        && works.iter().any(|(_, w)| in_place(w) && w.span_bytes() > Some(MODEL_WINDOW))
    {
        let why = "a modelled drive keeps 1 GiB of what is written to it: add --scale 0.005 (0.0035 for in-place-used-time) to encrypt in place";
        return Err(LabError::Unsuited(why.to_owned()).into());
    }
    // Keyway's own operations are timed on volumes alone, and files are copied in folders.
    let bare = |w: &Workload| matches!(w.kind, Kind::Requests(_) | Kind::Positions(_) | Kind::Traces(_));
    let bare = !common.no_bare && works.iter().all(|(_, changed)| bare(changed));
    let field = Field::set_up(targets, common, span.unwrap_or(OTHER_SPAN), bare, out, stop)?;
    let mut document = Document {
        cells: Vec::new(),
        series: Vec::new(),
        machine: Machine::here(),
        drive: field.title.clone(),
        path: PathKind::from(common.path),
        date: FileTime::now().to_string(),
        command: machine::command(),
        missing: Vec::new(),
        notes: field.notes.clone(),
        calibration: field.calibration()?,
    };
    for (original, changed) in &works {
        let watch = Bar::new(&changed.name);
        let found = match &changed.kind {
            Kind::Requests(requests) => {
                measure(original, changed, requests, &field.entrants, field.direct, stop, &watch)
            }
            _ => measure_procedure(changed, &field.entrants, stop, &watch),
        };
        watch.done();
        document.cells.extend(found.comparisons);
        document.series.extend(found.series);
        document.missing.extend(found.missing);
        document.notes.extend(found.notes);
        if found.error.is_some() {
            return Ok((document, found.error));
        }
    }
    Ok((document, None))
}

/// A bar on a terminal: which test, how many turns, how long still.
struct Bar {
    bar: ProgressBar,
}

impl Bar {
    fn new(label: &str) -> Self {
        let target =
            if stderr_is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{prefix}  {msg} {wide_bar} {pos}/{len} turns  {eta} left")
        {
            bar.set_style(style);
        }
        bar.set_prefix(crate::shown::line(label));
        Self { bar }
    }

    fn done(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Bar {
    fn turn(&self, place: Place, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("test {}", place.cell + 1));
    }
}
