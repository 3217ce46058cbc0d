//! What each kind of conversion does before it is carried out, and what it hands over then.

use super::outcome::{ConversionOutcome, Made};
use super::plan::ConversionPlan;
use super::request::ConversionRequest;
use crate::error::Error;
use crate::progress::Progress;
use crate::secrets::Secrets;
use crate::under_way::JournalFile;
use keyway_convert::PlannedConversion;
use keyway_store::Store;
use std::sync::Arc;

/// A kind of conversion, of which all has been looked at that can be without a secret.
pub(super) trait Job {
    /// Reads the secrets, claims the medium, opens what there is and makes the journal. Nothing is converted yet; where
    /// it fails, everything is as it was.
    fn prepare(self: Box<Self>, with: &With<'_>) -> Result<Next, Error>;
}

/// What a job has to work with.
pub(super) struct With<'a> {
    pub(super) plan: &'a ConversionPlan,
    pub(super) request: &'a ConversionRequest,
    pub(super) secrets: &'a dyn Secrets,
    pub(super) progress: &'a dyn Progress,
}

/// How it goes on after a job.
pub(super) enum Next {
    /// With the conversion.
    Convert(Box<Prepared>),
    /// There is nothing to convert any more.
    Ended(Box<ConversionOutcome>),
}

impl Next {
    /// Adds what is new about the volume.
    pub(super) fn made(mut self, tell: impl FnOnce(&PlannedConversion, &mut Made)) -> Self {
        if let Self::Convert(prepared) = &mut self {
            tell(&prepared.planned, &mut prepared.made);
        }
        self
    }
}

/// A conversion that can be carried out.
pub(super) struct Prepared {
    pub(super) planned: PlannedConversion,
    pub(super) store: Arc<dyn Store>,
    pub(super) journal: Option<JournalFile>,
    pub(super) made: Made,
}

impl With<'_> {
    /// The same as it was asked for: with a whole journal, for a volume in use.
    pub(super) fn as_asked(&self, planned: impl Into<PlannedConversion>) -> Result<PlannedConversion, Error> {
        let planned = planned.into();
        let planned = if self.plan.full_journal { planned.kept_whole() } else { planned };
        match self.request.online {
            Some(_) => planned.for_use().map_err(|e| self.request.said(e)),
            None => Ok(planned),
        }
    }

    /// Makes the journal's file, where it is to have one.
    pub(super) fn begin(
        &self,
        planned: PlannedConversion,
        store: Arc<dyn Store>,
        made: Made,
    ) -> Result<Next, Error> {
        let file = planned.journal_file().map(|(path, bytes)| JournalFile::make(path, bytes)).transpose()?;
        Ok(Next::Convert(Box::new(Prepared { planned, store, journal: file, made })))
    }
}
