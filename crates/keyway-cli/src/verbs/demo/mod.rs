//! `demo`: the tour in words; what it does is the library's.

mod words;

use super::lab;
use crate::failure::Failure;
use crate::output::Output;
use crate::session_words;
use keyway::Error;
use keyway::lab::{Document as Comparison, OutputFile};
use keyway::tour::{CoreSpeeds, Tour, TourStep};
use keyway_error::Kind;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Take the tour: make volumes in a temporary folder, open, write, verify, measure, clean up
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway demo
  $ keyway demo --report /tmp/report.html --json")]
pub(crate) struct Args {
    /// Where the page with the measurements goes [default: report.html]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What the tour tells with `--json`.
#[derive(Serialize, Default)]
struct Document {
    steps: Vec<Step>,
    skipped: Vec<Skipped>,
    unlock_ms: Option<f64>,
    #[serde(flatten)]
    speeds: CoreSpeeds,
    /// What encryption costs on the drive under the temporary folder, as `lab compare` tells it.
    laboratory: Option<Comparison>,
    report: Option<PathBuf>,
}

#[derive(Serialize)]
struct Step {
    name: &'static str,
    ms: f64,
    found: String,
}

#[derive(Serialize)]
struct Skipped {
    what: &'static str,
    why: String,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let began = Instant::now();
    let mut document = Document::default();
    // Before anything is made: a page of somebody else's is not replaced unasked.
    let report = args.report.as_deref().unwrap_or(Path::new("report.html"));
    let place = match lab::output_file(report, out) {
        Err(failure) if [Kind::Usage, Kind::Declined].contains(&failure.kind) => {
            return Err(failure.hint("name another place with --report, or add --yes"));
        }
        // Whoever names a place wants the page; nobody waits for it in vain.
        Err(failure) if args.report.is_some() => {
            return Err(failure.hint("name a place that can be written to with --report"));
        }
        place => place,
    };
    let start = |plan: &_, secrets: &_| session_words::start(plan, secrets).map_err(Error::answer);
    let tour = Tour::begin(&start)?;
    let folder = tour.folder().display();
    out.say(&format!("A tour of Keyway. Everything happens in {folder} and is removed at the end.\n\n"))?;
    for step in TourStep::ALL {
        let (name, what) = words::of(step);
        match step.lack() {
            Some(lack) => skip(&mut document, words::left_out(step), words::why(&lack), out)?,
            None => told(&mut document, name, what, out, || {
                tour.go(step).map(|found| (words::found(step, &found), ()))
            })?,
        }
        if step == TourStep::Unlock {
            document.unlock_ms = document.steps.last().map(|step| step.ms);
        }
    }
    document.speeds = CoreSpeeds::measure()?;
    out.say(&words::speeds(&document.speeds))?;
    laboratory(&mut document, &tour, (report, place), out)?;
    drop(tour);
    out.result(&document, || {
        let seconds = began.elapsed().as_secs_f64();
        let mut text = format!("Done in {seconds:.0} s, and everything is cleaned up.\n");
        for Skipped { what, why } in &document.skipped {
            text.push_str(&format!("Skipped: {what}, because {why}.\n"));
        }
        text + "Next: `keyway create --help`, `keyway open --help`, `keyway doctor`."
    })
}

/// Tells what comes, does it, tells what was found and how long it took.
fn told<T, E: Into<Failure>>(
    document: &mut Document,
    name: &'static str,
    what: &str,
    out: Output,
    work: impl FnOnce() -> Result<(String, T), E>,
) -> Result<T, Failure> {
    out.say(&format!("{}. {what}", document.steps.len() + 1))?;
    let began = Instant::now();
    let (found, value) = work().map_err(Into::into)?;
    let ms = (began.elapsed().as_secs_f64() * 1e4).round() / 10.0;
    out.say(&format!("   {found} ({ms:.0} ms)\n\n"))?;
    document.steps.push(Step { name, ms, found });
    Ok(value)
}

fn skip(document: &mut Document, what: &'static str, why: String, out: Output) -> Result<(), Failure> {
    out.say(&format!("-  Skipped: {what}, because {why}.\n\n"))?;
    document.skipped.push(Skipped { what, why });
    Ok(())
}

/// What encryption costs on the drive under the temporary folder.
fn laboratory(
    document: &mut Document,
    tour: &Tour<'_>,
    (report, place): (&Path, Result<OutputFile, Failure>),
    out: Output,
) -> Result<(), Failure> {
    let what = "Compare encrypted volumes with a plain one on this drive, taking turns (A B B A).";
    let found = told(document, "laboratory", what, out, || {
        tour.compare().map(|found| (format!("{} tests", found.tests()), found))
    })?;
    out.say(&format!("{}\n", lab::table_of(&found)))?;
    let written = place.and_then(|place| lab::write_report(place, &found));
    document.laboratory = Some(found);
    match written {
        Ok(()) => {
            let shown = std::path::absolute(report).unwrap_or_else(|_| report.to_owned());
            out.say(&format!("The same as charts: {}\n\n", shown.display()))?;
            document.report = Some(shown);
            Ok(())
        }
        // The tour was taken all the same.
        Err(Failure { message, .. }) => {
            skip(document, "writing the report", format!("{message}; name a place with --report"), out)
        }
    }
}
