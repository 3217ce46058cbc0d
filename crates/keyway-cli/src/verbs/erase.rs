//! `erase`: the end of a volume in an instant.

use crate::verbs::*;
use keyway::{ErasePlan, Erased};

/// Destroy every key of a volume, so that nobody can open it again
///
/// A BitLocker volume needs no secret for that. A VeraCrypt or TrueCrypt volume does: without one it
/// can't be told from any other file.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    on: TargetArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let TargetArgs { dry, target } = &args.on;
    let volume = target.locked()?.within(keyway::Sandbox::default());
    let plan = keyway::erase(&volume)?;
    let question = said("erase lose", &facts(&plan, json!({"volume": shown(&target.volume)})));
    let words = |erased: &Erased| said("erase", &facts(erased, Value::Null));
    // Who only wants to see it has nothing to agree to before.
    if dry.dry_run {
        plan.check()?;
    }
    dry.carry_out(plan, Some(&question), ErasePlan::run, words, out)
}
