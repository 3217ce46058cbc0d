//! `lab run` and `lab compare`: asks, measures, tells.

use super::args::Common;
use super::{output_file, table, told_report};
use crate::progress;
use crate::verbs::*;
use keyway::lab::told::Turning;
use keyway::lab::{Drive, ExperimentRequest, Experiments, LabError, NamedCommand, OtherProgram, Target};

/// Measure one target
#[derive(clap::Args, Debug)]
pub(crate) struct Run {
    /// What is measured: plain, veracrypt:CIPHER, bitlocker:CIPHER, hardware:PATH, or a path
    #[arg(long, value_name = "TARGET", default_value = "plain", value_parser = parsed::<Target>)]
    target: Target,
    /// Name the workloads that are shipped, and do nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    common: Common,
}

/// Measure targets against a baseline, taking turns
#[derive(clap::Args, Debug)]
pub(crate) struct Compare {
    /// What the others are held against; unless given, the bare drive, with what the way there costs beside it
    #[arg(long, value_name = "TARGET", value_parser = parsed::<Target>)]
    baseline: Option<Target>,
    /// What is compared with it: plain, veracrypt:CIPHER, bitlocker:CIPHER, hardware:PATH, or a path; may be given again
    #[arg(long, value_name = "TARGET", required_unless_present = "entrant", value_parser = parsed::<Target>)]
    with: Vec<Target>,
    /// Another program beside them: COMMAND attaches it on $DRIVE or in $FOLDER, and prints where the device, file or
    /// folder is. What it attaches is written to: with --destroy-data. Repeatable
    #[arg(long, value_name = "NAME=COMMAND", value_parser = parsed::<NamedCommand>)]
    entrant: Vec<NamedCommand>,
    /// The command that takes it down again ($DEVICE is what it printed), where it isn't enough to end it
    #[arg(long, value_name = "NAME=COMMAND", requires = "entrant", value_parser = parsed::<NamedCommand>)]
    detach: Vec<NamedCommand>,
    /// Go on with what --save kept: what is missing is measured, and what is undecided measured on. With the options it had
    #[arg(long, value_name = "FILE.json")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Runs `lab run`.
pub(super) fn run(args: &Run, out: Output) -> Result<(), Failure> {
    if args.list {
        return table::workloads(out);
    }
    go(ExperimentRequest::new(vec![args.target.clone()], Drive::from(".")), None, &args.common, out)
}

/// Runs `lab compare`.
pub(super) fn compare(args: &Compare, out: Output) -> Result<(), Failure> {
    let baseline = args.baseline.clone().or(args.common.no_bare.then_some(Target::Plain));
    let mut request = ExperimentRequest::against(baseline, args.with.iter().cloned(), Drive::from("."));
    request.others = OtherProgram::all(&args.entrant, &args.detach)?;
    go(request, args.resume.as_deref(), &args.common, out)
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
    let drives: Vec<Drive> = common.drive.iter().map(|words| words.as_str().into()).collect();
    let all = Experiments::of(&common.request(request), &drives, resume)?;
    for what in all.losses() {
        out.confirm(&format!("Overwrite {what}? Everything in it will be lost"))?;
    }
    let bar = bar(all.planned());
    let (found, error) = all.run(keyway::lab::encrypt_in_place, &stop, &bar)?;
    drop(bar);
    // What was found is told even where it can't be kept, or not everything could be measured.
    let kept = found.keep(save, html);
    let failure = error.map(ended).or(kept.err().map(Into::into));
    let page = || common.html.as_deref().map(|path| format!("\n{}", told_report(path))).unwrap_or_default();
    let words = || keyway::lab::told::found(&found, common.wide);
    let Some(failure) = failure else { return out.result(&found, || words() + &page()) };
    out.say(&words())?;
    Err(failure.with(serde_json::to_value(&found).unwrap_or_default()))
}

/// Why not everything was measured.
pub(super) fn ended(error: LabError) -> Failure {
    let LabError::Stopped = error else { return error.into() };
    let hint = "what was measured until then is told, with what is missing";
    Failure::new(Exit::Failed, "stopped before everything was measured", hint).kind(Kind::Interrupted)
}

/// How far it is: which workload, which test, how many of its turns.
pub(crate) fn bar(planned: Option<std::time::Duration>) -> Turning {
    let takes = planned.map(|all| all.as_secs()).filter(|seconds| *seconds > 10);
    takes.iter().for_each(|seconds| note(&said("lab takes", &json!({ "seconds": seconds }))));
    Turning::new(progress::turns("preparing", planned))
}
