//! A volume as a virtio block device.

use super::front::{Front, MOST_QUEUES};
use super::{config, request};
use keyway_engine::Device;
use keyway_store::AlignedBuf;
use std::sync::Arc;
use virtio_queue::DescriptorChain;
use vm_memory::GuestMemoryMmap;

/// The block device of a volume.
pub(super) struct Block {
    device: Arc<Device>,
    queues: usize,
}

impl Block {
    pub(super) fn new(device: Arc<Device>) -> Self {
        let queues = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_QUEUES);
        Self { device, queues }
    }
}

impl Front for Block {
    fn queues(&self) -> usize {
        self.queues
    }

    fn features(&self) -> u64 {
        config::features(&self.device)
    }

    fn space(&self) -> Vec<u8> {
        config::space(&self.device, self.queues as u16).to_vec()
    }

    fn serve(
        &self,
        _: usize,
        memory: &GuestMemoryMmap,
        chain: DescriptorChain<Arc<GuestMemoryMmap>>,
        buffer: &mut AlignedBuf,
    ) -> u32 {
        request::serve(&self.device, memory, chain, buffer)
    }
}
