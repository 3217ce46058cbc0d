//! A server in a thread, for as long as the session.

use super::attached::Attached;
use crate::on_panic::AbortOnPanic;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::{AttachError, Stop};
use keyway_engine::Device;
use keyway_sys::sandbox::Role;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// What a bound server does until it is told to stop. One that never runs lets go of its address.
pub(super) type Run = Box<dyn FnOnce(Arc<Device>, &Stop) -> Result<(), AttachError> + Send>;

/// A kind of server.
pub(super) trait Listens {
    /// Its thread's name.
    const THREAD: &'static str;
    /// What its process is left with.
    const ROLE: Role;

    /// Takes its address, and says so in the session's state.
    fn listen(&self, on: &mut Serving, plan: &AttachPlan) -> Result<Run, AttachError>;
}

/// Such a server: not bound yet, bound, or running.
pub(super) struct Server<L> {
    kind: L,
    bound: Option<Run>,
    thread: Option<JoinHandle<Result<(), AttachError>>>,
}

impl<L> Server<L> {
    pub(super) const fn new(kind: L) -> Self {
        Self { kind, bound: None, thread: None }
    }
}

impl<L: Listens> Attached for Server<L> {
    fn role(&self) -> Option<Role> {
        Some(L::ROLE)
    }

    fn is_attached_when_prepared(&self) -> bool {
        true
    }

    fn prepare(&mut self, on: &mut Serving, plan: &AttachPlan) -> Result<(), AttachError> {
        self.bound = Some(self.kind.listen(on, plan)?);
        Ok(())
    }

    /// Serves in a thread until the session's end; where it ends by itself, the session does.
    fn serve(&mut self, on: &mut Serving, _: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        let Some(run) = self.bound.take() else { return Ok(()) };
        let (device, gone) = (Arc::clone(on.served.device()?), Arc::clone(&on.gone));
        let thread = std::thread::Builder::new().name(L::THREAD.into()).spawn(move || {
            let _alone = AbortOnPanic;
            let result = run(device, &gone);
            // However it ended, it is over.
            gone.request();
            result
        });
        self.thread = Some(thread.map_err(|e| AttachError::io("start a thread", e))?);
        Ok(())
    }

    /// Lets running requests finish, and ends it.
    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        self.bound = None;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        on.gone.request();
        let panicked = || Err(AttachError::io("serve", io::Error::other("the server's thread panicked")));
        thread.join().unwrap_or_else(|_| panicked())
    }
}
