//! A disk for virtual machines.

use super::attached::Attached;
use super::server_thread::ServerThread;
use crate::AttachError;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::vhost_user::VhostServer;
use std::path::PathBuf;

pub(super) struct VhostUser {
    /// `None`: in the session's own folder.
    path: Option<PathBuf>,
    server: Option<VhostServer>,
    thread: ServerThread,
}

impl VhostUser {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, server: None, thread: ServerThread::default() }
    }
}

impl Attached for VhostUser {
    fn prepare(&mut self, on: &mut Serving, _: &AttachPlan) -> Result<(), AttachError> {
        let own = on.folder.vhost_user();
        let server = VhostServer::bind(self.path.as_deref().unwrap_or(&own))?;
        on.state.transport = "vhost-user".into();
        on.state.socket = Some(server.path().display().to_string());
        self.server = Some(server);
        Ok(())
    }

    fn serve(&mut self, on: &mut Serving, _: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        self.thread.start(on, "keyway-vhost", move |device, gone| Ok(server.run(&device, gone)?))
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        // One that never ran lets go of its address.
        self.server = None;
        self.thread.end(on)
    }
}
