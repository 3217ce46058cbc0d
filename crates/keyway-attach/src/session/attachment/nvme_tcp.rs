//! An NVMe/TCP controller.

use super::server::{Listens, Run};
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::{AttachError, nvme_tcp};
use keyway_sys::sandbox::Role;
use std::net::SocketAddr;
use std::sync::Arc;

pub(super) struct NvmeTcp(pub(super) SocketAddr);

impl Listens for NvmeTcp {
    const THREAD: &'static str = "keyway-nvme";
    const ROLE: Role = Role::Network;

    fn listen(&self, on: &mut Serving, plan: &AttachPlan) -> Result<Run, AttachError> {
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
        let server = nvme_tcp::Server::bind(self.0, Arc::new(namespace), &options)?;
        on.state.transport = "nvme-tcp".into();
        on.state.socket = Some(server.address().to_string().into());
        Ok(Box::new(move |_, gone| Ok(server.run(gone)?)))
    }
}
