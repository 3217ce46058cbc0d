//! A server for network block device clients.

use super::server::{Listens, Run};
use crate::AttachError;
use crate::nbd::{self, Listen, Server};
use crate::session::plan::{AttachPlan, NbdAddress};
use crate::session::serving::Serving;
use keyway_sys::sandbox::Role;
use std::sync::Arc;

pub(super) struct Nbd(pub(super) NbdAddress);

impl Listens for Nbd {
    const THREAD: &'static str = "keyway-nbd";
    const ROLE: Role = Role::Network;

    fn listen(&self, on: &mut Serving, plan: &AttachPlan) -> Result<Run, AttachError> {
        let (address, tls) = match &self.0 {
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
        let secured = tls.is_some();
        let server = Server::bind(
            &listen,
            nbd::Options { tls, users: plan.users, refusals, ..nbd::Options::default() },
        )?;
        on.state.transport = "nbd".into();
        let uri = server.address().to_string();
        // Over TLS the scheme has an s (doc/uri.md).
        let in_tls = uri.strip_prefix("nbd").filter(|_| secured).map(|rest| format!("nbds{rest}"));
        on.state.uri = Some(in_tls.unwrap_or(uri));
        on.state.socket = Some(match server.address() {
            Listen::Unix(path) => path.to_owned(),
            Listen::Tcp(address) => address.to_string().into(),
        });
        Ok(Box::new(move |device, gone| Ok(server.run(device, gone)?)))
    }
}
