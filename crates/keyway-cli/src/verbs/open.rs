//! `open`: unlock a volume and attach it.

use crate::attach_words::WAYS;
use crate::session_words::{self, told_of};
use crate::unlock_args::ProtectArgs;
use crate::verbs::*;
use keyway::session::{AttachBy, AttachRequest, SessionPlan, SessionSecrets, hides_files, mount_open};

/// Unlock a volume and attach it as a file or device, mounted if asked
///
/// Without root it appears as a file, as root also as a block device.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Have the files inside in this folder: as root mounted by the kernel, else for reading; root also of an open volume
    #[arg(index = 2)]
    mountpoint: Option<PathBuf>,
    /// Mount it with these options of mount(8), as `noatime,uid=1000`; nosuid and nodev always hold
    #[arg(long, value_name = "LIST", requires = "mountpoint", default_value = "", hide_default_value = true)]
    mount_options: String,
    /// How the volume reaches you
    #[arg(long, value_parser = choice(WAYS), default_value = "auto")]
    attach: AttachBy,
    /// Refuse every write
    #[arg(long, aliases = ["ro", "readonly"], short_alias = 'r')]
    read_only: bool,
    /// Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused
    #[arg(long, conflicts_with = "read_only")]
    allow_discards: bool,
    /// Let the block device go through a page cache, as a plain loop device does: reads come from memory where they can,
    /// writes wait there for a flush (needs root; a mounted file system has a page cache of its own)
    #[arg(long, conflicts_with_all = ["protect_hidden", "allow_discards"])]
    cache: bool,
    /// Refuse writes that would damage the hidden volume; asks for its secret
    #[arg(long, conflicts_with = "read_only")]
    protect_hidden: bool,
    /// Close by itself when nothing was read or written for so long, and nobody uses it: 90s, 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = size::time)]
    close_when_idle: Option<std::time::Duration>,
    /// Stay here until the volume is closed or Ctrl-C comes
    #[arg(long)]
    foreground: bool,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    on: TargetArgs,
    #[command(flatten)]
    protect: ProtectArgs,
}

impl Args {
    /// The volume, and where its files are to be.
    pub(crate) fn places(&self) -> (&Path, Option<&Path>) {
        (&self.on.target.volume, self.mountpoint.as_deref())
    }

    /// Whether it is only to be shown.
    pub(crate) fn is_dry(&self) -> bool {
        self.on.dry.dry_run
    }
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let mut volume = args.on.target.locked()?;
    volume.protect = args.protect.wanted(args.protect_hidden);
    // What is open is mounted, and no secret is asked for again.
    if let Some(at) = &args.mountpoint
        && let Some(plan) =
            mount_open(&volume.path, volume.arguments.partition, at, &args.mount_options, args.read_only)?
    {
        warn_of_hidden(args.mountpoint.as_deref(), out);
        if !args.on.dry.go_on(&plan, None, out)? {
            return Ok(());
        }
        return session_words::tell(&plan.run()?, "", &[], false, out);
    }
    let mut request = AttachRequest::new(&volume.path, volume.arguments.clone(), args.attach.clone());
    request.mount.clone_from(&args.mountpoint);
    request.mount_options.clone_from(&args.mount_options);
    (request.read_only, request.discards, request.cache) = (args.read_only, args.allow_discards, args.cache);
    request.close_when_idle = args.close_when_idle;
    request.protect_hidden = volume.protect.is_some();
    request.require_sandbox = args.confined.require_sandbox;
    let mut plan = request.plan()?;
    plan.given = size::given(&volume) + if args.read_only { " --read-only" } else { "" };
    volume.must_be_one()?;
    warn_of_hidden(args.mountpoint.as_deref(), out);
    args.on.dry.dry_run.then(|| volume.cut_off()).flatten().iter().for_each(|why| out.warn(why));
    if !args.on.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    let (key, protect) = volume.keys()?;
    let mut secrets = SessionSecrets::from(key);
    secrets.protect = protect;
    let served = serve(&plan, secrets, args.foreground, out);
    served.inspect_err(|_| volume.cut_off().iter().for_each(|why| out.warn(why)))
}

/// What is in the folder can't be seen as long as something is mounted on it.
fn warn_of_hidden(folder: Option<&Path>, out: Output) {
    let held = folder.filter(|at| hides_files(at));
    held.iter().for_each(|at| out.warn(&said("open hides", &json!({"folder": in_json(at)}))));
}

/// Serves in a process of its own or in this one, and tells what is where.
pub(crate) fn serve(
    plan: &SessionPlan,
    secrets: SessionSecrets,
    foreground: bool,
    out: Output,
) -> Result<(), Failure> {
    if foreground {
        let mut told = Ok(());
        let plan = plan.clone().served_by(&session_words::serving());
        plan.serve(secrets, SearchBar::new(crate::progress::StandardError), |session| {
            told = told_of(session, &plan.given, true, out).map_err(|failure| {
                let volume = shown(&session.state.volume);
                out.warn(&format!("{}; {volume} is open all the same, until Ctrl-C", failure.message));
                failure.hint(format!("{volume} was open, and is closed now"))
            });
        })?;
        return told;
    }
    let session = session_words::start(plan, &secrets)?;
    drop(secrets);
    told_of(&session, &plan.given, false, out).map_err(|failure| {
        let volume = shown(&session.state.volume);
        failure.hint(match session.close() {
            Ok(_) => format!("{volume} was closed again: open it where it can say how it is attached"),
            Err(_) => format!("{volume} is open all the same; close it: keyway close {volume}"),
        })
    })
}
