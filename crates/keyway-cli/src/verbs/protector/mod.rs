//! `protector`: what opens a volume. VeraCrypt and TrueCrypt volumes have one, a password with
//! keyfiles and a PIM; BitLocker volumes have any number, of several kinds.

mod args;
mod words;

use crate::dry_run::TargetArgs;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::searching::SearchBar;
use crate::shown::shown;
pub(crate) use args::Args;
use args::{Action, AddArgs, ChangeArgs, RecoveryArgs};
use keyway::protectors::{self, LastProtector, ProtectorRequest, Protectors, SecretChange};
use serde_json::json;
use words::digits;

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
    out.warnings(&plan.warnings);
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
    out.warnings(&opened.warnings);
    if let Some(path) = &args.to {
        let saved = opened.save_recovery_password(args.id, path)?;
        return out.result(&saved, || {
            format!("The recovery password is in {}: keep it apart from the drive.", shown(&saved.file))
        });
    }
    let found = opened.recovery_passwords(args.id)?;
    let all = found.iter().map(|(id, password)| json!({"id": id, "recovery_password": digits(password)}));
    out.result(&json!({"recovery_passwords": all.collect::<Vec<_>>()}), || {
        let rows = found.iter().map(|(id, password)| vec![id.to_string(), digits(password)]);
        table(&["id", "recovery password"], 2, rows)
    })
}

impl AddArgs {
    fn request(&self) -> Result<ProtectorRequest, Failure> {
        let kind = self.kind;
        if !kind.needs_tpm() && self.new_tpm.is_given() {
            return Err(Failure::usage(
                "--new-tpm, --pcrs, --new-pin-file and --new-pin-fd are for protectors with a TPM",
                "leave them out, or add one of the kinds tpm, tpm-pin, tpm-startup-key, tpm-pin-startup-key",
            ));
        }
        let (secret, tpm) = (self.new.source().named(), self.new_tpm.source()?);
        Ok(ProtectorRequest::Add { kind, to: self.to.clone(), secret, tpm })
    }
}

impl ChangeArgs {
    fn request(&self) -> ProtectorRequest {
        let mut secret = SecretChange::default();
        secret.secret = self.new.source().named();
        (secret.hash, secret.no_keyfiles) = (self.new_hash, self.new_no_keyfiles);
        ProtectorRequest::Change { id: self.id, to: self.to.clone(), secret }
    }
}
