//! Another program that does not answer is given up. A request that it has is waited for as long as it lives, by us and by the
//! kernel, whatever stops us: so it is ended, and with it what it mounted.

use crate::error::LabError;
use crate::other_program::OtherProgram;
use crate::program_process::{detach, mounted_in, said, signal};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long a program may be silent: disks that slept answer after 10 s, and a lost one after the kernel's 30.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// A turn takes some times of what it is planned for, where each request takes longer than a turn should.
const TIMES: u32 = 10;
/// Who was told to stop has so long for what is under way.
const STOPPING: Duration = Duration::from_secs(10);
/// Requests of a program that has ended fail within this time, where it served them itself.
const FAILING: Duration = Duration::from_secs(5);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(100);

/// How long something may take that is planned for so long.
pub(crate) fn patience(planned: Duration) -> Duration {
    PATIENCE + planned * TIMES
}

/// Ends another program that does not answer.
pub struct ProgramGuard {
    pub(crate) program: OtherProgram,
    pub(crate) drive: PathBuf,
    /// Our folder with what it said and what it mounted.
    pub(crate) own: PathBuf,
    /// Where it is; nowhere while it has not said.
    pub(crate) at: PathBuf,
    /// The first of its processes, whose number is the group's.
    pub(crate) leader: Option<Pid>,
    /// That number may be somebody else's from then on.
    pub(crate) is_reaped: Arc<AtomicBool>,
}

impl ProgramGuard {
    /// Does something with the program, and ends it where that takes longer than `limit`, or goes on though it was stopped.
    ///
    /// # Errors
    /// Those of the work; that the program was given up.
    pub(crate) fn within<T>(
        &self,
        limit: Duration,
        stop: &AtomicBool,
        work: impl FnOnce() -> Result<T, LabError>,
    ) -> Result<T, LabError> {
        let over = Over::default();
        let (done, is_ended) = std::thread::scope(|scope| {
            let watch = || self.watch(limit, stop, &over);
            let watching = std::thread::Builder::new().spawn_scoped(scope, watch);
            let watching = watching.map_err(|e| LabError::system("start", Path::new("a thread"), e))?;
            let done = work();
            over.tell();
            Ok::<_, LabError>((done, watching.join().unwrap_or(false)))
        })?;
        match done {
            Err(LabError::Stopped) => Err(LabError::Stopped),
            _ if is_ended && stop.load(Ordering::Relaxed) => Err(LabError::Stopped),
            _ if is_ended => Err(self.given_up(limit)),
            done => done,
        }
    }

    fn given_up(&self, limit: Duration) -> LabError {
        let (seconds, said) = (limit.as_secs(), said(&self.own.join("attach.err")));
        let what = format!("did not finish what it was given within {seconds} s, and was given up{said}");
        LabError::OtherProgram { name: self.program.name.clone(), what }
    }

    /// Waits for the work; says whether it had to end the program for it.
    fn watch(&self, limit: Duration, stop: &AtomicBool, over: &Over) -> bool {
        let until = Instant::now() + limit;
        let mut stopped = None;
        loop {
            if over.wait(LOOK) {
                return false;
            }
            if stop.load(Ordering::Relaxed) {
                stopped.get_or_insert_with(Instant::now);
            }
            if Instant::now() > until || stopped.is_some_and(|at| at.elapsed() > STOPPING) {
                break;
            }
        }
        self.end();
        // What the kernel serves for it, its own command alone takes away.
        if !over.wait(FAILING) {
            let _ = detach(&self.program, &self.drive, &self.own, &self.at);
        }
        true
    }

    /// Ends it. What was mounted in its folder fails at once, whichever process serves it: some leave their group. What was
    /// mounted later may lie on what was mounted first, and waits for it.
    fn end(&self) {
        if !self.is_reaped.load(Ordering::Acquire) {
            signal(self.leader, Signal::KILL);
        }
        for at in mounted_in(&self.own) {
            // Without root, the kernel does so when the last of its processes has ended.
            let _ = unmount(&at, UnmountFlags::FORCE | UnmountFlags::NOFOLLOW);
        }
    }
}

/// Whether the work is over.
#[derive(Default)]
struct Over {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    fn tell(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for so long at most.
    fn wait(&self, time: Duration) -> bool {
        let now = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(now, time, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> ProgramGuard {
        ProgramGuard {
            program: OtherProgram { name: "slow".to_owned(), attach: String::new(), detach: None },
            drive: PathBuf::new(),
            own: "/nowhere/at/all".into(),
            at: PathBuf::new(),
            leader: None,
            is_reaped: Arc::default(),
        }
    }

    #[test]
    fn what_takes_too_long_is_given_up_and_what_does_not_is_as_it_was() {
        let (guard, stop) = (guard(), AtomicBool::new(false));
        let long = Duration::from_secs(600);
        assert_eq!(guard.within(long, &stop, || Ok(7)).ok(), Some(7));
        let failed = guard.within::<()>(long, &stop, || Err(LabError::NeverUnlocked));
        assert!(matches!(failed, Err(LabError::NeverUnlocked)), "{failed:?}");
        let slow = || {
            std::thread::sleep(Duration::from_millis(400));
            Ok(())
        };
        let given_up = guard.within(Duration::from_millis(50), &stop, slow).expect_err("too long");
        assert_eq!(
            given_up.to_string(),
            "slow did not finish what it was given within 0 s, and was given up"
        );
        // Whoever was stopped has time for what is under way, and is told as stopped.
        stop.store(true, Ordering::Relaxed);
        assert!(guard.within(long, &stop, slow).is_ok());
        let stopped = guard.within(Duration::from_millis(50), &stop, slow);
        assert!(matches!(stopped, Err(LabError::Stopped)), "{stopped:?}");
    }
}
