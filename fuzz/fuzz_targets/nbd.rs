//! Any bytes as an NBD client: the server must neither panic nor hang, must send well-formed
//! answers and none that was not asked for.
//!
//! The first byte of the input chooses how the connection is set up, so that the transmission
//! phase is reached often: see `Setup`.
#![no_main]

use keyway_attach::nbd::{Wire, serve_client};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::{FaultPlan, FaultStore, MemStore, Store};
use libfuzzer_sys::fuzz_target;
use std::io::{self, IoSlice};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const SIZE: usize = 16 * 1024;

/// The client's bytes, and everything the server says.
struct Memory<'a> {
    input: Mutex<&'a [u8]>,
    output: Mutex<Vec<u8>>,
    /// Bytes that one call moves at most.
    step: usize,
    down: AtomicBool,
}

impl Wire for Memory<'_> {
    fn receive(&self, buf: &mut [u8]) -> io::Result<usize> {
        if self.down.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let mut input = self.input.lock().unwrap();
        let n = input.len().min(buf.len()).min(self.step);
        let (head, tail) = input.split_at(n);
        buf[..n].copy_from_slice(head);
        *input = tail;
        Ok(n)
    }

    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.down.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut output = self.output.lock().unwrap();
        let mut left = self.step;
        for part in parts {
            let n = part.len().min(left);
            output.extend_from_slice(&part[..n]);
            left -= n;
        }
        Ok(self.step - left)
    }

    fn hang_up(&self) {
        self.down.store(true, Ordering::Relaxed);
    }
}

struct Setup {
    /// The handshake is done by us, with structured replies or without; the input is requests.
    negotiated: bool,
    structured: bool,
    read_only: bool,
    faulty: bool,
    step: usize,
    /// With one worker the same input takes the same path, as the fuzzer likes it; with several the
    /// requests of an input run at once.
    workers: usize,
}

impl Setup {
    fn new(byte: u8) -> Self {
        let bit = |n: u8| byte >> n & 1 == 1;
        Self {
            negotiated: bit(0),
            structured: bit(1),
            read_only: bit(2),
            faulty: bit(3),
            step: if bit(4) { 7 } else { 1 << 20 },
            workers: if bit(5) { 4 } else { 1 },
        }
    }

    fn handshake(&self) -> Vec<u8> {
        let mut said = 3u32.to_be_bytes().to_vec();
        if self.structured {
            said.extend(b"IHAVEOPT\0\0\0\x08\0\0\0\0");
            // SET_META_CONTEXT: base:allocation of the export without a name.
            said.extend(b"IHAVEOPT\0\0\0\x0a\0\0\0\x1b\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation");
        }
        said.extend(b"IHAVEOPT\0\0\0\x01\0\0\0\0");
        said
    }

    fn device(&self) -> Device {
        let memory = MemStore::from_vec(vec![0x77; SIZE]);
        let store: Box<dyn Store> = if self.faulty {
            let plan = FaultPlan {
                reads_fail_from: Some(3),
                writes_fail_from: Some((2, 28)),
                flushes_fail_from: Some(1),
                ..FaultPlan::default()
            };
            Box::new(FaultStore::new(memory, plan))
        } else {
            Box::new(memory)
        };
        let half = SIZE as u64 / 2;
        let segments = vec![
            Segment { start: 0, len: half, mapping: Mapping::Plain { store_offset: half } },
            Segment { start: half, len: 512, mapping: Mapping::Zero },
            Segment { start: half + 512, len: half - 512, mapping: Mapping::Plain { store_offset: 0 } },
        ];
        let layout = Layout::new(512, segments).unwrap();
        let access = if self.read_only { Access::ReadOnly } else { Access::ReadWrite };
        Device::new(store, layout, access).unwrap()
    }
}

/// Checks the answers of a transmission; `requests` were sent at most.
fn check_replies(mut said: &[u8], structured: bool, requests: usize) {
    let mut replies = 0;
    while said.len() >= 16 {
        let magic = u32::from_be_bytes(said[..4].try_into().unwrap());
        let len = match magic {
            // A simple reply's data can't be told from the stream alone.
            0x6744_6698 if structured => {
                replies += 1;
                16
            }
            0x6744_6698 => return,
            0x668e_33ef => {
                assert!(structured);
                // Holes divide a read's answer; the last part says so.
                replies += usize::from(said[5] & 1);
                20 + u32::from_be_bytes(said[16..20].try_into().unwrap()) as usize
            }
            other => panic!("{other:#x} is no reply"),
        };
        said = &said[len..];
    }
    assert!(said.is_empty(), "half a reply");
    assert!(replies <= requests, "more replies than requests");
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let setup = Setup::new(*first);
    let mut input = if setup.negotiated { setup.handshake() } else { Vec::new() };
    input.extend_from_slice(rest);
    let wire = Memory {
        input: Mutex::new(&input),
        output: Mutex::default(),
        step: setup.step,
        down: AtomicBool::new(false),
    };
    let threads = threads();
    let _ = serve_client(&wire, &setup.device(), "keyway", setup.workers);
    // A scope ends when its threads' work is done, a moment before the threads are gone; the search
    // for leaks would look at them in that moment and take what they are about to free for lost.
    while self::threads() > threads {
        std::thread::yield_now();
    }
    let said = wire.output.into_inner().unwrap();
    assert_eq!(&said[..18], b"NBDMAGICIHAVEOPT\0\x03");
    if setup.negotiated {
        let handshake = 18 + if setup.structured { 20 + 39 + 20 } else { 0 } + 10;
        check_replies(&said[handshake..], setup.structured, rest.len() / 28);
    }
});
