//! `protector`: what opens a volume. VeraCrypt and TrueCrypt volumes have one, a password with
//! keyfiles and a PIM; BitLocker volumes have any number, of several kinds.

mod args;
mod list;

use crate::verbs::*;
pub(crate) use args::Args;
use args::{Action, AddArgs, ChangeArgs};
use keyway::protectors::{
    self, ChangedSecret, LastProtector, ProtectorLoss, ProtectorOutcome, ProtectorRequest, SecretChange,
    StillOpens, in_words,
};

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::List(args) => list::list(args, out),
        Action::Recovery(args) => list::recovery(args, out),
        Action::Add(args) => change(&args.on, args.request()?, out),
        Action::Change(args) => change(&args.on, args.request()?, out),
        Action::Remove(args) => {
            let last = if args.last { LastProtector::Remove } else { LastProtector::Keep };
            change(&args.on, ProtectorRequest::Remove { id: args.id.clone(), last }, out)
        }
        Action::Suspend(args) => change(args, ProtectorRequest::Suspend, out),
        Action::Resume(args) => change(args, ProtectorRequest::Resume, out),
    }
}

/// Plans a change, asks where something is lost by it, has it done, and tells it.
fn change(args: &TargetArgs, request: ProtectorRequest, out: Output) -> Result<(), Failure> {
    let volume = args.target.locked()?;
    volume.must_be_free(Access::ReadWrite)?;
    // Before anyone types a password.
    let asked = match protectors::lost_by(&volume, &request)?.filter(|_| !args.dry.dry_run) {
        Some(ProtectorLoss::Secrecy) => {
            Some(said("protector suspends", &json!({"path": in_json(&volume.path)})))
        }
        Some(ProtectorLoss::Last(lost)) => Some(format!("{lost}.")),
        None => None,
    };
    asked.as_ref().map_or(Ok(()), |question| out.confirm(question))?;
    let plan = protectors::change(&volume, request)?;
    out.warnings(&plan.warnings);
    // Scripts say --yes to everything: what nobody can undo has a word of its own, and is asked nevertheless.
    let question = plan.loses.as_ref().filter(|_| asked.is_none()).map(|lost| format!("{lost}."));
    let once = plan.told_once();
    out.must_be_heard(once)?;
    if !args.dry.go_on(&plan, question.as_deref(), out)? {
        return Ok(());
    }
    let outcome = plan.run()?;
    match &outcome {
        // What is in force now is told all the same: its owner must get it.
        ProtectorOutcome::Set(set) => {
            if let Some(error) = &set.warning {
                out.say(&words(&outcome))?;
                return Err(Failure::explained(error).with(json!(outcome)));
            }
        }
        ProtectorOutcome::Removed(removed) => match removed.opens {
            StillOpens::ClearKey => out.warn(&said("protector clear-key", &Value::Null)),
            StillOpens::Tpm => out.warn(&said("protector tpm", &Value::Null)),
            _ => {}
        },
        _ => {}
    }
    let later = || said("untold later", &json!({"volume": in_json(&args.target.volume)}));
    out.told(&outcome, || words(&outcome), once.map(|_| later))
}

fn words(outcome: &ProtectorOutcome) -> String {
    match outcome {
        ProtectorOutcome::Set(set) => {
            let pcrs = set.pcrs.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(",");
            let pcrs = set.pcrs.as_ref().map(|_| pcrs);
            let facts = facts(set, json!({"pcrs": pcrs, "replaced": set.replaced}));
            ["set", "digits", "file", "replaced"]
                .map(|what| said(&format!("protector {what}"), &facts))
                .concat()
        }
        ProtectorOutcome::Secret(changed) => changed_words(changed),
        ProtectorOutcome::Removed(removed) => said("protector removed", &facts(removed, Value::Null)),
        ProtectorOutcome::Protection(status) => said("protector protection", &facts(status, Value::Null)),
        _ => String::new(),
    }
}

fn changed_words(changed: &ChangedSecret) -> String {
    let rows = [
        ("  key derivation", changed.hash.to_string()),
        ("  keyfiles", changed.keyfiles.to_string()),
        ("  PIM", in_words::pim(changed.pim)),
    ];
    format!(
        "{} opens like this from now on.\n{}Header backups made before still open with the \
         old one: make a new one with `keyway header backup` and destroy them.",
        shown(&changed.volume),
        pairs(&rows)
    )
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
        let (secret, tpm) = (self.new.source(), self.new_tpm.source()?);
        Ok(ProtectorRequest::Add { kind, to: self.to.clone(), secret, tpm })
    }
}

impl ChangeArgs {
    fn request(&self) -> Result<ProtectorRequest, Failure> {
        let mut secret = SecretChange::default();
        secret.secret = self.new.source();
        (secret.hash, secret.no_keyfiles) = (self.new_hash, self.new_no_keyfiles);
        secret.no_password = self.new_no_password;
        let tpm = self.new_tpm.source()?;
        Ok(ProtectorRequest::Change { id: self.id.clone(), to: self.to.clone(), tpm, secret })
    }
}
