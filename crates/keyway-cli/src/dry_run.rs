//! `--dry-run`: a plan is looked at, printed, and not carried out.

use crate::failure::Failure;
use crate::output::{Output, pairs};
use crate::unlock_args::VolumeArgs;
use crate::words::TOLD;
use keyway::Error;
use keyway::told;
use serde::Serialize;

/// The option of the verbs that write.
#[derive(clap::Args, Debug, Clone, Copy, Default)]
pub(crate) struct DryRunArgs {
    /// Print what would be done, and do nothing
    #[arg(long, display_order = 902)]
    pub(crate) dry_run: bool,
}

/// A volume that is written to.
#[derive(clap::Args, Debug)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
    #[command(flatten)]
    pub(crate) target: VolumeArgs,
}

impl DryRunArgs {
    /// Carries a plan out where it is to be, and tells what came of it.
    pub(crate) fn carry_out<P: Serialize, T: Serialize>(
        self,
        plan: P,
        question: Option<&str>,
        run: impl FnOnce(P) -> Result<T, Error>,
        words: impl FnOnce(&T) -> String,
        out: Output,
    ) -> Result<(), Failure> {
        if !self.go_on(&plan, question, out)? {
            return Ok(());
        }
        let done = run(plan)?;
        out.result(&done, || words(&done))
    }

    /// Whether a plan is to be carried out: asks the question first, where there is one; with `--dry-run` prints the plan
    /// instead, as `{"dry_run":true,"plan":…}` or as a table of its fields.
    pub(crate) fn go_on(
        self,
        plan: &impl Serialize,
        question: Option<&str>,
        out: Output,
    ) -> Result<bool, Failure> {
        if !self.dry_run {
            return question.map_or(Ok(()), |question| out.confirm(question)).map(|()| true);
        }
        out.result(&Document { dry_run: true, plan }, || words(plan, question))?;
        Ok(false)
    }
}

#[derive(Serialize)]
struct Document<'a, P> {
    dry_run: bool,
    plan: &'a P,
}

fn words(plan: &impl Serialize, question: Option<&str>) -> String {
    let question = question.map(|question| format!("{question}\n")).unwrap_or_default();
    format!("Nothing was done. This would be:\n{}{question}", pairs(&told::rows(plan, TOLD)))
}

#[cfg(test)]
#[path = "../tests/inner/dry_run.rs"]
mod tests;
