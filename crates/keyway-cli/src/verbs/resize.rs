//! `resize`: a volume gets larger or smaller, with everything in it.

use crate::attach_words::by_fuse;
use crate::dry_run::DryRunArgs;
use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, bytes};
use crate::progress::Later;
use crate::searching::SearchBar;
use crate::session_words;
use crate::shown::shown;
use crate::volume::Which;
use keyway::Error;
use keyway::resize::{HiddenVolume, Observer, ResizePlan, ResizeRequest, Resized, Stage, resize};
use keyway::session::{Session, SessionSecrets};
use keyway::unlock::Family;
use keyway_volume::Progress as _;
use std::ops::ControlFlow;
use std::path::Path;

/// Make a volume larger or smaller, with everything in it
///
/// A file gets the size that is named; a volume on a device fills it, as far as nothing smaller is
/// named: make the partition larger before, or smaller afterwards. The volume must not be open. An ext4 or NTFS
/// file system in it gets larger and smaller with it, by its own tool; others must fit. Losing power loses nothing
/// but while that tool works: make a backup first.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway resize secret.hc --size 20G
  $ sudo keyway resize /dev/sdb1 --password-file pw.txt --yes")]
pub(crate) struct Args {
    /// The new size of the file, or of what the volume uses of a device, headers included
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    size: Option<u64>,
    /// Do not overwrite what is new with noise: faster, and shows what of it is unused
    #[arg(long)]
    quick: bool,
    /// Leave the file system inside as large as it is
    #[arg(long)]
    keep_filesystem: bool,
    #[command(flatten)]
    dry: DryRunArgs,
    #[command(flatten)]
    target: VolumeArgs,
}

/// Runs the verb.
pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let search = SearchBar::new();
    let volume = args.target.locked(&search)?;
    let mut request = ResizeRequest::default();
    (request.bytes, request.quick, request.keep_filesystem) = (args.size, args.quick, args.keep_filesystem);
    let plan = resize(&volume, request)?;
    if !args.dry.go_on(&plan, question(&plan).as_deref(), out)? {
        return Ok(());
    }
    let shown = Shown { which: args.target.which(), bar: Later::new(|_| "resize".to_owned()), out };
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
    let (path, fs) = (shown(&plan.volume), plan.filesystem);
    let follows = fs.and_then(|fs| Some((fs, fs.becomes_bytes?)));
    let hidden = match plan.hidden_volume {
        Some(HiddenVolume::Lost) => " A hidden volume in it will be lost.",
        Some(HiddenVolume::LostBehindTheEnd) => {
            " A hidden volume in it is lost if it reaches behind the new end."
        }
        Some(_) => {
            " A hidden volume in it may be damaged by that: if there is one, say no, and add --keep-filesystem."
        }
        None => "",
    };
    if plan.data_bytes >= plan.data_bytes_before {
        let kind = follows?.0.kind;
        return Some(format!(
            "The {kind} file system in {path} gets larger too, with its own tools. Make a backup first.{hidden}"
        ));
    }
    let inside = match (fs, follows) {
        (_, Some((fs, to))) => format!(
            " Its {} file system is made {} smaller before that, with its own tools.",
            fs.kind,
            bytes(fs.bytes - to)
        ),
        (Some(_), None) => String::new(),
        (None, _) => " No file system is known in it: what lies behind the new end is lost.".to_owned(),
    };
    let smaller = bytes(plan.data_bytes_before - plan.data_bytes);
    Some(format!("{path} gets {smaller} smaller.{inside}{hidden} Make a backup first."))
}

fn words(done: &Resized) -> String {
    let path = shown(&done.volume);
    let (now, before) = (bytes(done.data_bytes), bytes(done.data_bytes_before));
    let what = if done.format == Family::BitLocker { "metadata" } else { "headers" };
    let size = format!(
        "{path} has room for {now} now, and had for {before}. Backups of its {what} are of the old size."
    );
    let inside = match done.filesystem.zip(done.filesystem_bytes) {
        Some((kind, has)) => {
            let room = ": open the volume to make it larger with its own tool";
            let more = if done.unused_room { room } else { "" };
            format!("\nIts {kind} file system has {}{more}.", bytes(has))
        }
        None => String::new(),
    };
    let rest = "\nMake the partition as small as that now: what lies behind it is not the volume's any more.";
    format!("{size}{inside}{}", if done.frees_device { rest } else { "" })
}

/// What is done, on the terminal; and the program's own serving process.
struct Shown<F> {
    which: Which,
    bar: Later<F>,
    out: Output,
}

impl<F: Fn(keyway_volume::Stage) -> String + Sync> Observer for Shown<F> {
    fn stage(&self, stage: Stage) {
        let (kind, how) = match stage {
            Stage::Shrinking(kind) => (kind, "smaller"),
            Stage::Growing(kind) => (kind, "larger"),
            // From now on Ctrl-C stops it in good order.
            _ => {
                let _ = self.at(0, 0);
                return;
            }
        };
        self.bar.done();
        self.out.announce(&format!("making the {kind} file system {how}"));
    }

    fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.at(keyway_volume::Stage::Fill, done, total)
    }

    fn serve(&self, _: &Path, secrets: &SessionSecrets) -> Result<Session, Error> {
        let plan = by_fuse(false).and_then(|way| self.which.to_serve(way));
        plan.and_then(|plan| session_words::start(&plan, secrets)).map_err(Error::answer)
    }
}
