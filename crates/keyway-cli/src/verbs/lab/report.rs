//! `lab report`: documents of one or several machines as one page.

use super::output_file;
use crate::failure::Failure;
use crate::output::Output;
use crate::shown::shown;
use keyway::lab::{Document, report};
use std::path::PathBuf;

/// Draw what was measured, on one machine or several, as one HTML page
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway lab report laptop.json --html report.html
  $ keyway lab report laptop.json desktop.json --html both.html")]
pub(super) struct Args {
    /// Files that `lab run` or `lab compare` wrote with --save
    #[arg(required = true, value_name = "FILE.json")]
    documents: Vec<PathBuf>,
    /// Where the page goes
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    html: PathBuf,
}

/// Runs the verb.
pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let load = |path: &PathBuf| Document::load(path);
    let documents = args.documents.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    output_file(&args.html, out)?.write(report::html(&documents).as_bytes())?;
    let told = serde_json::json!({"html": args.html, "documents": documents.len()});
    out.result(&told, || format!("Written: {}\n", shown(&args.html)))
}
