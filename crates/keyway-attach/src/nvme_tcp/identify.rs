//! What a controller says of itself and of its namespace (NVM Express Base Specification 1.4, 5.15).

use super::Namespace;
use super::pdu::MAX_IN_CAPSULE;

/// Entries of a submission queue.
pub(super) const QUEUE_ENTRIES: u16 = 128;
/// Bytes of one command's data: 2 to the power of 8 pages of 4 KiB.
pub(super) const MAX_TRANSFER: usize = 1 << 20;
const MDTS: u8 = 8;
/// I/O queues of a controller.
pub(super) const IO_QUEUES: u16 = 4;
/// Async events that a host may wait for, less one.
pub(super) const ASYNC_EVENTS: u8 = 3;
/// What keep-alive timeouts are counted in, in units of 100 ms.
pub(super) const KEEP_ALIVE_UNIT: u16 = 10;
/// Version 1.4.0.
pub(super) const VERSION: u32 = 0x0001_0400;
/// The only namespace.
pub(super) const NAMESPACE: u32 = 1;
/// Bytes of every Identify structure.
const LEN: usize = 4096;

struct Fields(Vec<u8>);

impl Fields {
    fn put(&mut self, at: usize, field: &[u8]) {
        if let Some(place) = self.0.get_mut(at..at + field.len()) {
            place.copy_from_slice(field);
        }
    }

    /// ASCII, padded with spaces.
    fn text(&mut self, at: usize, len: usize, text: &str) {
        let mut field = vec![b' '; len];
        field.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        self.put(at, &field);
    }
}

/// Identify Controller (figure 247; fabrics' fields: NVMe over Fabrics 1.1, figure 27).
pub(super) fn controller(namespace: &dyn Namespace, nqn: &str, id: u16) -> Vec<u8> {
    let mut f = Fields(vec![0; LEN]);
    f.text(4, 20, &namespace.serial());
    f.text(24, 40, namespace.model());
    f.text(64, 8, env!("CARGO_PKG_VERSION"));
    f.put(77, &[MDTS]);
    f.put(78, &id.to_le_bytes());
    f.put(80, &VERSION.to_le_bytes());
    // An I/O controller.
    f.put(111, &[1]);
    f.put(256, &u16::from(namespace.has_security()).to_le_bytes());
    f.put(258, &[3, ASYNC_EVENTS]);
    f.put(320, &KEEP_ALIVE_UNIT.to_le_bytes());
    // Entries of 64 and 16 bytes.
    f.put(512, &[0x66, 0x44]);
    f.put(514, &QUEUE_ENTRIES.to_le_bytes());
    f.put(516, &1u32.to_le_bytes());
    // Dataset Management.
    f.put(520, &(1u16 << 2).to_le_bytes());
    // There is a volatile cache: flush means something.
    f.put(525, &[1]);
    // SGLs, and their offsets in a capsule.
    f.put(536, &(1u32 | 1 << 20).to_le_bytes());
    f.put(768, nqn.as_bytes());
    f.put(1792, &(((64 + MAX_IN_CAPSULE) / 16) as u32).to_le_bytes());
    f.put(1796, &1u32.to_le_bytes());
    f.put(1803, &[1]);
    f.0
}

/// Identify Namespace (figure 245).
pub(super) fn namespace(namespace: &dyn Namespace, id: [u8; 16]) -> Vec<u8> {
    let mut f = Fields(vec![0; LEN]);
    for at in [0, 8, 16] {
        f.put(at, &namespace.blocks().to_le_bytes());
    }
    // Write protected.
    f.put(99, &[u8::from(namespace.is_read_only())]);
    f.put(104, &id);
    let log2 = namespace.block_bytes().trailing_zeros();
    f.put(128, &(log2 << 16).to_le_bytes());
    f.0
}

/// The list of active namespaces after that one.
pub(super) fn namespaces(after: u32) -> Vec<u8> {
    let mut f = Fields(vec![0; LEN]);
    if after < NAMESPACE {
        f.put(0, &NAMESPACE.to_le_bytes());
    }
    f.0
}

/// The namespace's identifiers: one NGUID (figure 249).
pub(super) fn descriptors(id: [u8; 16]) -> Vec<u8> {
    let mut f = Fields(vec![0; LEN]);
    f.put(0, &[2, 16, 0, 0]);
    f.put(4, &id);
    f.0
}

/// A number for the namespace, the same for the same serial number (FNV-1a, 64 bits, in halves with a
/// different start).
pub(super) fn id_of(serial: &str) -> [u8; 16] {
    let hash = |start: u64| {
        serial.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    };
    let mut id = [0; 16];
    let halves = [hash(0xcbf2_9ce4_8422_2325), hash(0x8422_2325_cbf2_9ce4)];
    id.iter_mut().zip(halves.into_iter().flat_map(u64::to_be_bytes)).for_each(|(to, from)| *to = from);
    id
}
