//! One connection: a queue, from its first PDU to its end.

use super::auth::Exchange;
use super::command::{Command, Status, completion, fabrics, opcode};
use super::connection_error::{ConnectionError, Violation};
use super::controller::{Answer, Controller};
use super::host::Host;
use super::identify::{ASYNC_EVENTS, IO_QUEUES, MAX_TRANSFER, QUEUE_ENTRIES};
use super::pdu::{self, FromHost, MAX_IN_CAPSULE};
use super::stream::{Input, Output};
use super::subsystem::Subsystem;
use crate::pace::{deadline, not_after};
use keyway_secret::wipe_vec;
use keyway_store::AlignedBuf;
use std::collections::{HashMap, VecDeque};
use std::io::{BufWriter, Read, Write};
use std::sync::Arc;
use std::time::Instant;

/// Writes whose data may be on its way at a time, and its bytes.
const TRANSFERS: usize = 8;
const TRANSFER_BYTES: usize = 4 << 20;
/// Bytes of Connect's data (NVMe over Fabrics 1.1, 3.3).
const CONNECT_BYTES: usize = 1024;

/// In the answer to Connect: the host must prove itself (Base 2.0, figure 546, ATR).
const AUTHENTICATE: u64 = 1 << 17;
/// The security protocol of authentication, and what is specific to it (Base 2.0, 8.13.1).
const AUTHENTICATION: [u8; 3] = [1, 1, 0xe9];

/// A write that waits for its data.
struct Transfer {
    command: Command,
    /// Its data, and how much of that has come.
    bytes: AlignedBuf,
    done: usize,
    deadline: Instant,
}

struct Queue<'s, W: Write> {
    subsystem: &'s Subsystem,
    host: &'s Arc<dyn Host>,
    to: BufWriter<Output<W>>,
    controller: Option<Arc<Controller>>,
    /// Whether it is one of the controller's queues.
    seated: bool,
    id: u16,
    entries: u16,
    head: u16,
    /// By command identifier, which is also the transfer's tag.
    transfers: HashMap<u16, Transfer>,
    waiting: VecDeque<Command>,
    async_events: Vec<u16>,
    /// Where hosts must prove a secret, from Connect on.
    exchange: Option<Exchange>,
}

/// Serves a connection until it ends or fails; tells the host once its Connect has been accepted, and it has proved
/// itself where it must.
pub(super) fn serve(
    subsystem: &Subsystem,
    from: impl Read,
    to: impl Write,
    host: &Arc<dyn Host>,
) -> Result<(), ConnectionError> {
    let mut queue = Queue {
        subsystem,
        host,
        to: BufWriter::with_capacity(64 * 1024, Output::new(to)),
        controller: None,
        seated: false,
        id: 0,
        entries: QUEUE_ENTRIES,
        head: 0,
        transfers: HashMap::new(),
        waiting: VecDeque::new(),
        async_events: Vec::new(),
        exchange: None,
    };
    let served = queue.run(&mut Input::new(from));
    match queue.controller.take() {
        // The admin queue's end is the controller's.
        Some(controller) if queue.id == 0 => subsystem.end(&controller),
        Some(controller) if queue.seated => controller.leave_queue(queue.id),
        _ => {}
    }
    served
}

impl<W: Write> Queue<'_, W> {
    fn run(&mut self, from: &mut Input<impl Read>) -> Result<(), ConnectionError> {
        from.wait(false, pdu::LARGEST)?;
        pdu::handshake(from, &mut self.to)?;
        loop {
            self.to.flush()?;
            if self.exchange.as_ref().is_some_and(Exchange::is_over) {
                return Err(Violation::Unproved.into());
            }
            if !self.seated
                && self.is_let_in()
                && let Some(controller) = self.controller.clone()
            {
                self.take_seat(&controller).map_err(|_| Violation::NoPlace)?;
            }
            // Between two commands a host may be silent, if it is one.
            from.wait(self.seated && self.transfers.is_empty(), pdu::LARGEST)?;
            match pdu::receive(from)? {
                FromHost::Command(entry, data) => self.command(Command::new(entry), data)?,
                FromHost::Data { cid, tag, offset, len } => self.data(from, cid, tag, offset, len)?,
            }
        }
    }

    /// Makes this connection a queue of its controller's.
    fn take_seat(&mut self, controller: &Arc<Controller>) -> Result<(), Status> {
        if !controller.take_queue(self.id, self.host) {
            return Err(Status::SEQUENCE);
        }
        if self.id == 0 && !self.subsystem.seat(controller, self.host.is_own()) {
            controller.leave_queue(0);
            return Err(Status::CONNECT_BUSY);
        }
        self.seated = true;
        self.host.let_in();
        Ok(())
    }

    /// Whether the host may do more than prove itself.
    fn is_let_in(&self) -> bool {
        self.exchange.as_ref().is_none_or(Exchange::has_proved)
    }

    fn command(&mut self, command: Command, mut data: Vec<u8>) -> Result<(), ConnectionError> {
        let len = command.data_len();
        if command.takes_data() && len > 0 && !command.in_capsule() {
            // Nothing that is this long belongs to a proof.
            if len > if self.is_let_in() { MAX_TRANSFER } else { MAX_IN_CAPSULE } {
                return self.finish(&command, Err(Status::INVALID_FIELD));
            }
            // One identifier is one command: a second one is the host's mistake.
            if self.transfers.contains_key(&command.cid()) || self.waiting.len() >= usize::from(QUEUE_ENTRIES)
            {
                return Err(Violation::Identifier(command.cid()).into());
            }
            self.waiting.push_back(command);
            return self.ask();
        }
        if command.takes_data() && data.len() < len {
            return self.finish(&command, Err(Status::SGL_LENGTH));
        }
        data.truncate(len);
        let done = self.carry_out(&command, &mut data);
        // PINs come this way.
        wipe_vec(data);
        match done {
            Some(done) => self.finish(&command, done),
            None => Ok(()),
        }
    }

    /// Asks for the data of the next writes, as far as there is room.
    fn ask(&mut self) -> Result<(), ConnectionError> {
        let on_their_way =
            |transfers: &HashMap<u16, Transfer>| transfers.values().map(|t| t.bytes.len()).sum::<usize>();
        while self.transfers.len() < TRANSFERS
            && let Some(next) = self.waiting.front()
            && (self.transfers.is_empty()
                || on_their_way(&self.transfers).saturating_add(next.data_len()) <= TRANSFER_BYTES)
            && let Some(command) = self.waiting.pop_front()
        {
            let (cid, len) = (command.cid(), command.data_len());
            if self.transfers.contains_key(&cid) {
                return Err(Violation::Identifier(cid).into());
            }
            let transfer = Transfer {
                command,
                bytes: AlignedBuf::zeroed(len),
                done: 0,
                deadline: deadline(TRANSFER_BYTES),
            };
            self.transfers.insert(cid, transfer);
            self.to.get_mut().begin(0);
            pdu::ask_for_data(&mut self.to, cid, cid, len as u32)?;
        }
        Ok(())
    }

    /// Takes `len` bytes of a write's data, which follow on the stream.
    fn data(
        &mut self,
        from: &mut impl Read,
        cid: u16,
        tag: u16,
        offset: u32,
        len: usize,
    ) -> Result<(), ConnectionError> {
        let wrong = Violation::Identifier(cid);
        let transfer = self.transfers.get_mut(&cid).filter(|_| tag == cid).ok_or(wrong)?;
        not_after(transfer.deadline)?;
        // In order, as the transport demands (3.6.2.6).
        let rest = transfer.bytes.get_mut(transfer.done..).unwrap_or_default();
        let part = rest.get_mut(..len).filter(|_| offset as usize == transfer.done);
        pdu::data_into(from, part.ok_or(Violation::DataOffset(offset))?)?;
        transfer.done += len;
        if transfer.done < transfer.bytes.len() {
            if let Some(controller) = &self.controller {
                controller.hear();
            }
            return Ok(());
        }
        let Some(mut transfer) = self.transfers.remove(&cid) else { return Err(wrong.into()) };
        let done = self.carry_out(&transfer.command, &mut transfer.bytes);
        transfer.bytes.wipe();
        if let Some(done) = done {
            self.finish(&transfer.command, done)?;
        }
        self.ask()
    }

    /// Carries a command out; none where it is not answered yet.
    fn carry_out(&mut self, command: &Command, data: &mut [u8]) -> Option<Result<Answer, Status>> {
        let Some(controller) = self.controller.clone() else {
            let connects = command.opcode() == opcode::FABRICS && command.fabrics_type() == fabrics::CONNECT;
            return Some(if connects { self.connect(command, data) } else { Err(Status::SEQUENCE) });
        };
        let _busy = controller.busy();
        if let Some(exchange) = &mut self.exchange {
            if command.opcode() == opcode::FABRICS
                && matches!(
                    command.fabrics_type(),
                    fabrics::AUTHENTICATION_SEND | fabrics::AUTHENTICATION_RECEIVE
                )
            {
                return Some(prove(exchange, command, data));
            }
            if !exchange.has_proved() {
                exchange.give_up();
                return Some(Err(Status::AUTHENTICATION_REQUIRED));
            }
        }
        Some(match (command.opcode(), self.id) {
            (opcode::FABRICS, 0) => controller.fabrics(command),
            (opcode::FABRICS, _) => Err(Status::INVALID_OPCODE),
            _ if !controller.is_ready() => Err(Status::SEQUENCE),
            (opcode::ASYNC_EVENT, 0) => {
                if self.async_events.len() > usize::from(ASYNC_EVENTS) {
                    Err(Status::ASYNC_EVENT_LIMIT)
                } else {
                    // Nothing ever happens that a host must be told.
                    self.async_events.push(command.cid());
                    return None;
                }
            }
            (_, 0) => controller.admin(command, data),
            _ => controller.io(command, data),
        })
    }

    fn connect(&mut self, command: &Command, data: &[u8]) -> Result<Answer, Status> {
        let text = |from: usize| {
            let field = data.get(from..from + 256).unwrap_or_default();
            let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
            field.get(..end).unwrap_or_default()
        };
        let (queue, entries) = (command.u16_at(42), command.u16_at(44));
        if data.len() != CONNECT_BYTES
            || command.u16_at(40) != 0
            || text(256) != self.subsystem.nqn.as_bytes()
            || queue > IO_QUEUES
            || entries >= QUEUE_ENTRIES
        {
            return Err(Status::CONNECT_INVALID);
        }
        let wanted = data.get(16..18).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes);
        let controller = if queue == 0 {
            // 0xffff: any; this is a dynamic controller (Fabrics 1.1, 4.2).
            if wanted != 0xffff {
                return Err(Status::CONNECT_INVALID);
            }
            let controller = self.subsystem.make().ok_or(Status::CONNECT_BUSY)?;
            // KATO (Fabrics 1.1, 3.3).
            controller.promise(command.u32_at(48));
            controller
        } else {
            self.subsystem.find(wanted).ok_or(Status::CONNECT_INVALID)?
        };
        self.id = queue;
        self.entries = entries.saturating_add(1);
        let mut result = u64::from(controller.id);
        if let Some(credentials) = &self.subsystem.credentials {
            // Its place is found when it has proved itself.
            self.exchange = Some(Exchange::new(credentials.clone(), text(512), self.subsystem.nqn.clone()));
            result |= AUTHENTICATE;
        } else if let Err(refusal) = self.take_seat(&controller) {
            if queue == 0 {
                self.subsystem.end(&controller);
            }
            return Err(refusal);
        }
        self.controller = Some(controller);
        Ok(Answer::number(result))
    }

    fn finish(&mut self, command: &Command, done: Result<Answer, Status>) -> Result<(), ConnectionError> {
        self.head = (self.head + 1) % self.entries.max(1);
        let cid = command.cid();
        self.to.get_mut().begin(command.data_len());
        let (result, status) = match done {
            Ok(answer) => {
                let data = answer.bytes();
                let data = data.get(..command.data_len()).unwrap_or(data);
                if !data.is_empty() {
                    pdu::send_data(&mut self.to, cid, data)?;
                }
                (answer.result, Ok(()))
            }
            Err(status) => (0, Err(status)),
        };
        pdu::complete(&mut self.to, &completion(result, self.head, self.id, cid, status))
    }
}

/// Authentication Send and Receive (Base 2.0, 6.1 and 6.2).
fn prove(exchange: &mut Exchange, command: &Command, data: &[u8]) -> Result<Answer, Status> {
    if [41, 42, 43].map(|at| command.u8_at(at)) != AUTHENTICATION {
        return Err(Status::INVALID_FIELD);
    }
    let len = command.u32_at(44) as usize;
    if command.fabrics_type() == fabrics::AUTHENTICATION_SEND {
        exchange.take(data.get(..len).ok_or(Status::SGL_LENGTH)?);
        return Ok(Answer::NOTHING);
    }
    if len > MAX_IN_CAPSULE || len > command.data_len() {
        return Err(Status::SGL_LENGTH);
    }
    let mut data = exchange.tell().ok_or(Status::SEQUENCE)?;
    data.resize(len, 0);
    Ok(Answer::data(data))
}
