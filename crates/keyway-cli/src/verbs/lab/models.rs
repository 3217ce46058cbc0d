//! `lab models`: the modelled drives, each beside what was published of it.

use crate::failure::Failure;
use crate::output::{Output, tables};
use keyway::lab::calibration::{self, Sheet};
use serde::Serialize;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Only this one, or a model of your own in a file
    #[arg(value_name = "MODEL|FILE")]
    model: Option<String>,
}

#[derive(Serialize)]
struct Document {
    models: Vec<Sheet>,
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let document = Document { models: calibration::sheets(args.model.as_deref())? };
    out.result(&document, || words(&document.models))
}

fn words(models: &[Sheet]) -> String {
    let text = tables(models.iter().map(Sheet::table));
    text + "\nModelled figures are of the simulated clock: exact, and the same on every machine.\n"
}
