//! What the tests share: foreign volumes, tools that may be missing, reference models.
//!
//! Everything here fails the way a test does: by panicking with a message that says what to do.
//! What a machine lacks is a *visible* skip (a line `SKIP: ...` on standard error), and a failure
//! where `KEYWAY_REQUIRE_ALL=1` is set, as it is in CI.
#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::expect_used, reason = "a helper of tests fails as a test does")]

mod bitlocker_judges;
mod digest;
mod executable;
mod failing;
mod guest_machine;
mod hex;
mod index;
mod model;
mod nbdfuse;
mod needs;
mod own_mounts;
mod patience;
mod program;
mod rng;
mod shapes;
mod swtpm;
mod system_bus;
mod xz;

pub use bitlocker_judges::{
    BitLockerSecret, DislockerMount, NtfsMount, dislocker_sha256, dissect_sha256, libbde_sha256,
};
pub use digest::{sha256_of, sha256_of_file};
pub use executable::{copy_program, shell_script};
pub use failing::{FailingDisk, Fault};
pub use guest_machine::{Guest, GuestRun, Job};
pub use hex::{hex, to_hex};
pub use index::{Row, Table};
pub use model::{Medium, Model, Step};
pub use nbdfuse::NbdFuse;
pub use needs::{
    is_root, leave_out, require_fuse, require_root, require_tool, skip, volumes, workspace_root,
};
pub use own_mounts::own_mounts;
pub use patience::{PATIENCE, wait_for, wait_until};
pub use program::{Keyway, Open, Volume};
pub use rng::Rng;
pub use shapes::Shape;
pub use swtpm::Swtpm;
pub use system_bus::SystemBus;
pub use xz::unpack_xz;
