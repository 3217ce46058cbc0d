//! A server in a thread, for as long as the session.

use crate::session::serving::Serving;
use crate::{AttachError, Stop};
use keyway_engine::Device;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The server, once it runs.
#[derive(Default)]
pub(super) struct ServerThread(Option<JoinHandle<Result<(), AttachError>>>);

impl ServerThread {
    /// Serves in a thread until the session's end; where it ends by itself, the session does.
    pub(super) fn start(
        &mut self,
        on: &Serving,
        name: &str,
        run: impl FnOnce(Arc<Device>, &Stop) -> Result<(), AttachError> + Send + 'static,
    ) -> Result<(), AttachError> {
        let (device, gone) = (Arc::clone(on.served.device()?), Arc::clone(&on.gone));
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                let result = run(device, &gone);
                // However it ended, it is over.
                gone.request();
                result
            })
            .map_err(|e| AttachError::io("start a thread", e))?;
        self.0 = Some(thread);
        Ok(())
    }

    /// Lets running requests finish, and ends it.
    pub(super) fn end(&mut self, on: &Serving) -> Result<(), AttachError> {
        let Some(server) = self.0.take() else { return Ok(()) };
        on.gone.request();
        let panicked = || Err(AttachError::io("serve", io::Error::other("the server's thread panicked")));
        server.join().unwrap_or_else(|_| panicked())
    }
}
