//! The kernel's dm-crypt.

use super::attached::Attached;
use crate::AttachError;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;

pub(super) struct DmCrypt;

impl Attached for DmCrypt {
    fn serve(
        &mut self,
        on: &mut Serving,
        plan: &AttachPlan,
        claim: Option<&Claim>,
    ) -> Result<(), AttachError> {
        let mapping = on.served.hand_over(claim.map(Claim::file), &on.state)?;
        on.state.transport = mapping.name().to_owned();
        let device = mapping.device().to_owned();
        on.mount(device, plan.mount.as_ref())
    }

    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError> {
        on.served.take_back()
    }
}
