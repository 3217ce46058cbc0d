//! What a process gives up before it converts the first segment: all but the medium, the journal and what else is open.
//!
//! What takes a path at the end a warden does, a process without a key: removing the journal's file, and the one that says how
//! far the conversion is. While the volume is in use, its session enters the sandbox, and has a warden of its own beside that.

use super::request::ConversionRequest;
use crate::error::Error;
use crate::under_way::{JournalFile, Watch};
use keyway_attach::AttachError;
use keyway_attach::session::{Removal, Sandbox, require_sandbox};
use keyway_error::Advice;
use keyway_sys::sandbox::{Role, enter_role};

/// Refuses where a sandbox is required and can't be had: the kernel lacks a layer, or what serves the volume meanwhile is in none.
pub(super) fn check(request: &ConversionRequest) -> Result<(), Error> {
    let Some(sandbox) = &request.sandbox else { return Ok(()) };
    if let Some(online) = &request.online
        && sandbox.is_required()
    {
        require_sandbox(&online.attachment)?;
    }
    sandbox.check()
}

/// Enters the sandbox, where one is wanted: from now on this process opens nothing.
pub(super) fn enter(
    request: &ConversionRequest,
    journal: Option<&JournalFile>,
    watch: &Watch<'_>,
) -> Result<(), Error> {
    prepare(request, journal, watch)?;
    match request.sandbox {
        Some(_) => enter_role(Role::Convert, &[]).map_err(|e| AttachError::io("enter the sandbox", e).into()),
        None => Ok(()),
    }
}

/// Has a warden remove what there will be to remove, where this process will have no paths by then.
pub(super) fn prepare(
    request: &ConversionRequest,
    journal: Option<&JournalFile>,
    watch: &Watch<'_>,
) -> Result<(), Error> {
    let Some(sandbox) = &request.sandbox else { return Ok(()) };
    match start_warden(request, journal, watch) {
        Err(error) if sandbox.is_required() => Err(error),
        // Whoever goes on with a conversion must be able to, whatever else is broken: without a warden it is told what is left.
        _ => Ok(()),
    }
}

/// The sandbox of what serves the volume while it is converted.
pub(super) fn around_session(request: &ConversionRequest) -> Option<Sandbox> {
    let required = request.sandbox.as_ref()?.is_required();
    request.serving.as_ref()?.confining(required)
}

fn start_warden(
    request: &ConversionRequest,
    journal: Option<&JournalFile>,
    watch: &Watch<'_>,
) -> Result<(), Error> {
    let program = request.serving.as_ref().and_then(|program| program.confining(false));
    let program = program.ok_or_else(|| missing("a program that removes the journal"))?;
    let files = watch.own_file()?.into_iter().chain(journal.map(JournalFile::own_file).transpose()?);
    let mut removals = Removal::by_warden(&program, files.collect())?;
    // The journal's is the last one, where there is one.
    if let Some(journal) = journal {
        removals.pop().into_iter().for_each(|removal| journal.be_removed_by(removal));
    }
    removals.pop().into_iter().for_each(|removal| watch.be_removed_by(removal));
    Ok(())
}

fn missing(what: &str) -> Error {
    AttachError::Missing { what: what.to_owned(), advice: Advice::NewerKernelForSandbox }.into()
}
