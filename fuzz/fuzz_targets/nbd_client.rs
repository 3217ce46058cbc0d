//! An NBD client that sends anything, from the greeting on.
#![no_main]

use keyway_attach::nbd::{Wire, serve_client};
use keyway_engine::{Access, Device, Layout, Mapping, Segment};
use keyway_store::MemStore;
use libfuzzer_sys::fuzz_target;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicUsize, Ordering};

const DEVICE_BYTES: u64 = 1 << 16;

/// A client whose words are the fuzzer's and who listens to everything.
struct Client<'a> {
    says: &'a [u8],
    said: AtomicUsize,
    heard: AtomicUsize,
}

impl Wire for Client<'_> {
    fn receive(&self, buf: &mut [u8]) -> io::Result<usize> {
        let from = self.said.load(Ordering::Relaxed);
        let n = buf.len().min(self.says.len() - from);
        buf[..n].copy_from_slice(&self.says[from..from + n]);
        self.said.store(from + n, Ordering::Relaxed);
        Ok(n)
    }
    fn receive_now(&self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        self.receive(buf).map(Some)
    }
    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let n = parts.iter().map(|part| part.len()).sum();
        self.heard.fetch_add(n, Ordering::Relaxed);
        Ok(n)
    }
    fn hang_up(&self) {}
}

fuzz_target!(|data: &[u8]| {
    let all = Segment { start: 0, len: DEVICE_BYTES, mapping: Mapping::Plain { store_offset: 0 } };
    let layout = Layout::new(512, vec![all]).expect("one segment is a layout");
    let store = MemStore::new(DEVICE_BYTES as usize);
    let device = Device::new(Box::new(store), layout, Access::ReadWrite).expect("it fits");
    let client = Client { says: data, said: AtomicUsize::new(0), heard: AtomicUsize::new(0) };
    let _ = serve_client(&client, &device, "volume", 1);
    // The greeting at least; and no more than each request may ask for.
    let heard = client.heard.load(Ordering::Relaxed);
    assert!(heard >= 18, "the server did not even greet");
    let most = 1024 + (data.len() / 16 + 1) * (DEVICE_BYTES as usize + 4096);
    assert!(heard <= most, "{heard} bytes were sent for {} received", data.len());
});
