//! The device as the protocol's crate wants it: queues in, requests out to the threads.

use super::in_flight::{InFlight, Taken};
use super::virtio_device::{Chain, Role, VirtioDevice, buffer};
use crate::on_panic::AbortOnPanic;
use keyway_store::AlignedBuf;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use vhost::vhost_user::VhostUserProtocolFeatures;
use vhost_user_backend::{VhostUserBackend, VringMutex, VringT};
use virtio_queue::QueueT;
use vm_memory::{GuestAddressSpace, GuestMemoryAtomic, GuestMemoryMmap};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::event::{EventConsumer, EventFlag, EventNotifier, new_event_consumer_and_notifier};

/// Entries of a queue, at most.
pub(super) const QUEUE_SIZE: usize = 256;
/// Helpers of a slow medium, for all queues together.
const HELPERS: usize = 15;
/// A request that takes longer, in nanoseconds, waited for a medium: memory takes a tenth.
const SLOW: u64 = 30_000;

// The queue's and the transport's features (VIRTIO 1.2, sections 2.7 and 6).
const INDIRECT: u64 = 1 << 28;
const EVENT_INDEX: u64 = 1 << 29;
const PROTOCOL_FEATURES: u64 = 1 << 30;
const VERSION_1: u64 = 1 << 32;

type Memory = GuestMemoryAtomic<GuestMemoryMmap>;

/// A request that was taken from a queue.
struct Job {
    /// When it was taken, if it can be ended.
    taken: Option<Taken>,
    queue: usize,
    vring: VringMutex,
    memory: Arc<GuestMemoryMmap>,
    chain: Chain,
}

/// What the threads of one connection share.
struct Shared {
    virtio: Arc<dyn VirtioDevice>,
    memory: Memory,
    event_index: AtomicBool,
    /// No more requests are taken: a guest that always has one more must not hold up the end.
    ending: AtomicBool,
    /// How long requests take, in nanoseconds, the last ones counting most.
    pace: AtomicU64,
    /// Requests that helpers have.
    away: Mutex<usize>,
    back: Condvar,
    /// Requests that can be ended.
    in_flight: InFlight,
    /// Queues that such requests have come by.
    seen: Box<[OnceLock<VringMutex>]>,
}

/// One connection's device.
#[derive(Clone)]
pub(super) struct Backend {
    shared: Arc<Shared>,
    jobs: SyncSender<Job>,
    buffers: Arc<[Mutex<AlignedBuf>]>,
}

/// The helpers; they end when the last [`Backend`] of theirs is gone.
pub(super) struct Helpers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Helpers {
    /// No more requests are taken from now on; those that were are carried out.
    pub(super) fn end(&self) {
        self.shared.ending.store(true, Ordering::Release);
    }

    pub(super) fn join(self) {
        for helper in self.threads {
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
    pub(super) fn new(virtio: Arc<dyn VirtioDevice>, memory: Memory) -> io::Result<(Self, Helpers)> {
        virtio.connected();
        let queues = virtio.queues();
        let shared = Arc::new(Shared {
            virtio,
            memory,
            event_index: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            pace: AtomicU64::new(0),
            away: Mutex::new(0),
            back: Condvar::new(),
            in_flight: InFlight::default(),
            seen: (0..queues).map(|_| OnceLock::new()).collect(),
        });
        let (jobs, waiting) = sync_channel(HELPERS);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::with_capacity(HELPERS);
        for _ in 0..HELPERS {
            let (shared, waiting) = (Arc::clone(&shared), Arc::clone(&waiting));
            let builder = std::thread::Builder::new().name("keyway-vhost".into());
            threads.push(builder.spawn(move || shared.help(&waiting))?);
        }
        let buffers = (0..queues).map(|_| Mutex::new(buffer())).collect();
        let helpers = Helpers { shared: Arc::clone(&shared), threads };
        Ok((Self { shared, jobs, buffers }, helpers))
    }

    /// Takes and carries out what is in the queue; whether there was anything.
    fn drain(&self, queue: usize, vring: &VringMutex, buffer: &mut AlignedBuf) -> io::Result<bool> {
        let shared = &self.shared;
        let role = shared.virtio.role(queue);
        let mut any = false;
        loop {
            if shared.ending.load(Ordering::Acquire) {
                return Ok(false);
            }
            let memory = shared.memory.memory().into_inner();
            let pop = || vring.get_mut().get_queue_mut().pop_descriptor_chain(Arc::clone(&memory));
            let taken = if role == Role::Managed {
                shared.in_flight.take(pop).map(|(chain, taken)| (chain, Some(taken)))
            } else {
                pop().map(|chain| (chain, None))
            };
            let Some((chain, taken)) = taken else { return Ok(any) };
            any = true;
            let job = Job { taken, queue, vring: vring.clone(), memory, chain };
            let Some(job) = self.hand_over(job) else { continue };
            shared.carry_out(job, buffer)?;
        }
    }

    /// Gives a request to a helper where the medium is slow; back when it is not, or all are busy.
    fn hand_over(&self, job: Job) -> Option<Job> {
        // One that ends others waits for them: it must not keep a helper from them.
        let waits = self.shared.virtio.role(job.queue) == Role::Manages;
        if waits || self.shared.pace.load(Ordering::Relaxed) < SLOW {
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
        let taken = job.taken;
        let answered = self.answer(job, buffer);
        if let Some(taken) = taken {
            self.in_flight.finish(taken);
        }
        answered
    }

    fn answer(&self, job: Job, buffer: &mut AlignedBuf) -> io::Result<()> {
        let began = Instant::now();
        let head = job.chain.head_index();
        if self.virtio.role(job.queue) == Role::Manages
            && self.virtio.ends_others(job.queue, &job.memory, job.chain.clone())
        {
            self.end_others(buffer)?;
        }
        let written = if job.taken.is_some_and(|taken| self.in_flight.is_ended(taken)) {
            self.virtio.end(job.queue, &job.memory, job.chain, buffer)
        } else {
            self.virtio.serve(job.queue, &job.memory, job.chain, buffer)
        };
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Lost updates among threads do not matter.
        let pace = self.pace.load(Ordering::Relaxed);
        self.pace.store(pace - pace / 16 + took.min(SLOW * 64) / 16, Ordering::Relaxed);
        Self::used(&job.vring, head, written)
    }

    /// Ends all requests that can be and that the guest has made by now: when this returns, each is answered, and
    /// nothing of it touches the medium or the guest's memory any more.
    fn end_others(&self, buffer: &mut AlignedBuf) -> io::Result<()> {
        let memory = self.memory.memory().into_inner();
        let waiting = self.in_flight.order_to_end(|| {
            let seen = self.seen.iter().enumerate().filter_map(|(queue, vring)| Some((queue, vring.get()?)));
            let chains = seen.flat_map(|(queue, vring)| {
                let pop = || vring.get_mut().get_queue_mut().pop_descriptor_chain(Arc::clone(&memory));
                // A guest that always has one more does not keep us here.
                std::iter::from_fn(pop).take(QUEUE_SIZE).map(move |chain| (queue, vring, chain))
            });
            chains.collect::<Vec<_>>()
        });
        for (queue, vring, chain) in waiting {
            let head = chain.head_index();
            let written = self.virtio.end(queue, &memory, chain, buffer);
            Self::used(vring, head, written)?;
        }
        self.in_flight.wait();
        Ok(())
    }

    fn used(vring: &VringMutex, head: u16, written: u32) -> io::Result<()> {
        vring.add_used(head, written).map_err(io::Error::other)?;
        if vring.needs_notification().map_err(io::Error::other)? {
            vring.signal_used_queue()?;
        }
        Ok(())
    }

    fn help(&self, waiting: &Mutex<Receiver<Job>>) {
        let _alone = AbortOnPanic;
        let mut buffer = buffer();
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
        self.shared.virtio.queues()
    }

    fn max_queue_size(&self) -> usize {
        QUEUE_SIZE
    }

    fn features(&self) -> u64 {
        self.shared.virtio.features() | INDIRECT | EVENT_INDEX | PROTOCOL_FEATURES | VERSION_1
    }

    fn acked_features(&self, features: u64) {
        self.shared.virtio.accepted(features);
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
        let space = self.shared.virtio.space();
        let wanted = offset as usize..(offset as usize).saturating_add(size as usize);
        // A monitor of another version asks for more than there is: that reads as zeros.
        wanted.take(4096).map(|at| space.get(at).copied().unwrap_or(0)).collect()
    }

    fn update_memory(&self, _memory: Memory) -> io::Result<()> {
        // `Shared::memory` is the same value and has it already.
        Ok(())
    }

    fn queues_per_thread(&self) -> Vec<u64> {
        (0..self.num_queues()).map(|queue| 1 << queue).collect()
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
        // There is a queue to a thread.
        if !self.shared.virtio.takes(thread) {
            return Ok(());
        }
        let vring = vrings.get(usize::from(event)).ok_or(io::ErrorKind::InvalidInput)?;
        if self.shared.virtio.role(thread) == Role::Managed
            && let Some(seen) = self.shared.seen.get(thread)
        {
            seen.get_or_init(|| vring.clone());
        }
        let mut buffer = lock(self.buffers.get(thread).ok_or(io::ErrorKind::InvalidInput)?);
        if !self.shared.event_index.load(Ordering::Relaxed) {
            return self.drain(thread, vring, &mut buffer).map(drop);
        }
        let mut told_of_more = false;
        loop {
            vring.disable_notification().map_err(io::Error::other)?;
            let any = self.drain(thread, vring, &mut buffer)?;
            let more = vring.enable_notification().map_err(io::Error::other)?;
            // A guest may say that there is more and have nothing that can be taken, for ever.
            if !more || (told_of_more && !any) || self.shared.ending.load(Ordering::Acquire) {
                return Ok(());
            }
            told_of_more = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vhost_user::block::Block;
    use keyway_engine::{Access, Device, Layout, Mapping, Segment};
    use keyway_store::MemStore;
    use keyway_testkit::{PATIENCE, wait_until};
    use std::sync::mpsc::{Sender, channel};
    use virtio_queue::desc::{RawDescriptor, split::Descriptor};
    use virtio_queue::mock::MockSplitQueue;
    use vm_memory::{Address, Bytes, GuestAddress};

    /// Queues of 16 entries at the start of a guest's memory.
    const ENTRIES: u16 = 16;

    fn device() -> Arc<dyn VirtioDevice> {
        let mapping = Mapping::Plain { store_offset: 0 };
        let layout = Layout::new(512, vec![Segment { start: 0, len: 4096, mapping }]).expect("whole");
        let store = Box::new(MemStore::from_vec(vec![0; 4096]));
        let device = Device::new(store, layout, Access::ReadWrite).expect("a device");
        Arc::new(Block::new(Arc::new(device)))
    }

    /// Its requests wait for being let go; what becomes of each is noted.
    struct Slow {
        begun: Sender<()>,
        go: Mutex<Receiver<()>>,
        done: Mutex<Vec<&'static str>>,
    }

    impl VirtioDevice for Slow {
        fn queues(&self) -> usize {
            2
        }

        fn features(&self) -> u64 {
            0
        }

        fn space(&self) -> Vec<u8> {
            Vec::new()
        }

        fn role(&self, queue: usize) -> Role {
            if queue == 0 { Role::Manages } else { Role::Managed }
        }

        fn ends_others(&self, _: usize, _: &GuestMemoryMmap, _: Chain) -> bool {
            true
        }

        fn serve(&self, queue: usize, _: &GuestMemoryMmap, _: Chain, _: &mut AlignedBuf) -> u32 {
            if queue == 1 {
                self.begun.send(()).expect("somebody counts");
                lock(&self.go).recv().expect("let go");
            }
            lock(&self.done).push(if queue == 1 { "served" } else { "order" });
            0
        }

        fn end(&self, _: usize, _: &GuestMemoryMmap, _: Chain, _: &mut AlignedBuf) -> u32 {
            lock(&self.done).push("ended");
            0
        }
    }

    /// A queue with so many requests of one descriptor in it.
    fn filled(memory: &GuestMemoryMmap, at: u64, requests: u16) -> VringMutex {
        let mock = MockSplitQueue::create(memory, GuestAddress(at), 64);
        let request = |n| RawDescriptor::from(Descriptor::new(1 << 19, 1, 0, n));
        mock.build_multiple_desc_chains(&(0..requests).map(request).collect::<Vec<_>>()).expect("chains");
        let places = (mock.desc_table_addr(), mock.avail_addr(), mock.used_addr());
        let vring = VringMutex::new(GuestMemoryAtomic::new(memory.clone()), 64).expect("a queue");
        vring.set_queue_size(64);
        vring
            .set_queue_info(places.0.raw_value(), places.1.raw_value(), places.2.raw_value())
            .expect("inside");
        vring.set_queue_ready(true);
        vring
    }

    /// What has begun is finished, what has not is ended, wherever it waits; and the order is answered after all of them.
    #[test]
    fn an_order_to_end_requests_is_carried_out_when_all_are_answered() {
        // As many as begin at once: on the queue's own thread, and with helpers.
        for (pace, at_once) in [(0, 1), (SLOW * 64, 1 + HELPERS)] {
            let memory: GuestMemoryMmap =
                GuestMemoryMmap::from_ranges(&[(GuestAddress(0), 1 << 20)]).expect("memory");
            let requests = filled(&memory, 1 << 16, 32);
            let order = filled(&memory, 0, 1);
            let ((begun, counted), (let_go, go)) = (channel(), channel());
            let virtio = Arc::new(Slow { begun, go: Mutex::new(go), done: Mutex::default() });
            let atomic = GuestMemoryAtomic::new(memory.clone());
            let (backend, helpers) = Backend::new(virtio.clone(), atomic).expect("threads");
            backend.shared.pace.store(pace, Ordering::Relaxed);
            let handle = |queue: usize, vring: &VringMutex| {
                let (backend, vring) = (backend.clone(), vring.clone());
                std::thread::spawn(move || backend.handle_event(0, EventSet::IN, &[vring], queue).is_ok())
            };
            let serving = handle(1, &requests);
            for _ in 0..at_once {
                counted.recv_timeout(PATIENCE).expect("it begins");
            }
            let ordering = handle(0, &order);
            wait_until("the order is given", || backend.shared.in_flight.orders() == 1);
            assert!(!ordering.is_finished(), "what has begun is waited for");
            for _ in 0..32 {
                let_go.send(()).expect("they wait");
            }
            assert!(ordering.join().expect("no panic") && serving.join().expect("no panic"));
            let done = std::mem::take(&mut *lock(&virtio.done));
            let count = |what| done.iter().filter(|d| **d == what).count();
            assert_eq!((count("served"), count("ended")), (at_once, 32 - at_once), "{done:?}");
            assert_eq!(done.last(), Some(&"order"));
            assert_eq!(requests.get_ref().get_queue().next_used(), 32, "each is answered");
            helpers.end();
            drop(backend);
            helpers.join();
        }
    }

    /// A guest that says "there is more" and describes nothing neither keeps a queue's thread, nor the end.
    #[test]
    fn an_index_that_makes_no_sense_holds_nobody_up() {
        for (event_index, available) in [(true, ENTRIES + 1), (true, u16::MAX), (false, u16::MAX)] {
            let ranges = [(GuestAddress(0), 1 << 20)];
            let memory: GuestMemoryMmap = GuestMemoryMmap::from_ranges(&ranges).expect("memory");
            let mock = MockSplitQueue::create(&memory, GuestAddress(0), ENTRIES);
            memory.write_obj(available, mock.avail_addr().unchecked_add(2)).expect("inside");
            let places = (mock.desc_table_addr(), mock.avail_addr(), mock.used_addr());
            let places = (places.0.raw_value(), places.1.raw_value(), places.2.raw_value());
            let memory = GuestMemoryAtomic::new(memory);
            let vring = VringMutex::new(memory.clone(), ENTRIES).expect("a queue");
            vring.set_queue_size(ENTRIES);
            vring.set_queue_info(places.0, places.1, places.2).expect("inside");
            vring.set_queue_event_idx(event_index);
            vring.set_queue_ready(true);
            let (backend, helpers) = Backend::new(device(), memory).expect("threads");
            backend.set_event_idx(event_index);
            let (done, waiting) = channel();
            std::thread::spawn(move || {
                let handled = backend.handle_event(0, EventSet::IN, &[vring], 0);
                done.send(handled.is_ok()).expect("somebody waits");
            });
            let handled = waiting.recv_timeout(PATIENCE).expect("it comes to an end");
            assert!(handled, "{event_index} {available}");
            helpers.end();
            helpers.join();
        }
    }
}
