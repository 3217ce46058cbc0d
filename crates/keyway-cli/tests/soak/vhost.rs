//! A virtual machine without the machine: a vhost-user front-end with a block device's driver of the simplest kind, one
//! queue and one request at a time. Its memory is a file that it reads and writes; the server maps it.
//!
//! Layouts: QEMU's vhost-user document; VIRTIO 1.2, sections 2.7 (split queues) and 5.2.6 (block requests).

use crate::way::PATIENCE;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::File;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

/// Messages.
const GET_FEATURES: u32 = 1;
const SET_FEATURES: u32 = 2;
const SET_OWNER: u32 = 3;
const SET_MEM_TABLE: u32 = 5;
const SET_VRING_NUM: u32 = 8;
const SET_VRING_ADDR: u32 = 9;
const SET_VRING_BASE: u32 = 10;
const SET_VRING_KICK: u32 = 12;
const SET_VRING_CALL: u32 = 13;
/// The protocol's version, in every message's flags.
const VERSION: u32 = 1;

/// `VIRTIO_BLK_F_FLUSH` and `VIRTIO_F_VERSION_1`.
const WANTED: u64 = 1 << 9 | 1 << 32;

/// Requests.
const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 4;

/// Flags of a descriptor: there is another one; the device writes there.
const NEXT: u16 = 1;
const TO_US: u16 = 2;

/// Entries of the queue.
const ENTRIES: u16 = 4;
/// Where what lies in the memory.
const DESCRIPTORS: u64 = 0;
const AVAILABLE: u64 = 0x1000;
const USED: u64 = 0x2000;
const HEAD: u64 = 0x3000;
const STATUS: u64 = 0x3800;
const DATA: u64 = 0x4000;
const MEMORY: u64 = 1 << 20;

/// A machine that is connected.
pub(crate) struct Vhost {
    socket: UnixStream,
    memory: File,
    kick: OwnedFd,
    call: OwnedFd,
    /// Requests so far, counted as the queue does.
    asked: u16,
    /// Something failed, or it hung up: what is under way may still use the memory.
    gone: bool,
}

impl Vhost {
    pub(crate) fn connect(path: &Path) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let memory = File::from(memfd_create("memory", MemfdFlags::CLOEXEC)?);
        memory.set_len(MEMORY)?;
        let event = || eventfd(0, EventfdFlags::CLOEXEC);
        let (kick, call) = (event()?, event()?);
        let mut machine = Self { socket, memory, kick, call, asked: 0, gone: false };
        machine.tell(SET_OWNER, &[], None)?;
        machine.tell(GET_FEATURES, &[], None)?;
        let mut answer = [0; 20];
        machine.socket.read_exact(&mut answer)?;
        let offered = answer[12..].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        machine.tell(SET_FEATURES, &(offered & WANTED).to_le_bytes(), None)?;
        // One region, which begins at 0 for the machine and for us.
        let table: Vec<u8> = [1, 0, MEMORY, 0, 0].into_iter().flat_map(u64::to_le_bytes).collect();
        machine.tell(SET_MEM_TABLE, &table, Some(machine.memory.as_fd()))?;
        let pair = |number: u32| [0, number].into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>();
        machine.tell(SET_VRING_NUM, &pair(ENTRIES.into()), None)?;
        machine.tell(SET_VRING_BASE, &pair(0), None)?;
        let rings: Vec<u8> =
            [0, DESCRIPTORS, USED, AVAILABLE, 0].into_iter().flat_map(u64::to_le_bytes).collect();
        machine.tell(SET_VRING_ADDR, &rings, None)?;
        machine.tell(SET_VRING_CALL, &0u64.to_le_bytes(), Some(machine.call.as_fd()))?;
        machine.tell(SET_VRING_KICK, &0u64.to_le_bytes(), Some(machine.kick.as_fd()))?;
        Ok(machine)
    }

    fn tell(&self, request: u32, payload: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let head = [request, VERSION, payload.len() as u32];
        let message: Vec<u8> = head.into_iter().flat_map(u32::to_le_bytes).chain(payload.to_vec()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut extra = SendAncillaryBuffer::new(&mut space);
        let files = file.as_slice();
        if !files.is_empty() && !extra.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(&self.socket, &[IoSlice::new(&message)], &mut extra, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    pub(crate) fn read(&mut self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.ask(READ, offset, len, TO_US)?;
        let mut bytes = vec![0; len];
        self.memory.read_exact_at(&mut bytes, DATA)?;
        Ok(bytes)
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.refuse_when_gone()?;
        self.memory.write_all_at(bytes, DATA)?;
        self.ask(WRITE, offset, bytes.len(), 0)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.ask(FLUSH, 0, 0, 0)
    }

    /// Begins a write, and is gone.
    pub(crate) fn hang_up(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.refuse_when_gone()?;
        self.gone = true;
        self.memory.write_all_at(bytes, DATA)?;
        self.post(WRITE, offset, bytes.len(), 0)?;
        self.socket.shutdown(std::net::Shutdown::Both)
    }

    /// Carries a request out.
    fn ask(&mut self, kind: u32, offset: u64, len: usize, flag: u16) -> io::Result<()> {
        self.refuse_when_gone()?;
        // Until it is answered well.
        self.gone = true;
        self.post(kind, offset, len, flag)?;
        while self.used()? != self.asked {
            self.wait()?;
        }
        fence(Ordering::SeqCst);
        let mut status = [0xff];
        self.memory.read_exact_at(&mut status, STATUS)?;
        self.gone = false;
        if status == [0] { Ok(()) } else { Err(io::Error::other(format!("virtio status {}", status[0]))) }
    }

    /// Puts a request into the queue and says so.
    fn post(&mut self, kind: u32, offset: u64, len: usize, flag: u16) -> io::Result<()> {
        let mut head = u64::from(kind).to_le_bytes().to_vec();
        head.extend((offset / 512).to_le_bytes());
        self.memory.write_all_at(&head, HEAD)?;
        self.memory.write_all_at(&[0xff], STATUS)?;
        let mut chain = vec![(HEAD, 16, NEXT)];
        if len > 0 {
            chain.push((DATA, len as u32, flag | NEXT));
        }
        chain.push((STATUS, 1, TO_US));
        let mut table = Vec::new();
        for (number, (at, len, flags)) in (1u16..).zip(chain) {
            table.extend(at.to_le_bytes());
            table.extend(len.to_le_bytes());
            table.extend(flags.to_le_bytes());
            table.extend(number.to_le_bytes());
        }
        self.memory.write_all_at(&table, DESCRIPTORS)?;
        // The chain always begins with the first descriptor.
        let slot = AVAILABLE + 4 + u64::from(self.asked % ENTRIES) * 2;
        self.memory.write_all_at(&[0, 0], slot)?;
        fence(Ordering::SeqCst);
        self.asked = self.asked.wrapping_add(1);
        self.memory.write_all_at(&self.asked.to_le_bytes(), AVAILABLE + 2)?;
        fence(Ordering::SeqCst);
        rustix::io::write(&self.kick, &1u64.to_ne_bytes())?;
        Ok(())
    }

    /// How many requests the device has answered, as the queue counts.
    fn used(&self) -> io::Result<u16> {
        let mut count = [0; 2];
        self.memory.read_exact_at(&mut count, USED + 2)?;
        Ok(u16::from_le_bytes(count))
    }

    /// Waits for the device's word, or its end.
    fn wait(&self) -> io::Result<()> {
        let mut ready = [PollFd::new(&self.call, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
        let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        if poll(&mut ready, Some(&patience))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let [called, ended] = ready.map(|one| !one.revents().is_empty());
        if called {
            rustix::io::read(&self.call, &mut [0; 8])?;
        } else if ended {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }

    fn refuse_when_gone(&self) -> io::Result<()> {
        if self.gone { Err(io::ErrorKind::NotConnected.into()) } else { Ok(()) }
    }
}
