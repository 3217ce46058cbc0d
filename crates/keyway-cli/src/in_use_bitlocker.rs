//! BitLocker volumes that stay in use while they are converted.

use crate::conversion;
use crate::conversion_bitlocker::tell_of_kept;
use crate::failure::Failure;
use crate::in_use::{Converted, Way, serve};
use crate::output::Output;
use keyway::conversion::{JournalFile, Watch, percentage};
use keyway_convert::bitlocker::{Plan, find};
use keyway_convert::{ConversionKind, ConvertError, Stopped};
use keyway_store::Store;
use std::path::Path;
use std::sync::Arc;

/// Carries a run out while its volume is in use, until it is closed. What is not converted by then stays as it is
/// until `resume`.
pub(crate) fn carry_out(
    (path, limit): (&Path, Option<u64>),
    plan: &Plan,
    (store, journal): (&Arc<dyn Store>, Option<JournalFile>),
    way: Way,
    out: Output,
) -> Result<(), Failure> {
    let failed = |e: ConvertError| conversion::stopped(path, e);
    let mark = plan.mark();
    let file = journal.as_ref();
    let run = plan.conversion_in_use(store, file.map(JournalFile::store)).map_err(failed)?;
    let watch = Watch::new((path, file.map(JournalFile::path)), None, limit)?;
    let stopped = if plan.begin_in_use(&run).map_err(failed)? == Stopped::Paused {
        let live = plan.live(&run, store.clone()).map_err(failed)?;
        let what = Converted { path, kind: mark.kind, format: "bitlocker" };
        serve(&what, &run, live, (watch, way), out)?
    } else {
        drop(watch);
        Stopped::Done
    };
    let stopped = plan.close(&run, stopped).map_err(failed)?;
    let stays = stopped == Stopped::Paused && find(store)?.is_some_and(|found| found.in_front);
    if stopped == Stopped::Paused {
        let percent = percentage(run.done().unwrap_or_default(), run.total());
        let how = if stays { "it can't be opened like this" } else { "it can be opened like this" };
        out.warn(&format!(
            "{0} is closed, and {percent:.1} % converted; {how}: go on with `keyway resume {0}`",
            path.display()
        ));
    }
    if let Some(journal) = journal.filter(|_| !stays) {
        conversion::remove(journal, out);
    }
    if stopped == Stopped::Done && mark.kind == ConversionKind::Decryption {
        tell_of_kept(plan, out);
        conversion::announce(out, "it is a plain file system again");
    }
    Ok(())
}
