//! One request of the guest: read from its memory once, checked, carried out piece by piece.

use super::config::SECTOR;
use super::virtio_device::{Chain, PIECE};
use keyway_engine::{Device, DeviceError};
use keyway_store::AlignedBuf;
use std::io::{self, Read, Write};
use virtio_queue::{Reader, Writer};
use vm_memory::GuestMemoryMmap;

/// What the device calls itself, as GET_ID wants it.
const ID: [u8; 20] = *b"keyway\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// `VIRTIO_BLK_T_*` (VIRTIO 1.2, section 5.2.6).
mod kind {
    pub(super) const IN: u32 = 0;
    pub(super) const OUT: u32 = 1;
    pub(super) const FLUSH: u32 = 4;
    pub(super) const GET_ID: u32 = 8;
    pub(super) const DISCARD: u32 = 11;
    pub(super) const WRITE_ZEROES: u32 = 13;
}

/// `VIRTIO_BLK_S_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Status {
    Done = 0,
    Failed = 1,
    Unknown = 2,
}

impl From<io::Error> for Status {
    fn from(_: io::Error) -> Self {
        Self::Failed
    }
}

impl From<DeviceError> for Status {
    fn from(_: DeviceError) -> Self {
        Self::Failed
    }
}

/// Carries out the request that `chain` describes; how many bytes of the guest's memory were written.
/// A chain that is no request gets no answer but its return (0). With `through`, what is written is on the medium
/// before it is answered.
pub(super) fn serve(
    device: &Device,
    through: bool,
    memory: &GuestMemoryMmap,
    chain: Chain,
    buffer: &mut AlignedBuf,
) -> u32 {
    let parts = (chain.clone().reader(memory), chain.writer(memory));
    let (Ok(mut from), Ok(mut data)) = parts else { return 0 };
    // The status is the last byte that we may write.
    let Some(room) = data.available_bytes().checked_sub(1) else { return 0 };
    let Ok(mut status) = data.split_at(room) else { return 0 };
    let answer = match carry_out(device, through, &mut from, &mut data, buffer) {
        Ok(()) => Status::Done,
        Err(status) => status,
    };
    if status.write_all(&[answer as u8]).is_err() {
        return 0;
    }
    u32::try_from(data.bytes_written()).unwrap_or(u32::MAX).saturating_add(1)
}

fn carry_out(
    device: &Device,
    through: bool,
    from: &mut Reader<'_>,
    to: &mut Writer<'_>,
    buffer: &mut AlignedBuf,
) -> Result<(), Status> {
    let mut head = [0; 16];
    from.read_exact(&mut head)?;
    let [kind, _priority, low, high] = words(&head);
    let sector = u64::from(low) | u64::from(high) << 32;
    match kind {
        kind::IN => {
            let mut at = RequestProgress::new(device, sector, to.available_bytes())?;
            while let Some(len) = at.next() {
                let piece = buffer.get_mut(..len).ok_or(Status::Failed)?;
                device.read_at(piece, at.offset)?;
                to.write_all(piece)?;
                at.done(len);
            }
        }
        kind::OUT => {
            let mut at = RequestProgress::new(device, sector, from.available_bytes())?;
            let mut refused = Ok(());
            while let Some(len) = at.next() {
                let piece = buffer.get_mut(..len).ok_or(Status::Failed)?;
                from.read_exact(piece)?;
                match device.write_and_spoil(piece, at.offset) {
                    // Told when the other pieces are written.
                    Err(DeviceError::Metadata(_)) => refused = Err(Status::Failed),
                    done => done?,
                }
                at.done(len);
            }
            refused?;
        }
        kind::FLUSH => device.flush()?,
        kind::GET_ID => {
            let len = to.available_bytes().min(ID.len());
            to.write_all(ID.get(..len).unwrap_or(&ID))?;
        }
        kind::DISCARD | kind::WRITE_ZEROES => {
            let mut range = [0; 16];
            from.read_exact(&mut range)?;
            let [low, high, sectors, flags] = words(&range);
            // Bit 0 allows zeroes to free the place, which changes nothing that the guest reads.
            if from.available_bytes() > 0 || flags & !1 != 0 || (kind == kind::DISCARD && flags != 0) {
                return Err(Status::Unknown);
            }
            let sector = u64::from(low) | u64::from(high) << 32;
            let len = u64::from(sectors) * SECTOR;
            let offset = sector.checked_mul(SECTOR).ok_or(Status::Failed)?;
            match kind {
                kind::DISCARD if device.passes_discards() => device.discard(offset, len)?,
                kind::DISCARD => return Err(Status::Unknown),
                _ => device.write_zeroes(offset, len)?,
            }
        }
        _ => return Err(Status::Unknown),
    }
    if through && matches!(kind, kind::OUT | kind::WRITE_ZEROES) {
        device.flush()?;
    }
    Ok(())
}

/// Four little-endian words.
fn words(bytes: &[u8; 16]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// How far a long request is.
struct RequestProgress {
    offset: u64,
    left: usize,
}

impl RequestProgress {
    /// The whole must be whole sectors inside the device: nothing is done of one that is not.
    fn new(device: &Device, sector: u64, len: usize) -> Result<Self, Status> {
        let offset = sector.checked_mul(SECTOR).ok_or(Status::Failed)?;
        let end = offset.checked_add(len as u64).ok_or(Status::Failed)?;
        if end > device.size() || !(len as u64).is_multiple_of(SECTOR) {
            return Err(Status::Failed);
        }
        Ok(Self { offset, left: len })
    }

    /// Bytes of the next piece.
    fn next(&self) -> Option<usize> {
        Some(self.left.min(PIECE)).filter(|len| *len > 0)
    }

    fn done(&mut self, len: usize) {
        self.left -= len;
        self.offset += len as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vhost_user::virtio_device::buffer;
    use keyway_engine::{Access, Layout, Mapping, Segment};
    use keyway_store::MemStore;
    use proptest::prelude::*;
    use std::sync::Arc;
    use virtio_queue::desc::{RawDescriptor, split::Descriptor};
    use virtio_queue::mock::MockSplitQueue;
    use virtio_queue::{Queue, QueueOwnedT};
    use vm_memory::{Bytes, GuestAddress};

    const SIZE: u64 = 1 << 20;
    const MEMORY: usize = 4 << 20;
    /// Behind the mock's queue.
    const HEAD: u64 = 1 << 16;
    const DATA: u64 = 1 << 17;
    const STATUS: u64 = 3 << 20;

    const NEXT: u16 = 1;
    const WRITE: u16 = 2;

    /// What a guest asks for in one request is one request here, too, however many pieces it is carried out in.
    #[test]
    fn metadata_in_one_piece_does_not_keep_the_others_from_being_written() {
        const PIECES: u64 = 3;
        let piece = PIECE as u64;
        let plain = |start, len| Segment { start, len, mapping: Mapping::Plain { store_offset: start } };
        let metadata = Segment { start: 512, len: 512, mapping: Mapping::Zero };
        let layout = vec![plain(0, 512), metadata, plain(1024, PIECES * piece - 1024)];
        let layout = Layout::new(512, layout).expect("whole");
        let store = MemStore::new((PIECES * piece) as usize);
        let device = Device::new(Box::new(store), layout, Access::ReadWrite).expect("a device");
        let guest = Guest::new();
        let len = (PIECES * piece) as usize;
        guest.0.write_slice(&vec![9; len], GuestAddress(DATA)).expect("inside");
        let out = (DATA, len as u32, 0);
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, 0), out, END]).1, 1);
        let mut found = vec![7; len];
        device.read_at(&mut found, 0).expect("inside");
        let zero: Vec<usize> = (0..len).filter(|at| found[*at] == 0).collect();
        assert!(zero.iter().copied().eq(512..1024) && found.iter().all(|byte| [0, 9].contains(byte)));
    }

    fn device(access: Access) -> Device {
        let mapping = Mapping::Plain { store_offset: 0 };
        let layout = Layout::new(512, vec![Segment { start: 0, len: SIZE, mapping }]).expect("whole");
        let store = MemStore::from_vec((0..SIZE).map(|n| (n / 512) as u8).collect());
        Device::new(Box::new(store), layout, access).expect("a device")
    }

    struct Guest(Arc<GuestMemoryMmap>);

    impl Guest {
        fn new() -> Self {
            let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY)]).expect("memory");
            memory.write_obj(0xffu8, GuestAddress(STATUS)).expect("inside");
            Self(Arc::new(memory))
        }

        /// Asks with these descriptors (address, length, flags); what was said to be written, and the
        /// status.
        fn ask(&self, device: &Device, descriptors: &[(u64, u32, u16)]) -> (u32, u8) {
            let last = descriptors.len() - 1;
            let chain: Vec<RawDescriptor> = (0u16..)
                .zip(descriptors)
                .map(|(n, (at, len, flags))| {
                    let more = if usize::from(n) < last { NEXT } else { 0 };
                    Descriptor::new(*at, *len, flags | more, n + 1).into()
                })
                .collect();
            let mock = MockSplitQueue::create(&*self.0, GuestAddress(0), 64);
            mock.build_desc_chain(&chain).expect("a chain");
            let mut queue: Queue = mock.create_queue().expect("a queue");
            let mut chains = queue.iter(Arc::clone(&self.0)).expect("ready");
            let chain = chains.next().expect("one request");
            let written = serve(device, false, &self.0, chain, &mut buffer());
            (written, self.0.read_obj(GuestAddress(STATUS)).expect("inside"))
        }

        fn head(&self, kind: u32, sector: u64) -> (u64, u32, u16) {
            let bytes = [&kind.to_le_bytes()[..], &[0; 4], &sector.to_le_bytes()].concat();
            self.0.write_slice(&bytes, GuestAddress(HEAD)).expect("inside");
            (HEAD, 16, 0)
        }

        fn bytes(&self, len: usize) -> Vec<u8> {
            let mut bytes = vec![0; len];
            self.0.read_slice(&mut bytes, GuestAddress(DATA)).expect("inside");
            bytes
        }
    }

    const END: (u64, u32, u16) = (STATUS, 1, WRITE);

    #[test]
    fn what_is_written_is_read_in_whatever_pieces() {
        let (guest, device) = (Guest::new(), device(Access::ReadWrite));
        let (first, second) = ((DATA, 700, WRITE), (DATA + 700, 324, WRITE));
        assert_eq!(guest.ask(&device, &[guest.head(kind::IN, 3), first, second, END]), (1025, 0));
        assert!(guest.bytes(1024) == [[3; 512], [4; 512]].concat());
        guest.0.write_slice(&[9; 512], GuestAddress(DATA)).expect("inside");
        let (first, second) = ((DATA, 100, 0), (DATA + 100, 412, 0));
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, 4), first, second, END]), (1, 0));
        let mut found = [0; 1024];
        device.read_at(&mut found, 3 * 512).expect("inside");
        assert!(found[..] == [[3; 512], [9; 512]].concat());
        // The status may stand at the end of the data's last descriptor.
        let joined = (STATUS - 512, 513, WRITE);
        assert_eq!(guest.ask(&device, &[guest.head(kind::IN, 4), joined]), (513, 0));
        assert_eq!(guest.ask(&device, &[guest.head(kind::FLUSH, 0), END]), (1, 0));
        // Longer than a piece.
        let all = (DATA, SIZE as u32, WRITE);
        assert_eq!(guest.ask(&device, &[guest.head(kind::IN, 0), all, END]), (SIZE as u32 + 1, 0));
        assert_eq!(guest.bytes(SIZE as usize)[SIZE as usize - 1], 0xff);
    }

    #[test]
    fn what_is_no_whole_request_fails_and_does_nothing() {
        let (guest, device) = (Guest::new(), device(Access::ReadWrite));
        let out = (DATA, 512, 0);
        let last = SIZE / 512 - 1;
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, last + 1), out, END]).1, 1);
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, last), (DATA, 1024, 0), END]).1, 1);
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, u64::MAX), out, END]).1, 1);
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, 0), (DATA, 511, 0), END]).1, 1);
        assert_eq!(guest.ask(&device, &[guest.head(99, 0), out, END]).1, 2);
        assert_eq!(guest.ask(&device, &[(HEAD, 15, 0), END]).1, 1);
        // Discards were not offered.
        assert_eq!(guest.ask(&device, &[guest.head(kind::DISCARD, 0), (DATA, 16, 0), END]).1, 2);
        // Without a byte for the status there is no answer; memory that is not the guest's is not read.
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, 0), out]).0, 0);
        assert_eq!(guest.ask(&device, &[guest.head(kind::OUT, 0), (MEMORY as u64 - 1, 512, 0), END]).0, 0);
        let mut all = vec![0; SIZE as usize];
        device.read_at(&mut all, 0).expect("inside");
        assert!((0..SIZE).zip(&all).all(|(n, byte)| *byte == (n / 512) as u8));
        let read_only = self::device(Access::ReadOnly);
        assert_eq!(guest.ask(&read_only, &[guest.head(kind::OUT, 0), out, END]).1, 1);
    }

    #[test]
    fn zeroes_are_written_inside_only() {
        let (guest, device) = (Guest::new(), device(Access::ReadWrite));
        let range = |sector: u64, sectors: u32, flags: u32| {
            let bytes = [&sector.to_le_bytes()[..], &sectors.to_le_bytes(), &flags.to_le_bytes()].concat();
            guest.0.write_slice(&bytes, GuestAddress(DATA)).expect("inside");
            guest.ask(&device, &[guest.head(kind::WRITE_ZEROES, 0), (DATA, 16, 0), END]).1
        };
        assert_eq!(range(2, 2, 1), 0);
        assert_eq!(range(SIZE / 512, 1, 0), 1);
        assert_eq!(range(u64::MAX / 512 + 1, u32::MAX, 0), 1);
        assert_eq!(range(0, 1, 2), 2);
        let mut found = [7; 4 * 512];
        device.read_at(&mut found, 512).expect("inside");
        assert!(found[..] == [[1; 512], [0; 512], [0; 512], [4; 512]].concat());
    }

    proptest! {
        /// Whatever a guest describes, it gets an answer or none, and nobody panics.
        #[test]
        fn no_chain_does_harm(
            head in proptest::collection::vec(any::<u8>(), 16),
            kind in 0u8..16,
            chain in proptest::collection::vec((0..MEMORY as u64 + 4096, 0u32..1 << 21, 0u16..4), 1..12),
        ) {
            let (guest, device) = (Guest::new(), device(Access::ReadWrite));
            let mut head = head;
            head[..4].copy_from_slice(&u32::from(kind).to_le_bytes());
            head[12..].fill(0);
            guest.0.write_slice(&head, GuestAddress(HEAD)).expect("inside");
            let chain: Vec<_> = std::iter::once((HEAD, 16, 0))
                .chain(chain.into_iter().map(|(at, len, flags)| (at, len, flags & WRITE)))
                .collect();
            guest.ask(&device, &chain);
        }
    }
}
