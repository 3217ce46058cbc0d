//! One process serves one open volume: what it is told, what it says about itself, and how it is
//! found, asked and ended.
//!
//! Every session has a folder of its own in the runtime folder:
//!
//! | name | what |
//! |---|---|
//! | `state.json` | the [`SessionState`], written whole or not at all |
//! | `lock` | locked (`flock`) by the serving process for as long as it lives |
//! | `control` | a unix socket; one JSON line asks, one JSON line answers |
//! | `mnt/` | where the FUSE file system is mounted |
//! | `nbd` | the NBD socket, where the plan does not name another |
//!
//! A session whose `lock` nobody holds is stale: its process was killed. `find`, `list` and
//! `close` take what it left behind away.

mod plan;
mod state;

pub use plan::{AttachPlan, Attachment, MountPlan, NbdAddress};
pub use state::{SessionState, SessionStatus};
