//! Ctrl-C ends a measurement in good order: what was measured until then is told.

use crate::failure::{Exit, Failure};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Set once a signal has come; the second one ends the process at once.
pub(super) fn on_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::new(Exit::Failed, format!("could not catch Ctrl-C: {e}"), ""))?;
    }
    Ok(stop)
}
