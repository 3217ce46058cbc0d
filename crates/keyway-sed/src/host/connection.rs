//! One drive's channel: discovery, properties, and the exchange of packets with a drive that may be
//! slow, mistaken or hostile.

use super::error::{HostError, Misbehaved, Operation, Refused, Unfit};
use crate::comid::{self, PROTOCOL_COMID, PROTOCOL_TCG, Request, Response};
use crate::discovery::Discovery;
use crate::enterprise;
use crate::message::{Message, write_call};
use crate::packet::{COMPACKET_HEADER, ComPacket, HEADERS, MAX_COMPACKET, wrap};
use crate::protocols;
use crate::token::{Encoder, Value};
use crate::transport::{Identity, SecurityTransport, TransportError};
use crate::uid::{Uid, method, parameter};
use crate::{CodecError, Status};
use std::thread::sleep;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

/// Transfers are whole blocks of that many bytes: ATA's, and what every drive takes.
const BLOCK: usize = 512;
/// Bytes asked for at first, enough for all but bulk data: the least that Opal allows a drive to
/// have (Opal SSC 2.02, 4.1.1.1: MaxComPacketSize is 2048 at least).
const USUAL: usize = 2048;
/// The largest ComPacket that we make or ask for, in bytes: what one ATA transfer carries.
const LARGEST: usize = 64 << 10;
/// How long a drive may say "not yet".
const PATIENCE: Duration = Duration::from_secs(30);
/// How many times longer where it may have to erase the whole medium.
const SLOWER: u32 = 30;
/// Pauses between two questions: they double from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));
/// Answers to somebody else that are passed over: what an earlier host left behind.
const STRAYS: u32 = 4;
/// How long a ComID's reset may take.
const RESET_PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer will be, and how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// Short and soon.
    Usual,
    /// As large as the drive makes them.
    Bulk,
    /// Short, after work on the whole medium.
    Slow,
}

/// What the drive says of its sizes, as far as we believe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the largest ComPacket it takes.
    pub com_packet: usize,
    /// Bytes of the largest token it takes.
    pub token: usize,
}

/// A drive that we talk to.
pub struct Host {
    transport: Box<dyn SecurityTransport>,
    discovery: Discovery,
    limits: Option<Limits>,
    sessions: u32,
    /// For answers, which are wiped as soon as they are taken out.
    buffer: Zeroizing<Vec<u8>>,
    pub(super) patience: Duration,
}

impl Host {
    /// Asks the drive what it is.
    ///
    /// # Errors
    /// Where the drive can't be reached, or its answer is none.
    pub fn open(mut transport: Box<dyn SecurityTransport>) -> Result<Self, HostError> {
        let discovery = discover(&mut *transport)?;
        let buffer = Zeroizing::default();
        Ok(Self { transport, discovery, limits: None, sessions: 0, buffer, patience: PATIENCE })
    }

    /// Which drive it is.
    pub fn identity(&self) -> &Identity {
        self.transport.identity()
    }

    /// What it says of itself; as of the last [`Host::open`] or [`Host::rediscover`].
    pub const fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// Asks again: locking, unlocking and the others change the answer.
    pub fn rediscover(&mut self) -> Result<&Discovery, HostError> {
        self.discovery = discover(&mut *self.transport)?;
        Ok(&self.discovery)
    }

    /// The security protocols that the drive speaks, TCG's and others.
    ///
    /// # Errors
    /// Where the drive refuses the question.
    pub fn protocols(&mut self) -> Result<Vec<u8>, HostError> {
        let mut bytes = [0; BLOCK];
        let (protocol, specific) = protocols::LIST;
        self.transport.receive(protocol, specific, &mut bytes)?;
        Ok(protocols::parse(&bytes))
    }

    /// How long the drive may say "not yet" to ordinary requests, 30 seconds if nothing is set; where it may
    /// have to erase the whole medium, it has thirty times as long.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// What the drive says of its sizes; asks it once.
    ///
    /// # Errors
    /// Where the drive does not answer, not even after a reset of the channel.
    pub fn limits(&mut self) -> Result<Limits, HostError> {
        if let Some(limits) = self.limits {
            return Ok(limits);
        }
        let limits = match self.properties() {
            // A channel that another host left in the middle of something.
            Err(HostError::Misbehaved(_) | HostError::Refused(_)) => {
                self.stack_reset()?;
                self.properties()?
            }
            other => other?,
        };
        self.limits = Some(limits);
        Ok(limits)
    }

    /// A number for the next session; never 0, which is the session manager's.
    pub(super) fn next_session_number(&mut self) -> u32 {
        self.sessions = self.sessions % 0xFFFF + 1;
        self.sessions
    }

    fn com_id(&self) -> Result<u16, HostError> {
        self.discovery.base_com_id().ok_or(HostError::Misbehaved(Misbehaved::NoComId))
    }

    /// Sends a message and waits for the answer's payload.
    pub(super) fn exchange(
        &mut self,
        tsn: u32,
        hsn: u32,
        payload: &[u8],
        expect: Expect,
    ) -> Result<Zeroizing<Vec<u8>>, HostError> {
        let limits = self.limits()?;
        self.exchange_within(limits, tsn, hsn, payload, expect)
    }

    fn exchange_within(
        &mut self,
        limits: Limits,
        tsn: u32,
        hsn: u32,
        payload: &[u8],
        expect: Expect,
    ) -> Result<Zeroizing<Vec<u8>>, HostError> {
        let com_id = self.com_id()?;
        let mut packet = wrap(com_id, 0, tsn, hsn, payload);
        if packet.len() > limits.com_packet {
            return Err(Unfit::LargeRequest.into());
        }
        let blocks = packet.len().next_multiple_of(BLOCK);
        packet.resize(blocks, 0);
        self.transport.send(PROTOCOL_TCG, com_id, &packet)?;
        let patience =
            if expect == Expect::Slow { self.patience.saturating_mul(SLOWER) } else { self.patience };
        let size = if expect == Expect::Bulk { limits.com_packet.max(USUAL) } else { USUAL };
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.len() < size {
            buffer = Zeroizing::new(vec![0; size.next_multiple_of(BLOCK)]);
        }
        let answer = self.answer(com_id, (tsn, hsn), &mut buffer, size, patience);
        // As much as the drive said that it sent; what it may have put behind that is nobody's secret.
        let sent = buffer.get(COMPACKET_HEADER - 4..).and_then(|rest| rest.first_chunk());
        let sent = sent.map_or(0, |len| u32::from_be_bytes(*len) as usize);
        let used = sent.saturating_add(COMPACKET_HEADER).min(buffer.len());
        buffer.get_mut(..used).unwrap_or_default().zeroize();
        self.buffer = buffer;
        answer
    }

    /// Asks until the session's answer is there: in bounded time, with bounded memory.
    fn answer(
        &mut self,
        com_id: u16,
        session: (u32, u32),
        buffer: &mut Zeroizing<Vec<u8>>,
        size: usize,
        patience: Duration,
    ) -> Result<Zeroizing<Vec<u8>>, HostError> {
        let begun = Instant::now();
        let (mut pause, longest) = PAUSES;
        let mut strays = 0;
        let mut size = size.next_multiple_of(BLOCK);
        loop {
            let room = buffer.get_mut(..size).unwrap_or_default();
            self.transport.receive(PROTOCOL_TCG, com_id, room)?;
            let transfer = ComPacket::parse(room)?;
            match transfer.single()? {
                Some((packet, payload))
                    if transfer.com_id == com_id && (packet.tsn, packet.hsn) == session =>
                {
                    return Ok(Zeroizing::new(payload.to_vec()));
                }
                Some((packet, payload)) => {
                    if transfer.com_id == com_id
                        && (packet.tsn, packet.hsn) == (0, 0)
                        && closes(payload, session)
                    {
                        return Err(HostError::Misbehaved(Misbehaved::Closed));
                    }
                    strays += 1;
                    if strays > STRAYS {
                        return Err(HostError::Misbehaved(Misbehaved::OtherSession));
                    }
                }
                None if transfer.min_transfer as usize > size => {
                    let needed = transfer.min_transfer;
                    if needed as usize > MAX_COMPACKET {
                        return Err(HostError::Misbehaved(Misbehaved::TooMuch(needed)));
                    }
                    size = (needed as usize).next_multiple_of(BLOCK);
                    if buffer.len() < size {
                        *buffer = Zeroizing::new(vec![0; size]);
                    }
                }
                None => {
                    if begun.elapsed() >= patience {
                        return Err(HostError::Misbehaved(Misbehaved::Stalled(begun.elapsed())));
                    }
                    sleep(pause);
                    pause = (pause * 2).min(longest);
                }
            }
        }
    }

    /// Tells the drive what we take, and learns what it takes.
    fn properties(&mut self) -> Result<Limits, HostError> {
        let largest = LARGEST as u64;
        let ours: [(&str, u64); 6] = [
            ("MaxMethods", 1),
            ("MaxSubpackets", 1),
            ("MaxPacketSize", largest - 20),
            ("MaxPackets", 1),
            ("MaxComPacketSize", largest),
            ("MaxIndTokenSize", largest - HEADERS as u64),
        ];
        let by_name = self.discovery.speaks_enterprise();
        let mut payload = Encoder::new();
        write_call(&mut payload, Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
            let limits = |to: &mut Encoder| {
                to.list(|to| {
                    for (name, value) in ours {
                        enterprise::named(to, name, |to| {
                            to.uint(value);
                        });
                    }
                });
            };
            if by_name {
                enterprise::named(to, enterprise::HOST_PROPERTIES, limits);
            } else {
                to.named(parameter::HOST_PROPERTIES, limits);
            }
        });
        let before = Limits { com_packet: USUAL, token: USUAL - HEADERS };
        let answer = self.exchange_within(before, 0, 0, payload.as_bytes(), Expect::Usual)?;
        let (status, values) = match Message::parse(&answer)? {
            Message::Call(call) if call.method == method::PROPERTIES => (call.status, call.arguments),
            Message::Answer(answer) => (answer.status, answer.results),
            _ => return Err(HostError::Misbehaved(Misbehaved::Form("Properties"))),
        };
        if status != Status::Success {
            return Err(HostError::Refused(Refused {
                operation: Operation::Properties,
                authority: None,
                status,
            }));
        }
        let theirs = values.first().and_then(Value::list).unwrap_or_default();
        let property = |name| enterprise::find(theirs, name).and_then(Value::uint);
        // What is below the least that is allowed is a mistake; what is above our own has no use.
        let within = |value: Option<u64>, least: usize, most: usize| {
            value.and_then(|v| usize::try_from(v).ok()).unwrap_or(least).clamp(least, most)
        };
        let com_packet = within(property("MaxComPacketSize"), USUAL, LARGEST);
        let token = within(property("MaxIndTokenSize"), before.token - 24, com_packet - HEADERS);
        Ok(Limits { com_packet, token })
    }

    /// Makes the drive forget everything that is going on at our channel.
    ///
    /// # Errors
    /// Where it does not say that it has.
    pub fn stack_reset(&mut self) -> Result<(), HostError> {
        let com_id = self.com_id()?;
        let mut block = [0; BLOCK];
        let request = Request::StackReset.write(com_id, 0);
        block.iter_mut().zip(request).for_each(|(to, from)| *to = from);
        self.transport.send(PROTOCOL_COMID, com_id, &block)?;
        let begun = Instant::now();
        let patience = self.patience.min(RESET_PATIENCE);
        let (mut pause, longest) = PAUSES;
        loop {
            self.transport.receive(PROTOCOL_COMID, com_id, &mut block)?;
            match Response::parse(&block)? {
                (_, _, Response::Reset(true)) => return Ok(()),
                (_, _, Response::Pending) if begun.elapsed() < patience => {
                    sleep(pause);
                    pause = (pause * 2).min(longest);
                }
                (_, _, Response::Pending) => {
                    return Err(HostError::Misbehaved(Misbehaved::Stalled(begun.elapsed())));
                }
                _ => return Err(HostError::Misbehaved(Misbehaved::Form("a reset"))),
            }
        }
    }

    /// Resets the whole drive's security side: every session ends, and what locks on a programmatic
    /// reset is locked. Drives allow it where their owner has switched it on (Opal SSC 2.01, 3.2.3).
    ///
    /// # Errors
    /// Where the drive refuses the command.
    pub fn tper_reset(&mut self) -> Result<(), HostError> {
        self.limits = None;
        self.transport.send(PROTOCOL_COMID, comid::TPER_RESET, &[0; BLOCK]).map_err(|error| match error {
            TransportError::Refused(_) => HostError::ResetNotAllowed,
            other => other.into(),
        })
    }

    /// Blocks the owner's authority until the next power cycle, as firmware does before it starts a
    /// system; with `hardware_reset` also until the next hardware reset only.
    ///
    /// # Errors
    /// Where the drive has no such feature or refuses.
    pub fn block_sid(&mut self, hardware_reset: bool) -> Result<(), HostError> {
        if self.discovery.block_sid().is_none() {
            return Err(HostError::Unsupported("Block SID Authentication"));
        }
        let mut block = [0; BLOCK];
        if let Some(first) = block.first_mut() {
            *first = u8::from(hardware_reset);
        }
        Ok(self.transport.send(PROTOCOL_COMID, comid::BLOCK_SID, &block)?)
    }
}

fn discover(transport: &mut dyn SecurityTransport) -> Result<Discovery, HostError> {
    let mut bytes = vec![0; USUAL];
    transport.receive(PROTOCOL_TCG, comid::DISCOVERY, &mut bytes)?;
    match Discovery::parse(&bytes) {
        // A drive that knows the command and nothing of the protocol answers with zeros.
        Err(CodecError::Length { len: 4, .. }) => Err(HostError::Unsupported(
            "self-encryption that can be managed (it answers nothing to the question for it)",
        )),
        other => Ok(other?),
    }
}

/// Whether a message of the session manager's ends that session.
fn closes(payload: &[u8], (tsn, hsn): (u32, u32)) -> bool {
    let Ok(Message::Call(call)) = Message::parse(payload) else { return false };
    let numbers: Vec<_> = call.required().map(Value::uint).collect();
    call.method == method::CLOSE_SESSION && numbers == [Some(u64::from(hsn)), Some(u64::from(tsn))]
}
