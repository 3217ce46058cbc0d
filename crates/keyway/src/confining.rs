//! When a process that opens a volume for itself enters its sandbox.
//!
//! As soon as the medium is open and the secrets are read: then the search for the key, which parses headers, is in the sandbox
//! already. Whoever was asked for a password and mistyped it is asked again, for which all is looked at anew: there the sandbox is
//! entered when the volume is open. So it is where headers are looked at one by one and keyfiles are read in the search.

use crate::error::Error;
use crate::sandbox::{Prepared, Sandbox};
use crate::secrets::{Question, Secrets};
use crate::unlock::KeyRef;
use keyway_secret::SecretBytes;
use std::cell::Cell;

/// The sandbox around the search for a key, and who is asked for what opens it.
pub(crate) struct Confining<'a> {
    sandbox: Option<Prepared>,
    asked: Asked<'a>,
}

impl<'a> Confining<'a> {
    /// What that sandbox needs, while there are paths; and who is asked.
    ///
    /// # Errors
    /// A layer lacks that is required.
    pub(crate) fn new(sandbox: Option<&Sandbox>, who: &'a dyn Secrets) -> Result<Self, Error> {
        let sandbox = sandbox.map(Sandbox::prepare).transpose()?;
        Ok(Self { sandbox, asked: Asked { who, anybody: Cell::new(false) } })
    }

    /// Who is to be asked: whether somebody was is noted.
    pub(crate) fn secrets(&self) -> &dyn Secrets {
        &self.asked
    }

    /// The sandbox, where the key can be tried in it: nobody is to be asked again.
    pub(crate) fn before(&self) -> Option<&Prepared> {
        self.sandbox.as_ref().filter(|_| !self.asked.anybody.get())
    }

    /// Enters the sandbox, where the key can be tried in it as it is, without a file.
    pub(crate) fn enter_before<'k>(&self, key: impl Into<KeyRef<'k>>) -> Result<(), Error> {
        let reads_files = match key.into() {
            KeyRef::VeraCrypt(secret) => !secret.keyfiles.is_empty(),
            KeyRef::BitLocker(_) => false,
        };
        self.before().filter(|_| !reads_files).map_or(Ok(()), Prepared::enter)
    }

    /// Enters the sandbox, where there is one: nobody is asked any more, and nothing is opened.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        self.sandbox.as_ref().map_or(Ok(()), Prepared::enter)
    }
}

/// Somebody who is asked, of whom is known whether an answer came.
struct Asked<'a> {
    who: &'a dyn Secrets,
    anybody: Cell<bool>,
}

impl Secrets for Asked<'_> {
    fn answer(&self, question: &Question<'_>) -> Result<Option<SecretBytes>, Error> {
        let answer = self.who.answer(question)?;
        if answer.is_some() {
            self.anybody.set(true);
        }
        Ok(answer)
    }

    fn can_answer(&self) -> bool {
        self.who.can_answer()
    }
}
