//! What a process does when it is sent a signal.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;

/// Calls `act` on a thread of its own each time one of the signals comes.
///
/// # Errors
/// The system lets no signal be caught, or starts no thread.
pub fn on_signals(signals: &[i32], act: impl Fn() + Send + 'static) -> io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, theirs.try_clone()?)?;
    }
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut byte = [0; 1];
        while ours.read_exact(&mut byte).is_ok() {
            act();
        }
    })?;
    Ok(())
}
