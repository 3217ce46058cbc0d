//! The fixed newstyle handshake: greeting, options, and the choice of the one export.

use super::protocol::{
    ClientOption, ExportQuery, FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES, INFO_NAME, MAX_STRING, OptionHead,
    OptionReply, TransmissionFlags, export_reply, greeting, info_block_size, info_export, option_reply_head,
};
use super::wire::{Wire, receive_all, send_all};
use super::{Breach, ConnectionError};
use keyway_engine::Device;
use std::io::IoSlice;

/// Options a client may send before it must choose; real ones send fewer than ten.
const MAX_OPTIONS: usize = 64;

/// Longest option data read: a name and some hundred information requests.
const MAX_OPTION: usize = MAX_STRING + 1024;

/// Longest option data skipped; a client that announces more is not speaking NBD.
const MAX_SKIPPED: usize = 64 * 1024;

/// What was negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// Answers to reads are structured.
    pub(crate) structured: bool,
}

/// Talks the client to the transmission phase; `None` when it left in peace.
pub(crate) fn negotiate(
    wire: &impl Wire,
    device: &Device,
    name: &str,
    closing: impl Fn() -> bool,
) -> Result<Option<Agreed>, ConnectionError> {
    send_all(wire, &mut [IoSlice::new(&greeting())])?;
    let mut flags = [0; 4];
    receive_all(wire, &mut flags)?;
    let flags = u32::from_be_bytes(flags);
    if flags & !(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES) != 0 {
        return Err(Breach::ClientFlags(flags).into());
    }
    let mut talk = Talk { wire, device, name, structured: false };
    let mut buf = [0; MAX_OPTION];
    for _ in 0..MAX_OPTIONS {
        let mut head = [0; OptionHead::BYTES];
        receive_all(wire, &mut head)?;
        let Some(OptionHead { number, len }) = OptionHead::parse(&head) else {
            return Err(Breach::OptionMagic.into());
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
        match option {
            ClientOption::ExportName(asked) => {
                if !talk.is_ours(asked) {
                    // The specification leaves no other way to say so.
                    return Err(Breach::UnknownExport.into());
                }
                let reply = export_reply(device.size(), talk.flags());
                let len = if flags & FLAG_NO_ZEROES != 0 { 10 } else { reply.len() };
                send_all(wire, &mut [IoSlice::new(reply.get(..len).unwrap_or(&reply))])?;
                return Ok(Some(Agreed { structured: talk.structured }));
            }
            ClientOption::Abort => {
                // The client need not wait for it.
                let _ = talk.reply(number, OptionReply::Ack, &[]);
                return Ok(None);
            }
            ClientOption::List => {
                let len = (name.len() as u32).to_be_bytes();
                talk.reply(number, OptionReply::Server, &[&len, name.as_bytes()])?;
                talk.reply(number, OptionReply::Ack, &[])?;
            }
            ClientOption::StructuredReply => {
                talk.structured = true;
                talk.reply(number, OptionReply::Ack, &[])?;
            }
            ClientOption::Info(query) => {
                talk.describe(number, query)?;
            }
            ClientOption::Go(query) => {
                if talk.describe(number, query)? {
                    return Ok(Some(Agreed { structured: talk.structured }));
                }
            }
            ClientOption::Unknown => talk.reply(number, OptionReply::Unsupported, &[])?,
            ClientOption::Invalid => talk.reply(number, OptionReply::Invalid, &[])?,
        }
    }
    Err(Breach::TooManyOptions.into())
}

struct Talk<'a, W> {
    wire: &'a W,
    device: &'a Device,
    name: &'a str,
    structured: bool,
}

impl<W: Wire> Talk<'_, W> {
    /// Whether a client's name for an export means ours; the empty one always does.
    fn is_ours(&self, asked: &[u8]) -> bool {
        asked.is_empty() || asked == self.name.as_bytes()
    }

    fn flags(&self) -> TransmissionFlags {
        TransmissionFlags::new(self.device.is_read_only(), self.structured)
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
            return Err(Breach::OptionLength(len).into());
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
