//! `lab run` and `lab compare`: asks, measures, tells.

use super::args::{Common, Compare, Run};
use super::{output_file, table, told_report, write_report};
use crate::progress;
use crate::verbs::*;
use keyway::lab::told::Turning;
use keyway::lab::{Document, Drive, ExperimentRequest, LabError, OutputFile, Target};

/// Runs `lab run`.
pub(super) fn run(args: &Run, out: Output) -> Result<(), Failure> {
    if args.list {
        return table::workloads(out);
    }
    go(ExperimentRequest::new(vec![args.target.clone()], drive(&args.common)), None, &args.common, out)
}

/// Runs `lab compare`.
pub(super) fn compare(args: &Compare, out: Output) -> Result<(), Failure> {
    let (drive, with) = (drive(&args.common), args.with.iter().cloned());
    let request = match &args.baseline {
        None if !args.common.no_bare => ExperimentRequest::against_bare(with, drive),
        None => ExperimentRequest::new(std::iter::once(Target::Plain).chain(with).collect(), drive),
        Some(baseline) => {
            ExperimentRequest::new(std::iter::once(baseline.clone()).chain(with).collect(), drive)
        }
    };
    go(request, args.resume.as_deref(), &args.common, out)
}

fn drive(common: &Common) -> Drive {
    common.drive.as_str().into()
}

fn go(
    request: ExperimentRequest,
    resume: Option<&Path>,
    common: &Common,
    out: Output,
) -> Result<(), Failure> {
    let stop = progress::stop_on_signals()?;
    // A place that can't be written to, or holds something else, is told before an hour of measuring.
    let place = |path: &Option<PathBuf>| path.as_ref().map(|path| output_file(path, out)).transpose();
    let (save, html) = (place(&common.save)?, place(&common.html)?);
    let before = resume.map(Document::load).transpose()?;
    let plan = common.request(request).plan()?;
    for path in &plan.overwrites {
        out.confirm(&format!("Overwrite {}? Everything in it will be lost", path.display()))?;
    }
    let bar = bar();
    let encrypt = keyway::lab::encrypt_in_place;
    let (document, error) = match &before {
        Some(before) => plan.resume(before, encrypt, &stop, &bar)?,
        None => plan.run(encrypt, &stop, &bar)?,
    };
    drop(bar);
    // What was found is told even where it can't be kept, or not everything could be measured.
    let kept = keep(save, html, &document);
    let failure = error.map(ended).or(kept.err());
    let page = || common.html.as_deref().map(|path| format!("\n{}", told_report(path))).unwrap_or_default();
    let Some(failure) = failure else {
        return out.result(&document, || super::words(&document, common.wide) + &page());
    };
    out.say(&super::words(&document, common.wide))?;
    Err(failure.with(serde_json::to_value(&document).unwrap_or_default()))
}

/// Why not everything was measured.
pub(super) fn ended(error: LabError) -> Failure {
    let LabError::Stopped = error else { return error.into() };
    let hint = "what was measured until then is told, with what is missing";
    Failure::new(Exit::Failed, "stopped before everything was measured", hint).kind(Kind::Interrupted)
}

/// Writes the document and its page where they were asked for.
fn keep(save: Option<OutputFile>, html: Option<OutputFile>, document: &Document) -> Result<(), Failure> {
    if let Some(place) = save {
        let text = serde_json::to_vec(document)
            .map_err(|e| Failure::new(Exit::Failed, format!("the results can't be kept: {e}"), ""))?;
        place.write(&text)?;
    }
    html.map_or(Ok(()), |place| write_report(place, document))
}

/// How far it is: which workload, which test, how many of its turns.
pub(crate) fn bar() -> Turning {
    Turning::new(progress::turns("preparing"))
}
