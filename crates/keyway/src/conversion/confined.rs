//! What a process gives up before it converts the first segment: all but the medium, the journal and what else is open.
//!
//! What takes a path at the end a warden does, a process without a key: removing the journal's file, and the one that says how
//! far the conversion is.

use super::request::ConversionRequest;
use crate::error::Error;
use crate::under_way::{JournalFile, Watch};
use keyway_attach::AttachError;
use keyway_attach::session::Removal;
use keyway_error::Advice;
use keyway_sys::sandbox::{Role, enter_role};

/// Refuses where a sandbox is required and can't be had: the kernel lacks a layer, or the volume is served meanwhile.
pub(super) fn check(request: &ConversionRequest) -> Result<(), Error> {
    let Some(sandbox) = &request.sandbox else { return Ok(()) };
    if sandbox.is_required() && request.online.is_some() {
        return Err(missing("a sandbox around the conversion of a volume that is in use"));
    }
    sandbox.check()
}

/// Enters the sandbox, where one is wanted: from now on this process opens nothing, and asks a warden for what it has to remove.
pub(super) fn enter(
    request: &ConversionRequest,
    journal: Option<&JournalFile>,
    watch: &Watch<'_>,
) -> Result<(), Error> {
    let Some(sandbox) = &request.sandbox else { return Ok(()) };
    // Whoever goes on with a conversion must be able to, whatever else is broken: without a warden it is told what is left.
    if let Err(error) = start_warden(request, journal, watch)
        && sandbox.is_required()
    {
        return Err(error);
    }
    enter_role(Role::Convert, &[]).map_err(|e| AttachError::io("enter the sandbox", e).into())
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
