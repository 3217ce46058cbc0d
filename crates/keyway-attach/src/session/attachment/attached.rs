//! The trait of all attachments: prepared, served, drained, torn down.

use crate::AttachError;
use crate::session::claim::Claim;
use crate::session::plan::AttachPlan;
use crate::session::serving::Serving;
use keyway_sys::sandbox::Role;

/// One way to the user, from its start to its end. Requests don't pass through here.
pub(in crate::session) trait Attached {
    /// What the process is left with while it serves; nothing where it has no keys, or nobody has found out yet what it
    /// needs.
    fn role(&self) -> Option<Role> {
        None
    }

    /// Whether nothing that [`serve`](Self::serve) does takes paths.
    fn is_attached_when_prepared(&self) -> bool {
        false
    }

    /// Makes what must be there before anything is served: sockets. What fails here leaves nothing.
    fn prepare(&mut self, _on: &mut Serving, _plan: &AttachPlan) -> Result<(), AttachError> {
        Ok(())
    }

    /// Serves the volume; `claim` is the lock on its file.
    fn serve(
        &mut self,
        on: &mut Serving,
        plan: &AttachPlan,
        claim: Option<&Claim>,
    ) -> Result<(), AttachError>;

    /// Refuses an end, as [`AttachError::Busy`], while somebody uses what the kernel would not say later.
    fn drain(&self, _on: &Serving) -> Result<(), AttachError> {
        Ok(())
    }

    /// Takes down what [`serve`](Self::serve) made, from the top. Stops at what is in use, with the rest still
    /// serving; any other error is told at the end, with everything gone.
    fn tear_down(&mut self, on: &mut Serving) -> Result<(), AttachError>;
}
