//! A queue over anything that has sectors: a thread for each request in flight.

use crate::sectors::Sectors;
use keyway_store::{Action, Completion, Operation, Queue, Request, StoreError};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Requests in flight on [`Sectors`], each on a thread of its own. What hands a request over and back
/// costs some 10 µs; modelled drives have a queue without that
/// ([`ModelDrive::queue`](keyway_model::ModelDrive::queue)).
pub struct ThreadQueue {
    began: Instant,
    /// `None` once the threads shall end.
    requests: Option<Sender<Request>>,
    completions: Receiver<Completion>,
    threads: Vec<JoinHandle<()>>,
    flying: usize,
}

impl ThreadQueue {
    /// A queue with so many threads.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn new(sectors: &Arc<dyn Sectors>, threads: usize) -> io::Result<Self> {
        let (requests, taken) = channel::<Request>();
        let (given, completions) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut queue = Self {
            began: Instant::now(),
            requests: Some(requests),
            completions,
            threads: Vec::new(),
            flying: 0,
        };
        for number in 0..threads.max(1) {
            let (sectors, taken, given) = (Arc::clone(sectors), Arc::clone(&taken), given.clone());
            let work = move || {
                loop {
                    let next = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(request) = next else { return };
                    if given.send(serve(sectors.as_ref(), request)).is_err() {
                        return;
                    }
                }
            };
            let name = format!("lab-{number}");
            queue.threads.push(std::thread::Builder::new().name(name).spawn(work)?);
        }
        Ok(queue)
    }

    fn lost() -> StoreError {
        StoreError::new(Operation::Open, "the queue", 0, 0, io::Error::other("its threads have ended"))
    }
}

fn serve(sectors: &dyn Sectors, request: Request) -> Completion {
    let Request { tag, action, offset, mut buf } = request;
    let (operation, done) = match action {
        Action::Read => (Operation::Read, sectors.read_at(&mut buf, offset)),
        Action::Write => (Operation::Write, sectors.write_at(&buf, offset)),
        Action::Flush => (Operation::Flush, sectors.flush()),
    };
    let result = done.map_err(|e| StoreError::new(operation, "the volume", offset, buf.len(), e));
    Completion { tag, action, offset, buf, result }
}

impl Queue for ThreadQueue {
    fn submit(&mut self, request: Request) -> Result<(), StoreError> {
        self.requests.as_ref().and_then(|r| r.send(request).ok()).ok_or_else(Self::lost)?;
        self.flying += 1;
        Ok(())
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let mut wanted = at_least.min(self.flying);
        while wanted > 0 {
            done.push(self.completions.recv().map_err(|_| Self::lost())?);
            self.flying -= 1;
            wanted -= 1;
        }
        while let Ok(completion) = self.completions.try_recv() {
            done.push(completion);
            self.flying -= 1;
        }
        Ok(())
    }

    fn complete_before(&mut self, until: u64, done: &mut Vec<Completion>) -> Result<(), StoreError> {
        let left = Duration::from_nanos(until.saturating_sub(self.now()));
        if self.flying == 0 {
            std::thread::sleep(left);
            return Ok(());
        }
        match self.completions.recv_timeout(left) {
            Ok(completion) => {
                done.push(completion);
                self.flying -= 1;
                self.complete(0, done)
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(Self::lost()),
        }
    }

    fn in_flight(&self) -> usize {
        self.flying
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}

impl Drop for ThreadQueue {
    fn drop(&mut self) {
        self.requests = None;
        for thread in self.threads.drain(..) {
            // A panic of one has been told already.
            let _ = thread.join();
        }
    }
}
