//! A drive's failures in words: what they may come from, the likeliest first.

use crate::verbs::*;
use crate::words::{cause, sentences};
use keyway::drive::DriveError;

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
        let failure = Self::explained(&error);
        let Some(diagnosis) = error.diagnosis() else { return failure };
        let causes: Vec<String> = diagnosis.causes.iter().map(cause).collect();
        let next = sentences(&diagnosis.meaning.advice);
        let mut hint = match causes.as_slice() {
            [] => next.clone(),
            causes => format!("Likely causes: {}. Next: {next}", causes.join("; ")),
        };
        if let DriveError::HalfSetUp(_) = error {
            let keep = sentences(&[keyway_error::Advice::KeepOwnersSecret]);
            hint = format!("{keep}. {hint}");
        }
        Self { hint, ..failure }.with(json!({"causes": causes, "next": next}))
    }
}
