//! Admits clients: places for those that are served, and a waiting room for the others.
//!
//! Whoever has only connected takes no place. The waiting room always takes one more: of those from where most
//! come, the one who has been in it longest leaves for that, and nobody who has shown a certificate while there are
//! others. A served client may be silent as long as it likes, unless another one needs its place.

use super::wire::{Socket, Wire};
use crate::pace::{Waiting, first_to_leave};
use crate::peer::Origin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clients that are served at a time; those that parallelise use four to sixteen connections each.
const PLACES: usize = 32;
/// Further ones for whoever serves, and root.
const OWN_PLACES: usize = 32;
/// Clients that have not been let in yet.
const WAITING: usize = 32;

const NEGOTIATING: u8 = 0;
const SERVED: u8 = 1;
const GONE: u8 = 2;

/// A connection.
pub(crate) struct Client {
    pub(crate) socket: Socket,
    origin: Origin,
    /// Whether it has shown a certificate.
    proved: AtomicBool,
    since: Instant,
    state: AtomicU8,
    /// Requests under way.
    busy: AtomicUsize,
    /// When the last one was over, in milliseconds `since` it connected.
    last: AtomicU64,
}

/// A request is under way for as long as this is kept.
pub(crate) struct Busy<'a>(&'a Client);

impl Client {
    pub(crate) fn new(socket: Socket, origin: Origin) -> Arc<Self> {
        Arc::new(Self {
            socket,
            origin,
            proved: AtomicBool::new(false),
            since: Instant::now(),
            state: AtomicU8::new(NEGOTIATING),
            busy: AtomicUsize::new(0),
            last: AtomicU64::new(0),
        })
    }

    /// Whether it is known to be the serving user's, or root's.
    pub(crate) fn is_own(&self) -> bool {
        self.origin == Origin::Own
    }

    /// It has shown a certificate.
    pub(crate) fn prove(&self) {
        self.proved.store(true, Ordering::Release);
    }

    pub(crate) fn busy(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        Busy(self)
    }

    /// How long it has asked for nothing.
    fn idle(&self) -> Option<Duration> {
        let last = Duration::from_millis(self.last.load(Ordering::Acquire));
        (self.busy.load(Ordering::Acquire) == 0).then(|| self.since.elapsed().saturating_sub(last))
    }

    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::Acquire) == state
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.is(GONE)
    }

    pub(crate) fn leave(&self) {
        self.socket.hang_up();
        self.state.store(GONE, Ordering::Release);
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.store(now, Ordering::Release);
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// All clients there are.
#[derive(Default)]
pub(crate) struct Admission(Mutex<Vec<Arc<Client>>>);

impl Admission {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Client>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one more into the waiting room.
    pub(crate) fn admit(&self, client: &Arc<Client>) {
        let mut all = self.lock();
        all.retain(|client| !client.is_gone());
        // They are in the order in which they came.
        let waiting: Vec<_> = all.iter().filter(|client| client.is(NEGOTIATING)).collect();
        if waiting.len() >= WAITING {
            let seen = |client: &Arc<Client>| {
                let proved = client.proved.load(Ordering::Acquire);
                Waiting { origin: client.origin, proved }
            };
            let seen: Vec<_> = waiting.iter().copied().map(seen).collect();
            if let Some(first) = first_to_leave(&seen).and_then(|at| waiting.get(at)) {
                first.leave();
            }
        }
        all.push(Arc::clone(client));
    }

    /// Gives a client its place; where there is none, another one's that has been silent for so long. Says whether
    /// there is one.
    pub(crate) fn seat(&self, client: &Client, idle: Duration) -> bool {
        let all = self.lock();
        let served = || all.iter().filter(|client| client.is(SERVED));
        let places = if client.is_own() { PLACES + OWN_PLACES } else { PLACES };
        if served().count() >= places {
            let silent = served().filter_map(|client| {
                let silent = client.idle().filter(|silent| *silent >= idle)?;
                Some((!client.is_own(), silent, client))
            });
            let Some((_, _, longest)) = silent.max_by_key(|(stranger, silent, _)| (*stranger, *silent))
            else {
                return false;
            };
            longest.leave();
        }
        // One that was seen off meanwhile stays so.
        client.state.compare_exchange(NEGOTIATING, SERVED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Hangs up on clients whose time for the handshake is over; says how long until the next one's.
    pub(crate) fn drop_the_slow(&self, handshake: Duration) -> Option<Duration> {
        let all = self.lock();
        let left = all.iter().filter(|client| client.is(NEGOTIATING)).filter_map(|client| {
            let left = handshake.saturating_sub(client.since.elapsed());
            if left.is_zero() {
                client.socket.hang_up();
                return None;
            }
            Some(left)
        });
        left.min()
    }

    /// Every client.
    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.lock().clone()
    }
}
