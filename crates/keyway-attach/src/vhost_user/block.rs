//! A volume as a virtio block device.

use super::virtio_device::{Chain, MOST_QUEUES, VirtioDevice};
use super::{config, request};
use crate::cpus::cpus;
use keyway_engine::Device;
use keyway_store::AlignedBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use vm_memory::GuestMemoryMmap;

/// The block device of a volume.
pub(super) struct Block {
    device: Arc<Device>,
    queues: usize,
    /// The driver has said that it flushes. What one writes that does not, as a machine's firmware, must be on the
    /// medium when it is answered (VIRTIO 1.2, section 5.2.6.2).
    flushes: AtomicBool,
}

impl Block {
    pub(super) fn new(device: Arc<Device>) -> Self {
        let queues = cpus().clamp(1, MOST_QUEUES);
        Self { device, queues, flushes: AtomicBool::new(false) }
    }
}

impl VirtioDevice for Block {
    fn queues(&self) -> usize {
        self.queues
    }

    fn features(&self) -> u64 {
        config::features(&self.device)
    }

    fn space(&self) -> Vec<u8> {
        config::space(&self.device, self.queues as u16).to_vec()
    }

    fn connected(&self) {
        self.flushes.store(false, Ordering::Release);
    }

    fn accepted(&self, features: u64) {
        self.flushes.store(features & config::FLUSH != 0, Ordering::Release);
    }

    fn serve(&self, _: usize, memory: &GuestMemoryMmap, chain: Chain, buffer: &mut AlignedBuf) -> u32 {
        let through = !self.flushes.load(Ordering::Acquire);
        request::serve(&self.device, through, memory, chain, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vhost_user::backend::Backend;
    use crate::vhost_user::virtio_device::buffer;
    use keyway_engine::{Access, Layout, Mapping, Segment};
    use keyway_store::{FaultPlan, FaultStore, MemStore};
    use vhost_user_backend::VhostUserBackend;
    use virtio_queue::desc::{RawDescriptor, split::Descriptor};
    use virtio_queue::mock::MockSplitQueue;
    use virtio_queue::{Queue, QueueOwnedT};
    use vm_memory::{Bytes, GuestAddress, GuestMemoryAtomic};

    const SIZE: usize = 64 << 10;

    /// Has a guest send a request of that kind with `data`; its status.
    fn ask(virtio: &dyn VirtioDevice, kind: u32, sector: u64, data: &[u8]) -> u8 {
        let memory = Arc::new(GuestMemoryMmap::from_ranges(&[(GuestAddress(0), 1 << 20)]).expect("memory"));
        let head = [&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes()].concat();
        let (at_head, at_data, at_status) = (1 << 16, 1 << 17, 1 << 18);
        memory.write_slice(&head, GuestAddress(at_head)).expect("inside");
        memory.write_slice(data, GuestAddress(at_data)).expect("inside");
        memory.write_obj(0xffu8, GuestAddress(at_status)).expect("inside");
        // 1: there is another one; 2: the device writes there.
        let mut chain: Vec<RawDescriptor> = vec![Descriptor::new(at_head, 16, 1, 1).into()];
        if !data.is_empty() {
            chain.push(Descriptor::new(at_data, data.len() as u32, 1, 2).into());
        }
        chain.push(Descriptor::new(at_status, 1, 2, 0).into());
        let mock = MockSplitQueue::create(&*memory, GuestAddress(0), 16);
        mock.build_desc_chain(&chain).expect("a chain");
        let mut queue: Queue = mock.create_queue().expect("a queue");
        let chain = queue.iter(Arc::clone(&memory)).expect("ready").next().expect("one request");
        virtio.serve(0, &memory, chain, &mut buffer());
        memory.read_obj(GuestAddress(at_status)).expect("inside")
    }

    /// VIRTIO 1.2, section 5.2.6.2: what a guest has written that never said it would flush is stable when it is
    /// answered.
    #[test]
    fn who_can_not_flush_has_it_on_the_medium_at_once() {
        const VERSION_1: u64 = 1 << 32;
        const VIRTIO_BLK_F_FLUSH: u64 = 1 << 9;
        let medium = Arc::new(MemStore::new(SIZE));
        let store = FaultStore::new(Arc::clone(&medium), FaultPlan::default());
        let segment = Segment { start: 0, len: SIZE as u64, mapping: Mapping::Plain { store_offset: 0 } };
        let layout = Layout::new(512, vec![segment]).expect("whole");
        let device = Device::new(Box::new(store), layout, Access::ReadWrite).expect("a device");
        let virtio: Arc<dyn VirtioDevice> = Arc::new(Block::new(Arc::new(device)));
        let on_medium = |sector: usize| medium.snapshot()[sector * 512];

        let memory = GuestMemoryAtomic::new(GuestMemoryMmap::new());
        let (backend, helpers) = Backend::new(Arc::clone(&virtio), memory.clone()).expect("threads");
        assert_eq!(ask(&*virtio, 1, 1, &[1; 512]), 0);
        assert_eq!(on_medium(1), 1, "it has not said yet that it can");
        backend.acked_features(VERSION_1);
        assert_eq!(ask(&*virtio, 1, 2, &[2; 512]), 0);
        assert_eq!(on_medium(2), 2, "firmware can't");
        let zeroes = [&2u64.to_le_bytes()[..], &1u32.to_le_bytes(), &[0; 4]].concat();
        assert_eq!(ask(&*virtio, 13, 0, &zeroes), 0);
        assert_eq!(on_medium(2), 0, "nor has it another way for zeros");

        backend.acked_features(VERSION_1 | VIRTIO_BLK_F_FLUSH);
        assert_eq!(ask(&*virtio, 1, 3, &[3; 512]), 0);
        assert_eq!(on_medium(3), 0, "the system that it started can");
        assert_eq!(ask(&*virtio, 4, 0, &[]), 0);
        assert_eq!(on_medium(3), 3);
        drop(backend);
        helpers.join();

        let (backend, helpers) = Backend::new(Arc::clone(&virtio), memory).expect("threads");
        assert_eq!(ask(&*virtio, 1, 4, &[4; 512]), 0);
        assert_eq!(on_medium(4), 4, "another machine has come");
        drop(backend);
        helpers.join();
    }
}
