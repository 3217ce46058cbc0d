//! What can be done to a drive, and what is refused of it before anybody is asked for a secret.

use super::contents::{DriveContents, words};
use super::error::DriveError;
use super::handle::Drive;
use crate::error::Error;
use crate::key_file::must_be_new;
use keyway_sed::Authority;
use keyway_sed::host::HostError;
use keyway_sed::host::shadow::ByteTable;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// Something that can be done to a drive. Ranges are named by number: 0 is the global one, everything that no other
/// covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DriveChange {
    /// From the factory's state to a drive that locks at every power cycle; what is on it stays.
    SetUp(SetUp),
    /// Lock these ranges now.
    Lock {
        /// The ranges.
        ranges: Vec<u16>,
    },
    /// Unlock these ranges until they are locked, or the drive loses power.
    Unlock {
        /// The ranges.
        ranges: Vec<u16>,
        /// For reading only.
        read_only: bool,
        /// The kernel does it, by its own Opal code.
        by_kernel: bool,
        /// The secret is left with the kernel, which unlocks with it when the machine wakes up.
        for_resume: bool,
    },
    /// Put a range somewhere, and have it lock at every power cycle. What was there can't be read any more.
    PlaceRange {
        /// The range.
        range: u16,
        /// Its first byte.
        start_bytes: u64,
        /// Its length in bytes.
        length_bytes: u64,
    },
    /// Have a range lock at every power cycle, or never.
    EnableRange {
        /// The range.
        range: u16,
        /// Whether it locks.
        locks: bool,
    },
    /// Take a range away: its blocks are the global range's again, and what was in them can't be read any more.
    RemoveRange {
        /// The range.
        range: u16,
    },
    /// Make a new media key for a range: what is in it is lost at once.
    EraseRange {
        /// The range.
        range: u16,
    },
    /// Let a user be used: with a new password, and allowed to unlock a range.
    EnableUser {
        /// The user.
        #[serde(serialize_with = "words")]
        user: Authority,
        /// What it may unlock.
        range: u16,
    },
    /// Let a user not be used any more.
    DisableUser {
        /// The user.
        #[serde(serialize_with = "words")]
        user: Authority,
    },
    /// Let a user lock and unlock a range, or not any more.
    AllowUser {
        /// The user.
        #[serde(serialize_with = "words")]
        user: Authority,
        /// The range.
        range: u16,
        /// Whether it may.
        allowed: bool,
    },
    /// Give somebody another password.
    SetPassword {
        /// Whose.
        #[serde(serialize_with = "words")]
        whose: Authority,
    },
    /// Give ranges to users alone (Single User Mode): range N to user N + 1, whom nobody else can replace. All others are
    /// the administrators' again. Every user's password is empty afterwards but those users', which get a new one.
    GiveToUsers {
        /// The ranges.
        ranges: Vec<u16>,
    },
    /// Set the password of a range's own user where it is empty, and have the range lock.
    MoveIn {
        /// The range.
        range: u16,
    },
    /// Show the MBR shadow after every power cycle, or never.
    EnableShadow {
        /// Whether it is shown.
        enabled: bool,
    },
    /// The MBR shadow has done its work until the next power cycle; or is to be shown again now.
    FinishShadow {
        /// Whether it has.
        done: bool,
    },
    /// Write bytes into the MBR shadow or the DataStore.
    WriteTable {
        /// Which of them.
        #[serde(serialize_with = "table_name")]
        table: ByteTable,
        /// From which byte on.
        offset: u64,
        /// The bytes; their number is what is serialised.
        #[serde(rename = "bytes", serialize_with = "length")]
        content: Vec<u8>,
    },
    /// Back to the factory's state: everything on the drive is lost.
    Revert {
        /// By the secret on its label, not by its owner's.
        by_label: bool,
    },
    /// Locking is switched off and the owner's password is the factory's again. What is outside of ranges stays.
    Release,
    /// Block the owner's authority until the next power cycle, as firmware does.
    BlockOwner {
        /// A hardware reset ends it, too.
        until_hardware_reset: bool,
    },
    /// End every session that a program has left behind.
    Reset {
        /// The whole security side is reset, which may lock ranges.
        whole: bool,
    },
}

fn length<S: Serializer>(content: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(content.len() as u64)
}

fn table_name<S: Serializer>(table: &ByteTable, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match table {
        ByteTable::Shadow => "mbr",
        ByteTable::DataStore => "data-store",
    })
}

/// How a drive is set up. What is on it stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SetUp {
    /// The owner's secret is made up and written to this new file; without one it is [`DriveSecrets::new`](super::DriveSecrets::new).
    #[serde(with = "keyway_attach::path_text")]
    pub recovery_sheet: Option<PathBuf>,
    /// The drive stays unlocked until it loses power.
    pub leave_unlocked: bool,
    /// The drive belongs to its user alone: the owner can erase it, and not unlock it (Single User Mode).
    pub single_user: bool,
}

/// What will be done to a drive. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DrivePlan {
    /// The drive.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// What.
    #[serde(flatten)]
    pub change: DriveChange,
    /// As whom; where that is not said, as the first user and then as the first administrator: which of them a password
    /// belongs to, only the drive knows. Empty where nobody needs to be named.
    #[serde(rename = "as", serialize_with = "names")]
    pub by: Vec<Authority>,
    /// Something will not be there afterwards that is there now: data, passwords, or that it locks.
    pub loses_data: bool,
    /// The drive is in that state already: it is asked nothing, and no secret is needed.
    pub nothing_to_do: bool,
    /// What whoever wants it should know.
    pub notes: Vec<DriveNote>,
}

fn names<S: Serializer>(all: &[Authority], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(all.iter().map(ToString::to_string))
}

/// What somebody should know before a drive is set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DriveNote {
    /// It locks without encrypting: whoever takes its chips out can read them.
    NotEncrypted,
    /// This is on it, and stays.
    Keeps(DriveContents),
}

impl DriveChange {
    /// Whether something will not be there afterwards that is there now.
    const fn loses_data(&self) -> bool {
        matches!(
            self,
            Self::PlaceRange { .. }
                | Self::RemoveRange { .. }
                | Self::EraseRange { .. }
                | Self::GiveToUsers { .. }
                | Self::WriteTable { .. }
                | Self::Revert { .. }
                | Self::Release
        )
    }

    /// Whether it takes from whoever uses the drive what is on it.
    const fn cuts_off(&self) -> bool {
        matches!(
            self,
            Self::Lock { .. }
                | Self::PlaceRange { .. }
                | Self::RemoveRange { .. }
                | Self::EraseRange { .. }
                | Self::Revert { .. }
        ) || matches!(self, Self::SetUp(SetUp { leave_unlocked: false, .. }))
    }

    /// What can't be asked for, whatever the drive.
    fn check(&self, by: Option<Authority>) -> Result<(), DriveError> {
        match *self {
            Self::PlaceRange { range: 0, .. } => Err(DriveError::GlobalRangeHasNoPlace),
            Self::PlaceRange { length_bytes: 0, .. } => Err(DriveError::NoLength),
            Self::RemoveRange { range: 0 } => Err(DriveError::GlobalRangeStays),
            Self::EnableUser { user, .. } | Self::DisableUser { user } | Self::AllowUser { user, .. }
                if !matches!(user, Authority::User(_)) =>
            {
                Err(DriveError::NoUser(user))
            }
            Self::SetPassword { whose }
                if by.is_some_and(|by| (by == Authority::Sid) != (whose == Authority::Sid)) =>
            {
                Err(DriveError::OtherPart)
            }
            _ => Ok(()),
        }
    }

    /// The ranges that it names.
    fn ranges(&self) -> &[u16] {
        match self {
            Self::Lock { ranges } | Self::Unlock { ranges, .. } | Self::GiveToUsers { ranges } => ranges,
            Self::PlaceRange { range, .. }
            | Self::EnableRange { range, .. }
            | Self::RemoveRange { range }
            | Self::EraseRange { range }
            | Self::EnableUser { range, .. }
            | Self::AllowUser { range, .. }
            | Self::MoveIn { range } => std::slice::from_ref(range),
            _ => &[],
        }
    }

    /// As whom it is done, where that is not said.
    fn usual(&self) -> Vec<Authority> {
        match *self {
            Self::Lock { .. } | Self::Unlock { .. } => vec![Authority::User(1), Authority::Admin(1)],
            Self::SetPassword { whose } => vec![whose],
            Self::MoveIn { range } => vec![Authority::of_range(range)],
            Self::SetUp(_) | Self::Release => vec![Authority::Sid],
            Self::Revert { by_label } => vec![if by_label { Authority::Psid } else { Authority::Sid }],
            Self::BlockOwner { .. } | Self::Reset { .. } => Vec::new(),
            _ => vec![Authority::Admin(1)],
        }
    }
}

impl Drive {
    /// Plans to do something to it, as somebody whom it knows; left out, as whoever does that usually. Nobody is asked
    /// for a secret yet, and nothing is changed.
    ///
    /// # Errors
    /// It can't be asked for, the drive is not in a state for it, or somebody uses the drive.
    pub fn plan(&mut self, change: DriveChange, by: Option<Authority>) -> Result<DrivePlan, Error> {
        change.check(by)?;
        match &change {
            DriveChange::Reset { .. } => {}
            DriveChange::BlockOwner { .. } => self.must_be_blockable()?,
            DriveChange::SetUp(_) => self.must_be_factory_fresh()?,
            DriveChange::Revert { .. } | DriveChange::SetPassword { whose: Authority::Sid } => {
                self.must_be_managed()?;
            }
            DriveChange::Release => self.must_be_managed()?,
            _ => self.must_be_set_up()?,
        }
        match &change {
            DriveChange::EnableShadow { .. } | DriveChange::FinishShadow { .. } => self.must_have_shadow()?,
            DriveChange::WriteTable { table: ByteTable::Shadow, .. } => self.must_have_shadow()?,
            DriveChange::Unlock { by_kernel: true, .. } if !self.is_device() => {
                return Err(DriveError::KernelKnowsNoFile.into());
            }
            _ => {}
        }
        self.must_have_ranges(change.ranges())?;
        let nothing_to_do = self.has_nothing_to_revert(&change)?;
        if change.cuts_off() && !nothing_to_do {
            self.must_be_unused()?;
        }
        let mut notes = Vec::new();
        if let DriveChange::SetUp(setup) = &change {
            if let Some(sheet) = &setup.recovery_sheet {
                self.must_not_hold(sheet)?;
                must_be_new(sheet)?;
            }
            if !self.encrypts() {
                notes.push(DriveNote::NotEncrypted);
            }
            notes.extend(DriveContents::of(&self.path).map(DriveNote::Keeps));
        }
        let by = by.map_or_else(|| change.usual(), |by| vec![by]);
        let loses_data = change.loses_data() && !nothing_to_do;
        Ok(DrivePlan { device: self.path.clone(), change, by, loses_data, nothing_to_do, notes })
    }

    /// Refuses a range that there can't be: a drive says of it that nobody may do that. Not every drive tells how many it has.
    fn must_have_ranges(&mut self, named: &[u16]) -> Result<(), DriveError> {
        let Some(range) = named.iter().copied().max().filter(|range| *range > 0) else { return Ok(()) };
        match self.limits() {
            Some(limits) if range > limits.ranges => {
                Err(DriveError::NoRange { path: self.path.clone(), range, ranges: limits.ranges })
            }
            _ => Ok(()),
        }
    }

    /// Refuses a drive that has no MBR shadow.
    pub(super) fn must_have_shadow(&self) -> Result<(), DriveError> {
        let lacks = self.discovery().locking().is_some_and(|l| l.mbr_shadowing_not_supported);
        if lacks { Err(self.said(HostError::Unsupported("MBR shadow"), &[])) } else { Ok(()) }
    }
}
