//! Drives of the Enterprise SSC, which are read here and not changed: their bands, and who rules them.
//!
//! What everybody may read is asked for and no more: a wrong PIN would count against its owner. Real drives differ in
//! what that is; what one keeps to itself is left out.

use super::connection::Host;
use super::error::{HostError, Misbehaved, Operation};
use super::ranges::{POWER_CYCLE, Range};
use super::session::{Reply, Session};
use crate::enterprise::{END_COLUMN, START_COLUMN, column, find, named};
use crate::token::Value;
use crate::uid::column::{authority as authority_col, locking as col, locking_info};
use crate::uid::{authority, locking, method, sp, table};
use crate::{CodecError, Uid};

/// Most bands that are asked for: the SSC numbers them up to 1023.
const MOST_BANDS: u16 = 1023;

/// What everybody may know of a drive's bands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bands {
    /// How many there can be besides the global one, where the drive tells.
    pub most: Option<u16>,
    /// Those that it tells of; the first is the global one: everything that no other covers.
    pub bands: Vec<Band>,
}

/// A band as the drive tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Where it is and what it locks: a range under another name.
    pub range: Range,
    /// Whether its BandMaster may be used, where the drive tells.
    pub master_enabled: Option<bool>,
}

impl Host {
    /// The bands of a drive of the Enterprise SSC.
    ///
    /// # Errors
    /// A drive of another SSC, one that starts no session or answers what is no answer. That it refuses to tell of
    /// something is none.
    pub fn bands(&mut self) -> Result<Bands, HostError> {
        if !self.discovery().speaks_enterprise() {
            return Err(HostError::Unsupported("bands (it is not of the Enterprise SSC)"));
        }
        let mut session = Session::start(self, sp::ENTERPRISE_LOCKING, None)?;
        let most = told(session.most_bands())?;
        let mut bands = Vec::new();
        for number in 0..=most.unwrap_or(0).min(MOST_BANDS) {
            let Some(mut band) = told(session.band(number))? else { break };
            // The first says whether the drive tells it at all.
            if number == 0 || bands.first().is_some_and(|first: &Band| first.master_enabled.is_some()) {
                band.master_enabled = told(session.master_enabled(number))?;
            }
            bands.push(band);
        }
        session.end()?;
        Ok(Bands { most, bands })
    }
}

/// Nothing where the drive refuses.
fn told<T>(result: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Session<'_> {
    /// Bands besides the global one that the drive can have.
    fn most_bands(&mut self) -> Result<u16, HostError> {
        let wanted = locking_info::MAX_RANGES;
        // Some drives have it in the row, others in the table itself.
        let row = match self.get_named(locking::INFO, wanted, wanted) {
            Err(error) if error.status().is_some() => self.get_named(table::LOCKING_INFO, wanted, wanted),
            other => other,
        }?;
        Ok(u16::try_from(row.uint(wanted)?).unwrap_or(u16::MAX))
    }

    fn band(&mut self, number: u16) -> Result<Band, HostError> {
        let row = self.get_named(locking::band(number), col::RANGE_START, col::LOCK_ON_RESET)?;
        let flag = |column| Ok::<bool, HostError>(row.uint(column)? != 0);
        let range = Range {
            number,
            start: row.uint(col::RANGE_START)?,
            blocks: row.uint(col::RANGE_LENGTH)?,
            read_lock_enabled: flag(col::READ_LOCK_ENABLED)?,
            write_lock_enabled: flag(col::WRITE_LOCK_ENABLED)?,
            read_locked: flag(col::READ_LOCKED)?,
            write_locked: flag(col::WRITE_LOCKED)?,
            locks_on_power_cycle: row.uints(col::LOCK_ON_RESET)?.contains(&POWER_CYCLE),
        };
        Ok(Band { range, master_enabled: None })
    }

    fn master_enabled(&mut self, number: u16) -> Result<bool, HostError> {
        let wanted = authority_col::ENABLED;
        Ok(self.get_named(authority::band_master(number), wanted, wanted)?.uint(wanted)? != 0)
    }

    /// Columns of a row by their names, from the first to the last.
    fn get_named(&mut self, row: Uid, first: u64, last: u64) -> Result<Row, HostError> {
        let name = |number| column(row, number).unwrap_or_default().as_bytes();
        let reply = self.call(Operation::Get, row, method::ENTERPRISE_GET, |to| {
            to.list(|to| {
                named(to, START_COLUMN, |to| {
                    to.bytes(name(first));
                });
                named(to, END_COLUMN, |to| {
                    to.bytes(name(last));
                });
            });
        })?;
        Ok(Row { reply, of: row })
    }
}

/// A row as Get returned it: a list of one row, which is a list of named cells.
struct Row {
    reply: Reply,
    of: Uid,
}

impl Row {
    fn cell<T>(&self, number: u64, take: impl FnOnce(&Value<'_>) -> Option<T>) -> Result<T, HostError> {
        let form = || HostError::Misbehaved(Misbehaved::Form("Get"));
        let results = self.reply.results()?;
        let rows = results.first().and_then(Value::list).ok_or_else(form)?;
        let row = rows.first().and_then(Value::list).ok_or_else(form)?;
        let name = column(self.of, number).ok_or_else(form)?;
        let value = find(row, name).ok_or_else(form)?;
        let wrong = CodecError::Unexpected { expected: "a column's type", found: "another value" };
        take(value).ok_or_else(|| wrong.into())
    }

    fn uint(&self, number: u64) -> Result<u64, HostError> {
        self.cell(number, |value| value.uint())
    }

    fn uints(&self, number: u64) -> Result<Vec<u64>, HostError> {
        self.cell(number, |value| value.list()?.iter().map(Value::uint).collect())
    }
}
