//! What a TPer does whose firmware has a [`Fault`].

use super::fault::Fault;
use super::session::Session;
use super::tables::Sp;
use super::tper::{SESSION_TIMEOUT, Tper};
use keyway_sed::packet;
use std::time::Duration;
use zeroize::Zeroizing;

impl Tper {
    /// Switches faults on, in place of those before.
    pub(super) fn inject(&mut self, faults: &[Fault]) {
        self.faults = faults.to_vec();
        if self.has(Fault::StaleSession) {
            let silent = Duration::from_millis(SESSION_TIMEOUT.0);
            self.session = Some(Session::new(Sp::Admin, 0x0fff, 0x0666, true, silent));
        }
        if self.has(Fault::StaleAnswer) {
            // The end of a session that nobody knows.
            self.answer =
                Some(Zeroizing::new(packet::wrap(self.com_id(), 0, 0x0ffe, 0x0665, &[0xfa]).to_vec()));
        }
        self.power_on_faults();
    }

    /// What they do at each power-on.
    pub(super) fn power_on_faults(&mut self) {
        if self.has(Fault::BlockedSid) && self.state.sid_is_msid {
            self.sid_blocked = Some(false);
        }
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Whether the answer that waits is not ready yet.
    pub(super) fn stalls(&self) -> bool {
        self.faults.iter().any(|fault| match fault {
            Fault::Stall(None) => true,
            Fault::Stall(Some(time)) => self.answered.elapsed() < *time,
            _ => false,
        })
    }
}
