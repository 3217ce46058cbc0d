//! What a drive tells those whom it knows: ranges, users, the MBR shadow, and the bytes that it keeps.

use super::contents::words;
use super::error::DriveError;
use super::handle::Drive;
use super::range_locks::RangeLocks;
use super::secret::DriveSecrets;
use crate::error::Error;
use crate::progress::Progress;
use keyway_sed::Authority;
use keyway_sed::discovery::Feature;
use keyway_sed::host::ranges::{Range, RangeState};
use keyway_sed::host::shadow::ByteTable;
use keyway_sed::host::{HostError, Misbehaved, Session};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// Users that are looked at where a drive does not say how many it has (Pyrite: two at least).
const USUAL_USERS: u16 = 2;
/// Most bytes of a table that are read at once: Opal asks for 128 MiB, drives have little more.
const LARGEST: u64 = 1 << 30;

/// A drive's ranges.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Ranges {
    /// The drive.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// How many ranges there can be besides the global one.
    pub max_ranges: u16,
    /// Blocks that starts and lengths are multiples of.
    pub alignment_blocks: u64,
    /// Those that somebody has set up, the global one first.
    pub ranges: Vec<RangeInfo>,
}

/// A range.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RangeInfo {
    /// Its number; 0 is everything that no other covers.
    pub range: u16,
    /// Its first byte.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// The same in blocks, and how it is locked.
    #[serde(flatten)]
    pub locks: RangeLocks,
    /// What it lets through now.
    pub state: &'static str,
    /// Who may lock and unlock it.
    pub unlocked_by: Vec<String>,
}

/// A drive's users.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Users {
    /// The drive.
    #[serde(with = "keyway_attach::path_text")]
    pub device: PathBuf,
    /// All of them.
    pub users: Vec<UserInfo>,
}

/// A user.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct UserInfo {
    /// Who.
    #[serde(serialize_with = "words")]
    pub user: Authority,
    /// Whether it may be used.
    pub enabled: bool,
    /// How wrong passwords are counted, where the drive tells.
    #[serde(serialize_with = "tries")]
    pub tries: Option<Tries>,
}

pub use keyway_sed::host::owner::Tries;

fn tries<S: Serializer>(tries: &Option<Tries>, serializer: S) -> Result<S::Ok, S::Error> {
    let told =
        tries.map(|t| serde_json::json!({"limit": t.limit, "wrong": t.wrong, "persistent": t.persistent}));
    told.serialize(serializer)
}

/// The MBR shadow: what a locked drive shows in place of its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shadow {
    /// It is shown after every power cycle.
    pub enabled: bool,
    /// It has done its work: the drive itself is shown until the next power cycle.
    pub done: bool,
    /// Bytes that it has room for.
    pub bytes: u64,
}

impl Shadow {
    pub(super) fn of(session: &mut Session<'_>) -> Result<Self, HostError> {
        let told = session.shadow()?;
        let bytes = session.table_bytes(ByteTable::Shadow)?;
        Ok(Self { enabled: told.enabled, done: told.done, bytes })
    }
}

impl RangeInfo {
    fn new(range: Range, block: u64, unlocked_by: Vec<String>) -> Self {
        let state = match range.state() {
            RangeState::NeverLocks => "never locks",
            RangeState::Unlocked => "unlocked",
            RangeState::ReadOnly => "read-only",
            RangeState::WriteOnly => "write-only",
            RangeState::Locked => "locked",
        };
        Self {
            range: range.number,
            start_bytes: range.start.saturating_mul(block),
            length_bytes: range.blocks.saturating_mul(block),
            locks: RangeLocks::from(&range),
            state,
            unlocked_by,
        }
    }
}

impl Drive {
    /// Its ranges, as somebody tells who may see them.
    ///
    /// # Errors
    /// It is not set up, or the secret is refused.
    pub fn ranges(&mut self, by: Authority, secrets: &DriveSecrets<'_>) -> Result<Ranges, Error> {
        let device = self.path.clone();
        self.read(by, secrets, &mut |session| {
            let limits = session.range_limits()?;
            let block = limits.block();
            let mut ranges = Vec::new();
            for number in 0..=limits.ranges {
                let range = session.range(number)?;
                // Ranges of no length are those that nobody has set up.
                if number > 0 && range.blocks == 0 {
                    continue;
                }
                let unlockers = session.unlockers(number)?.into_iter().map(keyway_sed::name_of).collect();
                ranges.push(RangeInfo::new(range, block, unlockers));
            }
            let (max_ranges, alignment_blocks) = (limits.ranges, limits.alignment);
            Ok(Ranges { device: device.clone(), block_bytes: block, max_ranges, alignment_blocks, ranges })
        })
    }

    /// Its users, as somebody tells who may see them.
    ///
    /// # Errors
    /// As [`Drive::ranges`].
    pub fn users(&mut self, by: Authority, secrets: &DriveSecrets<'_>) -> Result<Users, Error> {
        let told = self.discovery().features.iter().find_map(|f| match f {
            Feature::OpalV2(s) | Feature::Ruby(s) => Some(s.users),
            _ => None,
        });
        let device = self.path.clone();
        self.read(by, secrets, &mut |session| {
            let mut users = Vec::new();
            for number in 1..=told.unwrap_or(USUAL_USERS) {
                let (user, enabled) = (Authority::User(number), session.user(number)?.enabled);
                users.push(UserInfo { user, enabled, tries: session.tries(user.uid()).ok() });
            }
            Ok(Users { device: device.clone(), users })
        })
    }

    /// The state of its MBR shadow. Where no secret was named, nobody is asked for one if the drive tells it to everybody.
    ///
    /// # Errors
    /// As [`Drive::ranges`]; it has none.
    pub fn shadow(&mut self, by: Authority, secrets: &DriveSecrets<'_>) -> Result<Shadow, Error> {
        self.must_be_set_up()?;
        self.must_have_shadow()?;
        if !secrets.own.is_given()
            && let Some(open) = self.open_shadow()
        {
            return Ok(open);
        }
        self.read(by, secrets, &mut Shadow::of)
    }

    /// The same as far as it lies open: nothing where the drive tells nobody how large it is.
    fn open_shadow(&mut self) -> Option<Shadow> {
        let locking = self.discovery().locking()?;
        let (enabled, done) = (locking.mbr_enabled, locking.mbr_done);
        let mut session = self.host.locking(None).ok()?;
        let bytes = session.table_bytes(ByteTable::Shadow).ok()?;
        session.end().ok()?;
        Some(Shadow { enabled, done, bytes })
    }

    /// Bytes of its MBR shadow or DataStore from `offset` on; as many as there are where `length` does not say.
    ///
    /// # Errors
    /// As [`Drive::ranges`]; the table ends before, or whoever watches stopped it.
    pub fn read_table(
        &mut self,
        (table, offset, length): (ByteTable, u64, Option<u64>),
        by: Authority,
        secrets: &DriveSecrets<'_>,
        progress: &dyn Progress,
    ) -> Result<Vec<u8>, Error> {
        self.must_be_set_up()?;
        if table == ByteTable::Shadow {
            self.must_have_shadow()?;
        }
        self.read(by, secrets, &mut |session| {
            let room = session.table_bytes_from(table, offset)?;
            let total = length.unwrap_or(room).min(room).min(LARGEST);
            let mut content = vec![0u8; total as usize];
            session.read_table(table, offset, &mut content, |done| progress.at(done, total))?;
            Ok(content)
        })
    }

    fn read<T>(
        &mut self,
        by: Authority,
        secrets: &DriveSecrets<'_>,
        what: &mut dyn FnMut(&mut Session<'_>) -> Result<T, HostError>,
    ) -> Result<T, Error> {
        self.hash = secrets.hash;
        self.must_be_set_up()?;
        let pin = secrets.pin(self, Some(by))?;
        // What a user may not see is left out of the answer, which is none then.
        let mut left_out = false;
        let seen = self.session_as(&[by], &pin, &mut |session| {
            what(session).inspect_err(|e| left_out = matches!(e, HostError::Misbehaved(Misbehaved::Form(_))))
        });
        match seen {
            Err(_) if left_out && matches!(by, Authority::User(_)) => {
                Err(DriveError::NotShown { path: self.path.clone(), who: by }.into())
            }
            seen => Ok(seen?.1),
        }
    }
}
