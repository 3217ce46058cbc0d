//! The disk: carries out one command.

use super::ata::{self, Act};
use super::cdb::{Command, Extent};
use super::opcode::CDB_BYTES;
use super::pages::{self, UNMAP_RANGES};
use super::sense::Sense;
use crate::{Namespace, NamespaceError, SecurityRefusal};
use keyway_secret::{wipe, wipe_vec};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a command brings, and room for what it gets.
pub(super) struct Data<'a> {
    pub(super) from: &'a mut dyn Read,
    /// Bytes that it brings.
    pub(super) brings: usize,
    pub(super) to: &'a mut dyn Write,
    /// Bytes that it can take.
    pub(super) room: usize,
}

/// Why a command did not end well.
#[derive(Debug)]
pub(super) enum Failed {
    /// The disk says why.
    Check(Sense),
    /// It moves more than the host's buffers hold.
    Overrun,
    /// The host's buffers are not in its memory.
    Memory,
}

impl From<Sense> for Failed {
    fn from(sense: Sense) -> Self {
        Self::Check(sense)
    }
}

impl From<io::Error> for Failed {
    fn from(_: io::Error) -> Self {
        Self::Memory
    }
}

impl Data<'_> {
    /// Gives an answer, of which the host wants at most `room` bytes.
    fn answer(&mut self, answer: &[u8], room: usize) -> Result<(), Failed> {
        let len = answer.len().min(room).min(self.room);
        Ok(self.to.write_all(answer.get(..len).unwrap_or_default())?)
    }

    /// What the command brings, which is that long.
    fn take<'b>(&mut self, len: usize, buffer: &'b mut [u8]) -> Result<&'b mut [u8], Failed> {
        if len > self.brings {
            return Err(Failed::Overrun);
        }
        let bytes = buffer.get_mut(..len).ok_or(Sense::FIELD)?;
        self.from.read_exact(bytes)?;
        Ok(bytes)
    }
}

fn read_failed(error: NamespaceError) -> Sense {
    match error {
        NamespaceError::AccessDenied => Sense::LOCKED,
        NamespaceError::OutOfRange => Sense::RANGE,
        NamespaceError::ReadOnly => Sense::READ_ONLY,
        NamespaceError::Medium => Sense::READ_FAILED,
    }
}

fn write_failed(error: NamespaceError) -> Sense {
    match error {
        NamespaceError::Medium => Sense::WRITE_FAILED,
        other => read_failed(other),
    }
}

/// Carries out a command to a number under which there is no disk.
pub(super) fn nothing_there(cdb: &[u8; CDB_BYTES], data: &mut Data<'_>) -> Result<(), Failed> {
    match Command::parse(cdb)? {
        Command::Inquiry { page: None, room } => data.answer(&pages::inquiry(None), room),
        Command::ReportLuns { room } => data.answer(&pages::units(), room),
        Command::RequestSense { room } => data.answer(&Sense::UNIT.bytes(), room),
        _ => Err(Sense::UNIT.into()),
    }
}

/// What a host does to the disk besides its content.
#[derive(Default)]
pub(super) struct Unit {
    /// One more than the times that the disk had been switched on when it was stopped; 0 is a disk that runs.
    stopped: AtomicU64,
    /// It was reset, and the host has not been told yet.
    attention: AtomicBool,
}

impl Unit {
    /// It was switched on: it runs, and there is nothing to tell.
    pub(super) fn power_on(&self) {
        self.stopped.store(0, Ordering::Release);
        self.attention.store(false, Ordering::Release);
    }

    /// LOGICAL UNIT RESET (SAM-5, section 7.7): the next command is told. A disk that was stopped stays so.
    pub(super) fn reset(&self, disk: &dyn Namespace) {
        disk.reset();
        self.attention.store(true, Ordering::Release);
    }

    fn is_stopped(&self, disk: &dyn Namespace) -> bool {
        // Who takes its power away and gives it back starts it, too.
        self.stopped.load(Ordering::Acquire) == disk.times_switched_on().saturating_add(1)
    }

    fn start_stop(&self, disk: &dyn Namespace, start: bool) {
        let stopped = if start { 0 } else { disk.times_switched_on().saturating_add(1) };
        self.stopped.store(stopped, Ordering::Release);
    }

    /// What the host is to be told before anything else, once.
    fn attention(&self) -> bool {
        self.attention.load(Ordering::Acquire) && self.attention.swap(false, Ordering::AcqRel)
    }
}

/// Carries out a command; blocks and security commands go through `buffer`, and what is longer is refused: nothing is
/// ever half done.
pub(super) fn carry_out(
    (disk, unit): (&dyn Namespace, &Unit),
    cdb: &[u8; CDB_BYTES],
    data: &mut Data<'_>,
    buffer: &mut [u8],
) -> Result<(), Failed> {
    if !Command::ignores_attention(cdb[0]) && unit.attention() {
        return Err(Sense::RESET.into());
    }
    if !pages::has(disk, cdb[0]) {
        return Err(Sense::OPCODE.into());
    }
    let command = Command::parse(cdb)?;
    if command.needs_medium() && unit.is_stopped(disk) {
        return Err(Sense::STOPPED.into());
    }
    match command {
        Command::TestUnitReady => Ok(()),
        // What went wrong was told with the command that it was about.
        Command::RequestSense { room } => {
            let sense = match (unit.attention(), unit.is_stopped(disk)) {
                (true, _) => Sense::RESET,
                (false, true) => Sense::STOPPED,
                (false, false) => Sense::NONE,
            };
            data.answer(&sense.bytes(), room)
        }
        Command::Inquiry { page: None, room } => data.answer(&pages::inquiry(Some(disk)), room),
        Command::Inquiry { page: Some(page), room } => data.answer(&pages::vital(disk, page)?, room),
        Command::ModeSense { ten, page, values, descriptor, room } => {
            data.answer(&pages::mode(disk, ten, page, values, descriptor)?, room)
        }
        Command::ReadCapacity10 => data.answer(&pages::capacity_10(disk), usize::MAX),
        Command::ReadCapacity16 { room } => data.answer(&pages::capacity_16(disk), room),
        Command::ReportLuns { room } => data.answer(&pages::units(), room),
        Command::Opcodes { what, timeouts, room } => {
            data.answer(&pages::opcodes(disk, what, timeouts)?, room)
        }
        Command::Read(at) => {
            let bytes = buffer.get_mut(..extent(disk, at)?).ok_or(Sense::FIELD)?;
            if bytes.len() > data.room {
                return Err(Failed::Overrun);
            }
            disk.read(at.lba, bytes).map_err(read_failed)?;
            Ok(data.to.write_all(bytes)?)
        }
        Command::Write { at, through } => {
            let bytes = data.take(extent(disk, at)?, buffer)?;
            disk.write(at.lba, bytes).map_err(write_failed)?;
            if through {
                disk.flush().map_err(write_failed)?;
            }
            Ok(())
        }
        Command::Flush => Ok(disk.flush().map_err(write_failed)?),
        Command::StartStop { start, flush } => {
            if flush && !start && !unit.is_stopped(disk) {
                disk.flush().map_err(write_failed)?;
            }
            unit.start_stop(disk, start);
            Ok(())
        }
        Command::Unmap { bytes } => unmap(disk, data.take(bytes, buffer)?),
        Command::SecurityIn { protocol, specific, room, whole_blocks } => {
            let unit = if whole_blocks { 512 } else { 1 };
            let received = receive(disk, (protocol, specific), room, unit, data, buffer.len());
            received.map_err(Unsent::in_scsi)
        }
        Command::SecurityOut { protocol, specific, bytes } => {
            send(disk, (protocol, specific), bytes, data, buffer).map_err(Unsent::in_scsi)
        }
        Command::Ata(task) => {
            let done = match task.act {
                Act::Identify => {
                    data.answer(&ata::identify(disk, pages::firmware()), 512).map_err(Unsent::Failed)
                }
                Act::Receive { protocol, specific, bytes } => {
                    receive(disk, (protocol, specific), bytes, bytes, data, buffer.len())
                }
                Act::Send { protocol, specific, bytes } => {
                    send(disk, (protocol, specific), bytes, data, buffer)
                }
                Act::Unknown => Err(Unsent::Failed(Sense::ATA_ABORTED.into())),
            };
            match done {
                Ok(()) if task.check => Err(Sense::ATA_DONE.into()),
                Ok(()) => Ok(()),
                // An ATA drive aborts what it refuses, whatever the reason.
                Err(Unsent::Refused(_)) => Err(Sense::ATA_ABORTED.into()),
                Err(Unsent::Failed(failed)) => Err(failed),
            }
        }
    }
}

/// The bytes of an extent that is on the disk.
fn extent(disk: &dyn Namespace, at: Extent) -> Result<usize, Sense> {
    let end = at.lba.checked_add(at.blocks.into()).ok_or(Sense::RANGE)?;
    if end > disk.blocks() {
        return Err(Sense::RANGE);
    }
    let bytes = u64::from(at.blocks) * u64::from(disk.block_bytes());
    usize::try_from(bytes).map_err(|_| Sense::FIELD)
}

/// Why a security command did not end well.
enum Unsent {
    /// The drive refuses it.
    Refused(SecurityRefusal),
    /// It did not come that far.
    Failed(Failed),
}

impl Unsent {
    /// What SECURITY PROTOCOL commands say (SPC-4, sections 6.39 and 6.40; TCG Storage Interface Interactions).
    fn in_scsi(self) -> Failed {
        match self {
            Self::Refused(SecurityRefusal::Field) => Sense::FIELD.into(),
            Self::Refused(SecurityRefusal::Sequence) => Sense::SEQUENCE.into(),
            Self::Refused(SecurityRefusal::Failed) => Sense::INTERNAL.into(),
            Self::Failed(failed) => failed,
        }
    }
}

impl From<SecurityRefusal> for Unsent {
    fn from(refusal: SecurityRefusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<io::Error> for Unsent {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// A security answer, filled up with zeros to a multiple of `unit` bytes; none is a `unit` of zeros.
fn receive(
    disk: &dyn Namespace,
    (protocol, specific): (u8, u16),
    room: usize,
    unit: usize,
    data: &mut Data<'_>,
    most: usize,
) -> Result<(), Unsent> {
    let room = room.min(data.room).min(most);
    let answer = disk.security_receive(protocol, specific, room)?;
    let filled = if unit > 1 { answer.len().max(1).next_multiple_of(unit) } else { answer.len() };
    // Not in the answer's own place: a longer one would be another, and leave the first unwiped.
    let zeros = vec![0; filled.min(room).saturating_sub(answer.len())];
    let written = data.answer(&answer, room).and_then(|()| data.answer(&zeros, zeros.len()));
    wipe_vec(answer);
    written.map_err(Unsent::Failed)
}

/// A security command's bytes, which may hold a PIN and do not stay here.
fn send(
    disk: &dyn Namespace,
    (protocol, specific): (u8, u16),
    len: usize,
    data: &mut Data<'_>,
    buffer: &mut [u8],
) -> Result<(), Unsent> {
    let bytes = data.take(len, buffer).map_err(Unsent::Failed)?;
    let sent = disk.security_send(protocol, specific, bytes);
    wipe(bytes);
    Ok(sent?)
}

/// UNMAP's list (SBC-3, section 5.28): a header of 8 bytes, descriptors of 16. Nothing is done of one in which a range is
/// not on the disk.
fn unmap(disk: &dyn Namespace, list: &[u8]) -> Result<(), Failed> {
    if list.is_empty() {
        return Ok(());
    }
    let (head, ranges) = list.split_first_chunk::<8>().ok_or(Sense::LENGTH)?;
    let told = usize::from(u16::from_be_bytes([head[2], head[3]]));
    let ranges = ranges.get(..told.min(ranges.len())).unwrap_or_default().as_chunks::<16>().0;
    if ranges.len() > UNMAP_RANGES {
        return Err(Sense::PARAMETER.into());
    }
    let ranges: Vec<Extent> = ranges
        .iter()
        .map(|r| {
            let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = *r;
            Extent {
                lba: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                blocks: u32::from_be_bytes([i, j, k, l]),
            }
        })
        .collect();
    for at in &ranges {
        extent(disk, *at)?;
    }
    for at in ranges.iter().filter(|at| at.blocks > 0) {
        disk.discard(at.lba, at.blocks.into()).map_err(write_failed)?;
    }
    Ok(())
}
