//! `encrypt --reencrypt` of a BitLocker volume: another method, and a new data key.

use super::encrypt::{Args, FreeSpaceArg};
use crate::conversion;
use crate::conversion_bitlocker::{Target, carry_out, new_journal};
use crate::failure::Failure;
use crate::given::bitlocker_secrets;
use crate::narrow::NarrowArgs;
use crate::output::Output;
use crate::volume::{Which, about};
use keyway::create::method;
use keyway_convert::bitlocker::Plan;
use keyway_store::Store;
use keyway_volume::bitlocker::{UnlockRequest, unlock};
use serde_json::{Map, json};
use std::sync::Arc;

/// Runs it, on what is known to be a BitLocker volume that nobody converts or uses.
pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    let path = &args.device;
    if args.new.source().is_given() || args.bitlocker.is_given() || args.hash.is_some() {
        return Err(Failure::usage(
            "a BitLocker volume keeps its protectors when it is re-encrypted, and has no choice of a hash",
            "leave --hash, the --new-… options and those that make protectors out; \
             `keyway protector` changes them",
        ));
    }
    if args.free_space != FreeSpaceArg::Leave {
        return Err(Failure::usage(
            "what is free in an encrypted volume is noise already, and under another key it stays so",
            "leave --free-space out",
        ));
    }
    let method = method(args.cipher.as_deref())?;
    let way = args.how.in_use.way(out)?;
    out.confirm(&format!(
        "{} gets a new data key in place; what opens it stays the same. Make a backup first.",
        path.display()
    ))?;
    let which = Which::new(path, &NarrowArgs::default());
    let secrets = bitlocker_secrets(&which, &args.secret.source(), &args.keys)?;
    let store: Arc<dyn Store> = Arc::new(keyway::conversion::claim(path)?);
    let unlocked = unlock(&store, &UnlockRequest::new(&secrets)).map_err(|e| about(path, e))?;
    if !args.used_space_only {
        keyway::conversion::allocate(path)?;
    }
    let file = conversion::journal_beside(path, &args.how)?;
    let plan = Plan::reencryption(&store, unlocked, method, args.used_space_only, file)
        .map_err(|e| about(path, e))?;
    let plan = if args.how.full_journal { plan.kept_whole() } else { plan };
    let plan = if args.how.in_use.online { plan.for_use().map_err(|e| about(path, e))? } else { plan };
    let journal = new_journal(&plan, &args.how)?;
    let mut more = Map::new();
    more.insert("cipher".to_owned(), json!(method));
    carry_out(Target { path, how: &args.how, way, more }, &plan, (&store, journal), out)
}
