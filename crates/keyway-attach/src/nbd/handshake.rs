//! The fixed newstyle handshake: greeting, options, and the choice of the one export.

use super::connection_error::{ConnectionError, Violation};
use super::context::{ALLOCATION, ALLOCATION_ID, ContextQuery};
use super::protocol::{
    Agreed, ClientOption, ExportQuery, FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, INFO_NAME, OptionHead,
    OptionReply, TransmissionFlags, export_reply, greeting, info_block_size, info_export, option_reply_head,
};
use super::reader::MAX_STRING;
use super::wire::{Wire, receive_all, send_all};
use keyway_engine::Device;
use std::io::{self, IoSlice};

/// Options a client may send before it must choose; real ones send fewer than ten.
const MAX_OPTIONS: usize = 64;

/// Longest option data read: a name and some hundred information requests.
const MAX_OPTION: usize = MAX_STRING + 1024;

/// Longest option data skipped; a client that announces more is not speaking NBD.
const MAX_SKIPPED: usize = 64 * 1024;

/// Why a client gets no place.
const NO_PLACE: &str = "all places are taken";

/// Whether what is said can be heard by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    /// TLS is not offered: nobody else hears it.
    Plain,
    /// Nothing but TLS may follow.
    TlsFirst,
    /// TLS is on.
    Tls,
}

/// Where the handshake led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// To the transmission phase.
    Agreed(Agreed),
    /// To TLS; then negotiation begins anew.
    StartTls,
    /// The client left in peace.
    Left,
}

/// The flags that a client answered the greeting with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientFlags(u32);

/// Greets the client.
pub(crate) fn greet(wire: &impl Wire) -> Result<ClientFlags, ConnectionError> {
    send_all(wire, &mut [IoSlice::new(&greeting())])?;
    let mut flags = [0; 4];
    receive_all(wire, &mut flags)?;
    let flags = u32::from_be_bytes(flags);
    if flags & !(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES) != 0 {
        return Err(Violation::ClientFlags(flags).into());
    }
    Ok(ClientFlags(flags))
}

/// Talks the client to the transmission phase, or to TLS. `seat` gives it its place before it is told that it has one;
/// where it says no, there is none.
pub(crate) fn negotiate(
    wire: &impl Wire,
    device: &Device,
    name: &str,
    flags: ClientFlags,
    security: Security,
    closing: impl Fn() -> bool,
    seat: impl Fn() -> bool,
) -> Result<Outcome, ConnectionError> {
    let mut talk = Talk { wire, device, name, agreed: Agreed::default() };
    let mut buf = [0; MAX_OPTION];
    for _ in 0..MAX_OPTIONS {
        let mut head = [0; OptionHead::BYTES];
        receive_all(wire, &mut head)?;
        let Some(OptionHead { number, len }) = OptionHead::parse(&head) else {
            return Err(Violation::OptionMagic.into());
        };
        let Some(data) = buf.get_mut(..len as usize) else {
            talk.skip(len as usize)?;
            talk.reply(number, OptionReply::TooBig, &[])?;
            continue;
        };
        receive_all(wire, data)?;
        let option = ClientOption::parse(number, data);
        if closing() && option != ClientOption::Abort {
            talk.reply(number, OptionReply::ShuttingDown, &[])?;
            continue;
        }
        if security == Security::TlsFirst {
            match option {
                ClientOption::StartTls => {
                    talk.reply(number, OptionReply::Ack, &[])?;
                    return Ok(Outcome::StartTls);
                }
                ClientOption::Abort => {}
                // The specification leaves no other way to say so.
                ClientOption::ExportName(_) => return Err(Violation::NoTls.into()),
                _ => {
                    talk.reply(number, OptionReply::TlsRequired, &[])?;
                    continue;
                }
            }
        }
        match option {
            ClientOption::ExportName(asked) => {
                if !talk.is_ours(asked) {
                    // The specification leaves no other way to say so.
                    return Err(Violation::UnknownExport.into());
                }
                if !seat() {
                    return Err(ConnectionError::from(io::Error::other(NO_PLACE)));
                }
                let reply = export_reply(device.size(), talk.flags());
                let len = if flags.0 & FLAG_NO_ZEROES != 0 { 10 } else { reply.len() };
                send_all(wire, &mut [IoSlice::new(reply.get(..len).unwrap_or(&reply))])?;
                return Ok(Outcome::Agreed(talk.agreed));
            }
            ClientOption::Abort => {
                // The client need not wait for it.
                let _ = talk.reply(number, OptionReply::Ack, &[]);
                return Ok(Outcome::Left);
            }
            ClientOption::List => {
                let len = (name.len() as u32).to_be_bytes();
                talk.reply(number, OptionReply::Server, &[&len, name.as_bytes()])?;
                talk.reply(number, OptionReply::Ack, &[])?;
            }
            ClientOption::StructuredReply => {
                talk.agreed.structured = true;
                talk.reply(number, OptionReply::Ack, &[])?;
            }
            ClientOption::Info(query) => {
                talk.describe(number, query)?;
            }
            // One that waits may ask again.
            ClientOption::Go(query) if talk.is_ours(query.name) && !seat() => {
                talk.reply(number, OptionReply::Policy, &[NO_PLACE.as_bytes()])?;
            }
            ClientOption::Go(query) => {
                if talk.describe(number, query)? {
                    return Ok(Outcome::Agreed(talk.agreed));
                }
            }
            ClientOption::ListContexts(query) => {
                talk.contexts(number, query, query.lists())?;
            }
            ClientOption::SetContexts(query) => {
                let found = talk.contexts(number, query, query.sets())?;
                talk.agreed.allocation = found && query.sets();
            }
            // Twice makes no sense, and without certificates there is none.
            ClientOption::StartTls if security == Security::Tls => {
                talk.reply(number, OptionReply::Invalid, &[])?;
            }
            ClientOption::StartTls => talk.reply(number, OptionReply::Unsupported, &[])?,
            ClientOption::Unknown => talk.reply(number, OptionReply::Unsupported, &[])?,
            ClientOption::Invalid => talk.reply(number, OptionReply::Invalid, &[])?,
        }
    }
    Err(Violation::TooManyOptions.into())
}

struct Talk<'a, W> {
    wire: &'a W,
    device: &'a Device,
    name: &'a str,
    agreed: Agreed,
}

impl<W: Wire> Talk<'_, W> {
    /// Whether a client's name for an export means ours; the empty one always does.
    fn is_ours(&self, asked: &[u8]) -> bool {
        asked.is_empty() || asked == self.name.as_bytes()
    }

    fn flags(&self) -> TransmissionFlags {
        TransmissionFlags::new(self.device.is_read_only(), self.agreed.structured)
    }

    /// Answers `INFO` or `GO`; says whether the export is ours.
    fn describe(&self, number: u32, query: ExportQuery<'_>) -> Result<bool, ConnectionError> {
        if !self.is_ours(query.name) {
            self.reply(number, OptionReply::UnknownExport, &[])?;
            return Ok(false);
        }
        self.reply(number, OptionReply::Info, &[&info_export(self.device.size(), self.flags())])?;
        self.reply(number, OptionReply::Info, &[&info_block_size(self.device.sector_bytes())])?;
        if query.wants_name {
            let name = [&INFO_NAME.to_be_bytes()[..], self.name.as_bytes()];
            self.reply(number, OptionReply::Info, &name)?;
        }
        self.reply(number, OptionReply::Ack, &[])?;
        Ok(true)
    }

    /// Answers `LIST_META_CONTEXT` or `SET_META_CONTEXT`; says whether the question was a good one.
    fn contexts(&self, number: u32, query: ContextQuery<'_>, ours: bool) -> Result<bool, ConnectionError> {
        // Their answers are structured replies.
        if !self.agreed.structured {
            self.reply(number, OptionReply::Invalid, &[])?;
            return Ok(false);
        }
        if !self.is_ours(query.name) {
            self.reply(number, OptionReply::UnknownExport, &[])?;
            return Ok(false);
        }
        if ours {
            self.reply(number, OptionReply::MetaContext, &[&ALLOCATION_ID.to_be_bytes(), ALLOCATION])?;
        }
        self.reply(number, OptionReply::Ack, &[])?;
        Ok(true)
    }

    fn reply(&self, number: u32, reply: OptionReply, data: &[&[u8]]) -> Result<(), ConnectionError> {
        let len = data.iter().map(|part| part.len()).sum::<usize>() as u32;
        let head = option_reply_head(number, reply, len);
        let second = data.first().copied().unwrap_or_default();
        let third = data.get(1).copied().unwrap_or_default();
        let mut parts = [IoSlice::new(&head), IoSlice::new(second), IoSlice::new(third)];
        Ok(send_all(self.wire, &mut parts)?)
    }

    fn skip(&self, len: usize) -> Result<(), ConnectionError> {
        if len > MAX_SKIPPED {
            return Err(Violation::OptionLength(len).into());
        }
        let mut left = len;
        let mut waste = [0; 4096];
        while left > 0 {
            let n = left.min(waste.len());
            receive_all(self.wire, waste.get_mut(..n).unwrap_or_default())?;
            left -= n;
        }
        Ok(())
    }
}
