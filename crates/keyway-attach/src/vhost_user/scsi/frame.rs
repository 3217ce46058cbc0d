//! What virtio puts around a command (VIRTIO 1.2, section 5.6.6): queues 0 for control, 1 for events, and the others for
//! commands.

use super::disk::{self, Data, Failed, Unit};
use super::opcode::CDB_BYTES;
use super::sense;
use crate::Namespace;
use crate::vhost_user::virtio_device::{Chain, MOST_QUEUES, Role, VirtioDevice};
use keyway_store::AlignedBuf;
use std::io::{Read, Write};
use std::sync::Arc;
use virtio_queue::{Reader, Writer};
use vm_memory::GuestMemoryMmap;

/// The queue for what is not a command.
const CONTROL: usize = 0;
/// The queue that events come by, of which there are none.
const EVENTS: usize = 1;
/// The first queue for commands.
const COMMANDS: usize = 2;

/// Bytes in front of a command's data: unit, tag, attributes, command.
const REQUEST: usize = 19 + CDB_BYTES;
/// Bytes of the answer in front of its data: 12, and as many of sense data as the driver takes if it says nothing else.
const RESPONSE: usize = 12 + 96;

/// `VIRTIO_SCSI_F_CHANGE`.
const PARAMETERS_CHANGE: u64 = 1 << 2;

/// `VIRTIO_SCSI_S_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Response {
    Done = 0,
    Overrun = 1,
    NoTarget = 3,
    Reset = 4,
    Failure = 9,
    Rejected = 11,
    OtherUnit = 12,
}

/// `VIRTIO_SCSI_T_TMF_*`: functions about commands that are carried out. The others are refused: none is found by its
/// tag, and there is no other host whose commands could be meant.
mod function {
    pub(super) const ABORT_TASK_SET: u32 = 1;
    pub(super) const CLEAR_TASK_SET: u32 = 3;
    pub(super) const LOGICAL_UNIT_RESET: u32 = 5;
}

/// SCSI's status: GOOD, CHECK CONDITION.
const GOOD: u8 = 0;
const CHECK_CONDITION: u8 = 2;

/// The host adapter: target 0 has unit 0, the disk.
pub(in crate::vhost_user) struct Scsi {
    disk: Arc<dyn Namespace>,
    unit: Unit,
}

/// What is asked for on the queue for what is not a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// A task management function, about a unit.
    Function {
        number: u32,
        goal: Goal,
    },
    /// Which events there are, or shall be told.
    Events,
    Unknown,
}

impl Asked {
    fn read(from: &mut impl Read) -> std::io::Result<Self> {
        let mut kind = [0; 4];
        from.read_exact(&mut kind)?;
        Ok(match u32::from_le_bytes(kind) {
            // Which of eight, whose unit, tag.
            0 => {
                let (mut number, mut unit, mut tag) = ([0; 4], [0; 8], [0; 8]);
                from.read_exact(&mut number)?;
                from.read_exact(&mut unit)?;
                from.read_exact(&mut tag)?;
                Self::Function { number: u32::from_le_bytes(number), goal: Goal::parse(unit) }
            }
            1 | 2 => Self::Events,
            _ => Self::Unknown,
        })
    }

    /// Whether it ends the disk's commands.
    const fn ends_commands(self) -> bool {
        use function::{ABORT_TASK_SET, CLEAR_TASK_SET, LOGICAL_UNIT_RESET};
        matches!(
            self,
            Self::Function { number: ABORT_TASK_SET | CLEAR_TASK_SET | LOGICAL_UNIT_RESET, goal: Goal::Disk }
        )
    }
}

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Disk,
    /// A unit that is not there, of a target that is.
    OtherUnit,
    NoTarget,
}

impl Goal {
    fn parse(unit: [u8; 8]) -> Self {
        match unit {
            // Bits 15 and 14 are how the unit's number is written; 00 and 01 are those that are in use.
            [1, 0, high, low, ..] if high & 0x80 == 0 => {
                if (high & 0x3F, low) == (0, 0) {
                    Self::Disk
                } else {
                    Self::OtherUnit
                }
            }
            _ => Self::NoTarget,
        }
    }
}

impl Scsi {
    pub(in crate::vhost_user) fn new(disk: Arc<dyn Namespace>) -> Self {
        Self { disk, unit: Unit::default() }
    }

    /// A task management function, or a question about events; the answer's bytes.
    fn control(&self, from: &mut Reader<'_>, to: &mut Writer<'_>) -> std::io::Result<()> {
        let asked = Asked::read(from)?;
        let answer = match asked {
            // There are none.
            Asked::Events => return to.write_all(&[0, 0, 0, 0, Response::Done as u8]),
            Asked::Unknown => Response::Failure,
            Asked::Function { goal: Goal::NoTarget, .. } => Response::NoTarget,
            Asked::Function { goal: Goal::OtherUnit, .. } => Response::OtherUnit,
            // The commands themselves have been ended by now (`VirtioDevice::ends_others`).
            Asked::Function { number, .. } => {
                if number == function::LOGICAL_UNIT_RESET {
                    self.unit.reset(&*self.disk);
                }
                if asked.ends_commands() { Response::Done } else { Response::Rejected }
            }
        };
        to.write_all(&[answer as u8])
    }

    fn command(
        &self,
        from: &mut Reader<'_>,
        (head, to): (&mut Writer<'_>, &mut Writer<'_>),
        buffer: &mut [u8],
        ended: bool,
    ) -> std::io::Result<()> {
        let mut request = [0; REQUEST];
        from.read_exact(&mut request)?;
        let (unit, rest) = request.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        let cdb = rest.last_chunk::<CDB_BYTES>().unwrap_or(&[0; CDB_BYTES]);
        let (brings, room) = (from.available_bytes(), to.available_bytes());
        let mut data = Data { from, brings, to, room };
        let done = match Goal::parse(*unit) {
            Goal::Disk if ended => Err(Response::Reset),
            Goal::Disk => Ok(disk::carry_out((&*self.disk, &self.unit), cdb, &mut data, buffer)),
            Goal::OtherUnit => Ok(disk::nothing_there(cdb, &mut data)),
            Goal::NoTarget => Err(Response::NoTarget),
        };
        let moved = (brings - from.available_bytes()) + to.bytes_written();
        let left = u32::try_from((brings + room).saturating_sub(moved)).unwrap_or(u32::MAX);
        let (response, status, told) = match done {
            Ok(Ok(())) => (Response::Done, GOOD, Vec::new()),
            Ok(Err(Failed::Check(sense))) => (Response::Done, CHECK_CONDITION, sense.bytes()),
            Ok(Err(Failed::Overrun)) => (Response::Overrun, GOOD, Vec::new()),
            Ok(Err(Failed::Memory)) => (Response::Failure, GOOD, Vec::new()),
            Err(response) => (response, GOOD, Vec::new()),
        };
        let told = told.get(..told.len().min(sense::MOST)).unwrap_or_default();
        let mut answer = [0; RESPONSE];
        let fields = (told.len() as u32).to_le_bytes().into_iter().chain(left.to_le_bytes());
        let fields = fields.chain([0, 0, status, response as u8]).chain(told.iter().copied());
        answer.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        head.write_all(&answer)
    }
}

impl VirtioDevice for Scsi {
    fn queues(&self) -> usize {
        COMMANDS + MOST_QUEUES
    }

    fn features(&self) -> u64 {
        // Changes of parameters would be told as events, and there are none. QEMU lets its guest agree to them
        // whatever we offer, and then takes our refusal for a failure.
        PARAMETERS_CHANGE
    }

    /// The monitor has it: which targets and units there are is found out by asking.
    fn space(&self) -> Vec<u8> {
        Vec::new()
    }

    fn takes(&self, queue: usize) -> bool {
        queue != EVENTS
    }

    fn connected(&self) {
        self.unit.power_on();
    }

    fn role(&self, queue: usize) -> Role {
        match queue {
            CONTROL => Role::Manages,
            EVENTS => Role::Plain,
            _ => Role::Managed,
        }
    }

    fn ends_others(&self, _: usize, memory: &GuestMemoryMmap, chain: Chain) -> bool {
        let Ok(mut from) = chain.reader(memory) else { return false };
        Asked::read(&mut from).is_ok_and(Asked::ends_commands)
    }

    fn serve(&self, queue: usize, memory: &GuestMemoryMmap, chain: Chain, buffer: &mut AlignedBuf) -> u32 {
        self.take(queue, memory, chain, buffer, false)
    }

    fn end(&self, queue: usize, memory: &GuestMemoryMmap, chain: Chain, buffer: &mut AlignedBuf) -> u32 {
        self.take(queue, memory, chain, buffer, true)
    }
}

impl Scsi {
    /// A request; one that is `ended` is answered so, and does nothing.
    fn take(
        &self,
        queue: usize,
        memory: &GuestMemoryMmap,
        chain: Chain,
        buffer: &mut AlignedBuf,
        ended: bool,
    ) -> u32 {
        let parts = (chain.clone().reader(memory), chain.writer(memory));
        let (Ok(mut from), Ok(mut head)) = parts else { return 0 };
        if queue == CONTROL {
            if self.control(&mut from, &mut head).is_err() {
                return 0;
            }
            return head.bytes_written() as u32;
        }
        let Ok(mut data) = head.split_at(RESPONSE) else { return 0 };
        if self.command(&mut from, (&mut head, &mut data), buffer, ended).is_err() {
            return 0;
        }
        u32::try_from(head.bytes_written() + data.bytes_written()).unwrap_or(u32::MAX)
    }
}
