//! A controller: its registers, and its admin commands.

use super::command::{Command, Status, fabrics, opcode};
use super::host::Host;
use super::identify::{self, IO_QUEUES, MAX_TRANSFER, NAMESPACE, QUEUE_ENTRIES, VERSION};
use super::{Namespace, NamespaceError, SecurityRefusal};
use keyway_store::AlignedBuf;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Registers (NVM Express Base Specification 1.4, 3.1).
mod property {
    pub(super) const CAP: u32 = 0x00;
    pub(super) const VS: u32 = 0x08;
    pub(super) const CC: u32 = 0x14;
    pub(super) const CSTS: u32 = 0x1c;
}

/// Queue size (less one), contiguous queues, 10 s to become ready, the NVM command set.
const CAP: u64 = (QUEUE_ENTRIES as u64 - 1) | 1 << 16 | 20 << 24 | 1 << 37;

/// Features (Base 1.4, figure 271).
mod feature {
    pub(super) const VOLATILE_CACHE: u32 = 0x06;
    pub(super) const QUEUES: u32 = 0x07;
    pub(super) const ASYNC_EVENTS: u32 = 0x0b;
    pub(super) const KEEP_ALIVE: u32 = 0x0f;
}

/// A controller, shared by its queues.
pub(super) struct Controller {
    pub(super) id: u16,
    namespace: Arc<dyn Namespace>,
    nqn: Arc<str>,
    namespace_id: [u8; 16],
    configuration: AtomicU32,
    /// The connections that are its queues; none once it has ended.
    queues: Mutex<Option<BTreeMap<u16, Arc<dyn Host>>>>,
    seated: AtomicBool,
    own: AtomicBool,
    /// How long its host may be silent, in milliseconds; 0: for ever.
    keep_alive: AtomicU32,
    made: Instant,
    /// Commands under way.
    busy: AtomicUsize,
    /// When its host was heard of last, in milliseconds since it was `made`.
    heard: AtomicU64,
}

/// A command is under way for as long as this is kept.
pub(super) struct Busy<'a>(&'a Controller);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.hear();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a command answers: a number and bytes.
pub(super) struct Answer {
    pub(super) result: u64,
    data: AnswerData,
}

enum AnswerData {
    /// What a controller says of itself.
    Told(Vec<u8>),
    /// What was read.
    Blocks(AlignedBuf),
}

impl Answer {
    pub(super) const NOTHING: Self = Self::number(0);

    pub(super) const fn number(result: u64) -> Self {
        Self { result, data: AnswerData::Told(Vec::new()) }
    }

    pub(super) const fn data(data: Vec<u8>) -> Self {
        Self { result: 0, data: AnswerData::Told(data) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.data {
            AnswerData::Told(bytes) => bytes,
            AnswerData::Blocks(blocks) => blocks,
        }
    }
}

impl Controller {
    pub(super) fn new(id: u16, namespace: Arc<dyn Namespace>, nqn: Arc<str>) -> Self {
        let namespace_id = identify::id_of(&namespace.serial());
        Self {
            id,
            namespace,
            nqn,
            namespace_id,
            configuration: AtomicU32::new(0),
            queues: Mutex::new(Some(BTreeMap::new())),
            seated: AtomicBool::new(false),
            own: AtomicBool::new(false),
            keep_alive: AtomicU32::new(0),
            made: Instant::now(),
            busy: AtomicUsize::new(0),
            heard: AtomicU64::new(0),
        }
    }

    fn queues(&self) -> MutexGuard<'_, Option<BTreeMap<u16, Arc<dyn Host>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a connection the queue of that number, unless there is one, or the controller has ended.
    pub(super) fn take_queue(&self, number: u16, host: &Arc<dyn Host>) -> bool {
        let mut queues = self.queues();
        match queues.as_mut().map(|queues| queues.entry(number)) {
            Some(Entry::Vacant(free)) => {
                free.insert(host.clone());
                true
            }
            _ => false,
        }
    }

    /// The connection that was that queue has ended.
    pub(super) fn leave_queue(&self, number: u16) {
        if let Some(queues) = &mut *self.queues() {
            queues.remove(&number);
        }
    }

    /// Hangs up on all its queues, for good.
    pub(super) fn end(&self) {
        for host in self.queues().take().into_iter().flat_map(BTreeMap::into_values) {
            host.hang_up();
        }
    }

    pub(super) fn take_place(&self, own: bool) {
        self.own.store(own, Ordering::Release);
        self.seated.store(true, Ordering::Release);
    }

    pub(super) fn is_seated(&self) -> bool {
        self.seated.load(Ordering::Acquire)
    }

    pub(super) fn is_own(&self) -> bool {
        self.own.load(Ordering::Acquire)
    }

    /// The host lives.
    pub(super) fn hear(&self) {
        let now = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.fetch_max(now, Ordering::AcqRel);
    }

    pub(super) fn busy(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        Busy(self)
    }

    /// How long nothing has been heard of the host; nothing while a command of its is under way.
    pub(super) fn silent(&self) -> Option<Duration> {
        let heard = Duration::from_millis(self.heard.load(Ordering::Acquire));
        (self.busy.load(Ordering::Acquire) == 0).then(|| self.made.elapsed().saturating_sub(heard))
    }

    /// How long the host will be silent at most, in milliseconds; 0: for ever.
    pub(super) fn promise(&self, milliseconds: u32) {
        // Rounded up to what the controller says that it counts in (Base 1.4, 5.21.1.15).
        let unit = u32::from(identify::KEEP_ALIVE_UNIT) * 100;
        self.keep_alive.store(milliseconds.div_ceil(unit).saturating_mul(unit), Ordering::Release);
        self.hear();
    }

    /// How long until it has been silent for longer than it promised; none where it promised nothing.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let promised = self.keep_alive.load(Ordering::Acquire);
        (promised > 0).then(|| {
            let promised = Duration::from_millis(promised.into());
            self.silent().map_or(promised, |silent| promised.saturating_sub(silent))
        })
    }

    /// Ready while enabled; "shutdown complete" once it was asked for.
    fn status(&self) -> u32 {
        let cc = self.configuration.load(Ordering::Acquire);
        let shutdown = if cc >> 14 & 3 == 0 { 0 } else { 2 << 2 };
        cc & 1 | shutdown
    }

    pub(super) fn is_ready(&self) -> bool {
        self.status() & 1 == 1
    }

    /// PropertyGet and PropertySet.
    pub(super) fn fabrics(&self, command: &Command) -> Result<Answer, Status> {
        let (offset, eight) = (command.u32_at(44), command.u8_at(40) & 7 == 1);
        match command.fabrics_type() {
            fabrics::PROPERTY_GET => Ok(Answer::number(match (offset, eight) {
                (property::CAP, true) => CAP,
                (property::VS, false) => VERSION.into(),
                (property::CC, false) => self.configuration.load(Ordering::Acquire).into(),
                (property::CSTS, false) => self.status().into(),
                _ => return Err(Status::INVALID_FIELD),
            })),
            fabrics::PROPERTY_SET if (offset, eight) == (property::CC, false) => {
                self.configuration.store(command.u32_at(48), Ordering::Release);
                Ok(Answer::NOTHING)
            }
            fabrics::PROPERTY_SET => Err(Status::INVALID_FIELD),
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    /// An admin command; async events are held by the queue.
    pub(super) fn admin(&self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        match command.opcode() {
            opcode::IDENTIFY => self.identify(command).map(Answer::data),
            opcode::GET_LOG_PAGE => {
                let dwords = u64::from(command.dword(10) >> 16) | u64::from(command.dword(11) & 0xffff) << 16;
                let len = usize::try_from((dwords + 1) * 4).unwrap_or(usize::MAX).min(MAX_TRANSFER);
                match command.dword(10) & 0xff {
                    // Errors, health, firmware: nothing to tell.
                    1..=3 => Ok(Answer::data(vec![0; len])),
                    _ => Err(Status::INVALID_LOG_PAGE),
                }
            }
            opcode::SET_FEATURES => match command.dword(10) & 0xff {
                feature::QUEUES => Ok(Answer::number(queues())),
                feature::ASYNC_EVENTS => Ok(Answer::NOTHING),
                feature::KEEP_ALIVE => {
                    self.promise(command.dword(11));
                    Ok(Answer::NOTHING)
                }
                _ => Err(Status::INVALID_FIELD),
            },
            opcode::GET_FEATURES => match command.dword(10) & 0xff {
                feature::QUEUES => Ok(Answer::number(queues())),
                feature::VOLATILE_CACHE => Ok(Answer::number(1)),
                feature::ASYNC_EVENTS => Ok(Answer::NOTHING),
                feature::KEEP_ALIVE => Ok(Answer::number(self.keep_alive.load(Ordering::Acquire).into())),
                _ => Err(Status::INVALID_FIELD),
            },
            // 1: it was not aborted. Commands are done before an abort can come.
            opcode::ABORT => Ok(Answer::number(1)),
            opcode::KEEP_ALIVE => Ok(Answer::NOTHING),
            opcode::SECURITY_SEND | opcode::SECURITY_RECEIVE if !self.namespace.has_security() => {
                Err(Status::INVALID_OPCODE)
            }
            opcode::SECURITY_SEND => {
                let (protocol, com_id) = security_field(command);
                let len = command.dword(11) as usize;
                let bytes = data.get(..len).ok_or(Status::SGL_LENGTH)?;
                self.namespace.security_send(protocol, com_id, bytes).map_err(refusal)?;
                Ok(Answer::NOTHING)
            }
            opcode::SECURITY_RECEIVE => {
                let (protocol, com_id) = security_field(command);
                let len = command.dword(11) as usize;
                if len > MAX_TRANSFER || len > command.data_len() {
                    return Err(Status::SGL_LENGTH);
                }
                let mut bytes = self.namespace.security_receive(protocol, com_id, len).map_err(refusal)?;
                bytes.resize(len, 0);
                Ok(Answer::data(bytes))
            }
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    fn identify(&self, command: &Command) -> Result<Vec<u8>, Status> {
        let namespace = command.namespace();
        let ours = || if namespace == NAMESPACE { Ok(()) } else { Err(Status::INVALID_NAMESPACE) };
        match command.dword(10) & 0xff {
            0 => ours().map(|()| identify::namespace(&*self.namespace, self.namespace_id)),
            1 => Ok(identify::controller(&*self.namespace, &self.nqn, self.id)),
            2 => Ok(identify::namespaces(namespace)),
            3 => ours().map(|()| identify::descriptors(self.namespace_id)),
            _ => Err(Status::INVALID_FIELD),
        }
    }

    /// An NVM command. What `data` holds afterwards is unspecified.
    pub(super) fn io(&self, command: &Command, data: &mut [u8]) -> Result<Answer, Status> {
        let (lba, blocks) = (command.u64_at(40), u64::from(command.u16_at(48)) + 1);
        let block_bytes = self.namespace.block_bytes();
        let len = blocks.saturating_mul(block_bytes.into());
        if command.opcode() != opcode::FLUSH && command.namespace() != NAMESPACE {
            return Err(Status::INVALID_NAMESPACE);
        }
        match command.opcode() {
            opcode::FLUSH => {
                self.namespace.flush().map_err(|e| fault(e, Status::WRITE_FAULT))?;
                Ok(Answer::NOTHING)
            }
            opcode::READ => {
                if len > MAX_TRANSFER as u64 {
                    return Err(Status::INVALID_FIELD);
                }
                if len != command.data_len() as u64 {
                    return Err(Status::SGL_LENGTH);
                }
                let mut bytes = AlignedBuf::zeroed(len as usize);
                self.namespace.read(lba, &mut bytes).map_err(|e| fault(e, Status::READ_ERROR))?;
                Ok(Answer { result: 0, data: AnswerData::Blocks(bytes) })
            }
            opcode::WRITE => {
                if data.len() as u64 != len {
                    return Err(Status::SGL_LENGTH);
                }
                self.namespace.write_and_spoil(lba, data).map_err(|e| fault(e, Status::WRITE_FAULT))?;
                // FUA.
                if command.dword(12) >> 30 & 1 == 1 {
                    self.namespace.flush().map_err(|e| fault(e, Status::WRITE_FAULT))?;
                }
                Ok(Answer::NOTHING)
            }
            opcode::DATASET_MANAGEMENT => {
                let ranges = (command.dword(10) & 0xff) as usize + 1;
                let (entries, _) = data.as_chunks::<16>();
                let entries = entries.get(..ranges).ok_or(Status::SGL_LENGTH)?;
                // Only deallocation is more than a hint.
                if command.dword(11) >> 2 & 1 == 1 {
                    for entry in entries {
                        let [_, _, _, _, a, b, c, d, lba @ ..] = *entry;
                        let blocks = u64::from(u32::from_le_bytes([a, b, c, d]));
                        let lba = u64::from_le_bytes(lba);
                        self.namespace.discard(lba, blocks).map_err(|e| fault(e, Status::WRITE_FAULT))?;
                    }
                }
                Ok(Answer::NOTHING)
            }
            _ => Err(Status::INVALID_OPCODE),
        }
    }
}

/// Number of Queues: submission and completion, less one each.
const fn queues() -> u64 {
    let n = IO_QUEUES as u64 - 1;
    n | n << 16
}

/// Protocol and "protocol specific" of a security command (Base 1.4, 5.24 and 5.25).
fn security_field(command: &Command) -> (u8, u16) {
    let [_, low, high, protocol] = command.dword(10).to_le_bytes();
    (protocol, u16::from_le_bytes([low, high]))
}

fn refusal(refusal: SecurityRefusal) -> Status {
    match refusal {
        SecurityRefusal::Field => Status::INVALID_FIELD,
        SecurityRefusal::Sequence => Status::SEQUENCE,
        SecurityRefusal::Failed => Status::INTERNAL,
    }
}

fn fault(error: NamespaceError, otherwise: Status) -> Status {
    match error {
        NamespaceError::AccessDenied => Status::ACCESS_DENIED,
        NamespaceError::OutOfRange => Status::LBA_OUT_OF_RANGE,
        NamespaceError::ReadOnly => Status::WRITE_PROTECTED,
        NamespaceError::Medium => otherwise,
    }
}
