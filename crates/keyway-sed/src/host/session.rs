//! A session: a conversation with one security provider of a drive, as one of its authorities.

use super::connection::{Expect, Host, Limits};
use super::error::{HostError, Misbehaved, Operation, Refused};
use crate::message::{Message, write_call};
use crate::token::{Encoder, Token, Value};
use crate::uid::{Uid, method, parameter};
use crate::{CodecError, Status};
use keyway_secret::SecretBytes;
use std::time::Duration;
use zeroize::Zeroizing;

/// Who speaks, with what proof.
#[derive(Clone, Copy)]
pub struct Credential<'a> {
    /// The authority.
    pub authority: Uid,
    /// What the drive compares: already hashed where a convention hashes.
    pub pin: &'a [u8],
}

/// An open session. It is ended when dropped, if the drive still takes that.
pub struct Session<'h> {
    host: &'h mut Host,
    tsn: u32,
    hsn: u32,
    pub(super) authority: Option<Uid>,
    open: bool,
}

/// What a method returned.
pub struct Reply {
    payload: Zeroizing<Vec<u8>>,
}

impl Reply {
    /// The results.
    ///
    /// # Errors
    /// Never for a reply that was received: it was parsed once.
    pub fn results(&self) -> Result<Vec<Value<'_>>, HostError> {
        match Message::parse(&self.payload)? {
            Message::Answer(answer) => Ok(answer.results),
            _ => Err(HostError::Misbehaved(Misbehaved::Form("a method"))),
        }
    }
}

impl<'h> Session<'h> {
    /// Starts a session with the security provider, as anybody or with a proof.
    ///
    /// # Errors
    /// [`HostError::Refused`] with [`Operation::Authenticate`] where the drive does not accept the proof.
    pub fn start(host: &'h mut Host, sp: Uid, credential: Option<Credential<'_>>) -> Result<Self, HostError> {
        let hsn = host.next_session_number();
        let mut payload = Encoder::new();
        write_call(&mut payload, Uid::SESSION_MANAGER, method::START_SESSION, |to| {
            // A session for writing, whatever it is for: drives need not offer any other, and some do not.
            to.uint(u64::from(hsn)).uid(sp).boolean(true);
            if let Some(Credential { authority, pin }) = credential {
                to.named(parameter::HOST_CHALLENGE, |to| {
                    to.bytes(pin);
                });
                to.named(parameter::HOST_SIGNING_AUTHORITY, |to| {
                    to.uid(authority);
                });
            }
        });
        let authority = credential.map(|c| c.authority);
        let operation = if credential.is_some() { Operation::Authenticate } else { Operation::Other };
        let refuse = |status| HostError::Refused(Refused { operation, authority, status });
        let answer = host.exchange(0, 0, payload.as_bytes(), Expect::Usual)?;
        let form = HostError::Misbehaved(Misbehaved::Form("StartSession"));
        match Message::parse(&answer)? {
            Message::Call(call) if call.method == method::SYNC_SESSION => {
                if call.status != Status::Success {
                    return Err(refuse(call.status));
                }
                let mut numbers = call.required().map(Value::uint);
                let (Some(Some(ours)), Some(Some(theirs))) = (numbers.next(), numbers.next()) else {
                    return Err(form);
                };
                if ours != u64::from(hsn) {
                    return Err(HostError::Misbehaved(Misbehaved::OtherSession));
                }
                let tsn = u32::try_from(theirs).map_err(|_| form)?;
                Ok(Self { host, tsn, hsn, authority, open: true })
            }
            Message::Answer(answer) if answer.status != Status::Success => Err(refuse(answer.status)),
            _ => Err(form),
        }
    }

    /// The host that the session is through.
    pub fn host(&self) -> &Host {
        self.host
    }

    /// What the drive says of its sizes.
    pub(super) fn limits(&mut self) -> Result<Limits, HostError> {
        self.host.limits()
    }

    /// Invokes a method; what it returned.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the drive says no.
    pub fn call(
        &mut self,
        operation: Operation,
        invoking: Uid,
        method: Uid,
        arguments: impl FnOnce(&mut Encoder),
    ) -> Result<Reply, HostError> {
        self.call_for(operation, invoking, method, Expect::Usual, arguments)
    }

    /// [`Session::call`] with room for a long answer, or time for a slow one.
    pub(super) fn call_for(
        &mut self,
        operation: Operation,
        invoking: Uid,
        method: Uid,
        expect: Expect,
        arguments: impl FnOnce(&mut Encoder),
    ) -> Result<Reply, HostError> {
        let mut payload = Encoder::new();
        write_call(&mut payload, invoking, method, arguments);
        let answer = match self.host.exchange(self.tsn, self.hsn, payload.as_bytes(), expect) {
            Ok(answer) => answer,
            Err(error) => {
                // Whatever came, the conversation can't be relied on; ending it is all that is left.
                self.open &= !matches!(error, HostError::Misbehaved(Misbehaved::Closed));
                return Err(error);
            }
        };
        let status = match Message::parse(&answer)? {
            Message::Answer(answer) => answer.status,
            Message::EndOfSession => {
                self.open = false;
                return Err(HostError::Misbehaved(Misbehaved::Closed));
            }
            _ => return Err(HostError::Misbehaved(Misbehaved::Form("a method"))),
        };
        match status {
            Status::Success => Ok(Reply { payload: answer }),
            status => Err(HostError::Refused(Refused { operation, authority: self.authority, status })),
        }
    }

    /// Proves another authority in this session.
    ///
    /// # Errors
    /// [`HostError::Refused`] where the proof is wrong.
    pub fn authenticate(&mut self, credential: Credential<'_>) -> Result<(), HostError> {
        let refuse = |status| {
            let authority = Some(credential.authority);
            HostError::Refused(Refused { operation: Operation::Authenticate, authority, status })
        };
        let reply = self.call(Operation::Authenticate, Uid::THIS_SP, method::AUTHENTICATE, |to| {
            to.uid(credential.authority).named(parameter::PROOF, |to| {
                to.bytes(credential.pin);
            });
        });
        let reply = reply.map_err(|e| e.status().map_or(e, refuse))?;
        match reply.results()?.first().and_then(Value::boolean) {
            Some(true) => {
                self.authority = Some(credential.authority);
                Ok(())
            }
            Some(false) => Err(refuse(Status::NotAuthorized)),
            None => Err(HostError::Misbehaved(Misbehaved::Form("Authenticate"))),
        }
    }

    /// Columns of a table's row, from the first to the last.
    pub fn get(&mut self, row: Uid, columns: std::ops::RangeInclusive<u64>) -> Result<Columns, HostError> {
        let reply = self.call(Operation::Get, row, method::GET, |to| {
            to.list(|to| {
                to.named(parameter::START_COLUMN, |to| {
                    to.uint(*columns.start());
                });
                to.named(parameter::END_COLUMN, |to| {
                    to.uint(*columns.end());
                });
            });
        })?;
        Ok(Columns(reply))
    }

    /// Sets columns of a table's row.
    pub fn set(&mut self, row: Uid, values: impl FnOnce(&mut Encoder)) -> Result<(), HostError> {
        self.set_as(Operation::Set, row, values)
    }

    /// [`Session::set`] under another name for what it did.
    pub(super) fn set_as(
        &mut self,
        operation: Operation,
        row: Uid,
        values: impl FnOnce(&mut Encoder),
    ) -> Result<(), HostError> {
        self.call(operation, row, method::SET, |to| {
            to.named(parameter::VALUES, |to| {
                to.list(values);
            });
        })?;
        Ok(())
    }

    /// Fills `into` with bytes of a byte table.
    pub(super) fn get_bytes(&mut self, table: Uid, offset: u64, into: &mut [u8]) -> Result<(), HostError> {
        let last = offset.saturating_add(into.len() as u64).saturating_sub(1);
        let reply = self.call_for(Operation::Get, table, method::GET, Expect::Bulk, |to| {
            to.list(|to| {
                to.named(parameter::START_ROW, |to| {
                    to.uint(offset);
                });
                to.named(parameter::END_ROW, |to| {
                    to.uint(last);
                });
            });
        })?;
        match reply.results()?.as_slice() {
            [Value::Bytes(bytes)] if bytes.len() == into.len() => {
                into.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(HostError::Misbehaved(Misbehaved::Form("a request for bytes"))),
        }
    }

    /// Writes bytes of a byte table.
    pub(super) fn set_bytes(&mut self, table: Uid, offset: u64, bytes: &[u8]) -> Result<(), HostError> {
        self.call(Operation::Set, table, method::SET, |to| {
            to.named(parameter::WHERE, |to| {
                to.uint(offset);
            });
            to.named(parameter::VALUES, |to| {
                to.bytes(bytes);
            });
        })?;
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// Where the drive does not answer as it must; the session is over all the same.
    pub fn end(mut self) -> Result<(), HostError> {
        self.end_now()
    }

    /// The drive has ended it, as it does after Revert and RevertSP.
    pub(super) fn forget(mut self) {
        self.open = false;
    }

    fn end_now(&mut self) -> Result<(), HostError> {
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        let mut payload = Encoder::new();
        payload.token(Token::EndOfSession);
        let answer = self.host.exchange(self.tsn, self.hsn, payload.as_bytes(), Expect::Usual)?;
        match Message::parse(&answer)? {
            Message::EndOfSession => Ok(()),
            _ => Err(HostError::Misbehaved(Misbehaved::Form("the end of the session"))),
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let patience = self.host.patience;
        // Whoever drops it has an error to tell already.
        self.host.patience = patience.min(Duration::from_secs(2));
        let _ = self.end_now();
        self.host.patience = patience;
    }
}

/// Columns of a row, as Get returned them.
pub struct Columns(Reply);

impl Columns {
    fn with<T>(&self, column: u64, take: impl FnOnce(&Value<'_>) -> Option<T>) -> Result<T, HostError> {
        self.maybe(column, take)?.ok_or(HostError::Misbehaved(Misbehaved::Form("Get")))
    }

    /// What `take` makes of a column; `None` where the drive left it out.
    fn maybe<T>(
        &self,
        column: u64,
        take: impl FnOnce(&Value<'_>) -> Option<T>,
    ) -> Result<Option<T>, HostError> {
        let results = self.0.results()?;
        // Nothing at all is a row of which nothing is told; something else is no answer to Get.
        let form = HostError::Misbehaved(Misbehaved::Form("Get"));
        let row = match results.first() {
            None => &[],
            Some(first) => first.list().ok_or(form)?,
        };
        let found = row.iter().filter_map(Value::named).find(|(name, _)| name.uint() == Some(column));
        match found {
            None => Ok(None),
            Some((_, value)) => match take(value) {
                Some(taken) => Ok(Some(taken)),
                None => {
                    Err(CodecError::Unexpected { expected: "a column's type", found: "another value" }.into())
                }
            },
        }
    }

    /// Whether the drive told nothing of the row: it leaves out what this authority may not see.
    pub(super) fn is_empty(&self) -> Result<bool, HostError> {
        let results = self.0.results()?;
        Ok(results.first().and_then(Value::list).unwrap_or_default().is_empty())
    }

    /// A name of a row, where it was told.
    pub(super) fn maybe_uid(&self, column: u64) -> Result<Option<Uid>, HostError> {
        self.maybe(column, |value| value.uid())
    }

    /// An integer.
    ///
    /// # Errors
    /// Where the drive left it out, or sent something else.
    pub fn uint(&self, column: u64) -> Result<u64, HostError> {
        self.with(column, |value| value.uint())
    }

    /// An integer that not every drive tells.
    ///
    /// # Errors
    /// Where the drive sent something else.
    pub(crate) fn maybe_uint(&self, column: u64) -> Result<Option<u64>, HostError> {
        self.maybe(column, |value| value.uint())
    }

    /// True or false.
    pub fn boolean(&self, column: u64) -> Result<bool, HostError> {
        self.with(column, |value| value.boolean())
    }

    /// Bytes.
    pub fn bytes(&self, column: u64) -> Result<SecretBytes, HostError> {
        self.with(column, |value| value.bytes().map(SecretBytes::copy_of))
    }

    /// A name of a row.
    pub fn uid(&self, column: u64) -> Result<Uid, HostError> {
        self.with(column, |value| value.uid())
    }

    /// A list of integers.
    pub(crate) fn uints(&self, column: u64) -> Result<Vec<u64>, HostError> {
        self.with(column, |value| value.list()?.iter().map(Value::uint).collect())
    }

    /// The authorities in an access rule's expression.
    pub fn authorities(&self, column: u64) -> Result<Vec<Uid>, HostError> {
        self.with(column, |value| {
            let parts = value.list()?.iter().filter_map(Value::named);
            let named = parts.filter(|(name, _)| name.bytes() == Some(&parameter::AUTHORITY_REF));
            Some(named.filter_map(|(_, value)| value.uid()).collect())
        })
    }
}
