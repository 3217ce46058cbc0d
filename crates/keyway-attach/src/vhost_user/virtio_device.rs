//! The trait of a device behind vhost-user queues.

use keyway_store::AlignedBuf;
use std::sync::Arc;
use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;

/// A request in the guest's memory.
pub(super) type Chain = DescriptorChain<Arc<GuestMemoryMmap>>;

/// Bytes that go through the cipher at a time: no guest can make us allocate what it likes.
pub(super) const PIECE: usize = 256 << 10;

/// Queues for requests, at most: what QEMU asks for is one per processor of the guest.
pub(super) const MOST_QUEUES: usize = 16;

/// A buffer of [`PIECE`] bytes, made once per thread.
pub(super) fn buffer() -> AlignedBuf {
    AlignedBuf::zeroed(PIECE)
}

/// What the requests of a queue have to do with those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    Plain,
    /// They can be ended by the order of another one.
    Managed,
    /// They can order those to end.
    Manages,
}

/// A kind of device.
pub(super) trait VirtioDevice: Send + Sync {
    /// How many queues it has.
    fn queues(&self) -> usize;

    /// The features of its kind.
    fn features(&self) -> u64;

    /// Its configuration space.
    fn space(&self) -> Vec<u8>;

    /// Whether what comes by that queue is taken; else it stays there.
    fn takes(&self, _queue: usize) -> bool {
        true
    }

    /// A machine has come: to it, the device has just been switched on.
    fn connected(&self) {}

    /// The machine's driver knows these of the features that were offered, and no others.
    fn accepted(&self, _features: u64) {}

    /// What requests on that queue have to do with those on others.
    fn role(&self, _queue: usize) -> Role {
        Role::Plain
    }

    /// Whether this request, on a queue of [`Role::Manages`], orders all those on queues of [`Role::Managed`] to end:
    /// those that have begun are finished, the others are answered by [`VirtioDevice::end`], and then this one is served.
    fn ends_others(&self, _queue: usize, _memory: &GuestMemoryMmap, _chain: Chain) -> bool {
        false
    }

    /// Answers a request that has not begun and is ended; bytes written, as [`VirtioDevice::serve`].
    fn end(&self, queue: usize, memory: &GuestMemoryMmap, chain: Chain, buffer: &mut AlignedBuf) -> u32 {
        self.serve(queue, memory, chain, buffer)
    }

    /// Carries out the request that `chain` describes; how many bytes of the guest's memory were written.
    /// A chain that is no request gets no answer but its return (0).
    fn serve(&self, queue: usize, memory: &GuestMemoryMmap, chain: Chain, buffer: &mut AlignedBuf) -> u32;
}
