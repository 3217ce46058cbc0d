//! The trusted peripheral: its channel, its one session at a time, and what a call does to the state.

use super::cell::Cell;
use super::config::{ByteTable, DriveConfig, Label, Setup, SscKind};
use super::error::DriveError;
use super::fault::Fault;
use super::keys::{NoRandom, PinRecord, Sealed};
use super::media::{Media, Transform};
use super::session::Session;
use super::slots::{MAX_STATE, Slots};
use super::state::{RangeKeys, State};
use super::tables::{
    PROGRAMMATIC_RESET_ENABLE, RESET_POWER_CYCLE, RESET_PROGRAMMATIC, Sp, TPER_INFO, Tables, life_cycle,
    masters,
};
use keyway_secret::SecretBytes;
use keyway_sed::SecurityError;
use keyway_sed::comid::{self, ComIdState, Request, Response};
use keyway_sed::message::{Message, write_answer, write_call};
use keyway_sed::packet::{self, ComPacket, HEADERS};
use keyway_sed::token::{Encoder, Token};
use keyway_sed::uid::{authority, c_pin, column, method, sp};
use keyway_sed::{Status, Uid};
use keyway_store::Store;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use zeroize::Zeroizing;

/// The largest ComPacket that the drive takes or sends, in bytes.
pub(super) const MAX_COMPACKET: usize = 64 * 1024;
/// What every host can take (Opal SSC 2.01, 4.1.1.1).
pub(super) const MIN_HOST_COMPACKET: usize = 2048;
/// Milliseconds that a session may be silent: by itself, and at the least and most that a host may ask for.
pub(super) const SESSION_TIMEOUT: (u64, u64, u64) = (120_000, 5_000, 600_000);
/// The first number of a session; below are reserved ones (Core 2.01, 3.3.7.1.3).
const FIRST_TSN: u32 = 0x1000;

pub(super) struct Tper {
    pub(super) store: Arc<dyn Store>,
    pub(super) state: State,
    pub(super) slots: Slots,
    tables: SharedTables,
    pub(super) session: Option<Session>,
    pub(super) next_tsn: u32,
    /// Wrong PINs in a row.
    pub(super) tries: BTreeMap<(Sp, Uid), u64>,
    /// The owner can't be proved until a reset; and whether a hardware reset is one.
    pub(super) sid_blocked: Option<bool>,
    /// Bytes of a ComPacket that the host takes.
    pub(super) host_compacket: usize,
    /// The ranges that are not locked.
    pub(super) unlocked: Vec<Option<Unlocked>>,
    /// An answer that waits to be fetched, and since when.
    pub(super) answer: Option<Zeroizing<Vec<u8>>>,
    pub(super) answered: Instant,
    /// How it misbehaves.
    pub(super) faults: Vec<Fault>,
    /// Whether blocks go through its cipher.
    pub(super) engine: bool,
    /// An answer about the ComID that waits to be fetched.
    com_id_answer: Option<Vec<u8>>,
    /// The medium failed in mid-change: nothing is known for certain, and nothing is done any more.
    pub(super) failed: bool,
}

/// Both SPs' tables, and the set-up that the Locking SP's are of. A power cycle need not make them anew.
#[derive(Clone)]
pub(super) struct SharedTables {
    admin_sp: Arc<Tables>,
    locking_sp: Arc<Tables>,
    of: (DriveConfig, Setup),
}

impl SharedTables {
    fn new(config: &DriveConfig, setup: &Setup) -> Self {
        Self {
            admin_sp: Arc::new(Tables::admin_sp(config)),
            locking_sp: Arc::new(Tables::locking_sp(config, setup)),
            of: (config.clone(), setup.clone()),
        }
    }
}

/// A range that is not locked.
pub(super) struct Unlocked {
    /// What the media key was unwrapped from.
    pub(super) of: Sealed,
    /// The range's key.
    pub(super) key: SecretBytes,
    pub(super) transform: Transform,
}

/// What follows a method's answer.
pub(super) enum After {
    /// Nothing.
    Stay,
    /// The session ends: the SP that it was with is no longer what it was.
    Close,
}

/// The PINs as they leave the factory.
pub(super) fn factory_pins(config: &DriveConfig) -> Result<BTreeMap<(Sp, Uid), PinRecord>, NoRandom> {
    let Label { msid, psid, .. } = &config.label;
    let (msid, psid) = (msid.as_bytes(), psid.as_bytes());
    let pins: Vec<(Sp, Uid, &[u8])> = if config.ssc == SscKind::Enterprise {
        let masters = masters(config).map(|(who, _)| (Sp::Locking, c_pin::enterprise(who), msid));
        masters.chain([(Sp::Admin, c_pin::SID, msid)]).collect()
    } else {
        let admin1 = (!config.ssc.is_small()).then(|| (c_pin::admin_sp_admin(1), &[][..]));
        let people = [(c_pin::SID, msid), (c_pin::PSID, psid)].into_iter().chain(admin1);
        people.map(|(row, pin)| (Sp::Admin, row, pin)).collect()
    };
    pins.into_iter()
        .map(|(sp, row, pin)| Ok(((sp, row), PinRecord::new(pin, config.pin_iterations)?.0)))
        .collect()
}

impl State {
    /// As it leaves the factory.
    pub(super) fn factory(config: &DriveConfig) -> Result<Self, NoRandom> {
        let ranges = (0..=config.ranges).map(|_| RangeKeys::generate()).collect::<Result<_, _>>()?;
        let pins = factory_pins(config)?;
        let (config, setup) = (config.clone(), Setup::ordinary(config));
        // The Enterprise SSC has no Activate: its Locking SP is in use from the beginning.
        let active = config.ssc == SscKind::Enterprise;
        Ok(Self { config, active, setup, sid_is_msid: true, cells: BTreeMap::new(), pins, ranges })
    }
}

impl Tper {
    /// Powers the drive up; `before` is what it was before the power went away.
    pub(super) fn new(
        store: Arc<dyn Store>,
        state: State,
        slots: Slots,
        before: Option<&Self>,
    ) -> Result<(Self, Media), DriveError> {
        let tables = match before {
            Some(before) if before.tables.of == (state.config.clone(), state.setup.clone()) => {
                before.tables.clone()
            }
            _ => SharedTables::new(&state.config, &state.setup),
        };
        let unlocked = (0..=state.config.ranges).map(|_| None).collect();
        let mut tper = Self {
            tables,
            store,
            state,
            slots,
            session: None,
            next_tsn: FIRST_TSN,
            tries: BTreeMap::new(),
            sid_blocked: None,
            host_compacket: MIN_HOST_COMPACKET,
            unlocked,
            answer: None,
            answered: Instant::now(),
            faults: before.map(|tper| tper.faults.clone()).unwrap_or_default(),
            engine: before.is_none_or(|tper| tper.engine),
            com_id_answer: None,
            failed: false,
        };
        tper.power_on_faults();
        tper.reset_locks(RESET_POWER_CYCLE);
        let media = tper.map_media(None).map_err(|_| DriveError::Damaged)?;
        Ok((tper, media))
    }

    /// From now on blocks go to the medium as they are.
    #[cfg(feature = "modelled")]
    pub(super) fn stop_engine(&mut self, media: &mut Media) -> Result<(), DriveError> {
        self.engine = false;
        self.unlocked.iter_mut().for_each(|range| *range = None);
        *media = self.map_media(None).map_err(|_| DriveError::Damaged)?;
        Ok(())
    }

    pub(super) fn tables(&self, sp: Sp) -> &Tables {
        match sp {
            Sp::Admin => &self.tables.admin_sp,
            Sp::Locking => &self.tables.locking_sp,
        }
    }

    /// A cell as it is now.
    pub(super) fn cell(&self, sp: Sp, row: Uid, column: u64) -> Option<Cell> {
        if (sp, row, column) == (Sp::Admin, sp::LOCKING, column::sp::LIFE_CYCLE) {
            let active = self.state.active;
            let state = if active { life_cycle::MANUFACTURED } else { life_cycle::MANUFACTURED_INACTIVE };
            return Some(Cell::Uint(state));
        }
        if row.table() == keyway_sed::uid::table::C_PIN && column == column::c_pin::TRIES {
            return Some(Cell::Uint(self.tries.get(&(sp, row)).copied().unwrap_or(0)));
        }
        let changed = self.state.cell(sp, row, column);
        changed.or_else(|| self.tables(sp).rows.get(&row)?.get(&column)).cloned()
    }

    /// IF-SEND: bytes from the host.
    pub(super) fn send(
        &mut self,
        protocol: u8,
        com_id: u16,
        bytes: &[u8],
        media: &mut Media,
    ) -> Result<(), SecurityError> {
        if bytes.len() > MAX_COMPACKET {
            return Err(SecurityError::TransferLength(bytes.len()));
        }
        match (protocol, com_id) {
            (comid::PROTOCOL_TCG, id) if id == self.com_id() => self.take_compacket(bytes, media),
            (comid::PROTOCOL_COMID, id) if id == self.com_id() => {
                self.com_id_answer = Some(self.com_id_request(bytes));
                Ok(())
            }
            (comid::PROTOCOL_COMID, comid::TPER_RESET) => self.programmatic_reset(media),
            (comid::PROTOCOL_COMID, comid::BLOCK_SID) if self.state.config.firmware.block_sid => {
                if !self.state.sid_is_msid || self.sid_blocked.is_some() {
                    return Err(SecurityError::NotNow);
                }
                self.sid_blocked = Some(bytes.first().is_some_and(|b| b & 1 == 1));
                self.close_if(|session| session.proved.contains_key(&authority::SID));
                Ok(())
            }
            (comid::PROTOCOL_TCG | comid::PROTOCOL_COMID, _) => Err(SecurityError::ComId(com_id)),
            _ => Err(SecurityError::Protocol(protocol)),
        }
    }

    /// IF-RECV: at most `len` bytes for the host.
    pub(super) fn receive(
        &mut self,
        protocol: u8,
        com_id: u16,
        len: usize,
    ) -> Result<Vec<u8>, SecurityError> {
        let whole = match (protocol, com_id) {
            // SPC-4, 7.7.1.3: the list of protocols; and that there are no certificates.
            (0, 0) => vec![0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2],
            (0, 1) => vec![0; 4],
            (comid::PROTOCOL_TCG, comid::DISCOVERY) => {
                let mut told = self.discovery().write();
                if self.has(Fault::ShortDiscovery) {
                    told.truncate(keyway_sed::discovery::HEADER + 16);
                }
                told
            }
            (comid::PROTOCOL_TCG, id) if id == self.com_id() => {
                let waiting = self.answer.as_ref().map_or(0, |a| a.len());
                if waiting == 0 {
                    packet::empty(id, 0, 0, 0).to_vec()
                } else if self.stalls() {
                    // More is to come (Core 2.01, 3.3.10.2.1).
                    packet::empty(id, 0, 1, 0).to_vec()
                } else if waiting > len {
                    let waiting = waiting as u32;
                    packet::empty(id, 0, waiting, waiting).to_vec()
                } else {
                    self.answer.take().map(|answer| answer.to_vec()).unwrap_or_default()
                }
            }
            (comid::PROTOCOL_COMID, id) if id == self.com_id() => {
                self.com_id_answer.take().unwrap_or_else(|| Response::Pending.write(id, 0, Request::Other(0)))
            }
            // None is given out: the drive has its own.
            (comid::PROTOCOL_COMID, comid::GET_COMID) => vec![0; 4],
            (comid::PROTOCOL_TCG | comid::PROTOCOL_COMID, _) => return Err(SecurityError::ComId(com_id)),
            _ => return Err(SecurityError::Protocol(protocol)),
        };
        let mut whole = whole;
        whole.truncate(len);
        Ok(whole)
    }

    /// Where it listens.
    pub(super) fn com_id(&self) -> u16 {
        let told = self.state.config.firmware.com_id;
        if self.has(Fault::StaleComId) { told.wrapping_add(1) } else { told }
    }

    fn com_id_request(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Ok((com_id, extension, request)) = Request::parse(bytes) else {
            return Response::Pending.write(self.com_id(), 0, Request::Other(0));
        };
        let own = (self.com_id(), 0);
        let response = match request {
            Request::Verify if (com_id, extension) != own => Response::State(ComIdState::Invalid),
            Request::Verify if self.session.is_some() => Response::State(ComIdState::Associated),
            Request::Verify => Response::State(ComIdState::Issued),
            Request::StackReset if (com_id, extension) == own => {
                self.stack_reset();
                Response::Reset(true)
            }
            Request::StackReset => Response::Reset(false),
            Request::Other(_) => Response::Pending,
        };
        response.write(com_id, extension, request)
    }

    /// Forgets what is going on at the ComID.
    pub(super) fn stack_reset(&mut self) {
        self.close_if(|_| true);
        self.answer = None;
        self.host_compacket = MIN_HOST_COMPACKET;
    }

    /// A reset that is no loss of power.
    pub(super) fn hardware_reset(&mut self) {
        self.stack_reset();
        self.com_id_answer = None;
        self.sid_blocked = self.sid_blocked.filter(|ended_by_reset| !ended_by_reset);
    }

    fn programmatic_reset(&mut self, media: &mut Media) -> Result<(), SecurityError> {
        let enabled = self.cell(Sp::Admin, TPER_INFO, PROGRAMMATIC_RESET_ENABLE);
        if enabled != Some(Cell::Uint(1)) {
            return Err(SecurityError::NotNow);
        }
        // What may be on the medium is not known: only a power cycle finds out.
        if self.failed {
            return Err(SecurityError::Failed);
        }
        self.stack_reset();
        self.com_id_answer = None;
        self.reset_locks(RESET_PROGRAMMATIC);
        self.finish(media).map_err(|_| SecurityError::Failed)
    }

    /// Ends the session, as if it had never had an open transaction, if the condition holds.
    pub(super) fn close_if(&mut self, condition: impl FnOnce(&Session) -> bool) {
        if self.session.as_ref().is_some_and(condition)
            && let Some(session) = self.session.take()
            && let Some(before) = session.transaction
        {
            self.restore(&before);
        }
    }

    /// Makes the Locking SP's tables those of the set-up that there is now.
    pub(super) fn follow_setup(&mut self) {
        if self.tables.of.1 != self.state.setup {
            let tables = Tables::locking_sp(&self.state.config, &self.state.setup);
            self.tables.locking_sp = Arc::new(tables);
            self.tables.of.1 = self.state.setup.clone();
        }
    }

    pub(super) fn restore(&mut self, before: &[u8]) {
        match State::decode(before) {
            Ok(state) => {
                self.state = state;
                self.follow_setup();
            }
            // It was encoded by this very process.
            Err(_) => self.failed = true,
        }
    }

    fn take_compacket(&mut self, bytes: &[u8], media: &mut Media) -> Result<(), SecurityError> {
        if self.answer.is_some() {
            return Err(SecurityError::AnswerWaiting);
        }
        if self.session.as_ref().is_some_and(Session::expired) {
            self.close_if(|_| true);
        }
        // What is no ComPacket for this channel with one packet of one subpacket (the drive's own
        // limits) is dropped: Core 2.01, 3.3.10.3.
        let Ok(compacket) = ComPacket::parse(bytes) else { return Ok(()) };
        if (compacket.com_id, compacket.com_id_extension) != (self.com_id(), 0) {
            return Ok(());
        }
        let Ok(Some((packet, payload))) = compacket.single() else { return Ok(()) };
        let mut answer = Encoder::new();
        let (tsn, hsn) = (packet.tsn, packet.hsn);
        if (tsn, hsn) == (0, 0) {
            self.session_manager(payload, &mut answer);
            self.reply(0, 0, &answer);
        } else if let Some(session) = self.session.take_if(|s| (s.tsn, s.hsn) == (tsn, hsn)) {
            self.in_session(session, payload, &mut answer, media);
        }
        Ok(())
    }

    fn reply(&mut self, tsn: u32, hsn: u32, answer: &Encoder) {
        if answer.is_empty() || self.has(Fault::LostAnswers) {
            return;
        }
        self.answered = Instant::now();
        let padded = answer.len().next_multiple_of(4);
        if HEADERS + padded > self.host_compacket {
            let mut short = Encoder::new();
            write_answer(&mut short, |_| Err(Status::ResponseOverflow));
            self.answer = Some(packet::wrap(self.com_id(), 0, tsn, hsn, short.as_bytes()));
        } else {
            self.answer = Some(packet::wrap(self.com_id(), 0, tsn, hsn, answer.as_bytes()));
        }
    }

    /// Bytes of an answer's tokens that the host can take.
    pub(super) const fn room(&self) -> usize {
        self.host_compacket - HEADERS
    }

    fn in_session(&mut self, mut session: Session, payload: &[u8], answer: &mut Encoder, media: &mut Media) {
        session.last = Instant::now();
        let (tsn, hsn) = (session.tsn, session.hsn);
        let message = Message::parse(payload);
        let mut stay = true;
        match message {
            Ok(Message::EndOfSession) => {
                if let Some(before) = session.transaction.take() {
                    self.restore(&before);
                }
                // What was written to byte tables.
                if self.store.flush().is_err() {
                    self.fail(media);
                }
                stay = false;
                answer.token(Token::EndOfSession);
            }
            Ok(Message::StartTransaction(_)) => {
                let status = u64::from(session.transaction.is_some() || !session.write);
                if status == 0 {
                    session.transaction = Some(Zeroizing::new(self.state.encode().as_bytes().to_vec()));
                }
                answer.token(Token::StartTransaction).uint(status);
            }
            Ok(Message::EndTransaction(status)) => {
                let done = match session.transaction.take() {
                    None => Err(()),
                    Some(before) if status != 0 => {
                        self.restore(&before);
                        Ok(())
                    }
                    Some(before) => {
                        self.change(&mut session, media, Some(before), |_, _| Ok(())).map_err(|_| ())
                    }
                };
                answer.token(Token::EndTransaction).uint(u64::from(done.is_err()));
            }
            Ok(Message::Call(call)) => match self.call(&call, &mut session, answer, media) {
                After::Stay => {}
                After::Close => stay = false,
            },
            // Not a call: the session is over (Core 2.01, 3.3.7.1.5), and the host is told.
            Ok(Message::Answer(_)) | Err(_) => {
                if let Some(before) = session.transaction.take() {
                    self.restore(&before);
                }
                write_call(answer, Uid::SESSION_MANAGER, method::CLOSE_SESSION, |to| {
                    to.uint(hsn.into()).uint(tsn.into());
                });
                self.reply(0, 0, answer);
                return;
            }
        }
        if stay {
            self.session = Some(session);
        }
        self.reply(tsn, hsn, answer);
    }

    /// Carries a change out: the state, the keys, the medium, the data path, in this order; or not at all.
    /// `before` is the state to go back to, if it is not the one there is now.
    pub(super) fn change<T>(
        &mut self,
        session: &mut Session,
        media: &mut Media,
        before: Option<Zeroizing<Vec<u8>>>,
        change: impl FnOnce(&mut Self, &mut Session) -> Result<T, Status>,
    ) -> Result<T, Status> {
        if self.failed {
            return Err(Status::TPerMalfunction);
        }
        let now = self.state.encode();
        let before = before.unwrap_or_else(|| Zeroizing::new(now.as_bytes().to_vec()));
        let in_transaction = session.transaction.is_some();
        let result = change(self, session).and_then(|value| {
            self.refresh_keys(Some(session))?;
            let after = self.state.encode();
            if after.len() > MAX_STATE {
                return Err(Status::InsufficientSpace);
            }
            let media = if in_transaction { None } else { Some(self.map_media(Some(session))?) };
            Ok((value, media.map(|media| (media, after))))
        });
        let (value, new) = match result {
            Ok(done) => done,
            Err(status) => {
                self.restore(&before);
                return Err(status);
            }
        };
        if let Some((new, after)) = new {
            if after.as_bytes() != &before[..] && self.slots.save(&*self.store, after.as_bytes()).is_err() {
                self.fail(media);
                return Err(Status::TPerMalfunction);
            }
            *media = new;
        }
        Ok(value)
    }

    /// As [`Tper::change`], without a session: after a reset.
    pub(super) fn finish(&mut self, media: &mut Media) -> Result<(), Status> {
        // Whatever can't be mapped any more is locked.
        match self.map_media(None) {
            Ok(new) => *media = new,
            Err(status) => {
                self.fail(media);
                return Err(status);
            }
        }
        if self.slots.save(&*self.store, self.state.encode().as_bytes()).is_err() {
            self.fail(media);
            return Err(Status::TPerMalfunction);
        }
        Ok(())
    }

    /// Gives up: everything is locked until the next power cycle.
    pub(super) fn fail(&mut self, media: &mut Media) {
        self.failed = true;
        self.session = None;
        media.shadow = None;
        self.unlocked.iter_mut().for_each(|range| *range = None);
        for range in media.ranges.iter_mut().chain([&mut media.global]) {
            range.transform = Transform::Closed;
        }
    }

    /// Fills a byte table with zeros, leaving alone what is zero.
    pub(super) fn clear_bytes(&self, table: ByteTable) -> Result<(), Status> {
        let mut piece = vec![0; 1024 * 1024];
        let zeros = vec![0; 1024 * 1024];
        let mut done = 0;
        while done < table.len {
            let len = (table.len - done).min(piece.len() as u64) as usize;
            let (Some(piece), Some(zeros)) = (piece.get_mut(..len), zeros.get(..len)) else { break };
            let at = table.offset + done;
            self.store.read_at(piece, at).map_err(|_| Status::TPerMalfunction)?;
            if piece.iter().any(|b| *b != 0) {
                self.store.write_at(zeros, at).map_err(|_| Status::TPerMalfunction)?;
            }
            done += len as u64;
        }
        self.store.flush().map_err(|_| Status::TPerMalfunction)
    }
}
