//! `ublk-owner` (hidden): to whom udev shall hand the nodes of a ublk device that was made without root.

use crate::verbs::*;

/// Print user and group of who made a ublk device without root; for a udev rule's PROGRAM
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The device's name as the kernel has it: ublkb0, or ublkc0 for its server's side
    name: String,
}

#[derive(Serialize)]
struct Owner {
    user: u32,
    group: u32,
}

/// Runs the verb. It fails for root's own devices: they stay root's.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let Some((user, group)) = keyway_attach::ublk::owner(&args.name) else {
        return Err(Failure::new(
            Exit::Failed,
            format!("{} is no ublk device of a user's", args.name),
            "only those are handed over",
        ));
    };
    out.result(&Owner { user, group }, || format!("{user} {group}\n"))
}
