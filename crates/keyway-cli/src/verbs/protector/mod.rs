//! `protector`: what opens a volume. VeraCrypt and TrueCrypt volumes have one, a password with
//! keyfiles and a PIM; BitLocker volumes have any number, of several kinds.

mod args;
mod words;

use crate::dry_run::TargetArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::searching::SearchBar;
use crate::volume;
pub(crate) use args::Args;
use args::{Action, RecoveryArgs};
use keyway::protectors::{self, LastProtector, ProtectorRequest, Protectors};

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::List(args) => words::list(&protectors::list(&args.locked(&SearchBar::new())?)?, out),
        Action::Recovery(args) => recovery(args, out),
        Action::Add(args) => change(&args.on, args.request()?, out),
        Action::Change(args) => change(&args.on, args.request(), out),
        Action::Remove(args) => {
            let last = if args.last { LastProtector::Remove } else { LastProtector::Keep };
            change(&args.on, ProtectorRequest::Remove { id: args.id, last }, out)
        }
        Action::Suspend(args) => {
            // Before anyone types a password.
            if !args.dry.dry_run {
                out.confirm(&words::suspends(&args.target))?;
            }
            change(args, ProtectorRequest::Suspend, out)
        }
        Action::Resume(args) => change(args, ProtectorRequest::Resume, out),
    }
}

/// Plans a change, asks where something is lost by it, has it done, and tells it.
fn change(args: &TargetArgs, request: ProtectorRequest, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let plan = protectors::change(&volume, request)?;
    volume::warn(out, &plan.warnings);
    // Scripts say --yes to everything: what nobody can undo has a word of its own, and is asked nevertheless.
    let question = plan.loses.as_ref().map(|lost| format!("{lost}."));
    if args.dry.go_on(&plan, question.as_deref(), out)? {
        words::tell(&plan.run()?, out)?;
    }
    Ok(())
}

fn recovery(args: &RecoveryArgs, out: Output) -> Result<(), Failure> {
    let bar = SearchBar::new();
    let volume = args.target.locked(&bar)?;
    let opened = Protectors::look(&volume)?;
    volume::warn(out, &opened.warnings);
    match &args.to {
        Some(path) => words::saved(&opened.save_recovery_password(args.id, path)?, out),
        None => words::recovery(&opened.recovery_passwords(args.id)?, out),
    }
}
