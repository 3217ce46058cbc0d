//! `resize`: a volume gets larger or smaller, with everything in it.

use crate::progress::Later;
use crate::session_words;
use crate::verbs::*;
use keyway::resize::{ResizePlan, ResizeRequest, Resized, resize};
use keyway::{Progress, Stage};
use std::ops::ControlFlow;

/// Make a volume larger or smaller, with everything in it
///
/// A file gets the size that is named; a volume on a device fills it, as far as nothing smaller is
/// named: make the partition larger before, or smaller afterwards. The volume must not be open. An ext4 or NTFS
/// file system in it gets larger and smaller with it, by its own tool; others must fit. Losing power loses nothing
/// but while that tool works: make a backup first.
#[derive(clap::Args, Debug)]
#[command(mut_arg("partition", |arg| arg.hide(true)), mut_arg("system", |arg| arg.hide(true)))]
#[command(mut_arg("system_header", |arg| arg.hide(true)))]
pub(crate) struct Args {
    /// The new size of the file, or of what the volume uses of a device, headers included
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    size: Option<u64>,
    /// Do not overwrite what is new with noise: faster, and shows what of it is unused
    #[arg(long)]
    quick: bool,
    /// Leave the file system inside as large as it is
    #[arg(long)]
    keep_filesystem: bool,
    #[command(flatten)]
    on: TargetArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let volume = args.on.target.locked()?;
    let mut request = ResizeRequest::default();
    (request.bytes, request.quick, request.keep_filesystem) = (args.size, args.quick, args.keep_filesystem);
    request.serving = Some(session_words::serving());
    let plan = resize(&volume, request)?;
    out.warnings(&plan.warnings);
    if !args.on.dry.go_on(&plan, question(&plan).as_deref(), out)? {
        return Ok(());
    }
    let shown = Shown { bar: Later::new(|_| "resize".to_owned()), out };
    let done = plan.run(&shown)?;
    drop(shown);
    out.result(&done, || words(&done))?;
    if let Some(error) = done.not_grown {
        let Failure { message, hint, .. } = error.into();
        out.warn(&format!("the file system inside did not get larger: {message}; {hint}"));
    }
    Ok(())
}

/// What is to be asked before; nothing where nothing can be lost.
fn question(plan: &ResizePlan<'_>) -> Option<String> {
    let follows = plan.filesystem.and_then(|fs| Some((fs, fs.becomes_bytes?)));
    let less = follows.map(|(fs, to)| fs.bytes.saturating_sub(to));
    let smaller = plan.data_bytes_before.checked_sub(plan.data_bytes).filter(|by| *by > 0);
    if smaller.is_none() && follows.is_none() {
        return None;
    }
    let more = json!({"kind": follows.map(|(fs, _)| fs.kind.name()), "less": less, "smaller": smaller});
    let mut facts = facts(plan, more);
    for part in ["hidden", "inside"] {
        facts[part] = said(&format!("resize {part}"), &facts).into();
    }
    Some(said(if smaller.is_some() { "resize shrinks" } else { "resize grows" }, &facts))
}

fn words(done: &Resized) -> String {
    let facts = facts(
        done,
        json!({"unused_room": done.unused_room, "frees_device": done.frees_device, "same": done.data_bytes == done.data_bytes_before,
            "can_grow": done.filesystem.is_some_and(|kind| kind.can_grow())}),
    );
    ["done", "has", "rest"].map(|part| said(&format!("resize {part}"), &facts)).concat()
}

/// What is done, on the terminal.
struct Shown<F> {
    bar: Later<F>,
    out: Output,
}

impl<F: Fn(Stage) -> String + Sync> Progress for Shown<F> {
    fn stage(&self, stage: Stage) {
        let (kind, how) = match stage {
            Stage::Shrinking(kind) => (kind, "smaller"),
            Stage::Growing(kind) => (kind, "larger"),
            // From now on Ctrl-C stops it in good order.
            _ => {
                self.bar.stage(stage);
                let _ = self.at(0, 0);
                return;
            }
        };
        self.bar.done();
        self.out.announce(&said("tool works", &json!({"kind": kind.name(), "how": how})));
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.at(done, total)
    }
}
