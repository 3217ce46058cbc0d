//! A server for network block device clients.

use super::attached::Attached;
use super::server_thread::ServerThread;
use crate::AttachError;
use crate::nbd::{self, Listen, Server};
use crate::session::claim::Claim;
use crate::session::plan::{AttachPlan, NbdAddress};
use crate::session::serving::Serving;
use std::sync::Arc;

pub(super) struct Nbd {
    address: NbdAddress,
    server: Option<Server>,
    thread: ServerThread,
}

impl Nbd {
    pub(super) fn new(address: NbdAddress) -> Self {
        Self { address, server: None, thread: ServerThread::default() }
    }
}

impl Attached for Nbd {
    fn prepare(&mut self, on: &mut Serving, plan: &AttachPlan) -> Result<(), AttachError> {
        let (address, tls) = match &self.address {
            NbdAddress::Tls { at, certificates } => {
                (&**at, Some(nbd::Certificates::from_folder(certificates)?))
            }
            plain => (plain, None),
        };
        let listen = match address {
            NbdAddress::Unix(path) => Listen::Unix(path.clone()),
            NbdAddress::Tcp(address) => Listen::Tcp(*address),
            NbdAddress::Session | NbdAddress::Tls { .. } => Listen::Unix(on.folder.nbd()),
        };
        let refusals = Arc::clone(&on.refusals);
        let server = Server::bind(
            &listen,
            nbd::Options { tls, users: plan.users, refusals, ..nbd::Options::default() },
        )?;
        on.state.transport = "nbd".into();
        on.state.socket = Some(match server.address() {
            Listen::Unix(path) => path.display().to_string(),
            Listen::Tcp(address) => address.to_string(),
        });
        self.server = Some(server);
        Ok(())
    }

    fn serve(&mut self, on: &mut Serving, _: &AttachPlan, _: Option<&Claim>) -> Result<(), AttachError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        self.thread.start(on, "keyway-nbd", move |device, gone| Ok(server.run(device, gone)?))
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        // One that never ran lets go of its address.
        self.server = None;
        self.thread.end(on)
    }
}
