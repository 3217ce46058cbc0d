//! One queue's thread: takes requests, does them, answers them.
//!
//! From memory it reads and writes at once. Where a drive has to be waited for the system moves the bytes, by the
//! queue's own ring, and the thread serves others meanwhile. What can't be done so (parts of a data unit, flushes,
//! discards) it does itself, after all transfers that it has under way: a write of a part waits for others', and
//! they would wait for this thread.

use keyway_engine::{Device, DeviceError, Transfer};
use keyway_sys::{Direction, UblkDevice, UblkEvent, UblkOperation, UblkQueue, UblkRequest};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;

/// EINVAL, EIO and EOPNOTSUPP of `asm-generic/errno-base.h` and `errno.h`.
const INVALID: i32 = 22;
const NOT_SUPPORTED: i32 = 95;
const FAILED: i32 = 5;

/// Offers the queue, says so to `ready`, and serves it until the device is stopped.
pub(super) fn serve(
    character: &File,
    number: u16,
    info: &UblkDevice,
    device: &Device,
    ready: Sender<io::Result<()>>,
) -> io::Result<()> {
    let direct = device.queueable().filter(|direct| direct.memory_align <= 4096);
    let files: Vec<_> = direct.iter().flat_map(|direct| [direct.file, direct.claim]).collect();
    let queue = UblkQueue::serve(character.as_fd(), number, info.queue_depth, info.max_io_bytes, &files);
    let queue = match queue {
        Ok(queue) => queue,
        // Whoever waits for it tells it.
        Err(e) => {
            let _ = ready.send(Err(e));
            return Ok(());
        }
    };
    let _ = ready.send(Ok(()));
    drop(ready);
    let align = direct.map(|direct| direct.offset_align);
    let underway = (0..info.queue_depth).map(|_| None).collect();
    Server { queue, device, align, underway, held: Vec::new() }.run()
}

struct Server<'a> {
    queue: UblkQueue,
    device: &'a Device,
    /// The alignment of what the system moves; `None` where it must be waited for.
    align: Option<usize>,
    /// What the system moves, by tag.
    underway: Vec<Option<Underway<'a>>>,
    /// What waits for all transfers to be over.
    held: Vec<UblkRequest>,
}

struct Underway<'a> {
    transfer: Transfer<'a>,
    len: usize,
    fua: bool,
}

impl Server<'_> {
    fn run(mut self) -> io::Result<()> {
        loop {
            while let Some(event) = self.queue.ready()? {
                match event {
                    UblkEvent::Request(request) => self.take(request)?,
                    UblkEvent::Moved(tag, moved) => self.moved(tag, moved.ok())?,
                }
            }
            if self.queue.transfers() == 0 && !self.held.is_empty() {
                for request in std::mem::take(&mut self.held) {
                    self.do_now(&request)?;
                }
            }
            if !self.queue.wait()? {
                return Ok(());
            }
        }
    }

    /// A request has come.
    fn take(&mut self, request: UblkRequest) -> io::Result<()> {
        let Some(align) = self.align else { return self.do_now(&request) };
        if !self.held.is_empty() {
            self.held.push(request);
            return Ok(());
        }
        let (device, len) = (self.device, request.len as usize);
        let (begun, direction) = match request.operation {
            UblkOperation::Read => {
                (device.begin_read(request.offset, request.len, align), Direction::FromFile)
            }
            UblkOperation::Write => {
                let buffer = self.queue.buffer_mut(request.tag).and_then(|buffer| buffer.get_mut(..len));
                let buffer = buffer.ok_or(io::ErrorKind::InvalidData)?;
                (device.begin_write(buffer, request.offset, align), Direction::ToFile)
            }
            _ => (Ok(None), Direction::ToFile),
        };
        match begun {
            Ok(Some(transfer)) => {
                let at = transfer.store_offset();
                if let Some(place) = self.underway.get_mut(usize::from(request.tag)) {
                    *place = Some(Underway { transfer, len, fua: request.fua });
                }
                self.queue.transfer(request.tag, direction, len, at)
            }
            Ok(None) => {
                self.held.push(request);
                Ok(())
            }
            Err(e) => self.queue.answer(request.tag, -e.errno()),
        }
    }

    /// The system has moved what it was told to move, or not.
    fn moved(&mut self, tag: u16, moved: Option<usize>) -> io::Result<()> {
        let underway = self.underway.get_mut(usize::from(tag)).and_then(Option::take);
        let Underway { transfer, len, fua } = underway.ok_or(io::ErrorKind::InvalidData)?;
        let buffer = self.queue.buffer_mut(tag).and_then(|buffer| buffer.get_mut(..len));
        let buffer = buffer.ok_or(io::ErrorKind::InvalidData)?;
        let mut done = transfer.finish(buffer, moved == Some(len));
        if fua {
            done = done.and_then(|()| self.device.flush());
        }
        self.queue.answer(tag, result(done, len))
    }

    /// Does a request on this thread, and answers it.
    fn do_now(&mut self, request: &UblkRequest) -> io::Result<()> {
        let (device, offset, len) = (self.device, request.offset, request.len);
        let data = len as usize;
        let answer = match request.operation {
            UblkOperation::Flush => result(device.flush(), 0),
            UblkOperation::Discard => result(self.device.discard(offset, len), 0),
            UblkOperation::WriteZeroes => result(self.flushed(request, device.write_zeroes(offset, len)), 0),
            UblkOperation::Unknown => -NOT_SUPPORTED,
            UblkOperation::Read | UblkOperation::Write => {
                let buffer = self.queue.buffer_mut(request.tag).and_then(|buffer| buffer.get_mut(..data));
                match (buffer, request.operation) {
                    (None, _) => -INVALID,
                    (Some(buffer), UblkOperation::Read) => result(device.read_at(buffer, offset), data),
                    (Some(buffer), _) => {
                        let done = device.write_and_spoil(buffer, offset);
                        result(self.flushed(request, done), data)
                    }
                }
            }
        };
        self.queue.answer(request.tag, answer)
    }

    /// What was written must be on the medium before it is answered, where that is wanted.
    fn flushed(&self, request: &UblkRequest, done: Result<(), DeviceError>) -> Result<(), DeviceError> {
        if request.fua { done.and_then(|()| self.device.flush()) } else { done }
    }
}

/// How many bytes, or minus an errno.
fn result(done: Result<(), DeviceError>, len: usize) -> i32 {
    match done {
        Ok(()) => i32::try_from(len).unwrap_or(-INVALID),
        Err(e) => match e.errno() {
            n @ 1.. => -n,
            _ => -FAILED,
        },
    }
}
