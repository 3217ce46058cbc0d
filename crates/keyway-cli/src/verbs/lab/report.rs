//! `lab report`: documents of one or several machines as one page.

use super::OutputFile;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shown::shown;
use keyway_lab::{Document, report};
use std::path::{Path, PathBuf};

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
    let documents = args.documents.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    OutputFile::at(&args.html, out)?.write(report::html(&documents).as_bytes())?;
    let told = serde_json::json!({"html": args.html, "documents": documents.len()});
    out.result(&told, || format!("Written: {}\n", shown(&args.html)))
}

fn read(path: &Path) -> Result<Document, Failure> {
    let text = std::fs::read(path).map_err(|e| Failure::io("read", path, &e))?;
    serde_json::from_slice(&text).map_err(|e| {
        let what = format!("{} is not a laboratory's document: {e}", path.display());
        Failure::new(Exit::Failed, what, "name a file that `keyway lab compare --save FILE.json` wrote")
            .kind(keyway_error::Kind::NotADocument)
    })
}
