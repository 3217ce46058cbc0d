//! PDUs: what travels on an NVMe/TCP connection (NVMe/TCP Transport Specification 1.0, 3.6).
//!
//! Integers are little-endian. Digests are never agreed to, so header and data follow each other.

use super::connection_error::{ConnectionError, Violation};
use std::io::{Read, Write};

/// PDU types (3.6.1).
const IC_REQ: u8 = 0x00;
const IC_RESP: u8 = 0x01;
const H2C_TERM: u8 = 0x02;
const COMMAND: u8 = 0x04;
const RESPONSE: u8 = 0x05;
const H2C_DATA: u8 = 0x06;
const C2H_DATA: u8 = 0x07;
const R2T: u8 = 0x09;

/// Header lengths: the common one, both connection PDUs, a command, data and R2T.
const COMMON: usize = 8;
const IC: usize = 128;
const COMMAND_HEADER: usize = 72;
const DATA_HEADER: usize = 24;
/// Flag of the last data PDU of a command (3.6.2.7).
const LAST_PDU: u8 = 0x04;
/// The version of the PDU format.
const FORMAT: u16 = 0;

/// Bytes of data that a command may carry in its capsule: what Linux uses on the admin queue whatever a
/// controller says, and on the others as it says (`Identify::io_capsule_bytes`).
pub(super) const MAX_IN_CAPSULE: usize = 8192;
/// Bytes of one H2CData PDU that we ask for at most.
pub(super) const MAX_H2C_DATA: usize = 128 * 1024;
/// Bytes of the largest PDU of a host, with the most padding.
pub(super) const LARGEST: usize = DATA_HEADER + 256 + MAX_H2C_DATA;

/// What a host sends.
pub(super) enum FromHost {
    /// A command and the data in its capsule.
    Command([u8; 64], Vec<u8>),
    /// Data that was asked for: command, tag, offset, and how many bytes of it follow, to be had with [`data_into`].
    Data { cid: u16, tag: u16, offset: u32, len: usize },
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Reads the common header and the rest of the header.
fn header(from: &mut impl Read) -> Result<(u8, Vec<u8>, usize), ConnectionError> {
    let mut common = [0; COMMON];
    from.read_exact(&mut common)?;
    let [kind, _flags, header_len, _, ..] = common;
    let whole = u32_at(&common, 4) as usize;
    let expected = match kind {
        IC_REQ => IC,
        COMMAND => COMMAND_HEADER,
        H2C_DATA => DATA_HEADER,
        H2C_TERM => return Err(Violation::Terminated.into()),
        other => return Err(Violation::PduType(other).into()),
    };
    if usize::from(header_len) != expected || whole < expected {
        return Err(Violation::PduLength(whole).into());
    }
    let mut bytes = vec![0; expected];
    let (head, rest) = bytes.split_at_mut(COMMON);
    head.copy_from_slice(&common);
    from.read_exact(rest)?;
    Ok((kind, bytes, whole - expected))
}

/// Passes over the padding between header and data; how many bytes of data there are.
fn data(from: &mut impl Read, head: &[u8], left: usize, limit: usize) -> Result<usize, ConnectionError> {
    if left == 0 {
        return Ok(0);
    }
    let offset = head.get(3).copied().map_or(0, usize::from);
    let padding = offset.checked_sub(head.len()).filter(|p| *p <= left).ok_or(Violation::PduLength(left))?;
    let len = left - padding;
    if len > limit {
        return Err(Violation::PduLength(len).into());
    }
    let mut skipped = [0; 256];
    from.read_exact(skipped.get_mut(..padding).unwrap_or_default())?;
    Ok(len)
}

/// Reads the data that [`FromHost::Data`] told of, all of it, to where it belongs.
pub(super) fn data_into(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), ConnectionError> {
    Ok(from.read_exact(bytes)?)
}

/// Agrees on the connection: no digests, no alignment.
pub(super) fn handshake(from: &mut impl Read, to: &mut impl Write) -> Result<(), ConnectionError> {
    let (kind, head, left) = header(from)?;
    if kind != IC_REQ || left != 0 {
        return Err(Violation::PduType(kind).into());
    }
    if u16_at(&head, 8) != FORMAT {
        return Err(Violation::Format(u16_at(&head, 8)).into());
    }
    // The host's own alignment (byte 10, in units of 4 bytes less one) would be for our data.
    if head.get(10) != Some(&0) {
        return Err(Violation::Alignment.into());
    }
    let mut answer = [0; IC];
    let fields = [
        (0, &[IC_RESP, 0, IC as u8, 0][..]),
        (4, &(IC as u32).to_le_bytes()),
        (12, &(MAX_H2C_DATA as u32).to_le_bytes()),
    ];
    for (at, field) in fields {
        if let Some(place) = answer.get_mut(at..at + field.len()) {
            place.copy_from_slice(field);
        }
    }
    Ok(to.write_all(&answer)?)
}

/// Reads a command or data.
pub(super) fn receive(from: &mut impl Read) -> Result<FromHost, ConnectionError> {
    let (kind, head, left) = header(from)?;
    match kind {
        COMMAND => {
            let mut entry = [0; 64];
            entry.copy_from_slice(head.get(COMMON..).unwrap_or(&[0; 64]));
            let mut bytes = vec![0; data(from, &head, left, MAX_IN_CAPSULE)?];
            from.read_exact(&mut bytes)?;
            Ok(FromHost::Command(entry, bytes))
        }
        H2C_DATA => {
            let (cid, tag, offset) = (u16_at(&head, 8), u16_at(&head, 10), u32_at(&head, 12));
            let told = u32_at(&head, 16) as usize;
            let len = data(from, &head, left, MAX_H2C_DATA)?;
            if len != told {
                return Err(Violation::PduLength(told).into());
            }
            Ok(FromHost::Data { cid, tag, offset, len })
        }
        other => Err(Violation::PduType(other).into()),
    }
}

fn data_header(
    kind: u8,
    flags: u8,
    data_len: usize,
    cid: u16,
    tag: u16,
    offset: u32,
    len: u32,
) -> [u8; DATA_HEADER] {
    let mut head = [0; DATA_HEADER];
    let whole = (DATA_HEADER + data_len) as u32;
    let data_offset = if data_len > 0 { DATA_HEADER as u8 } else { 0 };
    let fields: [&[u8]; 6] = [
        &[kind, flags, DATA_HEADER as u8, data_offset],
        &whole.to_le_bytes(),
        &cid.to_le_bytes(),
        &tag.to_le_bytes(),
        &offset.to_le_bytes(),
        &len.to_le_bytes(),
    ];
    head.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
    head
}

/// Sends a command's data, all at once.
pub(super) fn send_data(to: &mut impl Write, cid: u16, bytes: &[u8]) -> Result<(), ConnectionError> {
    to.write_all(&data_header(C2H_DATA, LAST_PDU, bytes.len(), cid, 0, 0, bytes.len() as u32))?;
    Ok(to.write_all(bytes)?)
}

/// Asks for a command's data, all of it.
pub(super) fn ask_for_data(to: &mut impl Write, cid: u16, tag: u16, len: u32) -> Result<(), ConnectionError> {
    Ok(to.write_all(&data_header(R2T, 0, 0, cid, tag, 0, len))?)
}

/// Sends a completion.
pub(super) fn complete(to: &mut impl Write, entry: &[u8; 16]) -> Result<(), ConnectionError> {
    let mut pdu = [0; 24];
    let fields: [&[u8]; 3] = [&[RESPONSE, 0, 24, 0], &24u32.to_le_bytes(), entry];
    pdu.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
    Ok(to.write_all(&pdu)?)
}
