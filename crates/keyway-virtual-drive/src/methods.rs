//! The methods: what may be called by whom, and what it does.

use super::cell::Cell;
use super::config::Setup;
use super::fault::Fault;
use super::media::Media;
use super::session::{MAX_AUTHENTICATIONS, Session};
use super::tables::Sp;
use super::tper::{After, MAX_COMPACKET, MIN_HOST_COMPACKET, SESSION_TIMEOUT, Tper};
use keyway_secret::SecretBytes;
use keyway_sed::enterprise;
use keyway_sed::message::{Call, Message, write_answer, write_call, write_call_with};
use keyway_sed::token::{Encoder, Value};
use keyway_sed::uid::{authority, c_pin, column, method, parameter, sp, table};
use keyway_sed::{Status, Uid};
use std::collections::BTreeSet;
use std::time::Duration;

/// Bytes that one call of Random gives: Opal SSC 2.01, 4.2.9.1 asks for 32.
const MAX_RANDOM: u64 = 1024;
/// StartSession's optional parameter SessionTimeout (Core 2.01, 5.2.3.1).
const SESSION_TIMEOUT_PARAMETER: u64 = 5;

/// The bytes of a PIN that is to be set.
fn a_pin<'a>(value: &Value<'a>) -> Result<&'a [u8], Status> {
    value.bytes().filter(|pin| pin.len() <= super::keys::MAX_PIN).ok_or(Status::InvalidParameter)
}

impl Tper {
    /// A call on the session manager.
    pub(super) fn session_manager(&mut self, payload: &[u8], answer: &mut Encoder) {
        // What is not a call is dropped: there is no session to end.
        let Ok(Message::Call(call)) = Message::parse(payload) else { return };
        if call.invoking != Uid::SESSION_MANAGER {
            return;
        }
        match call.method {
            method::PROPERTIES => self.properties(&call, answer),
            method::START_SESSION => {
                let hsn = call.required().next().and_then(Value::uint).and_then(|n| u32::try_from(n).ok());
                let Some(hsn) = hsn else {
                    return write_call_with(
                        answer,
                        Uid::SESSION_MANAGER,
                        method::SYNC_SESSION,
                        Status::InvalidParameter,
                        |_| {},
                    );
                };
                let started = if self.failed { Err(Status::TPerMalfunction) } else { self.start(&call, hsn) };
                match started {
                    Ok(tsn) => write_call(answer, Uid::SESSION_MANAGER, method::SYNC_SESSION, |to| {
                        to.uint(hsn.into()).uint(tsn.into());
                    }),
                    Err(status) => {
                        write_call_with(answer, Uid::SESSION_MANAGER, method::SYNC_SESSION, status, |to| {
                            to.uint(hsn.into()).uint(0);
                        });
                    }
                }
            }
            // StartTrustedSession and the rest: not in this SSC.
            _ => {}
        }
    }

    fn properties(&mut self, call: &Call<'_>, answer: &mut Encoder) {
        let given = self.parameter(call, parameter::HOST_PROPERTIES, enterprise::HOST_PROPERTIES);
        if let Some(given) = given.and_then(Value::list) {
            let compacket = enterprise::find(given, "MaxComPacketSize").and_then(Value::uint);
            let compacket = compacket.unwrap_or(MIN_HOST_COMPACKET as u64);
            // Less than the least is taken for the least (Core 2.01, 5.2.2.4.1).
            self.host_compacket =
                usize::try_from(compacket).unwrap_or(MAX_COMPACKET).clamp(MIN_HOST_COMPACKET, MAX_COMPACKET);
        }
        let property = |to: &mut Encoder, name: &str, value: u64| {
            enterprise::named(to, name, |to| {
                to.uint(value);
            });
        };
        let wrong = self.has(Fault::WrongProperties);
        let whole = if wrong { 60 } else { MAX_COMPACKET as u64 };
        let token = if wrong { u64::MAX } else { whole - 56 };
        let (default, least, most) = SESSION_TIMEOUT;
        let host = self.host_compacket as u64;
        let tper = [
            ("MaxComPacketSize", whole),
            ("MaxResponseComPacketSize", whole),
            ("MaxPacketSize", whole - 20),
            ("MaxIndTokenSize", token),
            ("MaxPackets", 1),
            ("MaxSubpackets", 1),
            ("MaxMethods", 1),
            ("MaxSessions", 1),
            ("MaxAuthentications", MAX_AUTHENTICATIONS as u64),
            ("MaxTransactionLimit", 1),
            ("DefSessionTimeout", default),
            ("MinSessionTimeout", least),
            ("MaxSessionTimeout", most),
        ];
        let of_host = [
            ("MaxComPacketSize", host),
            ("MaxPacketSize", host - 20),
            ("MaxIndTokenSize", host - 56),
            ("MaxPackets", 1),
            ("MaxSubpackets", 1),
            ("MaxMethods", 1),
        ];
        let by_name = self.is_enterprise();
        write_call(answer, Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
            to.list(|to| tper.iter().for_each(|(name, value)| property(to, name, *value)));
            let taken = |to: &mut Encoder| {
                to.list(|to| of_host.iter().for_each(|(name, value)| property(to, name, *value)));
            };
            if by_name {
                enterprise::named(to, enterprise::HOST_PROPERTIES, taken);
            } else {
                to.named(parameter::HOST_PROPERTIES, taken);
            }
        });
    }

    fn start(&mut self, call: &Call<'_>, hsn: u32) -> Result<u32, Status> {
        let mut required = call.required().skip(1);
        let uid = required.next().and_then(Value::uid).ok_or(Status::InvalidParameter)?;
        let write = required.next().and_then(Value::boolean).ok_or(Status::InvalidParameter)?;
        let sp = Sp::of(uid, self.state.config.ssc).ok_or(Status::InvalidParameter)?;
        if sp == Sp::Locking && !self.state.active {
            return Err(Status::InvalidParameter);
        }
        if self.session.as_ref().is_some_and(Session::expired) {
            self.close_if(|_| true);
        }
        if let Some(open) = &self.session {
            return Err(if open.sp == sp { Status::SpBusy } else { Status::NoSessionsAvailable });
        }
        let (default, least, most) = SESSION_TIMEOUT;
        let timeout = match self.parameter(call, SESSION_TIMEOUT_PARAMETER, enterprise::SESSION_TIMEOUT) {
            None => default,
            Some(value) => match value.uint() {
                Some(ms) if (least..=most).contains(&ms) => ms,
                _ => return Err(Status::InvalidParameter),
            },
        };
        let tsn = self.next_tsn;
        let mut session = Session::new(sp, tsn, hsn, write, Duration::from_millis(timeout));
        if let Some(who) = call.optional(parameter::HOST_SIGNING_AUTHORITY) {
            let who = who.uid().ok_or(Status::InvalidParameter)?;
            let proof = match call.optional(parameter::HOST_CHALLENGE) {
                None => &[][..],
                Some(proof) => proof.bytes().ok_or(Status::InvalidParameter)?,
            };
            if !self.authenticate(&mut session, who, proof)? {
                return Err(Status::NotAuthorized);
            }
        }
        self.next_tsn = self.next_tsn.checked_add(1).unwrap_or(0x1000);
        self.session = Some(session);
        Ok(tsn)
    }

    /// Tries a PIN; whether it was right.
    fn authenticate(&mut self, session: &mut Session, who: Uid, proof: &[u8]) -> Result<bool, Status> {
        if who == authority::ANYBODY {
            return Ok(true);
        }
        let sp = session.sp;
        let Some(Cell::Uid(pin)) =
            self.cell(sp, who, column::authority::CREDENTIAL).filter(|_| who.table() == table::AUTHORITY)
        else {
            return Err(Status::InvalidParameter);
        };
        let Some(record) = self.state.pins.get(&(sp, pin)) else { return Ok(false) };
        if !self.enabled(sp, who) || (who == authority::SID && self.sid_blocked.is_some()) {
            return Ok(false);
        }
        if session.proved.contains_key(&who) {
            return Ok(true);
        }
        if session.proved.len() >= MAX_AUTHENTICATIONS {
            return Err(Status::Fail);
        }
        let limit = self.cell(sp, pin, column::c_pin::TRY_LIMIT).and_then(|c| c.uint()).unwrap_or(0);
        let tries = self.tries.get(&(sp, pin)).copied().unwrap_or(0);
        if limit > 0 && tries >= limit {
            return Err(Status::AuthorityLockedOut);
        }
        let Some(key) = record.open(proof) else {
            self.tries.insert((sp, pin), tries + 1);
            return Ok(false);
        };
        if let Some(sealed) = &record.admins {
            session.admins = sealed.open(&key);
        }
        self.tries.remove(&(sp, pin));
        if pin == c_pin::SID {
            session.owner_pin = Some(SecretBytes::copy_of(proof));
        }
        session.proved.insert(who, (sp == Sp::Locking).then_some(key));
        Ok(true)
    }

    /// A call in a session.
    pub(super) fn call(
        &mut self,
        call: &Call<'_>,
        session: &mut Session,
        answer: &mut Encoder,
        media: &mut Media,
    ) -> After {
        let mut after = After::Stay;
        write_answer(answer, |to| {
            if call.status != Status::Success {
                return Err(Status::InvalidParameter);
            }
            after = self.carry_out(call, session, to, media)?;
            Ok(())
        });
        after
    }

    fn carry_out(
        &mut self,
        call: &Call<'_>,
        session: &mut Session,
        to: &mut Encoder,
        media: &mut Media,
    ) -> Result<After, Status> {
        if self.failed {
            return Err(Status::TPerMalfunction);
        }
        let object = call.invoking;
        if call.method == method::GET_ACL {
            self.get_acl(call, session, to)?;
            return Ok(After::Stay);
        }
        let aces = self.admitting(session, object, call.method)?;
        // An SP does not come or go in the middle of a transaction.
        let grave = [method::ACTIVATE, method::REVERT, method::REVERT_SP, method::REACTIVATE, method::ERASE];
        let changes = grave.contains(&call.method) || [method::SET, method::GEN_KEY].contains(&call.method);
        if !session.write && changes {
            return Err(Status::NotAuthorized);
        }
        if session.transaction.is_some() && grave.contains(&call.method) {
            return Err(Status::Fail);
        }
        match call.method {
            method::GET => self.get(call, session, &aces, to)?,
            method::ENTERPRISE_GET => self.get_by_name(call, session, &aces, to)?,
            method::SET => self.set(call, session, &aces, media)?,
            method::NEXT => self.next(call, session, to)?,
            method::AUTHENTICATE | method::ENTERPRISE_AUTHENTICATE => {
                let who = call.required().next().and_then(Value::uid).ok_or(Status::InvalidParameter)?;
                let proof = self.parameter(call, parameter::PROOF, enterprise::CHALLENGE);
                let proof = proof.map(|v| v.bytes().ok_or(Status::InvalidParameter));
                let proved = self.authenticate(session, who, proof.transpose()?.unwrap_or_default())?;
                to.boolean(proved);
            }
            method::RANDOM => {
                let count = call.required().next().and_then(Value::uint).ok_or(Status::InvalidParameter)?;
                if count > MAX_RANDOM {
                    return Err(Status::InvalidParameter);
                }
                let mut bytes = vec![0; count as usize];
                super::keys::random_bytes(&mut bytes)?;
                to.bytes(&bytes);
            }
            method::GEN_KEY => {
                self.change(session, media, None, |tper, session| tper.gen_key(object, session))?
            }
            // The Admin SP always is.
            method::ACTIVATE if object == sp::ADMIN => {}
            method::ACTIVATE => {
                let sizes = parameter::DATA_STORE_TABLE_SIZES;
                let (setup, _) = Setup::asked(call, &self.state.config, sizes)?;
                self.change(session, media, None, |tper, session| tper.activate(session, setup))?;
            }
            method::REACTIVATE => {
                let sizes = parameter::REACTIVATE_DATA_STORE_TABLE_SIZES;
                let asked = Setup::asked(call, &self.state.config, sizes)?;
                let pin = call.optional(parameter::ADMIN1_PIN).map(a_pin).transpose()?;
                self.change(session, media, None, |tper, session| tper.reactivate(session, asked, pin))?;
                return Ok(After::Close);
            }
            method::ERASE => {
                self.change(session, media, None, |tper, session| tper.erase(object, session))?
            }
            method::REVERT if object == sp::ADMIN => {
                self.change(session, media, None, |tper, session| tper.revert_drive(session))?;
                return Ok(After::Close);
            }
            method::REVERT => {
                self.change(session, media, None, |tper, session| tper.revert_locking(session, false))?;
            }
            method::REVERT_SP => {
                let keep = match call.optional(parameter::KEEP_GLOBAL_RANGE_KEY) {
                    None => false,
                    Some(value) => value.boolean().ok_or(Status::InvalidParameter)?,
                };
                self.change(session, media, None, |tper, session| tper.revert_locking(session, keep))?;
                return Ok(After::Close);
            }
            _ => return Err(Status::InvalidParameter),
        }
        Ok(After::Stay)
    }

    /// The ACEs that let this session call the method; none is NOT_AUTHORIZED, as is what does not exist
    /// (Core 2.01, 5.3.4.2).
    fn admitting(&self, session: &Session, object: Uid, method: Uid) -> Result<Vec<Uid>, Status> {
        let list = self.tables(session.sp).access.get(&(object, method)).ok_or(Status::NotAuthorized)?;
        let present = session.present();
        let admits = |ace: &&Uid| {
            matches!(self.cell(session.sp, **ace, column::ace::BOOLEAN_EXPR),
                Some(Cell::Expression(expression)) if expression.admits(&present))
        };
        let aces: Vec<Uid> = list.iter().filter(admits).copied().collect();
        if aces.is_empty() { Err(Status::NotAuthorized) } else { Ok(aces) }
    }

    /// Whether one of the ACEs is about the column.
    pub(super) fn covers(&self, sp: Sp, aces: &[Uid], column: u64) -> bool {
        aces.iter().any(|ace| match self.cell(sp, *ace, column::ace::COLUMNS) {
            // None named: all.
            Some(Cell::Uints(columns)) => columns.is_empty() || columns.contains(&column),
            _ => false,
        })
    }

    fn get_acl(&self, call: &Call<'_>, session: &Session, to: &mut Encoder) -> Result<(), Status> {
        if call.invoking != table::ACCESS_CONTROL {
            return Err(Status::NotAuthorized);
        }
        let mut required = call.required();
        let (Some(object), Some(method)) =
            (required.next().and_then(Value::uid), required.next().and_then(Value::uid))
        else {
            return Err(Status::InvalidParameter);
        };
        let aces = self.tables(session.sp).access.get(&(object, method)).ok_or(Status::NotAuthorized)?;
        to.list(|to| {
            for ace in aces {
                to.uid(*ace);
            }
        });
        Ok(())
    }

    fn next(&self, call: &Call<'_>, session: &Session, to: &mut Encoder) -> Result<(), Status> {
        let table = call.invoking;
        let rows = self.tables(session.sp).rows_of(table);
        let from = call.optional(0).map(|v| v.uid().ok_or(Status::InvalidParameter)).transpose()?;
        let count = call.optional(1).map(|v| v.uint().ok_or(Status::InvalidParameter)).transpose()?;
        if from.is_some_and(|from| !self.tables(session.sp).rows.contains_key(&from) || from.table() != table)
        {
            return Err(Status::InvalidParameter);
        }
        let count = usize::try_from(count.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        to.list(|to| {
            for uid in rows.skip_while(|uid| from.is_some_and(|from| *uid < from)).take(count) {
                to.uid(uid);
            }
        });
        Ok(())
    }

    fn get(&self, call: &Call<'_>, session: &Session, aces: &[Uid], to: &mut Encoder) -> Result<(), Status> {
        let cellblock = match call.required().next() {
            None => &[][..],
            Some(list) => list.list().ok_or(Status::InvalidParameter)?,
        };
        let component = |number: u64| -> Result<Option<u64>, Status> {
            let found =
                cellblock.iter().filter_map(Value::named).find(|(name, _)| name.uint() == Some(number));
            found.map(|(_, value)| value.uint().ok_or(Status::InvalidParameter)).transpose()
        };
        let tables = self.tables(session.sp);
        if let Some(bytes) = tables.byte_tables.get(&call.invoking) {
            let last = bytes.len.saturating_sub(1);
            let first_row = component(parameter::START_ROW)?.unwrap_or(0);
            let end_row = component(parameter::END_ROW)?.unwrap_or(last);
            if first_row > end_row || end_row > last {
                return Err(Status::InvalidParameter);
            }
            let len = end_row - first_row + 1;
            // What still does not fit with its tokens around it is found out by the whole answer.
            if len > self.room() as u64 {
                return Err(Status::ResponseOverflow);
            }
            let mut buf = vec![0; len as usize];
            self.store.read_at(&mut buf, bytes.offset + first_row).map_err(|_| Status::TPerMalfunction)?;
            to.bytes(&buf);
            return Ok(());
        }
        let row = tables.rows.get(&call.invoking).ok_or(Status::InvalidParameter)?;
        let first = component(parameter::START_COLUMN)?.unwrap_or(0);
        let last = component(parameter::END_COLUMN)?.unwrap_or(u64::MAX);
        if first > last {
            return Err(Status::InvalidParameter);
        }
        to.list(|to| {
            for column in row.keys().filter(|c| (first..=last).contains(*c)) {
                if self.covers(session.sp, aces, *column)
                    && let Some(cell) = self.cell(session.sp, call.invoking, *column)
                {
                    to.named(*column, |to| cell.write(to));
                }
            }
        });
        Ok(())
    }

    fn set(
        &mut self,
        call: &Call<'_>,
        session: &mut Session,
        aces: &[Uid],
        media: &mut Media,
    ) -> Result<(), Status> {
        let object = call.invoking;
        if let Some(bytes) = self.tables(session.sp).byte_tables.get(&object).copied() {
            let at = match call.optional(parameter::WHERE) {
                None => 0,
                Some(value) => value.uint().ok_or(Status::InvalidParameter)?,
            };
            let new =
                call.optional(parameter::VALUES).and_then(Value::bytes).ok_or(Status::InvalidParameter)?;
            if at.checked_add(new.len() as u64).is_none_or(|end| end > bytes.len) {
                return Err(Status::InvalidParameter);
            }
            return self.store.write_at(new, bytes.offset + at).map_err(|_| Status::TPerMalfunction);
        }
        let values = match call.optional(parameter::VALUES) {
            None => &[][..],
            Some(list) => list.list().ok_or(Status::InvalidParameter)?,
        };
        let mut seen = BTreeSet::new();
        let mut columns = Vec::new();
        for value in values {
            let (column, value) = value.named().ok_or(Status::InvalidParameter)?;
            let column = column.uint().ok_or(Status::InvalidParameter)?;
            if !self.tables(session.sp).rows.get(&object).is_some_and(|row| row.contains_key(&column))
                || !seen.insert(column)
            {
                return Err(Status::InvalidParameter);
            }
            if !self.covers(session.sp, aces, column) {
                return Err(Status::NotAuthorized);
            }
            columns.push((column, value));
        }
        self.change(session, media, None, |tper, session| {
            for (column, value) in columns {
                if object.table() == table::C_PIN && column == column::c_pin::PIN {
                    tper.set_pin(object, a_pin(value)?, session)?;
                } else {
                    let cell = tper
                        .cell_to_set(session.sp, object, column, value)
                        .ok_or(Status::InvalidParameter)?;
                    tper.state.cells.insert((session.sp, object, column), cell);
                }
            }
            if object.table() == table::LOCKING { tper.check_ranges() } else { Ok(()) }
        })
    }

    /// The cell that a host's value makes, if the column takes it.
    fn cell_to_set(&self, sp: Sp, object: Uid, column: u64, value: &Value<'_>) -> Option<Cell> {
        let boolean = || value.boolean().map(|b| Cell::Uint(b.into()));
        let name = || value.bytes().filter(|name| name.len() <= 32).map(|name| Cell::Bytes(name.to_vec()));
        // { power cycle } and { power cycle, programmatic } (Opal SSC 2.01, 4.3.5.2.2).
        let resets = || {
            let list: Vec<u64> = value.list()?.iter().map(Value::uint).collect::<Option<_>>()?;
            matches!(list.as_slice(), [0] | [0, 3]).then_some(Cell::Uints(list))
        };
        match (object.table(), column) {
            (table::AUTHORITY, 2) | (table::LOCKING, 2) => name(),
            (table::AUTHORITY, 5) => boolean(),
            (table::ACE, 3) => {
                let expression = super::cell::Expression::parse(value)?;
                let known =
                    |uid: Uid| uid.table() == table::AUTHORITY && self.tables(sp).rows.contains_key(&uid);
                let all_known = expression.authorities().all(known);
                all_known.then_some(Cell::Expression(expression))
            }
            (table::LOCKING, 3 | 4) => value.uint().map(Cell::Uint),
            (table::LOCKING, 5..=8) => boolean(),
            (table::LOCKING, 9) => resets(),
            (table::MBR_CONTROL, 1 | 2) => boolean(),
            (table::MBR_CONTROL, 3) => resets(),
            (table::TPER_INFO, 8) => boolean(),
            // There is one mechanism.
            (table::DATA_REMOVAL, 1) => {
                let only = u64::from(self.state.config.ssc.data_removal());
                value.uint().filter(|n| *n == only).map(Cell::Uint)
            }
            _ => None,
        }
    }

    /// Ranges are aligned, on the drive, and do not overlap (Opal SSC 2.01, 4.3.5.2.1).
    fn check_ranges(&self) -> Result<(), Status> {
        let config = &self.state.config;
        let granule = if config.firmware.aligned { config.alignment_blocks() } else { 1 };
        let mut used: Vec<(u64, u64)> = Vec::new();
        for n in 1..=self.state.config.ranges {
            let range = self.range_state(n);
            let end = range.start.checked_add(range.len).ok_or(Status::InvalidParameter)?;
            let aligned = range.start.is_multiple_of(granule) && range.len.is_multiple_of(granule);
            if !aligned || end > self.state.config.blocks {
                return Err(Status::InvalidParameter);
            }
            if range.len > 0 {
                used.push((range.start, end));
            }
        }
        used.sort_unstable();
        let overlap = used.windows(2).any(|pair| matches!(pair, [(_, end), (start, _)] if end > start));
        if overlap { Err(Status::InvalidParameter) } else { Ok(()) }
    }
}
