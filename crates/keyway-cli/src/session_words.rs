//! Sessions in words: where an open volume is.

use crate::attach_words::{only_a_socket, reasons, with_reasons};
use crate::failure::Failure;
use crate::output::{NOT_LOCKED, Output, pairs};
use crate::progress;
use crate::words::said;
use keyway::Error;
use keyway::pace::PaceStyle;
use keyway::session::{
    NextStep, ServingProgram, Session, SessionPlan, SessionSecrets, SessionState, in_words,
};
use serde_json::json;

/// The hidden verb of the process that serves.
const SERVE: &str = "serve-volume";

/// This program, as the one that serves a volume.
pub(crate) fn serving() -> ServingProgram {
    let mut program = ServingProgram::this("keyway", SERVE).confined_by("--warden");
    // It looks for the key, and tells how far it is.
    let style = Some(progress::style()).filter(|style| *style != PaceStyle::Bar);
    program.arguments.extend(style.map(|style| format!("--progress={}", style.name()).into()));
    program.arguments.extend(keyway::logged_to().into_iter().flat_map(|log| ["--log".into(), log.into()]));
    program
}

/// Has a process of its own serve the volume, and waits until it does.
pub(crate) fn start(plan: &SessionPlan, secrets: &SessionSecrets) -> Result<Session, Error> {
    Ok(plan.start_to_tell(secrets, &serving(), || drop(progress::stop_on_signals()))?)
}

/// Tells where a session is.
pub(crate) fn told_of(session: &Session, given: &str, foreground: bool, out: Output) -> Result<(), Failure> {
    let mut warnings = session.warnings.clone();
    warnings.extend((!session.keys_locked).then(|| NOT_LOCKED.to_owned()));
    tell(&session.state, given, &warnings, foreground, out)
}

/// The same of a volume that this process serves.
pub(crate) fn tell(
    state: &SessionState,
    given: &str,
    warnings: &[String],
    foreground: bool,
    out: Output,
) -> Result<(), Failure> {
    // Known before, and told to those whose secret was right.
    only_a_socket(&state.attachment, &state.reasons)
        .iter()
        .chain(warnings)
        .for_each(|warning| out.warn(warning));
    let mut document = with_reasons(json!(state), Some(&state.reasons));
    let known = NextStep::facts(state, given, foreground);
    let told = |what: &str| said(&format!("open {what}"), &known);
    if let Some(fields) = document.as_object_mut() {
        SessionState::for_processes().iter().for_each(|key| drop(fields.remove(*key)));
        fields.insert("warnings".to_owned(), json!(warnings));
        fields.insert("next".to_owned(), json!(Some(told("command")).filter(|next| !next.is_empty())));
    }
    let text = || told("is") + &pairs(&places(state, out.verbose)) + &told("next") + &told("close");
    out.result(&document, text)
}

/// Where a session can be reached, for people, and why so.
pub(crate) fn places(state: &SessionState, why: bool) -> Vec<(&'static str, String)> {
    let mut rows = in_words::places(state);
    let mut label = "  attached by";
    for (i, reason) in reasons(&state.reasons).into_iter().enumerate().filter(|_| why) {
        let way = if i == 0 { format!("{}: ", state.attachment) } else { String::new() };
        rows.push((label, format!("{way}{reason}")));
        label = "";
    }
    rows
}
