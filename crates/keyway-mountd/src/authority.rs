//! The question to polkit: may whoever has that name on the bus do it?

use crate::refusal::{Kind, Refusal};
use std::collections::HashMap;
use zbus::{Connection, Variant};

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Mounting what is in a file, or on a drive that can be unplugged.
    Mount,
    /// Mounting what is on a drive that belongs to the machine.
    MountSystemDevice,
    /// Taking down what another user has mounted.
    Change,
}

impl Action {
    /// Its name in the policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mount => "org.keyway.mount",
            Self::MountSystemDevice => "org.keyway.mount-system-device",
            Self::Change => "org.keyway.change",
        }
    }
}

const SERVICE: &str = "org.freedesktop.PolicyKit1";
/// `AllowUserInteraction`: a password may be asked for.
const ASK: u32 = 1;

/// Lets the caller through, or says why not. `interactive`: the caller lets polkit ask for a password.
///
/// # Errors
/// [`Kind::NotAuthorized`].
pub async fn authorize(
    bus: &Connection,
    caller: &str,
    action: Action,
    interactive: bool,
) -> Result<(), Refusal> {
    let subject = ("system-bus-name", HashMap::from([("name", Variant::from(caller))]));
    let details: HashMap<&str, &str> = HashMap::new();
    let question = (subject, action.name(), details, if interactive { ASK } else { 0 }, "");
    let at = "/org/freedesktop/PolicyKit1/Authority";
    let interface = "org.freedesktop.PolicyKit1.Authority";
    let not_asked = |e: zbus::Error| Kind::NotAuthorized.says(format!("polkit could not be asked: {e}"));
    let answer = bus.call_method(Some(SERVICE), at, Some(interface), "CheckAuthorization", &question).await;
    let answer = answer.map_err(not_asked)?;
    let ((yes, more, _),): ((bool, bool, HashMap<String, String>),) =
        answer.body().deserialize().map_err(not_asked)?;
    match (yes, more) {
        (true, _) => Ok(()),
        (false, true) => Err(Kind::NotAuthorized.says(format!(
            "polkit wants an administrator's password for {}, and nobody here can be asked for it",
            action.name()
        ))),
        (false, false) => Err(Kind::NotAuthorized.says(format!("polkit does not allow {}", action.name()))),
    }
}
