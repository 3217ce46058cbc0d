//! `lab study`: the experiments of published articles, made again.

use super::compare::{bar, ended};
use super::{command, output_file, told_report};
use crate::output::tables;
use crate::verbs::*;
use keyway::lab::study::{self, StudyPlan};
use keyway::lab::{OutputFile, report};

/// Measure what published articles claim of encryption, with a verdict for each claim
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The article; `--list` names them
    #[arg(required_unless_present_any = ["all", "list"], conflicts_with_all = ["all", "list"])]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(study::names()))]
    name: Option<String>,
    /// All of them, in less than a quarter of an hour
    #[arg(long, conflicts_with = "list")]
    all: bool,
    /// Name the articles, and do nothing
    #[arg(long)]
    list: bool,
    /// Where the report goes [default: study.html, or the next free name]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if args.list {
        let all = study::shipped()?;
        return out.result(&json!({"studies": all}), || tables([study::list(&all)]));
    }
    let stop = crate::progress::stop_on_signals()?;
    let html = args.html.clone().unwrap_or_else(|| OutputFile::free(Path::new("study.html")));
    let page = output_file(&html, out)?;
    let plan = StudyPlan::of(args.name.as_deref(), &command())?;
    let bar = bar(plan.planned());
    let (found, error) = plan.run(keyway::lab::encrypt_in_place, &stop, &bar);
    drop(bar);
    let kept = page.write(report::studies(&found).as_bytes());
    let words = || keyway::lab::told::studies(&found) + &told_report(&html);
    let told = facts(&found, json!({"html": html}));
    let Some(failure) = error.map(ended).or(kept.err().map(Into::into)) else {
        return out.result(&told, words);
    };
    out.say(&words())?;
    Err(failure.with(told))
}
