//! Landlock: no path, no port, no other process.

use super::{Layer, Role};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use std::io;
use std::os::fd::BorrowedFd;

/// What may be done below the folder that is copied to.
const TO_FOLDER: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{ReadDir | MakeReg | MakeDir | WriteFile | Truncate | RemoveFile});

/// What may be done below what is copied from.
const FROM: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// What this kernel's landlock lacks.
pub(super) fn missing() -> Vec<Layer> {
    let Ok(abi) = version() else { return vec![Layer::Landlock] };
    let mut missing = Vec::new();
    if abi < 4 {
        missing.push(Layer::LandlockNetwork);
    }
    if abi < 6 {
        missing.push(Layer::LandlockScopes);
    }
    missing
}

/// The version of its interface that the kernel offers.
fn version() -> io::Result<i64> {
    /// `LANDLOCK_CREATE_RULESET_VERSION` (`linux/landlock.h`).
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: without attributes and with this flag the call makes nothing and touches no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, VERSION) };
    if version < 0 { Err(io::Error::last_os_error()) } else { Ok(version) }
}

/// This thread, and those that it starts, can open nothing any more but what the role needs below what is `left`.
pub(super) fn enter(left: &[BorrowedFd<'_>], role: Role) -> io::Result<()> {
    if version().is_err() {
        return Ok(());
    }
    let done = rules(left, role).and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    // It was offered a moment ago.
    match done.landlock {
        LandlockStatus::Available { .. } => Ok(()),
        _ => Err(io::Error::other("the kernel took its landlock back")),
    }
}

fn rules(left: &[BorrowedFd<'_>], role: Role) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V5))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    for path in left {
        let may = match role {
            Role::CopyIn => FROM,
            Role::CopyOut => TO_FOLDER,
            _ => continue,
        };
        // Of a file, best effort leaves out what only folders have.
        rules = rules.add_rule(PathBeneath::new(path, may))?;
    }
    Ok(rules)
}
