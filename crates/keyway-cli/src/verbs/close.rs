//! `close`: flush, unmount, detach, wipe the keys.

use crate::verbs::*;
use keyway::session::{self, SilentProcess};

/// Flush, unmount and detach a volume, and wipe its keys
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The volume, its loop device, its file, or the folder it is mounted on
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT", required_unless_present = "all")]
    which: Option<PathBuf>,
    /// Close everything this user has open
    #[arg(long, conflicts_with = "which")]
    all: bool,
    /// It is no failure that the volume is not open
    #[arg(long, requires = "which")]
    if_open: bool,
    /// End with 7, not with 1, where the volume is not open
    #[arg(long, requires = "which", conflicts_with = "if_open")]
    exit_code: bool,
    #[command(flatten)]
    dry: DryRunArgs,
}

/// Runs the verb. With `--all` one that can't be closed does not keep the others open.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    if args.dry.dry_run {
        let plan = json!({"close": session::plan_close(args.which.as_deref())?});
        return args.dry.go_on(&plan, None, out).map(drop);
    }
    let mut failures = Vec::new();
    let destroy = |volume: &str| {
        let asked = out.confirm(&said("close destroys", &json!({ "volume": volume })));
        asked.map_err(|failure| failures.push(failure)).is_ok()
    };
    let done = session::close_each(args.which.as_deref(), &|silent| note(&waiting(silent)), destroy)?;
    let failed = done.failed.into_iter().map(Failure::from);
    failures.extend(failed.filter(|failure| !(args.if_open && failure.kind == Kind::NotOpen)));
    let closed = done.closed;
    let told = |what: &str, of: &session::ClosedVolume| said(what, &facts(of, Value::Null));
    let hit = closed.iter().filter_map(|closed| Some((told("close guarded", closed), closed.lost()?)));
    let mut hit = hit.collect::<Vec<_>>();
    if let Some(last) = failures.pop() {
        hit.iter().for_each(|(message, _)| out.warn(message));
        for closed in &closed {
            out.warn(&format!("{} was closed, but not everything was", shown(&closed.volume)));
        }
        for failure in &failures {
            out.warn(&format!("{}; {}", failure.message, failure.hint));
        }
        let closed = args.exit_code && last.kind == Kind::NotOpen;
        return Err(if closed { Failure { exit: Exit::NotOpen, ..last } } else { last });
    }
    closed.iter().filter(|closed| closed.killed).for_each(|closed| out.warn(&told("close killed", closed)));
    let lines = || match closed.as_slice() {
        [] => "Nothing was open.".to_owned(),
        all => all.iter().map(|closed| told("close done", closed)).collect::<Vec<_>>().join("\n"),
    };
    if let Some((message, lost)) = hit.pop() {
        hit.iter().for_each(|(message, _)| out.warn(message));
        out.say(&lines())?;
        return Err(Failure { message, ..Failure::explained(&lost) }.with(json!({"closed": closed})));
    }
    out.result(&json!({"closed": closed}), lines)
}

/// Whom it waits for, and what the person could do about it.
fn waiting(SilentProcess { pid, volume, why, .. }: &SilentProcess) -> String {
    said("close waits", &json!({"pid": pid, "volume": in_json(volume), "why": why.to_string()}))
}
