//! Everything about a drive that outlives its power: kept as one value, in the codec's own tokens.

use super::cell::Cell;
use super::config::{DriveConfig, Firmware, Label, Setup, SscKind};
use super::error::DriveError;
use super::keys::{KEY_BYTES, MEDIA_KEY_BYTES, NoRandom, PinRecord, Sealed, random_key};
use super::slots::MAX_STATE;
use super::tables::Sp;
use keyway_secret::SecretBytes;
use keyway_sed::Uid;
use keyway_sed::token::{Budget, Encoder, Tokens, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A cell: SP, row, column.
pub(super) type CellAddress = (Sp, Uid, u64);

/// What a drive keeps.
pub(super) struct State {
    pub(super) config: DriveConfig,
    /// Whether the Locking SP is activated.
    pub(super) active: bool,
    /// How it was.
    pub(super) setup: Setup,
    /// Whether the owner's PIN is still the factory's.
    pub(super) sid_is_msid: bool,
    /// Cells that are no longer as the factory left them.
    pub(super) cells: BTreeMap<CellAddress, Cell>,
    /// PINs, by row of C_PIN.
    pub(super) pins: BTreeMap<(Sp, Uid), PinRecord>,
    /// The keys of each range, the global one first.
    pub(super) ranges: Vec<RangeKeys>,
}

/// The keys of one range.
pub(super) struct RangeKeys {
    /// The media key under the range's key.
    pub(super) media: Sealed,
    /// The range's key under the admins', once the Locking SP is active.
    pub(super) by_admins: Option<Sealed>,
    /// The range's key under the joint keys of users, for every way an ACE admits some of them.
    pub(super) grants: Vec<(BTreeSet<Uid>, Sealed)>,
    /// The range's key as it is: where the range can be read or written without any PIN after a power
    /// cycle, its key must be there without any PIN too.
    pub(super) open: Option<SecretBytes>,
}

impl RangeKeys {
    /// New keys, open.
    pub(super) fn generate() -> Result<Self, NoRandom> {
        Self::of(&random_key(MEDIA_KEY_BYTES)?)
    }

    /// A new key around this media key, open.
    pub(super) fn of(media: &SecretBytes) -> Result<Self, NoRandom> {
        let key = random_key(KEY_BYTES)?;
        let media = Sealed::new(&key, media)?;
        Ok(Self { media, by_admins: None, grants: Vec::new(), open: Some(key) })
    }
}

impl State {
    /// The cell, if it was changed.
    pub(super) fn cell(&self, sp: Sp, row: Uid, column: u64) -> Option<&Cell> {
        self.cells.get(&(sp, row, column))
    }

    /// As tokens. They hold keys: the encoder wipes itself.
    pub(super) fn encode(&self) -> Encoder {
        let mut to = Encoder::new();
        self.encode_first(&mut to);
        self.encode_setup(&mut to);
        to.end_list();
        to
    }

    /// All that version 1 had.
    fn encode_first(&self, to: &mut Encoder) {
        let c = &self.config;
        for n in [
            c.blocks,
            c.block_bytes.into(),
            c.ranges.into(),
            c.admins.into(),
            c.users.into(),
            c.mbr_bytes,
            c.data_store_bytes,
            c.pin_iterations.into(),
        ] {
            to.uint(n);
        }
        for text in [&c.label.serial, &c.label.msid, &c.label.psid] {
            to.bytes(text.as_bytes());
        }
        to.boolean(self.active).boolean(self.sid_is_msid);
        to.list(|to| {
            for ((sp, row, column), cell) in &self.cells {
                to.list(|to| {
                    to.uint(*sp as u64).uid(*row).uint(*column);
                    cell.store(to);
                });
            }
        });
        to.list(|to| {
            for ((sp, row), pin) in &self.pins {
                to.list(|to| {
                    to.uint(*sp as u64).uid(*row).bytes(&pin.salt).uint(pin.iterations.into());
                    to.bytes(pin.key.as_bytes());
                    optional(to, pin.escrow.as_ref());
                    optional(to, pin.admins.as_ref());
                });
            }
        });
        to.list(|to| {
            for range in &self.ranges {
                to.list(|to| {
                    to.bytes(range.media.as_bytes());
                    optional(to, range.by_admins.as_ref());
                    to.list(|to| {
                        for (who, sealed) in &range.grants {
                            to.list(|to| {
                                to.bytes(sealed.as_bytes());
                                who.iter().for_each(|uid| {
                                    to.uid(*uid);
                                });
                            });
                        }
                    });
                    to.list(|to| {
                        if let Some(key) = &range.open {
                            to.bytes(key);
                        }
                    });
                });
            }
        });
    }

    /// What version 2 added.
    fn encode_setup(&self, to: &mut Encoder) {
        let c = &self.config;
        to.uint(c.ssc as u64).boolean(c.single_user).uint(c.try_limit.into()).uint(c.data_stores.into());
        to.list(|to| {
            for range in &self.setup.single_user {
                to.uint((*range).into());
            }
        });
        let f = &c.firmware;
        to.list(|to| {
            to.uint(f.com_id.into()).uint(f.minor_version.into()).boolean(f.aligned).uint(f.granularity);
            to.boolean(f.opal_v1).uint(f.data_store_alignment.into()).boolean(f.block_sid);
        });
        to.boolean(self.setup.admins_place_ranges);
        to.list(|to| {
            for bytes in &self.setup.data_stores {
                to.uint(*bytes);
            }
        });
    }

    /// Reads it back.
    ///
    /// # Errors
    /// What no version of this program wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DriveError> {
        // A value takes a byte at least: whatever fitted into the slot is read back.
        let values = Budget::of(MAX_STATE).list(&mut Tokens::new(bytes)).map_err(|_| DriveError::Damaged)?;
        let state = Self::from_values(&values).ok_or(DriveError::Damaged)?;
        let stores: Option<u64> =
            state.setup.data_stores.iter().try_fold(0, |sum: u64, n| sum.checked_add(*n));
        if state.config.fault().is_some()
            || state.ranges.len() != usize::from(state.config.ranges) + 1
            || state.setup.data_stores.len() > usize::from(state.config.data_stores)
            || stores.is_none_or(|sum| sum > state.config.data_store_bytes)
            || state.setup.single_user.iter().any(|n| *n > state.config.ranges || *n >= state.config.users)
        {
            return Err(DriveError::Damaged);
        }
        Ok(state)
    }

    fn from_values(values: &[Value<'_>]) -> Option<Self> {
        let mut values = values.iter();
        let mut next = || values.next();
        let mut number = || next()?.uint();
        let blocks = number()?;
        let block_bytes = number()?.try_into().ok()?;
        let (ranges, admins, users) =
            (number()?.try_into().ok()?, number()?.try_into().ok()?, number()?.try_into().ok()?);
        let (mbr_bytes, data_store_bytes) = (number()?, number()?);
        let pin_iterations = number()?.try_into().ok()?;
        let mut text = || String::from_utf8(next()?.bytes()?.to_vec()).ok();
        let label = Label { serial: text()?, msid: text()?, psid: text()? };
        // What version 1 had.
        let mut config = DriveConfig {
            blocks,
            block_bytes,
            ssc: SscKind::Opal2,
            firmware: Firmware::OWN,
            ranges,
            admins,
            users,
            single_user: false,
            try_limit: 5,
            mbr_bytes,
            data_store_bytes,
            data_stores: 1,
            pin_iterations,
            label,
        };
        let (active, sid_is_msid) = (next()?.boolean()?, next()?.boolean()?);
        let cells = next()?.list()?.iter().map(cell).collect::<Option<_>>()?;
        let pins = next()?.list()?.iter().map(pin).collect::<Option<_>>()?;
        let ranges = next()?.list()?.iter().map(range).collect::<Option<_>>()?;
        let mut setup = Setup::ordinary(&config);
        if let Some(ssc) = next() {
            let ssc = ssc.uint()?;
            config.ssc = SscKind::ALL.into_iter().find(|kind| *kind as u64 == ssc)?;
            config.single_user = next()?.boolean()?;
            config.try_limit = next()?.uint()?.try_into().ok()?;
            config.data_stores = next()?.uint()?.try_into().ok()?;
            let range = |value: &Value<'_>| u16::try_from(value.uint()?).ok();
            setup.single_user = next()?.list()?.iter().map(range).collect::<Option<_>>()?;
            config.firmware = firmware(next()?)?;
            setup.admins_place_ranges = next()?.boolean()?;
            setup.data_stores = next()?.list()?.iter().map(Value::uint).collect::<Option<_>>()?;
        }
        Some(Self { config, active, setup, sid_is_msid, cells, pins, ranges })
    }
}

fn optional(to: &mut Encoder, sealed: Option<&Sealed>) {
    to.list(|to| {
        if let Some(sealed) = sealed {
            to.bytes(sealed.as_bytes());
        }
    });
}

fn firmware(value: &Value<'_>) -> Option<Firmware> {
    let [com_id, minor, aligned, granularity, opal_v1, data_store_alignment, block_sid] = value.list()?
    else {
        return None;
    };
    Some(Firmware {
        com_id: com_id.uint()?.try_into().ok()?,
        minor_version: minor.uint()?.try_into().ok()?,
        aligned: aligned.boolean()?,
        granularity: granularity.uint()?,
        opal_v1: opal_v1.boolean()?,
        data_store_alignment: data_store_alignment.uint()?.try_into().ok()?,
        block_sid: block_sid.boolean()?,
    })
}

fn which(value: &Value<'_>) -> Option<Sp> {
    [Sp::Admin, Sp::Locking].into_iter().find(|sp| value.uint() == Some(*sp as u64))
}

fn sealed(value: &Value<'_>) -> Option<Sealed> {
    value.bytes().map(Sealed::from_bytes)
}

fn optional_sealed(value: &Value<'_>) -> Option<Option<Sealed>> {
    match value.list()? {
        [] => Some(None),
        [one] => Some(Some(sealed(one)?)),
        _ => None,
    }
}

fn cell(value: &Value<'_>) -> Option<(CellAddress, Cell)> {
    let [sp, row, column, kind, value] = value.list()? else { return None };
    Some(((which(sp)?, row.uid()?, column.uint()?), Cell::load(kind, value)?))
}

fn pin(value: &Value<'_>) -> Option<((Sp, Uid), PinRecord)> {
    let [sp, row, salt, iterations, key, escrow, admins] = value.list()? else { return None };
    let record = PinRecord {
        salt: salt.bytes()?.to_vec(),
        iterations: iterations.uint()?.try_into().ok()?,
        key: sealed(key)?,
        escrow: optional_sealed(escrow)?,
        admins: optional_sealed(admins)?,
    };
    Some(((which(sp)?, row.uid()?), record))
}

fn range(value: &Value<'_>) -> Option<RangeKeys> {
    let [media, by_admins, grants, open] = value.list()? else { return None };
    let grant = |value: &Value<'_>| {
        let (key, who) = value.list()?.split_first()?;
        Some((who.iter().map(Value::uid).collect::<Option<_>>()?, sealed(key)?))
    };
    Some(RangeKeys {
        media: sealed(media)?,
        by_admins: optional_sealed(by_admins)?,
        grants: grants.list()?.iter().map(grant).collect::<Option<_>>()?,
        open: match open.list()? {
            [] => None,
            [key] => Some(SecretBytes::copy_of(key.bytes()?)),
            _ => return None,
        },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn factory() -> State {
        let label = Label { serial: "S".into(), msid: "M".into(), psid: "P".into() };
        let opal = DriveConfig::opal(64, 512, label);
        State::factory(&DriveConfig { pin_iterations: 1, ..opal }).map_err(|_| ()).unwrap()
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut state = factory();
        state.config.ssc = SscKind::Ruby;
        state.config.firmware.granularity = 64;
        state.setup =
            Setup { single_user: [0, 3].into(), admins_place_ranges: true, data_stores: vec![4096, 8] };
        let bytes = state.encode();
        let read = State::decode(bytes.as_bytes()).unwrap();
        assert_eq!((&read.config, &read.setup), (&state.config, &state.setup));
        assert_eq!(read.encode().as_bytes(), bytes.as_bytes());
    }

    #[test]
    fn a_state_of_version_1_is_read_as_what_it_was() {
        let state = factory();
        let mut old = Encoder::new();
        state.encode_first(&mut old);
        old.end_list();
        let read = State::decode(old.as_bytes()).unwrap();
        assert_eq!(
            (read.config.ssc, read.config.single_user, read.config.data_stores),
            (SscKind::Opal2, false, 1)
        );
        assert_eq!(read.setup, Setup::ordinary(&read.config));
        assert_eq!(read.config.label, state.config.label);
    }

    #[test]
    fn a_set_up_that_can_not_be_is_refused() {
        for setup in [
            Setup { single_user: [9].into(), ..Setup::default() },
            Setup { data_stores: vec![1; 10], ..Setup::default() },
            Setup { data_stores: vec![u64::MAX, 1], ..Setup::default() },
        ] {
            let state = State { setup, ..factory() };
            assert!(matches!(State::decode(state.encode().as_bytes()), Err(DriveError::Damaged)));
        }
    }
}
