//! `demo`: the tour in words; what it does is the library's.

use super::lab;
use crate::session_words;
use crate::verbs::*;
use crate::words::told;
use keyway::lab::{Document as Comparison, OutputFile};
use keyway::tour::{CoreSpeeds, Tour, TourStep};
use std::time::{Duration, Instant};

/// Take the tour: make volumes, open, write, verify, measure, clean up
///
/// Everything happens in a temporary folder; what stays is the page with the measurements.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Where the page with the measurements goes [default: report.html, or the next free name]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Measure for so long at most, until all that encryption costs is decided [default: 1]
    #[arg(long, value_name = "N", value_parser = keyway::lab::spelled::minutes)]
    minutes: Option<f64>,
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
    #[serde(with = "keyway_attach::path_text")]
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
    what: String,
    why: String,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let began = Instant::now();
    let mut document = Document::default();
    // Before anything is made: what lies at a named place is not replaced unasked.
    let report = lab::report_place(args.report.as_deref());
    let place = match lab::output_file(&report, out) {
        Err(failure) if [Kind::Usage, Kind::Declined].contains(&failure.kind) => {
            return Err(failure.hint("name another place with --report, or add --yes"));
        }
        // Whoever names a place wants the page; nobody waits for it in vain.
        Err(failure) if args.report.is_some() => {
            return Err(failure.hint("name a place that can be written to with --report"));
        }
        place => place,
    };
    let stop = crate::progress::stop_on_signals()?;
    let tour = Tour::begin(&session_words::start, &stop)?;
    let folder = tour.folder().display();
    out.say(&format!("A tour of Keyway, in {folder}, which is removed at the end. A report stays.\n\n"))?;
    for step in TourStep::ALL {
        match step.lack() {
            Some(lack) => {
                let what = said(&format!("skipped {}", step.name()), &Value::Null);
                document.skip(what, told(&lack), out)?;
            }
            None => document.step(step.name(), out, || tour.go(step).map(|found| (found.facts(), ())))?,
        }
    }
    document.unlock_ms = document.steps.iter().find(|step| step.name == "unlock").map(|step| step.ms);
    document.speeds = CoreSpeeds::measure()?;
    out.say(&document.speeds.words())?;
    document.compare(&tour, args, &report, place, out)?;
    drop(tour);
    out.result(&document, || {
        let seconds = began.elapsed().as_secs_f64();
        let skipped = document.skipped.iter().map(|s| format!("Skipped: {}, because {}.\n", s.what, s.why));
        let skipped: String = skipped.collect();
        let next = "Next: `keyway create --help`, `keyway open --help`, `keyway doctor`.";
        let stays = document.report.as_deref().map(|page| format!(", but the report {}", shown(page)));
        let stays = stays.unwrap_or_default();
        format!("Done in {seconds:.0} s, and everything is cleaned up{stays}.\n{skipped}{next}")
    })
}

impl Document {
    /// Tells what comes, does it, tells what was found and how long it took.
    fn step<T, E: Into<Failure>>(
        &mut self,
        name: &'static str,
        out: Output,
        work: impl FnOnce() -> Result<(Value, T), E>,
    ) -> Result<T, Failure> {
        out.say(&format!("{}. {}", self.steps.len() + 1, said(&format!("tour {name}"), &Value::Null)))?;
        let began = Instant::now();
        let (facts, value) = work().map_err(Into::into)?;
        let ms = (began.elapsed().as_secs_f64() * 1e4).round() / 10.0;
        let found = said(&format!("found {name}"), &facts);
        out.say(&format!("   {found} ({ms:.0} ms)\n\n"))?;
        self.steps.push(Step { name, ms, found });
        Ok(value)
    }

    fn skip(&mut self, what: String, why: String, out: Output) -> Result<(), Failure> {
        out.say(&format!("-  Skipped: {what}, because {why}.\n\n"))?;
        self.skipped.push(Skipped { what, why });
        Ok(())
    }

    /// What encryption costs on the drive under the temporary folder.
    fn compare(
        &mut self,
        tour: &Tour<'_>,
        args: &Args,
        report: &Path,
        place: Result<OutputFile, Failure>,
        out: Output,
    ) -> Result<(), Failure> {
        let time = Duration::from_secs_f64(args.minutes.unwrap_or(1.0) * 60.0);
        let compared =
            || tour.compare(time, &lab::bar(None)).map(|found| (json!({"tests": found.tests()}), found));
        let found = match self.step("laboratory", out, compared) {
            Err(Failure { kind: Kind::NoSpace, message, .. }) if args.report.is_none() => {
                let why = format!("{message}; TMPDIR=FOLDER keyway demo has another disk");
                return self.skip("measuring what encryption costs".to_owned(), why, out);
            }
            found => found?,
        };
        out.say(&format!("{}\n", lab::words(&found, false)))?;
        let written = place.and_then(|place| lab::write_report(place, &found));
        self.laboratory = Some(found);
        if let Err(Failure { message, .. }) = written {
            // The tour was taken all the same.
            let why = format!("{message}; name a place with --report");
            return self.skip("writing the report".to_owned(), why, out);
        }
        out.say(&format!("{}\n", lab::told_report(report)))?;
        self.report = Some(std::path::absolute(report).unwrap_or_else(|_| report.to_owned()));
        Ok(())
    }
}
