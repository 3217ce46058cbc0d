//! An NVMe/TCP controller.

use super::attached::Attached;
use super::server_thread::ServerThread;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::{AttachError, nvme_tcp};
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct NvmeTcp {
    address: SocketAddr,
    server: Option<nvme_tcp::Server>,
    thread: ServerThread,
}

impl NvmeTcp {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address, server: None, thread: ServerThread::default() }
    }
}

impl Attached for NvmeTcp {
    fn prepare(&mut self, on: &mut Serving, plan: &AttachPlan) -> Result<(), AttachError> {
        // The session's name is the volume's: the same volume is the same disk.
        let serial = on.state.id.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let namespace = nvme_tcp::VolumeNamespace::new(Arc::clone(on.served.device()?), serial);
        let options = nvme_tcp::Options {
            nqn: "nqn.2026-11.keyway:volume".into(),
            credentials: plan.credentials.clone(),
            users: plan.users,
            refusals: Arc::clone(&on.refusals),
            ..nvme_tcp::Options::default()
        };
        let server = nvme_tcp::Server::bind(self.address, Arc::new(namespace), &options)?;
        on.state.transport = "nvme-tcp".into();
        on.state.socket = Some(server.address().to_string());
        self.server = Some(server);
        Ok(())
    }

    fn serve(&mut self, on: &mut Serving, _: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        self.thread.start(on, "keyway-nvme", move |_, gone| Ok(server.run(gone)?))
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        // One that never ran lets go of its address.
        self.server = None;
        self.thread.end(on)
    }
}
