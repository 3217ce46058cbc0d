//! Firmware that does not keep to the specification, as users meet it: switched on to see what a host makes of it.

use keyway_error::explain;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// One way to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Each answer is ready only after so long, or never.
    Stall(Option<Duration>),
    /// No answer is ever there: the drive has forgotten it.
    LostAnswers,
    /// Discovery names a channel that is not in use.
    StaleComId,
    /// The session of a host that is gone is still open, until the channel is reset, it times out, or the power
    /// is cycled.
    StaleSession,
    /// The answer to a host that is gone waits to be fetched first.
    StaleAnswer,
    /// Properties announces sizes that can't be.
    WrongProperties,
    /// Discovery is cut off behind its first descriptor.
    ShortDiscovery,
    /// Firmware has blocked the owner's authority at each power-on (Block SID Authentication).
    BlockedSid,
}

/// The words, each with what it does.
const WORDS: [(&str, Fault); 8] = [
    ("stall", Fault::Stall(None)),
    ("lost-answers", Fault::LostAnswers),
    ("stale-comid", Fault::StaleComId),
    ("stale-session", Fault::StaleSession),
    ("stale-answer", Fault::StaleAnswer),
    ("wrong-properties", Fault::WrongProperties),
    ("short-discovery", Fault::ShortDiscovery),
    ("blocked-sid", Fault::BlockedSid),
];

/// How they are told to whoever wrote another.
const ALL_WORDS: &str = "stall, stall=MILLISECONDS, lost-answers, stale-comid, stale-session, stale-answer, \
                         wrong-properties, short-discovery and blocked-sid";

/// A word that is no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no fault")]
pub struct NoFault(String);

explain!(NoFault => [Usage Request, TakeFault { faults: ALL_WORDS.to_owned() }]);

impl FromStr for Fault {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Self, NoFault> {
        let wrong = || NoFault(text.to_owned());
        if let Some(ms) = text.strip_prefix("stall=") {
            return Ok(Self::Stall(Some(Duration::from_millis(ms.parse().map_err(|_| wrong())?))));
        }
        WORDS.iter().find(|(word, _)| *word == text).map(|(_, fault)| *fault).ok_or_else(wrong)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Stall(Some(time)) = self {
            return write!(f, "stall={}", time.as_millis());
        }
        f.write_str(WORDS.iter().find(|(_, fault)| fault == self).map_or("", |(word, _)| word))
    }
}
