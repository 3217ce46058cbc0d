//! A disk for virtual machines.

use super::server::{Listens, Run};
use crate::AttachError;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use crate::vhost_user::VhostServer;
use keyway_sys::sandbox::Role;
use std::path::PathBuf;

/// By the path of its socket; `None`: in the session's own folder.
pub(super) struct VhostUser(pub(super) Option<PathBuf>);

impl Listens for VhostUser {
    const THREAD: &'static str = "keyway-vhost";
    const ROLE: Role = Role::VhostUser;

    fn listen(&self, on: &mut Serving, _: &AttachPlan) -> Result<Run, AttachError> {
        let own = on.folder.vhost_user();
        let server = VhostServer::bind(self.0.as_deref().unwrap_or(&own))?;
        on.state.transport = "vhost-user".into();
        on.state.socket = Some(server.path().to_owned());
        Ok(Box::new(move |device, gone| Ok(server.run(&device, gone)?)))
    }
}
