//! Conversions of volumes that stay in use: attached before they begin, and served while they go on.

use crate::attach_words;
use crate::conversion;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session_words;
use crate::verbs::open;
use crate::volume::about;
use keyway::conversion::{JournalFile, Watch, percentage};
use keyway_attach::LocalUsers;
use keyway_attach::session::{self, AttachPlan, Attachment, MountPlan};
use keyway_convert::veracrypt::Plan;
use keyway_convert::{Checkpoint, Conversion, ConversionKind, ConvertError, Live, Stopped};
use keyway_store::FileStore;
use serde_json::json;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether the volume is used meanwhile.
#[derive(clap::Args, Debug, Clone, Default)]
#[command(next_help_heading = "Conversion")]
pub(crate) struct InUseArgs {
    /// Attach the volume and stay here to serve it: it can be read and written while it is converted
    #[arg(long)]
    pub(crate) online: bool,
    /// Mount the file system inside on this folder meanwhile (needs root)
    #[arg(long, value_name = "FOLDER", requires = "online")]
    pub(crate) mount: Option<PathBuf>,
}

/// How the volume is to be reached; said before anything is changed.
pub(crate) struct Way {
    attachment: Attachment,
    mount: Option<PathBuf>,
}

impl InUseArgs {
    /// The way to the user, where the volume is to be in use.
    pub(crate) fn way(&self, out: Output) -> Result<Option<Way>, Failure> {
        if !self.online {
            return Ok(None);
        }
        let mount = self.mount.as_deref().map(open::folder).transpose()?;
        Ok(Some(Way { attachment: attach_words::ours(mount.is_some(), out)?, mount }))
    }
}

/// Carries a conversion out while its volume is in use, until it is closed. What is not converted by then
/// stays as it is until `resume`.
pub(crate) fn carry_out(
    path: &Path,
    plan: &Plan,
    stores: (FileStore, Option<JournalFile>),
    begun: Option<bool>,
    limit: Option<u64>,
    way: Way,
    out: Output,
) -> Result<(), Failure> {
    let (store, journal) = (Arc::new(stores.0), stores.1);
    plan.can_be_used().map_err(|e| about(path, e))?;
    let failed = |e: ConvertError| conversion::stopped(path, e);
    let file = journal.as_ref();
    let conversion = plan.conversion(&*store, file.map(JournalFile::store)).map_err(failed)?;
    let conversion = conversion.in_small_segments();
    let watch = Watch::new((path, file.map(JournalFile::path)), None, limit)?;
    let marked = match begun {
        Some(marked) => marked,
        None => {
            plan.begin(&conversion).map_err(failed)?;
            false
        }
    };
    // Up to the marker, before which nothing may change.
    if conversion.run(marked, &|_: u64, _: u64| ControlFlow::Break(())).map_err(failed)? == Stopped::Done {
        drop(watch);
        if let Some(journal) = journal {
            conversion::remove(journal, out);
        }
        return Err(Failure::usage(
            format!(
                "the conversion of {} was through but for its traces, and these are gone now",
                path.display()
            ),
            format!("use it: keyway open {}", path.display()),
        ));
    }
    let live = plan.live(&conversion, store.clone()).map_err(failed)?;
    let what = Converted { path, kind: plan.marker.kind, format: "veracrypt" };
    match serve(&what, &conversion, live, (watch, way), out)? {
        Stopped::Done => {
            if let Some(journal) = journal {
                conversion::remove(journal, out);
            }
        }
        Stopped::Paused => {
            let (done, total) = (conversion.done().map_err(failed)?, conversion.total());
            let percent = percentage(done, total);
            let resume = format!("go on with `keyway resume {}`", path.display());
            out.warn(&format!("{} is closed, and {percent:.1} % converted: {resume}", path.display()));
        }
    }
    Ok(())
}

/// What is converted while it is in use.
pub(crate) struct Converted<'a> {
    pub(crate) path: &'a Path,
    pub(crate) kind: ConversionKind,
    pub(crate) format: &'static str,
}

/// Attaches what can be used, serves it until it is closed, and converts the rest meanwhile.
pub(crate) fn serve(
    what: &Converted<'_>,
    conversion: &Conversion<'_>,
    (live, reached): (Live, Checkpoint),
    (watch, way): (Watch<'_>, Way),
    out: Output,
) -> Result<Stopped, Failure> {
    let live = Arc::new(live);
    let device = live.device().map_err(|e| conversion::stopped(what.path, e))?;
    let details = json!({"volume": {"format": what.format, "conversion": what.kind}, "converting": true});
    let mount = way.mount.map(|at| MountPlan { at, filesystem: None });
    let (volume, attachment) = (what.path.to_owned(), way.attachment);
    let attach = AttachPlan {
        volume,
        attachment,
        mount,
        why: None,
        details,
        credentials: None,
        users: LocalUsers::Own,
        cache: false,
    };
    let mut told = Ok(());
    let (served, converted) = std::thread::scope(|scope| {
        let mut converting = None;
        // It begins when the session answers to signals: threads that are there before it does not reach.
        let served = session::run(Arc::new(device), attach, |state| {
            told = session_words::tell(state, &[], true, out);
            converting = Some(scope.spawn(|| {
                let done = conversion.run_in_use(reached, &live, &watch);
                match &done {
                    Ok(Stopped::Done) => conversion::announce(
                        out,
                        "everything is converted; the volume stays open until it is closed",
                    ),
                    Ok(Stopped::Paused) => {}
                    Err(e) => out.warn(&format!(
                        "the conversion stopped: {e}; the volume stays open until it is closed"
                    )),
                }
                done
            }));
        });
        watch.stop();
        (served, converting.map(std::thread::ScopedJoinHandle::join))
    });
    served?;
    told?;
    let ended = || Failure::new(Exit::Failed, "the conversion ended by itself", "go on with `keyway resume`");
    converted.ok_or_else(ended)?.map_err(|_| ended())?.map_err(|e| conversion::stopped(what.path, e))
}
