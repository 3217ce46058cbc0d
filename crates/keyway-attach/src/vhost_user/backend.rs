//! The device as the protocol's crate wants it: queues in, requests out to the threads.

use super::{config, request};
use keyway_engine::Device;
use keyway_store::AlignedBuf;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use vhost::vhost_user::VhostUserProtocolFeatures;
use vhost_user_backend::{VhostUserBackend, VringMutex, VringT};
use virtio_queue::{DescriptorChain, QueueT};
use vm_memory::{GuestAddressSpace, GuestMemoryAtomic, GuestMemoryMmap};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::event::{EventConsumer, EventFlag, EventNotifier, new_event_consumer_and_notifier};

/// Entries of a queue, at most.
pub(super) const QUEUE_SIZE: usize = 256;
/// Queues: what QEMU asks for is one per processor of the guest.
const MOST_QUEUES: usize = 16;
/// Helpers of a slow medium, for all queues together.
const HELPERS: usize = 15;
/// A request that takes longer, in nanoseconds, waited for a medium: memory takes a tenth.
const SLOW: u64 = 30_000;

type Memory = GuestMemoryAtomic<GuestMemoryMmap>;

/// A request that was taken from a queue.
struct Job {
    vring: VringMutex,
    memory: Arc<GuestMemoryMmap>,
    chain: DescriptorChain<Arc<GuestMemoryMmap>>,
}

/// What the threads of one connection share.
struct Shared {
    device: Arc<Device>,
    memory: Memory,
    queues: usize,
    event_index: AtomicBool,
    /// How long requests take, in nanoseconds, the last ones counting most.
    pace: AtomicU64,
    /// Requests that helpers have.
    away: Mutex<usize>,
    back: Condvar,
}

/// One connection's device.
#[derive(Clone)]
pub(super) struct Backend {
    shared: Arc<Shared>,
    jobs: SyncSender<Job>,
    buffers: Arc<[Mutex<AlignedBuf>]>,
}

/// The helpers; they end when the last [`Backend`] of theirs is gone.
pub(super) struct Helpers(Vec<JoinHandle<()>>);

impl Helpers {
    pub(super) fn join(self) {
        for helper in self.0 {
            // One that panicked has said so on standard error.
            let _ = helper.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend {
    /// A device whose guest's memory will be `memory`.
    pub(super) fn new(device: Arc<Device>, memory: Memory) -> io::Result<(Self, Helpers)> {
        let queues = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_QUEUES);
        let shared = Arc::new(Shared {
            device,
            memory,
            queues,
            event_index: AtomicBool::new(false),
            pace: AtomicU64::new(0),
            away: Mutex::new(0),
            back: Condvar::new(),
        });
        let (jobs, waiting) = sync_channel(HELPERS);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut helpers = Vec::with_capacity(HELPERS);
        for _ in 0..HELPERS {
            let (shared, waiting) = (Arc::clone(&shared), Arc::clone(&waiting));
            let builder = std::thread::Builder::new().name("keyway-vhost".into());
            helpers.push(builder.spawn(move || shared.help(&waiting))?);
        }
        let buffers = (0..queues).map(|_| Mutex::new(request::buffer())).collect();
        Ok((Self { shared, jobs, buffers }, Helpers(helpers)))
    }

    /// Takes and carries out what is in the queue.
    fn drain(&self, vring: &VringMutex, buffer: &mut AlignedBuf) -> io::Result<()> {
        let shared = &self.shared;
        loop {
            let memory = shared.memory.memory().into_inner();
            let taken = vring.get_mut().get_queue_mut().pop_descriptor_chain(Arc::clone(&memory));
            let Some(chain) = taken else { return Ok(()) };
            let job = Job { vring: vring.clone(), memory, chain };
            let Some(job) = self.hand_over(job) else { continue };
            shared.carry_out(job, buffer)?;
        }
    }

    /// Gives a request to a helper where the medium is slow; back when it is not, or all are busy.
    fn hand_over(&self, job: Job) -> Option<Job> {
        if self.shared.pace.load(Ordering::Relaxed) < SLOW {
            return Some(job);
        }
        *lock(&self.shared.away) += 1;
        match self.jobs.try_send(job) {
            Ok(()) => None,
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => {
                self.shared.came_back();
                Some(job)
            }
        }
    }
}

impl Shared {
    fn carry_out(&self, job: Job, buffer: &mut AlignedBuf) -> io::Result<()> {
        let began = Instant::now();
        let head = job.chain.head_index();
        let written = request::serve(&self.device, &job.memory, job.chain, buffer);
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Lost updates among threads do not matter.
        let pace = self.pace.load(Ordering::Relaxed);
        self.pace.store(pace - pace / 16 + took.min(SLOW * 64) / 16, Ordering::Relaxed);
        job.vring.add_used(head, written).map_err(io::Error::other)?;
        if job.vring.needs_notification().map_err(io::Error::other)? {
            job.vring.signal_used_queue()?;
        }
        Ok(())
    }

    fn help(&self, waiting: &Mutex<Receiver<Job>>) {
        let mut buffer = request::buffer();
        loop {
            // One waits on the channel, the others on the lock.
            let job = lock(waiting).recv();
            let Ok(job) = job else { return };
            // A queue that can't be answered is the guest's own doing, and it waits in vain.
            let _ = self.carry_out(job, &mut buffer);
            self.came_back();
        }
    }

    fn came_back(&self) {
        let mut away = lock(&self.away);
        *away = away.saturating_sub(1);
        if *away == 0 {
            self.back.notify_all();
        }
    }
}

impl VhostUserBackend for Backend {
    type Bitmap = ();
    type Vring = VringMutex;

    fn num_queues(&self) -> usize {
        self.shared.queues
    }

    fn max_queue_size(&self) -> usize {
        QUEUE_SIZE
    }

    fn features(&self) -> u64 {
        config::features(&self.shared.device)
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        VhostUserProtocolFeatures::CONFIG
            | VhostUserProtocolFeatures::MQ
            | VhostUserProtocolFeatures::REPLY_ACK
            | VhostUserProtocolFeatures::CONFIGURE_MEM_SLOTS
    }

    fn set_event_idx(&self, enabled: bool) {
        self.shared.event_index.store(enabled, Ordering::Relaxed);
    }

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        let space = config::space(&self.shared.device, self.shared.queues as u16);
        let wanted = offset as usize..(offset as usize).saturating_add(size as usize);
        // A monitor of another version asks for more than there is: that reads as zeros.
        wanted.take(4096).map(|at| space.get(at).copied().unwrap_or(0)).collect()
    }

    fn update_memory(&self, _memory: Memory) -> io::Result<()> {
        // `Shared::memory` is the same value and has it already.
        Ok(())
    }

    fn queues_per_thread(&self) -> Vec<u64> {
        (0..self.shared.queues).map(|queue| 1 << queue).collect()
    }

    fn exit_event(&self, _thread: usize) -> Option<(EventConsumer, EventNotifier)> {
        new_event_consumer_and_notifier(EventFlag::CLOEXEC | EventFlag::NONBLOCK).ok()
    }

    fn stop_vring(&self, _queue: u32) -> io::Result<()> {
        let mut away = lock(&self.shared.away);
        while *away > 0 {
            away = self.shared.back.wait(away).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn handle_event(
        &self,
        event: u16,
        set: EventSet,
        vrings: &[VringMutex],
        thread: usize,
    ) -> io::Result<()> {
        if set != EventSet::IN {
            return Err(io::Error::other("a queue's event was closed"));
        }
        let vring = vrings.get(usize::from(event)).ok_or(io::ErrorKind::InvalidInput)?;
        let mut buffer = lock(self.buffers.get(thread).ok_or(io::ErrorKind::InvalidInput)?);
        if !self.shared.event_index.load(Ordering::Relaxed) {
            return self.drain(vring, &mut buffer);
        }
        loop {
            vring.disable_notification().map_err(io::Error::other)?;
            self.drain(vring, &mut buffer)?;
            if !vring.enable_notification().map_err(io::Error::other)? {
                return Ok(());
            }
        }
    }
}
