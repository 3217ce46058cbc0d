//! Virtio features and the configuration space of the disk.
//!
//! Numbers: VIRTIO 1.2, sections 5.2.3 and 5.2.4 (`virtio_blk.h`).

use keyway_engine::Device;

/// Sectors are counted in these bytes, whatever the disk's own are.
pub(super) const SECTOR: u64 = 512;

/// Segments in one request: what a queue of [`super::backend::QUEUE_SIZE`] can describe, without
/// header and status.
const SEGMENTS: u32 = 254;

const SEG_MAX: u64 = 1 << 2;
const READ_ONLY: u64 = 1 << 5;
const BLOCK_SIZE: u64 = 1 << 6;
pub(super) const FLUSH: u64 = 1 << 9;
const TOPOLOGY: u64 = 1 << 10;
const MANY_QUEUES: u64 = 1 << 12;
const DISCARD: u64 = 1 << 13;
const WRITE_ZEROES: u64 = 1 << 14;

/// The largest discard or zeroing in one request, in sectors: 1 GiB.
const LARGEST_ZEROES: u32 = 1 << 21;

/// What the device offers, besides what its queues can do.
pub(super) fn features(device: &Device) -> u64 {
    let mut offered = SEG_MAX | BLOCK_SIZE | FLUSH | TOPOLOGY | MANY_QUEUES;
    if device.is_read_only() {
        return offered | READ_ONLY;
    }
    offered |= WRITE_ZEROES;
    if device.passes_discards() {
        offered |= DISCARD;
    }
    offered
}

/// `struct virtio_blk_config`, little-endian.
///
/// ```text
/// offset size
///      0    8  capacity in 512-byte sectors
///     12    4  most segments of a request
///     20    4  bytes of a block
///     34    2  queues
///     36   12  discards: most sectors, most ranges (1), alignment in sectors
///     48    9  zeroes: most sectors, most ranges (1), 0: they do not free the place
/// ```
pub(super) fn space(device: &Device, queues: u16) -> [u8; 60] {
    let mut space = [0; 60];
    let mut put = |at: usize, bytes: &[u8]| {
        for (slot, byte) in space.iter_mut().skip(at).zip(bytes) {
            *slot = *byte;
        }
    };
    let block = device.sector_bytes();
    put(0, &(device.size() / SECTOR).to_le_bytes());
    put(12, &SEGMENTS.to_le_bytes());
    put(20, &block.to_le_bytes());
    put(34, &queues.to_le_bytes());
    if !device.is_read_only() {
        put(48, &LARGEST_ZEROES.to_le_bytes());
        put(52, &1u32.to_le_bytes());
        if device.passes_discards() {
            put(36, &LARGEST_ZEROES.to_le_bytes());
            put(40, &1u32.to_le_bytes());
            put(44, &(block / SECTOR as u32).to_le_bytes());
        }
    }
    space
}
