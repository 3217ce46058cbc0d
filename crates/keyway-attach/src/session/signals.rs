//! The signals that a process with a session answers to.

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU,
};

/// SIGSTKFLT and SIGPWR (`asm-generic/signal.h`).
const SIGSTKFLT: i32 = 16;
const SIGPWR: i32 = 30;
/// All signals that would end this process at once, and are no fault of its own: asked to end, it does so in good order,
/// with what is cached written and the file system inside unmounted.
pub(super) const ENDS: [i32; 13] = [
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU,
    SIGSTKFLT, SIGPWR,
];
