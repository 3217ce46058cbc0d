//! Volumes that are served: attached by a process of their own, asked, and closed.
//!
//! A [`SessionPlan`] says which volume is attached and how. It can be looked at, printed and serialised before anything
//! happens. Then
//!
//! - [`SessionPlan::start`] has a new process serve it and waits until it does: the front's own program, which calls
//!   [`serve_as_asked`] there. The secrets go through a pipe, never by argument or environment;
//! - [`SessionPlan::serve`] serves it in this process until it is closed.
//!
//! From any process of the same user, [`find`] and [`list`] tell what is open, and [`close`] ends it.

mod any_status;
mod asked;
mod close;
pub(crate) mod error;
mod host_secrets;
mod in_use;
pub mod in_words;
mod later_mount;
mod mount_point;
mod next_step;
mod others;
mod overview;
mod pipe;
mod plan;
mod program;
mod refusal;
mod request;
mod serve;
mod start;

pub use any_status::AnyStatus;
pub use asked::serve_as_asked;
pub use close::{ClosedEach, ClosedVolume, close_each, plan_close};
pub use error::{Purpose, SessionError};
pub use host_secrets::read_host_secrets;
pub(crate) use in_use::{must_be_writable, naming_the_open_one, spared};
pub use in_use::{refuse_if_open, refuse_if_taken, refuse_if_written};
pub use keyway_attach::nvme_tcp::{Credentials, SecretFault};
pub use keyway_attach::session::{
    Attachment, Buffers, CANDIDATES, Candidate, Choice, Closed, Closing, Lack, LackReason, Latencies,
    Latency, Layer, NbdAddress, Need, Reason, SandboxState, SessionElsewhere, SessionState, SessionStatus,
    Spared, Times, Wish, choose, clean_stale, close, close_so, find, list, mount_inside, status, warden,
};
pub use keyway_attach::{AttachError, LocalUsers, Notice, Silence, SilentProcess, on_notice};
pub use later_mount::{MountOpenPlan, mount_open};
pub(crate) use mount_point::may_be_made;
pub use mount_point::{hides_files, mount_point};
pub use next_step::NextStep;
pub use others::OtherUser;
pub use overview::{OpenVolume, VolumeStatus, WaitingVolume};
pub use plan::{AttachChoice, SessionPlan, SessionSecrets};
pub use program::ServingProgram;
pub use refusal::SessionRefusal;
pub(crate) use request::fuse_for_a_tool;
pub use request::{AttachBy, AttachRequest, by_fuse, by_ourselves};

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// An open volume that is served, as its serving process tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Where it is, and what it is.
    pub state: SessionState,
    /// What its owner should know of the volume.
    pub warnings: Vec<String>,
    /// Whether its keys are locked in memory; otherwise they may be swapped out.
    pub keys_locked: bool,
}

impl Session {
    /// Flushes, unmounts, detaches and ends it, and waits until its process is gone.
    ///
    /// # Errors
    /// As [`close`].
    pub fn close(&self) -> Result<Closed, Error> {
        Ok(close(&self.state.id)?)
    }
}
