//! What carries the data stream: ComPacket, Packet and SubPacket.
//!
//! Core 2.01, 3.2.3 ("ComPackets, Packets, and Subpackets"). All integers are big-endian; subpackets are
//! padded to a multiple of 4, and the padding counts in the packet's length, not in the subpacket's own.

use crate::CodecError;
use zeroize::Zeroizing;

/// Bytes of a ComPacket's header.
pub(crate) const COMPACKET_HEADER: usize = 20;
/// Bytes of a packet's header.
pub(crate) const PACKET_HEADER: usize = 24;
/// Bytes of a subpacket's header.
pub(crate) const SUBPACKET_HEADER: usize = 12;
/// Bytes of all three.
pub const HEADERS: usize = COMPACKET_HEADER + PACKET_HEADER + SUBPACKET_HEADER;
/// The largest ComPacket that is read, in bytes. Drives announce 2 KiB to 64 KiB, some 1 MiB.
pub const MAX_COMPACKET: usize = 1024 * 1024;
/// Packets in a ComPacket, and subpackets in a packet, that are read.
const MAX_PARTS: usize = 64;
/// SubPacket kinds (Core 2.01, 3.2.3.4): data, and credit control, which synchronous sessions have no use for.
const KIND_DATA: u16 = 0x0000;
const KIND_CREDIT: u16 = 0x8001;

/// A ComPacket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComPacket<'a> {
    /// The channel.
    pub com_id: u16,
    /// Its extension: 0 for the channels a drive offers by itself.
    pub com_id_extension: u16,
    /// Bytes of the answer that are still to be fetched; 1 where the TPer is still at work.
    pub outstanding: u32,
    /// The smallest transfer that fetches more, or 0.
    pub min_transfer: u32,
    /// What is in it: usually one, or none.
    pub packets: Vec<Packet<'a>>,
}

/// A packet: what belongs to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The TPer's number of the session; 0 for the session manager.
    pub tsn: u32,
    /// The host's number of the session; 0 for the session manager.
    pub hsn: u32,
    /// Counts packets; 0 where acknowledgements are not used.
    pub sequence: u32,
    /// The data subpackets' payloads, in order.
    pub payloads: Vec<&'a [u8]>,
}

impl<'a> ComPacket<'a> {
    /// Reads a ComPacket from the front of a transfer, whose end may be padding.
    ///
    /// # Errors
    /// Lengths that do not fit into one another, or above this program's limits.
    pub fn parse(transfer: &'a [u8]) -> Result<Self, CodecError> {
        let mut head = Fields { rest: transfer, what: "a ComPacket" };
        head.u32()?;
        let com_id = head.u16()?;
        let com_id_extension = head.u16()?;
        let outstanding = head.u32()?;
        let min_transfer = head.u32()?;
        let len = head.u32()?;
        if len as usize > MAX_COMPACKET {
            return Err(CodecError::Length { what: "a ComPacket", len: len.into() });
        }
        let mut rest = Fields { rest: head.take(len as usize)?, what: "a packet" };
        let mut packets = Vec::new();
        while !rest.rest.is_empty() {
            if packets.len() == MAX_PARTS {
                return Err(CodecError::TooMany(MAX_PARTS));
            }
            packets.push(Packet::parse(&mut rest)?);
        }
        Ok(Self { com_id, com_id_extension, outstanding, min_transfer, packets })
    }

    /// The payload of the only packet with the only subpacket; none where there is no packet.
    ///
    /// # Errors
    /// More than one of them.
    pub fn single(&self) -> Result<Option<(&Packet<'a>, &'a [u8])>, CodecError> {
        match self.packets.as_slice() {
            [] => Ok(None),
            [packet] => match packet.payloads.as_slice() {
                [] => Ok(None),
                [payload] => Ok(Some((packet, payload))),
                _ => Err(CodecError::TooMany(1)),
            },
            _ => Err(CodecError::TooMany(1)),
        }
    }
}

impl<'a> Packet<'a> {
    fn parse(from: &mut Fields<'a>) -> Result<Self, CodecError> {
        let tsn = from.u32()?;
        let hsn = from.u32()?;
        let sequence = from.u32()?;
        let _reserved_and_ack = (from.u16()?, from.u16()?, from.u32()?);
        let len = from.u32()?;
        let mut rest = Fields { rest: from.take(len as usize)?, what: "a subpacket" };
        let mut payloads = Vec::new();
        while !rest.rest.is_empty() {
            if payloads.len() == MAX_PARTS {
                return Err(CodecError::TooMany(MAX_PARTS));
            }
            rest.take(6)?;
            let kind = rest.u16()?;
            let len = rest.u32()? as usize;
            let payload = rest.take(len)?;
            // Some drives leave the padding of the last one out.
            let padding = (len.wrapping_neg() % 4).min(rest.rest.len());
            rest.take(padding)?;
            match kind {
                KIND_DATA => payloads.push(payload),
                KIND_CREDIT => {}
                other => return Err(CodecError::SubpacketKind(other)),
            }
        }
        Ok(Self { tsn, hsn, sequence, payloads })
    }
}

/// Puts a payload into subpacket, packet and ComPacket. Wiped when dropped; there is room to fill up the last block of
/// 512 bytes without another copy.
pub fn wrap(com_id: u16, com_id_extension: u16, tsn: u32, hsn: u32, payload: &[u8]) -> Zeroizing<Vec<u8>> {
    let padded = payload.len().next_multiple_of(4);
    let mut bytes = Zeroizing::new(Vec::with_capacity((HEADERS + padded).next_multiple_of(512)));
    let mut put = |field: &[u8]| bytes.extend_from_slice(field);
    put(&[0; 4]);
    put(&com_id.to_be_bytes());
    put(&com_id_extension.to_be_bytes());
    put(&[0; 8]);
    put(&((PACKET_HEADER + SUBPACKET_HEADER + padded) as u32).to_be_bytes());
    put(&tsn.to_be_bytes());
    put(&hsn.to_be_bytes());
    put(&[0; 12]);
    put(&((SUBPACKET_HEADER + padded) as u32).to_be_bytes());
    put(&[0; 6]);
    put(&KIND_DATA.to_be_bytes());
    put(&(payload.len() as u32).to_be_bytes());
    put(payload);
    bytes.resize(HEADERS + padded, 0);
    bytes
}

/// A ComPacket with nothing in it: what a drive says that has nothing to say, or (with
/// `outstanding` and `min_transfer`) that it has more than was asked for.
pub fn empty(
    com_id: u16,
    com_id_extension: u16,
    outstanding: u32,
    min_transfer: u32,
) -> [u8; COMPACKET_HEADER] {
    let mut bytes = [0; COMPACKET_HEADER];
    let fields =
        [(4, u32::from(com_id) << 16 | u32::from(com_id_extension)), (8, outstanding), (12, min_transfer)];
    for (at, value) in fields {
        if let Some(place) = bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }
    bytes
}

/// Takes big-endian fields off the front of bytes.
pub(crate) struct Fields<'a> {
    pub(crate) rest: &'a [u8],
    /// What is cut off where they end.
    pub(crate) what: &'static str,
}

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(CodecError::Truncated(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(CodecError::Truncated(self.what))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, CodecError> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, CodecError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, CodecError> {
        self.array().map(u32::from_be_bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_packet_of_one_byte_is_padded() {
        let bytes = wrap(0x1000, 0, 0x11, 0x22, &[0xfa]);
        assert_eq!(bytes.len(), 60);
        assert_eq!(bytes[16..20], [0, 0, 0, 40]);
        assert_eq!(bytes[40..44], [0, 0, 0, 16]);
        assert_eq!(bytes[52..60], [0, 0, 0, 1, 0xfa, 0, 0, 0]);
        let mut transfer = bytes.to_vec();
        transfer.resize(512, 0);
        let read = ComPacket::parse(&transfer).unwrap();
        assert_eq!((read.com_id, read.com_id_extension), (0x1000, 0));
        let (packet, payload) = read.single().unwrap().unwrap();
        assert_eq!((packet.tsn, packet.hsn, payload), (0x11, 0x22, &[0xfa][..]));
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        for at in [16, 40, 52] {
            for value in [[0xff; 4], [0, 0, 0, 255]] {
                let mut bytes = wrap(0x1000, 0, 1, 2, &[1, 2, 3, 4, 5]).to_vec();
                bytes[at..at + 4].copy_from_slice(&value);
                assert!(ComPacket::parse(&bytes).is_err(), "{at} {value:?}");
            }
        }
        assert!(ComPacket::parse(&[0; 19]).is_err());
        assert_eq!(ComPacket::parse(&empty(1, 2, 3, 4)).unwrap().outstanding, 3);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), len in 0u32..250) {
            let mut bytes = bytes;
            if let Some(place) = bytes.get_mut(16..20) {
                place.copy_from_slice(&len.to_be_bytes());
            }
            let _ = ComPacket::parse(&bytes);
        }
    }
}
