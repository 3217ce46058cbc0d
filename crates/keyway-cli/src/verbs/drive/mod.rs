//! `drive`: drives that encrypt by themselves (TCG Opal and its relatives), and virtual ones to try everything on first. What
//! changes a drive is [`Wanted`] by the file of its verb, and planned, asked about, done and told here.

mod args;
#[cfg(feature = "virtual-drive")]
mod emulate;
mod failure;
mod hardware;
mod info;
mod range;
mod setup;
mod sheet;
mod table;
mod user;
mod whole;

use crate::progress::Later;
use crate::verbs::*;
use keyway::drive::{Authority, Drive, DriveChange, DriveNote, DriveOutcome, DriveSecrets, OutcomeFacts};

pub(crate) use hardware::{HardwareArgs, decrypt, encrypt};
pub(crate) use info::show;
pub(crate) use setup::OwnerArgs;

/// Drives that encrypt by themselves: set up, lock, unlock, erase
///
/// DEVICE is an NVMe, SATA or SAS drive (/dev/nvme0n1, /dev/sda), or the state file of a virtual drive.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    #[command(flatten)]
    Info(info::Action),
    Setup(setup::Args),
    #[command(flatten)]
    Whole(whole::Action),
    #[command(subcommand)]
    Range(range::Action),
    #[command(subcommand)]
    User(user::Action),
    #[command(subcommand)]
    Mbr(table::ShadowAction),
    #[command(subcommand)]
    Store(table::StoreAction),
    #[cfg(feature = "virtual-drive")]
    Emulate(emulate::Args),
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.action {
        Action::Info(action) => info::run(action, out),
        Action::Setup(args) => args.wanted()?.run(out),
        Action::Whole(action) => whole::wanted(action)?.run(out),
        Action::Range(action) => range::run(action, out),
        Action::User(action) => user::run(action, out),
        Action::Mbr(action) => table::shadow(action, out),
        Action::Store(action) => table::store(action, out),
        #[cfg(feature = "virtual-drive")]
        Action::Emulate(args) => emulate::run(args, out),
    }
}

/// What is wanted of a drive, as whom and with which secrets, and whether it is only planned.
struct Wanted<'a> {
    device: &'a Path,
    change: DriveChange,
    by: Option<Authority>,
    secrets: DriveSecrets<'static>,
    dry: DryRunArgs,
}

impl Wanted<'_> {
    /// Has it done, and tells what came of it.
    fn run(self, out: Output) -> Result<(), Failure> {
        let Some(done) = self.done(out)? else { return Ok(()) };
        out.result(&done, || match &done.plan.change {
            DriveChange::SetUp(_) => format!("{} {}", tell("set-up", &done), setup::next(&done)),
            _ if matches!(done.facts, OutcomeFacts::Shadow(_)) => tell("shadow", &done),
            change => tell(&word(change), &done),
        })
    }

    /// Plans it, asks where something is lost, and does it; nothing where only the plan was wanted.
    fn done(self, out: Output) -> Result<Option<DriveOutcome>, Failure> {
        let mut drive = Drive::open(self.device)?;
        let plan = drive.plan(self.change, self.by)?;
        self.secrets.check()?;
        for note in &plan.notes {
            out.warn(&match note {
                DriveNote::Keeps(contents) => format!("on it is {contents}; that stays as it is"),
                _ => "this drive locks without encrypting: whoever takes its chips out can read them"
                    .to_owned(),
            });
        }
        let loss = || {
            let facts = facts(&plan.change, json!({"device": shown(&plan.device)}));
            said(&format!("drive lose {}", word(&plan.change)), &facts)
        };
        if !self.dry.go_on(&plan, plan.loses_data.then(loss).as_deref(), out)? {
            return Ok(None);
        }
        let done = drive.carry_out(plan, &self.secrets, &Later::new(|_| "writing".to_owned()))?;
        let warnings: &[&str] = match done.facts {
            OutcomeFacts::Unlocked { covered: true, .. } => &["covered", "switched-off"],
            OutcomeFacts::Unlocked { saved: false, .. } => &["not-saved", "switched-off"],
            OutcomeFacts::Unlocked { .. } | OutcomeFacts::Shadow(_) => &["switched-off"],
            _ => &[],
        };
        let warnings = warnings.iter().map(|word| tell(word, &done));
        warnings.filter(|words| !words.is_empty()).for_each(|words| out.warn(&words));
        Ok(Some(done))
    }
}

/// The word of a change.
fn word(change: &DriveChange) -> String {
    let fields = serde_json::to_value(change).unwrap_or_default();
    fields["action"].as_str().unwrap_or_default().to_owned()
}

/// A sentence about what was done.
fn tell(word: &str, done: &DriveOutcome) -> String {
    let device = &done.plan.device;
    let more = json!({"device": shown(device), "next": for_shell(device), "seconds": done.took.as_secs_f64(),
            "file": device.is_file()});
    let mut more = facts(done, more);
    if let OutcomeFacts::Erased { user: Some(user) } = done.facts {
        more["user"] = json!(user.to_string());
    }
    said(&format!("drive {word}"), &facts(&done.plan.change, more))
}
