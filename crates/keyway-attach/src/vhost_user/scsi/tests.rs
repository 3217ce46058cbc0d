//! The disk under ordinary and under hostile commands, and the frame around them in a guest's memory.

use super::cdb::{Command, padded};
use super::disk::{Data, Failed, Unit, carry_out};
use super::opcode::{self, CDB_BYTES};
use super::pages::SUPPORTED;
use super::sense::Sense;
use super::*;
use crate::vhost_user::virtio_device::{PIECE, VirtioDevice, buffer};
use crate::{Namespace, NamespaceError, SecurityRefusal};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use virtio_queue::desc::{RawDescriptor, split::Descriptor};
use virtio_queue::mock::MockSplitQueue;
use virtio_queue::{Queue, QueueOwnedT};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

const BLOCKS: u64 = 2048;
/// From here on it is locked.
const LOCKED: u64 = 1024;
const SECRET: u8 = 0xEE;

/// A drive of memory whose second half is locked, that keeps what security commands send.
struct Drive {
    blocks: Mutex<Vec<u8>>,
    sent: Mutex<Vec<(u8, u16, Vec<u8>)>>,
    security: bool,
    read_only: bool,
    unit: Unit,
    /// Resets; times that it was switched on again; flushes.
    happened: [AtomicU64; 3],
}

impl Drive {
    fn new() -> Self {
        let mut blocks = vec![1; (BLOCKS * 512) as usize];
        blocks[(LOCKED * 512) as usize..].fill(SECRET);
        Self {
            blocks: Mutex::new(blocks),
            sent: Mutex::default(),
            security: true,
            read_only: false,
            unit: Unit::default(),
            happened: Default::default(),
        }
    }

    fn at(lba: u64, len: usize) -> Result<std::ops::Range<usize>, NamespaceError> {
        let end = lba + (len / 512) as u64;
        if end > BLOCKS {
            return Err(NamespaceError::OutOfRange);
        }
        if end > LOCKED {
            return Err(NamespaceError::AccessDenied);
        }
        Ok((lba * 512) as usize..(end * 512) as usize)
    }
}

impl Namespace for Drive {
    fn serial(&self) -> String {
        "KWSERIAL".into()
    }

    fn model(&self) -> &str {
        "Keyway virtual drive"
    }

    fn blocks(&self) -> u64 {
        BLOCKS
    }

    fn block_bytes(&self) -> u32 {
        512
    }

    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError> {
        let at = Self::at(lba, buf.len())?;
        buf.copy_from_slice(&self.blocks.lock().expect("whole")[at]);
        Ok(())
    }

    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError> {
        if self.read_only {
            return Err(NamespaceError::ReadOnly);
        }
        let at = Self::at(lba, bytes.len())?;
        self.blocks.lock().expect("whole")[at].copy_from_slice(bytes);
        Ok(())
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn flush(&self) -> Result<(), NamespaceError> {
        self.happened[2].fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn reset(&self) {
        self.happened[0].fetch_add(1, Ordering::SeqCst);
    }

    fn times_switched_on(&self) -> u64 {
        self.happened[1].load(Ordering::SeqCst)
    }

    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError> {
        let at = Self::at(lba, (blocks * 512) as usize)?;
        self.blocks.lock().expect("whole")[at].fill(0);
        Ok(())
    }

    fn has_security(&self) -> bool {
        self.security
    }

    fn security_send(&self, protocol: u8, com_id: u16, bytes: &[u8]) -> Result<(), SecurityRefusal> {
        if protocol > 2 {
            return Err(SecurityRefusal::Field);
        }
        self.sent.lock().expect("whole").push((protocol, com_id, bytes.to_vec()));
        Ok(())
    }

    fn security_receive(&self, protocol: u8, com_id: u16, len: usize) -> Result<Vec<u8>, SecurityRefusal> {
        match protocol {
            0..=2 => Ok([protocol, com_id as u8, 7].into_iter().take(len).collect()),
            3 => Err(SecurityRefusal::Sequence),
            _ => Err(SecurityRefusal::Field),
        }
    }
}

fn run(drive: &Drive, cdb: &[u8; CDB_BYTES], out: &[u8], room: usize) -> (Result<(), Failed>, Vec<u8>) {
    let mut from = out;
    let mut to = Vec::new();
    let mut buffer = vec![0x5A; PIECE];
    let mut data = Data { from: &mut from, brings: out.len(), to: &mut to, room };
    let ended = carry_out((drive, &drive.unit), cdb, &mut data, &mut buffer);
    assert!(!buffer.windows(3).any(|w| w == b"PIN"), "a PIN stayed in the buffer");
    (ended, to)
}

fn gets(drive: &Drive, cdb: &[u8], room: usize) -> Vec<u8> {
    let (ended, got) = run(drive, &padded(cdb), &[], room);
    assert!(ended.is_ok(), "{cdb:02x?}: {ended:?}");
    got
}

fn fails(drive: &Drive, cdb: &[u8], out: &[u8]) -> Sense {
    match run(drive, &padded(cdb), out, 1 << 20) {
        (Err(Failed::Check(sense)), got) => {
            assert!(got.is_empty(), "{cdb:02x?}: an answer beside the refusal");
            sense
        }
        other => panic!("{cdb:02x?}: {other:?}"),
    }
}

#[test]
fn blocks_are_read_and_written_and_locked_ones_are_not() {
    let drive = Drive::new();
    assert!(run(&drive, &padded(&[0x2A, 8, 0, 0, 0, 4, 0, 0, 2, 0]), &[7; 1024], 0).0.is_ok());
    assert!(gets(&drive, &[0x88, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0], 512) == [7; 512]);
    // 1023 and the next one, which is locked.
    let both = [0x28, 0, 0, 0, 0x03, 0xFF, 0, 0, 2, 0];
    assert_eq!(fails(&drive, &both, &[]), Sense::LOCKED);
    assert_eq!(fails(&drive, &[0x2A, 0, 0, 0, 4, 0, 0, 0, 1, 0], &[7; 512]), Sense::LOCKED);
    assert_eq!(fails(&drive, &[0x28, 0, 0, 0, 8, 0, 0, 0, 1, 0], &[]), Sense::RANGE);
    let far = [0x88, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0];
    assert_eq!(fails(&drive, &far, &[]), Sense::RANGE);
    // More than a buffer holds, and less room than is asked for.
    assert_eq!(fails(&drive, &[0x28, 0, 0, 0, 0, 0, 0, 4, 0, 0], &[]), Sense::FIELD);
    let short = run(&drive, &padded(&[0x28, 0, 0, 0, 0, 0, 0, 0, 2, 0]), &[], 1023);
    assert!(matches!(short, (Err(Failed::Overrun), got) if got.is_empty()));
    assert!(matches!(
        run(&drive, &padded(&[0x2A, 0, 0, 0, 0, 0, 0, 0, 2, 0]), &[0; 1023], 0).0,
        Err(Failed::Overrun)
    ));
}

#[test]
fn what_is_no_longer_needed_is_named_in_a_list() {
    let drive = Drive::new();
    let list = |lba: u64, blocks: u32| {
        let mut list = vec![0, 22, 0, 16, 0, 0, 0, 0];
        list.extend(lba.to_be_bytes().into_iter().chain(blocks.to_be_bytes()).chain([0; 4]));
        list
    };
    let unmap = [0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0];
    assert!(run(&drive, &padded(&unmap), &list(2, 3), 0).0.is_ok());
    assert!(gets(&drive, &[0x28, 0, 0, 0, 0, 2, 0, 0, 3, 0], 4096) == [0; 1536]);
    assert_eq!(fails(&drive, &unmap, &list(LOCKED, 1)), Sense::LOCKED);
    assert_eq!(fails(&drive, &unmap, &list(u64::MAX, 1)), Sense::RANGE);
    assert_eq!(fails(&drive, &[0x42, 0, 0, 0, 0, 0, 0, 0, 7, 0], &[0; 7]), Sense::LENGTH);
}

#[test]
fn it_says_who_it_is() {
    let drive = Drive::new();
    let inquiry = gets(&drive, &[0x12, 0, 0, 0, 255, 0], 4096);
    assert_eq!((inquiry.len(), &inquiry[8..32]), (96, &b"Keyway  virtual drive   "[..]));
    assert_eq!(gets(&drive, &[0x12, 0, 0, 0, 5, 0], 4096).len(), 5);
    for page in gets(&drive, &[0x12, 1, 0, 0, 255, 0], 4096).split_off(4) {
        let got = gets(&drive, &[0x12, 1, page, 0, 255, 0], 4096);
        assert_eq!((got[1], usize::from(got[3])), (page, got.len() - 4));
    }
    assert_eq!(gets(&drive, &[0x12, 1, 0x80, 0, 255, 0], 4096)[4..], b"KWSERIAL"[..]);
    assert_eq!(gets(&drive, &[0x25], 8), [0, 0, 7, 0xFF, 0, 0, 2, 0]);
    let long = gets(&drive, &[0x9E, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0], 4096);
    assert_eq!((long.len(), long[7], long[14]), (32, 0xFF, 0x80));
    assert_eq!(
        gets(&drive, &[0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0], 4096),
        [vec![0, 0, 0, 8], vec![0; 12]].concat()
    );
    let modes = gets(&drive, &[0x5A, 8, 0x3F, 0, 0, 0, 0, 1, 0, 0], 4096);
    assert_eq!(
        (modes.len(), usize::from(modes[1]), modes[3], &modes[8..11]),
        (40, 38, 0x10, &[8, 18, 4][..])
    );
    assert_eq!(gets(&drive, &[0x1A, 0, 0x0A, 0, 255, 0], 4096).len(), 4 + 8 + 12);
    assert_eq!(fails(&drive, &[0x1A, 0, 0x1C, 0, 255, 0], &[]), Sense::FIELD);
}

/// What REPORT SUPPORTED OPERATION CODES says there is, is what is not refused as unknown, and nothing else.
#[test]
fn it_says_which_commands_there_are() {
    for (security, read_only) in [(true, false), (false, false), (true, true)] {
        let drive = Drive { security, read_only, ..Drive::new() };
        for code in 0..=0xFF {
            let known = SUPPORTED.iter().find(|s| s.opcode == code);
            let action = known.and_then(|s| s.action).unwrap_or(0);
            let asked = [0xA3, 0x0C, 3, code, 0, action, 0, 0, 1, 0, 0, 0];
            let there = gets(&drive, &asked, 4096)[1] == 3;
            let unknown = matches!(run(&drive, &padded(&[code, action]), &[], 4096).0,
                Err(Failed::Check(sense)) if sense == Sense::OPCODE);
            assert_eq!(there, !unknown, "{code:02x}");
        }
        // As the kernel asks before it takes a disk for one that encrypts itself.
        let asked = gets(&drive, &[0xA3, 0x0C, 1, 0xB5, 0, 0, 0, 0, 2, 0, 0, 0], 4096);
        assert_eq!(asked[..2] == [0, 3], security);
    }
    // What could be written to a disk that is only read is known, and refused for that reason.
    let drive = Drive { read_only: true, ..Drive::new() };
    assert_eq!(fails(&drive, &[0x2A, 0, 0, 0, 0, 0, 0, 0, 1, 0], &[0; 512]), Sense::READ_ONLY);
    assert_eq!(fails(&drive, &[0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0], &[0; 24]), Sense::OPCODE);
    assert_eq!(gets(&drive, &[0x1A, 0, 0x3F, 0, 255, 0], 4096)[2], 0x90);
    let drive = Drive::new();
    let all = gets(&drive, &[0xA3, 0x0C, 0x80, 0, 0, 0, 0, 0, 16, 0, 0, 0], 4096);
    assert_eq!(all.len(), 4 + 20 * SUPPORTED.len());
    for wrong in [[1, 0x9E, 0], [2, 0x28, 0]] {
        let [options, code, action] = wrong;
        assert_eq!(fails(&drive, &[0xA3, 0x0C, options, code, 0, action, 0, 0, 1, 0], &[]), Sense::FIELD);
    }
}

#[test]
fn security_commands_go_both_ways() {
    let drive = Drive::new();
    let send = [0xB5, 1, 0x07, 0xFE, 0x80, 0, 0, 0, 0, 1, 0, 0];
    let mut pin = vec![0; 512];
    pin[..3].copy_from_slice(b"PIN");
    assert!(run(&drive, &padded(&send), &pin, 0).0.is_ok());
    let trusted = [0xA1, 0x0A, 0x06, 2, 1, 0, 0x34, 0x12, 0, 0x5E, 0, 0];
    assert!(run(&drive, &padded(&trusted), &pin, 0).0.is_ok());
    assert_eq!(*drive.sent.lock().expect("whole"), [(1, 0x07FE, pin.clone()), (2, 0x1234, pin)]);
    // As many bytes as there are; whole blocks; what ATA says that it moves.
    assert_eq!(gets(&drive, &[0xA2, 1, 0, 9, 0, 0, 0, 0, 8, 0, 0, 0], 2048), [1, 9, 7]);
    assert_eq!(gets(&drive, &[0xA2, 1, 0, 9, 0x80, 0, 0, 0, 0, 4, 0, 0], 2048).len(), 512);
    let receive = [0x85, 8, 0x0E, 0, 1, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0x5C, 0];
    let got = gets(&drive, &receive, 4096);
    assert_eq!((got.len(), &got[..4]), (2048, &[1, 9, 7, 0][..]));
    assert_eq!(fails(&drive, &[0xA2, 3, 0, 9, 0, 0, 0, 0, 8, 0, 0, 0], &[]), Sense::SEQUENCE);
    assert_eq!(fails(&drive, &[0xA2, 9, 0, 9, 0, 0, 0, 0, 8, 0, 0, 0], &[]), Sense::FIELD);
    let refused = [0x85, 8, 0x0E, 0, 9, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0x5C, 0];
    assert_eq!(fails(&drive, &refused, &[]), Sense::ATA_ABORTED);
    let identify = gets(&drive, &[0xA1, 8, 0x0E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0], 4096);
    assert_eq!((identify.len(), identify[96] & 1, &identify[20..28]), (512, 1, &b"WKESIRLA"[..]));
    assert_eq!(identify.iter().fold(0u8, |sum, b| sum.wrapping_add(*b)), 0);
    // CK_COND: it went well, and the registers are told.
    let (ended, got) = run(&drive, &padded(&[0xA1, 8, 0x2E, 0, 1, 0, 0, 0, 0, 0xEC, 0, 0]), &[], 512);
    assert!(matches!(ended, Err(Failed::Check(sense)) if sense == Sense::ATA_DONE) && got == identify);
}

#[test]
fn a_disk_that_was_stopped_waits_for_being_started() {
    let drive = Drive::new();
    let read = [0x28, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let flushes = || drive.happened[2].load(Ordering::SeqCst);
    let (stop, stop_at_once, start) = ([0x1B, 0, 0, 0, 0, 0], [0x1B, 0, 0, 0, 4, 0], [0x1B, 0, 0, 0, 1, 0]);
    for (stop, flushed) in [(stop, 1), (stop_at_once, 1), (stop, 2)] {
        gets(&drive, &stop, 0);
        assert_eq!(flushes(), flushed, "what was written is on the medium, unless told otherwise");
        for needs in [&[0; 6][..], &read, &[0x35; 10], &[0x42, 0, 0, 0, 0, 0, 0, 0, 24]] {
            assert_eq!(fails(&drive, needs, &[0; 24]), Sense::STOPPED, "{needs:02x?}");
        }
        assert_eq!(fails(&drive, &[0x2A, 0, 0, 0, 0, 0, 0, 0, 1, 0], &[9; 512]), Sense::STOPPED);
        // NOT READY, INITIALIZING COMMAND REQUIRED.
        let sense = gets(&drive, &[0x03, 0, 0, 0, 252, 0], 252);
        assert_eq!((sense[2], sense[12], sense[13]), (2, 4, 2));
        // Whose it is and what it may is asked of the drive, not of its medium.
        gets(&drive, &[0x12, 0, 0, 0, 255, 0], 96);
        gets(&drive, &[0xA2, 1, 0, 1, 0, 0, 0, 0, 8, 0, 0, 0], 2048);
        gets(&drive, &start, 0);
        assert_eq!(gets(&drive, &read, 512), [1; 512]);
    }
    gets(&drive, &stop, 0);
    drive.happened[1].fetch_add(1, Ordering::SeqCst);
    gets(&drive, &read, 512);
    for wrong in [[0x1B, 0, 0, 0, 0x30, 0], [0x1B, 0, 0, 0, 2, 0]] {
        assert_eq!(fails(&drive, &wrong, &[]), Sense::FIELD);
    }
    assert_eq!(gets(&drive, &[0x03, 0, 0, 0, 252, 0], 252)[2], 0);
}

/// A guest's memory, and what it asks in it.
struct Guest(Arc<GuestMemoryMmap>);

const REQUEST: u64 = 1 << 16;
const ANSWER: u64 = 1 << 17;
const DATA: u64 = 1 << 18;
const MEMORY: usize = 1 << 20;

impl Guest {
    fn new() -> Self {
        Self(Arc::new(GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY)]).expect("memory")))
    }

    fn ask(&self, scsi: &Scsi, queue: usize, descriptors: &[(u64, u32, u16)]) -> u32 {
        let last = descriptors.len() - 1;
        let chain: Vec<RawDescriptor> = (0u16..)
            .zip(descriptors)
            .map(|(n, (at, len, flags))| {
                let more = u16::from(usize::from(n) < last);
                Descriptor::new(*at, *len, flags | more, n + 1).into()
            })
            .collect();
        let mock = MockSplitQueue::create(&*self.0, GuestAddress(0), 64);
        mock.build_desc_chain(&chain).expect("a chain");
        let mut queue_of: Queue = mock.create_queue().expect("a queue");
        let chain = queue_of.iter(Arc::clone(&self.0)).expect("ready").next().expect("one request");
        scsi.serve(queue, &self.0, chain, &mut buffer())
    }

    /// A task management function; the answer.
    fn manage(&self, scsi: &Scsi, function: u32, unit: [u8; 4]) -> u8 {
        let bytes = [&[0; 4], &function.to_le_bytes()[..], &unit, &[0; 12]].concat();
        self.0.write_slice(&bytes, GuestAddress(REQUEST)).expect("inside");
        assert_eq!(self.ask(scsi, 0, &[(REQUEST, 24, 0), (ANSWER, 1, 2)]), 1);
        self.0.read_obj(GuestAddress(ANSWER)).expect("inside")
    }

    /// A command to a unit: bytes written, what was left, status, response, sense key.
    fn command(
        &self,
        scsi: &Scsi,
        unit: [u8; 4],
        cdb: &[u8],
        data: &[(u64, u32, u16)],
    ) -> (u32, u32, u8, u8, u8) {
        let request = [&unit[..], &[0; 4], &[9; 8], &[0; 3], &padded(cdb)].concat();
        self.0.write_slice(&request, GuestAddress(REQUEST)).expect("inside");
        let (ins, outs): (Vec<(u64, u32, u16)>, Vec<_>) = data.iter().partition(|d| d.2 == 2);
        let mut chain = vec![(REQUEST, 51, 0)];
        chain.extend(outs);
        chain.push((ANSWER, 108, 2));
        chain.extend(ins);
        let written = self.ask(scsi, 2, &chain);
        let mut answer = [0; 108];
        self.0.read_slice(&mut answer, GuestAddress(ANSWER)).expect("inside");
        let left = u32::from_le_bytes([answer[4], answer[5], answer[6], answer[7]]);
        (written, left, answer[10], answer[11], answer[14])
    }
}

#[test]
fn the_frame_says_how_it_went() {
    let (guest, drive) = (Guest::new(), Arc::new(Drive::new()));
    let scsi = Scsi::new(drive.clone());
    let disk = [1, 0, 0x40, 0];
    let room = [(DATA, 4096, 2)];
    let inquiry = [0x12, 0, 0, 0, 255, 0];
    assert_eq!(guest.command(&scsi, disk, &inquiry, &room), (108 + 96, 4000, 0, 0, 0));
    let read = [0x28, 0, 0, 0, 4, 0, 0, 0, 8, 0];
    assert_eq!(guest.command(&scsi, disk, &read, &room), (108, 4096, 2, 0, 7));
    assert_eq!(guest.command(&scsi, disk, &read[..9], &[(DATA, 100, 2)]), (108, 100, 0, 1, 0));
    // Another unit of the target, another target, a well-known unit.
    assert_eq!(guest.command(&scsi, [1, 0, 0, 1], &[0; 6], &[]).2, 2);
    assert_eq!(guest.command(&scsi, [1, 0, 0, 1], &inquiry, &room).0, 108 + 36);
    assert_eq!(guest.command(&scsi, [1, 1, 0, 0], &[0; 6], &[]).3, 3);
    assert_eq!(guest.command(&scsi, [0xC1, 1, 0, 0], &[0; 6], &[]).3, 3);
    // Functions about tasks: some are carried out, of the disk; what was ended is told, and nothing was done of it.
    for (function, unit, answer) in
        [(0u32, disk, 11u8), (1, disk, 0), (5, [1, 0, 0, 1], 12), (5, [1, 9, 0, 0], 3), (8, disk, 11)]
    {
        assert_eq!(guest.manage(&scsi, function, unit), answer, "{function} {unit:?}");
    }
    assert_eq!(guest.command(&scsi, disk, &[0; 6], &[]).2, 0);
    assert_eq!(guest.manage(&scsi, 5, disk), 0);
    // A unit attention, once, and not to INQUIRY.
    assert_eq!(guest.command(&scsi, disk, &inquiry, &room).2, 0);
    assert_eq!(guest.command(&scsi, disk, &[0; 6], &[]), (108, 0, 2, 0, 6));
    assert_eq!(guest.command(&scsi, disk, &[0; 6], &[]), (108, 0, 0, 0, 0));
    assert_eq!(drive.happened[0].load(Ordering::SeqCst), 1);
    assert!(!scsi.takes(1));
}

proptest! {
    /// Whatever command comes with whatever data: nobody panics, no more is written than there is room for, the locked
    /// half stays as it is, and no byte of it comes out.
    #[test]
    fn no_command_does_harm(
        known in any::<prop::sample::Index>(),
        code in any::<u8>(),
        tail in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 31),
        out in proptest::collection::vec(any::<u8>(), 0..1200),
        room in prop_oneof![0usize..64, 0usize..70_000],
    ) {
        let drive = Drive::new();
        let mut cdb = [0; CDB_BYTES];
        cdb[0] = if code < 0xF0 { known.get(SUPPORTED).opcode } else { code };
        cdb[1..].copy_from_slice(&tail);
        let (ended, got) = run(&drive, &cdb, &out, room);
        prop_assert!(got.len() <= room);
        if matches!(Command::parse(&cdb), Ok(Command::Read(_))) {
            prop_assert!(!got.contains(&SECRET));
        }
        if ended.is_err() && cdb[0] != opcode::ATA_PASS_THROUGH_12 && cdb[0] != opcode::ATA_PASS_THROUGH_16 {
            prop_assert!(got.is_empty());
        }
        prop_assert!(drive.blocks.lock().expect("whole")[(LOCKED * 512) as usize..].iter().all(|b| *b == SECRET));
    }

    /// Whatever chain a guest describes on whatever queue.
    #[test]
    fn no_chain_does_harm(
        queue in 0usize..4,
        request in proptest::collection::vec(any::<u8>(), 64),
        chain in proptest::collection::vec((0..MEMORY as u64 + 4096, 0u32..1 << 19, 0u16..4), 1..8),
        told in any::<bool>(),
    ) {
        let (guest, scsi) = (Guest::new(), Scsi::new(Arc::new(Drive::new())));
        let mut request = request;
        if told {
            request[..8].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        }
        guest.0.write_slice(&request, GuestAddress(REQUEST)).expect("inside");
        let chain: Vec<_> = std::iter::once((REQUEST, 51, 0))
            .chain(chain.into_iter().map(|(at, len, flags)| (at, len, flags & 2)))
            .collect();
        guest.ask(&scsi, queue, &chain);
    }
}
