//! `status`: what is open, how, and how much went through it.

use crate::attach_words::with_reasons;
use crate::conversion::{self, JournalArgs};
use crate::status_words;
use crate::verbs::*;
use keyway::medium::look_again;
use keyway::session::{AnyStatus, OpenVolume, OtherUser, SessionElsewhere, VolumeStatus, WaitingVolume};

/// Tell what is open, or everything about one volume
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A volume, its device or its mount point; all open ones when left out
    #[arg(value_name = "VOLUME|DEVICE|MOUNTPOINT")]
    which: Option<PathBuf>,
    /// VOLUME is a disk, and this partition of it is meant
    #[arg(long, value_name = "N", requires = "which")]
    partition: Option<u32>,
    /// End with 7 where the volume is not open
    #[arg(long, requires = "which")]
    exit_code: bool,
    #[command(flatten)]
    journal: JournalArgs,
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    match &args.which {
        Some(name) => look_again(|| one(name, args, out)),
        None => all(out),
    }
}

fn all(out: Output) -> Result<(), Failure> {
    let volumes: Vec<VolumeStatus> = OpenVolume::all()?.into_iter().map(VolumeStatus::from).collect();
    let (waiting, killed) = (WaitingVolume::named(None)?, WaitingVolume::killed(None)?);
    let documents: Vec<Value> = volumes.iter().map(document).collect();
    let roots = OtherUser::root();
    let converting = keyway::conversion::all_under_way();
    let elsewhere = SessionElsewhere::all();
    let document = json!({ "volumes": documents, "waiting": waiting, "killed": killed, "of_root": roots,
        "converting": converting, "elsewhere": elsewhere });
    let own =
        elsewhere.into_iter().map(|one| format!("\n{} is {}", shown(&one.volume), OtherUser::from(one)));
    let (own, roots) = (&*own.collect::<String>(), &*roots);
    out.result(&document, || {
        status_words::all(&volumes, [&waiting, &killed], &converting, (roots, own)).trim_end().to_owned()
            + own
    })
}

fn one(name: &Path, args: &Args, out: Output) -> Result<(), Failure> {
    let status = AnyStatus::of(name, args.partition, args.journal.path())?;
    let (is_open, others) = (status.is_open(), status.other().map(OtherUser::is_own));
    match status {
        AnyStatus::Volume(status) => out.result(&document(&status), || status_words::one(name, &status)),
        AnyStatus::Converting { path, found, open } => {
            let document = OpenVolume::beside(json!(found), open.as_deref());
            out.result(&document, || {
                let attention = open.as_deref().map(status_words::attention).unwrap_or_default();
                [vec![conversion::words(&path, &found)], attention].concat().join("\n")
            })
        }
    }?;
    // All is told already.
    let code = others.map_or(Exit::NotOpen, |own| if own { Exit::Busy } else { Exit::NotPermitted });
    if is_open || !args.exit_code { Ok(()) } else { Err(Failure::new(code, "", "")) }
}

fn document(status: &VolumeStatus) -> Value {
    let reasons = status.session.as_ref().map(|open| &*open.state.reasons);
    with_reasons(status.document(), reasons)
}
