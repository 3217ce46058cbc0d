//! What hosts connect to: one namespace, and the controllers that they have been given.
//!
//! A controller has its place once its host is let in, and keeps it for as long as its admin queue is there and its
//! host keeps the word it gave on how often it would be heard of (KATO). Where places are short, one whose host has
//! long been silent goes. With a controller go all its queues.

use super::controller::Controller;
use super::{Credentials, Namespace};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Controllers at a time.
const PLACES: usize = 12;
/// Further ones for whoever serves, and root.
const OWN_PLACES: usize = 4;

pub(super) struct Subsystem {
    pub(super) nqn: Arc<str>,
    pub(super) credentials: Option<Arc<Credentials>>,
    namespace: Arc<dyn Namespace>,
    /// How long a host must have been silent to lose its place to another one.
    idle: Duration,
    controllers: Mutex<Controllers>,
}

#[derive(Default)]
struct Controllers {
    last: u16,
    /// Also those whose hosts have not been let in; the waiting room bounds them.
    all: BTreeMap<u16, Arc<Controller>>,
}

impl Subsystem {
    pub(super) fn new(
        namespace: Arc<dyn Namespace>,
        nqn: &str,
        credentials: Option<Arc<Credentials>>,
        idle: Duration,
    ) -> Self {
        Self { nqn: nqn.into(), credentials, namespace, idle, controllers: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Controllers> {
        self.controllers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new controller, which has no place yet.
    pub(super) fn make(&self) -> Option<Arc<Controller>> {
        let Controllers { last, all } = &mut *self.lock();
        // Identifiers above 0xffef are reserved (Fabrics 1.1, 4.2).
        let id = (1..=u16::MAX)
            .map(|n| last.wrapping_add(n) % 0xfff0)
            .find(|id| *id > 0 && !all.contains_key(id))?;
        *last = id;
        let controller = Arc::new(Controller::new(id, self.namespace.clone(), self.nqn.clone()));
        all.insert(id, controller.clone());
        Some(controller)
    }

    /// Gives a controller its place; where there is none, that of another one that has been silent for so long. Says
    /// whether there is one.
    pub(super) fn seat(&self, controller: &Controller, own: bool) -> bool {
        let mut controllers = self.lock();
        let seated = || controllers.all.values().filter(|other| other.is_seated());
        let places = if own { PLACES + OWN_PLACES } else { PLACES };
        if seated().count() >= places {
            let silent = seated().filter_map(|other| {
                let silent = other.silent().filter(|silent| *silent >= self.idle)?;
                Some((!other.is_own(), silent, other.clone()))
            });
            let Some((_, _, longest)) = silent.max_by_key(|(stranger, silent, _)| (*stranger, *silent))
            else {
                return false;
            };
            controllers.all.remove(&longest.id);
            longest.end();
        }
        controller.take_place(own);
        true
    }

    pub(super) fn find(&self, id: u16) -> Option<Arc<Controller>> {
        self.lock().all.get(&id).cloned()
    }

    /// The end of a controller, and of all its queues.
    pub(super) fn end(&self, controller: &Arc<Controller>) {
        let mut controllers = self.lock();
        // Its identifier may be another one's by now.
        if controllers.all.get(&controller.id).is_some_and(|other| Arc::ptr_eq(other, controller)) {
            controllers.all.remove(&controller.id);
        }
        controller.end();
    }

    /// Ends the controllers whose hosts have not been heard of for as long as they promised; says how long until the
    /// next one.
    pub(super) fn end_the_silent(&self) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        self.lock().all.retain(|_, controller| match controller.time_left() {
            Some(Duration::ZERO) => {
                controller.end();
                false
            }
            left => {
                next = [next, left].into_iter().flatten().min();
                true
            }
        });
        next
    }
}
