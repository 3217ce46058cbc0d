//! What was done to a drive.

use super::change::{DriveChange, DrivePlan};
use super::info::HARDWARE_ENCRYPTION;
use super::read::Shadow;
use keyway_sed::Authority;
use keyway_sed::host::setup::USER;
use keyway_sed::password::PasswordHash;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::time::Duration;

/// What was done to a drive. Serialised it is what `keyway drive VERB --json` prints.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DriveOutcome {
    /// What was planned.
    pub plan: DrivePlan,
    /// How passwords became what the drive was told.
    pub hash: PasswordHash,
    /// How long the drive took, where that was measured: to be set up, reverted or given up.
    pub took: Duration,
    /// What is known since.
    pub facts: OutcomeFacts,
}

/// What is known since something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutcomeFacts {
    /// Nothing more than was planned.
    Done,
    /// As whom it was done.
    As(Authority),
    /// The owner has another secret.
    OwnerChanged {
        /// The first administrator has it, too: it had the old one. Else it has one of its own, or locking is not in use.
        administrator: bool,
    },
    /// The drive is unlocked.
    Unlocked {
        /// As whom.
        by: Authority,
        /// The MBR shadow still covers its beginning: whoever unlocked may not lift it.
        covered: bool,
        /// The secret is with the kernel.
        saved: bool,
    },
    /// Where a range lies.
    Placed {
        /// Its first block.
        start_block: u64,
        /// Its blocks.
        blocks: u64,
        /// Bytes of a block.
        block_bytes: u64,
    },
    /// A range was erased.
    Erased {
        /// It was this user's alone, whose password is empty now; the range locks no more.
        user: Option<Authority>,
    },
    /// The state of the MBR shadow.
    Shadow(Shadow),
}

impl DriveOutcome {
    /// The same as `keyway encrypt --hardware --json` and `keyway decrypt --hardware --json` print it.
    pub fn conversion(&self) -> Value {
        let DrivePlan { device, change, .. } = &self.plan;
        let document = |conversion: &str, locked: bool| {
            json!({"volume": keyway_attach::path_text::value(device), "conversion": conversion, "state": "done", "format": "opal",
                "encryption_method": HARDWARE_ENCRYPTION, "lock_status": if locked { "Locked" } else { "Unlocked" },
                "seconds": self.took.as_secs_f64()})
        };
        let DriveChange::SetUp(setup) = change else { return document("decryption", false) };
        let mut document = document("encryption", !setup.leave_unlocked);
        if let Some(fields) = document.as_object_mut() {
            fields.insert("user".to_owned(), json!(format!("user{USER}")));
            fields.insert("hash".to_owned(), json!(self.hash.name()));
            fields.insert("recovery_sheet".to_owned(), json!(setup.recovery_sheet));
        }
        document
    }

    fn document(&self) -> Value {
        use DriveChange as C;
        let words = |who: &Authority| who.to_string();
        match (&self.plan.change, &self.facts) {
            (C::SetUp(s), _) => json!({"state": if s.leave_unlocked { "unlocked" } else { "locked" },
                "user": format!("user{USER}"), "hash": self.hash.name(), "single_user": s.single_user,
                "recovery_sheet": s.recovery_sheet}),
            (C::Lock { ranges }, OutcomeFacts::As(by)) => {
                json!({"ranges": ranges, "state": "locked", "as": words(by)})
            }
            (C::Unlock { ranges, read_only, .. }, OutcomeFacts::Unlocked { by, saved, .. }) => {
                json!({"ranges": ranges, "as": words(by), "saved_for_resume": saved,
                    "state": if *read_only { "read-only" } else { "unlocked" }})
            }
            (C::PlaceRange { range, .. }, OutcomeFacts::Placed { start_block, blocks, block_bytes }) => {
                json!({"range": range, "start_block": start_block, "blocks": blocks, "block_bytes": block_bytes})
            }
            (C::EnableRange { range, locks }, _) => json!({"range": range, "locks": locks}),
            (C::RemoveRange { range }, _) => json!({"range": range, "removed": true}),
            (C::EraseRange { range }, _) => json!({"range": range, "erased": true}),
            (C::EnableUser { user, range }, _) => {
                json!({"user": words(user), "enabled": true, "range": range, "allowed": true})
            }
            (C::DisableUser { user }, _) => json!({"user": words(user), "enabled": false}),
            (C::AllowUser { user, range, allowed }, _) => {
                json!({"user": words(user), "range": range, "allowed": allowed})
            }
            (C::SetPassword { whose }, OutcomeFacts::OwnerChanged { administrator }) => {
                json!({"whose": words(whose), "changed": true, "administrator": administrator})
            }
            (C::SetPassword { whose }, _) => json!({"whose": words(whose), "changed": true}),
            (C::GiveToUsers { ranges }, _) => {
                let users: Vec<String> =
                    ranges.iter().map(|range| Authority::of_range(*range).to_string()).collect();
                json!({"ranges": ranges, "users": users})
            }
            (C::MoveIn { range }, _) => {
                json!({"range": range, "user": Authority::of_range(*range).to_string()})
            }
            (_, OutcomeFacts::Shadow(shadow)) => json!({"enabled": shadow.enabled, "done": shadow.done}),
            (C::WriteTable { table: keyway_sed::host::shadow::ByteTable::Shadow, content, .. }, _) => {
                json!({"bytes": content.len()})
            }
            (C::WriteTable { offset, content, .. }, _) => json!({"offset": offset, "bytes": content.len()}),
            (C::Revert { .. } | C::Release, _) if self.plan.nothing_to_do => {
                json!({"reverted": false, "nothing_to_do": true, "data_kept": true})
            }
            (C::Revert { .. }, _) => json!({"reverted": true, "data_kept": false}),
            (C::Release, _) => json!({"reverted": true, "data_kept": true}),
            (C::BlockOwner { .. }, _) => json!({"sid_blocked": true}),
            (C::Reset { .. }, _) => json!({"reset": true}),
            _ => json!({}),
        }
    }
}

impl Serialize for DriveOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = self.document();
        if let Some(fields) = document.as_object_mut() {
            fields.insert("device".to_owned(), json!(self.plan.device));
        }
        document.serialize(serializer)
    }
}
